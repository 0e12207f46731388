"""Networks as pictures: layers of nodes with arcs from parents to children."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.layout.layered import Drawing, with_tops
from bayleaf.models.bayesian_network import NetworkStructure
from bayleaf.models.texts.picture import (
    CLASS,
    FEATURE,
    LATENT,
    SHARED,
    PicturedGraph,
    WeightedArc,
)
from bayleaf.models.wrappers import model_inside
from bayleaf.plot import style
from bayleaf.plot.distributions import NetworkLike
from bayleaf.wording import in_bits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Width of a node, its height by lines of its name, and the gaps beside and below it, in
# points.
_WIDTH, _HEIGHTS, _GAP = 73.0, (25.0, 25.0, 34.0), (14.0, 22.0)
# Room around the drawing, and for a line of notes.
_MARGIN, _NOTE = 7.0, 14.0
# Drawings wider than this are folded.
_PAGE = 540.0
# A class with more arcs than this stands over a sentence instead of them: alone, and
# where there are other arcs to be seen.
_MOST_CLASS_ARCS, _MOST_BESIDE_OTHERS = 16, 6
_LOOKS: dict[str, dict[str, Any]] = {
    FEATURE: {"facecolor": style.PAPER, "edgecolor": style.INK, "linewidth": 0.8},
    CLASS: {"facecolor": style.INK, "edgecolor": style.INK, "linewidth": 0.8},
    LATENT: {
        "facecolor": "#E8E8E8",
        "edgecolor": style.INK,
        "linewidth": 1.2,
        "linestyle": (0, (3, 2)),
    },
}
# More variables than this leave no room for names.
MAX_NODES = 150


def network(
    network_or_model: NetworkLike | NetworkStructure,
    *,
    variables: Iterable[str | int] | None = None,
    class_arcs: bool | None = None,
    least_weight: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a network, parents above their children.

    The class is a dark box, latent variables have dashed lines around grey. Arcs of an
    average of networks are the thicker and darker the heavier, the heaviest that is
    drawn black; the heavier arcs lead down, some light ones may lead up.

    Parameters
    ----------
    network_or_model : BayesianNetwork, model or fitted estimator
        What to draw.
    variables : iterable of str or int, optional
        The only variables to draw, with the arcs among them.
    class_arcs : bool, optional
        Whether to draw the arcs of the class. By default a sentence stands for them
        where the class is a parent of all others, of more than 16 variables or of
        more than 6 that have other arcs as well.
    least_weight : float, optional
        Lighter arcs are left out, and their number is told. By default so that three
        arcs for two variables remain.
    ax : Axes, optional
        Where to draw; by default on a new figure, as large as the network asks for,
        that pyplot does not manage.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError
        If there is no network to draw.
    ValueError
        If a variable is unknown, or there are more than 150.
    """
    graph = pictured_graph(network_or_model)
    if variables is not None:
        graph = graph.only(variables)
    if not 0 < len(graph.names) <= MAX_NODES:
        raise ValueError(
            f"a picture shows 1 to {MAX_NODES} variables, but there are "
            f"{len(graph.names)}; name those to draw in variables"
        )
    arcs, notes = _arcs_drawn(graph, class_arcs, least_weight)
    tops = [node for node, kind in enumerate(graph.kinds) if kind == CLASS]
    tops = [t for t in tops if not any(child == t for _, child, _ in graph.arcs)]
    by_weight = sorted(arcs, key=lambda arc: -(arc[2] or 0.0))
    names = [style.in_lines(n, 0.86 * _WIDTH, len(_HEIGHTS)) for n in graph.names]
    sizes = [(_WIDTH, _HEIGHTS[name.count("\n")]) for name in names]
    pairs = [(p, c) for p, c, _ in by_weight]
    drawing = with_tops(sizes, pairs, tops, gap=_GAP, page=_PAGE)
    width = drawing.width + 2 * _MARGIN
    height = drawing.height + 2 * _MARGIN + _NOTE * len(notes)
    ax = style.axes_for(ax, max(3.6, width / 72), height / 72, bare=True)
    half = max(width, 3.6 * 72) / 2
    ax.set_xlim(drawing.width / 2 - half, drawing.width / 2 + half)
    ax.set_ylim(height - _MARGIN, -_MARGIN)
    ax.set_axis_off()
    heaviest = max((arc[2] or 0.0 for arc in arcs), default=0.0)
    for (_, _, weight), curve in zip(
        reversed(by_weight), reversed(drawing.curves), strict=True
    ):
        share = None if weight is None else weight / max(heaviest, 1e-9)
        _draw_arc(ax, curve, share)
    _draw_nodes(ax, graph, drawing)
    _draw_notes(ax, notes, drawing.height + _MARGIN + 0.5 * _NOTE)
    return ax


def _arcs_drawn(
    graph: PicturedGraph, class_arcs: bool | None, least_weight: float | None
) -> tuple[list[WeightedArc], list[str]]:
    """Arcs that the picture shows, and sentences on those that it does not."""
    notes = [graph.note] if graph.note else []
    tops = [node for node, kind in enumerate(graph.kinds) if kind == CLASS]
    arcs = list(graph.arcs)
    below = [arc for arc in arcs if arc[0] in tops]
    most = _MOST_CLASS_ARCS if len(below) == len(arcs) else _MOST_BESIDE_OTHERS
    # Where latents stand between, the class' own arcs are part of what they tell.
    if LATENT in graph.kinds:
        most = _MOST_CLASS_ARCS
    n_others = len(graph.kinds) - 1
    # A sentence that cannot say which variables it means would lose arcs.
    can_be_told = len(below) == n_others or any(arc[2] is not None for arc in below)
    if class_arcs is None:
        class_arcs = len(below) <= most or not can_be_told
    if not class_arcs:
        arcs = [arc for arc in arcs if arc[0] not in tops]
        count = "every" if len(below) == n_others else f"{len(below)} of {n_others}"
        what = "variable" if len(below) == n_others else "variables"
        if below:
            name = style.shortened(graph.names[tops[0]])
            notes.insert(0, f"not drawn: {name} is a parent of {count} {what}")
    # Information is drawn from nats, and shown in bits.
    is_shared = graph.weights == SHARED
    unit = in_bits(1.0) if is_shared else 1.0
    light = set(_light_arcs(arcs, len(graph.names), least_weight))
    arcs = [arc for arc in arcs if arc not in light]
    weights = [weight for _, _, weight in arcs if weight is not None]
    if light:
        what = "1 arc" if len(light) == 1 else f"{len(light)} arcs"
        least = unit * max(arc[2] or 0.0 for arc in light)
        notes.append(f"not drawn: {what} of weights up to {least:.2f}")
    if weights:
        what = f" ({'bits of ' * is_shared}{graph.weights})" if graph.weights else ""
        ends = f"{unit * min(weights):.2f} to {unit * max(weights):.2f}"
        notes.append(f"weights drawn: {ends}{what}")
    return arcs, notes


def _light_arcs(
    arcs: list[WeightedArc], n_variables: int, least_weight: float | None
) -> list[WeightedArc]:
    """Arcs that have weights, but too small ones."""
    weights = sorted((arc[2] for arc in arcs if arc[2] is not None), reverse=True)
    if least_weight is None:
        kept = 3 * n_variables // 2
        least_weight = weights[kept - 1] if len(weights) > kept else 0.0
    return [arc for arc in arcs if arc[2] is not None and arc[2] < least_weight]


def _draw_arc(ax: Axes, curve: NDArray[np.float64], share: float | None) -> None:
    """One arrow between two boxes; `share` is its weight as one of the heaviest."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    codes = [Path.MOVETO, *[Path.CURVE4] * (len(curve) - 1)]
    grey = 0.4 if share is None else 0.75 * (1 - share)
    ax.add_patch(
        FancyArrowPatch(
            path=Path(curve, codes),
            arrowstyle="-|>",
            mutation_scale=7,
            linewidth=0.9 if share is None else 0.4 + 1.8 * share,
            color=str(grey),
            zorder=1,
            clip_on=False,
        )
    )


def _draw_nodes(ax: Axes, graph: PicturedGraph, drawing: Drawing) -> None:
    """Boxes with names that fit into them."""
    from matplotlib.patches import FancyBboxPatch

    points, size = _room(ax)
    nodes = zip(drawing.centres, drawing.sizes, graph.names, graph.kinds, strict=True)
    for (x, y), (width, height), name, kind in nodes:
        box = FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=6",
            zorder=2,
            **_LOOKS[kind],
        )
        ax.add_patch(box)
        style.write(
            ax,
            x,
            y,
            style.in_lines(name, points, len(_HEIGHTS), size),
            linespacing=1.0,
            ha="center",
            va="center",
            fontsize=size,
            color=style.PAPER if kind == CLASS else style.INK,
            fontstyle="italic" if kind == LATENT else "normal",
            fontweight="bold" if kind == CLASS else "normal",
            zorder=3,
        )


def _room(ax: Axes) -> tuple[float, float]:
    """Width for a name inside a box and the size of its letters, in points."""
    width, height = style.axes_inches(ax)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    inside = _WIDTH * width / abs(right - left) * 72
    tall = _HEIGHTS[0] * height / abs(top - bottom) * 72
    # Bold and italic letters, and other fonts than the measured one, are wider.
    return 0.86 * inside, float(min(style.FONT_SIZE, max(4.0, 0.38 * tall)))


def _draw_notes(ax: Axes, notes: list[str], y: float) -> None:
    """What is not drawn, below everything."""
    left, right = ax.get_xlim()
    width = style.axes_inches(ax)[0] * 72 * 0.95
    for number, note in enumerate(notes):
        style.write(
            ax,
            (left + right) / 2,
            y + _NOTE * number,
            style.fitted(note, width, style.FONT_SIZE - 1),
            ha="center",
            va="center",
            fontsize=style.FONT_SIZE - 1,
            color="#555555",
        )


def pictured_graph(source: Any) -> PicturedGraph:
    """Nodes and arcs of a network, a model or a fitted estimator, else TypeError."""
    source = model_inside(source, same_scores=False)
    learned = getattr(source, "model_", source)
    if not hasattr(learned, "picture"):
        learned = getattr(source, "network_", source)
    if not hasattr(learned, "picture"):
        raise TypeError(
            "network must be a Bayesian network, a model or a fitted estimator, got a "
            f"{type(source).__name__}{' that is not fitted' * hasattr(source, 'fit')}"
        )
    picture: PicturedGraph = learned.picture
    return picture
