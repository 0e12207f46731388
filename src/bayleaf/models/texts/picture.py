"""What a picture of a model shows: nodes by kind, arcs by weight."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypedDict

import numpy as np
from numpy.typing import NDArray

from bayleaf.graph.dag import DAG
from bayleaf.results.result import Shown
from bayleaf.wording import near_names, quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
# Parent, child, and weight where arcs have weights.
WeightedArc = tuple[int, int, float | None]
# What weights are: information that two features share, or the use of a parent.
SHARED, USED = "information shared within the classes", "use of the parent"
FEATURE, CLASS, LATENT = "feature", "class", "latent"
# Less information (nats) than this is rounding.
_LEAST = 1e-12


class PlotOptions(TypedDict, total=False):
    """The parameters of `bayleaf.plot.network` that `plot` passes on."""

    variables: Iterable[str | int] | None
    class_arcs: bool | None
    least_weight: float | None
    ax: Axes | None


@dataclass(frozen=True)
class PicturedGraph(Shown):
    """Nodes and arcs to draw.

    Parameters
    ----------
    names : tuple of str or int
        One a node.
    kinds : tuple of str
        "feature", "class" or "latent", one a node.
    arcs : tuple of (int, int, float or None)
        Parent, child and weight; None where arcs have no weights.
    note : str, default=""
        What the picture cannot show.
    weights : str, default=""
        What the weights of arcs are; information is in nats.
    """

    names: tuple[str | int, ...]
    kinds: tuple[str, ...]
    arcs: tuple[WeightedArc, ...]
    note: str = ""
    weights: str = ""

    def only(self, variables: Iterable[str | int]) -> PicturedGraph:
        """The part over some variables.

        Raises
        ------
        ValueError
            If there is no such variable.
        """
        place = {name: node for node, name in enumerate(self.names)}
        for name in (wanted := list(dict.fromkeys(variables))):
            if name not in place:
                near = near_names(str(name), map(str, self.names))
                raise ValueError(f"there is no variable {quoted(name)}; {near}")
        kept = {place[name]: number for number, name in enumerate(wanted)}
        return PicturedGraph(
            tuple(wanted),
            tuple(self.kinds[node] for node in kept),
            tuple(
                (kept[parent], kept[child], weight)
                for parent, child, weight in self.arcs
                if parent in kept and child in kept
            ),
            self.note,
            self.weights,
        )


def graph_picture(
    names: tuple[str | int, ...], dag: DAG, latents: Collection[str | int]
) -> PicturedGraph:
    """The variables and arcs of a graph."""
    arcs = tuple((parent, child, None) for parent, child in dag.arcs)
    kinds = tuple(LATENT if name in latents else FEATURE for name in names)
    return PicturedGraph(names, kinds, arcs)


def class_over_features(
    names: tuple[str | int, ...], note: str, arcs: Sequence[WeightedArc] = ()
) -> PicturedGraph:
    """The class, which is the last variable, over all others, and arcs among these."""
    n_features = len(names) - 1
    return PicturedGraph(
        names,
        (FEATURE,) * n_features + (CLASS,),
        (*((n_features, child, None) for child in range(n_features)), *arcs),
        note,
        SHARED if arcs else "",
    )


class WeightedEdge(tuple[str | int, str | int]):
    """An arc (parent, child) and the weight of the terms that look at it.

    Parameters
    ----------
    parent, child : str or int
        Names of the variables.
    weight : float
        Total weight, over depths and networks, of the child's terms that look at
        the parent.
    """

    weight: float

    def __new__(cls, parent: str | int, child: str | int, weight: float) -> Self:
        """Build the pair and keep the weight beside it."""
        edge = super().__new__(cls, (parent, child))
        edge.weight = weight
        return edge

    def __getnewargs__(self) -> tuple[str | int, str | int, float]:
        return (*self, self.weight)

    def __repr__(self) -> str:
        return f"({self[0]!r}, {self[1]!r}, weight={self.weight:.3g})"


def pair_arcs(told: Floats, shared: Floats) -> list[WeightedArc]:
    """Pairs of features as arcs, from the more informative one about the class.

    `told` (n_features,) and `shared` (n_features, n_features) are information shared
    with the class, and by two features within classes, in nats; only above the diagonal
    is read, and pairs that share nothing are left out.
    """
    pairs = itertools.combinations(range(len(told)), 2)
    return [
        (*((i, j) if told[i] >= told[j] else (j, i)), float(shared[i, j]))
        for i, j in pairs
        if shared[i, j] > _LEAST
    ]


def turned(
    arcs: Sequence[WeightedArc], existing: Sequence[tuple[int, int]]
) -> list[WeightedArc]:
    """Pairs as arcs in a direction in which some network has them."""
    known = frozenset(existing)
    return [(a, b, w) if (a, b) in known else (b, a, w) for a, b, w in arcs]
