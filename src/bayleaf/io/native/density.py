"""Files of density models: a network, how its columns are read, and some facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayleaf.data.column_reading import ColumnReading, EncoderRules
from bayleaf.data.domain import Domain
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.columns import Name
from bayleaf.io.errors import ModelFileError
from bayleaf.io.native.documents import (
    MAX_BYTES,
    read_document,
    read_values,
    write_document,
)
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.wording import brief_fields

FORMAT = "bayleaf-density"


@dataclass(frozen=True, eq=False)
class SavedDensity:
    """All that the file of a density model contains."""

    encoder: TableEncoder
    network: BayesianNetwork
    estimator: str
    parameters: dict[str, Any] = field(default_factory=dict)  # plain values
    score: float = 0.0  # what the search made large
    log_likelihood: float = 0.0  # of the training rows, in nats
    named_features: bool = True  # whether the table had column names
    sample: str = ""  # what was learned from a sample of the rows

    __repr__ = brief_fields


@dataclass(frozen=True, eq=False)
class DensityDocument:
    """The fields of the file of a density model, as `SavedDensity` tells of them."""

    estimator: str
    parameters: dict[str, Any]
    score: float
    log_likelihood: float
    named_features: bool
    rules: EncoderRules
    notes: tuple[tuple[Name, str], ...]
    readings: tuple[ColumnReading, ...] | None
    domain: Domain
    network: BayesianNetwork
    sample: str | None = None


def write_density(saved: SavedDensity, path: str | Path) -> None:
    """Write the file of a density model; an older one is replaced in the end only.

    TypeError if a state or parameter does not fit JSON; ValueError if a table's rows
    are not distributions, or a number is not finite.
    """
    document = DensityDocument(
        saved.estimator,
        saved.parameters,
        saved.score,
        saved.log_likelihood,
        saved.named_features,
        saved.encoder.rules,
        tuple(saved.encoder.notes.items()),
        saved.encoder.readings,
        saved.network.domain,
        saved.network,
        saved.sample or None,
    )
    write_document(FORMAT, document, path)


def read_density(path: str | Path, *, max_bytes: int = MAX_BYTES) -> SavedDensity:
    """Read the file of a density model; ModelFileError if anything in it is wrong."""
    document = read_document(path, max_bytes, {FORMAT: DensityDocument})
    return SavedDensity(
        TableEncoder(
            document.network.domain,
            document.rules,
            dict(document.notes),
            document.readings or (),
        ),
        document.network,
        document.estimator,
        document.parameters,
        document.score,
        document.log_likelihood,
        document.named_features,
        document.sample or "",
    )


def is_density(path: str | Path) -> bool:
    """Whether a file is that of a density model; OSError if it cannot be read."""
    try:
        read_values(Path(path), MAX_BYTES, (FORMAT,))
    except ModelFileError:
        return False
    return True
