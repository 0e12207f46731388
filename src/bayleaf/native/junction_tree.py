"""Junction trees that were compiled once: handles of the native core, and questions."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import B1, F8, I8, code_arguments, readable, writable
from bayleaf.native.library import FLAG, INTEGER, POINTER, Function, Handle
from bayleaf.native.tree_questions import Known, Memory

Whole = NDArray[np.int64]
Floats = NDArray[np.float64]

_KNOWN = (POINTER, INTEGER, POINTER, INTEGER)
_CODES = (POINTER, INTEGER, POINTER, INTEGER, POINTER, INTEGER, INTEGER)
_new_tree = Function(
    "bl_junction_tree_new",
    INTEGER,
    *[POINTER] * 4,
    *[INTEGER, POINTER, INTEGER, POINTER, POINTER],
    *[INTEGER, POINTER, POINTER, INTEGER],
    *[POINTER, INTEGER, INTEGER, FLAG, POINTER],
)
_marginals = Function(
    "bl_junction_marginals", POINTER, *_KNOWN, POINTER, INTEGER, POINTER
)
_families = Function("bl_junction_families", POINTER, *_KNOWN, POINTER)
_most_probable = Function("bl_junction_most_probable", POINTER, *_KNOWN, *[POINTER] * 2)
_cells = Function("bl_junction_cells", POINTER, *_KNOWN, POINTER, POINTER)
_row_evidence = Function(
    "bl_junction_row_evidence", POINTER, *_CODES, INTEGER, INTEGER, POINTER
)
_row_posteriors = Function(
    "bl_junction_row_posteriors", POINTER, *_CODES, *[INTEGER] * 3, POINTER, POINTER
)
_row_families = Function(
    "bl_junction_row_families",
    *[POINTER, *_CODES, INTEGER, INTEGER, POINTER],
    *[POINTER, INTEGER, POINTER, INTEGER],
)


class CompiledTree(Handle):
    """A junction forest with its distributions, ready for any number of threads.

    It cannot be pickled: whoever holds one compiles it anew.

    Parameters
    ----------
    cards : ndarray of shape (n_variables,), dtype int64
        Number of states of each variable.
    rank : ndarray of shape (n_variables,), dtype int64
        Place of each variable among the axes of every table.
    family_starts : ndarray of shape (n_variables + 1,), dtype int64
        Where each variable's family begins in `families`, the end of the last included.
    families : ndarray, dtype int64
        Variables along the axes of each variable's distribution.
    cells : ndarray, dtype float64
        The distributions one after another, the last axis fastest.
    sums_to_one : ndarray of shape (n_variables,), dtype bool
        Whether a variable's table is a distribution of it given the others.
    observed : ndarray of shape (n_variables,), dtype bool
        Variables of which every question knows the state, so that only a clique of
        their own need hold them.
    clique_starts : ndarray of shape (n_cliques + 1,), dtype int64
        Where each clique begins in `cliques`, the end of the last included.
    cliques : ndarray, dtype int64
        Variables of each clique.
    edges : ndarray of shape (n_edges, 2), dtype int64
        Pairs of cliques that are linked; trees that hold what their ends have in common
        all along.
    target : int, default=-1
        A variable that a root clique shall hold; none if negative.
    with_prior : bool, default=True
        Whether to prepare for questions with little evidence; not if variables are
        always observed.

    Raises
    ------
    ValueError
        If variables or cliques do not exist, or no clique holds a family.
    """

    def __init__(
        self,
        cards: Whole,
        rank: Whole,
        family_starts: Whole,
        families: Whole,
        cells: Floats,
        sums_to_one: NDArray[np.bool_],
        observed: NDArray[np.bool_],
        clique_starts: Whole,
        cliques: Whole,
        edges: Whole,
        target: int = -1,
        with_prior: bool = True,
    ) -> None:
        n, n_cliques = cards.size, clique_starts.size - 1
        if n_cliques < 0:
            raise ValueError("clique_starts is empty; it ends with the number of items")
        super().__init__(
            _new_tree,
            "bl_junction_tree_free",
            n,
            readable(cards, I8, (n,)),
            readable(rank, I8, (n,)),
            readable(family_starts, I8, (n + 1,)),
            readable(families, I8, (families.size,)),
            families.size,
            readable(cells, F8, (cells.size,)),
            cells.size,
            readable(sums_to_one, B1, (n,)),
            readable(observed, B1, (n,)),
            n_cliques,
            readable(clique_starts, I8, (n_cliques + 1,)),
            readable(cliques, I8, (cliques.size,)),
            cliques.size,
            readable(edges, I8, (len(edges), 2)),
            len(edges),
            target,
            with_prior,
        )
        self.cards = cards.tolist()
        self.n_states = sum(self.cards)
        self.n_cells = cells.size
        self.has_prior = with_prior
        # Lists of these operations are safe under threads.
        self._idle: list[Memory] = []

    def marginals(
        self, known: Known, wanted: Sequence[int] | None = None
    ) -> tuple[float, Floats]:
        """Find marginals given what is known.

        Parameters
        ----------
        known : Known
            The evidence.
        wanted : sequence of int, optional
            Variables whose marginals are asked for; all by default.

        Returns
        -------
        log_evidence : float
            Log probability (nats); minus infinity if it is impossible.
        marginals : ndarray of shape (n_states,), dtype float64
            Marginals of all variables one after another; anything stands in the places
            of those that are not wanted, or of all if the evidence is impossible.

        Raises
        ------
        ValueError
            If a variable or state does not exist, likelihoods are negative or not
            finite, or an observed variable is not known.
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
        """Log probability (nats) of what is known; see `marginals`."""
        memory = self._memory()
        address = memory.answer_address
        _marginals(memory.address, *known.arguments, 0, 0, address)
        found = memory.answer.item(0)
        self._give_back(memory)
        return found

    def families(self, known: Known) -> Floats:
        """Find the posteriors of all families.

        Returns
        -------
        ndarray of shape (n_cells,), dtype float64
            One after another, each like the distribution that was given; zeros if the
            evidence is impossible.

        Raises
        ------
        ValueError
            See `marginals`.
        """
        memory, totals = self._memory(), np.zeros(self.n_cells)
        address = writable(totals, F8, (self.n_cells,))
        _families(memory.address, *known.arguments, address)
        self._give_back(memory)
        return totals

    def most_probable(self, known: Known) -> tuple[Whole, float]:
        """Find the most probable states of all variables together.

        Among equally probable ones, each clique takes the lowest state of its lowest
        variable that the cliques before it leave open.

        Returns
        -------
        states : ndarray of shape (n_variables,), dtype int64
            All zero if the evidence is impossible.
        log_probability : float
            Log probability (nats) of the states and what is known.

        Raises
        ------
        ValueError
            See `marginals`.
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

        Returns
        -------
        upwards : float
            Of the cliques that have evidence below them, or whose message to the root
            is not known beforehand.
        all_cliques : float
            Of all.
        observed : list of int
            Variables of which something is known and one state is left, in order.

        Raises
        ------
        ValueError
            See `marginals`.
        """
        memory = self._memory()
        cells, is_observed = np.zeros(2), np.zeros(len(self.cards), dtype=np.bool_)
        _cells(
            memory.address,
            *known.arguments,
            writable(cells, F8, (2,)),
            writable(is_observed, B1, is_observed.shape),
        )
        self._give_back(memory)
        return float(cells[0]), float(cells[1]), np.flatnonzero(is_observed).tolist()

    def log_evidence_rows(
        self,
        narrow: NDArray[np.uint8],
        wide: NDArray[np.uint16],
        slots: Whole,
        n_rows: int,
        first: int,
        log_evidence: Floats,
    ) -> None:
        """Write the log probability of each row's observed cells.

        Parameters
        ----------
        narrow : ndarray of shape (n_narrow, n_rows), dtype uint8
            Codes of narrow variables, see `bayleaf.data.codes.Codes`.
        wide : ndarray of shape (n_wide, n_rows), dtype uint16
            Codes of wide variables.
        slots : ndarray of shape (n_variables,), dtype int64
            Where each of the tree's variables lies.
        n_rows : int
            Number of rows of the table.
        first : int
            The first row that is asked for.
        log_evidence : ndarray of shape (n_asked,), dtype float64
            Filled with nats; minus infinity for impossible rows.

        Raises
        ------
        ValueError
            If the rows are not those of the variables, or too few.
        """
        memory, n_asked = self._memory(), log_evidence.size
        _row_evidence(
            memory.address,
            *code_arguments(narrow, wide, slots, n_rows),
            n_rows,
            first,
            n_asked,
            writable(log_evidence, F8, (n_asked,)),
        )
        self._give_back(memory)

    def posterior_rows(
        self,
        narrow: NDArray[np.uint8],
        wide: NDArray[np.uint16],
        slots: Whole,
        n_rows: int,
        first: int,
        target: int,
        posteriors: Floats,
        log_evidence: Floats,
    ) -> None:
        """Write each row's posterior of a variable given its other observed cells.

        Parameters
        ----------
        narrow, wide, slots, n_rows, first
            The rows; see `log_evidence_rows`.
        target : int
            The variable; its own cells are ignored.
        posteriors : ndarray of shape (n_asked, card), dtype float64
            Filled; NaN in impossible rows.
        log_evidence : ndarray of shape (n_asked,), dtype float64
            Filled with the log probability (nats) of the other cells.

        Raises
        ------
        ValueError
            If the rows are not those of the variables, or too few, or there is no such
            variable.
        """
        memory, n_asked = self._memory(), log_evidence.size
        card = self.cards[target] if 0 <= target < len(self.cards) else 0
        _row_posteriors(
            memory.address,
            *code_arguments(narrow, wide, slots, n_rows),
            n_rows,
            first,
            n_asked,
            target,
            writable(posteriors, F8, (n_asked, card)),
            writable(log_evidence, F8, (n_asked,)),
        )
        self._give_back(memory)

    def add_families_of_rows(
        self,
        narrow: NDArray[np.uint8],
        wide: NDArray[np.uint16],
        slots: Whole,
        n_rows: int,
        first: int,
        weights: Floats,
        nodes: Whole,
        totals: Floats,
    ) -> None:
        """Add family posteriors, each times its row's weight, to tables.

        Parameters
        ----------
        narrow, wide, slots, n_rows, first
            The rows; see `log_evidence_rows`.
        weights : ndarray of shape (n_asked,), dtype float64
            Weight of each row; impossible ones add nothing.
        nodes : ndarray of shape (n_nodes,), dtype int64
            Whose families are asked for.
        totals : ndarray of shape (n_table_cells,), dtype float64
            Added to: the families' tables one after another, each like the distribution
            that was given.

        Raises
        ------
        ValueError
            If the rows are not those of the variables, or too few, there is no such
            variable, or the tables have another size.
        """
        memory = self._memory()
        _row_families(
            memory.address,
            *code_arguments(narrow, wide, slots, n_rows),
            n_rows,
            first,
            weights.size,
            readable(weights, F8, (weights.size,)),
            readable(nodes, I8, (nodes.size,)),
            nodes.size,
            writable(totals, F8, (totals.size,)),
            totals.size,
        )
        self._give_back(memory)

    def _memory(self) -> Memory:
        """A work memory that no other thread uses."""
        try:
            return self._idle.pop()
        except IndexError:
            return Memory(self.address, self.n_states)

    def _give_back(self, memory: Memory) -> None:
        """Keep a work memory for the next question, unless it is huge.

        One that an error or an interrupt left behind is not given back.
        """
        if memory.is_kept:
            self._idle.append(memory)
