"""The training rows behind a model's tables, as plain values and back."""

from __future__ import annotations

from typing import Any

from bayleaf.io.fields import Fields, ModelFileError
from bayleaf.io.native.sidecar import ArrayReader, ArrayWriter
from bayleaf.models.class_model import ClassModel
from bayleaf.models.evidence_rows import EvidenceRows


def evidence_to(evidence: EvidenceRows | None, arrays: ArrayWriter) -> Any:
    """Evidence as plain values, None without any; the rows go to `arrays`."""
    if evidence is None:
        return None
    return {
        "rows": [arrays.add(rows) for rows in evidence.rows],
        "pseudo_rows": list(evidence.pseudo_rows),
        "prior_is_learned": evidence.prior_is_learned,
    }


def evidence_from(
    document: Fields, model: ClassModel, arrays: ArrayReader
) -> EvidenceRows | None:
    """The evidence in a model file, None in files that hold none.

    Raises
    ------
    ModelFileError
        If it does not fit the model or holds a negative weight.
    """
    if document.values.get("evidence") is None:
        return None
    fields = document.object("evidence")
    shapes = [size.shape for size in model.table_sizes]
    rows, pseudo_rows = fields.list("rows"), fields.list("pseudo_rows")
    if not len(rows) == len(pseudo_rows) == len(shapes):
        raise ModelFileError(
            f"the evidence has {len(rows)} tables, but the model has {len(shapes)}"
        )
    found = tuple(
        arrays.get(values, shape, "the evidence of a table")
        for values, shape in zip(rows, shapes, strict=True)
    )
    pseudo = _numbers(pseudo_rows)
    if any((weights < 0).any() for weights in found) or min(pseudo, default=0) < 0:
        raise ModelFileError("the evidence of a table holds a negative weight")
    return EvidenceRows(found, pseudo, fields.flag("prior_is_learned"))


def _numbers(values: list[Any]) -> tuple[float, ...]:
    """A list of finite numbers, which always stands in the document itself."""
    shape = (len(values),)
    return tuple(ArrayReader().get(values, shape, "pseudo_rows").tolist())
