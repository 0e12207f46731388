"""HUGIN net files: what other programs write is read, and what we write comes back."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.io import NetworkFileError, read_network, write_network
from bayleaf.io.formats import bif, net
from bayleaf.io.formats.source_file import decoded
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each
from oracles.malformed_networks import check_refused
from oracles.odd_networks import network_of, odd_network

HEAD = """net { name = "two coins"; node_size = (80 40); }
node a { label = "first"; position = (10 20); states = ("yes" "no"); }
node b { states = ("low" "mid" "high"); }
"""
ROOT = "potential ( a ) { data = (0.2 0.8); }\n"
ROWS = "((0.1 0.3 0.6) (0.5 0.25 0.25))"
CHILD = [[0.1, 0.3, 0.6], [0.5, 0.25, 0.25]]
GOOD = HEAD + ROOT + f"potential ( b | a )\n{{\ndata = {ROWS};\n}}\n"


def tables(text: str) -> list[list[object]]:
    """All tables of a network in a text."""
    return [cpd.probabilities.tolist() for cpd in net.parsed(text, "x.net").cpds]


def assert_same(first: BayesianNetwork, second: BayesianNetwork) -> None:
    """Fail unless two networks are the same bit for bit, experience included."""
    assert second.domain == first.domain
    assert second.dag == first.dag
    for one, other in zip(first.cpds, second.cpds, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)
        assert (one.experience is None) == (other.experience is None)
        if one.experience is not None:
            np.testing.assert_array_equal(one.experience, other.experience)


POTENTIALS: list[Any] = [
    f"potential ( b | a ) {{ data = {ROWS}; }}",
    f'potential("b"|a,){{data={ROWS};}}',
    "potential (b | a) { data\n=( (  1E-1 .3 0.6 ) % yes\n (.5 25e-2 0.25)); }",
    "potential (b | a) { data = (0.1, 0.3, 0.6, 0.5, 0.25, 0.25); }",
    f"potential ( b | a ) {{ model_nodes = (); data = {ROWS}; x = 1; }}",
    f"/* ( */ potential ( b | a ) {{ // x\n data = {ROWS}; % }}\n }}",
]


def test_a_potential_is_read_however_it_is_written() -> None:
    def check(case: tuple[str, str]) -> None:
        potential, ends = case
        content = (HEAD + ROOT + potential).replace("\n", ends).encode()
        text = decoded(content, "x.net")
        assert tables(text) == [[0.2, 0.8], CHILD]

    check_each(product(POTENTIALS, ["\n", "\r\n", "\r"]), check)


@pytest.mark.parametrize("root", ["( a )", "(a|)", '("a" | )'])
def test_a_root_may_have_an_empty_condition(root: str) -> None:
    assert tables(GOOD.replace("( a )", root)) == [[0.2, 0.8], CHILD]


def test_the_first_parent_is_slowest_and_the_child_fastest() -> None:
    text = HEAD + "discrete node c { states = (x y); }" + ROOT
    text += "potential (b) { data = (0.5 0.25 0.25); }"
    text += """potential (c | b a) { data = (((0.1 0.9) (0.2 0.8))
        ((0.3 0.7) (0.4 0.6)) ((0.5 0.5) (0.6 0.4)));
        experience = ((1 2) (3 4) (5 6)); }"""
    cpd = net.parsed(text, "x.net").cpds[2]
    assert cpd.family == (1, 0, 2)
    assert cpd.probabilities[..., 0].tolist() == [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
    assert cpd.experience is not None
    assert cpd.experience.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_a_class_with_a_plain_body_is_read() -> None:
    body = GOOD[GOOD.index("node a") :]
    text = f"class coins {{ inputs = (); outputs = (a); name = x;\n{body} }}"
    assert tables(text) == [[0.2, 0.8], CHILD]


SUBTYPES: list[Any] = [
    ('states = ("0" "1"); subtype = number; state_values = (0 1);', ("0", "1")),
    ("states = (0 1);", ("0", "1")),
    ("states = (x, y z-1);", ("x", "y", "z-1")),
    ("subtype = number; state_values = (0.5 2);", ("0.5", "2")),
    (
        "subtype = interval; state_values = (-infinity 0 1.5 infinity);",
        ("[-infinity, 0)", "[0, 1.5)", "[1.5, infinity)"),
    ),
    ("subtype = boolean;", ("false", "true")),
    ('subtype = boolean; states = ("no" "yes");', ("no", "yes")),
    ('states = ("say \\"so\\"" "a%b;}");', ('say "so"', "a%b;}")),
]


def test_states_of_all_subtypes_have_readable_names() -> None:
    def check(case: tuple[str, tuple[str, ...]]) -> None:
        attributes, states = case
        p = [1.0, *[0.0] * (len(states) - 1)]
        numbers = " ".join(map(str, p))
        text = f"net {{}} node a {{ {attributes} }} "
        text += f"potential (a) {{ data = ({numbers}); }}"
        network = net.parsed(text, "x.net")
        assert network.domain == Domain((Variable("a", states),))
        assert network.cpds[0].probabilities.tolist() == p

    check_each(SUBTYPES, check)


def test_odd_names_and_types_survive(tmp_path: Path) -> None:
    network = odd_network()
    write_network(network, tmp_path / "odd.net")
    back = read_network(tmp_path / "odd.net")
    assert_same(network, back)
    for one, other in zip(network.domain, back.domain, strict=True):
        assert [type(s) for s in other.states] == [type(s) for s in one.states]


def test_experience_survives(tmp_path: Path) -> None:
    variables = [Variable(c, tuple("xyz"[:n])) for c, n in zip("abcd", (3, 2, 2, 3))]
    network = network_of(variables, [(), (0,), (1, 0), (0, 2, 1)])
    rng = np.random.default_rng(1)
    cpds = [
        TableCPD(cpd.family, cpd.probabilities, rng.random(cpd.cards[:-1]) * 1e3)
        for cpd in network.cpds
    ]
    network = replace(network, cpds=(*cpds[:3], network.cpds[3]))
    write_network(network, tmp_path / "x.net")
    assert_same(network, read_network(tmp_path / "x.net"))
    network = replace(network, cpds=tuple(cpds))
    write_network(network, tmp_path / "x.net")
    assert_same(network, read_network(tmp_path / "x.net"))


def test_tables_are_nested_by_parents() -> None:
    rows = (f"r{i}" for i in range(4))
    assert "".join(net.nested(rows, [2, 2], between=" ")) == "((r0 r1) (r2 r3))"
    assert "".join(net.nested(iter(["r"]), [])) == "r"


@pytest.mark.parametrize("name", ["alarm", "child", "hailfinder", "water"])
def test_a_published_network_comes_back_bit_for_bit(
    name: str, data_folder: Path, tmp_path: Path
) -> None:
    network = bif.read(data_folder / "networks" / f"{name}.bif")
    net.write(network, tmp_path / "copy.net")
    assert_same(network, net.read(tmp_path / "copy.net"))


# What is replaced in the good file by what, and the error: its line and words.
MALFORMED = {
    "missing brace": ('"high"); }', '"high"); ', 4, 'expected "=" after attribute'),
    "brace too many": ('"high"); }', '"high"); } }', 3, 'expected "net", "node"'),
    "cut file": (GOOD[-8:], "", 7, "found the end of the file"),
    "cut in data": (GOOD[-12:], "", 7, "found the end of the file"),
    "unknown parent": ("b | a", "b | c", 5, '"c", a parent of "b", is no declared'),
    "unknown child": ("( a )", "( d )", 4, '"d", which has a table, is no declared'),
    "sum": ("0.2 0.8", "0.2 0.82", 4, "sum to 1.02; they should sum to 1"),
    "negative": ("0.2 0.8", "-0.2 1.2", 4, "negative probability -0.2"),
    "nan": ("0.2 0.8", "nan 0.8", 4, 'expected a number, a parenthesis or ";"'),
    "infinite": ("0.2 0.8", "1e999 0", 4, "a number that is not finite"),
    "cycle": (ROOT, "potential (a | b) { data=(1 0 1 0 1 0); }\n", 4, "close a cycle"),
    "own parent": ("( b | a )", "( b | b )", 5, "names a variable twice"),
    "duplicate node": ("node b", "node a", 3, '"a" is declared twice; give'),
    "duplicate state": ('"yes"', '"no"', 2, 'lists state "no" twice'),
    "no states": ('states = ("low" "mid" "high");', "", 3, '"b" has no states'),
    "table too short": ("0.25 0.25", "0.5", 5, "holds 5 numbers, but its states"),
    "missing potential": (ROOT, "", 2, '"a" has no table; add its probabilities'),
    "no data": ("data = (0.2 0.8);", "", 4, "has no data; compute its table"),
    "second potential": (ROOT, ROOT * 2, 5, '"a" has a second table here'),
    "two children": ("( b | a )", "( b a )", 5, "is over 2 nodes; only conditional"),
    "no child": ("( b | a )", "( | a )", 5, "is over 0 nodes"),
    "open string": ('"high"', '"high', 3, "quotation mark is opened here and never"),
    "open comment": ("node b", "/* node b", 3, "a comment is opened here and never"),
    "open parenthesis": ("((0.1", "(((0.1", 7, "a parenthesis is opened here and"),
    "closed parenthesis": ("(0.2", "0.2", 4, 'a number, a parenthesis or ";"'),
    "deep nesting": ("(0.2", "(" * 50_000 + "0.2", 4, "a number, a parenthesis or"),
    "decision": ("node b", "decision b", 3, 'of kind "decision" stands here'),
    "utility": ("node b", "utility b", 3, 'of kind "utility" stands here'),
    "continuous": ("node b", "continuous node b", 3, 'of kind "continuous" stands'),
    "discrete decision": ("node b", "discrete decision b", 3, 'of kind "decision"'),
    "instance": ("node b", "instance b : c", 3, 'of kind "instance" stands here'),
    "experience": ("0.25));", "0.25)); experience = (1);", 5, "should be one count"),
    "negative experience": (
        "0.8);",
        "0.8); experience=(-1);",
        4,
        "should be one count",
    ),
    "open attribute": ("node_size = (80 40);", "x = 1", 1, 'lacks a ";" at its end'),
    "other text": (GOOD, "network x {}", 1, 'found "network"'),
    "open class": (GOOD, "class x { ", 1, 'a "}" that closes the class'),
    "nothing declared": (GOOD, "net {}", None, "declares no variable"),
}


def test_a_malformed_file_gives_one_sentence_with_the_line(tmp_path: Path) -> None:
    def check(case: str) -> None:
        old, new, line, words = MALFORMED[case]
        assert old in GOOD
        path = tmp_path / "bad.net"
        path.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
        check_refused(read_network, path, line, re.escape(words))

    check_each(MALFORMED, check)


def test_the_good_file_of_the_malformed_ones_is_good() -> None:
    assert tables(GOOD) == [[0.2, 0.8], CHILD]


def test_no_prefix_of_a_file_is_read() -> None:
    for length in range(len(GOOD.rstrip()) - 1):
        with pytest.raises(NetworkFileError):
            net.parsed(GOOD[:length], "x.net")
