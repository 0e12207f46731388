"""A kind of model that only this file knows works wherever the library's own do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from numpy.typing import NDArray

import bayleaf
from bayleaf import plot
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.information import mutual_information
from bayleaf.counts.source import CountSource
from bayleaf.cpds.dirichlet import drawn_distributions
from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.smoothing import SMOOTHINGS_BY_NAME
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.describe.drawing import structure_dot, structure_text, table_rows
from bayleaf.explain import (
    conflicts,
    contexts,
    counterfactuals,
    credible_intervals,
    importance,
)
from bayleaf.explorer import explorer_html
from bayleaf.graph.dag import DAG
from bayleaf.io import ModelFileError, register_model_kind
from bayleaf.io.native.kinds import KINDS, FittedModel
from bayleaf.models import BayesianNetwork, ModelKind
from bayleaf.models.support.support_counts import (
    RowFacts,
    SupportCounts,
    TableSize,
    UsedCells,
)
from bayleaf.report import report_html, summarize
from offenders import check_each
from oracles.small_tables import small_table

Floats = NDArray[np.float64]
Table = tuple[pd.DataFrame, NDArray[np.str_]]


@register_model_kind("one_feature")
@dataclass(frozen=True, eq=False, repr=False)
class OneFeatureModel(ModelKind):
    """The class from a single feature; all others are independent of both."""

    domain: Domain
    feature: int
    prior: Floats
    given_class: Floats
    others: tuple[Floats, ...]

    def __post_init__(self) -> None:
        *cards, n_classes = self.domain.cards
        if not 0 <= self.feature < len(cards):
            raise ValueError(f"there is no feature {self.feature}")
        tables = (self.prior, self.given_class, *self.others)
        given = (n_classes, cards[self.feature])
        shapes = [(n_classes,), given, *((card,) for card in cards)]
        if [table.shape for table in tables] != shapes:
            raise ValueError("the tables do not fit the domain")
        sums = np.concatenate([table.sum(axis=-1).ravel() for table in tables])
        are_sums_one = np.abs(sums - 1.0).max() < 1e-8
        if not are_sums_one or min(table.min() for table in tables) < 0:
            raise ValueError("a table holds no distributions")

    @property
    def _class(self) -> int:
        return len(self.domain) - 1

    @property
    def n_parameters(self) -> int:
        free = [table.shape[-1] - 1 for table in self.others]
        return len(self.prior) - 1 + sum(free) + len(self.prior) * free[self.feature]

    @property
    def class_prior(self) -> Floats:
        return self.prior

    @property
    def log_likelihood_scope(self) -> str:
        return "class and all features"

    @property
    def arcs(self) -> list[tuple[int, int]]:
        return [(self._class, self.feature)]

    def class_log_scores(self, codes: Codes) -> Floats:
        scores = np.log(self.prior) + self._log_given(codes)
        for feature, table in enumerate(self.others):
            if feature != self.feature:
                states = codes.column(feature)
                scores += np.append(np.log(table), 0.0)[states][:, None]
        return scores

    def _log_given(self, codes: Codes) -> Floats:
        padded = np.pad(np.log(self.given_class), [(0, 0), (0, 1)])
        return padded[:, codes.column(self.feature)].T

    def feature_parents(self, feature: int) -> tuple[int, ...]:
        return ()

    def with_class_prior(self, class_prior: Floats) -> Self:
        return replace(self, prior=np.asarray(class_prior, dtype=np.float64))

    @cached_property
    def network(self) -> BayesianNetwork:
        cpds = [
            TableCPD((self._class, feature), self.given_class)
            if feature == self.feature
            else TableCPD((feature,), table)
            for feature, table in enumerate(self.others)
        ]
        cpds.append(TableCPD((self._class,), self.prior))
        dag = DAG(tuple(cpd.parents for cpd in cpds))
        return BayesianNetwork(self.domain, dag, tuple(cpds))

    @property
    def table_sizes(self) -> list[TableSize]:
        n_classes = len(self.prior)
        return [
            TableSize((), n_classes),
            TableSize((n_classes,), self.given_class.shape[1]),
        ]

    def count_rows(self, source: CountSource) -> Iterator[Floats]:
        (table,) = source.family_counts([(self._class, self.feature)])
        yield np.asarray(source.class_counts().sum())
        yield table.sum(axis=1)

    def drawn(self, support: SupportCounts, rng: np.random.Generator) -> Self:
        prior = support.drawn_prior(self.prior, 0, rng)
        table = drawn_distributions(self.given_class, support.strengths(1), rng)
        return replace(self, prior=prior, given_class=table)

    def used_cells(self, codes: Codes, support: SupportCounts) -> Iterator[UsedCells]:
        known = ~codes.missing(self.feature)
        rows = np.where(known[:, None], support.rows[1], np.inf)
        yield RowFacts(self.domain, codes).used(self.feature, [self._class], rows)


class OneFeatureClassifier(BayesianClassifier):
    """The feature that tells most of the class."""

    def _check(self) -> None:
        if self.smoothing == "auto":
            raise ValueError("smoothing='auto' is not defined here; name a rule")

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        smoothing, features = self.smoothing_, range(len(domain) - 1)
        families = [(len(features), feature) for feature in features]
        tables = counts.family_counts(families)
        best = int(np.argmax(mutual_information(counts)))
        model = OneFeatureModel(
            domain,
            best,
            self._class_prior(counts, smoothing),
            smoothing.estimate(tables[best]),
            tuple(smoothing.estimate(table.sum(axis=0)) for table in tables),
        )
        rows = counts.rows()
        scores = model.class_log_scores(rows.without_last())
        own = scores[np.arange(rows.n_rows), rows.column(len(features))]
        return Learned(model, float(own @ rows.weights))


@pytest.fixture
def table() -> Table:
    """Rows in which a number tells most of the class."""
    return small_table(0, n_rows=120)


@pytest.fixture
def fitted(table: Table, monkeypatch: pytest.MonkeyPatch) -> OneFeatureClassifier:
    """A classifier that files can name."""
    monkeypatch.setitem(CLASSIFIERS, "one_feature", OneFeatureClassifier)
    return OneFeatureClassifier(calibration="leave_one_out").fit(*table)


def test_a_class_that_loading_does_not_know_is_not_saved(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    unknown = OneFeatureClassifier().fit(*table)
    with pytest.raises(ValueError, match=r"CLASSIFIERS.* registers it"):
        unknown.save(path)
    assert not path.exists()
    namesake = type("TANClassifier", (bayleaf.TANClassifier,), {})().fit(*table)
    with pytest.raises(ValueError, match="load would not find the class TAN"):
        namesake.save(path)
    density = type("Density", (bayleaf.BayesianNetworkEstimator,), {})()
    with pytest.raises(ValueError, match="Density; pickle it"):
        density.fit(table[0]).save(path)
    monkeypatch.setitem(CLASSIFIERS, "one_feature", OneFeatureClassifier)
    unknown.save(path)
    assert type(bayleaf.load(path)) is OneFeatureClassifier


@pytest.mark.parametrize("name", SMOOTHINGS_BY_NAME)
def test_every_rule_of_smoothing_comes_back(
    name: str, table: Table, tmp_path: Path
) -> None:
    rule = SMOOTHINGS_BY_NAME[name]
    fitted = bayleaf.NaiveBayesClassifier(smoothing=rule).fit(*table)
    fitted.save(tmp_path / "model.json")
    read = bayleaf.load(tmp_path / "model.json")
    assert repr(read.smoothing) == repr(rule)


@pytest.fixture
def read(fitted: OneFeatureClassifier, tmp_path: Path) -> OneFeatureClassifier:
    """The same classifier after a way through a file."""
    fitted.save(tmp_path / "model.json")
    return bayleaf.load(tmp_path / "model.json")


def test_it_predicts_as_naive_bayes_on_its_feature(
    fitted: OneFeatureClassifier, table: Table
) -> None:
    X, y = table
    naive = bayleaf.NaiveBayesClassifier().fit(X[["height"]], y)
    assert fitted.edges_ == [("class", "height")]
    np.testing.assert_allclose(
        OneFeatureClassifier().fit(X, y).predict_proba(X),
        naive.predict_proba(X[["height"]]),
    )
    assert fitted.temperature_ != 1.0


def test_a_missing_feature_leaves_the_prior(table: Table) -> None:
    X = table[0].iloc[:2].copy()
    X.loc[:, "height"] = np.nan
    plain = OneFeatureClassifier().fit(*table)
    np.testing.assert_allclose(plain.predict_proba(X)[0], plain.model_.class_prior)


def test_summary_structure_and_tables_are_written(fitted: OneFeatureClassifier) -> None:
    assert "class and all features" in str(fitted.summary())
    assert "class -> height" in structure_text(fitted.model_)
    assert '"class" -> "height"' in structure_dot(fitted.model_)
    header, rows = table_rows(fitted.model_, "height")
    assert header[0] == "class"
    assert [row[1:] for row in rows] == fitted.model_.given_class.tolist()
    assert "OneFeatureModel" in fitted.model_._repr_html_()
    assert "; 11 free parameters>" in repr(fitted.model_)


def test_explanations_add_up(fitted: OneFeatureClassifier, table: Table) -> None:
    for explanation in fitted.explain(table[0].iloc[:5]):
        ratio = np.log(explanation.probability / explanation.against_probability)
        assert explanation.log_odds == pytest.approx(ratio)


def test_a_file_keeps_every_bit(
    fitted: OneFeatureClassifier,
    read: OneFeatureClassifier,
    table: Table,
) -> None:
    assert type(read.model_) is OneFeatureModel
    np.testing.assert_array_equal(
        read.predict_joint_log_proba(table[0]), fitted.predict_joint_log_proba(table[0])
    )
    assert str(read.summary()) == str(fitted.summary())


DAMAGES = [
    (
        '"given_class": {"shape": [2',
        '"given_class": {"shape": [3',
        "numbers for its",
    ),
    (
        '"given_class": {"shape": [2',
        '"given_class": {"shape": [-1',
        "integers",
    ),
    ('"prior": [', '"prior": [0.0, ', "do not fit the domain"),
    ('"feature": 3', '"feature": "3"', "model.feature should be of type int"),
    ('"feature": 3', '"feature": 0', "do not fit the domain"),
    ('"others": [', '"others": 7, "more": [', "should be a list"),
    ('"given_class": {', '"given_clas": {', "lacks the field 'given_class'"),
]


def test_a_damaged_file_is_refused_in_one_sentence(
    fitted: OneFeatureClassifier, tmp_path: Path
) -> None:
    path = tmp_path / "model.json"
    fitted.save(path)
    text = path.read_text(encoding="utf-8")

    def check(damage: tuple[str, str, str]) -> None:
        before, after, message = damage
        assert before in text
        path.write_text(text.replace(before, after), encoding="utf-8")
        with pytest.raises(ModelFileError, match=message):
            bayleaf.load(path)

    check_each(DAMAGES, check)


def test_a_file_without_distributions_is_refused(
    fitted: OneFeatureClassifier, tmp_path: Path
) -> None:
    path = tmp_path / "model.json"
    fitted.save(path)
    number = repr(float(fitted.model_.prior[0]))
    text = path.read_text(encoding="utf-8").replace(number, "-0.25")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError, match="a table holds no distributions"):
        bayleaf.load(path)


def test_a_kind_that_is_not_imported_yet_is_named_with_the_remedy(
    fitted: OneFeatureClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    fitted.save(path)
    monkeypatch.delitem(KINDS[FittedModel].maps[0], "one_feature")
    sentence = "type is 'one_feature', which no imported module registers; import the"
    with pytest.raises(ModelFileError, match=sentence):
        bayleaf.load(path)


def test_a_word_of_another_kind_cannot_be_taken() -> None:
    with pytest.raises(ValueError, match="'network' in files already"):
        register_model_kind("network")(OneFeatureModel)


def test_credible_intervals_hold_the_probability_and_name_the_cell(
    fitted: OneFeatureClassifier,
    read: OneFeatureClassifier,
    table: Table,
) -> None:
    X = table[0].iloc[:4].copy()
    X.loc[X.index[3], "height"] = np.nan
    found = credible_intervals(fitted, X, n_draws=200, random_state=0)
    for interval in found:
        for one in interval.classes:
            assert one.low < one.probability < one.high
    assert [len(interval.cells) for interval in found] == [2, 2, 2, 0]
    cell = found[0].cells[0]
    assert cell.feature == "height"
    label = dict(cell.given)["class"]
    assert cell.rows == (table[1] == label).sum()
    again = credible_intervals(read, X, n_draws=200, random_state=0)
    assert [one.to_dict() for one in again] == [one.to_dict() for one in found]


def test_counterfactuals_conflicts_contexts_and_importance(
    fitted: OneFeatureClassifier, table: Table
) -> None:
    X, y = table
    changes = {tuple(one.changes) for one in counterfactuals(fitted, X.iloc[0])}
    assert changes == {("height",)}
    assert conflicts(fitted, X.iloc[:3]) is not None
    assert contexts(fitted, X.iloc[:3]) == [[], [], []]
    worth = {
        one.feature: one.loss_increase for one in importance(fitted, X, y).features
    }
    assert worth["height"] > 0
    # The temperature counts less where a feature is unknown, whatever it is worth.
    assert abs(worth["windy"]) < 0.1 * worth["height"]


@pytest.mark.parametrize(
    "calibration", [None, pytest.param("leave_one_out", marks=pytest.mark.slow)]
)
def test_a_report_is_written(calibration: str | None, table: Table) -> None:
    X, y = table
    fitted = OneFeatureClassifier(calibration=calibration).fit(X, y)
    page = report_html(summarize(fitted, X.assign(kind=y), "kind", n_folds=2))
    assert "OneFeatureClassifier" in page


def test_the_explorer_holds_its_network(fitted: OneFeatureClassifier) -> None:
    assert '"kind":"network"' in explorer_html(fitted)


def test_pictures_are_drawn(fitted: OneFeatureClassifier, table: Table) -> None:
    (explanation,) = fitted.explain(table[0].iloc[:1])
    assert isinstance(plot.network(fitted), Axes)
    assert isinstance(plot.cpt(fitted, "height"), Axes)
    assert isinstance(plot.contributions(explanation), Axes)
