"""States of a feature as steps or bars, and those of two as states of a latent."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Variable
from bayleaf.models.latent_rules import LatentReport
from bayleaf.models.texts.expectation import ExpectationShape
from bayleaf.models.texts.feature_shape import FeatureShape
from bayleaf.models.wrappers import model_inside
from bayleaf.pictures.svg import density_bins
from bayleaf.plot import style
from bayleaf.wording import counted, in_bits, name_list, near_names, quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayleaf.classifiers import HNBClassifier
    from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel


Floats = NDArray[np.float64]

# Values with a bar, and classes with a line.
MAX_VALUES, MAX_CLASSES = 30, 7
# Lines of a name, and their width in points.
_LINES, _NAME = 2, 140.0

# Light fills on which dark numbers can be read.
_TINTS = (
    "#9ECAE9",
    "#FFE0A3",
    "#A8DCC9",
    "#E9C3D8",
    "#F4F0A8",
    "#D0D0D0",
    "#F3B598",
    "#FFFFFF",
)
_MOST_NUMBERS = 400


def shape(
    found: FeatureShape | ExpectationShape,
    *,
    target: Hashable = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what the states of a feature say, and how many rows have them.

    Parameters
    ----------
    found : FeatureShape or ExpectationShape
        What a fitted model's ``shape`` returns.
    target : object, optional
        The only class to draw; by default the second of two, or all of up to 7.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        Steps over the intervals of a number, training rows per unit in grey below; for
        values a bar each, with its rows. A class is spoken for above 0.

    Raises
    ------
    TypeError
        If it is no shape.
    ValueError
        If there is no such class, a feature has more than 30 values, or there are more
        than 7 classes and none is chosen.
    """
    if isinstance(found, ExpectationShape):
        lines = {f"expected {style.clean(found.target)}": found.expectations}
        unit, base = f"expected {style.shortened(found.target)}", found.baseline
    elif isinstance(found, FeatureShape):
        lines = _classes(found, target)
        unit, base = "bits for the class", 0.0
    else:
        raise TypeError(
            f"shape must be what a model's shape returns, got {type(found).__name__}"
        )
    if found.kind == "numeric":
        return _steps(found, lines, unit, base, ax)
    return _bars(found, lines, unit, base, ax)


def _classes(found: FeatureShape, target: Any) -> dict[str, Floats]:
    """The lines to draw, by class."""
    labels = list(found.classes)
    if target is not None:
        if target not in labels:
            raise ValueError(
                f"there is no class {quoted(target)}; classes are {name_list(labels)}"
            )
        shown = [labels.index(target)]
    else:
        shown = [1] if len(labels) == 2 else list(range(len(labels)))
    if len(shown) > MAX_CLASSES:
        raise ValueError(
            f"a picture shows up to {MAX_CLASSES} classes, but there are "
            f"{len(labels)}; choose one as target"
        )
    return {style.clean(labels[k]): in_bits(found.contributions[:, k]) for k in shown}


def _steps(
    found: Any, lines: dict[str, Floats], unit: str, base: float, ax: Axes | None
) -> Axes:
    """A step curve a class over the intervals of a number."""
    n_intervals = len(found.edges) - 1
    ax = style.axes_for(ax, 5.4, 3.2)
    # A number without cut points is one interval.
    edges = found.drawn_edges if len(found.drawn_edges) else np.array([-1.0, 1.0])
    rows = np.asarray(found.row_counts, dtype=np.float64)[:n_intervals]
    if not rows.size:
        rows = np.zeros(n_intervals)
    starts, ends, density = np.array(density_bins(edges.tolist(), rows.tolist())).T
    below = ax.twinx()
    below.bar(
        starts,
        density,
        ends - starts,
        align="edge",
        color=style.FAINT,
        alpha=0.35,
        linewidth=0,
    )
    below.set_ylim(0.0, 4.5 * (float(density.max(initial=0.0)) or 1.0))
    style.label_axes(below, y="training rows per unit (grey)")
    ax.set_zorder(below.get_zorder() + 1)
    ax.patch.set_visible(False)
    for number, values in enumerate(lines.values()):
        ax.stairs(
            values[:n_intervals],
            edges,
            baseline=None,
            color=style.COLOURS[number],
            linestyle=style.DASHES[number],
            linewidth=1.6,
        )
    ax.axhline(base, color=style.INK, linewidth=0.7)
    style.label_axes(ax, x=style.shortened(found.feature, 60), y=_named(unit, lines))
    _key(ax, lines)
    for axes in (ax, below):
        axes.spines["top"].set_visible(False)
    missing = len(found.states) - n_intervals
    if missing > 0:
        told = ", ".join(f"{values[-1]:+.2f}" for values in lines.values())
        style.title(ax, f"where it is missing: {told}")
    return ax


def _bars(
    found: Any, lines: dict[str, Floats], unit: str, base: float, ax: Axes | None
) -> Axes:
    """Bars for values, those of several classes below one another."""
    n_values = len(found.states)
    if n_values > MAX_VALUES:
        raise ValueError(
            f"a picture shows up to {MAX_VALUES} values, but {quoted(found.feature)} "
            f"has {n_values}; print the shape, or merge rare values"
        )
    height = 0.8 / len(lines)
    ax = style.axes_for(ax, 5.4, 0.9 + max(0.3, 0.17 * len(lines)) * n_values)
    for number, values in enumerate(lines.values()):
        middle = (number - (len(lines) - 1) / 2) * height
        ax.barh(
            np.arange(n_values) + middle,
            values - base,
            height * 0.9,
            left=base,
            color=style.COLOURS[number],
        )
    ax.axvline(base, color=style.INK, linewidth=0.7)
    told = [f"\n{rows:g} rows" for rows in found.row_counts] or [""] * n_values
    names = [
        f"{style.in_lines(state, _NAME, _LINES)}{count}"
        for state, count in zip(found.states, told, strict=True)
    ]
    style.list_names(ax, names)
    style.title(ax, style.clean(found.feature))
    style.label_axes(ax, x=_named(unit, lines))
    _key(ax, lines)
    style.plain_frame(ax)
    return ax


def _named(unit: str, lines: dict[str, Floats]) -> str:
    """The unit, with the class that it speaks for if there is one only."""
    if len(lines) > 1 or not unit.startswith("bits"):
        return unit
    return f"bits for {style.shortened(next(iter(lines)))}"


def _key(ax: Axes, lines: dict[str, Floats]) -> None:
    """Which line is which class's, where there are several."""
    if len(lines) < 2:
        return
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=style.COLOURS[n], ls=cast(Any, style.DASHES[n]))
        for n in range(len(lines))
    ]
    style.legend(ax, handles, [style.shortened(name) for name in lines])


def latent_partition(
    model: HNBClassifier | HierarchicalNaiveBayesModel,
    latent: str,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw which state a latent variable has in each cell of its two children.

    Parameters
    ----------
    model : HNBClassifier or HierarchicalNaiveBayesModel
        A fitted hierarchical naive Bayes.
    latent : str
        Name of the latent variable, such as ``"L1"``.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        A row a state of the first child, a column a state of the second; cells of one
        state have one colour and number, and thick lines part different ones.

    Raises
    ------
    TypeError
        If the model has no latent variables of this kind.
    ValueError
        If there is no such latent variable.
    """
    inside: Any = model_inside(model, same_scores=False)
    found = getattr(inside, "model_", inside)
    if getattr(found, "latent_reports", None) is None:
        raise TypeError(
            "model must be a fitted hierarchical naive Bayes, got a "
            f"{type(inside).__name__}"
        )
    reports = {report.name: report for report in found.latent_reports}
    if latent not in reports:
        names = list(reports)
        remedy = near_names(str(latent), names) if names else "the model has none"
        raise ValueError(f"there is no latent variable {quoted(latent)}; {remedy}")
    chosen = reports[latent]
    states = chosen.cells
    ax = style.axes_for(ax, 1.9 + 0.42 * states.shape[1], 1.2 + 0.28 * len(states))
    _draw_cells(ax, states)
    variables = {variable.name: variable for variable in found.domain}
    for axis, child in zip("yx", chosen.children, strict=True):
        name, labels = _child(variables.get(child), reports.get(str(child)))
        style.name_ticks(ax, axis, labels)
        getattr(ax, f"set_{axis}label")(
            style.shortened(name, 32), fontsize=style.FONT_SIZE, parse_math=False
        )
    ax.tick_params(length=0)
    states_left = counted(len(chosen.states), "state")
    style.title(ax, f"{style.shortened(latent)}: {states.size} cells in {states_left}")
    return ax


def _child(
    feature: Variable | None, nested: LatentReport | None
) -> tuple[str, list[str]]:
    """Name and states of a feature or, where there is none, of a nested latent."""
    if feature is None:
        assert nested is not None
        numbers = range(1, len(nested.states) + 1)
        return f"state of {nested.name}", [str(number) for number in numbers]
    # A missing state, if there is one, is counted with the others.
    labels = [feature.label(code) for code in range(feature.n_states)]
    return str(feature.name), [style.shortened(label, 18) for label in labels]


def _draw_cells(ax: Axes, states: NDArray[np.intp]) -> None:
    """Cells in the colours of their states, their numbers, and the lines between."""
    from matplotlib.colors import to_rgb

    tints = np.array([to_rgb(colour) for colour in _TINTS])
    ax.imshow(tints[states % len(tints)], aspect="auto", interpolation="nearest")
    if states.size <= _MOST_NUMBERS:
        for (row, column), state in np.ndenumerate(states):
            look = {"ha": "center", "va": "center", "color": style.INK}
            style.write(ax, column, row, str(state + 1), **look)
    edges = [
        ((column + 0.5, column + 0.5), (row - 0.5, row + 0.5))
        for row, column in np.argwhere(states[:, 1:] != states[:, :-1])
    ]
    edges += [
        ((column - 0.5, column + 0.5), (row + 0.5, row + 0.5))
        for row, column in np.argwhere(states[1:] != states[:-1])
    ]
    for xs, ys in edges:
        ax.plot(xs, ys, color=style.INK, linewidth=1.5, solid_capstyle="round")
    ax.set_xlim(-0.5, states.shape[1] - 0.5)
    ax.set_ylim(len(states) - 0.5, -0.5)
