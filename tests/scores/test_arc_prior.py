"""Priors on arcs: their terms, and the networks that they favour."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest

from bayleaf import BayesianNetworkEstimator
from bayleaf.graph.dag import DAG, CycleError
from bayleaf.scores.arc_prior import ArcPrior
from bayleaf.scores.local_scores import resolve_score
from offenders import check_each

BELIEFS: list[dict[tuple[int, int], float]] = [
    {},
    {(0, 1): 0.9},
    {(0, 1): 0.05, (1, 0): 0.9},
    {(2, 0): 0.6, (1, 2): 0.01, (0, 1): 1 / 3},
]


def _dags(n: int) -> list[frozenset[tuple[int, int]]]:
    pairs = list(itertools.combinations(range(n), 2))
    found = []
    for ways in itertools.product(range(3), repeat=len(pairs)):
        joined = zip(pairs, ways, strict=True)
        arcs = [(pair if way == 1 else pair[::-1]) for pair, way in joined if way]
        try:
            DAG.from_arcs(n, arcs)
        except CycleError:
            continue
        found.append(frozenset(arcs))
    return found


def _log_prior(arcs: frozenset[tuple[int, int]], beliefs: Any, n: int) -> float:
    """Log of the product over pairs of what is believed of how they are joined."""
    total = 0.0
    for a, b in itertools.combinations(range(n), 2):
        known = {arc: beliefs[arc] for arc in ((a, b), (b, a)) if arc in beliefs}
        rest = (1 - sum(known.values())) / (3 - len(known))
        joined = [arc for arc in ((a, b), (b, a)) if arc in arcs]
        total += math.log(known.get(joined[0], rest) if joined else rest)
    return total


def test_terms_are_ratios_of_the_product_over_pairs() -> None:
    def check(case: tuple[Any, Any]) -> None:
        beliefs, unit = case
        prior = ArcPrior.from_probabilities(beliefs, 3, unit)
        empty = _log_prior(frozenset(), beliefs, 3)
        base = math.log(2) if unit == "bits" else 1.0
        for arcs in _dags(3):
            parents = [[a for a, b in arcs if b == child] for child in range(3)]
            terms = math.fsum(prior.of(child, own) for child, own in enumerate(parents))
            expected = (_log_prior(arcs, beliefs, 3) - empty) / base
            assert terms == pytest.approx(expected, abs=1e-12)

    check_each(itertools.product(BELIEFS, ["nats", "bits"]), check)


def _rows(seed: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=(40, n))
    for j in range(1, n):
        copied = rng.random(40) < 0.35
        codes[copied, j] = codes[copied, j - 1]
    return codes


def _family_score(
    name: str, rows: np.ndarray, child: int, parents: tuple[int, ...]
) -> float:
    """Score of a binary variable with binary parents."""
    score = resolve_score(name)
    table = np.zeros((2 ** len(parents), 2))
    for row in rows:
        place = int("".join(str(row[p]) for p in parents) or "0", 2)
        table[place, row[child]] += 1
    total = float(score.rows_score(table, len(table), float(len(rows))))
    total += score.parents_score(len(parents), rows.shape[1])
    return total + score.cuts_score([1] * len(parents))


@pytest.mark.parametrize("name", ["bdeu", "mdl", "k2"])
@pytest.mark.parametrize(("seed", "n"), [(0, 3), (1, 3), (2, 4), (3, 4)])
def test_the_search_finds_the_most_probable_of_all_graphs(
    name: str, seed: int, n: int
) -> None:
    rows = _rows(seed, n)
    beliefs = {(1, 0): 0.95, (0, 2): 0.8, (2, 1): 0.02}
    unit = math.log(2) if name == "mdl" else 1.0
    # Graphs share most of their families.
    family_score = functools.cache(functools.partial(_family_score, name, rows))

    def posterior(arcs: frozenset[tuple[int, int]]) -> float:
        empty = _log_prior(frozenset(), beliefs, n)
        prior = (_log_prior(arcs, beliefs, n) - empty) / unit
        families = (
            (child, tuple(sorted(a for a, b in arcs if b == child)))
            for child in range(n)
        )
        return sum(family_score(*family) for family in families) + prior

    named = {(f"x{a}", f"x{b}"): p for (a, b), p in beliefs.items()}
    model = BayesianNetworkEstimator(
        local_score=name, arc_prior=named, n_restarts=6, random_state=0
    ).fit(rows)
    arcs = frozenset((int(a[1:]), int(b[1:])) for a, b in map(_texts, model.edges_))
    assert model.score_ == pytest.approx(posterior(arcs), abs=1e-8)
    best = max(map(posterior, _dags(n)))
    assert posterior(arcs) == pytest.approx(best, abs=1e-8)


def _texts(edge: tuple[Any, Any]) -> tuple[str, str]:
    return str(edge[0]), str(edge[1])
