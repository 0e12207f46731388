"""Density models of tables read batch by batch are those of the tables in memory."""

from __future__ import annotations

from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from bayleaf import BayesianNetworkClassifier, BayesianNetworkEstimator, load
from bayleaf.counts import store_counts
from bayleaf.data.code_store import CodeStore
from oracles.batched_tables import reader, same_file, the_table

TREE = {"any": {"low": ["a", "b"], "high": ["c", "d"]}}
N_ROWS = 400


def chained(n_rows: int = N_ROWS, seed: int = 0, *, holes: bool = False) -> pa.Table:
    """Columns of which each depends on the one before."""
    rng = np.random.default_rng(seed)
    first = rng.choice([*"abcd"], n_rows)
    second = np.where(np.isin(first, ["a", "b"]) ^ (rng.random(n_rows) < 0.1), "p", "q")
    number = np.where(second == "p", 0.0, 2.0) + rng.normal(size=n_rows).round(2)
    few = rng.integers(0, 3, n_rows) + (number > 1)
    table = {"first": first, "second": second, "number": number, "few": few}
    if holes:
        table["first"] = np.where(rng.random(n_rows) < 0.1, None, first)
    return pa.table({name: pa.array(column.tolist()) for name, column in table.items()})


FORMS = {
    "FLAT": {},
    "ABS-E": {"abstraction": "given", "hierarchies": {"first": TREE}},
    "ABS-G": {"abstraction": "global"},
    "ABS-L1": {"abstraction": "local"},
    "ABS-Lf": {"abstraction": "local_refreshed", "n_restarts": 1},
    "TCPT": {"local_structure": "tree", "n_restarts": 1},
}


def estimator(form: str, **more: Any) -> BayesianNetworkEstimator:
    """One of the settings."""
    return BayesianNetworkEstimator(
        random_state=0, unknown="missing", **{**FORMS[form], **more}
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [7, 1_000_000])
def test_batches_of_any_size_give_the_density_of_the_table(
    form: str, size: int, tmp_path: Path
) -> None:
    table = chained()
    expected = estimator(form).fit(table)
    found = estimator(form).fit(reader(table, size))
    same_file(expected, found, tmp_path)
    assert found.trace_ == expected.trace_
    np.testing.assert_array_equal(
        found.score_samples(table), expected.score_samples(table)
    )


@pytest.mark.parametrize("form", [form for form in FORMS if form != "TCPT"])
def test_tables_are_learned_from_counts_of_all_rows(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_counts, "BLOCK_ROWS", 90)
    table = chained()
    expected = estimator(form).fit(table)
    found = estimator(form).fit(reader(table, 33), max_rows_in_memory=50)
    same_file(expected, found, tmp_path)
    assert "drawn at random" not in str(found.summary())


def test_columns_of_every_sort_are_read(tmp_path: Path) -> None:
    table = the_table(300)
    expected = estimator("FLAT", missing="state", n_restarts=1).fit(table)
    found = clone(expected).fit(reader(table, 40), max_rows_in_memory=100)
    same_file(expected, found, tmp_path)


def test_trees_get_a_sample_for_their_structure_and_all_rows_to_fill_it(
    tmp_path: Path,
) -> None:
    table = chained()
    found, again = (
        estimator("TCPT").fit(reader(table, size), max_rows_in_memory=150)
        for size in (90, 41)
    )
    same_file(found, again, tmp_path)
    told = "structure and score are of 150 of 400, drawn at random"
    assert told in str(found.summary())
    assert told in found.summary()._repr_html_()
    assert found.log_likelihood_ == pytest.approx(found.score(table), rel=1e-12)
    root = next(cpd for cpd in found.network_.cpds if len(cpd.family) == 1)
    laplace = np.exp(root.log_probabilities()).ravel()
    counted = laplace * (N_ROWS + len(laplace)) - 1
    np.testing.assert_allclose(counted, np.rint(counted), atol=1e-9)
    found.save(tmp_path / "tree.json")
    assert told in str(load(tmp_path / "tree.json").summary())


@pytest.mark.parametrize("form", ["FLAT", "TCPT"])
def test_rows_that_lack_cells_are_sampled_and_all_are_scored(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_counts, "BLOCK_ROWS", 90)
    table = chained(holes=True)
    whole = estimator(form, n_restarts=1).fit(reader(table, 50))
    same_file(estimator(form, n_restarts=1).fit(table), whole, tmp_path)
    found = estimator(form, n_restarts=1).fit(reader(table, 50), max_rows_in_memory=150)
    assert "network and score are of 150 of 400" in str(found.summary())
    expected = fsum(found.score_samples(table))
    assert found.log_likelihood_ == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("whole", [True, False])
def test_weights_of_a_density_are_a_column(whole: bool, tmp_path: Path) -> None:
    table, rng = chained(), np.random.default_rng(1)
    weights = rng.integers(0, 4, N_ROWS) * (1.0 if whole else rng.random(N_ROWS))
    with_weights = table.append_column("w", pa.array(weights))
    expected = estimator("FLAT").fit(table, sample_weight=weights)
    same_file(
        expected, estimator("FLAT").fit(with_weights, sample_weight="w"), tmp_path
    )
    for most in (1000, 100):
        found = estimator("FLAT").fit(
            reader(with_weights, 40), sample_weight="w", max_rows_in_memory=most
        )
        if whole:
            same_file(expected, found, tmp_path)
        assert found.edges_ == expected.edges_
        assert found.log_likelihood_ == pytest.approx(expected.log_likelihood_)


def test_densities_are_learned_from_sources_of_every_make(tmp_path: Path) -> None:
    table = chained()
    expected = estimator("FLAT").fit(table)
    (tmp_path / "parts").mkdir()
    for i in range(2):
        piece = table.slice(200 * i, 200)
        pa_parquet.write_table(piece, tmp_path / "parts" / f"{i}.parquet")
    store = tmp_path / "codes"
    sources = {
        "folder": tmp_path / "parts",
        "glob": str(tmp_path / "parts" / "*.parquet"),
        "dataset": pa_dataset.dataset(tmp_path / "parts"),
        "lazy": pl.scan_parquet(tmp_path / "parts" / "*.parquet"),
    }
    for source in sources.values():
        same_file(expected, estimator("FLAT").fit(source), tmp_path)
    first = estimator("FLAT").fit(sources["glob"], store=store)
    same_file(expected, first, tmp_path)
    same_file(expected, estimator("FLAT").fit(CodeStore.open(store)), tmp_path)
    same_file(expected, estimator("FLAT").fit(sources["glob"], store=store), tmp_path)


def test_relations_of_duckdb_give_densities(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pa_parquet.write_table(chained(), tmp_path / "t.parquet")
    relation = duckdb.connect().sql(f"SELECT * FROM '{tmp_path}/t.parquet'")
    expected = estimator("FLAT").fit(chained())
    same_file(expected, estimator("FLAT").fit(relation), tmp_path)


def test_ranges_of_a_hierarchy_cut_numbers_of_batches(tmp_path: Path) -> None:
    ranges = {"any": {"small": ["<= 0", "(0, 1]"], "large": ["> 1"]}}
    one = estimator("ABS-E", hierarchies={"number": ranges, "first": TREE})
    expected = clone(one).fit(chained())
    store = tmp_path / "codes"
    pa_parquet.write_table(chained(), tmp_path / "t.parquet")
    for most in (1000, 60):
        found = clone(one).fit(
            tmp_path / "t.parquet", store=store, max_rows_in_memory=most
        )
        same_file(expected, found, tmp_path)
    estimator("FLAT").fit(tmp_path / "t.parquet", store=tmp_path / "plain")
    with pytest.raises(ValueError, match="cuts it elsewhere than"):
        clone(one).fit(CodeStore.open(tmp_path / "plain"))


def test_hierarchies_over_opened_codes_are_those_of_the_table(tmp_path: Path) -> None:
    pa_parquet.write_table(chained(), tmp_path / "t.parquet")
    estimator("FLAT").fit(tmp_path / "t.parquet", store=tmp_path / "codes")
    found = estimator("ABS-E").fit(CodeStore.open(tmp_path / "codes"))
    same_file(estimator("ABS-E").fit(chained()), found, tmp_path)


def test_what_a_density_cannot_read_in_batches_is_said(tmp_path: Path) -> None:
    table = chained()
    groups = table.set_column(0, "first", pa.array(["low", *["a", "c"] * 200][:N_ROWS]))
    with pytest.raises(ValueError, match="cells that name 'low', a group of its"):
        estimator("ABS-E").fit(reader(groups, 50))
    with pytest.raises(ValueError, match="did you mean first"):
        estimator("ABS-E", hierarchies={"fist": TREE}).fit(reader(table, 50))
    with pytest.raises(TypeError, match="name their column"):
        estimator("FLAT").fit(reader(table, 50), sample_weight=[1.0])
    pa_parquet.write_table(table, tmp_path / "t.parquet")
    BayesianNetworkClassifier().fit(
        tmp_path / "t.parquet", target="second", store=tmp_path / "codes"
    )
    with pytest.raises(ValueError, match="codes are of a table with a class"):
        estimator("FLAT").fit(CodeStore.open(tmp_path / "codes"))


def test_the_network_classifier_learns_tables_from_counts_of_all_rows() -> None:
    table = chained()
    one = BayesianNetworkClassifier(random_state=0)
    expected = clone(one).fit(table, target="second")
    found = clone(one).fit(reader(table, 50), target="second", max_rows_in_memory=60)
    assert "drawn at random" not in str(found.summary())
    assert found.edges_ == expected.edges_
    for own, other in zip(found.network_.cpds, expected.network_.cpds, strict=True):
        np.testing.assert_array_equal(own.probabilities, other.probabilities)


ROW = st.tuples(
    st.sampled_from(["a", "b", ""]),
    st.integers(-3, 3),
    st.booleans(),
    st.integers(1, 3),
)


ANY_TABLE = given(
    st.lists(ROW, min_size=3, max_size=25), st.integers(1, 8), st.integers(1, 30)
)


def same_density_in_batches(rows: list[Any], size: int, most: int) -> None:
    columns = {name: [row[i] for row in rows] for i, name in enumerate("xyzw")}
    table = pa.table(columns)
    one = BayesianNetworkEstimator(random_state=0, n_restarts=1)
    expected = clone(one).fit(table, sample_weight="w")
    found = clone(one).fit(
        reader(table, size), sample_weight="w", max_rows_in_memory=most
    )
    assert found.edges_ == expected.edges_
    assert found.score_ == expected.score_
    assert found.log_likelihood_ == expected.log_likelihood_


@settings(max_examples=15, deadline=None)
@ANY_TABLE
def test_densities_of_small_tables_of_any_content(
    rows: list[Any], size: int, most: int
) -> None:
    same_density_in_batches(rows, size, most)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@ANY_TABLE
def test_densities_of_many_small_tables_of_any_content(
    rows: list[Any], size: int, most: int
) -> None:
    same_density_in_batches(rows, size, most)
