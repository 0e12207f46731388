"""The form of a summary: its schema, names of scores, and how numbers are written."""

from __future__ import annotations

import math
from typing import Any

from bayleaf.wording import in_bits, like

# Changes whenever a key changes its name or meaning.
SCHEMA = "bayleaf-report/3"
# Of a classifier.
SCORE_TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log-loss (bits a row)",
    "brier": "Brier score",
    "roc_auc": "area under the ROC curve",
    "calibration_error": "calibration error",
    "cost": "mean cost a row",
}
# Of a numeric target; all but the last two are in its unit.
NUMBER_TITLES = {
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
    "crps": "ranked probability score",
    "pinball": "pinball loss",
    "width": "width of 90 % intervals",
    "coverage": "rows inside them",
    "r2": "variance explained",
}


# Of a density model.
DENSITY_TITLES = {"nats_per_row": "log-likelihood (bits a row)"}
_SHARES = ("accuracy", "balanced_accuracy", "coverage", "r2")
# In nats here, and in bits where people read them.
_NATS = ("log_loss", "nats_per_row", "loss_increase", "loss_error")


def figure(value: float | None, name: str, digits: int = 3) -> str:
    """A figure of that name in the unit of its title, or that it is withheld."""
    if value is None or name in _SHARES:
        return percent(value)
    if name in NUMBER_TITLES:
        return like(value, value)
    return number(in_bits(value) if name in _NATS else value, digits)


def percent(share: float | None, digits: int = 1) -> str:
    """A share in per cent, or that it is withheld."""
    return "withheld" if share is None else f"{100 * share:.{digits}f} %"


def number(value: float | None, digits: int = 3) -> str:
    """A number with some digits behind the point, or that it is withheld."""
    return "withheld" if value is None else f"{value:.{digits}f}"


def count(value: float | None) -> str:
    """A number of rows, or that it is withheld."""
    if value is None:
        return "withheld"
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.1f}"


def probability(value: float) -> str:
    """A probability in per cent, never rounded to a certainty that it is not."""
    if 0.9995 <= value < 1:
        return "> 99.9 %"
    return "< 0.1 %" if 0 < value < 0.0005 else percent(value)


def factor(nats: float) -> str:
    """What log-odds do to odds, as a factor or divisor."""
    size = math.exp(min(abs(nats), 20.0))
    text = f"{size:.1f}" if size < 9.95 else f"{size:.0f}"
    return "×1" if text == "1.0" else f"{'×' if nats > 0 else '÷'}{text}"


def check_schema(summary: Any) -> None:
    """Raise ValueError unless a summary is of the version of today."""
    if summary.get("schema") != SCHEMA:
        raise ValueError(
            f"the summary should be of schema {SCHEMA!r}, got "
            f"{summary.get('schema')!r}; make it again"
        )
