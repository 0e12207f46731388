"""Pages of rounded counts: no small count, no rare name, near the classifier."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from bayleaf import BayesianNetworkEstimator, load
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.classifiers.shared.saving import kept_support
from bayleaf.counts.rounding import SeenCounts
from bayleaf.explorer import explorer_html
from bayleaf.explorer.published import published_predictor
from oracles.small_tables import classifier


def a_table(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns with a value and a class that two rows have."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes"], 240).astype(object)
    X = pd.DataFrame(
        {
            "a": np.where(rng.random(240) < 0.7, y, rng.choice(["no", "yes"], 240)),
            "b": rng.choice([*"uvw"], 240),
            "c": np.where(y == "yes", rng.normal(1, 1, 240), rng.normal(0, 1, 240)),
        }
    ).astype({"a": object, "b": object})
    X.loc[:1, "a"] = "HIVSECRET"
    y[2:4] = "the only duke"
    return X, y


@cache
def fitted(name: str):
    """A classifier of such a table, and the table."""
    X, y = a_table()
    return classifier(name).fit(X, y), X, y


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_rare_values_have_no_names_in_the_page(name: str) -> None:
    model, _, _ = fitted(name)
    open_page, page = explorer_html(model), explorer_html(model, min_count=5)
    for secret in ("HIVSECRET", "the only duke"):
        assert secret in open_page
        assert secret not in page
    assert "rare value 1" in page
    assert page == explorer_html(model, min_count=5)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_rounded_counts_predict_nearly_alike(name: str) -> None:
    model, X, _ = fitted(name)
    predictor = replace(model._predictor(), support=kept_support(model))
    codes = model._encode(X).codes
    exact = predictor.proba(codes)
    near = published_predictor(predictor, 3)[0].proba(codes)
    assert not np.array_equal(exact, near)
    assert np.abs(exact - near).mean() < 0.08


def multiples(row: np.ndarray, base: int) -> np.ndarray:
    """The rounded counts behind a distribution: (k base + 1/2) / (n base + m/2)."""
    totals = base * np.arange(500) + 0.5 * len(row)
    counts = (row * totals[:, None] - 0.5) / base
    errors = np.abs(counts - counts.round()).max(axis=1)
    assert errors.min() < 1e-6
    return base * counts.round()[np.argmax(errors < 1e-6)]


def test_tables_that_count_the_same_rows_tell_one_sum() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (300, 30)).astype(str)).astype(object)
    y = rng.choice(["no", "yes"], 300).astype(object)
    y[:3] = "rare"
    model = CLASSIFIERS["nb"]().fit(X, y)
    predictor = replace(model._predictor(), support=kept_support(model))
    published, base = published_predictor(predictor, 5)
    assert base == 5
    tables = [published.model.table(feature)[1] for feature in range(30)]
    for label in range(3):
        # Equal shares could be those of any sum.
        rows = [table[label] for table in tables if np.ptp(table[label]) > 0]
        assert len(rows) > 10
        assert len({multiples(row, base).sum() for row in rows}) == 1


def test_many_tables_of_the_same_rows_are_rounded_to_larger_steps() -> None:
    X, y = a_table()
    wide = pd.concat([X.add_suffix(str(copy)) for copy in range(10)], axis=1)
    bases = {}
    for name, table in {"narrow": X, "wide": wide}.items():
        model = CLASSIFIERS["aode"]().fit(table, y)
        predictor = replace(model._predictor(), support=kept_support(model))
        bases[name] = published_predictor(predictor, 5)[1]
    assert bases["narrow"] == 5
    assert bases["wide"] >= 7


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_rounding_follows_the_rows(name: str) -> None:
    X, y = a_table()
    shares = []
    for rows in (slice(None), slice(1, None)):
        model = classifier(name).fit(X[rows], y[rows])
        predictor = replace(model._predictor(), support=kept_support(model))
        seen = SeenCounts()
        predictor.model.drawn(predictor.support, seen)
        assert seen.total > 0
        shares.append(seen.key())
    assert shares[0] != shares[1]


def test_a_file_keeps_what_rounding_needs(tmp_path) -> None:
    model, _, _ = fitted("tan")
    model.save(tmp_path / "m.json")
    loaded = explorer_html(load(tmp_path / "m.json"), "t", min_count=5)
    assert "HIVSECRET" not in loaded


def test_a_network_is_refused() -> None:
    X, _ = a_table()
    network = BayesianNetworkEstimator().fit(X)
    for model in (network, network.network_):
        with pytest.raises(ValueError, match="min_count needs a classifier"):
            explorer_html(model, min_count=5)
    with pytest.raises(ValueError, match="min_count must be at least 1"):
        explorer_html(fitted("nb")[0], min_count=0)


def test_the_command_takes_a_least_count(tmp_path, capsys) -> None:
    from bayleaf.cli import main

    model, _, _ = fitted("tan")
    file, page = str(tmp_path / "m.json"), tmp_path / "p.html"
    model.save(file)
    assert main(["explore", file, "-o", str(page), "--min-count", "5"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "HIVSECRET" not in text
    assert re.search("multiples of 5", text)
    assert main(["explore", file, "-o", str(page), "--min-count", "0"]) == 2
    assert "min_count must be at least 1" in capsys.readouterr().err
    assert json.loads((tmp_path / "m.json").read_text())
