"""Why a row got its class, as a picture: from the prior to the log-odds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayleaf.models.explanation import Explanation
from bayleaf.plot import style
from bayleaf.wording import quoted, stated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNITS = {"nats": 1.0, "bits": math.log(2)}


def contributions(
    explanation: Explanation,
    *,
    limit: int = 10,
    unit: str = "nats",
    ax: Axes | None = None,
) -> Axes:
    """Draw an explanation as a waterfall from the prior to the log-odds.

    Parameters
    ----------
    explanation : Explanation
        One of those that a classifier's ``explain`` returns.
    limit : int, default=10
        Terms with a bar of their own, the largest ones; all others share one.
    unit : {"nats", "bits"}, default="nats"
        Unit of the axis.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        A bar a term: dark to the right where it speaks for the class, light and
        hatched to the left where it speaks against it. The last is the sum.

    Raises
    ------
    TypeError
        If it is no explanation.
    ValueError
        If `limit` is negative or the unit unknown.
    ImportError
        If matplotlib is not installed.
    """
    if not isinstance(explanation, Explanation):
        raise TypeError(
            "explanation must be one of those that a classifier's explain returns, "
            f"got {type(explanation).__name__}"
        )
    if limit < 0:
        raise ValueError(f"the number of terms to show must be >= 0, got {limit}")
    if unit not in _UNITS:
        raise ValueError(f"unit must be 'nats' or 'bits', got {quoted(unit)}")
    names, sizes = _bars(explanation, limit)
    values = np.array(sizes) / _UNITS[unit]
    ax = style.axes_for(ax, 5.2, 0.9 + 0.24 * (len(values) + 1))
    starts = np.append(0.0, np.cumsum(values))
    starts[-1] = 0.0
    total = explanation.log_odds / _UNITS[unit]
    _draw_bars(ax, starts, np.append(values, total))
    style.name_ticks(ax, "y", [style.shortened(n, 34) for n in (*names, "log-odds")])
    ax.invert_yaxis()
    target, against = (
        style.shortened(label) for label in (explanation.target, explanation.against)
    )
    style.title(
        ax,
        f"row {explanation.row}: {target} with probability "
        f"{explanation.probability:.3f}",
    )
    style.label_axes(ax, f"for {target} against {against} ({unit})")
    return ax


def _bars(explanation: Explanation, limit: int) -> tuple[list[str], list[float]]:
    """Names and sizes (nats) of the bars from the prior on, but for the sum."""
    ranked = explanation.ranked()
    names, sizes = ["prior"], [explanation.prior]
    for term in ranked[:limit]:
        names.append(stated(style.clean(term.feature), style.clean(term.value)))
        sizes.append(term.contribution)
    rest = ranked[limit:]
    if rest:
        names.append("1 other" if len(rest) == 1 else f"{len(rest)} others together")
        sizes.append(math.fsum(term.contribution for term in rest))
    return names, sizes


def _draw_bars(
    ax: Axes, starts: NDArray[np.float64], values: NDArray[np.float64]
) -> None:
    """Bars from where the last one ended, their sizes beside them."""
    places = np.arange(len(values))
    drawn = ax.barh(
        places,
        values,
        0.7,
        left=starts,
        color=[style.FOR if v >= 0 else style.AGAINST for v in values],
        edgecolor=style.INK,
        linewidth=0.5,
        zorder=2,
    )
    for bar, value in zip(drawn, values, strict=True):
        if value < 0:
            bar.set_hatch("////")
    drawn[-1].set_linewidth(1.5)
    ends = starts + values
    # A thin line leads from where each bar ends to where the next one begins.
    ax.vlines(
        ends[:-1], places[:-1], places[1:], color=style.FAINT, linewidth=0.7, zorder=1
    )
    ax.axvline(0, color=style.INK, linewidth=0.7, zorder=1)
    for place, end, value in zip(places, ends, values, strict=True):
        ax.annotate(
            f"{value:+.2f}",
            (end, place),
            (4 if value >= 0 else -4, 0),
            textcoords="offset points",
            ha="left" if value >= 0 else "right",
            va="center",
            fontsize=style.FONT_SIZE - 1,
            color=style.INK,
            bbox={"facecolor": style.PAPER, "edgecolor": "none", "pad": 0.5},
        )
    _leave_room(ax, starts, ends, values)
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def _leave_room(
    ax: Axes,
    starts: NDArray[np.float64],
    ends: NDArray[np.float64],
    values: NDArray[np.float64],
) -> None:
    """Set the ends of the axis so that the numbers beside the bars fit between."""
    reach = np.append(starts, ends)
    span = max(float(np.ptp(reach)), 1e-9)
    number = 1.1 * style.text_width("+00.00") + 6
    # Names beside the axes take some of their width once the figure is laid out.
    width = max(0.7 * 72 * style.axes_inches(ax)[0], 3 * number)
    room = span * number / (width - 2 * number)
    left = float(np.min(ends[values < 0], initial=np.inf)) - room
    right = float(np.max(ends[values >= 0], initial=-np.inf)) + room
    slack = 0.03 * span
    ax.set_xlim(
        min(left, float(reach.min()) - slack), max(right, float(reach.max()) + slack)
    )
