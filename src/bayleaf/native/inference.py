"""Native junction trees, which are compiled once, and look-up of log-probabilities."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayleaf.native.arrays import B1, F8, I8, Floats, Integers, writable
from bayleaf.native.library import Handle
from bayleaf.native.signatures import native

# Work memories of more numbers than this are given back after each question.
_KEPT_CELLS = 1 << 20

# Adds log P(child | class, super-parent) of all children to the scores: `tables` have
# the state at the last position given that at the one before.
add_children = native(
    """bl_add_children(in tables f8[n_classes, n_positions, n_positions], n_classes,
    n_positions, in parent_positions i8[n_rows], in positions i4[n_features, n_rows],
    n_features, n_rows, out scores f8[n_classes, n_rows])"""
)
# Adds each group's table entry to the scores, group after group. `slots` and `strides`:
# the variables of all groups, and what a code of each adds to the cell of its group's
# table, (n_classes, n_cells); `bounds` and `starts`: where each group's variables and
# table begin.
add_looked_up = native(
    """bl_add_looked_up(n_classes = len(scores) or 1, codes, n_rows,
    in strides i8[len(slots)], in bounds i8[n_groups + 1], in starts i8[n_groups + 1],
    n_groups, in tables f8[n_values], n_values, out scores f8[n_classes, n_rows],
    n_classes)""",
    "narrow, wide, slots, strides, bounds, tables, starts, scores",
)
# `rank` is the place of each variable among the axes of every table, `families` are the
# variables along those of each distribution, and `cells` the distributions, the last
# axis fastest. `observed` variables are known in every question, so that only a clique
# of their own need hold them. `edges` link cliques in trees that hold what their ends
# have in common all along. A root clique holds the `target`, unless it is negative;
# `with_prior` prepares for questions with little evidence, not if variables are always
# observed.
_new_tree = native(
    """bl_junction_tree_new(n, in cards i8[n], in rank i8[n],
    in family_starts i8[n + 1], in families i8[n_members], n_members,
    in cells f8[n_cells], n_cells, in sums_to_one b1[n], in observed b1[n],
    n_cliques, in clique_starts i8[n_cliques + 1], in cliques i8[n_items], n_items,
    in edges i8[n_edges, 2], n_edges, int target, flag with_prior, address made)"""
)
_new_memory = native(
    "bl_junction_memory_new(address tree, address n_cells, address made)"
)
_KNOWN = """address memory, address states, int n_states, address likelihoods,
    int n_likelihoods"""
_marginals = native(
    f"bl_junction_marginals({_KNOWN}, address wanted, int n_wanted, address answer)"
)
_families = native(f"bl_junction_families({_KNOWN}, address totals)")
_most_probable = native(
    f"bl_junction_most_probable({_KNOWN}, address found, address log_probability)"
)
_cells = native(f"bl_junction_cells({_KNOWN}, address cells, address is_observed)")
_ROWS = "handle memory, codes, int n_rows, int first"
_row_evidence = native(
    f"bl_junction_row_evidence({_ROWS}, n_asked, out log_evidence f8[n_asked])"
)
_row_posteriors = native(
    f"""bl_junction_row_posteriors(n_asked = len(log_evidence),
    card = cards[target] if 0 <= target < len(cards) else 0, {_ROWS}, n_asked, target,
    out posteriors f8[n_asked, card], out log_evidence f8[n_asked])""",
    "memory, cards, narrow, wide, slots, n_rows, first, target, posteriors, "
    "log_evidence",
)
_row_families = native(
    f"""bl_junction_row_families({_ROWS}, n_asked, in weights f8[n_asked],
    in nodes i8[n_nodes], n_nodes, out totals f8[n_cells], n_cells,
    out log_evidence f8[n_asked])"""
)
_new_parts = native(
    """bl_missing_parts_new(in cards i8[n], n, in family_starts i8[n_families + 1],
    n_families, in families i4[n_members], n_members, in starts i8[n_parts + 1],
    n_parts, in variables i4[n_items], in codes i4[n_items], n_items, address made)"""
)
_expect = native(
    """bl_missing_parts_expect(handle parts, int first, in weights f8[n_asked], n_asked,
    in tables f8[n_cells], out totals f8[n_cells], n_cells,
    out variances f8[n_variances], n_variances, out log_evidence f8[n_asked])"""
)


class Memory(Handle):
    """What one question at a time writes, and where its answer goes."""

    def __init__(self, tree: int, n_states: int) -> None:
        n_cells = ctypes.c_int64()
        free = "bl_junction_memory_free"
        super().__init__(_new_memory, free, tree, ctypes.addressof(n_cells))
        self.is_kept = n_cells.value <= _KEPT_CELLS
        self.answer = np.zeros(1 + n_states)
        self.answer_address = writable(self.answer, F8, (1 + n_states,))


class Known:
    """What a question is given of some variables, each named once.

    `states` are pairs of a variable and its state, or -1 where likelihoods, (card,) of
    contiguous float64, are given instead, in order; a question checks both.
    """

    __slots__ = ("_likelihoods", "_states", "arguments")

    def __init__(self, states: Sequence[int], likelihoods: Sequence[Floats]) -> None:
        self._states = array("q", states)
        joined: Any = b"".join(likelihoods)  # type: ignore[arg-type]  # buffers
        self._likelihoods = array("d", joined)
        # The arrays' addresses hold as long as this object lives.
        self.arguments = (
            self._states.buffer_info()[0],
            len(states) // 2,
            *self._likelihoods.buffer_info(),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy has arrays of its own, which lie elsewhere.
        return Known, (self._states.tolist(), [self._likelihoods])


class CompiledTree(Handle):
    """A junction forest with its distributions, ready for any number of threads."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(_new_tree, "bl_junction_tree_free", *parts)
        self.cards: list[int] = parts[0].tolist()
        self.n_states, self.n_cells = sum(self.cards), parts[4].size
        self.has_prior = parts[-1]
        # Lists of these operations are safe under threads.
        self._idle: list[Memory] = []

    def marginals(
        self, known: Known, wanted: Sequence[int] | None = None
    ) -> tuple[float, Floats]:
        """The log probability (nats) of what is known, and all marginals given it.

        Anything is in the place of one that is not wanted, or of all if it is
        impossible.
        """
        memory = self._memory()
        if wanted is None:
            places, n_wanted = 0, -1
        else:
            listed = array("q", wanted)
            places, n_wanted = listed.buffer_info()
        address = memory.answer_address
        _marginals(memory.address, *known.arguments, places, n_wanted, address)
        answer = memory.answer.copy()
        self._give_back(memory)
        return answer.item(0), answer[1:]

    def log_evidence(self, known: Known) -> float:
        """Log probability (nats) of what is known; minus infinity if impossible."""
        memory = self._memory()
        address = memory.answer_address
        _marginals(memory.address, *known.arguments, 0, 0, address)
        found = memory.answer.item(0)
        self._give_back(memory)
        return found

    def families(self, known: Known) -> Floats:
        """The posteriors of all families, in order; zeros if all are impossible."""
        memory, totals = self._memory(), np.zeros(self.n_cells)
        address = writable(totals, F8, (self.n_cells,))
        _families(memory.address, *known.arguments, address)
        self._give_back(memory)
        return totals

    def most_probable(self, known: Known) -> tuple[Integers, float]:
        """The most probable states of all variables, and their log probability (nats).

        Of equally probable ones, each clique takes the lowest state of its lowest
        variable that the cliques before it leave open; zeros if all are impossible.
        """
        memory = self._memory()
        states = np.zeros(len(self.cards), dtype=np.int64)
        address = writable(states, I8, states.shape)
        _most_probable(memory.address, *known.arguments, address, memory.answer_address)
        log_probability = memory.answer.item(0)
        self._give_back(memory)
        return states, log_probability

    def cells(self, known: Known) -> tuple[float, float, list[int]]:
        """Count the cells of cliques at the states that are left.

        Those with evidence below or no prior message to the root; all; and the
        variables of which something is known and one state is left, in order.
        """
        memory = self._memory()
        cells, is_observed = np.zeros(2), np.zeros(len(self.cards), dtype=np.bool_)
        address = writable(is_observed, B1, is_observed.shape)
        _cells(memory.address, *known.arguments, writable(cells, F8, (2,)), address)
        self._give_back(memory)
        return float(cells[0]), float(cells[1]), np.flatnonzero(is_observed).tolist()

    def log_evidence_rows(self, *arguments: Any) -> None:
        """Write the log probability (nats) of rows' cells, or minus infinity.

        Takes a table's blocks, slots and number of rows, the first row, `log_evidence`.
        """
        self._ask(_row_evidence, *arguments)

    def posterior_rows(self, *arguments: Any) -> None:
        """Write the posterior of a variable given each row's other cells, and of these.

        Takes rows, the variable, `posteriors`, (n_asked, card), NaN in impossible rows,
        and `log_evidence` (nats).
        """
        self._ask(_row_posteriors, self.cards, *arguments)

    def add_families_of_rows(self, *arguments: Any) -> None:
        """Add posteriors of families, times rows' weights, to tables of distributions.

        Takes rows, their `weights`, the `nodes` of families, `totals`, one table after
        another, and `log_evidence` (nats). Impossible rows add nothing.
        """
        self._ask(_row_families, *arguments)

    def _ask(self, question: Callable[..., None], *arguments: Any) -> None:
        """Ask with a work memory, which an error or interrupt does not give back."""
        memory = self._memory()
        question(memory, *arguments)
        self._give_back(memory)

    def _memory(self) -> Memory:
        """A work memory that no other thread uses."""
        try:
            return self._idle.pop()
        except IndexError:
            return Memory(self.address, self.n_states)

    def _give_back(self, memory: Memory) -> None:
        """Keep a work memory for the next question, unless it is huge."""
        if memory.is_kept:
            self._idle.append(memory)


class CompiledParts(Handle):
    """Parts of rows with missing cells, ready for any number of threads.

    Takes the `cards` of variables, lists of families and of parts by their starts and
    members, and the parts' codes; those with the same missing variables lie together.
    """

    def __init__(self, *parts: Any) -> None:
        super().__init__(_new_parts, "bl_missing_parts_free", *parts)

    def expect(self, *arguments: Any) -> None:
        """Add posteriors of families with missing cells, times weights, to `totals`.

        Takes the first part, the `weights` of those asked for, the `tables` of all
        families, `totals` like them, `variances` like them or empty, and `log_evidence`
        (n_asked,), in nats, minus infinity for impossible parts, which add nothing.
        """
        _expect(self, *arguments)
