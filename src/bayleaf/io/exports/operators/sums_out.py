"""Sums over latent variables and missing features as operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from bayleaf.io.exports.operators.graph import Graph
from bayleaf.scoring.terms import Factor, SumOut
from bayleaf.wording import quoted

# Cells of the largest table that a row may need while missing cells are summed out.
MAX_ROW_CELLS = 4_000_000


@dataclass(frozen=True)
class _Factor:
    """Logarithms over variables in increasing order, (n_rows or 1, *cards)."""

    name: str
    variables: tuple[int, ...]


class SumOutOperators:
    """Operators of the joint probability of the classes and the known features.

    Parameters
    ----------
    graph : Graph
        Takes the nodes.
    term : SumOut
        The distributions.
    names : sequence of str
        Names of the features, for messages.
    may_miss : sequence of bool
        For each feature whether its cells may be missing.
    """

    def __init__(
        self, graph: Graph, term: SumOut, names: Sequence[str], may_miss: Sequence[bool]
    ) -> None:
        self._graph, self._term, self._names = graph, term, names
        self._cards = term.cards
        n_features, last = len(may_miss), len(term.cards) - 1
        self._latent = set(range(n_features, last))
        parents = {v for factor in term.factors for v in factor.variables[:-1]}
        # A feature without children leaves nothing when it is summed out.
        self._leaves = set(range(n_features)) - parents
        self._open = {v for v in parents if v < n_features and may_miss[v]}

    def scores(self, codes: Sequence[str]) -> str:
        """Log joint probability of classes and known features, (n_rows, n_classes).

        Parameters
        ----------
        codes : sequence of str
            Codes of each feature; missing ones have the number of states.
        """
        graph = self._graph
        if not self._open:
            return self._summed_out(codes, set())
        is_open = graph.any_of(
            [
                graph.add("Equal", codes[v], np.array(self._cards[v]))
                for v in sorted(self._open)
            ]
        )
        known = list(codes)
        for v in self._open:
            known[v] = graph.add("Min", codes[v], np.array(self._cards[v] - 1))
        scores = self._summed_out(known, set())
        rows = graph.add("Squeeze", graph.add("NonZero", is_open), [0])
        own = [graph.add("Gather", code, rows, axis=0) for code in codes]
        places = graph.add("Unsqueeze", rows, [1])
        return graph.add("ScatterND", scores, places, self._summed_out(own, self._open))

    def _summed_out(self, codes: Sequence[str], not_known: set[int]) -> str:
        """Scores where some features may be missing, whichever row it is."""
        dense = self._latent | not_known
        factors = [self._look_up(factor, codes, dense) for factor in self._term.factors]
        for v in sorted(not_known):
            with np.errstate(divide="ignore"):
                one = np.log(np.eye(self._cards[v]))
            table = np.concatenate([one, np.zeros((1, self._cards[v]))])
            factors.append(_Factor(self._graph.look_up(table, codes[v]), (v,)))
        while dense:
            v = min(dense, key=lambda v: (self._size(factors, v), v))
            touching = [factor for factor in factors if v in factor.variables]
            factors = [factor for factor in factors if v not in factor.variables]
            factors.append(self._without(v, touching))
            dense = dense - {v}
        return self._product(factors, (len(self._cards) - 1,))

    def _size(self, factors: Sequence[_Factor], variable: int) -> int:
        """Cells of the table that summing out a variable needs for a row."""
        return prod(self._cards[v] for v in _union(factors, variable))

    def _without(self, variable: int, factors: Sequence[_Factor]) -> _Factor:
        """The product of factors, a variable summed out."""
        together = _union(factors, variable)
        if self._size(factors, variable) > MAX_ROW_CELLS:
            raise ValueError(
                f"summing out {self._name(variable)} needs a "
                f"table of {self._size(factors, variable):,} cells for each row, more "
                f"than {MAX_ROW_CELLS:,}; fit with fewer parents or missing='state'"
            )
        axis = together.index(variable) + 1
        found = self._graph.log_sum_exp(self._product(factors, together), axis)
        return _Factor(found, tuple(v for v in together if v != variable))

    def _name(self, variable: int) -> str:
        """A feature by its name, or a latent variable by its number."""
        if variable < len(self._names):
            return quoted(self._names[variable])
        return f"latent variable {variable - len(self._names) + 1}"

    def _product(self, factors: Sequence[_Factor], variables: Sequence[int]) -> str:
        """The sum of logarithms over variables that hold those of all factors."""
        terms = []
        for factor in factors:
            shape = [self._cards[v] if v in factor.variables else 1 for v in variables]
            terms.append(self._graph.add("Reshape", factor.name, [0, *shape]))
        return self._graph.sum(terms)

    def _look_up(
        self, factor: Factor, codes: Sequence[str], dense: set[int]
    ) -> _Factor:
        """One distribution, the states of known features selected."""
        family, values = factor.variables, factor.logs
        if factor.child in self._leaves:
            nothing = np.zeros((*values.shape[:-1], 1))
            values = np.concatenate([values, nothing], axis=-1)
        last = len(self._cards) - 1
        kept = tuple(sorted(v for v in family if v in dense or v == last))
        picked = [v for v in family if v not in kept]
        axes = [family.index(v) for v in (*picked, *kept)]
        values = values.transpose(axes)
        widths = values.shape[: len(picked)]
        cells = values.reshape(-1, *values.shape[len(picked) :])
        if not picked:
            return _Factor(self._graph.constant(cells), kept)
        places = joint_indices(self._graph, [codes[v] for v in picked], widths)
        return _Factor(self._graph.look_up(cells, places), kept)


def joint_indices(graph: Graph, digits: Sequence[str], radices: Sequence[int]) -> str:
    """Numbers of joint states, the first digit varying slowest, (n_rows,)."""
    found = digits[0]
    for digit, radix in zip(digits[1:], radices[1:], strict=True):
        found = graph.add("Add", graph.add("Mul", found, np.array(radix)), digit)
    return found


def _union(factors: Sequence[_Factor], variable: int) -> tuple[int, ...]:
    """The variables of the factors that mention one."""
    return tuple(
        sorted({v for f in factors if variable in f.variables for v in f.variables})
    )
