"""Networks as XMLBIF 0.3, which holds nearly all names as they are.

Source: Cozman, Interchange Format for Bayesian Networks 0.3 (1998). Parents stand in
the order of the <GIVEN> elements, the first slowest; the child's states are fastest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from bayleaf.data.domain import Domain, Variable
from bayleaf.io.atomic import text_file
from bayleaf.io.formats.assemble import (
    DeclaredTable,
    DeclaredVariable,
    Variables,
    assembled_network,
)
from bayleaf.io.formats.full_tables import (
    MAX_TABLE_CELLS,
    FullTable,
    full_tables,
    number_texts,
)
from bayleaf.io.formats.safe_names import NOTE_PREFIX, NOTES, SafeNames
from bayleaf.io.formats.source_file import MAX_BYTES, quoted
from bayleaf.io.formats.xml_elements import (
    XmlElement,
    notes_of,
    read_xml,
    xml_holds,
    xml_text,
)
from bayleaf.models.bayesian_network import BayesianNetwork

_EXPERIENCE = "experience"


def read(
    path: str | Path, *, max_bytes: int = MAX_BYTES, normalize: bool = False
) -> BayesianNetwork:
    """Read an XMLBIF file; `normalize` as in `RowSums`.

    NetworkFileError names file and line where variables other than chance variables
    with tables occur or the file exceeds `max_bytes`.
    """
    root = read_xml(path, "BIF", "XMLBIF", max_bytes)
    network = root.one("NETWORK")
    declared = [_variable(element) for element in network.all("VARIABLE")]
    variables = Variables(declared, Path(path).name)
    tables = [_table(element, variables) for element in network.all("DEFINITION")]
    return assembled_network(variables, tables, normalize=normalize)


def write(
    network: BayesianNetwork,
    path: str | Path,
    *,
    max_table_cells: int = MAX_TABLE_CELLS,
) -> None:
    """Write an XMLBIF file; an older file is replaced only when all is written.

    ValueError names a variable whose table exceeds `max_table_cells`, is not of
    distributions, or whose states do not fit a file.
    """
    tables = full_tables(network, max_table_cells)
    safe = SafeNames.for_network(network.domain)
    names = _names(network.domain, safe)
    with text_file(path) as file:
        file.writelines(f"{line}\n" for line in _lines(safe, names, tables))


def _variable(element: XmlElement) -> DeclaredVariable:
    """A variable as the file declares it."""
    name = element.one("NAME").words()
    kind = element.attributes.get("TYPE", "nature").strip()
    if kind != "nature":
        raise element.error(
            f"variable {quoted(name)} is of the type {quoted(kind)}, but only chance "
            'variables can be read; remove it or give it TYPE="nature"'
        )
    states = [outcome.words() for outcome in element.all("OUTCOME")]
    notes = {key: text for key, text in _notes(element).items() if key in NOTES}
    return DeclaredVariable(name, states, element.line, notes)


def _notes(element: XmlElement) -> Mapping[str, str]:
    """Our own properties of an element."""
    pairs = [entry.text.partition("=") for entry in element.all("PROPERTY")]
    plain = [(name.strip(), text.strip()) for name, _, text in pairs]
    return notes_of(plain, NOTE_PREFIX)


def _table(element: XmlElement, variables: Variables) -> DeclaredTable:
    """A table as the file declares it."""
    child = element.one("FOR").words()
    parents = element.all("GIVEN")
    for given in parents:
        # Each parent stands on a line of its own, which is worth telling.
        role = f"a parent of {quoted(child)}"
        variables.index(given.words(), given.line, role)
    table = element.one("TABLE")
    experience = _notes(element).get(_EXPERIENCE)
    counts = None if experience is None else element.numbers(experience)
    names = [given.words() for given in parents]
    return DeclaredTable(child, names, table.numbers(), table.line, None, counts)


def _names(domain: Domain, safe: SafeNames) -> list[str]:
    """How the file calls each variable: as the domain does wherever XML can."""
    names = [str(name) for name in domain.names]
    if len(set(names)) < len(names):
        # A column 7 and a column "7": only the text is written as it is.
        names = [name if isinstance(name, str) else "" for name in domain.names]
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
    """Lines of a file."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<BIF VERSION="0.3">'
    yield "<NETWORK>"
    yield "<NAME>network</NAME>"
    for index, variable in enumerate(safe.domain):
        states = _states(variable, index, safe)
        yield '<VARIABLE TYPE="nature">'
        yield f"  <NAME>{xml_text(names[index])}</NAME>"
        yield from (f"  <OUTCOME>{xml_text(state)}</OUTCOME>" for state in states)
        notes = safe.notes(index)
        if variable.name == names[index]:
            notes.pop("name", None)
        if variable.states == tuple(states):
            notes.pop("states", None)
        yield from (_property(key, text) for key, text in notes.items())
        yield "</VARIABLE>"
    for table in tables:
        yield "<DEFINITION>"
        yield f"  <FOR>{xml_text(names[table.child])}</FOR>"
        for parent in table.parents:
            yield f"  <GIVEN>{xml_text(names[parent])}</GIVEN>"
        yield "  <TABLE>"
        yield from (f"    {' '.join(number_texts(row))}" for row in table.rows)
        yield "  </TABLE>"
        if table.experience is not None:
            counts = " ".join(number_texts(np.asarray(table.experience)))
            yield _property(_EXPERIENCE, counts)
        yield "</DEFINITION>"
    yield "</NETWORK>"
    yield "</BIF>"


def _property(key: str, text: str) -> str:
    """A line that keeps a note."""
    return f"  <PROPERTY>{NOTE_PREFIX}{key} = {xml_text(text)}</PROPERTY>"
