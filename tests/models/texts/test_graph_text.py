"""Graphs as text: chains, DOT and DAGitty's language."""

from __future__ import annotations

import contextlib
import random

import pytest

from bayleaf.models.texts.graph_text import (
    DrawnGraph,
    GraphTextError,
    dagitty_text,
    read_graph_text,
)
from offenders import check_each

DAGITTY = """
dag {
bb="-2.5,-3,2.5,3"
X [exposure,pos="-1.2,0.3"]
"chest pain" [outcome, pos="1,0"]
U [latent,pos="0,1"]
Z
U -> { X "chest pain" }   // not observed
X -> "chest pain" [beta=".5"]
/* a comment
   of two lines */
X <-> Z
}
"""
DOT = r"""
strict digraph "a network"
{
  graph [rankdir=LR]; node [shape=box, label="a ] b"];
  rankdir = LR
  a [label=<<b>A</b>>] [color=red]; b; # note
  a -> b -> "c \"d\"" [label="x -> y"];
  subgraph cluster_0 { e; f } -> b
  {g, h} <- a;
  x-ray
    -> a
}
"""


def drawn(text: str) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """Names, arcs and latent variables of a text."""
    graph = read_graph_text(text)
    return list(graph.names), graph.arcs, list(graph.latents)


def test_a_text_of_dagitty_gives_names_arcs_and_latent_variables() -> None:
    names, arcs, latents = drawn(DAGITTY)
    assert names == ["X", "chest pain", "U", "Z", "U_X_Z"]
    assert latents == ["U", "U_X_Z"]
    assert arcs == [
        ("U", "X"),
        ("U", "chest pain"),
        ("X", "chest pain"),
        ("U_X_Z", "X"),
        ("U_X_Z", "Z"),
    ]


def test_a_text_of_dot_gives_the_same_with_subgraphs_and_without_attributes() -> None:
    names, arcs, latents = drawn(DOT)
    assert names == ["a", "b", 'c "d"', "e", "f", "g", "h", "x-ray"]
    assert latents == []
    assert arcs == [
        ("a", "b"),
        ("b", 'c "d"'),
        ("e", "b"),
        ("f", "b"),
        ("a", "g"),
        ("a", "h"),
        ("x-ray", "a"),
    ]


def test_chains_may_be_written_in_all_these_ways() -> None:
    def check(text: str) -> None:
        assert drawn(text)[1] == [("a", "b"), ("a", "c"), ("d", "a")]

    check_each(
        [
            "a -> b; a -> c; d -> a",
            "a->{b c}\na<-d",
            "a → {b, c}; a ← d",
            "b <- a -> c; d ->\n a # ends here",
            "dag { a -> b a -> c d -> a }",
            "digraph{a -> {b; c}; d -> a;}",
            "'a' -> {\"b\" c}; a <- d // the last",
        ],
        check,
    )


def test_a_common_cause_gets_a_name_that_is_free() -> None:
    names, arcs, latents = drawn("U_a_b -> c; a <-> b; a ↔ b")
    assert latents == ["U_a_b_", "U_a_b__"]
    assert ("U_a_b__", "b") in arcs
    assert names[:2] == ["U_a_b", "c"]


def test_what_is_not_in_the_language_is_refused_in_a_sentence() -> None:
    def check(case: tuple[str, str]) -> None:
        text, message = case
        with pytest.raises(GraphTextError, match=message):
            read_graph_text(text)

    check_each(
        [
            ("a -- b", "'a -- b' has an arc that is neither -> nor <-; give its dir"),
            ("a --> b", "neither -> nor <-"),
            ("a <--> b", "neither -> nor <-"),
            ("a ~> b", "neither -> nor <-"),
            ("a => b", "neither -> nor <-"),
            ("a -> b, c", r"has a comma; write several variables as \{b c\}"),
            ("chest pain -> a", "'chest pain' is read as two names; put a name with"),
            ("a -> b c -> d", "'b c' is read as two names"),
            ("[a][b|a]", "names no arc; write arcs as 'a -> b' or"),
            ("a | b -> c", "has the sign '|'; put names with signs in double quotes"),
            ("a -> b -> ", "names no arc"),
            ("-> b", "names no arc"),
            ("a -> -> b", "names no arc"),
            ("a", "names no arc"),
            ('a -> "b', 'has a " without its end'),
            ("a -> b [x", r"has a \[ without its end"),
            ("a -> {b c", "a group lacks its closing brace"),
            ("dag {\na -> b", "line 1: a group lacks its closing brace"),
            ("a -> b }", "has the sign '}'"),
            ('a -> ""', "names no arc"),
            ("dag { a -> b } x -> y", "'x' follows the closing brace"),
            ("graph { a -- b }", "'graph' graphs have arcs without directions"),
            ("pdag{a -- b}", "'pdag' graphs have arcs without directions"),
            ("dag {\na -> b\nb -- c\n}", "line 3: 'b -- c' has an arc"),
            ("a <-> a", "'a' <-> itself; name two variables"),
            ("{" * 200 + "a" + "}" * 200, "nested too deeply"),
        ],
        check,
    )


def test_what_is_written_is_read_back() -> None:
    names = ["a", "dag", 'q "u" o', "back\\slash\\", "x-ray", "U 1", "line\nend", "é"]
    arcs = [("dag", "a"), ("U 1", 'q "u" o'), ("U 1", "back\\slash\\"), ("é", "a")]
    text = dagitty_text(names, arcs, ["U 1"])
    assert drawn(text) == (names, arcs, ["U 1"])


def random_graph(rng: random.Random) -> tuple[list[str], list, list[str]]:
    """Names with odd letters, arcs among them, and those that are latent."""
    letters = "ab .;->{}[]\"'\\#/,=\n\u00e9"
    names = list({"".join(rng.choices(letters, k=rng.randint(1, 6))) for _ in range(6)})
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    arcs = rng.sample(pairs, rng.randint(0, len(pairs)))
    return names, arcs, [name for name in names if rng.random() < 0.3]


def test_random_graphs_are_read_back() -> None:
    rng = random.Random(1)
    for _ in range(300):
        names, arcs, latents = random_graph(rng)
        assert drawn(dagitty_text(names, arcs, latents)) == (names, arcs, latents)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_texts_of_dagitty_mean_what_pgmpy_reads() -> None:
    base = pytest.importorskip("pgmpy.base")
    rng = random.Random(2)
    for _ in range(30):
        names = [f"v{i}" for i in range(rng.randint(2, 6))]
        pairs = [sorted(rng.sample(names, 2)) for _ in range(rng.randint(1, 6))]
        arcs = [rng.choice([f"{a} -> {b}", f"{b} <- {a}"]) for a, b in pairs]
        # pgmpy refuses latent variables without an arc.
        hidden = {rng.choice(pair) for pair in pairs[:2]}
        lines = [*(f"{name} [latent]" for name in hidden), *arcs]
        text = "dag {\n" + "\n".join(lines) + "\n}"
        expected = base.DAG.from_dagitty(text)
        _, found, latents = drawn(text)
        assert set(found) == set(expected.edges)
        assert set(latents) == set(expected.latents)


def test_mutated_texts_are_read_or_refused_in_a_sentence() -> None:
    rng = random.Random(0)
    for _ in range(300):
        text = list(rng.choice([DAGITTY, DOT, "a -> {b c}; d <-> e"]))
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(text))
            text[place : place + rng.randint(0, 3)] = rng.choice(
                ['"', "{", "}", "[", "]", "->", "--", ";", "\n", "", "\\", "'"]
            )
        with contextlib.suppress(GraphTextError):
            assert isinstance(read_graph_text("".join(text)), DrawnGraph)
