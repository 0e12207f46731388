"""Class scores of a network: its families looked up, missing cells summed out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from graphlib import TopologicalSorter
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.sql.looking_up import Addend, Look, Rows, check_size
from bayleaf.io.exports.sql.words import (
    Expression,
    below,
    both,
    col,
    either,
    equal,
    nats,
    num,
    plus,
)
from bayleaf.scoring.terms import SumOut
from bayleaf.wording import quoted

Floats = NDArray[np.float64]
# Cells of a table with the class as one axis.
_MOST_CELLS = 2_000_000


class ScoredNetwork:
    """A network whose last variable is the class, as tables to look up.

    Parameters
    ----------
    term : SumOut
        The network, and in which order features are revealed.
    names : sequence of str or int
        Names of the features and the class, for messages.
    shift : ndarray of shape (n_classes,)
        Nats that are added to the classes.
    """

    def __init__(self, term: SumOut, names: Sequence[str | int], shift: Floats) -> None:
        self._names, self._shift = names, shift
        self.cards = term.cards
        self.label = len(self.cards) - 1
        self.n_classes = self.cards[-1]
        self.n_features = len(names) - 1
        self.latents = range(self.n_features, self.label)
        self.order = tuple(v for v in term.order if v < self.n_features)
        self.factors = {factor.child: factor for factor in term.factors}
        self.parents = [
            tuple(p for p in self.factors[v].variables if p not in (v, self.label))
            for v in range(len(self.cards))
        ]

    @cached_property
    def children(self) -> list[set[int]]:
        """Children of each variable; the class is one like others."""
        found: list[set[int]] = [set() for _ in self.cards]
        for child, parents in enumerate(self.parents):
            for parent in parents:
                found[parent].add(child)
        return found

    @cached_property
    def descendants(self) -> list[set[int]]:
        """Descendants of each variable, none through the class."""
        found: list[set[int]] = [set() for _ in self.cards]
        order = TopologicalSorter(dict(enumerate(self.parents))).static_order()
        for variable in reversed([*order]):
            if variable == self.label:
                continue
            for child in self.children[variable]:
                found[variable] |= {child} | (
                    found[child] if child != self.label else set()
                )
        return found

    @cached_property
    def inner(self) -> tuple[int, ...]:
        """Variables that may have to be summed out: latents, and parents of others."""
        return tuple(
            v for v in range(self.label) if self.children[v] or v >= self.n_features
        )

    @property
    def class_is_root(self) -> bool:
        """Whether the class has no parents."""
        return not self.parents[self.label]

    @cached_property
    def base(self) -> list[float]:
        """Score of each class before any family is looked up, nats."""
        if not self.class_is_root:
            return [float(value) for value in self._shift]
        return [float(value) for value in self._shift + self.factors[self.label].logs]

    def look(self, variable: int, columns: Sequence[str]) -> Look:
        """The family of a variable by the columns of all variables."""
        family, logs = self.factors[variable].variables, self.factors[variable].logs
        axes = [*self.parents[variable]]
        if variable != self.label:
            axes.append(variable)
        cells = prod(self.cards[v] for v in axes) * self.n_classes
        if cells > _MOST_CELLS:
            name = quoted(self._names[min(variable, self.n_features)])
            if variable in self.latents:
                name = "a latent variable"
            raise ValueError(
                f"the table of {name} has {cells:,} cells, too many for a query; "
                "fit with fewer parents or coarser intervals"
            )
        if self.label in family:
            values = np.moveaxis(logs, family.index(self.label), 0)
        else:
            values = np.broadcast_to(logs, (self.n_classes, *logs.shape))
        own = [v for v in family if v != self.label]
        values = np.transpose(values, [0, *(1 + own.index(v) for v in axes)])
        names = [columns[v] for v in axes]
        return Look.dense(names, [self.cards[v] + 1 for v in axes], values)

    def torn(self, columns: Sequence[str]) -> Expression | None:
        """Whether a row misses what is to be summed out; None where none can."""
        found = [
            both(self.absent(v, columns), self.seen_below(v, columns))
            for v in self.inner
        ]
        return either(*found) if found else None

    def absent(self, variable: int, columns: Sequence[str]) -> Expression:
        """Whether a variable is missing."""
        if variable >= self.n_features:
            return equal(num(1), num(1))
        return equal(col(columns[variable]), num(self.cards[variable]))

    def seen_below(self, variable: int, columns: Sequence[str]) -> Expression:
        """Whether something below a variable is known."""
        below_it = self.descendants[variable]
        if self.label in below_it:
            return equal(num(1), num(1))
        seen = [
            below(col(columns[v]), num(self.cards[v]))
            for v in sorted(below_it)
            if v < self.n_features
        ]
        return either(*seen) if seen else equal(num(0), num(1))


def code_columns(n_features: int) -> list[str]:
    """Names of the columns that hold codes."""
    return [f"c{feature}" for feature in range(n_features)]


def add_families(rows: Rows, scored: ScoredNetwork, *, told: bool) -> None:
    """Score rows that miss nothing which must be summed out.

    Adds the columns s_class and, if it is to be told what features say, b_class of the
    prior and f{feature}_class.
    """
    columns = code_columns(scored.n_features)
    looks = [scored.look(feature, columns) for feature in range(scored.n_features)]
    if not scored.class_is_root:
        looks.append(scored.look(scored.label, columns))
    check_size(looks)
    terms = [(slot_of(v, is_reported=told), look) for v, look in enumerate(looks)]
    add_terms(rows, terms, scored.n_features, scored.n_classes, scored.base, told=told)


def slot_of(feature: int, *, is_reported: bool) -> str:
    """Where nats of a feature are added: to the score, or apart to be reported."""
    return f"f{feature}" if is_reported else "s"


def add_terms(
    rows: Rows,
    terms: Sequence[Addend],
    n_features: int,
    n_classes: int,
    base: Sequence[float] = (),
    *,
    told: bool,
) -> None:
    """Score rows by a sum: s_class and, if told, b_class and f{feature}_class.

    Without a base, terms are added to a score that rows have already.
    """
    if base:
        start = "b" if told else "s", [nats(value) for value in base]
        terms = [start, *terms]
    rows.add_up(terms, n_classes)
    if told:
        slots = [f"f{feature}" for feature in range(n_features)]
        rows.zeros(slots, n_classes)
        rows.extend(
            {
                f"s_{c}": plus(*(col(f"{slot}_{c}") for slot in ("b", *slots)))
                for c in range(n_classes)
            }
        )
