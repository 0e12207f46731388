"""Products that stand for distributions whose full tables are too wide.

A family of a tree or grouped table need not become one clique. Two forms of it add
auxiliary variables that follow from the parents, and give the same product once these
are summed out, or maximised over, because one state of each is left possible by any
configuration of the parents:

* by *groups*: one auxiliary variable for each parent some of whose states are never
  told apart stands between it and the child, whose table runs over the groups;
* by *contexts*: one more auxiliary variable numbers the contexts (leaves, rows). The
  child depends on it alone, and a table of zeros and ones for each parent says which
  of its groups each context agrees with, so that parents are not married.

Which form each family takes is chosen so that cliques stay small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.cpds.distribution import CPD, GroupedTableCPD, StateGroups, group_of_states
from bayleaf.cpds.local_structure import (
    contexts,
    grouped_probabilities,
    n_contexts,
    state_groups,
)
from bayleaf.cpds.tree_cpd import TreeCPD
from bayleaf.graph.triangulation import married, plain_forest

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
# Contexts beyond which numbering them saves nothing.
MOST_CONTEXTS = 1024
# Groups have a variable of their own if they are at most this share of the states.
_WORTH_GROUPING = 0.7
# Up to so many cells of all cliques, no family is taken apart.
FEW_CELLS = 100_000
# Cells that are propagated in the time of one more triangulation.
_TRIAL_CELLS = 500_000
# Triangulations that are tried while a clique is too large, and otherwise at most.
_MOST_TRIALS = 60
# Cliques that exceed the limit by this factor are not bettered enough by searching.
HOPELESS = 1000


class Form(Enum):
    """How a family enters a product."""

    WHOLE = "its full table"
    GROUPS = "a table over groups of states"
    CONTEXTS = "a distribution for each context"


@dataclass(frozen=True, eq=False)
class Term:
    """One factor of a product, whose table is made on demand."""

    family: Family  # axes of the table
    make: Callable[[], Floats]
    sums_to_one: bool = True  # over its last variable


@dataclass(frozen=True, eq=False)
class Product:
    """A joint distribution as a product of terms, one per variable.

    `agreeing` lists, by auxiliary variable, the network's variables that it follows
    from, each with a mask (card, auxiliary card) of the states that agree.
    """

    n_own: int  # the network's variables, then auxiliary ones
    cards: tuple[int, ...]
    terms: tuple[Term, ...]  # each has its variable last
    agreeing: tuple[tuple[tuple[int, Bools], ...], ...]
    forms: tuple[Form, ...]  # by the network's variable

    @property
    def families(self) -> tuple[Family, ...]:
        """Variables of each term."""
        return tuple(term.family for term in self.terms)

    def with_ones(self, scopes: Sequence[Family]) -> Product:
        """The same product with a table of ones over each of some sets of variables.

        Each is the distribution of a further variable, which has one state.
        """
        first = len(self.cards)
        families = [(*scope, first + i) for i, scope in enumerate(scopes)]
        shapes = [[*(self.cards[v] for v in scope), 1] for scope in scopes]
        tables = [partial(np.ones, shape) for shape in shapes]
        return replace(
            self,
            cards=self.cards + (1,) * len(scopes),
            terms=(*self.terms, *map(Term, families, tables)),
            agreeing=self.agreeing + ((),) * len(scopes),
        )

    def own_variables(self, variables: Iterable[int]) -> list[int]:
        """The network's variables among some, and those that auxiliary ones follow."""
        own: set[int] = set()
        for variable in variables:
            if variable < self.n_own:
                own.add(variable)
            else:
                own |= {source for source, _ in self.agreeing[variable - self.n_own]}
        return sorted(own)

    def auxiliary_likelihoods(
        self, findings: Mapping[int, int | Floats]
    ) -> dict[int, Floats]:
        """What states or likelihoods (card,) imply for auxiliary variables."""
        found = {}
        for place, sources in enumerate(self.agreeing):
            possible = np.ones(self.cards[self.n_own + place], dtype=np.bool_)
            for variable, agrees in sources:
                if variable in findings:
                    finding = np.asarray(findings[variable])
                    left = finding > 0 if finding.ndim else [finding]
                    possible &= agrees[left].any(axis=0)
            if not possible.all():
                found[self.n_own + place] = possible.astype(np.float64)
        return found

    def auxiliary_codes(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Codes (n_rows, n_auxiliary) of auxiliary variables in rows (n_rows, n_own).

        Missing cells have the number of states, as do results where several are left.
        """
        found = np.empty((len(rows), len(self.agreeing)), dtype=np.int64)
        for place, sources in enumerate(self.agreeing):
            card = self.cards[self.n_own + place]
            possible = np.ones((len(rows), card), dtype=np.bool_)
            for variable, agrees in sources:
                with_hole = np.concatenate([agrees, np.ones((1, card), dtype=np.bool_)])
                possible &= with_hole[rows[:, variable]]
            is_known = possible.sum(axis=1) == 1
            found[:, place] = np.where(is_known, possible.argmax(axis=1), card)
        return found


def decomposable(cpd: CPD) -> tuple[Form, ...]:
    """Forms other than its full table in which a distribution can be smaller."""
    if not isinstance(cpd, TreeCPD | GroupedTableCPD) or not cpd.parents:
        return ()
    forms: list[Form] = []
    if any(map(_is_worth_grouping, state_groups(cpd), cpd.cards)):
        forms.append(Form.GROUPS)
    if len(cpd.parents) > 1 and 1 < n_contexts(cpd) <= MOST_CONTEXTS:
        forms.append(Form.CONTEXTS)
    return tuple(forms)


class ProductBuilder:
    """Writes distributions, one per variable, as products in any form."""

    def __init__(self, cards: Sequence[int], cpds: Sequence[CPD]) -> None:
        self._own_cards = tuple(cards)
        self._cpds = tuple(cpds)
        self._groups: dict[int, tuple[StateGroups, ...]] = {}

    def product(self, forms: Mapping[int, Form], *, shared: bool = True) -> Product:
        """The product in which some families have other forms; the rest are whole.

        If `shared`, children that distinguish the same groups of a parent's states have
        one auxiliary variable; neither way always has the smaller cliques. ValueError
        if a distribution does not have such a form.
        """
        chosen = [forms.get(node, Form.WHOLE) for node in range(len(self._cpds))]
        extra = _Auxiliaries(self._own_cards, shared)
        terms = []
        for cpd, form in zip(self._cpds, chosen, strict=True):
            if form is Form.WHOLE:
                terms.append(Term(cpd.family, partial(full_table, cpd)))
                continue
            if not isinstance(cpd, TreeCPD | GroupedTableCPD):
                raise ValueError(
                    f"variable {cpd.child} has a {type(cpd).__name__}; only trees and "
                    "grouped tables can be taken apart"
                )
            groups = self._state_groups(cpd)
            add = extra.by_groups if form is Form.GROUPS else extra.by_contexts
            terms.append(add(cpd, groups))
        return Product(
            len(self._own_cards),
            tuple(extra.cards),
            (*terms, *extra.terms),
            tuple(extra.agreeing),
            tuple(chosen),
        )

    def sizes(self, node: int) -> tuple[int, int]:
        """Cells of a family over groups of states, and of its tables by context."""
        cpd = self._cpds[node]
        assert isinstance(cpd, TreeCPD | GroupedTableCPD)
        numbers = [len(groups) for groups in self._state_groups(cpd)]
        apart = n_contexts(cpd) * (sum(numbers) + cpd.cards[-1])
        return prod(numbers) * cpd.cards[-1], apart

    def _state_groups(self, cpd: TreeCPD | GroupedTableCPD) -> tuple[StateGroups, ...]:
        """Groups of the parents' states, found once."""
        if cpd.child not in self._groups:
            self._groups[cpd.child] = state_groups(cpd)
        return self._groups[cpd.child]


class _Auxiliaries:
    """Auxiliary variables while they are being numbered."""

    def __init__(self, cards: Sequence[int], shared: bool) -> None:
        self.cards = list(cards)
        self._shared = shared
        self.terms: list[Term] = []
        self.agreeing: list[tuple[tuple[int, Bools], ...]] = []
        self._of_groups: dict[tuple[int, StateGroups], int] = {}

    def by_groups(
        self, cpd: TreeCPD | GroupedTableCPD, groups: tuple[StateGroups, ...]
    ) -> Term:
        """The child's term over groups of its parents' states."""
        axes = [
            own if _is_worth_grouping(own, card) else _each_alone(card)
            for own, card in zip(groups, cpd.cards)
        ]
        pairs = list(zip(cpd.parents, axes, strict=True))
        # A parent whose states are all alike has no say.
        parents = [self._grouped(parent, own) for parent, own in pairs if len(own) > 1]

        def make() -> Floats:
            table = grouped_probabilities(cpd, tuple(axes))
            said = [len(own) for own in axes if len(own) > 1]
            return _normalised(table.reshape(*said, cpd.cards[-1]))

        return Term((*parents, cpd.child), make)

    def by_contexts(
        self, cpd: TreeCPD | GroupedTableCPD, groups: tuple[StateGroups, ...]
    ) -> Term:
        """The child's term over contexts, which get a variable of their own."""
        known = contexts(cpd)
        sources = []
        tables: list[tuple[int, Floats]] = []
        for parent, own, allowed in zip(
            cpd.parents, groups, known.allowed, strict=True
        ):
            if allowed.all():
                continue
            sources.append((parent, np.ascontiguousarray(allowed.T)))
            card = allowed.shape[1]
            axis = own if _is_worth_grouping(own, card) else _each_alone(card)
            first = [group[0] for group in axis]
            table = np.ascontiguousarray(allowed[:, first].T, dtype=np.float64)
            tables.append((self._grouped(parent, axis), table))
        (parent, table), *others = tables
        number = self._add(len(known.rows), tuple(sources))
        self.terms.append(Term((parent, number), lambda: table, sums_to_one=False))
        for parent, other in others:
            # What is not a distribution is given to a variable of one state.
            family = (parent, number, self._add(1, ()))
            make = partial(np.expand_dims, other, -1)
            self.terms.append(Term(family, make, sums_to_one=False))
        return Term((number, cpd.child), lambda: _normalised(known.rows))

    def _grouped(self, variable: int, groups: StateGroups) -> int:
        """The variable that says in which group another one is; itself if that does."""
        card = self.cards[variable]
        if len(groups) == card:
            return variable
        key = variable, groups
        if not self._shared or key not in self._of_groups:
            member = np.zeros((card, len(groups)))
            member[np.arange(card), group_of_states(groups, card)] = 1.0
            number = self._add(len(groups), ((variable, member > 0),))
            self.terms.append(Term((variable, number), lambda: member))
            self._of_groups[key] = number
        return self._of_groups[key]

    def _add(self, card: int, sources: tuple[tuple[int, Bools], ...]) -> int:
        """Number a new variable."""
        self.cards.append(card)
        self.agreeing.append(sources)
        return len(self.cards) - 1


def _is_worth_grouping(groups: StateGroups, card: int) -> bool:
    """Whether groups are so few that a variable of their own pays."""
    return len(groups) <= _WORTH_GROUPING * card


def _each_alone(card: int) -> StateGroups:
    """Groups of one state each."""
    return tuple((state,) for state in range(card))


def full_table(cpd: CPD) -> Floats:
    """The full table of a distribution, made when it is called for."""
    return _normalised(cpd.probabilities)


def _normalised(table: Floats) -> Floats:
    """The table with rows that add up to one."""
    return np.asarray(table / table.sum(axis=-1, keepdims=True))


def small_product(
    cards: Sequence[int], cpds: Sequence[CPD], max_table_cells: int
) -> Product:
    """Choose forms for the families of a network that link its variables sparsely.

    Full tables are kept where few cells do. Otherwise the best of a few uniform choices
    is bettered family by family until no other form of one makes fewer cells in all, or
    the search takes longer than the tables that it may save; it goes on for longer
    while a clique exceeds `max_table_cells`.

    Diez & Galan 2003, "Efficient computation for the noisy MAX", section 4. Savicky &
    Vomlel 2007, "Exploiting tensor rank-one decomposition in probabilistic inference".
    """
    builder = ProductBuilder(cards, cpds)
    options = {node: decomposable(cpd) for node, cpd in enumerate(cpds)}
    options = {node: forms for node, forms in options.items() if forms}
    if not options:
        return builder.product({})
    search = _Search(builder, options, max_table_cells)
    best, shared = search.descended() if search.is_large else ({}, True)
    return builder.product(best, shared=shared)


class _Search:
    """Forms of families, compared by a quick triangulation."""

    def __init__(
        self,
        builder: ProductBuilder,
        options: Mapping[int, tuple[Form, ...]],
        max_table_cells: int,
    ) -> None:
        self._builder = builder
        self._options = options
        self._limit = max_table_cells
        self._n_trials = 0
        self._best: tuple[dict[int, Form], bool] = {}, True
        self._least = self._cells(*self._best)

    @property
    def is_large(self) -> bool:
        """Whether full tables make many cells."""
        return self._least[1] > FEW_CELLS

    def descended(self) -> tuple[dict[int, Form], bool]:
        """Forms that no change of one betters, or the best ones found in time.

        The second value tells whether children share auxiliary variables.
        """
        uniform = list(self._uniform())
        distinct = [f for i, f in enumerate(uniform) if f not in uniform[:i]]
        for forms in distinct:
            for shared in (True, False):
                self._try(forms, shared)
        last: tuple[dict[int, Form], bool] | None = None
        while last != self._best:
            last = self._best
            for node, other in self._neighbours():
                if self._is_over():
                    return self._best
                forms, shared = self._best
                self._try({**forms, node: other}, shared)
        return self._best

    def _uniform(self) -> Iterator[dict[int, Form]]:
        """Groups everywhere, and contexts where these are fewer by some factor."""
        grouped = {n: Form.GROUPS for n, f in self._options.items() if Form.GROUPS in f}
        numbered = [n for n, f in self._options.items() if Form.CONTEXTS in f]
        yield grouped
        for factor in (256, 16, 1):
            found = dict(grouped)
            for node in numbered:
                whole, apart = self._builder.sizes(node)
                if whole > factor * apart:
                    found[node] = Form.CONTEXTS
            yield found

    def _neighbours(self) -> Iterator[tuple[int, Form]]:
        """Families and the forms that they do not have now, the widest first."""
        widest = sorted(
            self._options, key=lambda node: (-self._builder.sizes(node)[0], node)
        )
        for node in widest:
            for form in (Form.WHOLE, *self._options[node]):
                if form is not self._best[0].get(node, Form.WHOLE):
                    yield node, form

    def _is_over(self) -> bool:
        """Whether the tables left are done sooner than another trial."""
        largest, cells = self._least
        hopeless = largest > HOPELESS * self._limit
        if hopeless or self._n_trials >= _MOST_TRIALS:
            return True
        return largest <= self._limit and cells <= self._n_trials * _TRIAL_CELLS

    def _try(self, forms: dict[int, Form], shared: bool) -> None:
        """Keep some forms if they make fewer cells."""
        found = self._cells(forms, shared)
        if found[1] < self._least[1]:
            self._best, self._least = (forms, shared), found

    def _cells(self, forms: Mapping[int, Form], shared: bool) -> tuple[int, int]:
        """Cells of the largest clique, and of all."""
        self._n_trials += 1
        product = self._builder.product(forms, shared=shared)
        neighbours = married(product.families, len(product.cards))
        cells = plain_forest(neighbours, product.cards).table_cells(product.cards)
        return max(cells), sum(cells)
