"""The scale of row weights: as given, or brought to a mean of one."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from contextvars import ContextVar

from bayleaf.progress import caller_level
from bayleaf.wording import quoted

# Weights that sum to less per row are not those of repeated rows.
_MIN_MEAN_WEIGHT = 0.1
WEIGHT_SCALES = COUNTS, MEAN_ONE = "counts", "mean_one"
# The warnings of a block of one warning; None outside of such blocks.
_given: ContextVar[list[str] | None] = ContextVar("given", default=None)


@contextlib.contextmanager
def one_warning() -> Iterator[None]:
    """Warn of small weights once in a block, however often it fits to parts of them."""
    given = _given.get()
    former = _given.set([] if given is None else given)
    try:
        yield
    finally:
        _given.reset(former)


def weight_factor(total: float, n_rows: int, scale: str) -> float:
    """Factor of the weights of `n_rows` rows that sum to `total`, by their scale.

    Warns of weights kept as counts that are far fewer than the rows.
    """
    if scale == MEAN_ONE:
        return n_rows / total
    given = _given.get()
    if total < _MIN_MEAN_WEIGHT * n_rows and not given:
        message = (
            f"sample_weight sums to {total:.3g} for {n_rows} rows, and so "
            f"counts as {total:.3g} rows, too few for cut points and structure; "
            f"pass weight_scale={quoted(MEAN_ONE)} if weights are only relative"
        )
        if given is not None:
            given.append(message)
        warnings.warn(message, UserWarning, stacklevel=caller_level())
    return 1.0
