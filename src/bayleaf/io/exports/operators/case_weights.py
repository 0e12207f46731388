"""What the terms of an average count in a row, by the features that it knows."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bayleaf.io.exports.operators.graph import Graph
from bayleaf.scoring.partial_cases import (
    NETWORKS_WITHOUT_CHANGE,
    Floats,
    Sharing,
    deeper_weights,
)


class CaseWeights:
    """Weights of the terms of each row; `known` has shape (n_rows, n_features)."""

    def __init__(self, graph: Graph, sharing: Sharing, known: str) -> None:
        self._graph, self._sharing, self._known = graph, sharing, known
        # Networks in which all parents of a feature up to a depth are known.
        self._depths: list[str] = []
        self._mixed: dict[int, str] = {}

    @cached_property
    def _whole(self) -> str:
        """Whether all features are known, (n_rows, 1)."""
        graph, n_features = self._graph, len(self._sharing.weights)
        flags = graph.cast(self._known, "INT64")
        number = graph.add("ReduceSum", flags, [1], keepdims=1)
        return graph.add("Equal", number, np.array(n_features))

    @cached_property
    def _shares(self) -> tuple[str, str]:
        """How far features are as if alone, and the base as learned, by row."""
        graph, rule = self._graph, self._sharing.rule
        strengths, total = rule.strengths, rule.strengths.sum()
        held = graph.add("Where", self._known, strengths[None], np.array(0.0))
        summed = graph.add("ReduceSum", held, [1], keepdims=1)
        if len(strengths) < 2:
            others = graph.constant(np.ones((1, 1)))
            beyond = graph.cast(self._whole, "DOUBLE")
        else:
            rest = graph.add("Sub", summed, strengths[None])
            others = self._share(rest, (total - strengths)[None])
            top = graph.add("ReduceMax", held, axes=[1], keepdims=1)
            beyond = graph.add("Sub", summed, top)
            beyond = self._share(beyond, np.array([[total - strengths.max()]]))
        alone = graph.add("Sub", np.array(1.0), self._bent(others, rule.rate))
        return alone, self._bent(beyond, rule.base_rate)

    def _share(self, part: str, total: Floats) -> str:
        """Part of a total; one where all features are known."""
        share = self._graph.add("Div", part, total)
        share = self._graph.add("Clip", share, np.array(0.0), np.array(1.0))
        return self._graph.add("Where", self._whole, np.array(1.0), share)

    def _bent(self, share: str, rate: float) -> str:
        """Zero at zero, one at one; above the share for rates above one."""
        graph = self._graph
        part = graph.add("Mul", share, np.array(rate))
        rest = graph.add("Sub", np.array(1.0), share)
        return graph.add("Div", part, graph.add("Add", rest, part))

    def base(self, learned: Floats) -> str:
        """The log prior, and as learned where all is known, (n_rows, n_classes)."""
        prior = self._sharing.prior
        is_same = np.isinf(prior)
        with np.errstate(invalid="ignore"):
            step = np.where(is_same, 0.0, learned - prior)
        moved = self._graph.add("Mul", self._shares[1], step[None])
        return self._graph.add("Add", moved, np.where(is_same, learned, prior)[None])

    @cached_property
    def others(self) -> str:
        """Weights of all terms but tables of counts; zero for a feature more."""
        graph, sharing = self._graph, self._sharing
        rates = np.full(len(sharing.weights) + 1, -1.0)
        for feature in sharing.rule.monotone:
            if total := sharing.weights[feature].sum():
                rates[feature] += 1.0 / total
        alone = graph.add("Pad", self._shares[0], np.array([0, 0, 0, 1]), np.array(1.0))
        return graph.add("Add", graph.add("Mul", alone, rates[None]), np.array(1.0))

    def of(self, feature: int, n_parents: int = -1) -> str:
        """Weight of what parents of a feature change, or of its other terms (-1)."""
        weights = self.others if n_parents < 0 else self._depth(n_parents)
        return self._graph.add("Gather", weights, np.array([feature]), axis=1)

    def _depth(self, n_parents: int) -> str:
        """Weights of what the last of so many parents changes, of all features."""
        if n_parents not in self._mixed:
            graph, sharing = self._graph, self._sharing
            whole = deeper_weights(sharing.weights)[:, n_parents]
            single = sharing.rule.alone_weights(sharing.weights)[:, n_parents]
            alone = graph.add("Mul", self._shares[0], (single - whole)[None])
            mixed = graph.add("Add", alone, whole[None])
            divisor = self._divisor(n_parents)
            self._mixed[n_parents] = graph.add("Div", mixed, divisor)
        return self._mixed[n_parents]

    def _divisor(self, n_parents: int) -> str:
        """Networks that a mean is over; those without a parent change nothing."""
        graph, parents = self._graph, self._sharing.parents
        n_networks, n_features, _ = parents.shape
        if not n_parents:
            return graph.constant(np.array(float(n_networks)))
        while len(self._depths) < n_parents:
            # A feature more is known where there is no parent.
            depth = parents[:, :, len(self._depths)]
            indices = np.where(depth < 0, n_features, depth).ravel()
            flags = graph.add("Pad", graph.cast(self._known, "INT64"), [0, 0, 0, 1], 1)
            own = graph.add("Gather", flags, indices, axis=1)
            before = self._depths[-1:]
            self._depths.append(graph.add("Mul", *before, own) if before else own)
        shaped = graph.add(
            "Reshape", self._depths[n_parents - 1], [0, *parents.shape[:2]]
        )
        counted = graph.add("ReduceSum", shaped, [1], keepdims=0)
        some = graph.add("Add", graph.cast(counted, "DOUBLE"), NETWORKS_WITHOUT_CHANGE)
        return graph.add("Min", some, np.array(float(n_networks)))
