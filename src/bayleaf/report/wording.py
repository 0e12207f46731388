"""Texts from tables and model files, made fit to stand in a page."""

from __future__ import annotations

from bayleaf.wording import plain

__all__ = ["count", "number", "percent", "plain", "probability"]


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
    """A probability, never rounded to a certainty that it is not."""
    if 0.9995 <= value < 1:
        return "> 0.999"
    return "< 0.001" if 0 < value < 0.0005 else f"{value:.3f}"
