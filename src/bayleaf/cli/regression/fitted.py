"""What commands print and write of a fitted regressor's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayleaf.wording import quoted

if TYPE_CHECKING:
    import pyarrow as pa

    from bayleaf.io.native.regression import SavedRegression

# Quantiles that `predict` writes.
_LEVELS = (0.05, 0.5, 0.95)


def refuse_options(given: dict[str, Any]) -> None:
    """Raise ValueError if an option was given that belongs to classifiers alone."""
    for name, value in given.items():
        if value:
            raise ValueError(
                f"{name} belongs to classifiers, not to models of a numeric target"
            )


def scored(
    saved: SavedRegression, codes: Any, batch: pa.RecordBatch, quantiles: bool
) -> pa.RecordBatch:
    """The batch with predictions and, if asked for, quantiles."""
    import pyarrow as pa

    from bayleaf.cli.arrow_arrays import number_array

    said = saved.model.distributions(codes)
    absolute = saved.parameters.get("loss") == "absolute"
    added = {"prediction": number_array(said.median if absolute else said.mean)}
    if quantiles:
        for level, column in zip(_LEVELS, said.quantiles(_LEVELS).T, strict=True):
            added[f"quantile_{level:g}"] = number_array(column.copy())
    taken = [name for name in added if name in batch.schema.names]
    if taken:
        raise ValueError(
            f"the input has a column {quoted(taken[0])} already; rename it so that the "
            "prediction can be added"
        )
    return pa.RecordBatch.from_arrays(
        [*batch.columns, *added.values()], names=[*batch.schema.names, *added]
    )


def print_explanations(
    saved: SavedRegression,
    codes: Any,
    lines: Sequence[int],
    n_terms: int,
    *,
    as_json: bool,
) -> None:
    """Print why rows have their expectations."""
    from bayleaf.cli.options import print_json

    found = saved.model.explain(codes)
    if as_json:
        values = zip(lines, found, strict=True)
        print_json(
            [{"line": line, **one.to_dict(), "row": line - 1} for line, one in values]
        )
        return
    texts = [
        one.to_text(n_terms, f"line {line}")
        for line, one in zip(lines, found, strict=True)
    ]
    print("\n\n".join(texts))


def print_summary(path: Path, *, as_json: bool) -> None:
    """Print what the file of a regressor holds."""
    from bayleaf.cli.options import print_json
    from bayleaf.loading import load_regressor

    summary = load_regressor(path).summary()
    if as_json:
        print_json(summary.to_dict())
    else:
        print(summary)
