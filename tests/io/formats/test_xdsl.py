"""GeNIe's files: ours come back bit for bit, others' are read, bad ones are refused."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from bayleaf.io.formats import assemble
from bayleaf.io.formats.source_file import NetworkFileError
from bayleaf.io.formats.xdsl import read, write
from offenders import check_each
from oracles.hard_networks import assert_same_network, hard_network, mixed_network
from oracles.malformed_networks import check_refused

SMALL = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!-- made by hand -->
<smile version="1.0" id="Dog" numsamples="10000" discsamples="10000">
  <nodes>
    <cpt id="light" target="true">
      <state id="on" />
      <state id="off" />
      <probabilities>0.6 0.4</probabilities>
      <property id="source">a guess</property>
    </cpt>
    <cpt id="dog">
      <state id="out" />
      <state id="in" />
      <state id="away" />
      <parents>light</parents>
      <probabilities>0.1 0.2 0.7 0.3 0.3 4e-1</probabilities>
    </cpt>
    <deterministic id="bark">
      <state id="no" />
      <state id="yes" />
      <parents>light dog</parents>
      <resultingstates>no yes no yes no no</resultingstates>
    </deterministic>
  </nodes>
  <extensions>
    <genie version="1.0" app="GeNIe" name="Dog">
      <node id="light"><name>The light</name></node>
    </genie>
  </extensions>
</smile>
"""


def written(tmp_path: Path, text: str) -> Path:
    """A file with this text."""
    path = tmp_path / "given.xdsl"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("make", [hard_network, mixed_network])
def test_our_files_come_back_bit_for_bit(tmp_path: Path, make: object) -> None:
    network = make()  # type: ignore[operator]
    write(network, tmp_path / "a.xdsl")
    assert_same_network(network, read(tmp_path / "a.xdsl"))


def test_identifiers_are_safe_and_the_drawing_shows_the_names(tmp_path: Path) -> None:
    write(hard_network(), tmp_path / "a.xdsl")
    root = ElementTree.parse(tmp_path / "a.xdsl").getroot()
    identifiers = [node.get("id", "") for node in root.iter("cpt")]
    assert len(set(identifiers)) == len(hard_network().domain)
    for element in [*root.iter("cpt"), *root.iter("state")]:
        assert element.get("id", "").isidentifier()
    shown = {node.get("id"): node.findtext("name") for node in root.iter("node")}
    assert list(shown) == identifiers
    assert {"<=2", "été", 'say "hi"', "p, q & r"} <= set(shown.values())


def test_nodes_are_drawn_apart_and_below_their_parents(tmp_path: Path) -> None:
    network = mixed_network()
    write(network, tmp_path / "a.xdsl")
    root = ElementTree.parse(tmp_path / "a.xdsl").getroot()
    boxes = [list(map(int, str(e.text).split())) for e in root.iter("position")]
    assert len({tuple(box) for box in boxes}) == len(network.domain)
    for parent, child in network.dag.arcs:
        assert boxes[child][1] > boxes[parent][3]


def test_the_first_parent_varies_slowest(tmp_path: Path) -> None:
    network = read(written(tmp_path, SMALL))
    assert network.domain.names == ("light", "dog", "bark")
    expected = [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    np.testing.assert_array_equal(network.cpds[1].probabilities, expected)


def test_a_deterministic_node_becomes_a_table_of_zeros_and_ones(tmp_path: Path) -> None:
    network = read(written(tmp_path, SMALL))
    says_yes = network.cpds[2].probabilities[..., 1]
    np.testing.assert_array_equal(says_yes, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(network.cpds[2].probabilities.sum(axis=-1), 1.0)


def test_sums_that_are_slightly_off_are_kept_as_written(tmp_path: Path) -> None:
    network = read(written(tmp_path, SMALL.replace("0.6 0.4", "0.600009 0.4")))
    np.testing.assert_array_equal(network.cpds[0].probabilities, [0.600009, 0.4])


def other(tag: str) -> str:
    """The small network with its first node of another kind."""
    return SMALL.replace('<cpt id="light"', f'<{tag} id="light"').replace(
        "</cpt>", f"</{tag}>", 1
    )


MALFORMED = {
    "entity bomb": (
        '<!DOCTYPE smile [\n<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><smile>&b;</smile>',
        2,
        'entity "a", which is refused',
    ),
    "external entity": (
        '<!DOCTYPE smile [<!ENTITY a SYSTEM "file:secret">]>\n<smile>&a;</smile>',
        1,
        'entity "a", which is refused',
    ),
    "no XML": ("net\n{\n}\n", 1, "no XDSL file: it is not XML"),
    "cut short": (SMALL[:600], 20, "ends within <deterministic> of line 18"),
    "wrong root": ("\n<BIF/>", 2, "root is <BIF>, not <smile>"),
    "no nodes": ("<smile>\n</smile>", 1, "lacks the element <nodes>"),
    "no node": ("<smile>\n<nodes/></smile>", None, "declares no variable"),
    "no id": (SMALL.replace('<cpt id="dog">', "<cpt>"), 11, 'the attribute "id"'),
    "no states": (SMALL.replace('<state id="o', '<other id="o', 2), 5, "has no states"),
    "state twice": (SMALL.replace('"off"', '"on"'), 5, 'lists state "on" twice'),
    "unknown parent": (SMALL.replace(">light<", ">ligth<"), 16, "did you mean light"),
    "own parent": (SMALL.replace(">light<", ">dog<"), 16, "names a variable twice"),
    "parent twice": (SMALL.replace(">light d", ">dog d"), 22, "names a variable twice"),
    "duplicate node": (SMALL.replace('t id="dog', 't id="light'), 11, "declared twice"),
    "no table": (
        SMALL.replace("<probabilities>0.6 0.4</probabilities>", ""),
        5,
        "<cpt> lacks the element <probabilities>",
    ),
    "no results": (
        SMALL.replace("resultingstates", "probabilities"),
        18,
        "<deterministic> lacks the element <resultingstates>",
    ),
    "wrong size": (SMALL.replace("0.7 0.3 ", ""), 16, "holds 4 numbers, but"),
    "wrong results": (SMALL.replace("no yes no no<", "no<"), 22, "holds 6 numbers"),
    "undefined state": (SMALL.replace("no no<", "no oh<"), 22, 'should result in "oh"'),
    "sum off": (SMALL.replace("0.6 ", "0.62 "), 8, "sum to 1.02"),
    "negative": (SMALL.replace("0.1 0.2 ", "-0.1 0.4 "), 16, "negative probability"),
    "not a number": (SMALL.replace("0.2", "nan"), 16, "not finite"),
    "word in table": (SMALL.replace("0.2", "half"), 16, '"half", which is no number'),
    "cyclic": (
        SMALL.replace(
            "<probabilities>0.6 0.4",
            "<parents>dog</parents><probabilities>0.6 0.4 0.6 0.4 0.6 0.4",
        ),
        8,
        "close a cycle",
    ),
    "deep nesting": ("<smile>" + "\n<a>" * 200_000, 101, "nested more than 100 deep"),
    "decision": (other("decision"), 5, 'node "light" is a decision; .*bayleaf decide'),
    "utility": (other("utility"), 5, 'node "light" is a utility; .*bayleaf decide'),
    "noisy adder": (other("noisyadder"), 5, '"light" is a noisy adder, .*general'),
    "equation": (other("equation"), 5, 'node "light" is an equation, .*discretize'),
    "unheard-of node": (other("magic"), 5, 'node "light" is of the kind <magic>'),
    "dynamic": (SMALL.replace("<nodes>", "<dynamic /><nodes>"), 4, "is dynamic"),
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


def test_a_table_above_the_limit_names_its_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match="table of variable 't' would have 12 cells"):
        write(mixed_network(), tmp_path / "a.xdsl", max_table_cells=6)
    assert not (tmp_path / "a.xdsl").exists()
    monkeypatch.setattr(assemble, "MAX_TABLE_CELLS", 11)
    with pytest.raises(NetworkFileError, match='node "bark" would have 12 cells'):
        read(written(tmp_path, SMALL))


def test_a_file_cut_at_any_place_is_refused_with_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "given.xdsl"
    write(mixed_network(), path)
    content = path.read_bytes().rstrip()
    for length in range(1, len(content), 97):
        path.write_bytes(content[:length])
        with pytest.raises(NetworkFileError, match=r"^given\.xdsl, line \d+: .*$"):
            read(path)
