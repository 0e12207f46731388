"""HUGIN's net language for networks of discrete variables.

Jensen and Kjærulff, "HUGIN API reference manual", chapter "The NET language".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bayleaf.decisions import InfluenceDiagram
from bayleaf.io.formats.assemble import (
    MAX_AXES,
    DeclaredTable,
    DeclaredVariable,
    Variables,
    assembled_network,
)
from bayleaf.io.formats.assemble_diagram import (
    ListedNode,
    assembled_diagram,
    diagram_writer,
)
from bayleaf.io.formats.full_tables import FullTable, network_writer, number_texts
from bayleaf.io.formats.lexer import (
    Lexer,
    Token,
    number_array,
    split_numbers,
    token_patterns,
)
from bayleaf.io.formats.safe_names import NOTE_PREFIX, NOTES, SafeNames, shown_text
from bayleaf.io.formats.source_file import (
    DecisionsError,
    NetworkFileError,
    quoted,
    text_reader,
)
from bayleaf.models.bayesian_network import BayesianNetwork

_TOKENS = token_patterns("(){};=|", ["%", "//"])
_NOTE_NAMES = {f"{NOTE_PREFIX}{key}": key for key in NOTES}
# What only influence diagrams, mixed and object-oriented networks hold.
_REFUSED = {"decision", "utility", "function", "instance", "continuous", "temporal"}
_DIAGRAM = ("node", "decision", "utility")
_MOST_LETTERS_OF_A_LABEL = 200


def parsed(text: str, file: str, normalize: bool = False) -> BayesianNetwork:
    """The network in the text of a net file; NetworkFileError names `file` and line.

    A class is read if it has no instances. A node without names of states gets them
    from its `state_values`. Intervals of other programs stay names, for those are
    closed on the left and ours on the right.
    """
    reader = _Reader(text, file)
    reader.read_blocks()
    variables = Variables([each for each, _ in reader.declared], file)
    return assembled_network(variables, reader.tables, normalize=normalize)


read = text_reader(parsed)


@text_reader
def read_diagram(text: str, file: str, normalize: bool) -> InfluenceDiagram:
    """Read a file with decisions and utilities; otherwise as `read`.

    A decision's potential lists what is observed before it; its numbers, which are a
    policy, are left out.
    """
    reader = _Reader(text, file, _DIAGRAM)
    reader.read_blocks()
    inner = [each for each, word in reader.declared if word != "utility"]
    return assembled_diagram(
        Variables(inner, file),
        reader.decisions,
        [each for each, word in reader.declared if word == "utility"],
        reader.tables,
        normalize=normalize,
    )


@diagram_writer
def write_diagram(names: SafeNames, nodes: Iterator[ListedNode]) -> Iterator[str]:
    """Write an influence diagram in HUGIN's net language."""
    words = {"chance": "node"}
    listed = list(nodes)
    cards = [len(states) for states in names.states]
    yield "net\n{\n}\n"
    for node in listed:
        word = words.get(node.kind, node.kind)
        yield from _node_lines(names, node.index, word)
    for node in listed:
        above = [cards[parent] for parent in node.parents]
        states = [cards[node.index]] if node.kind == "chance" else []
        yield f"{_potential_head(names, node.index, node.parents)}\n{{\n"
        if node.values is not None:
            numbers = iter(number_texts(node.values))
            yield "    data = "
            yield from nested(numbers, [*above, *states] or [1], between=" ")
            yield ";\n"
        yield "}\n"


def net_texts(names: SafeNames, tables: Iterator[FullTable]) -> Iterator[str]:
    """Nodes and potentials; attributes keep all names."""
    for index in range(len(names.domain)):
        yield from _node_lines(names, index)
    for table in tables:
        yield from _potential_lines(names, table)


@partial(network_writer, at_least_two=True)
def write(names: SafeNames, tables: Iterator[FullTable]) -> Iterator[str]:
    """Write a network in HUGIN's net language."""
    yield "net\n{\n}\n"
    yield from net_texts(names, tables)


class _Reader:
    """Takes a net file apart into its nodes and potentials."""

    def __init__(self, text: str, file: str, words: Sequence[str] = ("node",)) -> None:
        self.lexer = Lexer(text, file, _TOKENS)
        self.words = words
        self.declared: list[tuple[DeclaredVariable, str]] = []  # with its word
        self.decisions: set[str] = set()
        self.tables: list[DeclaredTable] = []

    def read_blocks(self) -> None:
        """Read all blocks of the file."""
        lexer = self.lexer
        in_class = has_class = False
        while lexer.ahead.kind != "end":
            start = lexer.ahead
            if in_class and lexer.skip_sign("}"):
                in_class = False
            elif start.text == "net" and start.kind == "word" and not in_class:
                lexer.take()
                lexer.expect("{", 'after "net"')
                self._attributes({})
            elif start.text == "class" and start.kind == "word" and not in_class:
                if has_class:
                    problem = "a second class starts here; save the one that is meant"
                    raise lexer.error(start.start, f"{problem} in a file of its own")
                lexer.take()
                lexer.name("the name of the class")
                lexer.expect("{", "after the name of the class")
                in_class = has_class = True
            else:
                self._block(in_class)
        if in_class:
            raise lexer.unexpected(lexer.ahead, 'a "}" that closes the class')

    def _block(self, in_class: bool) -> None:
        """Read one node or potential, or an attribute of a class."""
        lexer = self.lexer
        start = lexer.ahead
        if start.kind != "word":
            raise lexer.unexpected(start, '"net", "node" or "potential"')
        lexer.take()
        if in_class and lexer.skip_sign("="):
            lexer.skip_statement()
            return
        kind = start
        if start.text in {"discrete", "continuous"}:
            kind = lexer.name('"node"')
        refused = [
            t for t in (start, kind) if t.text in _REFUSED.difference(self.words)
        ]
        if refused:
            remedy = "; unroll the network" if refused[0].text == "temporal" else ""
            what = f"a block of kind {quoted(refused[0].text)} stands here"
            if refused[0].text in _DIAGRAM:
                raise DecisionsError(lexer.file, lexer.line(start.start), what)
            raise lexer.error(
                start.start,
                f"{what}, but only networks of discrete nodes can be read{remedy}",
            )
        if kind.text in self.words:
            self._node(start, kind.text)
        elif kind.text == "potential":
            self._potential(start)
        else:
            raise lexer.unexpected(kind, '"net", "node" or "potential"')

    def _attributes(self, readers: dict[str, Callable[[], None]]) -> None:
        """Read attributes up to a closing brace; those without a reader are skipped."""
        lexer = self.lexer
        while not lexer.skip_sign("}"):
            name = lexer.name('an attribute or "}"')
            lexer.expect("=", f"after attribute {quoted(name.text)}")
            if name.text not in readers:
                lexer.skip_statement()
                continue
            readers[name.text]()
            lexer.expect(";", f"after the value of {quoted(name.text)}")

    def _node(self, start: Token, word: str) -> None:
        """Read a node, a decision or a utility."""
        lexer = self.lexer
        name = lexer.name("the name of a node").text
        lexer.expect("{", f"after the name of node {quoted(name)}")
        lists: dict[str, list[str]] = {}
        texts: dict[str, str] = {}

        def reads_list(key: str) -> Callable[[], None]:
            return lambda: lists.update({key: self._name_list()})

        def reads_text(key: str) -> Callable[[], None]:
            return lambda: texts.update({key: lexer.name("a value").text})

        self._attributes(
            {
                **{key: reads_list(key) for key in ("states", "state_values")},
                **{key: reads_text(key) for key in ("subtype", *_NOTE_NAMES)},
            }
        )
        states = lists.get("states")
        line = lexer.line(start.start)
        if states is None:
            subtype = texts.pop("subtype", "")
            states = value_names(subtype, lists.get("state_values", []))
        notes = {key: texts[note] for note, key in _NOTE_NAMES.items() if note in texts}
        if word == "decision":
            self.decisions.add(name)
        self.declared.append((DeclaredVariable(name, states, line, notes), word))

    def _name_list(self) -> list[str]:
        """Read names in parentheses."""
        lexer = self.lexer
        names: list[str] = []
        lexer.expect("(", "before the list")
        while not lexer.skip_sign(")"):
            lexer.check_n_states(len(names))
            names += self._names()
        return names

    def _names(self) -> list[str]:
        """Read a name, several numbers that serve as names, or a comma."""
        lexer = self.lexer
        if lexer.skip_sign(","):
            return []
        if lexer.ahead.kind == "numbers":
            return split_numbers(lexer.take().text)
        return [lexer.name('a name or ")"').text]

    def _potential(self, start: Token) -> None:
        """Read a potential."""
        lexer = self.lexer
        lexer.expect("(", 'after "potential"')
        children: list[str] = []
        parents: list[str] = []
        names = children
        while not lexer.skip_sign(")"):
            if names is children and lexer.skip_sign("|"):
                names = parents
            names += self._names() if not lexer.at_sign(")") else []
        if len(children) != 1:
            raise lexer.error(
                start.start,
                f"the potential is over {len(children)} nodes; only conditional "
                "probabilities of one node can be read",
            )
        lexer.expect("{", "after the nodes of the potential")
        numbers: dict[str, NDArray[np.float64]] = {}

        def reads_numbers(key: str) -> Callable[[], None]:
            return lambda: numbers.update({key: self._nested_numbers()})

        self._attributes({key: reads_numbers(key) for key in ("data", "experience")})
        line = lexer.line(start.start)
        if children[0] in self.decisions:
            numbers = {"data": np.empty(0)}
        if "data" not in numbers:
            raise NetworkFileError(
                lexer.file,
                line,
                f"the potential of node {quoted(children[0])} has no data; compute "
                "its table from the expression before saving",
            )
        self.tables.append(
            DeclaredTable(
                children[0],
                parents,
                numbers["data"],
                line,
                experience=numbers.get("experience"),
            )
        )

    def _nested_numbers(self) -> NDArray[np.float64]:
        """Read numbers in nested parentheses up to a semicolon, which is left."""
        lexer = self.lexer
        runs: list[str] = []
        opened: list[Token] = []
        while not lexer.at_sign(";"):
            token = lexer.ahead
            if token.kind == "numbers":
                runs.append(token.text)
            elif lexer.at_sign("(") and len(opened) < MAX_AXES:
                opened.append(token)
            elif lexer.at_sign(")") and opened:
                opened.pop()
            elif not lexer.at_sign(","):
                raise lexer.unexpected(token, 'a number, a parenthesis or ";"')
            lexer.take()
        if opened:
            problem = "a parenthesis is opened here and never closed"
            raise lexer.error(opened[-1].start, problem)
        return number_array(" ".join(runs))


def value_names(subtype: str, values: Sequence[str]) -> list[str]:
    """Names of states that are known by their values alone."""
    if subtype == "boolean":
        return ["false", "true"]
    if subtype == "interval":
        return [f"[{low}, {high})" for low, high in pairwise(values)]
    return list(values)


def _node_lines(names: SafeNames, index: int, word: str = "node") -> Iterator[str]:
    """The block of a node, a decision or a utility."""
    variable = names.domain[index]
    notes = names.notes(index)
    yield f"{word} {names.variables[index]}\n{{\n"
    if "name" in notes:
        shown = shown_text(str(variable.name)[:_MOST_LETTERS_OF_A_LABEL])
        yield f'    label = "{shown}";\n'
    if word != "utility":
        states = " ".join(f'"{state}"' for state in names.states[index])
        yield f"    states = ({states});\n"
    # HUGIN shows these as the descriptions of states.
    for code, meaning in enumerate(names.meanings(index)):
        yield f'    HR_State_{code} = "{meaning}";\n'
    for key, note in notes.items():
        yield f'    {NOTE_PREFIX}{key} = "{note}";\n'
    yield "}\n"


def _potential_head(names: SafeNames, child: int, parents: Sequence[int]) -> str:
    """The nodes of a potential."""
    above = " ".join(names.variables[parent] for parent in parents)
    return f"potential ({names.variables[child]}{f' | {above}' if above else ''})"


def _potential_lines(names: SafeNames, table: FullTable) -> Iterator[str]:
    """The block of a potential."""
    yield f"{_potential_head(names, table.child, table.parents)}\n{{\n"
    parent_cards = [len(names.states[parent]) for parent in table.parents]
    rows = (" ".join(number_texts(row)) for row in table.rows)
    yield "    data = "
    yield from nested((f"({row})" for row in rows), parent_cards)
    yield ";\n"
    if table.experience is not None:
        counts = iter(number_texts(table.experience))
        yield "    experience = "
        yield from nested(counts, parent_cards or [1], between=" ")
        yield ";\n"
    yield "}\n"


def nested(
    items: Iterator[str], cards: Sequence[int], between: str = "\n            "
) -> Iterator[str]:
    """Items in the parentheses of a table with some axes, the last one fastest."""
    yield "(" * len(cards)
    for position, item in enumerate(items):
        closed = 0
        step = 1
        for card in reversed(cards):
            step *= card
            closed += position % step == 0
        if position:
            yield ")" * closed + between + "(" * closed
        yield item
    yield ")" * len(cards)
