"""Networks in which numbers follow linear regressions beside tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import t
from sklearn.base import clone

import bayleaf
from bayleaf import KDBClassifier, NaiveBayesClassifier, TANClassifier
from bayleaf.cpds.linear_gaussian import columns_of
from bayleaf.explain import credible_intervals
from bayleaf.explorer import explorer_html
from bayleaf.io import ModelFileError, read_network
from bayleaf.io.exports.scoring_sums import write_pmml
from bayleaf.io.native.model_file import read_model
from bayleaf.models.networks.hybrid_network import HybridNetworkModel
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.search.left_out.linear_families import numeric_log_likelihoods

KINDS = {
    "nb": NaiveBayesClassifier(numeric="gaussian"),
    "tan": TANClassifier(numeric="gaussian"),
    "kdb": KDBClassifier(numeric="gaussian", k=2),
    "kdb_auto": KDBClassifier(
        numeric="gaussian", k="auto", smoothing="auto", calibration="leave_one_out"
    ),
    "weighted": KDBClassifier(
        numeric="gaussian", k="auto", numeric_weights="leave_one_out"
    ),
}
Table = tuple[pd.DataFrame, NDArray[np.str_]]


def mixed_table(n_rows: int = 120, missing: float = 0.1, seed: int = 0) -> Table:
    """Three related numbers and two nominal features, of two classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    a = rng.normal(size=n_rows) + y
    b = a * (1 - 2 * y) + rng.normal(size=n_rows)
    frame = pd.DataFrame(
        {
            "a": a.round(2),
            "colour": rng.choice(["red", "green", "blue"], size=n_rows),
            "b": b.round(2),
            "c": rng.exponential(size=n_rows).round(2),
            "size": np.where(rng.random(n_rows) < 0.3 + 0.4 * y, "big", "small"),
        }
    )
    for column in frame:
        frame.loc[rng.random(n_rows) < missing, column] = None
    return frame, np.where(y, "yes", "no")


@pytest.fixture(params=list(KINDS))
def model(request: pytest.FixtureRequest) -> Any:
    """An estimator of each kind that takes numbers as numbers, not fitted."""
    return clone(KINDS[request.param])


def test_numbers_alone_follow_t_densities_of_their_ranks() -> None:
    X, y = mixed_table(missing=0.0)
    model = NaiveBayesClassifier(numeric="gaussian").fit(X[["a"]], y)
    families = model.model_.linear.families
    codes = model._encode(X[["a"]]).codes
    z = families.positions[0][codes.column(0)]
    expected = np.empty((len(y), 2))
    for c, label in enumerate(model.classes_):
        own = z[y == label]
        n, mean = len(own), own.mean()
        # The intercept about the class's mean has a prior of little precision.
        spread = ((own - mean) ** 2).sum()
        pulled = ((z[y == "no"] - z[y == "no"].mean()) ** 2).sum()
        pulled += ((z[y == "yes"] - z[y == "yes"].mean()) ** 2).sum()
        variance = max((spread + 4 * pulled / len(y)) / (n + 4), 0.01)
        scale = (spread + 2 * variance) / (n + 2) * (1 + 1 / (n + 0.01))
        prior = (n + 1) / (len(y) + 2)
        expected[:, c] = np.log(prior) + t.logpdf(z, n + 2, mean, np.sqrt(scale))
    scores = model.model_.class_log_scores(codes)
    np.testing.assert_allclose(
        scores - scores[:, :1], expected - expected[:, :1], atol=1e-10
    )


def test_explanations_add_up_to_the_log_odds(model: Any) -> None:
    X, y = mixed_table()
    model.fit(X, y)
    scores = model.predict_joint_log_proba(X)
    codes = model._encode(X).codes
    ones, zeros = np.ones(len(X), dtype=np.intp), np.zeros(len(X), dtype=np.intp)
    prior, terms = model.model_.contributions(codes, ones, zeros)
    odds = scores[:, 1] - scores[:, 0]
    np.testing.assert_allclose(prior + terms.sum(axis=1), odds, atol=1e-10)
    absent = X.isna().to_numpy()
    assert not terms[absent].any()


@pytest.mark.parametrize("kind", ["nb", "tan", "kdb"])
def test_left_out_rows_are_scored_as_by_models_without_them(kind: str) -> None:
    X, y = mixed_table(n_rows=60, missing=0.0)
    model = KINDS[kind].fit(X, y)
    codes, families = model._training_codes, model.model_.linear.families
    found = numeric_log_likelihoods(families, codes, is_left_out=True)
    plain = np.ones(len(y), dtype=bool)
    for row in range(0, len(y), 7):
        others = plain.copy()
        others[row] = False
        expected = _refitted(families, codes, others, row)
        np.testing.assert_allclose(found[:, row], expected, atol=1e-9)


def _refitted(families: Any, codes: Any, others: Any, row: int) -> Any:
    """Sum of log densities of a row under regressions on the other rows."""
    z = columns_of(codes, families.features, families.positions)
    own = codes.column(codes.n_variables - 1)
    total = np.zeros(codes.cards[-1])
    for c in range(codes.cards[-1]):
        every = own == c
        means = z[:, every].mean(axis=1)
        used = every & others
        last = {int(i): f for f, i in enumerate(families.children.tolist())}
        for child, family in last.items():
            at = slice(families.starts[family], families.starts[family + 1])
            parents = families.parents[at]
            centred = z - means[:, None]
            A = np.vstack([np.ones(z.shape[1]), centred[parents]]).T
            G = np.linalg.inv(
                A[used].T @ A[used] + np.diag([0.01, *[1.0] * len(parents)])
            )
            b = G @ A[used].T @ centred[child, used]
            n = used.sum()
            sse = (centred[child, used] ** 2).sum() - b @ (
                A[used].T @ centred[child, used]
            )
            scale = (sse + families.facts[family, c, 2]) / (n + 2)
            h = A[row] @ G @ A[row]
            total[c] += t.logpdf(
                centred[child, row], n + 2, A[row] @ b, np.sqrt(scale * (1 + h))
            )
    return total


def test_a_repeated_row_equals_a_row_of_twice_the_weight(model: Any) -> None:
    X, y = mixed_table()
    weights = np.random.default_rng(1).integers(0, 3, size=len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    one = model.fit(X, y, sample_weight=weights).predict_proba(X)
    other = model.fit(X.iloc[repeated], y[repeated]).predict_proba(X)
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_the_order_of_rows_does_not_matter(model: Any) -> None:
    X, y = mixed_table()
    order = np.random.default_rng(2).permutation(len(y))
    one = model.fit(X, y).predict_proba(X)
    other = model.fit(X.iloc[order], y[order]).predict_proba(X)
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_threads_change_nothing(model: Any) -> None:
    X, y = mixed_table()
    one = model.fit(X, y).predict_proba(X)
    other = model.set_params(n_jobs=2).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(one, other)


def test_a_saved_model_predicts_the_same(model: Any, tmp_path: Path) -> None:
    X, y = mixed_table()
    model.fit(X, y).save(tmp_path / "model.json")
    read = bayleaf.load(tmp_path / "model.json")
    assert read.numeric == "gaussian"
    np.testing.assert_array_equal(read.predict_proba(X), model.predict_proba(X))


def test_a_given_prior_moves_the_odds_by_its_own_log_odds(model: Any) -> None:
    X, y = mixed_table()
    model.fit(X, y)
    before = model.predict_log_proba(X)
    changed = model.with_class_prior([0.2, 0.8]).predict_log_proba(X)
    prior = model.model_.class_prior
    shift = np.log(0.8 / 0.2) - np.log(prior[1] / prior[0])
    moved = (changed - before)[:, 1] - (changed - before)[:, 0]
    np.testing.assert_allclose(moved, shift, atol=1e-9)


def test_without_numbers_the_model_is_the_network_of_tables(model: Any) -> None:
    X, y = mixed_table()
    model.fit(X[["colour", "size"]], y)
    assert isinstance(model.model_, NetworkModel)
    assert model.network_.domain.names == ("colour", "size", "class")


def test_columns_of_few_values_keep_tables() -> None:
    X, y = mixed_table()
    X["few"] = np.tile([0.5, 1.5, 2.5], 40)
    model = NaiveBayesClassifier(numeric="gaussian").fit(X, y).model_
    assert isinstance(model, HybridNetworkModel)
    assert model.linear.families.features.tolist() == [0, 2, 3]
    parents, table = model.table(5)
    assert tuple(parents) == (6,)
    assert table.shape == (2, 3)


def test_numbers_alone_are_enough(model: Any) -> None:
    X, y = mixed_table()
    proba = model.fit(X[["a", "b"]], y).predict_proba(X[["a", "b"]])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)


def test_kdb_takes_the_strongest_earlier_numbers_as_parents() -> None:
    X, y = mixed_table(missing=0.0)
    X["twin"] = X["a"] + 0.001 * np.arange(len(y))
    model = KDBClassifier(numeric="gaussian", k=1).fit(X, y)
    assert ("twin", "a") in model.edges_ or ("a", "twin") in model.edges_
    assert model.n_number_parents_ == 1


def test_auto_takes_parents_where_the_dependence_tells_the_class() -> None:
    X, y = mixed_table(n_rows=400, missing=0.0)
    model = KDBClassifier(numeric="gaussian", k="auto").fit(X, y)
    assert model.n_number_parents_ >= 1


def test_learned_weights_do_not_raise_the_left_out_log_loss() -> None:
    X, y = mixed_table(n_rows=400)
    plain = KDBClassifier(numeric="gaussian", k=1, calibration="leave_one_out").fit(
        X, y
    )
    weighted = KDBClassifier(
        numeric="gaussian", k=1, numeric_weights="leave_one_out"
    ).fit(X, y)
    assert weighted.loo_score_.log_loss < plain.loo_score_.log_loss + 1e-3
    assert "weights: tables" in str(weighted.summary())


def test_the_shape_of_a_number_is_its_density_alone() -> None:
    X, y = mixed_table()
    model = KDBClassifier(numeric="gaussian", k=2).fit(X, y).model_
    shape = model.feature_shape(0, ("no", "yes"))
    assert shape.kind == "numeric"
    assert shape.row_counts.sum() == X["a"].notna().sum()
    nominal = model.feature_shape(1, ("no", "yes"))
    assert nominal.kind == "nominal"
    assert nominal.row_counts.sum() == X["colour"].notna().sum()


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"numeric": "normal"}, "numeric must be one of 'discretize', 'gaussian'"),
        ({"numeric_weights": "leave_one_out"}, "use numeric='gaussian'"),
        ({"numeric": "gaussian", "objective": "conditional"}, "fits tables alone"),
        ({"numeric": "gaussian", "n_features": 2}, "n_features counts along one order"),
    ],
)
def test_wrong_parameters_are_refused(
    parameters: dict[str, Any], sentence: str
) -> None:
    X, y = mixed_table()
    with pytest.raises(ValueError, match=sentence):
        KDBClassifier(**parameters).fit(X, y)


def test_what_cannot_be_asked_is_said(tmp_path: Path) -> None:
    X, y = mixed_table()
    model = NaiveBayesClassifier(numeric="gaussian").fit(X, y)
    with pytest.raises(AttributeError, match="linear-Gaussian families"):
        _ = model.network_
    path = tmp_path / "model.json"
    model.save(path)
    with pytest.raises(ModelFileError, match="network formats have no place"):
        read_network(path)
    with pytest.raises(ValueError, match="terms are tables alone"):
        write_pmml(read_model(path), tmp_path / "model.pmml")
    with pytest.raises(ValueError, match="nor rounded counts"):
        explorer_html(model, min_count=5)
    with pytest.raises(ValueError, match="neither credible intervals"):
        credible_intervals(model, X.iloc[:2])
    with pytest.raises(ValueError, match="needs all rows at once"):
        NaiveBayesClassifier(numeric="gaussian").partial_fit(
            X, y, classes=["no", "yes"]
        )
    with pytest.raises(ValueError, match="a regression in each class and no table"):
        model.model_.table(0)


def test_a_nominal_column_that_a_class_lacks_is_no_hindrance(model: Any) -> None:
    X, y = mixed_table()
    X.loc[y == "yes", "colour"] = None
    proba = model.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)
