"""Networks in the library's own JSON, which keeps every form of distribution.

The network of a model file can be read as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayleaf.data.domain import Domain
from bayleaf.io.errors import ModelFileError
from bayleaf.io.native.documents import MAX_BYTES, read_document, write_document
from bayleaf.io.native.kinds import word_of
from bayleaf.io.native.model_file import FORMAT as MODEL_FORMAT
from bayleaf.io.native.model_file import SavedModel
from bayleaf.models.bayesian_network import BayesianNetwork

FORMAT = "bayleaf-network"


@dataclass(frozen=True, eq=False)
class NetworkDocument:
    """The fields of a network file."""

    domain: Domain
    network: BayesianNetwork


def write(network: BayesianNetwork, path: str | Path) -> None:
    """Write a network; an older file is replaced only when all is written.

    TypeError if a state does not fit JSON; ModelFileError if a table's rows are not
    distributions.
    """
    write_document(FORMAT, NetworkDocument(network.domain, network), path)


def read(path: str | Path, *, max_bytes: int = MAX_BYTES) -> BayesianNetwork:
    """Read a network file, or the network of a model file.

    ModelFileError if the file is neither, or its model is not a single sound network.
    """
    kinds: dict[str, Any] = {FORMAT: NetworkDocument, MODEL_FORMAT: SavedModel}
    document = read_document(path, max_bytes, kinds)
    model = getattr(document, "model", document)
    network: BayesianNetwork | None = getattr(model, "network", None)
    if isinstance(model, BayesianNetwork):
        network = model
    if network is None and (why := getattr(model, "why_no_network", None)):
        raise ModelFileError(f"the model of {Path(path).name} {why}")
    if network is None:
        raise ModelFileError(
            f"the model of {Path(path).name} is of the type {word_of(type(model))!r}, "
            "which is not a single Bayesian network; fit naive Bayes, TAN, KDB or HNB "
            "instead"
        )
    return network
