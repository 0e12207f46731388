"""ProbModelXML, the format of OpenMarkov.

Arias et al. (2012), "ProbModelXML: a format for encoding probabilistic graphical
models". A table lists its variables, the child first; the first is fastest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.formats.assemble import (
    DeclaredTable,
    DeclaredVariable,
    Variables,
    assembled_network,
)
from bayleaf.io.formats.full_tables import FullTable, number_texts
from bayleaf.io.formats.noisy_max import noisy_max_table
from bayleaf.io.formats.safe_names import NOTE_PREFIX, SafeNames
from bayleaf.io.formats.source_file import quoted
from bayleaf.io.formats.xml_elements import (
    XmlElement,
    notes_of,
    xml_attributes,
    xml_reader,
    xml_writer,
)
from bayleaf.models.bayesian_network import BayesianNetwork

_OF_MAXIMA = {"OR", "CausalMax", "GeneralizedMax"}


@xml_reader("ProbModelXML", "ProbModelXML")
def read(root: XmlElement, normalize: bool) -> BayesianNetwork:
    """Read a ProbModelXML file; noisy OR and MAX become the tables that they mean."""
    network = root.one("ProbNet")
    listed = network.one("Variables").all("Variable")
    for element in listed:
        if "timeSlice" in element.attributes:
            raise element.error(
                f"variable {quoted(element.attribute('name'))} has a time slice; "
                "dynamic networks cannot be read, so expand it in OpenMarkov first"
            )
    declared = [_variable(element) for element in listed]
    variables = Variables(declared, root.file)
    tables = [
        _table(element, variables)
        for element in network.one("Potentials").all("Potential")
    ]
    return assembled_network(variables, tables, normalize=normalize)


def _variable(element: XmlElement) -> DeclaredVariable:
    """A variable as the file declares it."""
    role = element.attributes.get("role", "chance").strip()
    kind = element.attributes.get("type", "finiteStates").strip()
    if role == "chance" and kind not in {"finiteStates", "discretized"}:
        role = kind
    above = element.optional("States")
    states = [] if above is None else above.all("State")
    properties = element.optional("AdditionalProperties")
    pairs = [
        (entry.attributes.get("name", ""), entry.attributes.get("value", ""))
        for entry in ([] if properties is None else properties.all("Property"))
    ]
    return DeclaredVariable(
        element.attribute("name"),
        [state.attribute("name") for state in states],
        element.line,
        notes_of(pairs),
        role,
    )


def _table(element: XmlElement, variables: Variables) -> DeclaredTable:
    """A potential as the table that it means."""
    names = [entry.attribute("name") for entry in element.one("Variables").children]
    if not names:
        raise element.error("the potential names no variable; add them")
    child, parents = names[0], names[:0:-1]
    kind = element.attributes.get("type", "Table").strip()
    if kind == "Table":
        values = element.one("Values")
        return DeclaredTable(child, parents, values.numbers(), values.line)
    family = variables.family(child, parents, element.line)
    cards = variables.cards(family)
    variables.check_room(family, element.line)
    model = element.optional("Model")
    if kind == "Uniform":
        full: NDArray[np.float64] = np.full(cards, 1.0 / cards[-1])
    elif kind == "ICIModel" and model is not None and model.text.strip() in _OF_MAXIMA:
        full = _maximum(element, child, parents, cards)
    else:
        raise element.error(
            f"the potential of {quoted(child)} is of the type {quoted(kind)}, but only "
            "tables and noisy maxima can be read; convert it to a table in OpenMarkov"
        )
    return DeclaredTable(child, parents, full, element.line)


def _maximum(
    element: XmlElement, child: str, parents: list[str], cards: tuple[int, ...]
) -> NDArray[np.float64]:
    """The table of a noisy OR or MAX, whose last state is the most severe."""
    effects: dict[str, NDArray[np.float64]] = {}
    leak = np.eye(cards[-1])[0]
    for part in element.one("Subpotentials").all("Potential"):
        members = [entry.attribute("name") for entry in part.one("Variables").children]
        numbers = part.one("Values").numbers()
        of = (
            cards[parents.index(members[1])]
            if len(members) == 2 and members[1] in parents
            else 0
        )
        if (
            members[:1] != [child]
            or numbers.size != cards[-1] * (of or 1)
            or len(members) > 2
        ):
            raise part.error(
                f"a part of the noisy maximum of {quoted(child)} does not fit its "
                "states and those of one parent; save the network again"
            )
        if len(members) == 1:
            leak = numbers
        else:
            effects[members[1]] = numbers.reshape(of, cards[-1])
    if lacking := [name for name in parents if name not in effects]:
        raise element.error(
            f"the noisy maximum of {quoted(child)} lacks the effect of "
            f"{quoted(lacking[0])}; add it"
        )
    ordered = [effects[name][:, ::-1] for name in parents]
    return noisy_max_table(ordered, leak[::-1])[..., ::-1]


@xml_writer
def write(safe: SafeNames, tables: Iterator[FullTable]) -> Iterator[str]:
    """Write a ProbModelXML file, without experience; properties keep all names."""
    listed = list(tables)
    yield '<ProbModelXML formatVersion="0.2.0">'
    yield '<ProbNet type="BayesianNetwork">'
    yield "<Variables>"
    for index, states in enumerate(safe.states):
        name = safe.variables[index]
        yield f'  <Variable name="{name}" type="finiteStates" role="chance">'
        if notes := safe.notes(index):
            yield "    <AdditionalProperties>"
            for key, text in notes.items():
                pair = xml_attributes({"name": f"{NOTE_PREFIX}{key}", "value": text})
                yield f"      <Property{pair}/>"
            yield "    </AdditionalProperties>"
        yield "    <States>"
        yield from (f'      <State name="{state}"/>' for state in states)
        yield "    </States>"
        yield "  </Variable>"
    yield "</Variables>"
    yield "<Links>"
    for table in listed:
        for parent in table.parents:
            yield '  <Link directed="true">'
            yield f'    <Variable name="{safe.variables[parent]}"/>'
            yield f'    <Variable name="{safe.variables[table.child]}"/>'
            yield "  </Link>"
    yield "</Links>"
    yield "<Potentials>"
    for table in listed:
        yield '  <Potential type="Table" role="conditionalProbability">'
        yield "    <Variables>"
        for member in (table.child, *table.parents[::-1]):
            yield f'      <Variable name="{safe.variables[member]}"/>'
        yield "    </Variables>"
        yield f"    <Values>{' '.join(number_texts(table.rows))}</Values>"
        yield "  </Potential>"
    yield "</Potentials>"
    yield "</ProbNet>"
    yield "</ProbModelXML>"
