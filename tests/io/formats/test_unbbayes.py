"""UnBBayes' own XMLBIF: the same network in it and in `.net` is read alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bayleaf import read_network
from bayleaf.io import NetworkFileError

TABLES = {
    "a": ([], [0.25, 0.75]),
    "b": (["a"], [0.5, 0.25, 0.25, 0.125, 0.125, 0.75]),
    # A noisy OR of both, cell by cell, as the program writes it.
    "c": (
        ["a", "b"],
        [0.96, 0.04, 0.48, 0.52, 0.9, 0.1, 0.45, 0.55, 0.3, 0.7, 0.15, 0.85],
    ),
}
STATES = {"a": ["n", "y"], "b": ["low", "mid", "high"], "c": ["n", "y"]}


def as_xml(version: str = "0.6") -> str:
    """The network as the program writes it, with its name space."""
    variables = "".join(
        f'<u:variable type="DiscreteProbabilistic" name="{name}" xPos="1">'
        f"<u:description>{name}</u:description>"
        + "".join(f'<u:state name="{state}"/>' for state in states)
        + "</u:variable>"
        for name, states in STATES.items()
    )
    tables = ""
    for child, (parents, values) in TABLES.items():
        listed = "".join(
            f'<u:parent index="{i}" name="{parent}"/>'
            for i, parent in enumerate(parents)
        )
        cells = "".join(
            f'<u:dependentParentIndex index="{i}">{value}</u:dependentParentIndex>'
            for i, value in enumerate(values)
        )
        tables += (
            '<u:conditionalDistribution type="Discrete">'
            f'<u:owner name="{child}"/>'
            + (f"<u:parents>{listed}</u:parents>" if parents else "")
            + f"<u:CPT>{cells}</u:CPT></u:conditionalDistribution>"
        )
    return (
        "<?xml version='1.0' encoding='US-ASCII'?>\n"
        f'<u:XMLBIF version="{version}" xmlns:u="http://unbbayes.sourceforge.net/x">'
        "<u:header><u:creator>UnBBayes</u:creator></u:header><u:network>"
        f"<u:variables>{variables}</u:variables>\n<u:structure/>"
        f"<u:conditionalDistributionSet>{tables}</u:conditionalDistributionSet>"
        "</u:network></u:XMLBIF>"
    )


def as_net() -> str:
    """The network as the program writes it to .net: parents the other way round."""
    text = "net\n{\n}\n"
    for name, states in STATES.items():
        quoted = " ".join(f'"{state}"' for state in states)
        text += f"node {name}\n{{\n states = ({quoted});\n}}\n"
    for child, (parents, values) in TABLES.items():
        given = f" | {' '.join(reversed(parents))}" if parents else ""
        numbers = " ".join(map(str, values))
        text += f"potential ({child}{given})\n{{\n data = ( {numbers} );\n}}\n"
    return text


@pytest.mark.parametrize("version", ["0.5", "0.6"])
def test_both_of_its_formats_hold_the_same_network(
    tmp_path: Path, version: str
) -> None:
    (tmp_path / "a.xml").write_text(as_xml(version))
    (tmp_path / "a.net").write_text(as_net())
    network, other = read_network(tmp_path / "a.xml"), read_network(tmp_path / "a.net")
    assert network.domain == other.domain
    for event in ({"a": "y"}, {"b": "mid", "a": "n"}, {"c": "y", "b": "high"}):
        assert network.probability(event) == pytest.approx(other.probability(event))
    # Of b=mid and a=y: the child is fastest, then a.
    assert network.cpd("c").parents == (1, 0)
    np.testing.assert_array_equal(
        network.cpd("c").probabilities[1, 1], TABLES["c"][1][6:8]
    )


REFUSED = {
    "continuous": ('type="DiscreteP', 'type="ContinuousP', "of kind ContinuousProb"),
    "decision": ('type="DiscreteProbabilistic', 'type="Decision', "of kind Decision"),
    "a cell twice": ('Index index="1"', 'Index index="0"', "not numbered from 0 on"),
    "other root": ("u:XMLBIF", "u:XBIF", "its root is <XBIF>, not <BIF>"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused(tmp_path: Path, case: str) -> None:
    old, new, message = REFUSED[case]
    (tmp_path / "a.xml").write_text(as_xml().replace(old, new))
    with pytest.raises(NetworkFileError, match=message):
        read_network(tmp_path / "a.xml")


def test_older_files_are_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(
        '<BIF VERSION="0"><NETWORK><VARIABLES><VAR NAME="a"/></VARIABLES>'
        "</NETWORK></BIF>"
    )
    with pytest.raises(NetworkFileError, match=r"older file of UnBBayes.*as \.net"):
        read_network(tmp_path / "a.xml")
