"""XMLBIF files: ours come back bit for bit, others' are read, bad ones are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bayleaf.cpds.distribution import TableCPD
from bayleaf.io.formats.source_file import NetworkFileError
from bayleaf.io.formats.xml_elements import read_xml
from bayleaf.io.formats.xmlbif import read, write
from offenders import check_each
from oracles.hard_networks import assert_same_network, hard_network, mixed_network
from oracles.malformed_networks import check_refused

# The document type of the 0.3 specification: elements and attributes, no entities.
DOCUMENT_TYPE = """<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
  <!ELEMENT NAME (#PCDATA)>
  <!ELEMENT VARIABLE ( NAME, ( OUTCOME | PROPERTY )* ) >
  <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
]>
"""
SMALL = """<?xml version="1.0"?>
<BIF VERSION="0.3">
<NETWORK>
<NAME>Dog</NAME>
<VARIABLE TYPE="nature">
  <NAME>light</NAME><OUTCOME>on</OUTCOME><OUTCOME>off</OUTCOME>
  <PROPERTY>position = (1, 2)</PROPERTY>
</VARIABLE>
<VARIABLE>
  <NAME> dog
  </NAME><OUTCOME>out</OUTCOME><OUTCOME>in</OUTCOME><OUTCOME>away</OUTCOME>
</VARIABLE>
<DEFINITION>
  <FOR>light</FOR><TABLE>0.6 <!-- mostly --> 0.4</TABLE>
</DEFINITION>
<DEFINITION>
  <FOR>dog</FOR>
  <GIVEN>light</GIVEN>
  <TABLE>
    0.1 0.2 0.7
    0.3 0.3 4e-1
  </TABLE>
</DEFINITION>
</NETWORK>
</BIF>
"""


def written(tmp_path: Path, text: str) -> Path:
    """A file with this text."""
    path = tmp_path / "given.xml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("make", [hard_network, mixed_network])
def test_our_files_come_back_bit_for_bit(tmp_path: Path, make: object) -> None:
    network = make()  # type: ignore[operator]
    write(network, tmp_path / "a.xml")
    assert_same_network(network, read(tmp_path / "a.xml"))


def test_names_that_xml_holds_are_written_as_they_are(tmp_path: Path) -> None:
    write(hard_network(), tmp_path / "a.xml")
    text = (tmp_path / "a.xml").read_text(encoding="utf-8")
    for shown in ("a b", "&lt;=2", "été", 'say "hi"', "p, q &amp; r", "two_lines"):
        assert f"<NAME>{shown}</NAME>" in text
    assert "<NAME>bell</NAME>" in text
    assert "<!DOCTYPE" not in text


def test_the_first_parent_varies_slowest(tmp_path: Path) -> None:
    network = read(written(tmp_path, SMALL))
    assert network.domain.names == ("light", "dog")
    assert network.domain[1].states == ("out", "in", "away")
    expected = [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    np.testing.assert_array_equal(network.cpds[1].probabilities, expected)


def test_a_document_type_without_entities_is_passed_over(tmp_path: Path) -> None:
    head, rest = SMALL.split("\n", 1)
    text = f"{head}\n{DOCUMENT_TYPE}{rest}"
    assert_same_network(read(written(tmp_path, SMALL)), read(written(tmp_path, text)))


def test_a_file_in_another_encoding_is_read(tmp_path: Path) -> None:
    text = SMALL.replace('"1.0"', '"1.0" encoding="ISO-8859-1"').replace("dog", "été")
    path = tmp_path / "given.xml"
    path.write_bytes(text.encode("latin-1"))
    assert read(path).domain.names == ("light", "été")


def test_sums_that_are_slightly_off_are_kept_as_written(tmp_path: Path) -> None:
    network = read(written(tmp_path, SMALL.replace("0.6 ", "0.600009 ")))
    np.testing.assert_array_equal(network.cpds[0].probabilities, [0.600009, 0.4])


BOMB = '<!DOCTYPE BIF [<!ENTITY a "aaaa">\n<!ENTITY b "&a;&a;&a;&a;">]>\n<BIF>&b;</BIF>'
FILE = '<!DOCTYPE BIF [\n<!ENTITY a SYSTEM "file:secret">]>\n<BIF>&a;</BIF>'
CYCLE = SMALL.replace(
    "<FOR>light</FOR><TABLE>0.6 <!-- mostly --> 0.4",
    "<FOR>light</FOR><GIVEN>dog</GIVEN><TABLE>0.6 0.4 0.6 0.4 0.6 0.4",
)
MALFORMED = {
    "entity bomb": (BOMB, 1, 'defines the entity "a", which is refused'),
    "external entity": (FILE, 2, 'defines the entity "a", which is refused'),
    "parameter entity": (
        '<!DOCTYPE BIF [<!ENTITY % p SYSTEM "x"> %p;]><BIF/>',
        1,
        'defines the entity "p"',
    ),
    "undefined entity": (SMALL.replace("on<", "&o;<"), 6, "malformed here"),
    "no XML": ("network asia {\n}\n", 1, "no XMLBIF file: it is not XML"),
    "cut short": (SMALL[:-60], 21, "ends within <TABLE> of line 19, as if cut"),
    "crossed tags": (SMALL.replace("</FOR>\n", "</GIVEN>\n"), 17, "malformed here"),
    "wrong root": ("<html>\n</html>", 1, "root is <html>, not <BIF>"),
    "no network": ("<BIF>\n</BIF>", 1, "<BIF> lacks the element <NETWORK>"),
    "no variable": ("<BIF><NETWORK/></BIF>", None, "declares no variable"),
    "no name": (SMALL.replace("<NAME>light</NAME>", ""), 5, "lacks the element <NAME>"),
    "empty name": (SMALL.replace(">light</NAME>", "> </NAME>"), 6, "<NAME> is empty"),
    "no states": (
        SMALL.replace("<OUTCOME>on</OUTCOME><OUTCOME>off</OUTCOME>", ""),
        5,
        'variable "light" has no states',
    ),
    "state twice": (SMALL.replace(">off<", ">on<"), 5, 'lists state "on" twice'),
    "unknown parent": (
        SMALL.replace("<GIVEN>light<", "<GIVEN>ligth<"),
        18,
        r"a parent of \"dog\", is no declared variable; did you mean light\?",
    ),
    "duplicate node": (SMALL.replace(" dog\n  ", "light"), 9, "is declared twice"),
    "own parent": (SMALL.replace("<FOR>dog", "<FOR>light"), 19, "names a variable"),
    "second table": (
        SMALL.replace("<FOR>dog</FOR>\n  <GIVEN>light</GIVEN>", "<FOR>light</FOR>")
        .replace("0.1 0.2 0.7", "0.1 0.9")
        .replace("0.3 0.3 4e-1", ""),
        18,
        'variable "light" has a second table here',
    ),
    "no definition": (
        SMALL.replace("<FOR>light</FOR><TABLE>0.6 <!-- mostly --> 0.4</TABLE>", ""),
        13,
        "<DEFINITION> lacks the element <FOR>",
    ),
    "no table": (
        SMALL.replace("DEFINITION>\n  <FOR>l", "OTHER>\n  <FOR>l").replace(
            "</DEFINITION>\n<D", "</OTHER>\n<D"
        ),
        5,
        'variable "light" has no table',
    ),
    "two tables": (
        SMALL.replace("0.4</TABLE>", "0.4</TABLE>\n<TABLE>1 0</TABLE>"),
        15,
        "second <TABLE>",
    ),
    "wrong size": (SMALL.replace("0.3 0.3 4e-1", "0.3 0.7"), 19, "holds 5 numbers"),
    "sum off": (SMALL.replace("0.6 ", "0.62 "), 14, "sum to 1.02"),
    "negative": (SMALL.replace("0.1 0.2 ", "-0.1 0.4 "), 19, "negative probability"),
    "not a number": (SMALL.replace("0.2", "NaN"), 19, "not finite"),
    "infinite": (SMALL.replace("0.2", "1e999"), 19, "not finite"),
    "word in table": (SMALL.replace("0.2", "half"), 19, '"half", which is no number'),
    "cyclic": (CYCLE, 14, "close a cycle"),
    "decision": (
        SMALL.replace("nature", "decision"),
        5,
        'variable "light" is of the type "decision"; .*bayleaf decide',
    ),
    "deep nesting": ("<BIF>" + "\n<a>" * 200_000, 101, "nested more than 100 deep"),
    "bad note": (
        SMALL.replace("position = (1, 2)", "bayleaf_states = ['a'"),
        5,
        "cannot be read",
    ),
    "unknown encoding": (
        SMALL.replace('"1.0"', '"1.0" encoding="klingon"'),
        1,
        "encoding|malformed",
    ),
}


def test_a_malformed_file_is_refused_with_file_and_line(tmp_path: Path) -> None:
    def check(case: str) -> None:
        text, line, problem = MALFORMED[case]
        check_refused(read, written(tmp_path, text), line, problem)

    check_each(MALFORMED, check)


def test_a_file_above_the_limit_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL)
    with pytest.raises(NetworkFileError, match="larger than max_bytes"):
        read(path, max_bytes=100)


def test_a_flood_of_elements_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayleaf.io.formats.xml_elements.MAX_ELEMENTS", 20)
    path = written(tmp_path, "<BIF>\n" + "<a/>\n" * 30 + "</BIF>")
    with pytest.raises(NetworkFileError, match=r"line 21: .* more than 20 elements"):
        read(path)


def test_defaults_of_a_document_type_take_no_room(tmp_path: Path) -> None:
    text = '<!DOCTYPE a [<!ATTLIST b x CDATA "x" y CDATA "y">]><a><b y="1"/></a>'
    root = read_xml(written(tmp_path, text), "a", "XML")
    assert [child.attributes for child in root.children] == [{"y": "1"}]


def test_a_table_above_the_limit_names_its_variable(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="table of variable 't' would have 12 cells"):
        write(mixed_network(), tmp_path / "a.xml", max_table_cells=6)
    assert not (tmp_path / "a.xml").exists()


def test_an_older_file_stays_when_writing_fails(tmp_path: Path) -> None:
    path = written(tmp_path, "older")
    network = hard_network()
    first = network.cpds[0]
    broken = TableCPD(first.family, np.full(first.cards, 0.4))
    with pytest.raises(ValueError, match="do not sum to 1"):
        write(replace(network, cpds=(broken, *network.cpds[1:])), path)
    assert path.read_text(encoding="utf-8") == "older"
    assert [entry.name for entry in tmp_path.iterdir()] == ["given.xml"]


def test_a_file_cut_at_any_place_is_refused_with_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "given.xml"
    write(mixed_network(), path)
    content = path.read_bytes().rstrip()
    for length in range(1, len(content), 29):
        path.write_bytes(content[:length])
        with pytest.raises(NetworkFileError, match=r"^given\.xml, line \d+: .*$"):
            read(path)
