"""Networks in the library's own JSON, which keeps every form of distribution.

The network of a model file can be read as well: it is the same fragment.
"""

from __future__ import annotations

from pathlib import Path

from bayleaf.io.fields import ModelFileError
from bayleaf.io.native.density import FORMAT as DENSITY_FORMAT
from bayleaf.io.native.documents import MAX_BYTES, reading, write_document
from bayleaf.io.native.domains import domain_from, domain_to
from bayleaf.io.native.model_file import FORMAT as MODEL_FORMAT
from bayleaf.io.native.models import model_from
from bayleaf.io.native.networks import network_from, network_to
from bayleaf.io.native.sidecar import ArrayWriter
from bayleaf.models.bayesian_network import BayesianNetwork

FORMAT = "bayleaf-network"


def write(network: BayesianNetwork, path: str | Path) -> None:
    """Write a network; an older file is replaced only when all is written.

    Raises
    ------
    TypeError
        If a state is of a type that JSON does not know.
    ModelFileError
        If a table does not hold distributions.
    OSError
        If the file cannot be written.
    """
    arrays = ArrayWriter()
    content = {
        "domain": domain_to(network.domain),
        "network": network_to(network, arrays),
    }
    write_document(FORMAT, content, arrays, path)


def read(path: str | Path, *, max_bytes: int = MAX_BYTES) -> BayesianNetwork:
    """Read a network file, or the network of a model file.

    Raises
    ------
    ModelFileError
        If the file is neither, holds something that is no network, or the model is
        no single network.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    kinds = (FORMAT, MODEL_FORMAT, DENSITY_FORMAT)
    with reading(path, max_bytes, kinds) as (document, arrays):
        domain = domain_from(document.list("domain"))
        if document.text("format") in (FORMAT, DENSITY_FORMAT):
            return network_from(document.object("network"), domain, arrays)
        model = document.object("model")
        network: BayesianNetwork | None = getattr(
            model_from(model, domain, arrays), "network", None
        )
        if network is None:
            raise ModelFileError(
                f"the model of {path.name} is of the type {model.text('type')!r}, "
                "which is no single Bayesian network; naive Bayes, TAN, KDB and HNB are"
            )
        return network
