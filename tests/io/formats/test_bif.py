"""BIF files: all that is published is read, and what we write comes back."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.io import NetworkFileError, read_network, write_network
from bayleaf.io.formats import bif, net
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each
from oracles.malformed_networks import check_refused
from oracles.odd_networks import network_of, odd_network

# Nodes, arcs and free parameters as the Bayesian Network Repository states them
# (Scutari, bnlearn.com/bnrepository).
PUBLISHED = {
    "alarm": (37, 46, 509),
    "andes": (223, 338, 1157),
    "asia": (8, 8, 18),
    "barley": (48, 84, 114005),
    "cancer": (5, 4, 10),
    "child": (20, 25, 230),
    "diabetes": (413, 602, 429409),
    "earthquake": (5, 4, 10),
    "hailfinder": (56, 66, 2656),
    "hepar2": (70, 123, 1453),
    "insurance": (27, 52, 1008),
    "link": (724, 1125, 14211),
    "mildew": (35, 46, 540150),
    "munin": (1041, 1397, 80592),
    "munin1": (186, 273, 15622),
    "munin2": (1003, 1244, 69431),
    "munin3": (1041, 1306, 71059),
    "munin4": (1038, 1388, 80352),
    "pathfinder": (109, 195, 72079),
    "pigs": (441, 592, 5618),
    "sachs": (11, 17, 178),
    "survey": (6, 6, 21),
    "water": (32, 66, 10083),
    "win95pts": (76, 112, 574),
}


def assert_same(first: BayesianNetwork, second: BayesianNetwork) -> None:
    """Fail unless two networks are the same bit for bit."""
    assert second.domain == first.domain
    assert second.dag == first.dag
    for one, other in zip(first.cpds, second.cpds, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


LARGE = {"barley", "diabetes", "link", "mildew", "pathfinder", "pigs"} | {
    name for name in PUBLISHED if name.startswith("munin")
}
# As large as the whole network, of which these are parts.
MORE_OF_MUNIN = {"munin2", "munin3", "munin4"}


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[pytest.mark.slow] * (name in LARGE)
            + [pytest.mark.long] * (name in MORE_OF_MUNIN),
        )
        for name in PUBLISHED
    ],
)
def test_a_published_network_is_read_and_comes_back_bit_for_bit(
    name: str, data_folder: Path, tmp_path: Path
) -> None:
    network = read_network(data_folder / "networks" / f"{name}.bif")
    n_arcs = sum(1 for _ in network.dag.arcs)
    assert (len(network.domain), n_arcs, network.n_parameters) == PUBLISHED[name]
    write_network(network, tmp_path / "copy.bif")
    assert_same(network, read_network(tmp_path / "copy.bif"))


@pytest.mark.slow
def test_munin_is_read_in_under_five_seconds(data_folder: Path) -> None:
    # Of processor time, whoever else is at work.
    start = time.process_time()
    read_network(data_folder / "networks" / "munin.bif")
    assert time.process_time() - start < 5


HEAD = """network "two coins" {
}
variable a { type discrete [ 2 ] { yes, no }; }
variable b { type discrete [ 3 ] { low, mid, high }; }
"""
ROOT = "probability ( a ) { table 0.2, 0.8; }\n"
ROWS = "(yes) 0.1, 0.3, 0.6; (no) 0.5, 0.25, 0.25;"
CHILD = [[0.1, 0.3, 0.6], [0.5, 0.25, 0.25]]


def tables(text: str) -> list[list[object]]:
    """All tables of a network in a text."""
    return [cpd.probabilities.tolist() for cpd in bif.parsed(text, "x.bif").cpds]


BLOCKS: list[Any] = [
    f"probability ( b | a ) {{ {ROWS} }}",
    f'probability("b"|"a"){{{ROWS}}}',
    f"probability ( b a ) {{ {ROWS} }}",
    f'probability ( "b" "a" ) {{ {ROWS} }}',
    "probability ( b | a ) { (no) .5 .25 25e-2; (yes) 1E-1 +0.3 0.6; }",
    'probability ( b | a ) { ("no") 0.5, 0.25, 0.25; ("yes") 0.1, 0.3, 0.6; }',
    "probability ( b | a ) { default 0.1, 0.3, 0.6; (no) 0.5, 0.25, 0.25; }",
    # The child slowest, as the format's author and other programs have it.
    "probability ( b | a ) { table 0.1, 0.5, 0.3, 0.25, 0.6, 0.25; }",
    # The child fastest: read so because the other order gives no distributions.
    "probability ( b | a ) { table 0.1, 0.3, 0.6, 0.5, 0.25, 0.25; }",
    "probability ( b | a ) { table 0.1 0.5 // low\n 0.3 0.25 /* ; */ 0.6 0.25; }",
    f"probability ( b | a ) {{ property source = (1; {ROWS} property x ; }}",
]


def test_a_table_is_read_however_it_is_written() -> None:
    def check(case: tuple[str, str]) -> None:
        block, ends = case
        text = (HEAD + ROOT + block).replace("\n", ends)
        assert tables(text.replace(ends, "\n")) == [[0.2, 0.8], CHILD]

    check_each(product(BLOCKS, ["\n", "\r\n", "\r"]), check)


def test_a_table_that_fits_both_orders_has_the_child_slowest() -> None:
    text = HEAD.replace("[ 3 ] { low, mid, high }", "[2] {low high}") + ROOT
    text += "probability ( b | a ) { table 0.9, 0.1, 0.1, 0.9; }"
    assert tables(text)[1] == [[0.9, 0.1], [0.1, 0.9]]
    text = text.replace("0.9, 0.1, 0.1, 0.9", "0.9, 0.4, 0.1, 0.6")
    assert tables(text)[1] == [[0.9, 0.1], [0.4, 0.6]]


# Both orders give distributions, but not the same ones.
BOTH = "0.2, 0.3, 0.5, 0.3, 0.5, 0.2, 0.5, 0.2, 0.3"
ROTATED = "0.2, 0.3, 0.5, 0.5, 0.2, 0.3, 0.3, 0.5, 0.2"
ROTATIONS = [[0.2, 0.3, 0.5], [0.5, 0.2, 0.3], [0.3, 0.5, 0.2]]
ONLY_FASTEST = "1, 0, 0, 1, 0, 0, 0.5, 0.25, 0.25"
ONLY_SLOWEST = "1, 1, 0.5, 0, 0, 0.25, 0, 0, 0.25"


def three_states(b: str, c: str, d: str) -> str:
    """A file whose variables b, c and d have tables given a."""
    of = "{ type discrete [3] { low, mid, high }; }"
    text = "".join(f"variable {name} {of}\n" for name in "abcd")
    text += "probability ( a ) { table 0.2, 0.3, 0.5; }\n"
    blocks = zip("bcd", (b, c, d), strict=True)
    return text + "".join(
        f"probability ( {name} | a ) {{ table {values}; }}\n" for name, values in blocks
    )


def test_one_table_decides_the_order_of_all_tables_of_a_file() -> None:
    transposed = np.transpose(ROTATIONS).tolist()
    assert tables(three_states(ROTATED, BOTH, ROTATED))[1] == transposed
    assert tables(three_states(ROTATED, BOTH, ONLY_SLOWEST))[1] == transposed
    assert tables(three_states(ROTATED, BOTH, ONLY_FASTEST))[1] == ROTATIONS


def test_tables_that_disagree_about_the_order_leave_others_unclear() -> None:
    with pytest.raises(
        NetworkFileError, match=r"x\.bif, line 6: the order .* is unclear"
    ):
        tables(three_states(ROTATED, ONLY_FASTEST, ONLY_SLOWEST))
    found = tables(three_states(BOTH, ONLY_FASTEST, ONLY_SLOWEST))
    assert found[2] == found[3] == [[1, 0, 0], [1, 0, 0], [0.5, 0.25, 0.25]]


def test_states_may_have_brackets_and_names_may_be_addresses() -> None:
    text = """variable <http://a.org/size> {
      type discrete [ 3 ] { Small [<10mm], Medium [10-20mm], Large (>20 mm) };
    } // a comment
    variable f { type discrete [ 2 ] { (-Inf,0.5], (0.5,7) }; }
    probability ( <http://a.org/size> ) { table 0.6, 0.3, 0.1; }
    probability ( f | <http://a.org/size> ) {
      (Small [<10mm]) 0.9, 0.1; (Large (>20 mm)) 0.2, 0.8; (Medium [10-20mm]) 0.6, 0.4;
    }"""
    network = bif.parsed(text, "x.bif")
    assert network.domain[0].states == (
        *("Small [<10mm]", "Medium [10-20mm]", "Large (>20 mm)"),
    )
    assert network.domain[1].states == ("(-Inf,0.5]", "(0.5,7)")
    assert network.cpds[1].probabilities.tolist()[1:] == [[0.6, 0.4], [0.2, 0.8]]


def test_charniaks_dogs_are_read_as_their_author_wrote_them() -> None:
    # Charniak (1991), "Bayesian networks without tears", figure 2, in the old style
    # of JavaBayes: no bar, no commas, quotes around names and properties.
    text = """// a file from 1997
network "Dog-Problem" { //3 variables
\tproperty "credal-set constant-density-bounded 1.1" ;\n}
variable  "bowel-problem" { //2 values
\ttype discrete[2] {  "true"  "false" };\n\tproperty "position = (335, 99)" ;\n}
variable  "family-out" {\n\ttype discrete[2] {  "true"  "false" };\n}
variable  "dog-out" {\n\ttype discrete[2] {  "true"  "false" };\n}
probability (  "bowel-problem" ) {\n\ttable 0.01 0.99 ;\n}
probability (  "family-out" ) {\n\ttable 0.15 0.85 ;\n}
probability (  "dog-out"  "bowel-problem"  "family-out" ) { //3 variables, 8 values
\ttable 0.99 0.97 0.9 0.3 0.01 0.03 0.1 0.7 ;\n}
"""
    network = bif.parsed(text, "dog.bif")
    assert network.domain.names == ("bowel-problem", "family-out", "dog-out")
    true = network.cpds[2].probabilities[..., 0]
    family_out = [0.99, 0.90]
    family_in = [0.97, 0.3]
    assert true.T.tolist() == [family_out, family_in]


def test_parents_are_axes_in_the_listed_order_the_first_slowest() -> None:
    text = HEAD + "variable c { type discrete [2] { x, y }; }" + ROOT
    text += "probability ( b ) { table 0.5, 0.25, 0.25; }\nprobability ( c | b, a ) {"
    rows = [(b, a) for a in ("yes", "no") for b in ("low", "mid", "high")]
    for i, (b, a) in enumerate(rows):
        text += f"({b}, {a}) 0.{i + 1}, 0.{9 - i};"
    cpd = bif.parsed(text + "}", "x.bif").cpds[2]
    assert cpd.family == (1, 0, 2)
    assert cpd.probabilities[..., 0].tolist() == [[0.1, 0.4], [0.2, 0.5], [0.3, 0.6]]
    table = ", ".join(str(p) for p in np.moveaxis(cpd.probabilities, 2, 0).ravel())
    text = text[: text.index("(low, yes)")] + f"table {table}; }}"
    back = bif.parsed(text, "x.bif").cpds[2]
    np.testing.assert_array_equal(back.probabilities, cpd.probabilities)


def test_names_of_several_words_are_read_as_other_programs_write_them() -> None:
    text = """network unknown {\n}
variable fruit kind {
    type discrete [ 2 ] { red apple, pear };
    property weight = 1 ; }
variable taste { type discrete [ 2 ] { very sweet, sour }; }
probability ( fruit kind ) { table 0.5, 0.5 ; }
probability ( taste | fruit kind ) {
    ( red apple ) 0.75, 0.25;
    ( pear ) 1.0, 0.0; }
"""
    network = bif.parsed(text, "x.bif")
    assert network.domain == Domain(
        (
            Variable("fruit kind", ("red apple", "pear")),
            Variable("taste", ("very sweet", "sour")),
        )
    )
    assert network.cpds[1].probabilities.tolist() == [[0.75, 0.25], [1.0, 0.0]]


def test_states_may_be_numbers_and_hold_signs() -> None:
    def check(state: str) -> None:
        text = HEAD.replace("yes", state) + ROOT
        text += f"probability ( b | a ) {{ {ROWS.replace('yes', state)} }}"
        network = bif.parsed(text, "x.bif")
        assert network.domain[0].states == (state, "no")
        assert network.cpds[1].probabilities.tolist() == CHILD

    check_each(["<5", "5-12", "12+", "Asy/Patchy", "Transp.", "0"], check)


@pytest.mark.parametrize(
    ("encoding", "state"), [("latin-1", "é"), ("utf-8-sig", "é"), ("utf-8", "漢")]
)
def test_files_of_usual_encodings_are_read(
    tmp_path: Path, encoding: str, state: str
) -> None:
    path = tmp_path / "x.bif"
    text = "network x {} variable a { type discrete [1] { yes }; }"
    text += "probability (a) { table 1; }"
    path.write_bytes(text.replace("yes", state).encode(encoding))
    assert read_network(path).domain[0].states == (state,)


def test_rows_that_miss_one_by_rounding_are_kept_as_written() -> None:
    text = HEAD + ROOT.replace("0.2", "0.200009") + f"probability (b|a) {{{ROWS}}}"
    assert tables(text)[0] == [0.200009, 0.8]


def test_odd_names_and_types_survive(tmp_path: Path) -> None:
    network = odd_network()
    write_network(network, tmp_path / "odd.bif")
    back = read_network(tmp_path / "odd.bif")
    assert_same(network, back)
    for one, other in zip(network.domain, back.domain, strict=True):
        assert [type(s) for s in other.states] == [type(s) for s in one.states]
    (tmp_path / "odd.bif").read_bytes().decode("ascii")


def test_a_tree_is_written_as_its_full_table(tmp_path: Path) -> None:
    states = Variable("a", ("x", "y")), Variable("b", ("x", "y"))
    network = network_of(list(states), [(), (0,)])
    leaves = Leaf(np.array([0.25, 0.75])), Leaf(np.array([1.0, 0.0]))
    tree = TreeCPD((0, 1), (2, 2), Split(0, ((0,), (1,)), leaves))
    network = replace(network, cpds=(network.cpds[0], tree))
    bif.write(network, tmp_path / "x.bif")
    back = read_network(tmp_path / "x.bif")
    assert back.cpds[1].probabilities.tolist() == [[0.25, 0.75], [1.0, 0.0]]


@pytest.mark.parametrize("module", [bif, net])
def test_a_table_that_is_too_large_is_refused_before_it_is_made(
    module: ModuleType, tmp_path: Path
) -> None:
    network = network_of([Variable(c, tuple("xyz")) for c in "ab"], [(), (0,)])
    with pytest.raises(ValueError, match="variable 'b' would have 9 cells"):
        module.write(network, tmp_path / "x", max_table_cells=8)
    assert not list(tmp_path.iterdir())
    module.write(network, tmp_path / "x", max_table_cells=9)


@pytest.mark.parametrize("module", [bif, net])
def test_a_table_without_distributions_is_not_written(
    module: ModuleType, tmp_path: Path
) -> None:
    network = network_of([Variable("a", ("x", "y"))], [()])
    for row in ([0.5, 0.6], [float("nan"), 1.0]):
        broken = replace(network, cpds=(TableCPD((0,), np.array(row)),))
        with pytest.raises(ValueError, match="table of variable 'a'"):
            module.write(broken, tmp_path / "x")
    assert not list(tmp_path.iterdir())


GOOD = HEAD + ROOT + f"probability ( b | a ) {{\n{ROWS}\n}}\n"
# What is replaced in the good file by what, and the error: its line and words.
MALFORMED = {
    "missing brace": ("high }; }", "high }; ", 5, 'expected "}" or an entry'),
    "brace too many": ("high }; }", "high }; } }", 4, 'expected "network", "variable"'),
    "no opening brace": ("variable a {", "variable a", 3, 'expected "{"'),
    "cut file": (GOOD[-20:], "", 7, "found the end of the file"),
    "no separator": ("0.8;", "0.8", 5, 'a number or ";"'),
    "unknown parent": ("b | a", "b | A2", 6, '"A2", a parent of "b", is no declared'),
    "unknown child": ("( a )", "( aa )", 5, '"aa", which has a table, is no declared'),
    "unknown state": ("(no)", "(nо)", 7, 'is no state of variable "a"; its states are'),
    "sum": ("0.2, 0.8", "0.2, 0.82", 5, "sum to 1.02; they should sum to 1"),
    "sum of a row": ("0.25, 0.25", "0.25, 0.2", 7, 'table of variable "b" holds prob'),
    "negative": ("0.2, 0.8", "-0.2, 1.2", 5, "negative probability -0.2"),
    "nan": ("0.2, 0.8", "nan, 0.8", 5, 'expected a number or ";", but found "nan"'),
    "infinite": ("0.2, 0.8", "1e999, 0", 5, "a number that is not finite"),
    "cycle": (
        ROOT,
        "probability ( a | b ) { default 0.2, 0.8; }\n",
        5,
        '"a" -> "b" -> "a" close a cycle',
    ),
    "own parent": ("( b | a )", "( b | b )", 6, "names a variable twice"),
    "parent twice": ("( b | a )", "( b | a, a )", 6, "names a variable twice"),
    "duplicate node": ("variable b", "variable a", 4, '"a" is declared twice; give'),
    "duplicate state": ("yes, no", "no, no", 3, 'lists state "no" twice'),
    "wrong count": ("[ 3 ]", "[ 4 ]", 4, "should have 4 states, but 3 are listed"),
    "huge count": ("[ 3 ]", "[ 99999999999999999999 ]", 4, "but 3 are listed"),
    "no count": ("[ 3 ]", "[ ]", 4, "expected the number of states"),
    "no states": ("[ 3 ] { low, mid, high }", "[0] {}", 4, "has no states"),
    "no type": ("type discrete [ 3 ] { low, mid, high };", "", 4, "has no states"),
    "continuous": ("type discrete [ 3 ]", "type real [ 3 ]", 4, 'of type "real"'),
    "table too short": ("0.2, 0.8", "1.0", 5, "holds 1 numbers, but its states"),
    "row too short": ("0.1, 0.3, 0.6", "0.4, 0.6", 7, "the row holds 2 numbers"),
    "key too long": ("(no)", "(no, no)", 7, "names 2 states, but variable"),
    "row missing": ("(no)", "property", 6, 'lack a row for ("no")'),
    "row twice": ("(no)", "(yes)", 7, 'the row for ("yes") is given twice'),
    "missing table": (ROOT, "", 3, '"a" has no table; add its probabilities'),
    "second table": (ROOT, ROOT + ROOT, 6, '"a" has a second table here'),
    "table entry twice": ("table 0.2", "table 0.2 0.8; table 0.2", 5, "given twice"),
    "second type": (
        "type discrete [ 2 ]",
        "type discrete [1] {z}; type discrete",
        3,
        "has a second type",
    ),
    "open string": ("(no)", '("no)', 7, "a quotation mark is opened here and never"),
    "open comment": ("(no)", "/* (no)", 7, "a comment is opened here and never"),
    "no property": ("property x = 1;", "propperty x = 1;", 1, "entry of the block"),
    "open property": ("{\n}", "{ property x }", 1, 'lacks a ";" at its end'),
    "parentheses": ("( a )", "(" * 50_000 + "a", 5, "expected"),
    "other text": (GOOD, "<?xml version='1.0'?>", 1, 'found "<?xml"'),
    "nothing declared": (GOOD, "network x {}", None, "declares no variable"),
}


def test_a_malformed_file_gives_one_sentence_with_the_line(tmp_path: Path) -> None:
    def check(case: str) -> None:
        old, new, line, words = MALFORMED[case]
        good = (
            GOOD.replace("{\n}", "{ property x = 1; }") if "property x" in old else GOOD
        )
        assert old in good
        path = tmp_path / "bad.bif"
        path.write_text(good.replace(old, new, 1), encoding="utf-8")
        check_refused(read_network, path, line, re.escape(words))

    check_each(MALFORMED, check)


def test_the_good_file_of_the_malformed_ones_is_good() -> None:
    assert tables(GOOD) == [[0.2, 0.8], CHILD]


@pytest.mark.parametrize("module", [bif, net])
def test_binary_data_are_refused(module: ModuleType, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for n_bytes in (3, 100, 10_000):
        path = tmp_path / "x.bin"
        path.write_bytes(rng.integers(0, 256, n_bytes, dtype=np.uint8).tobytes())
        with pytest.raises(NetworkFileError, match=r"^x\.bin"):
            module.read(path)


@pytest.mark.parametrize("module", [bif, net])
def test_a_file_larger_than_the_limit_is_refused(
    module: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "x.bif"
    module.write(network_of([Variable("a", ("x", "y"))], [()]), path)
    size = path.stat().st_size
    assert len(module.read(path, max_bytes=size).domain) == 1
    with pytest.raises(NetworkFileError, match="larger than max_bytes"):
        module.read(path, max_bytes=size - 1)


def test_every_prefix_of_a_file_is_refused_or_read() -> None:
    for length in range(len(GOOD.rstrip()) - 1):
        with pytest.raises(NetworkFileError):
            bif.parsed(GOOD[:length], "x.bif")


@pytest.mark.parametrize("default", ["", "default 0.5, 0.5;"], ids=["table", "default"])
def test_a_small_file_cannot_ask_for_a_huge_table(default: str) -> None:
    text = "network x {}"
    for i in range(60):
        text += f"variable v{i} {{ type discrete [2] {{ a, b }}; }}"
    for i in range(60):
        above = ", ".join(f"v{j}" for j in range(i))
        text += f"probability ( v{i} | {above} ) {{ {default or 'table 0.5, 0.5;'} }}"
    with pytest.raises(NetworkFileError, match=r"numbers, but its|rows, but only 0"):
        bif.parsed(text, "x.bif")


def test_a_variable_with_too_many_parents_is_refused() -> None:
    text = "network x {}"
    for i in range(70):
        text += f"variable v{i} {{ type discrete [1] {{ a }}; }}"
        text += f"probability ( v{i} ) {{ table 1; }}" if i < 69 else ""
    above = ", ".join(f"v{j}" for j in range(69))
    text += f"probability ( v69 | {above} ) {{ table 1; }}"
    with pytest.raises(NetworkFileError, match="has 69 parents; a table can have"):
        bif.parsed(text, "x.bif")


def test_a_note_that_cannot_be_read_names_its_line() -> None:
    text = GOOD.replace("high };", 'high };\nproperty bayleaf_states = "[1,2]";')
    with pytest.raises(NetworkFileError, match=r'line 4: the note "bayleaf_states"'):
        bif.parsed(text, "x.bif")


def test_two_variables_whose_notes_give_one_name_are_refused() -> None:
    note = "};\nproperty bayleaf_name = \"'x'\";"
    text = GOOD.replace("no };", f"no {note}").replace("high };", f"high {note}")
    with pytest.raises(
        NetworkFileError, match='line 5: two variables have the name "x"'
    ):
        bif.parsed(text, "x.bif")


def test_a_default_of_the_size_of_the_table_is_the_table(tmp_path: Path) -> None:
    path = tmp_path / "a.bif"
    rows = "table 0.2, 0.8;\n}\nprobability ( b | a ) {\n"
    for word in ("table", "default"):
        text = (
            "network x {\n}\nvariable a {\n type discrete [2] { n, y };\n}\n"
            "variable b {\n type discrete [2] { n, y };\n}\n"
            f"probability ( a ) {{\n{rows}{word} 0.9 0.3 0.1 0.7;\n}}\n"
        )
        path.write_text(text, encoding="utf-8")
        table = read_network(path).cpd("b").probabilities
        np.testing.assert_array_equal(table, [[0.9, 0.1], [0.3, 0.7]])
