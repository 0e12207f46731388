"""Files of regressors: a model of intervals and trees, and how columns are read."""

from __future__ import annotations

import math
from dataclasses import dataclass
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
from bayleaf.models.interval_target import IntervalTargetModel
from bayleaf.wording import brief_fields

FORMAT = "bayleaf-regression"


@dataclass(frozen=True, eq=False)
class SavedRegression:
    """All that the file of a regressor contains."""

    encoder: TableEncoder
    model: IntervalTargetModel
    estimator: str
    parameters: dict[str, Any]  # plain values
    left_out_crps: float  # mean of training rows left out, target's unit
    left_out_coverage: float  # share of these rows inside their 90 % interval
    named_features: bool = True  # whether the table had column names

    __repr__ = brief_fields


@dataclass(frozen=True, eq=False)
class RegressionDocument:
    """The fields of the file of a regressor, as `SavedRegression` tells of them."""

    estimator: str
    parameters: dict[str, Any]
    left_out_crps: float
    left_out_coverage: float
    named_features: bool
    rules: EncoderRules
    notes: tuple[tuple[Name, str], ...]
    readings: tuple[ColumnReading, ...] | None
    domain: Domain
    model: IntervalTargetModel

    def check_content(self) -> None:
        """Raise ValueError unless the figures of left-out rows make sense."""
        if not (math.isfinite(self.left_out_crps) and 0 <= self.left_out_coverage <= 1):
            raise ValueError("the figures of left-out rows make no sense")


def write_regression(saved: SavedRegression, path: str | Path) -> None:
    """Write the file of a regressor; an older one is replaced in the end only.

    TypeError if a state or parameter does not fit JSON; ValueError if a reader would
    refuse the model.
    """
    document = RegressionDocument(
        saved.estimator,
        saved.parameters,
        saved.left_out_crps,
        saved.left_out_coverage,
        saved.named_features,
        saved.encoder.rules,
        tuple(saved.encoder.notes.items()),
        saved.encoder.readings,
        saved.model.intervals.domain,
        saved.model,
    )
    write_document(FORMAT, document, path)


def read_regression(path: str | Path, *, max_bytes: int = MAX_BYTES) -> SavedRegression:
    """Read the file of a regressor; ModelFileError if anything in it is wrong."""
    document = read_document(path, max_bytes, {FORMAT: RegressionDocument})
    features = Domain(document.domain.variables[:-1])
    encoder = TableEncoder(
        features, document.rules, dict(document.notes), document.readings or ()
    )
    return SavedRegression(
        encoder,
        document.model,
        document.estimator,
        document.parameters,
        document.left_out_crps,
        document.left_out_coverage,
        document.named_features,
    )


def is_regression(path: str | Path) -> bool:
    """Whether a file is that of a regressor; OSError if it cannot be read."""
    try:
        read_values(Path(path), MAX_BYTES, (FORMAT,))
    except ModelFileError:
        return False
    return True
