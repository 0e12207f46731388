"""Tables from the probability blocks of BIF files, which give them row by row."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.given_tables import SUM_TOLERANCE
from bayleaf.io.formats.assemble import DeclaredTable, Variables
from bayleaf.io.formats.full_tables import MAX_TABLE_CELLS
from bayleaf.io.formats.row_sums import ROUNDING, off_one
from bayleaf.io.formats.source_file import NetworkFileError, counted, quoted


@dataclass
class ProbabilityBlock:
    """One probability block of a file."""

    names: list[str]  # before the bar; without a bar, child and parents
    given: list[str] | None  # after the bar; None without a bar
    line: int  # where the block starts
    table: NDArray[np.float64] | None = None
    default: list[float] | None = None
    rows: list[tuple[list[str], list[float], int]] = field(default_factory=list)

    def family_names(self, known: Container[str]) -> tuple[str, list[str]]:
        """The child and its parents, some of whose names may be several words."""
        together = " ".join(self.names)
        if self.given is None:
            return (
                (together, []) if together in known else (self.names[0], self.names[1:])
            )
        one_parent = " ".join(self.given)
        return together, [one_parent] if one_parent in known else self.given


class TableFiller:
    """Turns probability blocks into full tables."""

    def __init__(self, variables: Variables) -> None:
        self.variables = variables
        self.known = {variable.name for variable in variables.declared}
        self.n_cells_from_defaults = 0

    def declared_table(self, block: ProbabilityBlock) -> DeclaredTable:
        """The table of a block, the child fastest."""
        child, parents = block.family_names(self.known)
        family = self.variables.family(child, parents, block.line)
        cards = self.variables.cards(family)
        whole = block.table
        if whole is None and not block.rows and len(block.default or ()) > cards[-1]:
            # Some files call a whole table the default.
            whole = np.array(block.default)
        if whole is not None:
            values = _child_fastest(whole, cards)
            return DeclaredTable(child, parents, values, block.line)
        values, lines = self._filled(block, family, cards)
        return DeclaredTable(child, parents, values, block.line, lines)

    def _filled(
        self, block: ProbabilityBlock, family: tuple[int, ...], cards: tuple[int, ...]
    ) -> tuple[NDArray[np.float64], list[int]]:
        """The rows of a block in the order of the parents' states, and their lines."""
        n_rows = prod(cards[:-1])
        self._check_room(block, family, n_rows * cards[-1], n_rows)
        values = np.empty((n_rows, cards[-1]))
        lines = [block.line] * n_rows
        given = np.zeros(n_rows, dtype=bool)
        codes = [self.variables.codes(parent) for parent in family[:-1]]
        backwards = itertools.accumulate(cards[-2:0:-1], operator.mul, initial=1)
        strides = list(backwards)[::-1]
        for key, row, line in block.rows:
            at = self._row_index(family, key, line, codes, strides)
            self._check_length(family, row, cards[-1], line)
            if given[at]:
                problem = f"the row for ({_listed(key)}) is given twice; leave one"
                raise NetworkFileError(self.variables.file, line, problem)
            values[at], lines[at], given[at] = row, line, True
        if block.default is not None:
            self._check_length(family, block.default, cards[-1], block.line)
            values[~given] = block.default
        elif not given.all():
            raise self._lacking(block, family, cards, int(np.argmin(given)))
        return values, lines

    def _check_room(
        self,
        block: ProbabilityBlock,
        family: tuple[int, ...],
        n_cells: int,
        n_rows: int,
    ) -> None:
        """Raise if a small block stands for a table that no memory would hold."""
        if block.default is not None:
            self.n_cells_from_defaults += n_cells
        lacks_rows = block.default is None and n_rows > len(block.rows)
        if self.n_cells_from_defaults > MAX_TABLE_CELLS or (
            lacks_rows and n_cells > MAX_TABLE_CELLS
        ):
            raise NetworkFileError(
                self.variables.file,
                block.line,
                f"the table of {self._shown(family[-1])} has "
                f"{counted(n_rows)} rows, but only {len(block.rows)} are given; give "
                "it fewer parents",
            )

    def _row_index(
        self,
        family: tuple[int, ...],
        key: list[str],
        line: int,
        codes: list[dict[str, int]],
        strides: list[int],
    ) -> int:
        """Position of the row for some states of the parents."""
        if len(codes) == 1 and (together := " ".join(key)) in codes[0]:
            key = [together]
        if len(key) != len(codes):
            raise NetworkFileError(
                self.variables.file,
                line,
                f"the row names {len(key)} states, but {self._shown(family[-1])} "
                f"has {len(codes)} parents",
            )
        position = 0
        for state, known, stride, parent in zip(
            key, codes, strides, family[:-1], strict=True
        ):
            if state not in known:
                listed = _listed(itertools.islice(known, 8))
                raise NetworkFileError(
                    self.variables.file,
                    line,
                    f"{quoted(state)} is no state of {self._shown(parent)}; its "
                    f"states are {listed}",
                )
            position += known[state] * stride
        return position

    def _check_length(
        self, family: tuple[int, ...], row: list[float], card: int, line: int
    ) -> None:
        """Raise unless a row has one number a state of the child."""
        if len(row) != card:
            raise NetworkFileError(
                self.variables.file,
                line,
                f"the row holds {len(row)} numbers, but {self._shown(family[-1])} has "
                f"{card} states",
            )

    def _lacking(
        self,
        block: ProbabilityBlock,
        family: tuple[int, ...],
        cards: tuple[int, ...],
        at: int,
    ) -> NetworkFileError:
        """The error about a row that is not given."""
        codes = np.unravel_index(at, cards[:-1]) if len(cards) > 1 else ()
        states = [
            self.variables.declared[parent].states[int(code)]
            for parent, code in zip(family[:-1], codes, strict=True)
        ]
        row = f"a row for ({_listed(states)})" if states else "a table"
        return NetworkFileError(
            self.variables.file,
            block.line,
            f"the probabilities of {self._shown(family[-1])} lack {row}; add it or a "
            "default",
        )

    def _shown(self, index: int) -> str:
        """A variable in an error."""
        return f"variable {quoted(self.variables.declared[index].name)}"


def _listed(names: Iterable[str]) -> str:
    """Names from a file in an error."""
    return ", ".join(quoted(name) for name in names)


def _child_fastest(
    table: NDArray[np.float64], cards: tuple[int, ...]
) -> NDArray[np.float64]:
    """A `table` entry with the child's axis last; see `read` for the order in files."""
    if len(cards) == 1 or table.size != prod(cards):
        return table
    slowest = table.reshape(cards[-1], -1).T
    fastest = table.reshape(-1, cards[-1])
    # Where rounding leaves both orders possible, the better one is meant.
    wrong, other = off_one(slowest), off_one(fastest)
    return (
        fastest if wrong > SUM_TOLERANCE and other < min(wrong, ROUNDING) else slowest
    )
