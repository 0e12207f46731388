"""Short columns that stand for long ones, and how wrong they may be."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from bayleaf import NaiveBayesClassifier
from bayleaf.streams import stand_ins
from bayleaf.streams.stand_ins import NumberSummary

N = 8_000


@pytest.fixture(autouse=True)
def few_numbers_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Summaries of 512 numbers, as others are of a million."""
    monkeypatch.setattr(NumberSummary, "most", 1 << 9)


def hostile(kind: str) -> NDArray[np.float64]:
    rng = np.random.default_rng(1)
    normal = rng.normal(size=N)
    columns = {
        "normal": normal,
        "sorted": np.sort(normal),
        "reversed": np.sort(normal)[::-1],
        "one tie": np.where(rng.random(N) < 0.6, 0.0, normal),
        "heavy ties": np.where(rng.random(N) < 0.7, np.rint(normal * 5), normal),
        "nine orders": normal * 10.0 ** rng.integers(-4, 6, N),
        "rising ties": np.sort(rng.geometric(0.001, N) + (rng.random(N) < 0.3) / 7),
        "signed zeros": np.where(rng.random(N) < 0.5, -0.0, np.abs(normal)),
    }
    return columns[kind]


KINDS = (
    "normal",
    "sorted",
    "reversed",
    "one tie",
    "heavy ties",
    "nine orders",
    "rising ties",
    "signed zeros",
)


def summary_of(values: NDArray[Any]) -> NumberSummary:
    summary = NumberSummary(values.dtype, 2)
    summary.add(values, np.arange(len(values)) % 2, None)
    return summary


def in_batches(values: NDArray[Any], size: int) -> NumberSummary:
    summary = NumberSummary(values.dtype, 2)
    for first in range(0, len(values), size):
        batch = values[first : first + size]
        summary.add(batch, np.arange(len(batch)) % 2, None)
    return summary


def merged(values: NDArray[Any], n_parts: int) -> NumberSummary:
    parts = [summary_of(part) for part in np.array_split(values, n_parts)]
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [p[0].plus(p[1], np.arange(2), 2) if p[1:] else p[0] for p in pairs]
    return parts[0]


def summaries(values: NDArray[Any]) -> list[NumberSummary]:
    return [
        in_batches(values, N),
        in_batches(values, 1500),
        in_batches(values, 150),
        merged(values, 7),
        merged(values, 20),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_are_wrong_by_at_most_the_stated_error(kind: str) -> None:
    values = hostile(kind)
    ordered = np.sort(values)
    for summary in summaries(values):
        numbers = np.unique(np.concatenate([ordered, summary.values]))
        true = np.searchsorted(ordered, numbers, side="right")
        below = np.append(0, np.cumsum(summary.n_cells.sum(axis=1)))
        counted = below[np.searchsorted(summary.values, numbers, side="right")]
        assert len(summary.values) <= summary.most
        assert below[-1] == N
        assert summary.values[0] == ordered[0]
        assert summary.values[-1] == ordered[-1]
        assert np.abs(true - counted).max() <= summary.rank_error
        # Heavy ties are no reason for it to be large.
        assert summary.rank_error <= 0.13 * N


@pytest.mark.parametrize("kind", KINDS)
def test_quantiles_are_cut_within_the_stated_error(kind: str) -> None:
    values = hostile(kind)
    ordered = np.sort(values)
    for summary in summaries(values):
        error = summary.rank_error + summary.widest
        below = np.cumsum(summary.n_cells.sum(axis=1))
        for share in (0.01, 0.2, 0.5, 0.9, 0.999):
            place = min(int(np.searchsorted(below, share * N)), len(below) - 2)
            cut = summary.values[place : place + 2].mean()
            at = summary.values[place]
            low, high = (
                np.searchsorted(ordered, at, side=side) for side in ("left", "right")
            )
            # The tie that the quantile falls into is on neither side in part.
            wanted = np.clip(share * N, low, max(low, high))
            assert abs(np.searchsorted(ordered, cut) - wanted) <= error + high - low


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
def test_distinct_numbers_are_counted_or_estimated(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    few = rng.integers(0, 900, N).astype(dtype)
    assert {one.n_distinct for one in summaries(few)[2:4]} == {900}
    many = (rng.permutation(np.repeat(np.arange(6000), 2)) * 1_000_003).astype(dtype)
    found = {one.n_distinct for one in summaries(many)[2:4]}
    # Whatever the batches: the estimate depends on the numbers alone.
    assert len(found) == 1
    assert found.pop() == pytest.approx(6000, rel=0.06)
    all_differ = (rng.permutation(N) * 1_000_003).astype(dtype)
    assert summary_of(all_differ).n_distinct in (7_800, 7_900, N)


def streamed(table: pd.DataFrame, **options: Any) -> NaiveBayesClassifier:
    batches = pa.Table.from_pandas(table, preserve_index=False).to_batches(700)
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    return NaiveBayesClassifier(**options).fit(reader, target="label")


def test_streamed_columns_report_as_many_distinct_values_as_those_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(NumberSummary, "most", 1 << 20)
    rng = np.random.default_rng(0)
    n = 5_000
    late = np.repeat([0, 1, 2, 3, 4], n // 5)
    late[-3:] = 7, 8, 9
    table = pd.DataFrame(
        {
            "late": late,
            "late_floats": late / 2,
            "keys": rng.permutation(n) * 7,
            "floats": rng.normal(size=n),
            "text": rng.integers(0, 40, n).astype(str),
            "when": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 10**9, n), unit="s"),
            "label": rng.integers(0, 2, n),
        }
    )
    X, y = table.drop(columns="label"), table["label"]
    in_memory = NaiveBayesClassifier().fit(X, y).columns_
    found = streamed(table).columns_
    for facts in in_memory:
        if facts.read_as != "date part":
            assert facts.n_distinct == X[facts.name].nunique()
            assert facts.distinct_word is None
    assert found.to_dict() == in_memory.to_dict()


def test_joined_columns_report_about_how_many_numbers_are_distinct() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "number": rng.normal(size=N),
            "when": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.permutation(N) * 77, unit="s"),
            "label": rng.integers(0, 2, N),
        }
    )
    columns = streamed(table, discretizer="equal_frequency").columns_
    for name in ("number", "when"):
        facts = columns[name]
        assert facts.distinct_word == "about"
        assert facts.n_distinct == pytest.approx(N, rel=0.06)
        assert re.search(rf"{name} +\w+ +about [78],[0-9]00 ", str(columns))
    # Hours are many, though dates in them are joined.
    assert columns["when: hour"].states[0].startswith("cut at")
    assert "wrong by at most" in columns["when: days"].note
    assert columns["when: hour"].note == ""


def test_listed_values_are_a_bound_where_there_are_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from bayleaf.streams import spool, table_learning

    for module in (spool, table_learning):
        monkeypatch.setattr(module, "MOST_VALUES", 60)
    rng = np.random.default_rng(0)
    texts = np.array([f"v{number}" for number in range(90)])[rng.integers(0, 90, 3000)]
    table = pd.DataFrame({"text": texts, "label": rng.integers(0, 2, 3000)})
    facts = streamed(table).columns_["text"]
    assert (facts.n_distinct, facts.distinct_word) == (60, "at least")


@pytest.mark.parametrize("discretizer", ["equal_frequency", "equal_width"])
@pytest.mark.parametrize("kind", KINDS)
def test_streamed_cut_points_agree_within_the_note(kind: str, discretizer: str) -> None:
    values = hostile(kind)
    table = pd.DataFrame({"number": values, "label": np.arange(N) % 2})
    model = streamed(table, discretizer=discretizer)
    whole = NaiveBayesClassifier(discretizer=discretizer).fit(
        table[["number"]], table["label"]
    )
    cuts, expected = (m.encoder_.domain[0].cut_points for m in (model, whole))
    if discretizer == "equal_width":
        assert cuts == expected
        return
    stated = float(model.columns_[0].note.split("at most ")[1].split()[0]) / 100
    ordered = np.sort(values)
    assert len(cuts) == len(expected)
    ranks, exact = (np.searchsorted(ordered, c, side="right") for c in (cuts, expected))
    assert (np.abs(ranks - exact) / N).max() <= stated


def test_stated_shares_are_rounded_up() -> None:
    from bayleaf.streams.table_learning import _rounded_up

    shares = (0.0009401, 12.01, 0.5, 100.0)
    assert [*map(_rounded_up, shares)] == ["0.00095", "13", "0.5", "100"]


def test_sketches_are_small() -> None:
    sketch = summary_of(np.arange(N) / 7.0).hashes
    assert sketch is not None
    assert len(sketch) == stand_ins._N_HASHES
