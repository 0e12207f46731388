"""Models from files: fitted estimators, and networks in any known format."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from bayleaf.io.errors import ModelFileError
from bayleaf.io.native import network_json
from bayleaf.io.native.documents import MAX_BYTES, read_document
from bayleaf.io.native.model_file import FORMAT, SavedModel, read_model, write_model
from bayleaf.io.packed import inner_name
from bayleaf.io.registry import FORMATS, read_network
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.page_model import CLASSIFIER, DENSITY, REGRESSOR

if TYPE_CHECKING:
    from bayleaf.classifiers.shared.base import BayesianClassifier
    from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator
    from bayleaf.regression.averaged_kdb_regressor import AveragedKDBRegressor

    Fitted = BayesianClassifier | BayesianNetworkEstimator | AveragedKDBRegressor
    Kind = TypeVar("Kind", bound=Fitted | BayesianNetwork)


@overload
def load(
    path: str | Path, *, max_bytes: int = MAX_BYTES
) -> (
    BayesianClassifier
    | BayesianNetworkEstimator
    | AveragedKDBRegressor
    | BayesianNetwork
): ...
@overload
def load(path: str | Path, *, max_bytes: int = MAX_BYTES, kind: type[Kind]) -> Kind: ...
def load(
    path: str | Path, *, max_bytes: int = MAX_BYTES, kind: type[Any] | None = None
) -> Fitted | BayesianNetwork:
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
    kind : type, optional
        The class that the file must contain, such as `TANClassifier`; type checkers
        then know what is returned.

    Returns
    -------
    BayesianClassifier, BayesianNetworkEstimator, AveragedKDBRegressor, BayesianNetwork
        Answers exactly as the one that was saved.

    Raises
    ------
    ValueError
        If the file is not a model file, or its model is not a `kind`.
    OSError
        If the file cannot be read.
    """
    content = read_model_or_network(path, max_bytes=max_bytes)
    name = Path(path).name
    model: Fitted | BayesianNetwork = (
        content if isinstance(content, BayesianNetwork) else _restored(content, name)
    )
    if kind is not None and not isinstance(model, kind):
        raise ModelFileError(
            f"model file {name} contains a {type(model).__name__}, not a "
            f"{kind.__name__}; leave out kind, or pass another file"
        )
    return model


# Packages whose objects fitted estimators and networks are made of.
_CONTENT = (
    *("data", "graph", "counts", "cpds", "search", "scoring", "models", "latent"),
    *("classifiers", "density", "regression"),
)


def trusted_types() -> list[str]:
    """List the types that estimators are made of, for skops and tools built on it.

    Returns
    -------
    list of str
        Full names of this library's types, and of those of Python that skops does not
        know: none of them executes anything when it is loaded.

    Examples
    --------
    >>> "bayleaf.classifiers.tan.TANClassifier" in trusted_types()
    True
    >>> skops.io.load("model.skops", trusted=trusted_types())  # doctest: +SKIP
    """
    names = ["builtins.frozenset"]
    for package in _CONTENT:
        folder = import_module(f"bayleaf.{package}")
        for entry in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
            content = vars(import_module(entry.name)).values()
            kinds = [kind for kind in content if isinstance(kind, type)]
            names += [
                f"{kind.__module__}.{kind.__name__}"
                for kind in kinds
                if kind.__module__ == entry.name
            ]
    return sorted(names)


def read_model_or_network(
    path: str | Path, *, max_bytes: int = MAX_BYTES
) -> SavedModel | BayesianNetwork:
    """Read the record of a fitted estimator, or a network; errors as in `load`."""
    suffix = inner_name(path).suffix.lower()
    # Estimators are never packed.
    foreign = suffix != ".json" or inner_name(path) != Path(path)
    if suffix in (*FORMATS, ".dagitty") and foreign:
        limit = None if max_bytes == MAX_BYTES else max_bytes
        return read_network(path, max_bytes=limit)
    kinds: dict[str, Any] = {
        FORMAT: SavedModel,
        network_json.FORMAT: network_json.NetworkDocument,
    }
    content = read_document(path, max_bytes, kinds)
    return content if isinstance(content, SavedModel) else content.network


def load_estimator(path: str | Path, kind: str | None = None) -> Fitted:
    """Read a fitted estimator, of the `kind` "classifier" if that is given.

    ModelFileError if the file has no such estimator; OSError if it cannot be read.
    """
    saved = read_model(path)
    if kind is not None and saved.kind != kind:
        raise ModelFileError(
            f"model file {Path(path).name} holds a {saved.estimator[:60]}, but a "
            f"{kind} is needed here"
        )
    return _restored(saved, Path(path).name)


def save_estimator(estimator: Any, path: str | Path) -> None:
    """Write a fitted estimator to its file, once `load` would read it.

    Errors as in the estimators' `save`.
    """
    from bayleaf.classifiers.shared.saving import saved_model

    saved = saved_model(estimator)
    kind = type(estimator)
    if _known_classes(saved.kind).get(kind.__name__) is not kind:
        remedy = (
            f"bayleaf.classifiers.CLASSIFIERS[{kind.__name__.lower()!r}] = "
            f"{kind.__name__} registers it"
            if saved.kind == CLASSIFIER
            else "pickle it"
        )
        raise ValueError(f"load would not find the class {kind.__name__}; {remedy}")
    write_model(saved, path)


def _known_classes(kind: str) -> dict[str, type[Fitted]]:
    """The classes of one kind of estimator that files may have, by name."""
    # Imported late: networks are read without scikit-learn.
    from bayleaf.classifiers import CLASSIFIERS
    from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator
    from bayleaf.regression.averaged_kdb_regressor import AveragedKDBRegressor

    of_kind: dict[str, tuple[type[Fitted], ...]] = {
        CLASSIFIER: tuple(CLASSIFIERS.values()),
        DENSITY: (BayesianNetworkEstimator,),
        REGRESSOR: (AveragedKDBRegressor,),
    }
    return {estimator.__name__: estimator for estimator in of_kind[kind]}


def _restored(saved: SavedModel, name: str) -> Fitted:
    """The estimator as it was when it was saved; `name` is its file's, for messages."""
    from bayleaf.classifiers.shared.saving import telling_wrong_parameters, unfitted

    known = _known_classes(saved.kind)
    if saved.estimator not in known:
        raise ModelFileError(
            f"model file {name} holds a {saved.estimator[:60]!r}; known are "
            f"{', '.join(known)}; a class of your own is known once it is in "
            "bayleaf.classifiers.CLASSIFIERS"
        )
    with telling_wrong_parameters(name):
        estimator: Fitted = unfitted(known[saved.estimator], saved.parameters)
        estimator._restore(saved)
    return estimator
