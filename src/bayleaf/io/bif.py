"""BIF, the interchange format for Bayesian networks.

Cozman (1998), "The interchange format for Bayesian networks", version 0.15.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.assemble import (
    DeclaredTable,
    DeclaredVariable,
    Variables,
    assembled_network,
)
from bayleaf.io.atomic import replacing
from bayleaf.io.distributions import SUM_TOLERANCE
from bayleaf.io.full_tables import (
    MAX_TABLE_CELLS,
    FullTable,
    full_tables,
    number_texts,
)
from bayleaf.io.lexer import Lexer, Token, number_array, token_pattern
from bayleaf.io.safe_names import NOTE_PREFIX, NOTES, SafeNames
from bayleaf.io.source_file import (
    MAX_BYTES,
    NetworkFileError,
    decoded,
    quoted,
    read_content,
)
from bayleaf.models.bayesian_network import BayesianNetwork

_TOKEN = token_pattern("(){}[]|;", "//")
_PIECE = re.compile(r",|[^\s,]+")
_NOTE = re.compile(
    rf'\s*{NOTE_PREFIX}({"|".join(NOTES)})\s*=\s*"?([^"]*?)"?\s*', re.DOTALL
)


def read(path: str | Path, *, max_bytes: int = MAX_BYTES) -> BayesianNetwork:
    """Read a network from a BIF file.

    Parameters
    ----------
    path : str or Path
        The file; names in it may stand in quotes, numbers may have commas between.
    max_bytes : int, default=2**28
        Larger files are refused.

    Raises
    ------
    NetworkFileError
        If the file cannot be used: one sentence with file and line.
    OSError
        If the file cannot be opened.

    Notes
    -----
    `table` entries of a variable with parents have the child slowest and the last
    parent fastest, as JavaBayes wrote them and pyAgrum and pgmpy read them. Where only
    the other order, child fastest, gives distributions, that one is taken.
    """
    file = Path(path).name
    return parsed(decoded(read_content(path, max_bytes), file), file)


def parsed(text: str, file: str) -> BayesianNetwork:
    """The network in the text of a BIF file; `file` is named in errors.

    Raises
    ------
    NetworkFileError
        If the text cannot be used: one sentence with file and line.
    """
    reader = _Reader(text, file)
    reader.read_blocks()
    variables = Variables(reader.variables, file)
    filler = _TableFiller(variables)
    tables = [filler.declared_table(block) for block in reader.blocks]
    return assembled_network(variables, tables)


def write(
    network: BayesianNetwork,
    path: str | Path,
    *,
    max_table_cells: int = MAX_TABLE_CELLS,
) -> None:
    """Write a network to a BIF file.

    Names that are no identifiers are replaced; properties keep them, and `read` brings
    them back. Experience is left out: the format has no place for it.

    Raises
    ------
    ValueError
        If a distribution would take more than `max_table_cells` cells as a table, or
        a state is of a type that files cannot hold; the variable is named.
    OSError
        If the file cannot be written.
    """
    names = SafeNames.for_network(network.domain)
    tables = full_tables(network, max_table_cells)
    with (
        replacing(path) as temporary,
        temporary.open("w", encoding="ascii", newline="\n") as out,
    ):
        out.write("network unknown {\n}\n")
        for index in range(len(network.domain)):
            out.writelines(_variable_lines(names, index))
        for table in tables:
            out.writelines(_table_lines(names, table))


@dataclass
class _Block:
    """One probability block as it stands in the file."""

    child: str
    parents: list[str]
    header: str
    line: int
    table: NDArray[np.float64] | None = None
    default: list[float] | None = None
    rows: list[tuple[list[str], list[float], int]] = field(default_factory=list)


class _Reader:
    """Takes a BIF text apart into its blocks."""

    def __init__(self, text: str, file: str) -> None:
        self.lexer = Lexer(text, file, _TOKEN)
        self.variables: list[DeclaredVariable] = []
        self.blocks: list[_Block] = []

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
        name = self._one_item("{", "the name of a variable")
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
        opening = lexer.expect("(", 'after "probability"')
        names = self._items("|)")
        header = lexer.text[opening.end : lexer.ahead.start].strip()
        if not names:
            raise lexer.unexpected(lexer.ahead, "the name of a variable")
        if lexer.skip_sign("|"):
            block = _Block(_unquoted(header), self._items(")"), header, 0)
        else:
            block = _Block(names[0], names[1:], header, 0)
        lexer.expect(")", "after the variables of the table")
        lexer.expect("{", "before the probabilities")
        block.line = lexer.line(start.start)
        while not lexer.skip_sign("}"):
            self._entry(block)
        self.blocks.append(block)

    def _entry(self, block: _Block) -> None:
        """Read one entry of a probability block."""
        lexer = self.lexer
        start = lexer.ahead
        if lexer.skip_sign("("):
            key = self._items(")", single=len(block.parents) == 1)
            lexer.expect(")", "after the states of the parents")
            block.rows.append((key, self._numbers(), lexer.line(start.start)))
        elif start.text in {"table", "default"}:
            lexer.take()
            if block.table is not None or (start.text == "default" and block.default):
                problem = f"the table of {quoted(block.child)} is given twice"
                raise lexer.error(start.start, f"{problem}; leave one")
            if start.text == "table":
                block.table = np.array(self._numbers())
            else:
                block.default = self._numbers()
        else:
            self._skip_property()

    def _numbers(self) -> list[float]:
        """Read numbers up to a semicolon."""
        lexer = self.lexer
        numbers: list[float] = []
        while not lexer.skip_sign(";"):
            if lexer.ahead.kind != "numbers" and not lexer.at_sign(","):
                raise lexer.unexpected(lexer.ahead, 'a number or ";"')
            numbers += number_array(lexer.take().text).tolist()
        return numbers

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

    def _one_item(self, closers: str, what: str) -> str:
        """Read one name, which may be several words, up to one of some signs."""
        items = self._items(closers, single=True)
        if not items:
            raise self.lexer.unexpected(self.lexer.ahead, what)
        return items[0]

    def _items(self, closers: str, *, single: bool = False) -> list[str]:
        """Read names up to one of some signs, which is left.

        Commas separate names of several words, as other programs write them; without
        commas each word is a name, or all are one if it must be a `single` one.
        """
        lexer = self.lexer
        groups: list[list[tuple[str, int, int]]] = [[]]
        while not (lexer.ahead.kind == "sign" and lexer.ahead.text in closers):
            token = lexer.ahead
            if token.kind == "end" or (token.kind == "sign" and token.text != ","):
                wanted = " or ".join(f'"{closer}"' for closer in closers)
                raise lexer.unexpected(token, wanted)
            for text, start, end in _pieces(lexer.take()):
                if text == "," and token.kind != "string":
                    groups.append([])
                else:
                    groups[-1].append((text, start, end))
        if len(groups) == 1 and not single:
            return [text for text, _, _ in groups[0]]
        return [
            group[0][0] if len(group) == 1 else lexer.text[group[0][1] : group[-1][2]]
            for group in groups
            if group
        ]


class _TableFiller:
    """Turns probability blocks into full tables.

    Parameters
    ----------
    variables : Variables
        What the file declares.
    """

    def __init__(self, variables: Variables) -> None:
        self.variables = variables
        self.n_cells_from_defaults = 0

    def declared_table(self, block: _Block) -> DeclaredTable:
        """The table of a block, the child fastest."""
        names = {variable.name for variable in self.variables.declared}
        child, parents = block.child, block.parents
        if _unquoted(block.header) in names:
            # A name of several words, which looked like a child and its parents.
            child = _unquoted(block.header)
            parents = block.parents if child == block.child else []
        family = self.variables.family(child, parents, block.line)
        cards = self.variables.cards(family)
        if block.table is not None:
            values = _child_fastest(block.table, cards)
            return DeclaredTable(child, parents, values, block.line)
        values, lines = self._filled(block, family, cards)
        return DeclaredTable(child, parents, values, block.line, lines)

    def _filled(
        self, block: _Block, family: tuple[int, ...], cards: tuple[int, ...]
    ) -> tuple[NDArray[np.float64], list[int]]:
        """The rows of a block in the order of the parents' states, and their lines."""
        n_rows = prod(cards[:-1])
        self._check_room(block, n_rows, cards[-1])
        values = np.empty((n_rows, cards[-1]))
        lines = [block.line] * n_rows
        given = np.zeros(n_rows, dtype=bool)
        codes = [self.variables.codes(parent) for parent in family[:-1]]
        strides = [prod(cards[i + 1 : -1]) for i in range(len(codes))]
        for key, row, line in block.rows:
            at = self._row_index(block, key, line, codes, strides)
            self._check_length(block, row, cards[-1], line)
            if given[at]:
                problem = f"the row for ({', '.join(key)}) is given twice; leave one"
                raise NetworkFileError(self.variables.file, line, problem)
            values[at], lines[at], given[at] = row, line, True
        if block.default is not None:
            self._check_length(block, block.default, cards[-1], block.line)
            values[~given] = block.default
        elif not given.all():
            raise self._lacking(block, family, cards, int(np.argmin(given)))
        return values, lines

    def _check_room(self, block: _Block, n_rows: int, card: int) -> None:
        """Raise if a small block stands for a table that no memory would hold."""
        if block.default is not None:
            self.n_cells_from_defaults += n_rows * card
        lacks_rows = block.default is None and n_rows > len(block.rows)
        if self.n_cells_from_defaults > MAX_TABLE_CELLS or (
            lacks_rows and n_rows * card > MAX_TABLE_CELLS
        ):
            raise NetworkFileError(
                self.variables.file,
                block.line,
                f"the table of variable {quoted(block.child)} has {n_rows:,} rows, "
                f"but only {len(block.rows):,} are given; give it fewer parents",
            )

    def _row_index(
        self,
        block: _Block,
        key: list[str],
        line: int,
        codes: list[dict[str, int]],
        strides: list[int],
    ) -> int:
        """Position of the row for some states of the parents."""
        if len(key) != len(codes):
            raise NetworkFileError(
                self.variables.file,
                line,
                f"the row names {len(key)} states, but variable {quoted(block.child)} "
                f"has {len(codes)} parents",
            )
        position = 0
        for state, known, stride, parent in zip(
            key, codes, strides, block.parents, strict=True
        ):
            if state not in known:
                listed = ", ".join(itertools.islice(known, 8))
                raise NetworkFileError(
                    self.variables.file,
                    line,
                    f"{quoted(state)} is no state of variable {quoted(parent)}; its "
                    f"states are {listed}",
                )
            position += known[state] * stride
        return position

    def _check_length(
        self, block: _Block, row: list[float], card: int, line: int
    ) -> None:
        """Raise unless a row has one number a state of the child."""
        if len(row) != card:
            raise NetworkFileError(
                self.variables.file,
                line,
                f"the row holds {len(row)} numbers, but variable "
                f"{quoted(block.child)} has {card} states",
            )

    def _lacking(
        self, block: _Block, family: tuple[int, ...], cards: tuple[int, ...], at: int
    ) -> NetworkFileError:
        """The error about a row that is not given."""
        codes = np.unravel_index(at, cards[:-1]) if len(cards) > 1 else ()
        states = [
            self.variables.declared[parent].states[int(code)]
            for parent, code in zip(family[:-1], codes, strict=True)
        ]
        row = f"a row for ({', '.join(states)})" if states else "a table"
        return NetworkFileError(
            self.variables.file,
            block.line,
            f"the probabilities of variable {quoted(block.child)} lack {row}; add it "
            "or a default",
        )


def _pieces(token: Token) -> Iterator[tuple[str, int, int]]:
    """The names and commas in a token, each with its place."""
    if token.kind != "numbers":
        yield token.text, token.start, token.end
        return
    for match in _PIECE.finditer(token.text):
        yield match[0], token.start + match.start(), token.start + match.end()


def _unquoted(text: str) -> str:
    """A name without the quotes around it."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _child_fastest(
    table: NDArray[np.float64], cards: tuple[int, ...]
) -> NDArray[np.float64]:
    """A `table` entry with the child's axis last; see `read` for the order in files."""
    if len(cards) == 1 or table.size != prod(cards):
        return table
    slowest = table.reshape(cards[-1], -1).T
    fastest = table.reshape(-1, cards[-1])
    if not _sums_to_one(slowest) and _sums_to_one(fastest):
        return fastest
    return slowest


def _sums_to_one(rows: NDArray[np.float64]) -> bool:
    """Whether all rows can be distributions."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((np.abs(rows.sum(axis=1) - 1.0) <= SUM_TOLERANCE).all())


def _variable_lines(names: SafeNames, index: int) -> Iterator[str]:
    """The block of a variable."""
    states = names.states[index]
    yield f"variable {names.variable(index)} {{\n"
    yield f"  type discrete [ {len(states)} ] {{ {', '.join(states)} }};\n"
    for key, note in names.notes(index).items():
        yield f'  property {NOTE_PREFIX}{key} = "{note}" ;\n'
    yield "}\n"


def _table_lines(names: SafeNames, table: FullTable) -> Iterator[str]:
    """The probability block of a variable."""
    child = names.variable(table.child)
    if not table.parents:
        yield f"probability ( {child} ) {{\n"
        yield f"  table {', '.join(number_texts(table.rows))};\n}}\n"
        return
    parents = ", ".join(names.variable(parent) for parent in table.parents)
    yield f"probability ( {child} | {parents} ) {{\n"
    keys = itertools.product(*(names.states[parent] for parent in table.parents))
    for key, row in zip(keys, table.rows, strict=True):
        yield f"  ({', '.join(key)}) {', '.join(number_texts(row))};\n"
    yield "}\n"
