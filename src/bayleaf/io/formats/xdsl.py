"""Networks as GeNIe's XDSL: nodes with tables, and how GeNIe draws them.

Source: BayesFusion, GeNIe Modeler manual, "XDSL file format". Parents stand in the
order of <parents>, the first slowest; the child's states are fastest. Identifiers are
safe names; GeNIe shows the true ones, which properties keep for reading back.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bayleaf.graph.dag import DAG
from bayleaf.io.atomic import text_file
from bayleaf.io.formats.assemble import (
    DeclaredTable,
    DeclaredVariable,
    Variables,
    assembled_network,
    one_hot_table,
)
from bayleaf.io.formats.full_tables import (
    MAX_TABLE_CELLS,
    FullTable,
    full_tables,
    number_texts,
)
from bayleaf.io.formats.safe_names import NOTE_PREFIX, NOTES, SafeNames
from bayleaf.io.formats.source_file import AGRUM_TURNS_PARENTS, MAX_BYTES, quoted
from bayleaf.io.formats.xml_elements import (
    XmlElement,
    notes_of,
    read_xml,
    xml_attributes,
    xml_holds,
    xml_text,
)
from bayleaf.models.bayesian_network import BayesianNetwork

_EXPERIENCE = "experience"
_LOGGER = logging.getLogger("bayleaf")
# Size of a node on GeNIe's canvas and the room between nodes, in its units.
_WIDTH, _HEIGHT, _GAP = 100, 50, 40
_NODES_A_ROW = 20
_TO_GENERAL = "change its type to a general table"
# What GeNIe draws beside tables, and how to make it something that can be read.
_OTHER_NODES = {
    "noisymax": ("a noisy-MAX", _TO_GENERAL),
    "noisyadder": ("a noisy adder", _TO_GENERAL),
    "demorgan": ("a De Morgan gate", _TO_GENERAL),
    "decision": ("a decision", "remove it or make it a chance node"),
    "utility": ("a utility", "remove it"),
    "mau": ("a multi-attribute utility", "remove it"),
    "equation": ("an equation", "discretize it into a chance node"),
}


def read(
    path: str | Path,
    *,
    max_bytes: int = MAX_BYTES,
    normalize: bool = False,
    max_table_cells: int = MAX_TABLE_CELLS,
) -> BayesianNetwork:
    """Read an XDSL file; nodes are called by their identifiers in files not of ours.

    `normalize` as in `RowSums`; `max_table_cells` limits the tables of deterministic
    nodes. NetworkFileError names file and line where nodes other than chance nodes with
    tables occur or the file exceeds `max_bytes`.
    """
    root = read_xml(path, "smile", "XDSL", max_bytes)
    dynamic = root.optional("dynamic")
    if dynamic is not None:
        raise dynamic.error(
            "the network is dynamic, which cannot be read; unroll it in GeNIe first"
        )
    nodes = root.one("nodes").children
    declared = [_variable(node) for node in nodes]
    variables = Variables(declared, Path(path).name)
    tables = [
        _table(node, variables, index, max_table_cells)
        for index, node in enumerate(nodes)
    ]
    apps = (
        genie.attributes.get("app", "")
        for extensions in root.all("extensions")
        for genie in extensions.all("genie")
    )
    is_of_agrum = any(app.startswith("aGrUM") for app in apps)
    if is_of_agrum and any(len(table.parents) > 1 for table in tables):
        _LOGGER.warning(AGRUM_TURNS_PARENTS, Path(path).name)
    return assembled_network(variables, tables, normalize=normalize)


def write(
    network: BayesianNetwork,
    path: str | Path,
    *,
    max_table_cells: int = MAX_TABLE_CELLS,
) -> None:
    """Write an XDSL file; an older file is replaced only when all is written.

    ValueError names a variable whose table exceeds `max_table_cells`, is not of
    distributions, or whose states do not fit a file.
    """
    tables = full_tables(network, max_table_cells)
    safe = SafeNames.for_network(network.domain)
    with text_file(path) as file:
        file.writelines(f"{line}\n" for line in _lines(safe, tables, network.dag))


def _variable(node: XmlElement) -> DeclaredVariable:
    """A node's name and states as the file declares them."""
    if node.tag not in ("cpt", "deterministic"):
        kind, remedy = _OTHER_NODES.get(
            node.tag, (f"of the kind <{node.tag[:60]}>", "make it a chance node")
        )
        name = quoted(node.attribute("id"))
        raise node.error(
            f"node {name} is {kind}, but only chance nodes with tables can be read; "
            f"{remedy}"
        )
    states = [state.attribute("id") for state in node.all("state")]
    notes = {key: text for key, text in _notes(node).items() if key in NOTES}
    return DeclaredVariable(node.attribute("id"), states, node.line, notes)


def _notes(node: XmlElement) -> dict[str, str]:
    """Our own properties of a node."""
    pairs = [(entry.attribute("id"), entry.text) for entry in node.all("property")]
    return notes_of(pairs, NOTE_PREFIX)


def _table(
    node: XmlElement, variables: Variables, index: int, max_table_cells: int
) -> DeclaredTable:
    """A node's table as the file declares it."""
    above = node.optional("parents")
    parents = [] if above is None else above.text.split()
    name = variables.declared[index].name
    if node.tag == "deterministic":
        results = node.one("resultingstates")
        states, line = results.text.split(), results.line
        values = one_hot_table(states, variables, index, line, max_table_cells)
        return DeclaredTable(name, parents, values, line)
    table = node.one("probabilities")
    experience = _notes(node).get(_EXPERIENCE)
    counts = None if experience is None else node.numbers(experience)
    return DeclaredTable(name, parents, table.numbers(), table.line, None, counts)


def _lines(safe: SafeNames, tables: Iterator[FullTable], dag: DAG) -> Iterator[str]:
    """Lines of a file."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<smile version="1.0" id="network" numsamples="1000" discsamples="10000">'
    yield "  <nodes>"
    for table in tables:
        yield f'    <cpt id="{safe.variables[table.child]}">'
        for state in safe.states[table.child]:
            yield f'      <state id="{state}" />'
        if table.parents:
            parents = " ".join(safe.variables[parent] for parent in table.parents)
            yield f"      <parents>{parents}</parents>"
        numbers = " ".join(number_texts(table.rows))
        yield f"      <probabilities>{numbers}</probabilities>"
        notes = safe.notes(table.child)
        if table.experience is not None:
            notes[_EXPERIENCE] = " ".join(number_texts(np.asarray(table.experience)))
        for key, text in notes.items():
            kept = xml_text(text)
            yield f'      <property id="{NOTE_PREFIX}{key}">{kept}</property>'
        yield "    </cpt>"
    yield "  </nodes>"
    yield "  <extensions>"
    genie = {"version": "1.0", "app": "bayleaf", "name": "network"}
    yield f"    <genie{xml_attributes(genie)}>"
    yield from (f"      {line}" for line in _drawing(safe, dag))
    yield "    </genie>"
    yield "  </extensions>"
    yield "</smile>"


def _drawing(safe: SafeNames, dag: DAG) -> Iterator[str]:
    """Lines that say what GeNIe shows of each node, and where."""
    positions = _positions(dag)
    for index, (left, top) in enumerate(positions):
        name = str(safe.domain[index].name)
        shown = name if name and xml_holds(name) else safe.variables[index]
        yield f'<node id="{safe.variables[index]}">'
        yield f"  <name>{xml_text(shown)}</name>"
        yield '  <interior color="e5f6f7" />'
        yield '  <outline color="000080" />'
        yield '  <font color="000000" name="Arial" size="8" />'
        yield f"  <position>{left} {top} {left + _WIDTH} {top + _HEIGHT}</position>"
        yield "</node>"


def _positions(dag: DAG) -> list[tuple[int, int]]:
    """Left and top of each node: below its parents, long rows broken."""
    layers = [0] * len(dag)
    for node in dag.order:
        layers[node] = max((layers[p] + 1 for p in dag.parents[node]), default=0)
    positions = [(0, 0)] * len(dag)
    row = 0
    for layer in range(max(layers, default=-1) + 1):
        members = [node for node, own in enumerate(layers) if own == layer]
        for place, node in enumerate(members):
            line, column = divmod(place, _NODES_A_ROW)
            left = _GAP + column * (_WIDTH + _GAP)
            positions[node] = left, _GAP + (row + line) * (_HEIGHT + _GAP)
        row += (len(members) - 1) // _NODES_A_ROW + 1
    return positions
