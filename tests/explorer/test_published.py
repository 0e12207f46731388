"""Pages of rounded counts: no small count, no rare name, near the classifier."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bayleaf import BayesianNetworkEstimator, load
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.classifiers.shared.saving import kept_support
from bayleaf.explorer import explorer_html
from bayleaf.explorer.published import published_predictor


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


def fitted(name: str):
    """A classifier of such a table, and the table."""
    X, y = a_table()
    model = CLASSIFIERS[name]()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(X, y), X, y


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
    near = published_predictor(predictor, 3).proba(codes)
    assert not np.array_equal(exact, near)
    assert np.abs(exact - near).mean() < 0.08


def test_tables_of_naive_bayes_are_those_of_rounded_counts() -> None:
    X, y = a_table()
    model = CLASSIFIERS["nb"]().fit(X, y)
    predictor = replace(model._predictor(), support=kept_support(model))
    base = 5
    for table in [
        model.table(variable)[1]
        for model in [published_predictor(predictor, base).model]
        for variable in range(3)
    ]:
        for row in table.reshape(-1, table.shape[-1]):
            # Each share is (k base + 1/2) / (n base + m/2) for whole numbers k and n.
            totals = base * np.arange(200) + 0.5 * len(row)
            counts = (row * totals[:, None] - 0.5) / base
            assert np.abs(counts - counts.round()).max(axis=1).min() < 1e-6


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
