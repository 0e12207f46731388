"""Rows drawn from a network, exactly, with and without evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD, GroupedTableCPD
from bayleaf.cpds.local_structure import distributions_of_rows, with_known_parents
from bayleaf.cpds.tree_cpd import TreeCPD
from bayleaf.data.codes import NARROW_STATES, Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.random_state import random_generator
from bayleaf.data.state_numbers import drawn_numbers
from bayleaf.graph.separation import ancestors
from bayleaf.graph.triangulation import JunctionForest
from bayleaf.inference.evidence import Evidence
from bayleaf.inference.factorisation import cut_network
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.states import check_integer
from bayleaf.wording import quoted

# Rows drawn at a time: their indices and uniforms stay in the second cache. Part of
# what a seed means, so a change changes every sample.
_BLOCK = 1 << 14

Floats = NDArray[np.float64]
# Drawn states by variable.
Columns = Sequence[Any] | Mapping[int, Any]
# Cells beyond which a tree is followed row by row instead of being expanded.
_WIDE_CELLS = 1 << 20
# A terabyte and more; asking for it is a slip.
_MOST_CELLS = 1 << 40


@dataclass(frozen=True, eq=False)
class Draw:
    """One step of sampling: variables drawn together, given variables drawn before.

    The cumulative probabilities have the last variable fastest; their last column is 1.
    """

    given: tuple[int, ...]
    drawn: tuple[int, ...]
    cards: tuple[int, ...]  # of `given`, then of `drawn`
    cumulative: Floats  # (n_given, n_joint)

    @classmethod
    def from_table(
        cls, given: Sequence[int], drawn: Sequence[int], table: Floats
    ) -> Draw:
        """Prepare a table over `given` and `drawn`, rows on any scale."""
        n_joint = prod(table.shape[len(given) :])
        sums = np.cumsum(table.reshape(-1, n_joint), axis=1)
        # Rows that nothing but samples without weight reach sum to 0.
        totals = np.where(sums[:, -1:] > 0, sums[:, -1:], 1.0)
        sums /= totals
        sums[:, -1] = 1.0
        return cls(tuple(given), tuple(drawn), table.shape, sums)

    def joint_states(self, columns: Columns, uniforms: Floats) -> NDArray[np.int64]:
        """Joint state drawn in each row: the first whose cumulative exceeds it."""
        n_joint = self.cumulative.shape[1]
        row = np.zeros(len(uniforms), dtype=np.int64)
        for variable, card in zip(self.given, self.cards):
            row *= card
            row += columns[variable]
        row *= n_joint
        flat = self.cumulative.ravel()
        found = np.zeros(len(uniforms), dtype=np.int64)
        step = 1 << max(0, (n_joint - 1).bit_length() - 1)
        while step and n_joint > 1:
            ahead = np.minimum(found + (step - 1), n_joint - 1)
            found += step * (flat.take(row + ahead) <= uniforms)
            step >>= 1
        return found


def draw_rows(
    draws: Sequence[Drawing],
    cards: Sequence[int],
    n_rows: int,
    rng: np.random.Generator,
    known: Mapping[int, int],
) -> Codes:
    """Draw rows step by step, one uniform per row and step; no cell is missing.

    `known` are the states that all rows share.
    """
    columns: list[NDArray[np.integer[Any]]] = [
        np.empty(n_rows, dtype=np.uint8 if card <= NARROW_STATES else np.uint16)
        for card in cards
    ]
    for variable, code in known.items():
        columns[variable][:] = code
    for start in range(0, n_rows, _BLOCK):
        stop = min(start + _BLOCK, n_rows)
        block = [column[start:stop] for column in columns]
        uniforms = rng.random((len(draws), stop - start))
        for draw, uniform in zip(draws, uniforms, strict=True):
            joint = draw.joint_states(block, uniform)
            drawn_cards = draw.cards[len(draw.given) :]
            for variable, card in zip(reversed(draw.drawn), reversed(drawn_cards)):
                np.remainder(joint, card, out=block[variable], casting="unsafe")
                joint //= card
    return Codes.from_columns(columns, cards)


@dataclass(frozen=True, eq=False)
class DistributionDraw:
    """A step that draws one variable from its distribution, which is not expanded."""

    given: tuple[int, ...]  # the parents
    drawn: tuple[int, ...]
    cards: tuple[int, ...]  # of the parents, then of the variable
    cpd: CPD  # family numbered from 0

    def joint_states(self, columns: Columns, uniforms: Floats) -> NDArray[np.int64]:
        """State drawn in each row: the first whose cumulative exceeds its uniform."""
        unknown = np.full(len(uniforms), self.cards[-1])
        family = [*(columns[parent] for parent in self.given), unknown]
        given = Codes.from_columns(family, self.cards)
        drawn = np.empty(len(uniforms), dtype=np.int64)
        for probabilities, rows in distributions_of_rows(self.cpd, given):
            cumulative = np.cumsum(probabilities, axis=-1)
            reached = uniforms[rows, None] * cumulative[..., -1:] >= cumulative
            drawn[rows] = np.minimum(reached.sum(axis=-1), self.cards[-1] - 1)
        return drawn


# A step of sampling.
Drawing = Draw | DistributionDraw


def forward_draw(cpd: CPD) -> Drawing:
    """The step that draws a variable once its parents are drawn."""
    if isinstance(cpd, TreeCPD | GroupedTableCPD) and prod(cpd.cards) > _WIDE_CELLS:
        places = {variable: place for place, variable in enumerate(cpd.family)}
        numbered = with_known_parents(cpd, {}, places)
        return DistributionDraw(cpd.parents, (cpd.child,), cpd.cards, numbered)
    return Draw.from_table(cpd.parents, (cpd.child,), cpd.probabilities)


def evidence_draws(
    trees: NetworkTrees, evidence: Evidence
) -> tuple[list[Drawing], tuple[int, ...]]:
    """Prepare steps that draw every variable whose state is not known.

    The ancestors of the evidence are drawn clique by clique from the roots of their
    junction tree, each clique given what it shares with those before it (Dawid 1992,
    "Applications of a general propagation algorithm for probabilistic expert systems",
    section 4). All other variables follow from their parents.

    Also returns cards, with auxiliary variables after the network's.
    ImpossibleEvidenceError if P(evidence) is zero, ValueError if a table would be too
    large.
    """
    network, cards = trees.network, trees.domain.cards
    above = ancestors(network.dag, [item.variable for item in evidence.items])
    draws: list[Drawing] = []
    if above:
        kept = sorted(above)
        part = cut_network(network, kept, evidence.hard)
        tree = JunctionTree.compile(part, max_table_cells=trees.max_table_cells)
        place = {variable: i for i, variable in enumerate(kept)}
        findings = {place[v]: value for v, value in evidence.findings.items()}
        tables = tree.clique_posteriors(findings)
        if not tables[0].any():
            raise trees.impossible(evidence)
        extra = tree.product.cards[len(kept) :]
        numbers = [*kept, *range(len(cards), len(cards) + len(extra))]
        draws += _clique_draws(tree.forest, tables, numbers, evidence.hard)
        cards = (*cards, *extra)
    below = [node for node in network.dag.order if node not in above]
    draws += [forward_draw(network.cpds[node]) for node in below]
    return draws, cards


def _clique_draws(
    forest: JunctionForest,
    tables: Sequence[Floats],
    numbers: Sequence[int],
    hard: Mapping[int, int],
) -> Iterator[Draw]:
    """Steps for the variables that are not known, given the posteriors of cliques.

    Variables of the forest are drawn under the numbers that `numbers` gives them.
    """
    drawn: set[int] = set()
    for position in _from_roots(forest):
        clique = [numbers[v] for v in forest.cliques[position]]
        table = tables[position][tuple(hard.get(v, slice(None)) for v in clique)]
        left = [v for v in clique if v not in hard]
        given = [v for v in left if v in drawn]
        new = [v for v in left if v not in drawn]
        if new:
            order = [left.index(v) for v in (*given, *new)]
            yield Draw.from_table(given, new, np.transpose(table, order))
            drawn.update(new)


def _from_roots(forest: JunctionForest) -> Iterator[int]:
    """Positions of all cliques, each root before its children, and so on."""
    neighbours: list[list[int]] = [[] for _ in forest.cliques]
    for one, other in forest.edges:
        neighbours[one].append(other)
        neighbours[other].append(one)
    seen: set[int] = set()
    for root in range(len(forest.cliques)):
        waiting = [root]
        while waiting:
            position = waiting.pop()
            if position not in seen:
                seen.add(position)
                waiting += neighbours[position]
                yield position


def sample(trees: NetworkTrees, n: int, evidence: Evidence, random_state: Any) -> Codes:
    """Draw rows from P(all variables | evidence), exactly.

    Without evidence, each variable is drawn given its parents (Henrion 1988,
    "Propagating uncertainty in Bayesian networks by probabilistic logic sampling").
    ImpossibleEvidenceError if P(evidence) is zero; ValueError if `n` is not a number of
    rows, or a table would be too large.
    """
    check_integer("the number of rows", n)
    rng = random_generator(random_state)
    network = trees.network
    too_many = ValueError(
        f"{n} rows of {len(network.domain)} variables do not fit into memory; "
        "draw fewer rows at a time"
    )
    if n * len(network.domain) > _MOST_CELLS:
        raise too_many
    draws, cards = evidence_draws(trees, evidence)
    try:
        rows = draw_rows(draws, cards, int(n), rng, evidence.hard)
    except MemoryError:
        raise too_many from None
    own = network.domain.cards
    if cards == own:
        return rows
    return Codes.from_columns([rows.column(v) for v in range(len(own))], own)


def decode(
    domain: Domain, codes: Codes, rng: np.random.Generator | None = None
) -> pa.Table:
    """Turn codes into a table of states, one column per variable.

    With a generator, numbers are drawn for intervals, which are labels otherwise. Text
    comes as dictionaries (categories in pandas), numbers and booleans as they are;
    missing cells are null.
    """
    columns = [
        _decoded(variable, codes.column(position))
        for position, variable in enumerate(domain)
    ]
    names = [str(name) for name in domain.names]
    if rng is not None:
        drawn = drawn_numbers(domain, codes, rng)
        for name in drawn.column_names:
            columns[names.index(name)] = drawn.column(name).combine_chunks()
    return pa.table(columns, names=names)


def _decoded(variable: Variable, codes: NDArray[Any]) -> pa.Array:
    """One column of states."""
    states = list(variable.states)
    known_states = [state for state in states if state is not None]
    # Arrow has no integers of more than 64 bits.
    huge = any(isinstance(s, int) and abs(s) >= 1 << 63 for s in known_states)
    if huge or not _of_one_kind(known_states):
        states = [variable.label(code) for code in range(len(states))]
    null_code = len(states) - variable.has_missing_state
    try:
        known = pa.array(states[:null_code])
        str(variable.name).encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"variable {quoted(variable.name)} or a state of it is no Unicode text; "
            "rename it before rows are drawn"
        ) from error
    absent = codes >= null_code
    indices = pa.array(
        codes if codes.dtype != np.uint8 or null_code > 127 else codes.view(np.int8),
        mask=absent if absent.any() else None,
    )
    if pa.types.is_string(known.type):
        return pa.DictionaryArray.from_arrays(indices, known)
    return known.take(indices)


def _of_one_kind(states: Sequence[Any]) -> bool:
    """Whether states are all text, all booleans or all numbers."""
    return (
        any(
            all(isinstance(state, kind) for state in states)
            for kind in (str, bool, int, float)
        )
        and len({isinstance(state, bool) for state in states}) < 2
    )
