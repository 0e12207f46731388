"""What reports and explorers show of a model, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from bayleaf.data.table_encoder import EncodedTable, TableEncoder
from bayleaf.models.fit_stamp import FitStamp

# What a model predicts: classes, a number, or nothing in particular.
CLASSIFIER, REGRESSOR, DENSITY = "classifier", "regressor", "density"


def _nothing() -> None:
    return None


@dataclass(frozen=True, eq=False, kw_only=True)
class PageModel:
    """A fitted estimator, a model from a file, or a network, as pages take it.

    Each of these returns one from `_page_model`; pages ask for nothing else.
    """

    name: str  # of its kind, for a reader
    task: str  # "classifier", "regressor" or "density"
    model: Any  # class model or network with all variables, a target last
    scorer: Any  # of rows: a Predictor, an IntervalTargetModel, or the network
    encoder: TableEncoder | None = None  # None where cells contain states
    # Reads a table with the columns of training; reports need it.
    read: Callable[[Any], EncodedTable] | None = None
    # Training rows behind a classifier's tables, None where they are not known.
    support: Callable[[], Any] = _nothing
    # Posteriors of the first training rows without each, given their codes, the class
    # last: NaN where they are not known, None for other rows. Of a number, expectation
    # and ends of the 90 % interval, given codes of the features and the numbers.
    left_out: Callable[..., Any] = lambda *_: None
    # Scores of the training rows without each, None where not known; of a number its
    # mean CRPS and the coverage of 90 % intervals.
    quality: Callable[[], Any] = _nothing
    fitted: FitStamp | None = None
    # Weight of the training rows, None where it is not known.
    rows: float | None = None
    # A classifier as its file contains it, to be edited; None for other models.
    saved: Callable[[], Any] = _nothing

    @property
    def has_target(self) -> bool:
        """Whether the last variable is predicted from the others."""
        return self.task != DENSITY


class Shown(Protocol):
    """A fitted estimator, a model from a file, a predictor or a network."""

    def _page_model(self) -> PageModel:
        """What pages show of it."""
        ...


def page_model(model: Any, refusal: str) -> PageModel:
    """What pages show of a model; TypeError with the `refusal` if it is not one.

    AttributeError if it is not fitted.
    """
    if not hasattr(model, "_page_model"):
        raise TypeError(f"{refusal} a {type(model).__name__}")
    shown: PageModel = model._page_model()
    return shown
