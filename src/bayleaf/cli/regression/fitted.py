"""What commands print and write of a fitted regressor's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayleaf.io import SavedModel


def refuse_options(given: dict[str, Any]) -> None:
    """Raise ValueError if an option was given that belongs to classifiers alone."""
    for name, value in given.items():
        if value:
            raise ValueError(
                f"{name} belongs to classifiers, not to models of a numeric target"
            )


def print_explanations(
    saved: SavedModel,
    codes: Any,
    lines: Sequence[int],
    n_terms: int,
    *,
    as_json: bool,
) -> None:
    """Print why rows have their expectations."""
    from bayleaf.cli.showing.found import print_json

    model: Any = saved.model
    found = model.explain(codes)
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
    from bayleaf.cli.showing.found import print_json
    from bayleaf.loading import load_estimator

    summary = load_estimator(path).summary()
    if as_json:
        print_json(summary.to_dict())
    else:
        print(summary)
