"""The format of the UAI inference competitions, for Bayesian networks.

Source: "UAI model format" of the UAI 2008 to 2022 competitions. A file holds numbers
alone: cards, the variables of each function with the child last, and the tables with
the last variable fastest. Names stand in comments, from which `read` restores them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.given_tables import SUM_TOLERANCE
from bayleaf.data.domain import MAX_STATES
from bayleaf.io.formats.assemble import (
    MAX_AXES,
    ROUNDING,
    DeclaredTable,
    DeclaredVariable,
    Variables,
    assembled_network,
    off_one,
)
from bayleaf.io.formats.full_tables import (
    MAX_TABLE_CELLS,
    FullTable,
    network_writer,
    number_texts,
)
from bayleaf.io.formats.lexer import Lexer, Token, number_array, token_patterns
from bayleaf.io.formats.safe_names import NOTE_PREFIX, NOTES, SafeNames
from bayleaf.io.formats.source_file import (
    AGRUM_TURNS_PARENTS,
    NetworkFileError,
    counted,
    quoted,
    text_reader,
)
from bayleaf.models.bayesian_network import BayesianNetwork

_TOKENS = token_patterns(";", ["#"])
_IDENTIFIERS = "identifiers"
_NOTE = re.compile(
    rf"^# {NOTE_PREFIX}({'|'.join((_IDENTIFIERS, *NOTES))}) (\d{{1,9}}) (\S[^\n]*)$",
    re.MULTILINE,
)
_LAST_BLANK = ord(" ")
# pyAgrum puts the child's name behind the variables of each function.
_AGRUM = re.compile(r"^\d[\d ]{0,200} {2,9}# \S", re.MULTILINE)
_LOGGER = logging.getLogger("bayleaf")


@text_reader
def read(text: str, file: str, normalize: bool) -> BayesianNetwork:
    """Read a network from a UAI file of the kind BAYES.

    Variables of other programs are called ``v0``, ``v1``, ..., their states ``s0``, ...
    Where only the order of pgmpy 1.1.2 gives distributions, parents backwards and the
    child slowest, that one is taken for the whole file. A file that looks like one of
    pyAgrum 3.3.1, which has the first parent fastest, is logged.
    """
    numbers = _Numbers(text, file)
    cards = [
        numbers.whole("the number of states", 1, MAX_STATES)
        for _ in range(numbers.whole("the number of variables", 0, len(text)))
    ]
    families = _families(numbers, len(cards))
    variables = Variables(_declared(cards, _notes(text)), file)
    tables = [_table(numbers, variables, family) for family in families]
    numbers.expect_end()
    if _AGRUM.search(text) and any(len(table.parents) > 1 for table in tables):
        _LOGGER.warning(AGRUM_TURNS_PARENTS, file)
    return assembled_network(variables, _in_order(tables), normalize=normalize)


@partial(network_writer, at_least_two=True)
def write(names: SafeNames, tables: Iterator[FullTable]) -> Iterator[str]:
    """Write a network to a UAI file, without experience, with the names in comments.

    A variable with one state, which some readers refuse, gets a second of probability
    0.
    """
    listed = list(tables)
    yield f"BAYES\n{len(names.domain)}\n"
    yield " ".join(str(len(states)) for states in names.states) + f"\n{len(listed)}\n"
    for table in listed:
        family = (*table.parents, table.child)
        yield " ".join(map(str, (len(family), *family))) + "\n"
    for table in listed:
        yield f"\n{table.rows.size}\n"
        yield from (f"{' '.join(number_texts(row))}\n" for row in table.rows)
    yield "\n"
    for index in range(len(names.domain)):
        yield from _note_lines(names, index)


class _Numbers:
    """The numbers of a file in their order, each with its line."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self._lexer = Lexer(text, file, _TOKENS)
        kind = self._lexer.ahead
        if kind.text != "BAYES":
            problem = (
                f'a UAI file starts with "BAYES", but this one with {quoted(kind.text)}'
            )
            if kind.text == "MARKOV":
                problem = (
                    "the file holds a Markov network, whose functions are no "
                    "probabilities; only Bayesian networks, of the kind BAYES, can be "
                    "read"
                )
            raise self._lexer.error(kind.start, problem)
        self._lexer.take()
        self._runs: list[Token] = []
        while self._lexer.ahead.kind != "end":
            run = self._lexer.take()
            if run.kind != "numbers":
                raise self._lexer.unexpected(run, "a number")
            self._runs.append(run)
        parts = [number_array(run.text) for run in self._runs]
        self._values = np.concatenate([np.empty(0), *parts])
        self._at = 0

    def whole(self, what: str, least: int, most: int) -> int:
        """The next number, which has to be whole and within bounds."""
        if self._at == self._values.size:
            raise self.error(f"the file ends where {what} should stand; get it whole")
        value = float(self._values[self._at])
        if not value.is_integer() or not least <= value <= most:
            raise self.error(
                f"{what} should be an integer from {least} to {most:,}, but it is "
                f"{value:.6g}"
            )
        self._at += 1
        return int(value)

    def many(self, n_numbers: int) -> NDArray[np.float64]:
        """The next numbers."""
        if n_numbers > self._values.size - self._at:
            left = self._values.size - self._at
            raise self.error(
                f"a table of {n_numbers:,} numbers should stand here, but only "
                f"{left:,} are left; get the file whole"
            )
        self._at += n_numbers
        return self._values[self._at - n_numbers : self._at]

    def expect_end(self) -> None:
        """Raise an error if numbers are left."""
        if self._at < self._values.size:
            left = self._values.size - self._at
            raise self.error(f"{left:,} numbers are left after the last table")

    def line(self) -> int:
        """Line of the next number, or of the last one."""
        if not self._lines.size:
            return 1
        return int(self._lines[min(self._at, self._lines.size - 1)])

    @cached_property
    def _lines(self) -> NDArray[np.int64]:
        """Line of each number; by arrays, for a file may hold millions."""
        parts = [np.empty(0, dtype=np.int64)]
        for run in self._runs:
            letters = np.frombuffer(run.text.encode("utf-32-le"), dtype=np.uint32)
            between = (letters <= _LAST_BLANK) | (letters == ord(","))
            starts = np.flatnonzero(~between & np.concatenate([[True], between[:-1]]))
            breaks = np.flatnonzero(letters == ord("\n"))
            parts.append(self._lexer.line(run.start) + np.searchsorted(breaks, starts))
        return np.concatenate(parts)

    def error(self, problem: str) -> NetworkFileError:
        """An error that names the line of the next number."""
        return NetworkFileError(self.file, self.line(), problem)


def _families(numbers: _Numbers, n_variables: int) -> list[tuple[list[int], int]]:
    """The variables of each function, the child last, and the line they stand on."""
    n_functions = numbers.whole("the number of functions", 0, max(n_variables, 1))
    families = []
    for _ in range(n_functions):
        line = numbers.line()
        n_members = numbers.whole("the number of variables of a table", 1, MAX_AXES)
        members = [
            numbers.whole("a variable of a table", 0, n_variables - 1)
            for _ in range(n_members)
        ]
        families.append((members, line))
    return families


def _table(
    numbers: _Numbers, variables: Variables, family: tuple[list[int], int]
) -> DeclaredTable:
    """The table of a function, the child fastest."""
    members, line = family
    names = [variables.declared[member].name for member in members]
    cards = variables.cards(variables.family(names[-1], names[:-1], line))
    line = numbers.line()
    size = numbers.whole("the size of a table", 0, MAX_TABLE_CELLS)
    if size != prod(cards):
        raise variables.error(
            line,
            f"the table of variable {quoted(names[-1])} should hold {size:,} numbers, "
            f"but its states and those of its parents ask for {counted(prod(cards))}",
        )
    values = numbers.many(size).reshape(cards)
    return DeclaredTable(names[-1], names[:-1], values, line)


def _in_order(tables: list[DeclaredTable]) -> list[DeclaredTable]:
    """The tables as the format means them, or all as pgmpy writes them."""
    wrong = max((_off_one(table.values) for table in tables), default=0.0)
    if wrong <= SUM_TOLERANCE:
        return tables
    turned = [_turned(table) for table in tables]
    other = max(_off_one(table.values) for table in turned)
    return turned if other < min(wrong, ROUNDING) else tables


def _turned(table: DeclaredTable) -> DeclaredTable:
    """The table that pgmpy means: parents listed backwards, the child slowest."""
    cards = table.values.shape
    child_first = table.values.reshape((cards[-1], *cards[-2::-1]))
    values = np.ascontiguousarray(np.moveaxis(child_first, 0, -1))
    return replace(table, parents=table.parents[::-1], values=values)


def _off_one(values: NDArray[np.float64]) -> float:
    """How far the worst distribution is from summing to one."""
    return off_one(values.reshape(-1, values.shape[-1]))


def _notes(text: str) -> dict[int, dict[str, str]]:
    """Our own comments, by the variable that they are about."""
    found: dict[int, dict[str, str]] = {}
    for key, index, note in _NOTE.findall(text):
        found.setdefault(int(index), {})[key] = note.strip()
    return found


def _declared(
    cards: Sequence[int], notes: dict[int, dict[str, str]]
) -> list[DeclaredVariable]:
    """The variables, called as comments say or else by their numbers."""
    declared = []
    for index, card in enumerate(cards):
        own = dict(notes.get(index, {}))
        identifiers = own.pop(_IDENTIFIERS, "").split()
        if len(identifiers) != card + 1:
            # The comments are about another network.
            own, identifiers = {}, [f"v{index}", *(f"s{code}" for code in range(card))]
        declared.append(DeclaredVariable(identifiers[0], identifiers[1:], None, own))
    return declared


def _note_lines(names: SafeNames, index: int) -> Iterator[str]:
    """Comments that keep the names of a variable and of its states."""
    words = " ".join((names.variables[index], *names.states[index]))
    yield f"# {NOTE_PREFIX}{_IDENTIFIERS} {index} {words}\n"
    for key, note in names.notes(index).items():
        yield f"# {NOTE_PREFIX}{key} {index} {note}\n"
