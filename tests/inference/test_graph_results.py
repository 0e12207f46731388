"""What graphs have in common: essential graphs, differences, separators."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest

from bayleaf import BayesianNetwork, NetworkStructure
from bayleaf.graph.separation import d_separated
from graph.test_equivalence import random_dag

NAMES = ("a", "b", "c", "d", "e", "f")
DRAWN = BayesianNetwork.from_edges("a -> b -> c <- d; c -> e", nodes=["f"])


def random_structure(seed: int) -> NetworkStructure:
    """A graph of six variables, of which the last may be latent."""
    rng = np.random.default_rng(seed)
    latents = NAMES[-1:] * int(rng.integers(2))
    return NetworkStructure(NAMES, random_dag(rng, 6, 0.4), latents=latents)


def separators_of(structure: NetworkStructure, first: str, second: str) -> set:
    """All sets of observed variables that separate two, by enumeration."""
    rest = [n for n in NAMES if n not in (first, second, *structure.latents)]
    sets = chain.from_iterable(combinations(rest, k) for k in range(len(rest) + 1))
    index = NAMES.index
    return {
        frozenset(given)
        for given in sets
        if d_separated(
            structure.dag, [index(first)], [index(second)], [index(n) for n in given]
        )
    }


def test_an_essential_graph_has_the_arcs_that_data_can_direct() -> None:
    graph = DRAWN.essential_graph()
    assert graph.directed == (("b", "c"), ("d", "c"), ("c", "e"))
    assert graph.undirected == (("a", "b"),)
    assert graph.names == DRAWN.names
    html = graph._repr_html_()
    assert html.count('class="arc"') == 4
    assert html.count("marker-end") == 3
    assert "a -- b" in str(graph)
    assert "3 directed arcs and 1 without a direction" in repr(graph)
    assert graph.to_dict()["undirected"] == [["a", "b"]]


def test_graphs_differ_by_links_and_by_directions_that_data_show() -> None:
    other = BayesianNetwork.from_edges("b -> a; b -> c -> d; e -> f", nodes=["f"])
    found = DRAWN.structure_difference(other)
    assert [str(arc) for arc in found] == [
        "missing: no link here, f -- e there",
        "direction: b -> c here, b -- c there",
        "direction: c <- d here, c -- d there",
        "extra: c -> e here, no link there",
    ]
    assert found.distance == len(found) == found.to_dict()["distance"] == 4
    plain = DRAWN.structure_difference(other, essential=False)
    assert (plain[1].first, plain[1].second, plain[1].kind) == ("a", "b", "direction")
    assert "Structural Hamming distance of the graphs: 4." in str(plain)
    assert DRAWN.structure_difference(DRAWN).distance == 0
    with pytest.raises(ValueError, match="only one has f, g; draw both with nodes="):
        DRAWN.structure_difference(
            BayesianNetwork.from_edges("a -> b -> c <- d -> e -> g")
        )


def test_equivalent_graphs_have_distance_zero_and_one_essential_graph() -> None:
    for seed in range(20):
        one, other = random_structure(seed), random_structure(seed + 100)
        same = one.essential_graph() == other.essential_graph()
        assert one.structure_difference(other).distance == (
            other.structure_difference(one).distance
        )
        assert not same or one.structure_difference(other).distance == 0


def test_minimal_separators_are_those_of_enumeration() -> None:
    for seed in range(15):
        structure = random_structure(seed)
        for first, second in combinations(NAMES, 2):
            every = separators_of(structure, first, second)
            minimal = {s for s in every if not any(other < s for other in every)}
            found = structure.d_separators(first, second)
            assert set(found) == minimal
            assert len(found[0]) == min(map(len, every)) if found else not every
            assert set(structure.d_separators(first, second, minimal=False)) == every


def test_separators_keep_to_what_is_required_and_forbidden() -> None:
    drawn = BayesianNetwork.from_edges("a -> b -> c -> d; a -> e -> d")
    assert drawn.d_separators("a", "d") == [{"b", "e"}, {"c", "e"}]
    assert drawn.d_separators("a", "d", forbidden="b", limit=1) == [{"c", "e"}]
    assert drawn.d_separators("a", "d", latent="e") == []
    assert drawn.d_separators("a", "d", required="b") == [{"b", "e"}]
    assert drawn.d_separators("a", "b") == []
    with pytest.raises(ValueError, match="'a' cannot be both first and required"):
        drawn.d_separators("a", "d", required="a")
    with pytest.raises(ValueError, match="'b' cannot be both required and latent or"):
        drawn.d_separators("a", "d", required="b", latent="b")


def test_implied_independences_have_a_smallest_set_for_every_open_pair() -> None:
    for seed in range(15):
        structure = random_structure(seed)
        claims = {
            (c.first, c.second): c.given for c in structure.implied_independences()
        }
        for pair in combinations(NAMES, 2):
            every = separators_of(structure, *pair)
            hidden = set(pair) & set(structure.latents)
            assert (pair in claims) == bool(every and not hidden)
            if pair in claims:
                assert frozenset(claims[pair]) in every
                assert len(claims[pair]) == min(map(len, every))
    assert str(DRAWN.implied_independences()[-1]) == "d _||_ e | c"
