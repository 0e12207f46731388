"""What is written into the missing cells of a column for states of its variable."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Variable
from bayleaf.data.state_numbers import expected_cells, numbers_of_states
from bayleaf.data.tables.columns import NumberColumn, PlainColumn
from bayleaf.data.text_parsing import TRUTHS
from bayleaf.wording import quoted

Floats = NDArray[np.float64]
Kind = Literal["integer", "float", "truth", "text", "any"]


@dataclass(frozen=True)
class CellWriter:
    """Turns states of a variable into cell values of its column."""

    variable: Variable
    column: PlainColumn | None  # None for a new column
    codes: NDArray[Any]  # (n_rows,), of the column's cells

    @cached_property
    def kind(self) -> Kind:
        """What the cells that are not missing hold."""
        if isinstance(self.column, NumberColumn):
            return "integer" if self.column.is_integer else "float"
        held = {type(value) for value in self._used}
        if held and all(issubclass(kind, str) for kind in held):
            return "text"
        if held == {bool}:
            return "truth"
        return "integer" if held == {int} else "any"

    @cached_property
    def gives_numbers(self) -> bool:
        """Whether intervals become numbers; else they are called by their labels."""
        variable = self.variable
        if variable.kind != "numeric" or variable.categories is not None:
            return False
        return self.kind != "text" or not any(u in variable.states for u in self._used)

    def values(self, states: NDArray[Any], shares: Floats | None = None) -> list[Any]:
        """Cells for states (n,); ValueError if the column cannot contain a value.

        `shares` (n,), from 0 to 1, is where in an interval the number lies. By default
        it is the mean, and the middle one of several categories.
        """
        if self.gives_numbers:
            return self._numbers(numbers_of_states(self.variable, states, shares))
        if self.variable.categories is not None:
            return self._categories(states, shares)
        used = np.unique(states)
        cells = np.empty(len(used), dtype=object)
        cells[:] = [self._cell(self.variable.states[s], int(s)) for s in used]
        return list(cells[np.searchsorted(used, states)])

    def means(self, probabilities: Floats) -> list[Any]:
        """Expected numbers of rows with some probabilities of intervals."""
        return self._numbers(expected_cells(self.variable, probabilities))

    @cached_property
    def _used(self) -> list[Hashable]:
        """The values that the column's cells hold."""
        if self.column is None or isinstance(self.column, NumberColumn):
            return []
        used = np.unique(self.column.indices[self.column.indices >= 0])
        return [self.column.values[place] for place in used.tolist()]

    @cached_property
    def _spelled(self) -> dict[int, Any]:
        """How the column writes a state, by the first cell that holds it."""
        if self.column is None:
            return {}
        codes, firsts = np.unique(self.codes, return_index=True)
        found = {}
        for code, row in zip(codes.tolist(), firsts.tolist(), strict=True):
            if code >= self.variable.n_known_states:
                continue
            if isinstance(self.column, NumberColumn):
                found[code] = self.column.values[row].item()
            else:
                found[code] = self.column.values[self.column.indices[row]]
        return found

    def _numbers(self, numbers: Floats) -> list[Any]:
        """Numbers as the column holds them."""
        own = self.variable.numbers
        whole = self.kind == "integer" or (
            own is not None and own.are_whole and self.kind != "float"
        )
        if not whole:
            found = numbers.tolist()
            return list(map(repr, found)) if self.kind == "text" else found
        found = np.rint(numbers).astype(np.int64).tolist()
        return list(map(str, found)) if self.kind == "text" else found

    def _categories(self, states: NDArray[Any], shares: Floats | None) -> list[Any]:
        """Categories for intervals of them, each as probable as the others of its."""
        categories = self.variable.categories or ()
        cuts = np.array(self.variable.cut_points)
        owners = np.searchsorted(cuts, np.arange(len(categories)))
        firsts = np.searchsorted(owners, states)
        sizes = np.searchsorted(owners, states, side="right") - firsts
        inside = (sizes - 1) // 2 if shares is None else (shares * sizes).astype(int)
        return [self._cell(categories[place], -1) for place in firsts + inside]

    def _cell(self, state: Any, code: int) -> Any:
        """One state as the column holds it."""
        if _fits(state, self.kind):
            return state
        if code in self._spelled:
            return self._spelled[code]
        if self.kind == "text":
            return str(state)
        try:
            if self.kind == "truth":
                return TRUTHS[str(state)]
            return int(str(state)) if self.kind == "integer" else float(str(state))
        except (KeyError, ValueError):
            raise ValueError(
                f"column {quoted(self.variable.name)} holds values of another kind "
                f"({self.kind}) than state {quoted(state)} of the network; convert the "
                "column"
            ) from None


def missing_cells(column: PlainColumn) -> NDArray[np.bool_]:
    """Which cells of a column are missing, shape (n_rows,)."""
    if not isinstance(column, NumberColumn):
        return np.asarray(column.indices < 0)
    if column.missing is None:
        return np.zeros(column.n_rows, dtype=np.bool_)
    return column.missing


def _fits(state: Any, kind: Kind) -> bool:
    """Whether a column of a kind may hold a state as it is."""
    if kind == "any":
        return True
    if kind == "text":
        return isinstance(state, str)
    if kind == "truth":
        return isinstance(state, bool)
    is_number = isinstance(state, int if kind == "integer" else int | float)
    return is_number and not isinstance(state, bool)
