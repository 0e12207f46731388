"""Microsoft's XBN, the XML format of MSBNx.

The first element of <CONDSET> is the slowest parent; rows name the states of the
parents by their indices.
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
from bayleaf.io.formats.full_tables import FullTable, number_texts
from bayleaf.io.formats.safe_names import NOTE_PREFIX, SafeNames
from bayleaf.io.formats.source_file import quoted
from bayleaf.io.formats.xml_elements import (
    XmlElement,
    notes_of,
    xml_holds,
    xml_reader,
    xml_text,
    xml_writer,
)
from bayleaf.models.bayesian_network import BayesianNetwork


@xml_reader("ANALYSISNOTEBOOK", "XBN")
def read(root: XmlElement, normalize: bool) -> BayesianNetwork:
    """Read an XBN file."""
    model = root.one("BNMODEL")
    declared = [_variable(element) for element in model.one("VARIABLES").all("VAR")]
    variables = Variables(declared, root.file)
    filler = TableFiller(variables)
    tables = [
        _table(element, variables, filler)
        for element in model.one("DISTRIBUTIONS").all("DIST")
    ]
    return assembled_network(variables, tables, normalize=normalize)


def _variable(element: XmlElement) -> DeclaredVariable:
    """A variable as the file declares it."""
    kind = element.attributes.get("TYPE", "discrete").strip()
    pairs = [
        (entry.attributes.get("NAME", ""), entry.text)
        for entry in element.all("PROPERTY")
    ]
    return DeclaredVariable(
        element.attribute("NAME"),
        [state.words() for state in element.all("STATENAME")],
        element.line,
        notes_of(pairs),
        "chance" if kind == "discrete" else kind,
    )


def _table(
    element: XmlElement, variables: Variables, filler: TableFiller
) -> DeclaredTable:
    """A distribution as the file declares it."""
    child = element.one("PRIVATE").attribute("NAME")
    if (kind := element.attributes.get("TYPE", "discrete").strip()) != "discrete":
        raise element.error(
            f"the distribution of {quoted(child)} is of the type {quoted(kind)}, but "
            "only tables can be read; convert it to one in MSBNx"
        )
    above = element.optional("CONDSET")
    parents = [] if above is None else above.all("CONDELEM")
    names = [parent.attribute("NAME") for parent in parents]
    block = ProbabilityBlock([child], names, element.line)
    family = variables.family(child, names, element.line)
    for row in element.one("DPIS").all("DPI"):
        numbers = row.numbers().tolist()
        indices = row.attributes.get("INDEXES", "").split()
        if not indices and not block.rows:
            block.table = np.array(numbers)
            continue
        key = filler.states_at(family, indices, row.line)
        block.rows.append((key, numbers, row.line))
    return filler.declared_table(block)


@xml_writer
def write(safe: SafeNames, tables: Iterator[FullTable]) -> Iterator[str]:
    """Write an XBN file, without experience; properties keep all names."""
    listed = list(tables)
    yield '<ANALYSISNOTEBOOK NAME="network" ROOT="network">'
    yield '<BNMODEL NAME="network">'
    yield "<STATICPROPERTIES>"
    yield '  <FORMAT VALUE="MSR DTAS XML"/>'
    yield '  <VERSION VALUE="0.2"/>'
    yield '  <CREATOR VALUE="bayleaf"/>'
    yield "</STATICPROPERTIES>"
    yield "<VARIABLES>"
    for index, states in enumerate(safe.states):
        yield f'  <VAR NAME="{safe.variables[index]}" TYPE="discrete">'
        name = str(safe.domain[index].name)
        shown = name if xml_holds(name) else safe.variables[index]
        yield f"    <DESCRIPTION>{xml_text(shown)}</DESCRIPTION>"
        yield from (f"    <STATENAME>{state}</STATENAME>" for state in states)
        for key, text in safe.notes(index).items():
            yield f'    <PROPERTY NAME="{NOTE_PREFIX}{key}">{xml_text(text)}</PROPERTY>'
        yield "  </VAR>"
    yield "</VARIABLES>"
    yield "<STRUCTURE>"
    for table in listed:
        child = safe.variables[table.child]
        for parent in table.parents:
            yield f'  <ARC PARENT="{safe.variables[parent]}" CHILD="{child}"/>'
    yield "</STRUCTURE>"
    yield "<DISTRIBUTIONS>"
    for table in listed:
        yield '  <DIST TYPE="discrete">'
        if table.parents:
            names = (safe.variables[parent] for parent in table.parents)
            elements = "".join(f'<CONDELEM NAME="{name}"/>' for name in names)
            yield f"    <CONDSET>{elements}</CONDSET>"
        yield f'    <PRIVATE NAME="{safe.variables[table.child]}"/>'
        yield "    <DPIS>"
        cards = [len(safe.states[parent]) for parent in table.parents]
        keys = itertools.product(*map(range, cards))
        for indices, row in zip(keys, table.rows, strict=True):
            words = " ".join(map(str, indices))
            indexes = f' INDEXES="{words}"' if indices else ""
            yield f"      <DPI{indexes}>{' '.join(number_texts(row))}</DPI>"
        yield "    </DPIS>"
        yield "  </DIST>"
    yield "</DISTRIBUTIONS>"
    yield "</BNMODEL>"
    yield "</ANALYSISNOTEBOOK>"
