"""Whatever a file holds: a fitted estimator, or a network in any known format."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from bayleaf.io.errors import ModelFileError
from bayleaf.io.native.documents import MAX_BYTES, read_values
from bayleaf.io.native.network_json import FORMAT
from bayleaf.io.packed import inner_name
from bayleaf.io.registry import FORMATS, read_network
from bayleaf.models.bayesian_network import BayesianNetwork

if TYPE_CHECKING:
    from bayleaf.classifiers.shared.base import BayesianClassifier
    from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator
    from bayleaf.regression.averaged_kdb_regressor import AveragedKDBRegressor

# How a file of a network begins, and an archive.
_NETWORK = re.compile(rb'\s*\{\s*"format"\s*:\s*"' + FORMAT.encode() + rb'"')
_ARCHIVE = b"PK\x03\x04"
_HEAD = 256


def load(
    path: str | Path, *, max_bytes: int = MAX_BYTES
) -> (
    BayesianClassifier
    | BayesianNetworkEstimator
    | AveragedKDBRegressor
    | BayesianNetwork
):
    """Read a fitted classifier, density model, regressor, or network from its file.

    Networks are read without scikit-learn.

    Parameters
    ----------
    path : str or Path
        A file written by the `save` of an estimator or a network, or a network file of
        another program: ``.bif``, ``.net``, ``.xdsl`` and others, packed if ``.gz``
        follows, see `read_network`.
    max_bytes : int, default=2**30
        Larger files are refused; so are files that would take more memory than 128 MiB
        and four times their size, unless this is above its default.

    Returns
    -------
    BayesianClassifier, BayesianNetworkEstimator, AveragedKDBRegressor, BayesianNetwork
        Answers exactly as the one that was saved.

    Raises
    ------
    ValueError
        If the file is no model file, or holds something that is no model.
    OSError
        If the file cannot be read.
    """
    suffix = inner_name(path).suffix.lower()
    # Estimators are never packed.
    foreign = suffix != ".json" or inner_name(path) != Path(path)
    if (suffix in FORMATS and foreign) or _is_network(Path(path)):
        limit = None if max_bytes == MAX_BYTES else max_bytes
        return read_network(path, max_bytes=limit)
    estimators = importlib.import_module("bayleaf.loading")
    found: BayesianClassifier | BayesianNetworkEstimator | AveragedKDBRegressor = (
        estimators.load_estimator(path, max_bytes=max_bytes)
    )
    return found


def _is_network(path: Path) -> bool:
    """Whether a file is that of a network in the library's own format."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
        if head.startswith(_ARCHIVE):
            read_values(path, MAX_BYTES, (FORMAT,))
            return True
    except (OSError, ModelFileError):
        # Whoever reads the file says what is wrong with it.
        return False
    return _NETWORK.match(head) is not None
