from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pyarrow as pa
import pytest

from bayleaf.datasets import load_heart, load_mushroom, load_vote

Loader = Callable[[str], pa.Table]


@pytest.mark.parametrize(
    ("load", "n_rows", "n_features", "classes"),
    [
        (load_heart, 270, 13, {"absent": 150, "present": 120}),
        (load_mushroom, 5644, 22, {"edible": 3488, "poisonous": 2156}),
        (load_vote, 232, 16, {"democrat": 124, "republican": 108}),
    ],
)
def test_shipped_table_has_its_documented_size(
    load: Callable[..., object], n_rows: int, n_features: int, classes: dict[str, int]
) -> None:
    X, y = load(return_X_y=True)  # type: ignore[misc]
    assert (X.num_rows, X.num_columns) == (n_rows, n_features)
    assert Counter(y.tolist()) == classes


@pytest.mark.parametrize("load", [load_heart, load_mushroom, load_vote])
def test_shipped_table_names_source_and_licence(load: Callable[..., object]) -> None:
    table = load()
    assert table.source  # type: ignore[attr-defined]
    assert "Attribution" in table.licence  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("load", "name"),
    [(load_heart, "heart"), (load_mushroom, "mushroom"), (load_vote, "vote")],
)
def test_shipped_columns_equal_the_published_ones_up_to_names(
    load: Callable[..., object], name: str, load_table: Loader
) -> None:
    published = load_table(name)
    complete = published.filter(
        pa.array(
            [all(v is not None for v in row.values()) for row in published.to_pylist()]
        )
    )
    shipped = load().frame  # type: ignore[attr-defined]
    assert shipped.num_rows == complete.num_rows
    for ours, theirs in zip(shipped.columns, complete.columns, strict=True):
        counts = sorted(Counter(ours.to_pylist()).values())
        assert counts == sorted(Counter(theirs.to_pylist()).values())
    numbers = [f.name for f in shipped.schema if pa.types.is_floating(f.type)]
    for column in numbers:
        place = shipped.column_names.index(column)
        assert sorted(shipped.column(place).to_pylist()) == sorted(
            complete.column(place).to_pylist()
        )
