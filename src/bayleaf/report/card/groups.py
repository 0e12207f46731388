"""The part of a model card on groups of rows."""

from __future__ import annotations

from typing import Any

from bayleaf.report.card.texts import Part

Values = dict[str, Any]


def groups_part(summary: Values) -> Part | None:
    """Figures by group; None where none were asked for.

    Parameters
    ----------
    summary : dict
        What `bayleaf.report.summarize` gave.
    """
    return None
