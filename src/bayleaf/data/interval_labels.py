"""Names of intervals between cut points."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from bayleaf.wording import format_number


def interval_labels(cut_points: Sequence[float]) -> tuple[str, ...]:
    """Name the intervals between increasing cut points, closed on the right."""
    if not cut_points:
        return ("any value",)
    return labels_between(cut_texts(cut_points))


def cut_texts(cut_points: Sequence[float]) -> list[str]:
    """Cut points as texts that differ."""
    texts = [format_number(cut) for cut in cut_points]
    if len(set(texts)) < len(texts):
        texts = [repr(float(cut)) for cut in cut_points]
    return texts


def labels_between(bounds: Sequence[str]) -> tuple[str, ...]:
    """Names of the intervals between some bounds, at least one."""
    inner = [f"({low}, {high}]" for low, high in itertools.pairwise(bounds)]
    return (f"<= {bounds[0]}", *inner, f"> {bounds[-1]}")
