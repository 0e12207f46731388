"""DOT text names every variable and arc, whatever the names are."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ElementTree

import numpy as np

from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.io.formats.dot import to_dot
from oracles.hard_networks import hard_network, mixed_network, with_random_tables

# A label in quotes as Graphviz reads it: a backslash takes the next letter along.
LABEL = re.compile(r'^  n(\d+) \[label="((?:[^"\\]|\\.)*)"\];$', re.MULTILINE)
ARC = re.compile(r"^  n(\d+) -> n(\d+);$", re.MULTILINE)


def drawn(label: str) -> str:
    """What Graphviz draws for a quoted label."""
    shown = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], label)
    return html.unescape(shown)


def named(*names: str) -> str:
    """DOT text of a network without arcs over such names."""
    domain = Domain(tuple(Variable(name, ("a", "b")) for name in names))
    return to_dot(with_random_tables(domain, DAG(((),) * len(names)), 0))


def test_every_name_is_drawn_as_it_is() -> None:
    network = hard_network()
    labels = {int(index): drawn(text) for index, text in LABEL.findall(to_dot(network))}
    hidden = re.compile("[\t\r\x07\ud800]")
    expected = [hidden.sub("\ufffd", str(name)) for name in network.domain.names]
    assert [labels[index] for index in range(len(labels))] == expected


def test_letters_with_a_meaning_in_labels_are_escaped() -> None:
    names = ("back\\slash", "end\\", "\\N", "&eacute;", 'a"];b', "{x|y}", "<b>")
    labels = [drawn(text) for _, text in LABEL.findall(named(*names))]
    assert tuple(labels) == names


def test_every_arc_is_drawn_once() -> None:
    network = hard_network()
    arcs = [(int(a), int(b)) for a, b in ARC.findall(to_dot(network))]
    assert arcs == list(network.dag.arcs)


def test_states_stand_in_a_box_below_the_name() -> None:
    text = to_dot(mixed_network(), states=True)
    assert "node [shape=plain]" in text
    cells = re.findall(r"<td[^>]*>(.*?)</td>", text.splitlines()[3])
    assert cells == ["<b>b</b>", "x", "y", "z"]


def test_boxes_are_well_formed_for_all_names() -> None:
    network = hard_network()
    lines = to_dot(network, states=True).splitlines()[2 : 2 + len(network.domain)]
    for variable, line in zip(network.domain, lines, strict=True):
        box = re.fullmatch(r"  n\d+ \[label=<(<table.*</table>)>\];", line)
        assert box is not None
        rows = ElementTree.fromstring(box[1]).findall("tr")
        assert len(rows) == 1 + variable.n_states
        if variable.name in ("<=2", "p, q & r", 'say "hi"'):
            assert "".join(rows[0].itertext()) == variable.name


def test_the_text_can_be_written_as_utf_8() -> None:
    for states in (False, True):
        assert np.frombuffer(
            to_dot(hard_network(), states=states).encode(), np.uint8
        ).size
