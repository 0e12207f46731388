"""Critical-difference diagrams of mean ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bayleaf.evaluation.statistics_datasets import RankTest
from bayleaf.plot import style
from bayleaf.wording import quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Share of the width on each side that names take.
_MARGIN = 0.33
# Heights in rows of names: from the axis to the first bar, and between bars.
_FIRST_BAR, _BAR_GAP = 0.5, 0.4


def critical_difference(
    ranks: RankTest | Mapping[str, float],
    *,
    n_datasets: int | None = None,
    level: float = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Draw mean ranks on a line, with bars over models that do not differ.

    Parameters
    ----------
    ranks : RankTest or mapping of str to float
        What `bayleaf.evaluation.friedman_test` returns, or mean ranks by model.
    n_datasets : int, optional
        Number of data sets behind ranks that are given as a mapping.
    level : float, default=0.05
        Level of Nemenyi's test.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        The best model at the left. The ruler above is the critical difference; a bar
        joins models whose ranks differ by less.

    Raises
    ------
    ValueError
        If there are fewer than 2 models, or the number of data sets is missing.
    ImportError
        If matplotlib is not installed.

    References
    ----------
    Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets.
    Journal of Machine Learning Research 7, section 3.2.2, figure 1.
    """
    test = _rank_test(ranks, n_datasets)
    least = test.critical_difference(level)
    names = sorted(test.mean_ranks, key=lambda name: test.mean_ranks[name])
    values = [test.mean_ranks[name] for name in names]
    low, high = math.floor(min(values)), math.ceil(max(values))
    # The ruler has to fit on the axis.
    high = max(high, low + math.ceil(least), low + 1)
    tiers = _bar_tiers(test.groups(level), test.mean_ranks)
    n_left = (len(names) + 1) // 2
    top = _FIRST_BAR + _BAR_GAP * (max(tiers, default=-1) + 1) + 0.5
    ax = style.axes_for(ax, 7.0, 0.62 + 0.24 * (top + n_left), bare=True)
    span = (high - low) / (1 - 2 * _MARGIN)
    ax.set_xlim(low - _MARGIN * span, high + _MARGIN * span)
    ax.set_ylim(top + n_left - 0.4, -2.6)
    style.no_frame(ax)
    _draw_axis(ax, low, high, least, f"critical difference {least:.2f}")
    for tier, group in zip(tiers, test.groups(level), strict=True):
        ends = [test.mean_ranks[group[0]], test.mean_ranks[group[-1]]]
        height = _FIRST_BAR + _BAR_GAP * tier
        reach = 0.006 * span
        ax.plot(
            [ends[0] - reach, ends[1] + reach],
            [height, height],
            color=style.INK,
            linewidth=3.2,
            solid_capstyle="butt",
            zorder=3,
            gid=f"group {tier}",
        )
    _draw_names(ax, names, values, n_left, top)
    return ax


def _rank_test(
    ranks: RankTest | Mapping[str, float], n_datasets: int | None
) -> RankTest:
    """Ranks that know how many data sets they come from."""
    if isinstance(ranks, RankTest):
        return ranks
    if not isinstance(ranks, Mapping):
        raise TypeError(
            "ranks must be what friedman_test returns or a mapping of mean ranks by "
            f"model, got {type(ranks).__name__}"
        )
    if n_datasets is None:
        raise ValueError(
            "the critical difference depends on the number of data sets; give "
            "n_datasets beside the mean ranks"
        )
    named = {str(name): float(rank) for name, rank in ranks.items()}
    wrong = [name for name, rank in named.items() if not 1 <= rank <= len(named)]
    if wrong:
        raise ValueError(
            f"the mean rank of {quoted(wrong[0])} is {named[wrong[0]]:g}, but ranks of "
            f"{len(named)} models lie between 1 and {len(named)}"
        )
    # Neither the statistic nor its probability is drawn.
    return RankTest(math.nan, math.nan, named, n_datasets)


def _bar_tiers(
    groups: Sequence[tuple[str, ...]], ranks: Mapping[str, float]
) -> list[int]:
    """A height for each bar, so that bars at one height share no rank."""
    reached: list[float] = []
    tiers = []
    for group in groups:
        start, end = ranks[group[0]], ranks[group[-1]]
        free = [tier for tier, last in enumerate(reached) if last < start - 0.05]
        if free:
            tiers.append(free[0])
            reached[free[0]] = end
        else:
            tiers.append(len(reached))
            reached.append(end)
    return tiers


def _draw_axis(ax: Axes, low: int, high: int, least: float, told: str) -> None:
    """The line of ranks with its numbers, and the ruler above it."""
    ax.plot([low, high], [0, 0], color=style.INK, linewidth=1.0)
    step = max(1, (high - low) // 12)
    for tick in range(low, high + 1):
        ax.plot([tick, tick], [0, -0.22], color=style.INK, linewidth=0.8)
        if (tick - low) % step == 0:
            style.write(ax, tick, -0.3, str(tick), ha="center", va="bottom")
    ax.plot([low, low + least], [-1.6, -1.6], color=style.INK, linewidth=1.2)
    for end in (low, low + least):
        ax.plot([end, end], [-1.75, -1.45], color=style.INK, linewidth=1.2)
    style.write(ax, low, -1.8, told, ha="left", va="bottom")


def _draw_names(
    ax: Axes, names: Sequence[str], values: Sequence[float], n_left: int, top: float
) -> None:
    """Each name on a row of its own at one side, with a line from its rank."""
    left, right = ax.get_xlim()
    span = right - left
    points = style.axes_inches(ax)[0] * 72 * (_MARGIN - 0.03) * 0.92
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        is_left = place < n_left
        row = place if is_left else len(names) - 1 - place
        height = top + row
        side = _MARGIN - 0.02
        edge = left + side * span if is_left else right - side * span
        ax.plot(
            [value, value, edge],
            [0, height, height],
            color=style.INK,
            linewidth=0.7,
            zorder=2,
        )
        tail = f"  {value:.2f}"
        room = points - style.text_width(tail)
        text = style.fitted(name, room)
        style.write(
            ax,
            edge - 0.006 * span if is_left else edge + 0.006 * span,
            height,
            text + tail if is_left else f"{value:.2f}  {text}",
            ha="right" if is_left else "left",
            va="center",
        )
