"""Netica's text format, DNET.

Norsys, "DNET file format". Parents are listed in the order of the axes, the first
slowest; the child's states are fastest.
"""

from __future__ import annotations

from collections.abc import Iterator

from bayleaf.io.formats.assemble import (
    DeclaredTable,
    DeclaredVariable,
    Variables,
    assembled_network,
    one_hot_table,
)
from bayleaf.io.formats.blocks import Block, read_blocks
from bayleaf.io.formats.full_tables import FullTable, network_writer, number_texts
from bayleaf.io.formats.lexer import Lexer, names_in, numbers_in, token_patterns
from bayleaf.io.formats.net import nested, value_names
from bayleaf.io.formats.safe_names import SafeNames, commented_notes, note_comments
from bayleaf.io.formats.source_file import NetworkFileError, quoted, text_reader
from bayleaf.models.bayesian_network import BayesianNetwork

_TOKENS = token_patterns("(){};=", ["//"])


@text_reader
def read(text: str, file: str, normalize: bool) -> BayesianNetwork:
    """Read a DNET file.

    Continuous nodes with levels have their intervals as states, unless these are named.
    """
    lexer = Lexer(text, file, _TOKENS)
    nets = [block for block in read_blocks(lexer) if block.header[0].text == "bnet"]
    if len(nets) != 1:
        problem = f"the file holds {len(nets)} blocks called bnet; give a file with one"
        raise NetworkFileError(lexer.file, None, problem)
    # ``node x`` or ``define node x``.
    nodes = [b for b in nets[0].blocks if "node" in [t.text for t in b.header[:2]]]
    notes = commented_notes(text)
    declared = [_variable(node, lexer, notes) for node in nodes]
    variables = Variables(declared, lexer.file)
    tables = [_table(node, lexer, variables, i) for i, node in enumerate(nodes)]
    return assembled_network(variables, tables, normalize=normalize)


@network_writer
def write(names: SafeNames, tables: Iterator[FullTable]) -> Iterator[str]:
    """Write a DNET file, with experience; comments keep all names."""
    yield "// ~->[DNET-1]->~\n\n"
    for index in range(len(names.domain)):
        yield from note_comments(names, index)
    yield "\nbnet network {\n"
    for table in tables:
        yield from _node_lines(names, table)
    yield "};\n"


def _variable(
    node: Block, lexer: Lexer, notes: dict[str, dict[str, str]]
) -> DeclaredVariable:
    """A node's name, kind and states."""
    name = node.header[-1].text
    kind = node.word("kind").upper()
    if node.values.get("delays") or node.values.get("timedelay"):
        raise node.error(
            lexer,
            f"node {quoted(name)} has links with a delay; dynamic networks cannot be "
            "read, so expand the network in Netica first",
        )
    states = names_in(lexer, node.values.get("states", []))
    levels = names_in(lexer, node.values.get("levels", []))
    if not states:
        n_states = node.word("numstates")
        is_continuous = node.word("discrete").upper() == "FALSE"
        if levels:
            states = value_names("interval" if is_continuous else "", levels)
        elif n_states.isdecimal() and len(n_states) < 5:
            states = [f"state{code}" for code in range(int(n_states))]
        elif is_continuous and kind == "NATURE":
            kind = "CONTINUOUS"
    lexer.check_n_states(len(states))
    plain = {"NATURE": "chance", "": "chance", "DECISION": "decision"}
    return DeclaredVariable(
        name, states, node.line, notes.get(name, {}), plain.get(kind, kind.lower())
    )


def _table(
    node: Block, lexer: Lexer, variables: Variables, index: int
) -> DeclaredTable:
    """A node's table."""
    name = variables.declared[index].name
    parents = names_in(lexer, node.values.get("parents", []))
    key = next((key for key in ("probs", "functable") if node.values.get(key)), None)
    if key is None:
        raise node.error(
            lexer,
            f"node {quoted(name)} has no table; let Netica make one from its equation "
            "or cases before saving",
        )
    tokens = node.values[key]
    line = lexer.line(tokens[0].start)
    if key == "functable":
        states = variables.declared[index].states
        by_index = {f"#{code}": state for code, state in enumerate(states)}
        results = [by_index.get(word, word) for word in names_in(lexer, tokens)]
        values = one_hot_table(results, variables, index, line)
        return DeclaredTable(name, parents, values, line)
    values = numbers_in(lexer, tokens)
    cases = node.values.get("numcases")
    counts = None if cases is None else numbers_in(lexer, cases)
    return DeclaredTable(name, parents, values, line, experience=counts)


def _node_lines(names: SafeNames, table: FullTable) -> Iterator[str]:
    """The block of a node."""
    states = ", ".join(names.states[table.child])
    parents = ", ".join(names.variables[parent] for parent in table.parents)
    yield f"\nnode {names.variables[table.child]} {{\n"
    yield "\tkind = NATURE;\n\tdiscrete = TRUE;\n\tchance = CHANCE;\n"
    yield f"\tstates = ({states});\n\tparents = ({parents});\n\tprobs =\n\t\t"
    cards = [len(names.states[parent]) for parent in table.parents]
    rows = (f"({', '.join(number_texts(row))})" for row in table.rows)
    yield from nested(rows, cards, between=",\n\t\t")
    yield ";\n"
    if table.experience is not None:
        yield "\tnumcases =\n\t\t"
        counts = iter(number_texts(table.experience))
        yield from nested(counts, cards or [1], between=",\n\t\t")
        yield ";\n"
    yield "};\n"
