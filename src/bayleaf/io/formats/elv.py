"""Elvira's text format.

Elvira Consortium (2002), "Elvira: an environment for creating and using probabilistic
graphical models". A relation lists its variable before the parents; the table has the
first of them slowest, so that the states of the child are slowest.
"""

from __future__ import annotations

from collections.abc import Iterator

from bayleaf.io.formats.assemble import (
    DeclaredTable,
    DeclaredVariable,
    Variables,
    assembled_network,
)
from bayleaf.io.formats.blocks import Block, read_blocks
from bayleaf.io.formats.full_tables import FullTable, network_writer, number_texts
from bayleaf.io.formats.lexer import Lexer, names_in, numbers_in, token_patterns
from bayleaf.io.formats.safe_names import SafeNames, commented_notes, note_comments
from bayleaf.io.formats.source_file import NetworkFileError, quoted, text_reader
from bayleaf.io.formats.table_orders import in_one_order
from bayleaf.models.bayesian_network import BayesianNetwork

_TOKENS = token_patterns("(){};=", ["//"])
_DEFAULT_STATES = "default node states"


@text_reader
def read(text: str, file: str, normalize: bool) -> BayesianNetwork:
    """Read an Elvira file.

    Where some table gives distributions only with the child fastest, all are read so.
    """
    lexer = Lexer(text, file, _TOKENS)
    nets = read_blocks(lexer)
    if len(nets) != 1 or nets[0].header[0].text != "bnet":
        kinds = ", ".join(quoted(net.header[0].text) for net in nets[:3])
        raise NetworkFileError(
            lexer.file,
            nets[0].line if nets else None,
            f'the file should hold one block "bnet", but holds {kinds or "none"}; '
            "decisions and time slices cannot be read",
        )
    notes = commented_notes(text)
    default = nets[0].values.get(_DEFAULT_STATES, [])
    states = names_in(lexer, default)
    declared = [_variable(node, lexer, states, notes) for node in nets[0].named("node")]
    variables = Variables(declared, lexer.file)
    tables = [_table(block, lexer) for block in nets[0].named("relation")]
    lines = {table.line for table in tables}
    ordered = in_one_order(tables, lines, variables)
    return assembled_network(variables, ordered, normalize=normalize)


@network_writer
def write(names: SafeNames, tables: Iterator[FullTable]) -> Iterator[str]:
    """Write an Elvira file, without experience; comments keep all names."""
    yield "// Bayesian Network\n//   Elvira format\n\n"
    for index in range(len(names.domain)):
        yield from note_comments(names, index)
    yield '\nbnet "network" {\n\nkindofgraph = "directed";\nversion = 1.0;\n'
    for index, states in enumerate(names.states):
        yield f"\nnode {names.variables[index]}(finite-states) {{\n"
        yield "kind-of-node = chance;\ntype-of-variable = finite-states;\n"
        listed = " ".join(f'"{state}"' for state in states)
        yield f"num-states = {len(states)};\nstates = ({listed});\n}}\n"
    yield "\n"
    listed_tables = list(tables)
    for table in listed_tables:
        for parent in table.parents:
            yield f"link {names.variables[parent]} {names.variables[table.child]};\n"
    for table in listed_tables:
        yield from _relation_lines(names, table)
    yield "}\n"


def _variable(
    node: Block, lexer: Lexer, default: list[str], notes: dict[str, dict[str, str]]
) -> DeclaredVariable:
    """A node's name, kind and states."""
    name, *types = names_in(lexer, node.header[1:]) or [""]
    kind = node.word("kind-of-node") or "chance"
    variable_type = node.word("type-of-variable") or (types or ["finite-states"])[0]
    if kind == "chance" and variable_type != "finite-states":
        kind = variable_type
    listed = names_in(lexer, node.values.get("states", []))
    lexer.check_n_states(len(listed))
    return DeclaredVariable(
        name, listed or default, node.line, notes.get(name, {}), kind
    )


def _table(block: Block, lexer: Lexer) -> DeclaredTable:
    """The table of a relation, in the file's order."""
    names = names_in(lexer, block.header[1:])
    tokens = block.values.get("values", [])
    if not names:
        raise block.error(lexer, "the relation names no variable; add its name")
    if not tokens or tokens[0].text != "table":
        raise block.error(
            lexer,
            f"the relation of {quoted(names[0])} is not a table; let Elvira or "
            "OpenMarkov convert it to one",
        )
    values = numbers_in(lexer, tokens[1:])
    return DeclaredTable(names[0], names[1:], values, block.line)


def _relation_lines(names: SafeNames, table: FullTable) -> Iterator[str]:
    """The relation of a variable, its states slowest."""
    family = " ".join(
        names.variables[member] for member in (table.child, *table.parents)
    )
    yield f"\nrelation {family} {{\nkind-of-relation = potential;\n"
    yield "deterministic = false;\nvalues = table ("
    yield from (f"\n  {' '.join(number_texts(column))}" for column in table.rows.T)
    yield ");\n}\n"
