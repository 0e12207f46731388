"""Methods over many data sets: ranks, critical differences, errors, learning curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayleaf.evaluation.statistics import RankTest, mean_ranks, score_table, scores_of
from bayleaf.plot import style
from bayleaf.wording import near_names, quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Floats = NDArray[np.float64]

# Share of the width on each side that names take, with their ranks, and the most.
_MARGIN, _WIDEST_MARGIN, _TAIL = 0.33, 0.4, "  0.00"
# Heights in rows of names: from the axis to the first bar, and between bars.
_FIRST_BAR, _BAR_GAP = 0.5, 0.4


def rank_bars(
    scores: Mapping[str, ArrayLike],
    *,
    larger_is_better: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean rank of each model as a bar, with the data sets that it wins.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_datasets,)
        The scores of each model, on the same data sets in the same order.
    larger_is_better : bool, default=True
        False for losses.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        The best model on top; beside each bar its mean rank and on how many data sets
        no other model is better, so that ties are wins of all.

    Raises
    ------
    ValueError
        If there is no model, or scores do not pair or are not finite.
    """
    table = score_table(scores)
    means = mean_ranks(scores, larger_is_better=larger_is_better)
    ranks = np.array(list(means.values()))
    signed = table if larger_is_better else -table
    wins = (signed == signed.max(axis=1, keepdims=True)).sum(axis=0)
    order = np.argsort(ranks, kind="stable")
    names = list(scores)
    ax = style.axes_for(ax, 4.6, 0.7 + 0.26 * len(names))
    ax.barh(
        range(len(names)),
        ranks[order],
        0.7,
        color=style.FOR,
        edgecolor=style.INK,
        linewidth=0.5,
    )
    for place, model in enumerate(order):
        text = f" {ranks[model]:.2f}, best on {wins[model]} of {len(table)}"
        style.write(ax, ranks[model], place, text, va="center")
    style.name_ticks(ax, "y", [style.shortened(names[model]) for model in order])
    ax.invert_yaxis()
    # Room for the sentence beside the longest bar.
    ax.set_xlim(0, float(ranks.max()) * 1.75)
    style.label_axes(ax, "mean rank (1 is best)")
    style.plain_frame(ax)
    return ax


def error_scatter(
    errors: Mapping[str, ArrayLike],
    *,
    method: str,
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the errors of other methods against those of one, a point a data set.

    Points above the diagonal are data sets on which `method` does better (Langseth &
    Nielsen 2006, figure 2).

    Parameters
    ----------
    errors : mapping of str to array-like of shape (n_datasets,)
        The errors of each method, on the same data sets in the same order.
    method : str
        The method on the horizontal axis.
    unit : str, default=""
        Unit of the errors, such as ``"%"``, for the axes.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        The legend says on how many data sets `method` is better, and worse, than each
        other.

    Raises
    ------
    ValueError
        If there are fewer than two methods, `method` is none of them, or errors do not
        pair or are not finite.
    """
    table = score_table(errors)
    names = list(errors)
    if method not in names:
        raise ValueError(
            f"method must be one of those with errors, got {quoted(method)}; "
            f"{near_names(str(method), names)}"
        )
    if len(names) < 2:
        raise ValueError("errors are drawn against each other; give two methods")
    own = table[:, names.index(method)]
    ax = style.axes_for(ax, 4.0 + style.legend_width(len(names) - 1), 3.8)
    low, high = min(0.0, float(table.min())), float(table.max()) * 1.05 or 1.0
    ax.plot([low, high], [low, high], color=style.FAINT, linestyle=":", zorder=1)
    points: list[Any] = []
    told = []
    for number, name in enumerate(other for other in names if other != method):
        values = table[:, names.index(name)]
        points += ax.plot(
            own,
            values,
            **(style.line_look(number) | {"linestyle": ""}),
            markeredgecolor=style.INK,
            markeredgewidth=0.4,
            markersize=4.5,
            alpha=0.85,
        )
        better, worse = int((own < values).sum()), int((own > values).sum())
        told.append(f"{style.shortened(name)}: {better} better, {worse} worse")
    style.legend(ax, points, told, loc="upper left")
    bracket = f" ({unit})" if unit else ""
    style.label_axes(
        ax, f"error of {style.shortened(method)}{bracket}", f"error of others{bracket}"
    )
    ax.set_xlim(low, high)
    ax.set_ylim(low, high)
    style.plain_frame(ax)
    return ax


def learning_curve(
    sizes: Sequence[float] | ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    score: str = "score",
    ax: Axes | None = None,
) -> Axes:
    """Draw how scores grow with the number of training rows, a line a method.

    Parameters
    ----------
    sizes : array-like of shape (n_sizes,)
        Numbers of training rows, above 0.
    scores : mapping of str to array-like of shape (n_sizes,) or (n_sizes, n_repeats)
        Of several repeats the mean is drawn, with a bar of one standard deviation to
        each side.
    score : str, default="score"
        What the vertical axis is called.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        The horizontal axis is logarithmic where sizes span a factor of 10 or more, as
        in desJardins, Rathod and Getoor (2008), figures 9 to 11.

    Raises
    ------
    ValueError
        If there is no method, sizes are not above 0, or scores do not pair with them
        or are not finite.
    """
    rows = scores_of("sizes", sizes, 1)
    if (rows <= 0).any():
        raise ValueError(f"sizes must be above 0, got {rows.min():g}")
    if not isinstance(scores, Mapping):
        raise TypeError(
            f"scores must be a mapping of names to scores, got {type(scores).__name__}"
        )
    if not scores:
        raise ValueError("there is no method to draw; give the scores of at least one")
    tables = {name: _repeats(name, given, rows) for name, given in scores.items()}
    ax = style.axes_for(ax, 4.4 + style.legend_width(len(scores)), 3.4)
    order = np.argsort(rows, kind="stable")
    lines = []
    for number, table in enumerate(tables.values()):
        spread = table.std(axis=1, ddof=1)[order] if table.shape[1] > 1 else None
        drawn = ax.errorbar(
            rows[order],
            table.mean(axis=1)[order],
            yerr=spread,
            **style.line_look(number),
            markersize=4,
            elinewidth=0.8,
            capsize=2,
        )
        lines.append(drawn)
    if rows.max() >= 10 * rows.min():
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    style.legend(ax, lines, [style.shortened(name) for name in scores], loc="best")
    style.label_axes(ax, "training rows", style.shortened(score, 40))
    style.plain_frame(ax)
    return ax


def _repeats(name: str, given: ArrayLike, sizes: Floats) -> Floats:
    """Scores by size and repeat, finite and as many as sizes."""
    table = np.asarray(given, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or len(table) != len(sizes) or not table.shape[1]:
        raise ValueError(
            f"scores of {name} must have one row for each of the {len(sizes)} sizes, "
            f"got shape {np.shape(given)}"
        )
    scores_of(f"scores of {name}", table.ravel(), 1)
    return table


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
    points = style.axes_inches(ax)[0] * 72 * 0.92
    widest = max(style.text_width(f"{name}{_TAIL}") for name in names)
    margin = min(max(_MARGIN, widest / points + 0.03), _WIDEST_MARGIN)
    span = (high - low) / (1 - 2 * margin)
    ax.set_xlim(low - margin * span, high + margin * span)
    ax.set_ylim(top + n_left - 0.4, -2.6)
    ax.set_axis_off()
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
    _draw_names(ax, names, values, n_left, top, margin)
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
    ax: Axes,
    names: Sequence[str],
    values: Sequence[float],
    n_left: int,
    top: float,
    margin: float,
) -> None:
    """Each name on a row of its own at one side, with a line from its rank."""
    left, right = ax.get_xlim()
    span = right - left
    points = style.axes_inches(ax)[0] * 72 * (margin - 0.03) * 0.92
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        is_left = place < n_left
        row = place if is_left else len(names) - 1 - place
        height = top + row
        side = margin - 0.02
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
