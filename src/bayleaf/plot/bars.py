"""Posteriors, importances, drift and explanations as bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.explain.drift import Drift
from bayleaf.explain.importance import Importance
from bayleaf.inference.posteriors import Posterior, Posteriors
from bayleaf.models.explanation import Explanation
from bayleaf.plot import style
from bayleaf.typing import ByName
from bayleaf.wording import in_bits, quoted, stated

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Lines of a name, and their width in points.
_LINES, _NAME = 2, 150.0
# Probabilities below which a change is no accident.
_SURPRISING = 0.01
# Posteriors that one picture holds, and states of all of them.
MAX_POSTERIORS, MAX_STATES = 20, 120

_UNITS = {"nats": 1.0, "bits": math.log(2)}


def posterior_bars(
    posteriors: Posterior | Posteriors | ByName[Posterior], *, ax: Axes | None = None
) -> Axes:
    """Draw posterior distributions, a bar a state, variable below variable.

    Parameters
    ----------
    posteriors : Posterior, Posteriors or mapping of name to Posterior
        What a network's ``query`` returns.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        Bars from 0 to 1, the most probable state of each variable dark.

    Raises
    ------
    TypeError
        If they are no posteriors.
    ValueError
        If there are none, more than 20, or more than 120 states altogether.
    """
    found = _listed(posteriors)
    n_states = sum(len(one) for one in found)
    if not 0 < len(found) <= MAX_POSTERIORS or n_states > MAX_STATES:
        raise ValueError(
            f"a picture shows 1 to {MAX_POSTERIORS} variables with up to {MAX_STATES} "
            f"states, but there are {len(found)} with {n_states}; query fewer targets"
        )
    ax = style.axes_for(ax, 5.0, 0.6 + 0.22 * (n_states + 1.3 * len(found)))
    place, names, places = 0.0, [], []
    for one in found:
        style.write(
            ax,
            0.0,
            place,
            style.fitted(one.variable.name, 72 * 3.2),
            fontweight="bold",
            va="center",
        )
        best = int(np.argmax(one.probabilities))
        for state, p in enumerate(one.probabilities.tolist()):
            place += 1.0
            places.append(place)
            names.append(style.fitted(one.variable.label(state), _NAME))
            ax.barh(place, p, 0.72, color=style.FOR if state == best else style.FAINT)
            inside = p > 0.85
            style.write(
                ax,
                p + (-0.01 if inside else 0.01),
                place,
                f"{p:.3f}",
                ha="right" if inside else "left",
                va="center",
                color=style.PAPER if inside and state == best else style.INK,
            )
        place += 1.4
    ax.set_yticks(places)
    ax.set_yticklabels(names, fontsize=style.FONT_SIZE, parse_math=False)
    ax.set_ylim(place - 0.6, -0.8)
    ax.set_xlim(0.0, 1.0)
    ax.tick_params(axis="y", length=0)
    style.label_axes(ax, x="probability")
    style.plain_frame(ax)
    return ax


def _listed(posteriors: Any) -> list[Posterior]:
    """Posteriors one by one."""
    found: Sequence[Any] = [posteriors]
    if isinstance(posteriors, Mapping):
        found = list(posteriors.values())
    if not all(isinstance(one, Posterior) for one in found):
        raise TypeError(
            "posteriors must be what a network's query returns, got "
            f"{type(posteriors).__name__}"
        )
    return list(found)


def _check_arguments(result: object, kind: type, limit: int) -> None:
    """Raise unless a result is of its kind, and at least one bar is shown."""
    if not isinstance(result, kind):
        name = kind.__name__.lower()
        raise TypeError(
            f"{name} must be what bayleaf.explain.{name} returns, got "
            f"{type(result).__name__}"
        )
    if limit < 1:
        raise ValueError(f"limit must be at least 1, got {limit}")


def importance(found: Importance, *, limit: int = 20, ax: Axes | None = None) -> Axes:
    """Draw what each feature is worth to a model.

    Parameters
    ----------
    found : Importance
        What `bayleaf.explain.importance` returns.
    limit : int, default=20
        Features with a bar, the most important ones.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        A bar a feature, as long as the log-loss rises without it, light and hatched
        where it falls; lines are two standard errors to either side.

    Raises
    ------
    TypeError
        If it is no importance.
    ValueError
        If the limit is below 1.
    """
    _check_arguments(found, Importance, limit)
    shown = found.ranked()[:limit]
    ax = style.axes_for(ax, 5.4, 1.2 + 0.27 * len(shown))
    rises = [in_bits(feature.loss_increase) for feature in shown]
    style.signed_bars(ax, rises, 0.62)
    ax.axvline(0, color=style.INK, linewidth=0.7)
    style.list_names(ax, [style.in_lines(f.feature, _NAME, _LINES) for f in shown])
    style.label_axes(ax, x="rise of the log-loss without the feature (bits a row)")
    reach = [2 * in_bits(feature.loss_error) for feature in shown]
    ax.errorbar(rises, range(len(shown)), xerr=reach, fmt="none", ecolor=style.INK)
    more = len(found.features) - len(shown)
    if more:
        style.title(ax, f"the first {len(shown)} of {len(found.features)} features")
    style.plain_frame(ax)
    return ax


def drift(found: Drift, *, limit: int = 20, ax: Axes | None = None) -> Axes:
    """Draw how far today's rows are from a model, a bar a variable.

    Parameters
    ----------
    found : Drift
        What `bayleaf.explain.drift` returns.
    limit : int, default=20
        Bars, those of the most surprising changes.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        Bits a row, of each variable given its parents where families were compared,
        otherwise by itself, with the p-value; dark below 0.01.

    Raises
    ------
    TypeError
        If it is no drift.
    ValueError
        If the limit is below 1.
    """
    _check_arguments(found, Drift, limit)
    bars = [(one.child, one.deviation) for one in found.ranked_families()]
    given = " given its parents" if bars else ""
    bars = bars or [(one.name, one.deviation) for one in found.ranked_variables()]
    shown = bars[:limit]
    finite = [one.bits for _, one in shown if np.isfinite(one.bits)]
    most = max([*finite, 1e-9])
    ax = style.axes_for(ax, 5.4, 1.2 + 0.27 * len(shown))
    for place, (_, one) in enumerate(shown):
        bits = min(one.bits, most)
        colour = style.FOR if one.p_value < _SURPRISING else style.FAINT
        ax.barh(place, bits, 0.62, color=colour)
        told = f"p = {one.p_value:.2g}" if np.isfinite(one.bits) else "ruled out"
        style.write(ax, bits + 0.01 * most, place, told, va="center")
    style.list_names(ax, [style.in_lines(name, _NAME, _LINES) for name, _ in shown])
    ax.set_xlim(0.0, 1.25 * most)
    style.label_axes(ax, x=f"difference of each variable{given} (bits a row)")
    style.plain_frame(ax)
    return ax


def contributions(
    explanation: Explanation,
    *,
    limit: int = 10,
    unit: str = "bits",
    ax: Axes | None = None,
) -> Axes:
    """Draw an explanation as a waterfall from the prior to the log-odds.

    Parameters
    ----------
    explanation : Explanation
        One of those that a classifier's ``explain`` returns.
    limit : int, default=10
        Terms with a bar of their own, the largest ones; all others share one.
    unit : {"bits", "nats"}, default="bits"
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
    style.list_names(ax, [style.shortened(n, 34) for n in (*names, "log-odds")])
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
        fact = stated(style.clean(term.feature), style.clean(term.value), term.cell)
        names.append(fact)
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
    look = {"left": starts, "edgecolor": style.INK, "linewidth": 0.5, "zorder": 2}
    drawn = style.signed_bars(ax, values, 0.7, **look)
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
