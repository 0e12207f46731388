"""Samples with weights, drawn variable by variable from an importance function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.graph.separation import ancestors
from bayleaf.inference.approximate.potentials import Floats, Scope
from bayleaf.inference.approximate.propagation import JoinGraph
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.sampling.draws import Draw, Drawing
from bayleaf.inference.sampling.forward_draws import forward_draw

Column = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Piece:
    """The table and message of one mini-bucket, as samples look them up.

    `table` is the product of its factors; states first, because long axes are quick.
    """

    given: Scope  # variables drawn before
    cards: tuple[int, ...]  # of `given`
    table: Floats  # (card, n_given)
    log_message: Floats  # (n_given,), what it sends up

    def rows(self, columns: Mapping[int, Column], n_rows: int) -> Column:
        """Row of the table in each sample."""
        found = np.zeros(n_rows, dtype=np.int64)
        for variable, card in zip(self.given, self.cards, strict=True):
            found *= card
            found += columns[variable]
        return found


class SplitDraw:
    """A step that draws the variable of a split bucket and weighs the samples.

    A state is drawn in proportion to the product of the mini-buckets' tables. The
    weight is what the product sums to, over the messages that stood for that sum.
    """

    def __init__(self, pieces: list[Piece]) -> None:
        self._pieces = pieces

    def draw(
        self, columns: Mapping[int, Column], uniforms: Floats
    ) -> tuple[Column, Floats]:
        """State drawn in each sample, and what is added to its log weight."""
        product: Floats | None = None
        log_messages = np.zeros(len(uniforms))
        for piece in self._pieces:
            rows = piece.rows(columns, len(uniforms))
            part = piece.table.take(rows, axis=1)
            product = part if product is None else np.multiply(product, part, out=part)
            log_messages += piece.log_message.take(rows)
        assert product is not None
        sums = np.cumsum(product, axis=0)
        total = sums[-1]
        states = (sums[:-1] <= uniforms * total).sum(axis=0)
        added = np.full(len(uniforms), -np.inf)
        np.log(total, out=added, where=total > 0)
        np.subtract(added, log_messages, out=added, where=total > 0)
        return states, added


class ImportanceFunction:
    """Draws samples that all agree with evidence, and their weights.

    What comes before the evidence (`above`, itself included) is drawn against the order
    of elimination of its mini-buckets, everything else from its parents. `graph` has
    had a pass upwards; `cards` include auxiliary variables.

    Yuan & Druzdzel 2003, "An importance sampling algorithm based on evidence
    pre-propagation". Gogate & Dechter 2011, "SampleSearch: importance sampling in
    presence of determinism" (the importance function is that of join-graph
    propagation).
    """

    def __init__(
        self,
        network: Factorisation,
        hard: Mapping[int, int],
        targets: Iterable[int],
        above: set[int],
        graph: JoinGraph | None,
        cards: tuple[int, ...],
    ) -> None:
        self._hard = dict(hard)
        self._log_constant = 0.0
        self._steps: list[tuple[int, Drawing | SplitDraw]] = []
        if graph is not None:
            self._add_buckets(graph, cards)
        wanted = ancestors(network.dag, targets) - above
        for node in network.dag.order:
            if node in wanted:
                self._steps.append((node, forward_draw(network.cpds[node])))

    def _add_buckets(self, graph: JoinGraph, cards: tuple[int, ...]) -> None:
        """Steps for the variables of mini-buckets, the last eliminated first."""
        for place in reversed(range(len(graph.buckets))):
            bucket = graph.buckets[place]
            if any(mate > place for mate in bucket.mates):
                continue
            group = sorted([place, *bucket.mates])
            step: Drawing | SplitDraw
            if len(group) == 1:
                given = bucket.scope[:-1]
                table = graph.tables[place]
                step = Draw.from_table(given, (bucket.variable,), table)
            else:
                step = SplitDraw([_piece(graph, own, cards) for own in group])
            self._log_constant += sum(graph.log_shift(own) for own in group)
            self._steps.append((bucket.variable, step))

    def draw(
        self, n_rows: int, rng: np.random.Generator
    ) -> tuple[dict[int, Column], Floats]:
        """Draw samples: states (n_rows,) by variable, and log weights (n_rows,).

        The mean of the weights estimates the product of all potentials.
        """
        columns = {
            variable: np.full(n_rows, state, dtype=np.int64)
            for variable, state in self._hard.items()
        }
        log_weights = np.full(n_rows, self._log_constant)
        for variable, step in self._steps:
            uniforms = rng.random(n_rows)
            if isinstance(step, SplitDraw):
                columns[variable], added = step.draw(columns, uniforms)
                log_weights += added
            else:
                columns[variable] = step.joint_states(columns, uniforms)
        return columns, log_weights


def _piece(graph: JoinGraph, place: int, cards: tuple[int, ...]) -> Piece:
    """A mini-bucket as samples look it up."""
    given = graph.buckets[place].scope[:-1]
    table = graph.tables[place]
    with np.errstate(divide="ignore"):
        log_message = np.log(graph.messages[place]).ravel()
    return Piece(
        given,
        tuple(cards[v] for v in given),
        np.ascontiguousarray(table.reshape(-1, table.shape[-1]).T),
        # Where the message is 0, no sample of positive weight comes.
        np.where(np.isneginf(log_message), 0.0, log_message),
    )
