"""Microsoft's DSC format of MSBN, which bnlearn reads and writes as well.

Parents are listed in the order of the axes; rows are named by the states' indices.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from bayleaf.io.formats.assemble import (
    DeclaredTable,
    DeclaredVariable,
    Variables,
    assembled_network,
)
from bayleaf.io.formats.bif import ProbabilityBlock, TableFiller
from bayleaf.io.formats.full_tables import FullTable, network_writer, number_texts
from bayleaf.io.formats.lexer import Lexer, Token, names_in, token_patterns
from bayleaf.io.formats.safe_names import SafeNames, commented_notes, note_comments
from bayleaf.io.formats.source_file import quoted, text_reader
from bayleaf.models.bayesian_network import BayesianNetwork

_TOKENS = token_patterns("(){}[]|;:=", ["//"])


@text_reader
def read(text: str, file: str, normalize: bool) -> BayesianNetwork:
    """Read a DSC file."""
    reader = _Reader(text, file)
    reader.read_blocks()
    variables = Variables(reader.variables, file)
    filler = TableFiller(variables)
    tables = [_table(block, variables, filler) for block in reader.blocks]
    return assembled_network(variables, tables, normalize=normalize)


@network_writer
def write(names: SafeNames, tables: Iterator[FullTable]) -> Iterator[str]:
    """Write a DSC file, without experience; comments keep all names."""
    yield 'belief network "network"\n'
    for index, states in enumerate(names.states):
        yield from note_comments(names, index)
        listed = ", ".join(f'"{state}"' for state in states)
        yield f"node {names.variables[index]}\n{{\n"
        yield f"  type : discrete [ {len(states)} ] = {{ {listed} }};\n}}\n"
    for table in tables:
        yield from _probability_lines(names, table)


class _Reader:
    """Takes a DSC text apart into its nodes and probabilities."""

    def __init__(self, text: str, file: str) -> None:
        self.lexer = Lexer(text, file, _TOKENS)
        self.notes = commented_notes(text)
        self.variables: list[DeclaredVariable] = []
        self.blocks: list[ProbabilityBlock] = []

    def read_blocks(self) -> None:
        """Read all blocks of the file."""
        lexer = self.lexer
        readers = {"node": self._node, "probability": self._probability}
        while lexer.ahead.kind != "end":
            start = lexer.name('"belief network", "node" or "probability"')
            if start.kind == "word" and start.text in readers:
                readers[start.text](start)
                continue
            while lexer.ahead.kind not in {"sign", "end"} and (
                lexer.ahead.text not in readers
            ):
                lexer.take()
            if lexer.skip_sign("{"):
                self._skip_block(start)

    def _skip_block(self, start: Token) -> None:
        """Skip to behind the brace that closes a block."""
        depth = 1
        while depth:
            if self.lexer.ahead.kind == "end":
                raise self.lexer.error(start.start, "the block is never closed")
            token = self.lexer.take()
            if token.kind == "sign":
                depth += (token.text == "{") - (token.text == "}")

    def _node(self, start: Token) -> None:
        """Read a node."""
        lexer = self.lexer
        name = lexer.name("the name of a node").text
        lexer.expect("{", f"after the name of node {quoted(name)}")
        states: list[str] = []
        while not lexer.skip_sign("}"):
            word = lexer.name('an attribute or "}"')
            lexer.skip_sign(":")
            if word.text != "type" or states:
                lexer.skip_statement()
                continue
            kind = lexer.name("the type of the node").text
            if kind != "discrete":
                raise lexer.error(
                    start.start,
                    f"node {quoted(name)} is of kind {kind[:60]}, but only discrete "
                    "nodes can be read; make it one",
                )
            if lexer.skip_sign("["):
                lexer.name("the number of states")
                lexer.expect("]", "after the number of states")
            lexer.skip_sign("=")
            lexer.expect("{", "before the states")
            listed: list[Token] = []
            while not lexer.skip_sign("}"):
                lexer.check_n_states(len(listed))
                if not lexer.skip_sign(","):
                    is_run = lexer.ahead.kind == "numbers"
                    listed.append(lexer.take() if is_run else lexer.name("a state"))
            states = names_in(lexer, listed)
            lexer.skip_sign(";")
        line, notes = lexer.line(start.start), self.notes.get(name, {})
        self.variables.append(DeclaredVariable(name, states, line, notes))

    def _probability(self, start: Token) -> None:
        """Read the distributions of a node."""
        lexer = self.lexer
        lexer.expect("(", 'after "probability"')
        child = lexer.name("the name of a node").text
        parents = []
        if lexer.skip_sign("|"):
            parents = names_in(lexer, self._until(")"))
        lexer.expect(")", "after the nodes of the table")
        lexer.expect("{", "before the probabilities")
        block = ProbabilityBlock([child], parents, lexer.line(start.start))
        while not lexer.skip_sign("}"):
            line = lexer.line(lexer.ahead.start)
            if lexer.skip_sign("("):
                key = names_in(lexer, self._until(")"))
                lexer.expect(")", "after the indices of the parents' states")
                block.rows.append((key, self._row(), line))
            elif lexer.ahead.kind == "word" and lexer.ahead.text == "default":
                lexer.take()
                block.default = self._row()
            elif lexer.ahead.kind == "numbers" and block.table is None:
                block.table = np.array(self._row())
            else:
                raise lexer.unexpected(lexer.ahead, 'a row of probabilities or "}"')
        self.blocks.append(block)

    def _until(self, sign: str) -> list[Token]:
        """Take the tokens before a sign."""
        tokens = []
        while not self.lexer.at_sign(sign):
            if self.lexer.ahead.kind == "end" or self.lexer.at_sign("{"):
                raise self.lexer.unexpected(self.lexer.ahead, f'"{sign}"')
            tokens.append(self.lexer.take())
        return tokens

    def _row(self) -> list[float]:
        """Take the numbers of a row, to behind the semicolon."""
        if not self.lexer.skip_sign(":"):
            self.lexer.skip_sign("=")
        return self.lexer.numbers()


def _table(
    block: ProbabilityBlock, variables: Variables, filler: TableFiller
) -> DeclaredTable:
    """The table of a block, whose rows are named by indices of states."""
    family = variables.family(block.names[0], block.given or [], block.line)
    block.rows = [
        (filler.states_at(family, key, line), numbers, line)
        for key, numbers, line in block.rows
    ]
    return filler.declared_table(block)


def _probability_lines(names: SafeNames, table: FullTable) -> Iterator[str]:
    """The distributions of a node."""
    child = names.variables[table.child]
    if not table.parents:
        yield f"probability ( {child} )\n{{\n"
        yield f"  {', '.join(number_texts(table.rows))};\n}}\n"
        return
    parents = ", ".join(names.variables[parent] for parent in table.parents)
    yield f"probability ( {child} | {parents} )\n{{\n"
    cards = [len(names.states[parent]) for parent in table.parents]
    keys = itertools.product(*map(range, cards))
    for key, row in zip(keys, table.rows, strict=True):
        yield f"  ({', '.join(map(str, key))}) : {', '.join(number_texts(row))};\n"
    yield "}\n"
