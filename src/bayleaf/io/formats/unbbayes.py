"""What files of UnBBayes' own XMLBIF, 0.5 and 0.6, declare.

Cells are numbered, the child's states fastest, then those of the parent 0, of the
parent 1 and so on. Noisy OR and MAX are written as the tables that they mean.
"""

from __future__ import annotations

import numpy as np

from bayleaf.io.formats.assemble import DeclaredTable, DeclaredVariable
from bayleaf.io.formats.xml_elements import XmlElement

ROOT = "XMLBIF"
_CHANCE = "DiscreteProbabilistic"


def declared_variables(root: XmlElement) -> list[DeclaredVariable]:
    """The variables of a file, whatever their kind."""
    return [
        _variable(element)
        for element in root.one("network").one("variables").all("variable")
    ]


def declared_tables(root: XmlElement) -> list[DeclaredTable]:
    """The tables of a file."""
    tables = root.one("network").one("conditionalDistributionSet")
    return [_table(element) for element in tables.all("conditionalDistribution")]


def _variable(element: XmlElement) -> DeclaredVariable:
    """A variable as the file declares it."""
    kind = element.attributes.get("type", _CHANCE)
    states = [state.attribute("name") for state in element.all("state")]
    return DeclaredVariable(
        element.attribute("name"),
        states,
        element.line,
        kind="chance" if kind == _CHANCE else kind,
    )


def _table(element: XmlElement) -> DeclaredTable:
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
