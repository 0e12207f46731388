"""Climbs find the equivalence class that rows were drawn from."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayleaf import read_network
from bayleaf.counts.table_counts import TableCounts
from bayleaf.data.value_hierarchy import flat_hierarchy
from bayleaf.graph.equivalence import are_equivalent, structural_hamming_distance
from bayleaf.scores import resolve_score
from bayleaf.search.tables.climbing import climb_tables

N_ROWS, N_RESTARTS, SEEDS = 50_000, 30, range(10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least"), [pytest.param("asia", 8, marks=pytest.mark.long), ("cancer", 10)]
)
def test_the_climb_scores_no_worse_than_the_truth(
    data_folder: Path, name: str, least: int
) -> None:
    network = read_network(data_folder / "networks" / f"{name}.bif")
    bic = resolve_score("bic")
    flat = [flat_hierarchy(variable.states) for variable in network.domain]
    n_reached = 0
    for seed in SEEDS:
        codes = network.sample_codes(N_ROWS, random_state=seed)
        source = TableCounts(codes, has_class=False)
        found = climb_tables(
            source,
            network.domain,
            bic,
            flat,
            refine=False,
            n_restarts=N_RESTARTS,
            seed=seed,
        )
        tables = source.family_counts(network.dag.families)
        rows = [table.reshape(-1, table.shape[-1]) for table in tables]
        truth = sum(float(bic.rows_score(t, len(t), N_ROWS)) for t in rows)
        n_reached += found.score >= truth - 1e-6
        if found.score == pytest.approx(truth, rel=0, abs=1e-6):
            assert are_equivalent(found.dag, network.dag)
            assert structural_hamming_distance(found.dag, network.dag) == 0
    assert n_reached >= least
