"""Files of density models: a network, how its columns are read, and some facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayleaf.data.encoder.table_encoder import TableEncoder
from bayleaf.io.fields import Fields, ModelFileError
from bayleaf.io.native.documents import (
    MAX_BYTES,
    read_document,
    reading,
    write_document,
)
from bayleaf.io.native.domains import domain_from, domain_to
from bayleaf.io.native.encoders import encoder_from, encoder_to
from bayleaf.io.native.networks import network_from, network_to
from bayleaf.io.native.sidecar import ArrayReader, ArrayWriter
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.wording import brief_fields

FORMAT = "bayleaf-density"


@dataclass(frozen=True, eq=False)
class SavedDensity:
    """All that the file of a density model holds.

    Parameters
    ----------
    encoder : TableEncoder
        How columns are read.
    network : BayesianNetwork
        The model, over the encoder's domain.
    estimator : str
        Name of the estimator's class.
    parameters : dict
        The estimator's parameters as plain values.
    score : float
        What the search made large.
    log_likelihood : float
        Of the training rows, in nats.
    named_features : bool
        Whether the training table had column names.
    """

    encoder: TableEncoder
    network: BayesianNetwork
    estimator: str
    parameters: dict[str, Any] = field(default_factory=dict)
    score: float = 0.0
    log_likelihood: float = 0.0
    named_features: bool = True

    __repr__ = brief_fields


def write_density(saved: SavedDensity, path: str | Path) -> None:
    """Write the file of a density model; an older one is replaced in the end only.

    Raises
    ------
    TypeError
        If a state or parameter cannot stand in JSON.
    ValueError
        If a distribution is none, or a number is not finite.
    OSError
        If the file cannot be written.
    """
    arrays = ArrayWriter()
    content = {
        "estimator": saved.estimator,
        "parameters": saved.parameters,
        "score": saved.score,
        "log_likelihood": saved.log_likelihood,
        "named_features": saved.named_features,
        **encoder_to(saved.encoder),
        "domain": domain_to(saved.network.domain),
        "network": network_to(saved.network, arrays),
    }
    write_document(FORMAT, content, arrays, path)


def read_density(path: str | Path, *, max_bytes: int = MAX_BYTES) -> SavedDensity:
    """Read the file of a density model and check everything in it.

    Raises
    ------
    ModelFileError
        If the file is none, or holds something that is no model.
    OSError
        If the file cannot be read.
    """
    with reading(path, max_bytes, (FORMAT,)) as (document, arrays):
        return _saved_density(document, arrays)


def is_density(path: str | Path) -> bool:
    """Whether a file is that of a density model.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    try:
        read_document(Path(path), MAX_BYTES, (FORMAT,))
    except ModelFileError:
        return False
    return True


def _saved_density(document: Fields, arrays: ArrayReader) -> SavedDensity:
    """Build the model from a document whose header is right."""
    domain = domain_from(document.list("domain"))
    return SavedDensity(
        encoder=encoder_from(document, domain),
        network=network_from(document.object("network"), domain, arrays),
        estimator=document.text("estimator"),
        parameters=document.object("parameters").values,
        score=document.number("score"),
        log_likelihood=document.number("log_likelihood"),
        named_features=document.flag("named_features"),
    )
