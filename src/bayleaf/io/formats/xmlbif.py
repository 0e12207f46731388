"""Networks as XMLBIF 0.3, which holds nearly all names as they are.

Source: Cozman, Interchange Format for Bayesian Networks 0.3 (1998). Parents stand in
the order of the <GIVEN> elements, the first slowest; the child's states are fastest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from bayleaf.data.domain import Variable
from bayleaf.decisions import InfluenceDiagram
from bayleaf.io.formats.assemble import (
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
from bayleaf.io.formats.full_tables import FullTable, number_texts
from bayleaf.io.formats.safe_names import NOTE_PREFIX, SafeNames, shown_text
from bayleaf.io.formats.source_file import DecisionsError, quoted
from bayleaf.io.formats.xml_elements import (
    XmlElement,
    notes_of,
    xml_holds,
    xml_lines,
    xml_reader,
    xml_text,
    xml_writer,
)
from bayleaf.models.bayesian_network import BayesianNetwork

_EXPERIENCE = "experience"
# Of UnBBayes' own files, 0.5 and 0.6, and their type of chance variables.
_UNBBAYES_ROOT, _UNBBAYES_CHANCE = "XMLBIF", "DiscreteProbabilistic"
# Types of variables in an influence diagram.
_DIAGRAM = ("nature", "decision", "utility")


@xml_reader("BIF", "XMLBIF", also=_UNBBAYES_ROOT)
def read(root: XmlElement, normalize: bool) -> BayesianNetwork:
    """Read an XMLBIF file, also UnBBayes' own."""
    if root.tag == _UNBBAYES_ROOT:
        variables = Variables(_unbbayes_variables(root), root.file)
        tables = _unbbayes_tables(root)
        return assembled_network(variables, tables, normalize=normalize)
    network = root.one("NETWORK")
    if older := network.optional("VARIABLES"):
        raise older.error(
            "this is an older file of UnBBayes, not XMLBIF 0.3; save the network as "
            ".net there"
        )
    declared = [_variable(element) for element in network.all("VARIABLE")]
    variables = Variables(declared, root.file)
    tables = [_table(element, variables) for element in network.all("DEFINITION")]
    return assembled_network(variables, tables, normalize=normalize)


@xml_reader("BIF", "XMLBIF")
def read_diagram(root: XmlElement, normalize: bool) -> InfluenceDiagram:
    """Read XMLBIF with decisions and utilities, pyAgrum's BIFXML; otherwise as `read`.

    A decision's definition lists what is observed before it, and has no table.
    """
    network = root.one("NETWORK")
    by_kind: dict[str, list[DeclaredVariable]] = {"decision": [], "utility": []}
    inner = []
    for element in network.all("VARIABLE"):
        declared = _variable(element, _DIAGRAM)
        kind = element.attributes.get("TYPE", "nature").strip()
        by_kind.get(kind, []).append(declared)
        if kind != "utility":
            inner.append(declared)
    variables = Variables(inner, root.file)
    decisions = {each.name for each in by_kind["decision"]}
    tables = [
        _table(e, variables, has_table=e.one("FOR").words() not in decisions)
        for e in network.all("DEFINITION")
    ]
    return assembled_diagram(
        variables, decisions, by_kind["utility"], tables, normalize=normalize
    )


@diagram_writer
def write_diagram(safe: SafeNames, nodes: Iterator[ListedNode]) -> Iterator[str]:
    """Write an influence diagram as XMLBIF, which pyAgrum reads.

    Identifiers take the place of all names, which pyAgrum splits at some signs.
    """
    listed = list(nodes)

    def lines() -> Iterator[str]:
        types = {"chance": "nature"}
        for node in listed:
            kind = types.get(node.kind, node.kind)
            states = ("0",) if node.kind == "utility" else safe.states[node.index]
            name = safe.variables[node.index]
            yield from _variable_lines(kind, name, states, safe.notes(node.index))
        for node in listed:
            parents = [safe.variables[parent] for parent in node.parents]
            rows = () if node.values is None else (number_texts(node.values),)
            yield from _definition_lines(safe.variables[node.index], parents, rows)

    return xml_lines(_root_lines(lines()))


@xml_writer
def write(safe: SafeNames, tables: Iterator[FullTable]) -> Iterator[str]:
    """Write an XMLBIF file."""
    return _root_lines(_lines(safe, _names(safe), tables))


def _variable(
    element: XmlElement, kinds: Sequence[str] = ("nature",)
) -> DeclaredVariable:
    """A variable as the file declares it."""
    name = element.one("NAME").words()
    kind = element.attributes.get("TYPE", "nature").strip()
    if kind not in kinds:
        what = f"variable {quoted(name)} is of the type {quoted(kind)}"
        if kind in _DIAGRAM:
            raise DecisionsError(element.file, element.line, what)
        raise element.error(
            f"{what}, but only chance variables can be read; remove it or give it "
            'TYPE="nature"'
        )
    states = [outcome.words() for outcome in element.all("OUTCOME")]
    return DeclaredVariable(name, states, element.line, _notes(element))


def _notes(element: XmlElement) -> Mapping[str, str]:
    """Our own properties of an element."""
    pairs = [entry.text.partition("=") for entry in element.all("PROPERTY")]
    return notes_of((name.strip(), text.strip()) for name, _, text in pairs)


def _table(
    element: XmlElement, variables: Variables, *, has_table: bool = True
) -> DeclaredTable:
    """A table as the file declares it."""
    child = element.one("FOR").words()
    parents = element.all("GIVEN")
    for given in parents:
        # Each parent stands on a line of its own, which is worth telling.
        role = f"a parent of {quoted(child)}"
        variables.index(given.words(), given.line, role)
    names = [given.words() for given in parents]
    if not has_table:
        return DeclaredTable(child, names, np.empty(0), element.line)
    table = element.one("TABLE")
    experience = _notes(element).get(_EXPERIENCE)
    counts = None if experience is None else element.numbers(experience)
    return DeclaredTable(child, names, table.numbers(), table.line, None, counts)


def _names(safe: SafeNames) -> list[str]:
    """How the file calls each variable: as the domain does wherever XML can."""
    names = [str(name) for name in safe.domain.names]
    if len(set(names)) < len(names):
        # A column 7 and a column "7": only the text is written as it is.
        names = [name if isinstance(name, str) else "" for name in safe.domain.names]
    return [
        name if _readable(name) else safe.variables[index]
        for index, name in enumerate(names)
    ]


def _states(variable: Variable, index: int, safe: SafeNames) -> Sequence[str]:
    """How the file calls the states of a variable."""
    states = [
        repr(float(state)) if isinstance(state, float) else str(state)
        for state in ("missing" if s is None else s for s in variable.states)
    ]
    if len(set(states)) < len(states) or not all(map(_readable, states)):
        return safe.states[index]
    return states


def _readable(text: str) -> bool:
    """Whether a text comes back as it was, from readers that merge blanks too."""
    return xml_holds(text) and text == " ".join(text.split()) != ""


def _lines(
    safe: SafeNames, names: Sequence[str], tables: Iterator[FullTable]
) -> Iterator[str]:
    """Lines of variables and tables."""
    for index, variable in enumerate(safe.domain):
        states = _states(variable, index, safe)
        notes = safe.notes(index)
        if variable.name == names[index]:
            notes.pop("name", None)
        if variable.states == tuple(states):
            notes.pop("states", None)
        yield from _variable_lines(
            "nature", names[index], states, notes, safe.meanings(index)
        )
    for table in tables:
        counts = {}
        if table.experience is not None:
            texts = number_texts(np.asarray(table.experience))
            counts[_EXPERIENCE] = " ".join(texts)
        parents = [names[parent] for parent in table.parents]
        rows = (number_texts(row) for row in table.rows)
        yield from _definition_lines(names[table.child], parents, rows, counts)


def _root_lines(content: Iterator[str]) -> Iterator[str]:
    """Lines of the root element."""
    yield '<BIF VERSION="0.3">'
    yield "<NETWORK>"
    yield "<NAME>network</NAME>"
    yield from content
    yield "</NETWORK>"
    yield "</BIF>"


def _variable_lines(
    kind: str,
    name: str,
    states: Sequence[str],
    notes: Mapping[str, str],
    meanings: Sequence[str] = (),
) -> Iterator[str]:
    """A variable of a type, what its states mean as its description."""
    yield f'<VARIABLE TYPE="{kind}">'
    yield f"  <NAME>{xml_text(name)}</NAME>"
    yield from (f"  <OUTCOME>{xml_text(state)}</OUTCOME>" for state in states)
    if meanings:
        pairs = zip(map(shown_text, states), meanings)
        text = "; ".join(f"{state}: {meaning}" for state, meaning in pairs)
        yield f"  <PROPERTY>description = {xml_text(text)}</PROPERTY>"
    yield from (_property(key, text) for key, text in notes.items())
    yield "</VARIABLE>"


def _definition_lines(
    child: str,
    parents: Sequence[str],
    rows: Iterable[Sequence[str]],
    notes: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    """A table, without rows its parents alone."""
    yield "<DEFINITION>"
    yield f"  <FOR>{xml_text(child)}</FOR>"
    for parent in parents:
        yield f"  <GIVEN>{xml_text(parent)}</GIVEN>"
    lines = [f"    {' '.join(row)}" for row in rows]
    if lines:
        yield "  <TABLE>"
        yield from lines
        yield "  </TABLE>"
    yield from (_property(key, text) for key, text in notes.items())
    yield "</DEFINITION>"


def _property(key: str, text: str) -> str:
    """A line that keeps a note."""
    return f"  <PROPERTY>{NOTE_PREFIX}{key} = {xml_text(text)}</PROPERTY>"


def _unbbayes_variables(root: XmlElement) -> list[DeclaredVariable]:
    """The variables of a file of UnBBayes, whatever their kind."""
    return [
        _unbbayes_variable(element)
        for element in root.one("network").one("variables").all("variable")
    ]


def _unbbayes_tables(root: XmlElement) -> list[DeclaredTable]:
    """The tables of a file of UnBBayes.

    Cells are numbered, the child's states fastest, then those of the parent 0, of the
    parent 1 and so on. Noisy OR and MAX are written as the tables that they mean.
    """
    tables = root.one("network").one("conditionalDistributionSet")
    return [
        _unbbayes_table(element) for element in tables.all("conditionalDistribution")
    ]


def _unbbayes_variable(element: XmlElement) -> DeclaredVariable:
    """A variable as the file declares it."""
    kind = element.attributes.get("type", _UNBBAYES_CHANCE)
    states = [state.attribute("name") for state in element.all("state")]
    return DeclaredVariable(
        element.attribute("name"),
        states,
        element.line,
        kind="chance" if kind == _UNBBAYES_CHANCE else kind,
    )


def _unbbayes_table(element: XmlElement) -> DeclaredTable:
    """A table as the file declares it."""
    child = element.one("owner").attribute("name")
    listed = element.optional("parents")
    parents = [] if listed is None else _numbered(listed, "parent")
    cells = _numbered(element.one("CPT"), "dependentParentIndex")
    values = [cell.numbers() for cell in cells]
    return DeclaredTable(
        child,
        [parent.attribute("name") for parent in reversed(parents)],
        np.concatenate(values) if values else np.empty(0),
        element.line,
    )


def _numbered(element: XmlElement, tag: str) -> list[XmlElement]:
    """Children with a tag, by their numbers; NetworkFileError if one is missing."""
    by_number = {child.attribute("index"): child for child in element.all(tag)}
    numbers = [str(number) for number in range(len(element.all(tag)))]
    if set(numbers) != set(by_number):
        raise element.error(
            f"the elements <{tag}> of <{element.tag}> are not numbered from 0 on; "
            'correct the attribute "index"'
        )
    return [by_number[number] for number in numbers]
