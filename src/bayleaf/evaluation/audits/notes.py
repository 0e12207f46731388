"""Sentences that follow from the figures of an audit."""

from __future__ import annotations

from collections.abc import Sequence

from bayleaf.evaluation.groups.estimates import LEAST_ROUNDINGS, moved_by_rounding
from bayleaf.evaluation.groups.figures import GroupFigures
from bayleaf.evaluation.groups.grouped_figures import GroupedFigures
from bayleaf.evaluation.privacy import Privacy
from bayleaf.wording import name_list, plain, shown_name

MEANINGS = {
    "base rate": "share of rows whose class it is",
    "selected": "share of rows for which it is predicted",
    "found": "share for which it is predicted, of the rows whose class it is (true "
    "positive rate)",
    "false alarms": "share for which it is predicted, of the other rows (false "
    "positive rate)",
    "right if selected": "share whose class it is, of the rows for which it is "
    "predicted (positive predictive value)",
    "right if not": "share whose class it is not, of the rows for which it is not "
    "predicted (negative predictive value)",
    "gap": "mean probability less base rate, in points: above 0 the class is predicted "
    "as too probable",
    "calib. error": "expected calibration error, and in parentheses what chance alone "
    "gives for as many rows",
}


def audit_notes(
    groupings: Sequence[GroupedFigures], positive: Sequence[str], min_count: int
) -> list[str]:
    """The meaning of the figures, in sentences."""
    notes = []
    for grouping in groupings:
        for place, label in enumerate(positive):
            notes += _selection(grouping, place, label)
            notes += _base_rates(grouping, place, label)
    notes.append(
        "Differences between groups are those of these rows; they are no effects of "
        "belonging to a group."
    )
    if min_count > 1:
        base = Privacy(min_count=min_count).base
        notes.append(
            f"Numbers of rows are rounded to multiples of {base} and probabilities put "
            "into intervals; all figures are computed from these alone. Each number of "
            f"rows behind a figure may be off by some {base}, by more where several "
            "groups are added up, of which credible intervals know nothing. Groups and "
            f"shares of fewer than {LEAST_ROUNDINGS * base} rows (more where several "
            "groups are added up) are left out, as rounding would change them too "
            "much; so are numbers of the model. Differences stand only where neither "
            "chance nor rounding can have made them."
        )
    return notes


def _selection(grouping: GroupedFigures, place: int, label: str) -> list[str]:
    """How the lowest selection rate stands to the highest."""
    rates = [(_rate(g, place, "selection_rate"), g) for g in grouping.groups]
    known = [(rate, group) for rate, group in rates if rate is not None]
    if len(known) < 2:
        return []
    lowest, highest = min(known, key=_first), max(known, key=_first)
    reach = [(group.rounding, group.n_rows) for _, group in (lowest, highest)]
    if highest[0] - lowest[0] <= moved_by_rounding(*reach):
        return []
    return [
        f"By {_columns(grouping)}, the lowest share for which {plain(label)} is "
        f"predicted ({_named(*lowest)}) is {lowest[0] / highest[0]:.2f} of the highest "
        f"({_named(*highest)})."
    ]


def _base_rates(grouping: GroupedFigures, place: int, label: str) -> list[str]:
    """Whether base rates differ by more than chance, and what that rules out."""
    if grouping.reference is None:
        return []
    differing = [
        (contrast.difference, group)
        for group in grouping.groups
        for contrast in group.contrasts
        if (contrast.figure, contrast.label) == ("base_rate", label)
        and contrast.is_clear
    ]
    by = f"By {_columns(grouping)}, base rates of {plain(label)}"
    rounded = grouping.min_count > 1
    if not differing:
        explains = "chance and rounding explain" if rounded else "chance explains"
        return [f"{by} do not differ from the reference by more than {explains}."]
    difference, group = max(differing, key=lambda pair: abs(pair[0].value or 0.0))
    reference = next(g for g in grouping.groups if g.label == grouping.reference)
    own, other = (_rate(g, place, "base_rate") or 0.0 for g in (group, reference))
    return [
        f"{by} differ ({_named(own, group)}; {_named(other, reference)}; difference "
        f"{100 * (difference.value or 0.0):.1f} points, {100 * grouping.level:g} per "
        f"cent interval {100 * (difference.low or 0.0):.1f} to "
        f"{100 * (difference.high or 0.0):.1f}): unless predictions are perfect, such "
        "groups cannot have equal error rates and equal predictive values together."
    ]


def _rate(group: GroupFigures, place: int, rate: str) -> float | None:
    """The value of a rate of a class."""
    value: float | None = getattr(group.classes[place], rate).value
    return value


def _first(pair: tuple[float, GroupFigures]) -> float:
    """What pairs are compared by."""
    return pair[0]


def _named(rate: float, group: GroupFigures) -> str:
    """A group with a rate of it."""
    return f"{plain(group.name)}: {100 * rate:.1f}%"


def _columns(grouping: GroupedFigures) -> str:
    """The columns that make groups."""
    return name_list([shown_name(name) for name in grouping.columns])
