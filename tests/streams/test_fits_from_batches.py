"""Models of tables read batch by batch are those of the same tables in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from bayleaf import (
    A2DEClassifier,
    AveragedKDBClassifier,
    KDBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from oracles.batched_tables import (
    CLASSIFIERS,
    N_ROWS,
    ROW,
    in_memory,
    reader,
    same_file,
    the_table,
)

# Columns of every sort but those whose many values make models slow to save.
NARROW = ["text", "few", "number", "truth", "date", "name", "constant", "label"]


def check_model_of_batches(
    estimator: Any, table: pa.Table, sizes: list[int], folder: Path
) -> None:
    expected = in_memory(estimator, table)
    features = table.drop_columns(["label"])
    probabilities = expected.predict_proba(features)
    for size in sizes:
        streamed = clone(estimator).fit(reader(table, size), target="label")
        same_file(expected, streamed, folder)
        np.testing.assert_array_equal(streamed.predict_proba(features), probabilities)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_batches_of_any_size_give_the_model_of_the_table(
    estimator: Any, tmp_path: Path
) -> None:
    # A2DE counts all triples of columns.
    n_rows = 200 if isinstance(estimator, A2DEClassifier) else 400
    table = the_table(n_rows).select(NARROW)
    check_model_of_batches(estimator, table, [7, 1_000_000], tmp_path)


def test_batches_of_columns_of_every_sort_give_the_model_of_the_table(
    tmp_path: Path,
) -> None:
    check_model_of_batches(TANClassifier(), the_table(), [7], tmp_path)


@pytest.mark.few(3)
@pytest.mark.slow
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_every_model_of_columns_of_every_sort_is_that_of_the_table(
    estimator: Any, tmp_path: Path
) -> None:
    check_model_of_batches(estimator, the_table(), [7, 1_000_000], tmp_path)


def sources(table: pa.Table, folder: Path) -> dict[str, Any]:
    """The same table from everywhere."""
    pa_parquet.write_table(table, folder / "whole.parquet", row_group_size=30)
    (folder / "parts").mkdir()
    for i in range(3):
        piece = table.slice(i * 90, 90)
        pa_parquet.write_table(piece, folder / "parts" / f"{i}.parquet")
    return {
        "path": folder / "whole.parquet",
        "text": str(folder / "whole.parquet"),
        "glob": str(folder / "parts" / "*.parquet"),
        "folder": folder / "parts",
        "list": [folder / "parts" / f"{i}.parquet" for i in range(3)],
        "dataset": pa_dataset.dataset(folder / "parts"),
        "scanner": pa_dataset.dataset(folder / "parts").scanner(),
        "lazy": pl.scan_parquet(folder / "whole.parquet"),
        "capsule": _Capsule(reader(table, 11)),
        "frame": table,
        "pandas": table.to_pandas(),
    }


class _Capsule:
    """Anything that hands over a stream."""

    def __init__(self, own: pa.RecordBatchReader) -> None:
        self._own = own

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._own.__arrow_c_stream__(requested_schema)


def test_sources_of_every_make_give_one_model(tmp_path: Path) -> None:
    table = the_table(240).drop_columns(["wide", "spelled"])
    expected = in_memory(TANClassifier(), table)
    for name, source in sources(table, tmp_path).items():
        if name == "pandas":
            continue
        found = TANClassifier().fit(source, target="label")
        assert found.model_.arcs == expected.model_.arcs, name
        same_file(expected, found, tmp_path)


def test_relations_of_duckdb_are_read(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    table = the_table().drop_columns(["span"])
    pa_parquet.write_table(table, tmp_path / "t.parquet")
    relation = duckdb.connect().sql(f"SELECT * FROM '{tmp_path}/t.parquet'")
    found = KDBClassifier(k=2).fit(relation, target="label")
    same_file(in_memory(KDBClassifier(k=2), table), found, tmp_path)


def test_csv_files_have_types_that_hold_for_all(tmp_path: Path) -> None:
    plain = the_table().drop_columns(["span", "date"])
    pa_csv.write_csv(plain.slice(0, 400), tmp_path / "1.csv")
    pa_csv.write_csv(plain.slice(400), tmp_path / "2.csv")
    found = NaiveBayesClassifier().fit(f"{tmp_path}/*.csv", target="label")
    expected = in_memory(NaiveBayesClassifier(), plain)
    assert found.model_.domain == expected.model_.domain
    features = plain.drop_columns(["label"])
    probabilities = expected.predict_proba(features)
    np.testing.assert_array_equal(found.predict_proba(features), probabilities)


def test_folders_tell_of_columns(tmp_path: Path) -> None:
    table = the_table()
    pa_dataset.write_dataset(
        table,
        tmp_path / "t",
        format="parquet",
        partitioning=["few"],
        partitioning_flavor="hive",
    )
    found = NaiveBayesClassifier().fit(tmp_path / "t", target="label")
    assert set(found.feature_names_in_) == set(table.schema.names) - {"label"}


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    "estimator", [TANClassifier(), AveragedKDBClassifier(n_networks=2, random_state=1)]
)
def test_weights_are_a_column(whole: bool, estimator: Any, tmp_path: Path) -> None:
    table = the_table(500, 3).select(NARROW)
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 4, 500).astype(float)
    if not whole:
        weights = rng.random(500) * (rng.random(500) < 0.9)
    expected = in_memory(estimator, table, weights)
    with_weights = table.append_column("w", pa.array(weights))
    found = clone(estimator).fit(
        reader(with_weights, 40), target="label", sample_weight="w"
    )
    features = table.drop_columns(["label"])
    if whole:
        same_file(expected, found, tmp_path)
    np.testing.assert_allclose(
        found.predict_proba(features), expected.predict_proba(features), atol=1e-12
    )


def test_ordered_categories_keep_their_order(tmp_path: Path) -> None:
    levels = ["low", "mid", "high", "top"]
    rng = np.random.default_rng(0)
    values = rng.choice(levels[:3], 300)
    label = np.where(np.isin(values, ["high"]) ^ (rng.random(300) < 0.1), "a", "b")
    frame = pl.DataFrame(
        {"x": pl.Series(values, dtype=pl.Enum(levels)), "label": label}
    )
    expected = NaiveBayesClassifier().fit(frame.drop("label"), frame["label"])
    found = NaiveBayesClassifier().fit(frame.lazy(), target="label")
    assert found.encoder_.domain == expected.encoder_.domain
    assert found.encoder_.domain[0].categories == tuple(levels)


def test_whole_numbers_are_labels(tmp_path: Path) -> None:
    table = the_table()
    label = pa.array(np.arange(N_ROWS) % 3)
    place = table.schema.get_field_index("label")
    table = table.set_column(place, "label", label)
    found = TANClassifier().fit(reader(table, 100), target="label")
    same_file(in_memory(TANClassifier(), table), found, tmp_path)
    assert found.predict(table.drop_columns(["label"])).dtype.kind == "i"


ANY_TABLE = given(st.lists(ROW, min_size=3, max_size=30), st.integers(1, 8))


def same_model_in_batches(rows: list[Any], size: int) -> None:
    names = ("text", "whole", "number", "label")
    kinds = (pa.string(), pa.int64(), pa.float64(), pa.bool_())
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
    table = pa.table(dict(zip(names, columns, strict=True)))
    features = table.drop_columns(["label"])
    label = pd.Series([row[3] for row in rows], name="label")
    try:
        expected = TANClassifier().fit(features, label)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20].replace("(", r"\(")):
            TANClassifier().fit(reader(table, size), target="label")
        return
    found = TANClassifier().fit(reader(table, size), target="label")
    assert found.model_.domain == expected.model_.domain
    assert found.encoder_.notes == expected.encoder_.notes
    assert found.log_likelihood_ == expected.log_likelihood_
    for one, other in zip(found.network_.cpds, expected.network_.cpds, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


@settings(max_examples=15, deadline=None)
@ANY_TABLE
def test_small_tables_of_any_content(rows: list[Any], size: int) -> None:
    same_model_in_batches(rows, size)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@ANY_TABLE
def test_many_small_tables_of_any_content(rows: list[Any], size: int) -> None:
    same_model_in_batches(rows, size)


def test_what_needs_rows_gets_a_sample_and_says_so() -> None:
    table = the_table()
    found = AveragedKDBClassifier(n_networks=2, random_state=0).fit(
        reader(table, 100), target="label", max_rows_in_memory=300
    )
    again = AveragedKDBClassifier(n_networks=2, random_state=0).fit(
        reader(table, 33), target="label", max_rows_in_memory=300
    )
    assert "300 of 800" in str(found.summary())
    features = table.drop_columns(["label"])
    np.testing.assert_array_equal(
        found.predict_proba(features), again.predict_proba(features)
    )
    counted = TANClassifier().fit(
        reader(table, 100), target="label", max_rows_in_memory=300
    )
    assert "drawn at random" not in str(counted.summary())
    expected = in_memory(TANClassifier(), table)
    assert counted.log_likelihood_ == expected.log_likelihood_


def test_partial_fit_goes_on_after_batches() -> None:
    table = the_table().select(["text", "truth", "label"])
    found = NaiveBayesClassifier().fit(reader(table, 90), target="label")
    more = the_table(200, 5).select(["text", "truth", "label"])
    found.partial_fit(more.drop_columns(["label"]), more.column("label").to_pandas())
    both = in_memory(NaiveBayesClassifier(), pa.concat_tables([table, more]))
    assert found.model_.network.cpds[0].probabilities.tolist() == (
        both.model_.network.cpds[0].probabilities.tolist()
    )
