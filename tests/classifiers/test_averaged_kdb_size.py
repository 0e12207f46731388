"""Limits of what fits take: networks, least rows, columns, memory."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayleaf import (
    A2DEClassifier,
    AODEClassifier,
    AveragedKDBClassifier,
    BayesianNetworkClassifier,
    BayesianNetworkEstimator,
    HNBClassifier,
    KDBClassifier,
    TANClassifier,
)
from bayleaf.counts.occupied import CountedSize
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.search.left_out.sampled_networks import NetworkSampler, coarse_coding
from offenders import check_each

QUICK: dict[str, Any] = {"weights": None, "correction": False, "random_state": 0}


def _table(n_rows: int = 400, n_columns: int = 6) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_rows)
    X = rng.normal(size=(n_rows, n_columns)) + 0.5 * y[:, None]
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(n_columns)]), y


@pytest.fixture
def sampler(monkeypatch: pytest.MonkeyPatch) -> NetworkSampler:
    """Of networks that take 16 000 bytes, divided by the least rows."""

    def size(_: NetworkSampler, min_rows: float) -> CountedSize:
        return CountedSize(int(1000 / min_rows), int(16000 / min_rows))

    monkeypatch.setattr(NetworkSampler, "size", size)
    codes = Codes.from_columns([np.zeros(300, int), np.zeros(300, int)], (1, 1))
    maps = (np.array([0, 1], dtype=np.uint16),)
    return NetworkSampler(RowCounts(codes), [maps], np.zeros(64, np.int64), 4, 100)


def test_more_rows_are_asked_for_before_networks_become_fewer(
    sampler: NetworkSampler,
) -> None:
    def check(case: tuple[int, bool, tuple[int, int]]) -> None:
        max_bytes, is_given, expected = case
        found = sampler.fitting_size(64, max_bytes, is_given=is_given)
        assert found == expected

    check_each(
        [
            (64 * 16000, False, (64, 1)),
            (64 * 16000 - 1, False, (64, 2)),
            (130_000, False, (64, 8)),
            (51_200, False, (64, 20)),
            (51_000, False, (32, 20)),
            (25_000, False, (16, 20)),
            (12_000, False, (16, 50)),
            (51_000, True, (64, 50)),
            (12_000, True, (64, 125)),
        ],
        check,
    )


def test_a_size_that_is_too_small_is_refused_with_one_that_is_enough(
    sampler: NetworkSampler,
) -> None:
    with pytest.raises(ValueError, match="max_model_size=10 is too small") as caught:
        sampler.fitting_size(64, 10, is_given=False)
    assert "\n" not in str(caught.value)
    found = re.search(r"(\d+) is enough", str(caught.value))
    assert found is not None
    sampler.fitting_size(64, int(found[1]), is_given=False)
    with pytest.raises(ValueError, match="memory=50 is too small"):
        sampler.fitting_size(64, 10, "memory", 5, is_given=False)


def test_a_smaller_model_keeps_within_its_limit() -> None:
    X, y = _table()
    whole = AveragedKDBClassifier(n_networks=3, **QUICK).fit(X, y)
    assert whole.min_rows_ == 1
    small = AveragedKDBClassifier(n_networks=3, max_model_size=120_000, **QUICK)
    small.fit(X, y)
    assert (small.n_networks_, small.model_.min_rows) == (3, small.min_rows_)
    assert small.min_rows_ > 1
    assert small.model_.n_bytes < whole.model_.n_bytes / 2
    assert "of memory" in str(small.summary())
    assert f"less than {small.min_rows_} rows" in str(small.summary())


@pytest.mark.parametrize("n_classes", [2, 6])
def test_a_configuration_of_parents_takes_few_bytes(n_classes: int) -> None:
    X, _ = _table(1500, 10)
    model = AveragedKDBClassifier(n_networks=1, **QUICK)
    model.fit(X, np.arange(1500) % n_classes)
    n_bytes, n_nodes = model.model_._bank.networks.size
    assert n_bytes < 40 * n_nodes


def test_too_small_a_limit_of_a_fit_names_one_that_works() -> None:
    X, y = _table()

    def check(given: dict[str, Any]) -> None:
        model = AveragedKDBClassifier(**QUICK, **given)
        memory = None if given else 1000
        with pytest.raises(ValueError, match="is too small for 16 networks") as caught:
            model.fit(X, y, memory=memory)
        enough = int(re.findall(r"(\d+) is enough", str(caught.value))[0])
        if given:
            assert model.set_params(max_model_size=enough).fit(X, y).n_networks_ == 16
        else:
            assert model.fit(X, y, memory=enough).n_networks_ == 16

    check_each([{"max_model_size": 1000}, {}], check)


def test_wide_tables_are_refused_memory_that_their_columns_exceed() -> None:
    X, y = _table(100, 80)
    model = AveragedKDBClassifier(random_state=0)
    with pytest.raises(ValueError, match="is too small for 80 features") as caught:
        model.fit(X, y, memory="10 MB")
    enough = int(re.findall(r"(\d+) is enough", str(caught.value))[0])
    assert model.fit(X, y, memory=enough).n_networks_ == 1


@pytest.mark.parametrize(
    "model",
    [
        BayesianNetworkClassifier(),
        BayesianNetworkEstimator(),
        HNBClassifier(),
        KDBClassifier(),
        TANClassifier(),
    ],
)
def test_searches_are_refused_memory_that_pairs_of_features_exceed(model: Any) -> None:
    X, y = _table(60, 12)
    table = pa.Table.from_pandas(X.assign(y=y.astype(str)))
    given = {"target": "y"} if hasattr(model, "predict_proba") else {}
    with pytest.raises(ValueError, match="is too small for the pairs of") as caught:
        model.fit(table.to_reader(30), memory=2000, **given)
    enough = int(re.findall(r"(\d+) is enough", str(caught.value))[0])
    assert model.fit(table.to_reader(30), memory=enough, **given) is model


def test_threads_and_batches_change_no_bit_of_a_limited_model() -> None:
    X, y = _table()
    table = pa.Table.from_pandas(X.assign(y=y))
    parameters = {"max_model_size": 150_000, "n_networks": 3, "random_state": 0}
    one = AveragedKDBClassifier(n_jobs=1, **parameters).fit(X, y)
    assert one.min_rows_ > 1
    two = AveragedKDBClassifier(n_jobs=2, **parameters).fit(X, y)
    batches = AveragedKDBClassifier(**parameters)
    batches.fit(table.to_reader(70), target="y")
    for other in (two, batches):
        np.testing.assert_array_equal(
            other.predict_log_proba(X), one.predict_log_proba(X)
        )


def test_memory_bounds_networks_and_left_out_rows() -> None:
    X, y = _table()
    model = AveragedKDBClassifier(n_networks=3, random_state=0)
    model.fit(X, y, memory="600 kB")
    assert model.model_.n_bytes < 120_000
    # A log-likelihood counts the left-out rows: 15 kB hold a part of them only.
    whole = AveragedKDBClassifier(n_networks=3, random_state=0).fit(X, y)
    assert abs(model.log_likelihood_) < abs(whole.log_likelihood_) / 1.5
    assert model.fit(X, y).min_rows_ == 1


def test_tables_of_averages_that_do_not_fit_are_refused_before_counting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = _table()

    def check(kind: Any) -> None:
        model = kind().fit(X, y)
        assert "its tables take" in str(model.summary())
        with pytest.raises(ValueError, match=r"tables would take about .* of memory"):
            kind().fit(X, y, memory=1)
        with monkeypatch.context() as patch:
            patch.setattr("bayleaf.classifiers.shared.parameters._MOST_BYTES", 9)
            with pytest.raises(ValueError, match="more than 9 bytes") as caught:
                kind().fit(X, y)
            enough = int(re.findall(r"memory=(\d+)", str(caught.value))[0])
            kind().fit(X, y, memory=enough)

    check_each([AODEClassifier, A2DEClassifier], check)


def test_a_coarse_coding_has_the_finest_columns_of_few_states() -> None:
    def coding(*highest: int) -> tuple[Any, ...]:
        return tuple(np.arange(n + 1, dtype=np.uint16) for n in highest)

    chosen = coarse_coding([coding(4, 30, 9), coding(9, 12, 20), coding(7, 40, 3)])
    assert [int(states[-1]) for states in chosen] == [9, 12, 9]


@pytest.mark.parametrize(("n_columns", "n_measured"), [(60, 2), (61, 1)])
def test_many_columns_are_measured_in_one_coding(
    n_columns: int, n_measured: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = _table(20, n_columns)
    measured, plain = [], NetworkSampler._measured

    def counting(sampler: NetworkSampler, *given: Any) -> Any:
        measured.append(given)
        return plain(sampler, *given)

    monkeypatch.setattr(NetworkSampler, "_measured", counting)
    model = AveragedKDBClassifier(n_networks=2, max_parents=1, **QUICK)
    model.fit(X, y)
    # The first network is drawn once more where its size is measured.
    assert len(measured) - (n_columns == 60) == n_measured


@pytest.mark.slow
@pytest.mark.parametrize(("n_columns", "n_networks"), [(300, 2), (301, None)])
def test_very_many_columns_get_fewer_networks_and_parents(
    n_columns: int, n_networks: int | None
) -> None:
    X, y = _table(40, n_columns)
    model = AveragedKDBClassifier(n_networks=n_networks, **QUICK).fit(X, y)
    n_places = model.model_.networks[0].counts.families.shape[1]
    if n_networks is None:
        assert (model.n_networks_, n_places) == (15, 3)
    else:
        assert n_places == 5
