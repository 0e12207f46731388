"""All classes with `partial_fit`: any cut into batches gives the model of one pass."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

from bayleaf.classifiers import CLASSIFIERS
from contract.test_group_cells import HIERARCHIES, STATES, random_table, without_groups

CLASSES = ["no", "yes"]
LATER = [pytest.mark.slow, pytest.mark.long]
SEEDS = [
    0,
    *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6)),
    *(pytest.param(seed, marks=LATER) for seed in range(6, 40)),
]


def incremental() -> dict[str, Any]:
    """Unfitted classifiers that learn from batches, by name and first setting."""
    models: dict[str, Any] = {}
    settings: list[dict[str, Any]] = [
        {},
        {"learning": "online"},
        {"k": 2},
        {"k": "auto"},
        {"search": "significance"},
        {"feature_selection": "forward_before"},
    ]
    for kind, setting in itertools.product(CLASSIFIERS.values(), settings):
        if not setting.keys() <= kind().get_params().keys():
            continue
        seed = {"random_state": 0} if "random_state" in kind().get_params() else {}
        model = kind(**seed, **setting)
        if hasattr(model, "partial_fit"):
            models[f"{kind.__name__}{setting or ''}"] = model
    return models


MODELS = incremental()


def table_for(model: Any, seed: int) -> tuple[pa.Table, list[str]]:
    """Rows with missing cells and, where the model reads them, names of groups."""
    table, labels = random_table(seed, 90)
    # The first batch has all states, which gives the domain.
    first = {name: ["pqrst"[i % 5] for i in range(15)] for name in "a"}
    first |= {name: [STATES[name][i % 3] for i in range(15)] for name in "bc"}
    table = {name: first[name] + cells for name, cells in table.items()}
    if "hierarchies" not in model.get_params():
        table = without_groups(table)
    return pa.table(table), ["no", "yes", "no"] * 5 + labels


def fresh(name: str) -> Any:
    """A model of this name that has seen no rows."""
    model = MODELS[name]
    params = model.get_params(deep=False)
    if "hierarchies" in params:
        params["hierarchies"] = HIERARCHIES
    return type(model)(**params)


def in_pieces(name: str, X: pa.Table, y: list[str], weights: Any, cuts: Any) -> Any:
    """A model that has learned the rows piece by piece."""
    model = fresh(name)
    for start, stop in itertools.pairwise([0, *cuts, len(y)]):
        piece = X.slice(start, stop - start)
        # The first call names the classes, whether or not a row has weight.
        classes = None if start else CLASSES
        model.partial_fit(piece, y[start:stop], classes, weights[start:stop])
    return model


def test_all_classes_with_partial_fit_are_tried() -> None:
    kinds = {type(model) for model in MODELS.values()}
    assert {kind.__name__ for kind in kinds} >= {
        "NaiveBayesClassifier",
        "TANClassifier",
        "KDBClassifier",
        "HNBClassifier",
        "HierarchicalMixtureNBClassifier",
    }


@pytest.mark.few(12)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", MODELS)
def test_any_cut_gives_the_model_of_one_pass(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = table_for(MODELS[name], seed)
    weights = rng.integers(0, 4, len(y)).astype(float)
    weights[:15] = 1.0
    first = int(rng.integers(40, 60))
    n_cuts = int(rng.integers(1, 20))
    later = np.sort(rng.choice(np.arange(first + 4, len(y)), n_cuts, replace=False))
    absent = int(rng.integers(n_cuts))
    weights[first : first + 3] = 0.0
    weights[later[absent] : [*later, len(y)][absent + 1]] = 0.0
    whole = in_pieces(name, X, y, weights, [first])
    pieces = in_pieces(name, X, y, weights, [first, first + 3, *later.tolist()])
    assert pieces.encoder_.domain == whole.encoder_.domain
    np.testing.assert_array_equal(
        pieces.predict_joint_log_proba(X), whole.predict_joint_log_proba(X)
    )
    if hasattr(whole, "counts_"):
        assert pieces.counts_ == whole.counts_


@pytest.mark.parametrize("name", MODELS)
def test_batches_of_no_weight_change_nothing(name: str) -> None:
    X, y = table_for(MODELS[name], 1)
    first, second = (X.slice(0, 50), y[:50]), (X.slice(50, 40), y[50:90])
    rows, labels = X.slice(90), y[90:]
    expected = fresh(name).partial_fit(*first, CLASSES).partial_fit(*second)
    model = fresh(name).partial_fit(rows, labels, CLASSES, [0.0] * len(labels))
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match="differs from the classes of the first call"):
        model.partial_fit(*first, ["no", "other"])
    for batch in (first, second):
        model.partial_fit(*batch).partial_fit(rows, labels, sample_weight=0.0)
    for weights in (0.0, [0.0] * len(labels)):
        with pytest.raises(ValueError, match="differs from the classes"):
            model.partial_fit(rows, labels, ["no"], weights)
        with pytest.raises(ValueError, match="feature names"):
            model.partial_fit(rows.rename_columns([*"abz"]), labels, None, weights)
        with pytest.raises(ValueError, match="one label a row"):
            model.partial_fit(rows, labels[1:], None, weights)
    np.testing.assert_array_equal(
        model.predict_joint_log_proba(X), expected.predict_joint_log_proba(X)
    )
    assert model.encoder_.domain == expected.encoder_.domain
    curves = [getattr(one, "learning_curves_", None) for one in (model, expected)]
    assert curves[0] == curves[1]
    fitted = fresh(name).fit(*first).partial_fit(rows, labels, None, 0.0)
    np.testing.assert_array_equal(
        fitted.predict_joint_log_proba(X),
        fresh(name).fit(*first).predict_joint_log_proba(X),
    )


@pytest.mark.few(12)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", MODELS)
def test_streams_and_counts_give_the_model_of_one_fit(name: str, seed: int) -> None:
    X, y = table_for(MODELS[name], seed)
    rows = X.append_column("class", pa.array(y))
    size = int(np.random.default_rng(seed).integers(1, 60))
    whole = fresh(name).fit(X, y)
    reader = pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches(size))
    streamed = fresh(name).fit(reader, target="class")
    expected = whole.predict_joint_log_proba(X)
    np.testing.assert_array_equal(streamed.predict_joint_log_proba(X), expected)
    params = fresh(name).get_params(deep=False)
    if whole._learns_from_rows or params.get("k") == "auto":
        with pytest.raises(ValueError, match=r"needs rows.*naive Bayes, TAN, KDB"):
            type(whole).from_counts(whole.count(rows), **params)
        return
    again = type(whole).from_counts(whole.count(rows), **params)
    np.testing.assert_array_equal(again.predict_joint_log_proba(X), expected)
