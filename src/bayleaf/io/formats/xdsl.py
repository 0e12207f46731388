"""Networks as GeNIe's XDSL: nodes with tables, and how GeNIe draws them.

Source: BayesFusion, GeNIe Modeler manual, "XDSL file format". Parents stand in the
order of <parents>, the first slowest; the child's states are fastest. Identifiers are
safe names; GeNIe shows the true ones, which properties keep for reading back.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.decisions import InfluenceDiagram
from bayleaf.graph.dag import DAG
from bayleaf.io.formats.assemble import (
    DeclaredTable,
    DeclaredVariable,
    Variables,
    assembled_network,
    one_hot_table,
)
from bayleaf.io.formats.assemble_diagram import (
    ListedNode,
    assembled_diagram,
    diagram_writer,
)
from bayleaf.io.formats.full_tables import FullTable, number_texts
from bayleaf.io.formats.noisy_max import noisy_max_table
from bayleaf.io.formats.safe_names import NOTE_PREFIX, SafeNames
from bayleaf.io.formats.source_file import AGRUM_TURNS_PARENTS, DecisionsError, quoted
from bayleaf.io.formats.xml_elements import (
    XmlElement,
    notes_of,
    xml_attributes,
    xml_holds,
    xml_lines,
    xml_reader,
    xml_text,
    xml_writer,
)
from bayleaf.models.bayesian_network import BayesianNetwork

_EXPERIENCE = "experience"
_LOGGER = logging.getLogger("bayleaf")
# Size of a node on GeNIe's canvas and the room between nodes, in its units.
_WIDTH, _HEIGHT, _GAP = 100, 50, 40
_NODES_A_ROW = 20
# Kinds of nodes in influence diagrams, apart from those with tables.
_DIAGRAM = ("decision", "utility")
_OF_DECISIONS = {
    "decision": "a decision",
    "utility": "a utility",
    "mau": "a multi-attribute utility",
}
_TO_GENERAL = "change its type to a general table"
# What GeNIe draws beside tables, and how to make it something that can be read.
_OTHER_NODES = {
    "noisyadder": ("a noisy adder", _TO_GENERAL),
    "demorgan": ("a De Morgan gate", _TO_GENERAL),
    "equation": ("an equation", "discretize it into a chance node"),
}


@xml_reader("smile", "XDSL")
def read(root: XmlElement, normalize: bool) -> BayesianNetwork:
    """Read an XDSL file; nodes are called by their identifiers in files not of ours."""
    nodes = _static_nodes(root)
    variables = Variables([_variable(node) for node in nodes], root.file)
    tables = [_table(node, variables, index) for index, node in enumerate(nodes)]
    apps = (
        genie.attributes.get("app", "")
        for extensions in root.all("extensions")
        for genie in extensions.all("genie")
    )
    is_of_agrum = any(app.startswith("aGrUM") for app in apps)
    if is_of_agrum and any(len(table.parents) > 1 for table in tables):
        _LOGGER.warning(AGRUM_TURNS_PARENTS, root.file)
    return assembled_network(variables, tables, normalize=normalize)


@xml_reader("smile", "XDSL")
def read_diagram(root: XmlElement, normalize: bool) -> InfluenceDiagram:
    """Read an XDSL file with decisions and utilities; otherwise as `read`.

    A utility that weighs others gives these its weights.
    """
    nodes = _static_nodes(root)
    utilities = [node for node in nodes if node.tag == "utility"]
    inner = [node for node in nodes if node.tag not in ("utility", "mau")]
    decisions = [node for node in inner if node.tag == "decision"]
    variables = Variables([_variable(node, _DIAGRAM) for node in inner], root.file)
    tables = [
        _table(node, variables, index)
        for index, node in enumerate(inner)
        if node.tag != "decision"
    ]
    weights = _weights(nodes)
    for node in (*decisions, *utilities):
        name = node.attribute("id")
        values = np.empty(0)
        if node.tag == "utility":
            with np.errstate(all="ignore"):
                values = node.one("utilities").numbers() * weights.get(name, 1.0)
        tables.append(DeclaredTable(name, _parents(node), values, node.line))
    return assembled_diagram(
        variables,
        [node.attribute("id") for node in decisions],
        [_variable(node, _DIAGRAM) for node in utilities],
        tables,
        normalize=normalize,
    )


@diagram_writer
def write_diagram(safe: SafeNames, nodes: Iterator[ListedNode]) -> Iterator[str]:
    """Write an influence diagram as XDSL."""
    tags = {"chance": "cpt", "decision": "decision", "utility": "utility"}
    fields = {"chance": "probabilities", "utility": "utilities"}
    listed = list(nodes)

    def lines() -> Iterator[str]:
        for node in listed:
            states = () if node.kind == "utility" else safe.states[node.index]
            numbers = (
                []
                if node.values is None
                else [(fields[node.kind], " ".join(number_texts(node.values)))]
            )
            yield from _node_lines(
                tags[node.kind], safe, node.index, states, node.parents, numbers, {}
            )

    parents = tuple(node.parents for node in listed)
    return xml_lines(_lines(safe, lines(), DAG(parents)))


def _static_nodes(root: XmlElement) -> list[XmlElement]:
    """The nodes of a file that is not of a temporal network."""
    dynamic = root.optional("dynamic")
    if dynamic is not None:
        raise dynamic.error(
            "the network is dynamic, which cannot be read; unroll it in GeNIe first"
        )
    return root.one("nodes").children


def _weights(nodes: Sequence[XmlElement]) -> dict[str, float]:
    """What sums of utilities multiply each of these by."""
    weights: dict[str, float] = {}
    parents = {p for node in nodes if node.tag == "mau" for p in _parents(node)}
    for node in nodes:
        if node.tag != "mau":
            continue
        given = node.optional("weights")
        names = _parents(node)
        numbers = [] if given is None else given.numbers().tolist()
        if node.attribute("id") in parents or len(numbers) != len(names):
            raise node.error(
                f"utility {quoted(node.attribute('id'))} combines others by more than "
                "one weight each, which cannot be read; make it a weighted sum"
            )
        for name, number in zip(names, numbers, strict=True):
            weights[name] = weights.get(name, 0.0) + number
    return weights


def _parents(node: XmlElement) -> list[str]:
    """Identifiers of a node's parents."""
    above = node.optional("parents")
    return [] if above is None else above.text.split()


@xml_writer
def write(safe: SafeNames, tables: Iterator[FullTable]) -> Iterator[str]:
    """Write an XDSL file."""
    listed = list(tables)
    parents = tuple(table.parents for table in listed)
    return _lines(safe, _table_lines(safe, listed), DAG(parents))


def _variable(node: XmlElement, further: Sequence[str] = ()) -> DeclaredVariable:
    """A node's name and states as the file declares them."""
    if node.tag not in ("cpt", "deterministic", "noisymax", *further):
        name = quoted(node.attribute("id"))
        if node.tag in _OF_DECISIONS:
            raise DecisionsError(
                node.file, node.line, f"node {name} is {_OF_DECISIONS[node.tag]}"
            )
        kind, remedy = _OTHER_NODES.get(
            node.tag, (f"of the kind <{node.tag[:60]}>", "make it a chance node")
        )
        raise node.error(
            f"node {name} is {kind}, but only chance nodes with tables can be read; "
            f"{remedy}"
        )
    states = [state.attribute("id") for state in node.all("state")]
    return DeclaredVariable(node.attribute("id"), states, node.line, _notes(node))


def _notes(node: XmlElement) -> dict[str, str]:
    """Our own properties of a node."""
    entries = node.all("property")
    return notes_of((entry.attribute("id"), entry.text) for entry in entries)


def _table(node: XmlElement, variables: Variables, index: int) -> DeclaredTable:
    """A node's table as the file declares it."""
    parents = _parents(node)
    name = variables.declared[index].name
    if node.tag == "deterministic":
        results = node.one("resultingstates")
        states, line = results.text.split(), results.line
        values = one_hot_table(states, variables, index, line)
        return DeclaredTable(name, parents, values, line)
    if node.tag == "noisymax":
        values = _maximum(node, variables, parents)
        return DeclaredTable(name, parents, values, node.line)
    table = node.one("probabilities")
    experience = _notes(node).get(_EXPERIENCE)
    counts = None if experience is None else node.numbers(experience)
    return DeclaredTable(name, parents, table.numbers(), table.line, None, counts)


def _maximum(
    node: XmlElement, variables: Variables, parents: list[str]
) -> NDArray[np.float64]:
    """The table of a noisy MAX, shape (*parents' states, states).

    The first state is the most severe and the last one the least. Columns of parameters
    follow the `strengths` of each parent's states, of which the last has no effect,
    or the states; NetworkFileError where both would fit and differ.
    """
    name = node.attribute("id")
    family = variables.family(name, parents, node.line)
    *cards, card = variables.cards(family)
    variables.check_room(family, node.line)
    numbers = node.one("parameters").numbers()
    listed = node.optional("strengths")
    in_order = np.concatenate([np.arange(n) for n in (*cards, 0)])
    order = in_order if listed is None else listed.numbers()
    ends = np.cumsum(cards, dtype=int).tolist()
    strengths = [order[end - n : end] for end, n in zip(ends, cards, strict=True)]
    if (
        numbers.size != (sum(cards) + 1) * card
        or order.size != sum(cards)
        or any(sorted(each) != list(range(len(each))) for each in strengths)
    ):
        raise node.error(
            f"the parameters or strengths of the noisy-MAX {quoted(name)} do not fit "
            "its states and those of its parents; save it again with GeNIe"
        )
    *columns, leak = numbers.reshape(-1, card)
    no_effect = np.eye(card)[-1]
    effects = [
        np.array(columns[end - n : end]) for end, n in zip(ends, cards, strict=True)
    ]
    by_strength = [
        part[np.argsort(each)] for part, each in zip(effects, strengths, strict=True)
    ]
    fitting = [
        layout
        for layout in (by_strength, effects)
        if all(
            np.allclose(part[int(each[-1])], no_effect)
            for part, each in zip(layout, strengths, strict=True)
        )
    ]
    same = all(map(np.array_equal, by_strength, effects))
    if len(fitting) != 1 and not (fitting and same):
        problem = (
            "are in an unclear order" if fitting else "give effect to the last one"
        )
        raise node.error(
            f"the parameters of the noisy-MAX {quoted(name)} {problem} of the parents' "
            f"states; {_TO_GENERAL}"
        )
    return noisy_max_table(fitting[0], leak)


def _lines(safe: SafeNames, nodes: Iterator[str], dag: DAG) -> Iterator[str]:
    """Lines of the root element."""
    yield '<smile version="1.0" id="network" numsamples="1000" discsamples="10000">'
    yield "  <nodes>"
    yield from nodes
    yield "  </nodes>"
    yield "  <extensions>"
    genie = {"version": "1.0", "app": "bayleaf", "name": "network"}
    yield f"    <genie{xml_attributes(genie)}>"
    yield from (f"      {line}" for line in _drawing(safe, dag))
    yield "    </genie>"
    yield "  </extensions>"
    yield "</smile>"


def _table_lines(safe: SafeNames, tables: Sequence[FullTable]) -> Iterator[str]:
    """The nodes of a network."""
    for table in tables:
        notes = {}
        if table.experience is not None:
            notes[_EXPERIENCE] = " ".join(number_texts(np.asarray(table.experience)))
        numbers = [("probabilities", " ".join(number_texts(table.rows)))]
        states = safe.states[table.child]
        yield from _node_lines(
            "cpt", safe, table.child, states, table.parents, numbers, notes
        )


def _node_lines(
    tag: str,
    safe: SafeNames,
    index: int,
    states: Sequence[str],
    parents: Sequence[int],
    numbers: Sequence[tuple[str, str]],
    notes: Mapping[str, str],
) -> Iterator[str]:
    """A node: its states, parents, numbers by their tag, and notes."""
    yield f'    <{tag} id="{safe.variables[index]}">'
    for state in states:
        yield f'      <state id="{state}" />'
    if parents:
        names = " ".join(safe.variables[parent] for parent in parents)
        yield f"      <parents>{names}</parents>"
    for field, text in numbers:
        yield f"      <{field}>{text}</{field}>"
    for key, text in {**safe.notes(index), **notes}.items():
        kept = xml_text(text)
        yield f'      <property id="{NOTE_PREFIX}{key}">{kept}</property>'
    yield f"    </{tag}>"


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
        if meanings := safe.meanings(index):
            pairs = zip(safe.states[index], meanings)
            text = "&#10;".join(f"{state}: {xml_text(m)}" for state, m in pairs)
            yield f"  <comment>{text}</comment>"
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
