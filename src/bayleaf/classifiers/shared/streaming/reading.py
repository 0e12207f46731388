"""Estimators that take over how a table was read."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from sklearn.utils.validation import validate_data

from bayleaf.classifiers.shared.parameters import checked_class_prior, checked_loss
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.io.native.tables import TableReading


def adopt_columns(estimator: Any, encoder: TableEncoder) -> None:
    """Take over how the columns of a table were read."""
    names = [str(name) for name in encoder.column_names]
    frame = pa.table({name: pa.array([0]) for name in names})
    validate_data(estimator, frame, reset=True, skip_check_array=True)
    estimator.encoder_ = encoder


def adopt_table(classifier: Any, table: TableReading) -> None:
    """Take over how a table was read."""
    encoder, classes = table.encoder, table.classes
    if classes is None:
        raise ValueError("the codes are of a table without a class; read it anew")
    adopt_columns(classifier, encoder)
    classifier.classes_ = classes
    checked_loss(classifier.loss, classes)
    if classifier.class_prior is not None:
        checked_class_prior(classifier.class_prior, classes)
