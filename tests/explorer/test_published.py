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
from bayleaf.explorer.page_content import published_predictor, quality_content
from bayleaf.models.page_model import page_model
from explorer.test_page import unpacked
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


@pytest.mark.few(5)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_rare_values_have_no_names_in_the_page(name: str) -> None:
    model, _, _ = fitted(name)
    open_page, page = explorer_html(model), explorer_html(model, min_count=5)
    for secret in ("HIVSECRET", "the only duke"):
        assert secret in open_page
        assert secret not in page
    assert "rare value 1" in page
    assert page == explorer_html(model, min_count=5)


def test_left_out_rows_are_rounded_and_few_are_hidden() -> None:
    model, _, y = fitted("nb")
    found = page_model(model, "")
    exact, rounded = quality_content(found, 1), quality_content(found, 5)
    assert exact["n"] == len(y)
    assert exact["error"] == model.loo_score_.error
    rows, observed = (unpacked(rounded[name]) for name in ("rows", "observed"))
    for counts in (rows, observed, rows - observed):
        assert not np.any((counts > 0) & (counts < 5))
    assert not np.any(rows % 5)
    assert rounded["error"] == round(exact["error"], 2)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_rounded_counts_predict_nearly_alike(name: str) -> None:
    model, X, _ = fitted(name)
    predictor = replace(model._predictor(), support=kept_support(model))
    codes = model._encode(X).codes
    exact = predictor.proba(codes)
    near = published_predictor(predictor, 3)[0].proba(codes)
    assert not np.array_equal(exact, near)
    assert np.abs(exact - near).mean() < 0.08


LEAST = (2, 3, 5, 10)


def a_table_of_rare_values(seed: int = 1) -> tuple[pd.DataFrame, np.ndarray]:
    """Texts, numbers and classes that 1 to 12 rows have, with missing cells."""
    rng = np.random.default_rng(seed)
    sizes = (1, 2, 3, 4, 5, 6, 10, 12)
    few = np.repeat(sizes, sizes)
    n = 300
    rest = n - len(few)
    X = pd.DataFrame(
        {
            "text": [*(f"text{k}" for k in few), *rng.choice(["u", "v"], rest)],
            "code": [*(1000 + few), *rng.choice([3, 4], rest)],
            "number": [*(100.0 * few), *rng.normal(0, 3, rest).round(2)],
        }
    ).astype({"text": object, "code": object})
    # The order of one column says nothing of the next.
    for name in X.columns:
        X[name] = X[name].to_numpy()[rng.permutation(n)]
    y = np.array([*(f"class{k}" for k in few), *rng.choice(["no", "yes"], rest)])
    X.loc[rng.random(n) < 0.1, "number"] = np.nan
    X.loc[(rng.random(n) < 0.1) & X["text"].isin(["u", "v"]), "text"] = None
    return X, y[rng.permutation(n)].astype(object)


def page_and_rows(model, X, y, page, weights=None):
    """Names of states on a page, the names on the plain one, and the rows of each."""
    plain = plain_page(model)
    codes = model._encode(X).codes
    places = [*range(X.shape[1]), plain["class"]]
    own = np.searchsorted(model.classes_, y)
    columns = [*(codes.column(v) for v in range(X.shape[1])), own]
    weights = np.ones(len(y)) if weights is None else weights
    for place, column in zip(places, columns, strict=True):
        names = plain["variables"][place]["states"]
        rows = np.bincount(column, weights, len(names) + 1)
        yield plain["variables"][place], page["variables"][place], rows[: len(names)]


@cache
def plain_page(model) -> dict:
    """What a page without rounding holds of a model."""
    return json_of(explorer_html(model))


def json_of(html: str) -> dict:
    """What a page holds of a model."""
    return json.loads(re.search(r'id="model"[^>]*>(.*?)</script>', html, re.S)[1])


@cache
def fitted_to_rare_values(name: str):
    """A classifier of a table of rare values, and the table."""
    X, y = a_table_of_rare_values()
    return classifier(name).fit(X, y), X, y


def check_names(model, X, y, min_count, weights=None) -> int:
    """Check that exactly the states of enough rows have names; count the others."""
    n_unnamed = 0
    text = explorer_html(model, min_count=min_count)
    for plain, page, rows in page_and_rows(model, X, y, json_of(text), weights):
        for code, name in enumerate(plain["states"]):
            shown = page["states"][code]
            if rows[code] >= min_count or name == "missing":
                assert shown == name
                assert code not in page["unnamed"]
            else:
                n_unnamed += 1
                assert re.fullmatch(r"rare value \d+", shown)
                assert f'"{name}"' not in text
                assert code in page["unnamed"]
        if "cuts" in plain:
            check_cuts(plain, page, rows, min_count)
        if "numbers" in plain:
            hidden = page["unnamed"]
            kept = [k for k in range(len(plain["numbers"])) if k not in hidden]
            assert [page["numbers"][k] for k in kept] == [
                plain["numbers"][k] for k in kept
            ]
            assert all(page["numbers"][k] is None for k in hidden)
    return n_unnamed


def check_cuts(plain, page, rows, min_count) -> None:
    """Cut points bound a named interval, or enough rows; all states are entered."""
    n = len(plain["cuts"]) + 1
    spans = page.get("spans", [[k, k, k] for k in range(n)])
    assert [*range(n)] == [k for a, _, b in spans for k in range(a, b + 1)]
    assert page["cuts"] == [plain["cuts"][last] for _, _, last in spans[:-1]]

    for first, middle, last in spans:
        assert first <= middle <= last
        named = [k for k in (first - 1, last + 1) if 0 <= k < n]
        around = all(k not in page["unnamed"] for k in named)
        assert rows[first : last + 1].sum() >= min_count or around
        assert first == last or {*range(first, last + 1)} <= {*page["unnamed"]}


@pytest.mark.few(12)
@pytest.mark.parametrize("min_count", LEAST)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_values_have_names_by_their_numbers_of_rows(name: str, min_count: int) -> None:
    model, X, y = fitted_to_rare_values(name)
    # Eight sizes each of texts, codes and classes; 1 to 6, 10 and 12 rows.
    least = 3 * sum(size < min_count for size in (1, 2, 3, 4, 5, 6, 10, 12))
    assert check_names(model, X, y, min_count) >= least


@pytest.mark.few(5)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_file_names_the_same_values(name: str, tmp_path) -> None:
    model, X, y = fitted_to_rare_values(name)
    page_model(model, "").quality()  # files contain what was asked for
    model.save(tmp_path / "m.json")
    loaded = load(tmp_path / "m.json")
    page = json_of(explorer_html(loaded, "t", min_count=5))
    assert page == json_of(explorer_html(model, "t", min_count=5))
    assert check_names(loaded, X, y, 5) > 0


def test_whole_weights_are_numbers_of_rows() -> None:
    X, y = a_table_of_rare_values()
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    for name in ("nb", "aode", "latent_class", "auto"):
        model = classifier(name).fit(X, y, sample_weight=weights)
        kept = np.isin(y, model.classes_)
        assert check_names(model, X[kept], y[kept], 5, weights[kept]) > 0


def test_other_weights_are_no_numbers_of_rows() -> None:
    X, y = a_table_of_rare_values()
    weights = np.full(len(y), 7.5)
    model = classifier("tan").fit(X, y, sample_weight=weights)
    assert check_names(model, X, y, 5) > 0
    batches = classifier("nb")
    batches.partial_fit(X[["text"]], y, classes=np.unique(y), sample_weight=weights)
    with pytest.raises(ValueError, match="not integers"):
        explorer_html(batches, min_count=5)


def test_batches_add_numbers_of_rows() -> None:
    X, y = a_table_of_rare_values()
    X = X[["text"]].fillna("u")
    for name in ("nb", "aode", "a2de", "tan"):
        model = classifier(name)
        for rows in (slice(0, 150), slice(150, None)):
            model.partial_fit(X[rows], y[rows], classes=np.unique(y))
        assert check_names(model, X, y, 5) >= 8


def test_missing_is_no_rare_value() -> None:
    X, y = a_table_of_rare_values()
    X["text"] = X["text"].fillna("u")
    X.loc[:2, "text"] = None
    model = classifier("auto").fit(X, y)
    page = json_of(explorer_html(model, min_count=5))["variables"][0]
    assert page["states"][page["missing"]] == "missing"


def test_ordered_categories_are_named_where_their_rows_are_known() -> None:
    rng = np.random.default_rng(0)
    grades = ["a", "b", "c", "d", "e", "f"]
    codes = rng.choice(6, 400, p=[0.3, 0.3, 0.3, 0.08, 0.01, 0.01])
    X = pd.DataFrame({"grade": pd.Categorical.from_codes(codes, grades, ordered=True)})
    y = np.where(rng.random(400) < 0.15 * codes, "yes", "no").astype(object)
    model = classifier("nb").fit(X, y)
    rows = np.bincount(codes, minlength=6)
    for min_count in (2, 5, 50):
        page = json_of(explorer_html(model, min_count=min_count))
        told = " ".join(page["variables"][0]["states"])
        for grade, own in zip(grades, rows, strict=True):
            assert own >= min_count or not re.search(rf"\b{grade}\b", told)
    assert "a" in json_of(explorer_html(model))["variables"][0]["states"][0]


def test_a_file_without_rows_by_value_is_refused() -> None:
    model = fitted("nb")[0]
    support = replace(kept_support(model), state_rows=None)
    predictor = replace(model._predictor(), support=support)
    with pytest.raises(ValueError, match="fit the classifier and save it again"):
        explorer_html(predictor, min_count=5)


def test_the_page_says_that_it_differs() -> None:
    (remark,) = json_of(explorer_html(fitted("nb")[0], min_count=3))["remarks"]
    assert "differs from the model" in remark
    assert "multiples of 5" in remark
    assert "fewer than 3 training rows" in remark


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
