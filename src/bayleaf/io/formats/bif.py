"""BIF, the interchange format for Bayesian networks.

Cozman (1998), "The interchange format for Bayesian networks", version 0.15.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.formats.assemble import (
    DeclaredTable,
    DeclaredVariable,
    Variables,
    assembled_network,
)
from bayleaf.io.formats.full_tables import (
    MAX_TABLE_CELLS,
    FullTable,
    network_writer,
    number_texts,
)
from bayleaf.io.formats.lexer import Lexer, Token, token_patterns
from bayleaf.io.formats.safe_names import NOTE_PREFIX, NOTES, SafeNames
from bayleaf.io.formats.source_file import (
    NetworkFileError,
    counted,
    quoted,
    text_reader,
)
from bayleaf.io.formats.table_orders import in_one_order
from bayleaf.models.bayesian_network import BayesianNetwork

_TOKENS = token_patterns("(){}[]|;", ["//"])
_PIECE = re.compile(r",|[^\s,]+")
_NOTE = re.compile(
    rf'\s*{NOTE_PREFIX}({"|".join(NOTES)})\s*=\s*"?([^"]*?)"?\s*', re.DOTALL
)


def parsed(text: str, file: str, normalize: bool = False) -> BayesianNetwork:
    """The network in the text of a BIF file; NetworkFileError names `file` and line.

    Names may be in quotes, numbers may have commas between. `table` entries of a
    variable with parents have the child slowest and the last parent fastest, as
    JavaBayes wrote them and pyAgrum and pgmpy read them. Where some table of the file
    gives distributions only in the other order, child fastest, all are read in that
    one.
    """
    reader = _Reader(text, file)
    reader.read_blocks()
    variables = Variables(reader.variables, file)
    filler = TableFiller(variables)
    tables = [filler.declared_table(block) for block in reader.blocks]
    tables = in_one_order(tables, filler.whole, variables)
    return assembled_network(variables, tables, normalize=normalize)


read = text_reader(parsed)


@partial(network_writer, at_least_two=True)
def write(names: SafeNames, tables: Iterator[FullTable]) -> Iterator[str]:
    """Write a network to a BIF file, without experience; properties keep all names."""
    yield "network unknown {\n}\n"
    for index in range(len(names.domain)):
        yield from _variable_lines(names, index)
    for table in tables:
        yield from _table_lines(names, table)


class _Reader:
    """Takes a BIF text apart into its blocks."""

    def __init__(self, text: str, file: str) -> None:
        self.lexer = Lexer(text, file, _TOKENS)
        self.variables: list[DeclaredVariable] = []
        self.blocks: list[ProbabilityBlock] = []

    def read_blocks(self) -> None:
        """Read all blocks of the file."""
        lexer = self.lexer
        readers = {
            "network": self._network,
            "variable": self._variable,
            "probability": self._probability,
        }
        while lexer.ahead.kind != "end":
            token = lexer.ahead
            if token.kind != "word" or token.text not in readers:
                wanted = '"network", "variable" or "probability"'
                raise lexer.unexpected(token, wanted)
            lexer.take()
            readers[token.text](token)

    def _network(self, start: Token) -> None:
        """Read the network block, whose properties mean nothing here."""
        if not self.lexer.at_sign("{"):
            self._items("{", single=True)
        self.lexer.expect("{", "after the network's name")
        while not self.lexer.skip_sign("}"):
            self._skip_property()

    def _variable(self, start: Token) -> None:
        """Read a variable block."""
        lexer = self.lexer
        words = self._items("{", single=True)
        if not words:
            raise lexer.unexpected(lexer.ahead, "the name of a variable")
        name = words[0]
        lexer.expect("{", f"after the name of variable {quoted(name)}")
        states: list[str] | None = None
        notes: dict[str, str] = {}
        while not lexer.skip_sign("}"):
            if lexer.ahead.text != "type":
                notes.update(self._skip_property())
            elif states is not None:
                problem = f"variable {quoted(name)} has a second type here; leave one"
                raise lexer.error(lexer.ahead.start, problem)
            else:
                states = self._type(name)
        line = lexer.line(start.start)
        self.variables.append(DeclaredVariable(name, states or (), line, notes))

    def _type(self, name: str) -> list[str]:
        """Read the states of a variable."""
        lexer = self.lexer
        start = lexer.take()
        kind = lexer.name("the type of the variable")
        if kind.text != "discrete":
            raise lexer.error(
                kind.start,
                f"variable {quoted(name)} is of type {quoted(kind.text)}; only "
                "discrete variables can be read",
            )
        count = None
        if lexer.skip_sign("["):
            count = lexer.name("the number of states").text
            lexer.expect("]", "after the number of states")
        lexer.expect("{", "before the states")
        states = self._items("}", single=count == "1")
        lexer.expect("}", "after the states")
        lexer.expect(";", "after the states")
        if count is not None and count != str(len(states)):
            raise lexer.error(
                start.start,
                f"variable {quoted(name)} should have {count[:20]} states, but "
                f"{len(states)} are listed",
            )
        return states

    def _probability(self, start: Token) -> None:
        """Read a probability block."""
        lexer = self.lexer
        lexer.expect("(", 'after "probability"')
        names = self._items("|)")
        if not names:
            raise lexer.unexpected(lexer.ahead, "the name of a variable")
        parents = self._items(")") if lexer.skip_sign("|") else None
        block = ProbabilityBlock(names, parents, lexer.line(start.start))
        lexer.expect(")", "after the variables of the table")
        lexer.expect("{", "before the probabilities")
        while not lexer.skip_sign("}"):
            self._entry(block)
        self.blocks.append(block)

    def _entry(self, block: ProbabilityBlock) -> None:
        """Read one entry of a probability block."""
        lexer = self.lexer
        start = lexer.ahead
        if lexer.skip_sign("("):
            key = self._items(")")
            lexer.expect(")", "after the states of the parents")
            block.rows.append((key, lexer.numbers(), lexer.line(start.start)))
        elif start.text in {"table", "default"}:
            lexer.take()
            if block.table is not None or (start.text == "default" and block.default):
                problem = f"the table of {quoted(block.names[0])} is given twice"
                raise lexer.error(start.start, f"{problem}; leave one")
            if start.text == "table":
                block.table = np.array(lexer.numbers())
            else:
                block.default = lexer.numbers()
        else:
            self._skip_property()

    def _skip_property(self) -> dict[str, str]:
        """Skip a property; a note of ours is returned by its name."""
        lexer = self.lexer
        if lexer.ahead.text != "property":
            raise lexer.unexpected(lexer.ahead, '"}" or an entry of the block')
        start = lexer.take()
        lexer.skip_statement()
        end = lexer.text.rfind(";", start.end, lexer.ahead.start)
        note = _NOTE.fullmatch(lexer.text, start.end, end)
        return {note[1]: note[2]} if note else {}

    def _items(self, closers: str, *, single: bool = False) -> list[str]:
        """Read names up to one of some signs, which is left.

        Commas separate names of several words, as other programs write them; without
        commas each word is a name, or all are one if it must be a `single` one. A name
        includes brackets with all in them, as in ``Small [<10 mm]`` or ``(0,10]``.
        """
        lexer = self.lexer
        groups: list[list[tuple[str, int, int]]] = [[]]
        n_open, joins = 0, False
        while n_open or not (
            lexer.ahead.kind == "sign" and lexer.ahead.text in closers
        ):
            token = lexer.ahead
            sign = token.text if token.kind == "sign" else ""
            # The braces of a variable come after brackets of its type.
            opens = closers != "{" and sign in {"[", "("}
            closes = n_open > 0 and sign in {"]", ")"}
            if token.kind == "end" or (sign and sign != "," and not opens | closes):
                wanted = " or ".join(f'"{closer}"' for closer in closers)
                raise lexer.unexpected(token, wanted)
            lexer.check_n_states(max(len(groups), len(groups[-1])))
            for text, start, end in _pieces(lexer.take()):
                group = groups[-1]
                # A bracket joins what it touches and all that it encloses.
                touches = bool(group) and group[-1][2] == start and sign != ","
                if n_open or (touches and (opens or joins)):
                    first = group.pop()[1] if group else start
                    group.append((lexer.text[first:end], first, end))
                elif text == "," and token.kind != "string":
                    groups.append([])
                else:
                    group.append((text, start, end))
            n_open += opens - closes
            joins = closes
        if len(groups) == 1 and not single:
            return [text for text, _, _ in groups[0]]
        return [
            group[0][0] if len(group) == 1 else lexer.text[group[0][1] : group[-1][2]]
            for group in groups
            if group
        ]


def _pieces(token: Token) -> Iterator[tuple[str, int, int]]:
    """The names and commas in a token, each with its place."""
    if token.kind != "numbers":
        yield token.text, token.start, token.end
        return
    for match in _PIECE.finditer(token.text):
        yield match[0], token.start + match.start(), token.start + match.end()


def _variable_lines(names: SafeNames, index: int) -> Iterator[str]:
    """The block of a variable."""
    states = names.states[index]
    yield f"variable {names.variables[index]} {{\n"
    yield f"  type discrete [ {len(states)} ] {{ {', '.join(states)} }};\n"
    for key, note in names.notes(index).items():
        yield f'  property {NOTE_PREFIX}{key} = "{note}" ;\n'
    yield "}\n"


def _table_lines(names: SafeNames, table: FullTable) -> Iterator[str]:
    """The probability block of a variable."""
    child = names.variables[table.child]
    if not table.parents:
        yield f"probability ( {child} ) {{\n"
        yield f"  table {', '.join(number_texts(table.rows))};\n}}\n"
        return
    parents = ", ".join(names.variables[parent] for parent in table.parents)
    yield f"probability ( {child} | {parents} ) {{\n"
    keys = itertools.product(*(names.states[parent] for parent in table.parents))
    for key, row in zip(keys, table.rows, strict=True):
        yield f"  ({', '.join(key)}) {', '.join(number_texts(row))};\n"
    yield "}\n"


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
        self.whole: set[int] = set()  # lines of blocks that are one `table` entry

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
            self.whole.add(block.line)
            return DeclaredTable(child, parents, whole, block.line)
        values, lines = self._filled(block, family, cards)
        return DeclaredTable(child, parents, values, block.line, lines)

    def states_at(
        self, family: tuple[int, ...], indices: list[str], line: int | None
    ) -> list[str]:
        """Names of the parents' states whose indices another format lists."""
        states = []
        for text, parent in zip(indices, family[:-1], strict=False):
            listed = self.variables.declared[parent].states
            if not text.isdecimal() or len(text) > 9 or int(text) >= len(listed):
                raise self.variables.error(
                    line,
                    f"{quoted(text)} is not the index of a state of "
                    f"{self._shown(parent)}; give one from 0 to {len(listed) - 1}",
                )
            states.append(listed[int(text)])
        return [*states, *indices[len(states) :]]

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
                raise self.variables.error(line, problem)
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
            raise self.variables.error(
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
            raise self.variables.error(
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
                raise self.variables.error(
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
            raise self.variables.error(
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
        return self.variables.error(
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
