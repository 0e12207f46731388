"""Rates by group with their credible intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayleaf.evaluation.audits import Audit
from bayleaf.evaluation.groups import GroupedFigures, GroupFigures
from bayleaf.evaluation.groups.figures import RATES
from bayleaf.plot import style
from bayleaf.wording import name_list, quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = ("base_rate", "selection_rate", "true_positive_rate", "false_positive_rate")
# Inches of a group, and of what stands above and below the groups.
_GROUP, _AROUND = 0.5, 1.3


def group_rates(
    figures: GroupedFigures | Audit,
    *,
    rates: Sequence[str] = _SHOWN,
    positive: str | None = None,
    columns: Sequence[str] | str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw rates of a class by group, each with its credible interval.

    Parameters
    ----------
    figures : GroupedFigures or Audit
        Figures by group.
    rates : sequence of str, optional
        Any of ``base_rate``, ``selection_rate``, ``true_positive_rate``,
        ``false_positive_rate``, ``positive_predictive_value`` and
        ``negative_predictive_value``; the first four by default.
    positive : str, optional
        The class, by default the first whose rates are known.
    columns : str or sequence of str, optional
        Of an audit, the columns that make the groups; by default the first one.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        Groups from top to bottom; the number of rows stands behind a group's name.

    Raises
    ------
    ValueError
        If there is no such rate, class or grouping, or no group is shown.
    ImportError
        If matplotlib is not installed.
    """
    grouping = _grouping(figures, columns)
    strange = [rate for rate in rates if rate not in RATES]
    if strange or not rates:
        raise ValueError(
            f"rates must be some of {name_list(list(RATES), limit=6)}, got "
            f"{quoted(strange[0] if strange else rates)}"
        )
    if not grouping.groups:
        raise ValueError("there is no group to draw: all have too few rows")
    place, label = _class(grouping.groups[0], positive)
    n_groups = len(grouping.groups)
    ax = style.axes_for(ax, 5.2, _AROUND + _GROUP * n_groups)
    lines = []
    for number, rate in enumerate(rates):
        offset = (number - (len(rates) - 1) / 2) * 0.7 / len(rates)
        lines.append(_draw(ax, grouping.groups, place, rate, number, offset))
    names = [
        f"{style.shortened(group.name)} ({group.n_rows})" for group in grouping.groups
    ]
    style.name_ticks(ax, "y", names)
    ax.set_ylim(n_groups - 0.5, -0.5)
    ax.set_xlim(-0.02, 1.02)
    told = [rate.replace("_", " ") for rate in rates]
    # Below the axes, where it hides no interval.
    below = -0.42 / (_GROUP * n_groups)
    style.legend(
        ax, lines, told, loc="upper center", bbox_to_anchor=(0.5, below), ncols=2
    )
    style.label_axes(ax, "share of rows")
    style.title(ax, f"{label} by {', '.join(grouping.columns)}")
    style.plain_frame(ax)
    ax.grid(axis="x", color=style.FAINT, linewidth=0.4, alpha=0.5)
    return ax


def _draw(
    ax: Axes,
    groups: Sequence[GroupFigures],
    place: int,
    rate: str,
    number: int,
    offset: float,
) -> Any:
    """Points of one rate with their intervals; what the legend points at."""
    colour = style.COLOURS[number % len(style.COLOURS)]
    marker = style.MARKERS[number % len(style.MARKERS)]
    found = [getattr(group.classes[place], rate) for group in groups]
    known = [
        (at + offset, own) for at, own in enumerate(found) if own.value is not None
    ]
    for at, own in known:
        ax.hlines(at, own.low, own.high, color=colour, linewidth=1.2, zorder=2)
    (line,) = ax.plot(
        [own.value for _, own in known],
        [at for at, _ in known],
        marker,
        color=colour,
        markersize=4.5,
        zorder=3,
    )
    return line


def _grouping(
    figures: GroupedFigures | Audit, columns: Sequence[str] | str | None
) -> GroupedFigures:
    """The groups that are drawn."""
    if isinstance(figures, GroupedFigures):
        return figures
    if columns is None:
        return figures.groupings[0]
    wanted = {columns} if isinstance(columns, str) else set(columns)
    for grouping in figures.groupings:
        if set(grouping.columns) == wanted:
            return grouping
    known = [" and ".join(one.columns) for one in figures.groupings]
    raise ValueError(
        f"the audit has no groups by {name_list(sorted(wanted))}; it has groups by "
        f"{name_list(known)}"
    )


def _class(group: GroupFigures, positive: str | None) -> tuple[int, str]:
    """Which class is drawn."""
    labels = [rates.label for rates in group.classes]
    if positive is None:
        return 0, labels[0]
    if str(positive) not in labels:
        raise ValueError(
            f"positive must be a class whose rates are known, {name_list(labels)}, got "
            f"{quoted(positive)}"
        )
    return labels.index(str(positive)), str(positive)
