"""GeNIe's older DSL files, which are read and no longer written.

SMILE's documentation calls them the predecessor of XDSL. Parents stand in the order of
PARENTS, the first slowest; the child's states are fastest.
"""

from __future__ import annotations

from typing import NamedTuple

from bayleaf.io.formats.assemble import (
    DeclaredTable,
    DeclaredVariable,
    Variables,
    assembled_network,
    one_hot_table,
)
from bayleaf.io.formats.lexer import Lexer, Token, names_in, numbers_in, token_patterns
from bayleaf.io.formats.source_file import NetworkFileError, quoted, text_reader
from bayleaf.models.bayesian_network import BayesianNetwork

_TOKENS = token_patterns("(){};=", ["//"])
# GeNIe nests four deep.
_MAX_DEPTH = 50
_READ = {"CPT", "TRUTHTABLE"}
_TO_GENERAL = "save the network as XDSL with general tables"


class _Node(NamedTuple):
    """What the file says of one node."""

    name: str
    line: int
    kind: str
    values: dict[str, list[Token]]


@text_reader
def read(text: str, file: str, normalize: bool) -> BayesianNetwork:
    """Read a DSL file of GeNIe 1 or 2; nodes are called by their identifiers."""
    reader = _Reader(text, file)
    nodes = reader.nodes()
    variables = Variables([reader.variable(node) for node in nodes], file)
    tables = [reader.table(node, variables) for node in nodes]
    return assembled_network(variables, tables, normalize=normalize)


class _Reader:
    """Takes a DSL text apart into its nodes."""

    def __init__(self, text: str, file: str) -> None:
        self.lexer = Lexer(text, file, _TOKENS)

    def nodes(self) -> list[_Node]:
        """All nodes of the file."""
        lexer = self.lexer
        if lexer.ahead.text != "net":
            raise lexer.unexpected(lexer.ahead, '"net"')
        while not lexer.skip_sign("{"):
            if lexer.ahead.kind in {"end", "sign"}:
                raise lexer.unexpected(lexer.ahead, '"{" after the name of the network')
            lexer.take()
        nodes = []
        while not lexer.skip_sign("}"):
            start = lexer.name('an attribute, a node or "}"')
            if start.kind == "word" and start.text == "node" and not lexer.at_sign("="):
                nodes.append(self._node(start))
            else:
                self._value(start, {}, 1)
        return nodes

    def _node(self, start: Token) -> _Node:
        """One node; only what stands in its own block and its definition is kept."""
        lexer = self.lexer
        name = lexer.name("the name of a node").text
        lexer.expect("{", f"after the name of node {quoted(name)}")
        values: dict[str, list[Token]] = {}
        self._attributes(values, 1)
        lexer.skip_sign(";")
        kind = values.get("TYPE", [])
        text = kind[0].text if kind else ""
        return _Node(name, lexer.line(start.start), text, values)

    def _attributes(self, values: dict[str, list[Token]], depth: int) -> None:
        """Read attributes up to a closing brace; those of a definition are kept."""
        lexer = self.lexer
        while not lexer.skip_sign("}"):
            name = lexer.name('an attribute or "}"')
            if name.text == "node" and lexer.ahead.kind == "word":
                # Lists of costs name nodes in this way.
                lexer.take()
            self._value(name, values, depth)

    def _value(self, name: Token, values: dict[str, list[Token]], depth: int) -> None:
        """Read what an attribute says, with the block that it may be."""
        lexer = self.lexer
        if depth > _MAX_DEPTH:
            raise lexer.error(name.start, "blocks are nested too deeply for a network")
        lexer.skip_sign("=")
        if lexer.skip_sign("{"):
            # What other blocks say under the same names is about drawing and diagnosis.
            inner = values if name.text == "DEFINITION" else {}
            self._attributes(inner, depth + 1)
            lexer.skip_sign(";")
            return
        tokens = []
        while not lexer.skip_sign(";"):
            if lexer.ahead.kind == "end" or lexer.at_sign("}"):
                raise lexer.error(name.start, 'the attribute lacks a ";" at its end')
            tokens.append(lexer.take())
        values.setdefault(name.text, tokens)

    def variable(self, node: _Node) -> DeclaredVariable:
        """A node's name and states as the file declares them."""
        if node.kind not in _READ:
            raise self._error(
                node,
                f"is of the type {quoted(node.kind)}, but only chance nodes with "
                f"tables can be read; {_TO_GENERAL}",
            )
        states = names_in(self.lexer, node.values.get("NAMESTATES", []))
        self.lexer.check_n_states(len(states))
        return DeclaredVariable(node.name, states, node.line)

    def table(self, node: _Node, variables: Variables) -> DeclaredTable:
        """A node's table as the file declares it."""
        parents = names_in(self.lexer, node.values.get("PARENTS", []))
        key = "RESULTINGSTATES" if node.kind == "TRUTHTABLE" else "PROBABILITIES"
        tokens = node.values.get(key)
        if not tokens:
            raise self._error(node, f"lacks {key}; add them")
        line = self.lexer.line(tokens[0].start)
        if node.kind == "TRUTHTABLE":
            index = variables.index(node.name, node.line, "which has a table")
            results = names_in(self.lexer, tokens)
            values = one_hot_table(results, variables, index, line)
        else:
            values = numbers_in(self.lexer, tokens)
        return DeclaredTable(node.name, parents, values, line)

    def _error(self, node: _Node, problem: str) -> NetworkFileError:
        """An error about a node."""
        told = f"node {quoted(node.name)} {problem}"
        return NetworkFileError(self.lexer.file, node.line, told)
