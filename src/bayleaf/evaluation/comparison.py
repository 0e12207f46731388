"""Scores of several classifiers on the same folds, tests between them, and tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from rich.table import Table as RichTable

from bayleaf.classifiers import CLASSIFIERS
from bayleaf.classifiers.shared.parameters import checked_loss
from bayleaf.data.reading_plan import PlanLike
from bayleaf.evaluation.cross_validation import (
    CrossValidation,
    cross_validate,
    weighted_labels,
)
from bayleaf.evaluation.folds import deal_folds
from bayleaf.evaluation.metrics import SCORES
from bayleaf.evaluation.operating_points import (
    LossMatrix,
    OperatingPoint,
    class_names,
    implied_threshold,
)
from bayleaf.evaluation.paper_statistics import accuracy_sd
from bayleaf.evaluation.statistics import LEVEL, Floats, TestResult, corrected_t_test
from bayleaf.io.atomic import write_text
from bayleaf.results.document import Document, Table
from bayleaf.results.markdown import markdown_of
from bayleaf.results.result import Result
from bayleaf.results.text import rich_tables
from bayleaf.typing import (
    ColumnLike,
    Estimator,
    JSONObject,
    LossLike,
    NumbersLike,
    Splitter,
    TableLike,
)
from bayleaf.wording import brief, brief_names, counted, in_bits, near_names, quoted

BEST = "best"
# Figures that have no spread, in the order of `_figures`.
_FIGURES = ("calib.", "clipped", "params", "arcs", "fit s", "pred. s")
DEFAULT_MODELS = ("nb", "tan", "kdb", "hnb", "auto")
# Names of classifiers, or classifiers, each by its own name or by that of a mapping.
Models = Mapping[str, str | Estimator] | Iterable[str | Estimator] | Estimator


@dataclass(frozen=True)
class Comparison(
    Result, keys={"random_state": "seed", "results": None}, computed=("threshold",)
):
    """Scores of several classifiers on the same folds.

    Parameters
    ----------
    results : tuple of CrossValidation
        One a classifier.
    classes : tuple
        Labels of the target, in increasing order.
    n_rows : int
        Rows of the table.
    n_folds, n_repeats, random_state : int
        How rows were dealt.
    baseline : str
        The classifier that the others are tested against, or "best": for each score
        the one with the best mean.
    loss : ndarray of shape (n_classes, n_classes), optional
        Cost of each prediction (rows) where a class (columns) is true.
    is_weighted : bool, default=False
        Whether rows have weights, in fits and in scores.
    table : str, default=""
        Name of the table, which rows of several tables need.
    """

    results: tuple[CrossValidation, ...]
    classes: tuple[Hashable, ...]
    n_rows: int
    n_folds: int
    n_repeats: int
    random_state: int
    baseline: str = BEST
    loss: Floats | None = None
    is_weighted: bool = False
    table: str = ""

    def __getitem__(self, name: str) -> CrossValidation:
        """The scores of one classifier."""
        for result in self.results:
            if result.name == name:
                return result
        raise KeyError(name)

    @property
    def names(self) -> tuple[str, ...]:
        """What the classifiers are called."""
        return tuple(result.name for result in self.results)

    @property
    def scores(self) -> tuple[str, ...]:
        """Scores that at least one fold has."""
        first = self.results[0]
        return tuple(score for score in SCORES if len(first.values(score)))

    @property
    def threshold(self) -> float | None:
        """Probability of the second class above which the loss says to predict it.

        None without a loss, or with more than two classes.
        """
        if self.loss is None or len(self.classes) != 2:
            return None
        return implied_threshold(self.loss)

    def reference(self, score: str) -> str:
        """The classifier that the others are tested against."""
        return self.best(score) if self.baseline == BEST else self.baseline

    def best(self, score: str) -> str:
        """The classifier with the best mean of a score, the first of several."""
        choose = max if SCORES[score].larger_is_better else min
        return choose(self.results, key=lambda result: result.mean(score)).name

    def test(self, score: str, first: str, second: str) -> TestResult:
        """Corrected paired t-test over the folds that have the score.

        Nadeau & Bengio's correction (2003) for overlapping training sets, see
        `corrected_t_test`; positive where `first` has the larger score. One fold alone
        shows no difference: a statistic of 0 and a p-value of 1.
        """
        a, b = self[first].values(score), self[second].values(score)
        if len(a) < 2:
            return TestResult(0.0, 1.0)
        n_test = self.n_rows / self.n_folds
        return corrected_t_test(a, b, n_train=self.n_rows - n_test, n_test=n_test)

    def accuracy_sd(self, name: str) -> float:
        """Kohavi's standard deviation of a classifier's accuracy, see `accuracy_sd`.

        That of a share of the rows: folds and repeats have no part in it.
        """
        return accuracy_sd(self[name].mean("accuracy"), self.n_rows)

    def error_reduction(self, name: str, base: str | None = None) -> float | None:
        """Share of the errors of `base`, by default the reference, that are avoided.

        Negative where errors were added; None where the base makes none.
        """
        base = self.reference("accuracy") if base is None else base
        errors = 1.0 - self[base].mean("accuracy")
        if errors <= 0.0:
            return None
        return 1.0 - (1.0 - self[name].mean("accuracy")) / errors

    def mark(self, score: str, name: str) -> str:
        """How a classifier's score stands to the reference's.

        Returns
        -------
        str
            ``*`` for the reference, ``=`` if the difference is not significant at .05,
            else ``+`` for a better and ``-`` for a worse score.
        """
        reference = self.reference(score)
        if name == reference:
            return "*"
        result = self.test(score, name, reference)
        if result.p_value >= LEVEL:
            return "="
        better = (result.statistic > 0) == SCORES[score].larger_is_better
        return "+" if better else "-"

    @property
    def verdict(self) -> str:
        """The most accurate model and that of the lowest log-loss, in sentences.

        With the models that are not significantly worse than them, by `test`.
        """
        right, sure = self.best("accuracy"), self.best("log_loss")
        rows = self.results[0].held_out
        shares = np.bincount(rows.truth, rows.weights, len(self.classes))
        base = 100.0 * shares.max() / shares.sum()
        common = class_names(self.classes)[int(shares.argmax())]
        accuracy = 100.0 * self[right].mean("accuracy")
        loss = in_bits(self[sure].mean("log_loss"))
        figure = (
            f"{right} predicts {accuracy:.0f} of 100 held-out rows right, {base:.0f} "
            f"by always predicting {common}"
        )
        if len(self.results) == 1:
            return f"{figure}; log-loss {loss:.3f} bits per row."
        return (
            f"{figure}; {self._rivals('accuracy')}. {sure} has the lowest log-loss, "
            f"{loss:.3f} bits per row; {self._rivals('log_loss')}."
        )

    def _rivals(self, score: str) -> str:
        """Which models are no worse than the best of a score but by chance."""
        best = self.best(score)
        others = [name for name in self.names if name != best]
        close = [n for n in others if self.test(score, n, best).p_value >= LEVEL]
        if not close:
            return "all others are significantly worse"
        return f"not significantly worse: {brief_names(close)}"

    def document(self, title: str | None = None) -> Document:
        """All scores with their spread and marks, other figures, and the legend.

        By default the title of the table is how rows were dealt.
        """
        shown = sorted(
            (score for score in self.scores if SCORES[score].heading),
            key=lambda score: SCORES[score].place,
        )
        rows = [
            (
                result.name,
                *(self._marked(result, score) for score in shown),
                *_figures(result),
            )
            for result in self.results
        ]
        heads = ("model", *(SCORES[score].heading for score in shown), *_FIGURES)
        table = Table(heads, rows, title or title_of(self))
        return Document("", [table, *self.legend()])

    def to_tables(self, title: str | None = None, width: int = 80) -> list[RichTable]:
        """Tables for a terminal of some columns: the scores, then what they cost."""
        (table, *_) = self.document(title).parts
        return rich_tables(table, width) if isinstance(table, Table) else []

    def legend(self) -> list[str]:
        """What the marks in the tables mean, and what is missing from means."""
        lines = []
        if len(self.results) > 1:
            best = self.baseline == "best"
            reference = "the best of the column" if best else self.baseline
            other = "- worse" if best else "+ better, - worse"
            lines = [
                f"* {reference}; = not significantly different from it; {other} "
                "(paired t-test over folds, Nadeau & Bengio's correction, p < .05)"
            ]
        n_folds = len(self.results[0].folds)
        without = self.results[0].n_folds_without_auc
        if without:
            lines.append(
                f"AUC: {without} of {n_folds} folds hold all or none of the rows of "
                "some class; their mean leaves that class out"
            )
        if self.is_weighted:
            lines.append("rows count by their weights, in fits and in scores")
        if self.loss is not None:
            lines.append("cost/row: mean cost of predicting for least expected cost")
        if self.threshold is not None:
            second = class_names(self.classes)[1]
            lines.append(
                f"the loss says: predict {second} where its probability is above "
                f"{self.threshold:.3f}"
            )
        return lines

    def to_markdown(self) -> str:
        """Mean and standard deviation of every score as a Markdown table."""
        return markdown_of(self.document())

    def to_rows(self) -> list[JSONObject]:
        """One flat row per classifier, such as a data frame takes.

        They have mean, standard deviation and p-value against the reference of every
        score.
        """
        rows = []
        for result in self.results:
            row: dict[str, Any] = {"table": self.table} if self.table else {}
            row["model"] = result.name
            for score in self.scores:
                reference = self.reference(score)
                row[score] = result.mean(score)
                row[f"{score}_sd"] = result.sd(score)
                test = self.test(score, result.name, reference)
                row[f"{score}_p"] = test.p_value
            row["accuracy_kohavi_sd"] = self.accuracy_sd(result.name)
            row["error_reduction"] = self.error_reduction(result.name)
            row["pooled_calibration_error"] = result.pooled_calibration_error
            row |= {
                "n_folds": len(result.folds),
                "n_folds_without_auc": result.n_folds_without_auc,
                "n_clipped": result.n_clipped,
                "n_parameters": result.n_parameters,
                "n_arcs": result.n_arcs,
                "fit_seconds": result.fit_seconds,
                "predict_seconds": result.predict_seconds,
                "seed": self.random_state,
            }
            rows.append(row)
        return rows

    def to_csv(self, path: str | Path | None = None) -> str:
        """The rows of `to_rows` as CSV text, written to a file if one is named."""
        return csv_text(self.to_rows(), path)

    def to_dict(self) -> JSONObject:
        """Everything as plain values, with the tests against the reference."""
        models = [
            {
                **result.to_dict(),
                "accuracy_kohavi_sd": self.accuracy_sd(result.name),
                "error_reduction": self.error_reduction(result.name),
                "tests": self._tests(result.name),
            }
            for result in self.results
        ]
        return {**super().to_dict(), "models": models}

    def _tests(self, name: str) -> dict[str, dict[str, Any]]:
        """Difference from the reference and its p-value, by score."""
        found = {}
        for score in self.scores:
            other = self.reference(score)
            p_value = self.test(score, name, other).p_value
            found[score] = {
                "against": other,
                "difference": self[name].mean(score) - self[other].mean(score),
                "p_value": p_value,
                "significant": p_value < LEVEL,
            }
        return found

    def _marked(self, result: CrossValidation, score: str) -> str:
        """Mean, spread over folds and mark of a score; one model needs no mark."""
        text = SCORES[score].written(result.mean(score), result.sd(score))
        return (
            text
            if len(self.results) == 1
            else f"{text} {self.mark(score, result.name)}"
        )

    def __repr__(self) -> str:
        best = self.best("log_loss")
        loss = f"{in_bits(self[best].mean('log_loss')):.4f} bits"
        return brief(
            self,
            counted(len(self.names), "model") + f" ({brief_names(self.names)})",
            f"{self.n_rows} rows in {self.n_folds} folds",
            f"lowest log-loss {loss} by {best}",
        )


def csv_text(rows: Sequence[Mapping[str, Any]], path: str | Path | None = None) -> str:
    """Rows as CSV text, written to a file if one is named."""
    names = dict.fromkeys(name for row in rows for name in row)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    text = stream.getvalue()
    if path is not None:
        write_text(path, text)
    return text


def title_of(comparison: Comparison) -> str:
    """How rows were dealt, with the seed."""
    times = f"{comparison.n_repeats} x " if comparison.n_repeats > 1 else ""
    return (
        f"{comparison.n_rows} rows, {times}{comparison.n_folds}-fold cross-validation, "
        f"seed {comparison.random_state}"
    )


def points_table(
    points: Sequence[OperatingPoint], title: str, implied: float | None = None
) -> RichTable:
    """What thresholds between two classes lead to, with a mark at `implied`.

    That is the threshold of the loss.
    """
    headings = ["threshold", "sensitivity", "specificity", "precision", "predicted"]
    rows = [
        [
            f"{point.threshold:.3f}{' <' if point.threshold == implied else '  '}",
            f"{point.sensitivity:.3f}",
            f"{point.specificity:.3f}",
            "-" if point.precision is None else f"{point.precision:.3f}",
            str(point.n_positive),
            *([] if point.cost is None else [f"{point.cost:.3f}"]),
        ]
        for point in points
    ]
    heads = headings if implied is None else [*headings, "cost/row"]
    table = rich_tables(Table(heads, rows, title, n_words=0))[0]
    if implied is not None:
        table.caption = "< the threshold that the loss implies"
        table.caption_justify = "left"
    return table


def _figures(result: CrossValidation) -> list[str]:
    """What a model has no spread of; a hyphen for what it does not count."""
    counts = (result.n_parameters, result.n_arcs)
    return [
        f"{result.pooled_calibration_error:.3f}",
        str(result.n_clipped),
        *("-" if count is None else f"{count:.0f}" for count in counts),
        _seconds(result.fit_seconds),
        _seconds(result.predict_seconds),
    ]


def _seconds(value: float) -> str:
    """A time with as many digits as it can be relied on."""
    return f"{value:.3f}" if value < 10 else f"{value:.0f}"


class CompareOptions(TypedDict, total=False):
    """The parameters of `compare` that `compare_tables` passes on."""

    n_folds: int
    n_repeats: int
    random_state: int
    loss: LossMatrix | LossLike | None
    baseline: str
    groups: ColumnLike | None
    cv: Splitter | Iterable[tuple[NumbersLike, NumbersLike]] | None
    verbose: int
    sample_weight: NumbersLike | None
    plan: PlanLike
    description_length: bool


def compare(
    X: TableLike,
    y: ColumnLike,
    models: Models = DEFAULT_MODELS,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    random_state: int = 0,
    loss: LossMatrix | LossLike | None = None,
    baseline: str = BEST,
    groups: ColumnLike | None = None,
    cv: Splitter | Iterable[tuple[NumbersLike, NumbersLike]] | None = None,
    verbose: int = 0,
    sample_weight: NumbersLike | None = None,
    plan: PlanLike = None,
    description_length: bool = False,
) -> Comparison:
    """Compare classifiers on the same folds, stratified and shuffled by default.

    Everything (cut points, states, hierarchies, calibration) is learned inside the
    training folds, but for the kinds of columns, which all rows decide.

    Parameters
    ----------
    X : data frame or ndarray of shape (n_rows, n_features)
        The features.
    y : array-like of shape (n_rows,)
        The class labels.
    models : sequence of str or classifier, or mapping of str to either
        Names as on the command line (``"nb"``, ``"tan"`` ..) or any classifier of
        scikit-learn with ``predict_proba``; a mapping says what they are called.
    n_folds : int, default=10
        Number of folds.
    n_repeats : int, default=1
        Number of shuffles; shuffle r uses the seed ``random_state + r``.
    random_state : int, default=0
        Seed of the first shuffle and of models given by name.
    loss : LossMatrix or array-like of shape (n_classes, n_classes), optional
        Cost of each prediction (rows) where a class (columns) is true; adds the
        expected cost a row of predictions made for least expected cost.
    baseline : str, default="best"
        The model that the others are tested against, or "best".
    groups : array-like of shape (n_rows,), optional
        Rows of one value, as those of one patient, stay together in a fold.
    cv : splitter of scikit-learn or iterable of (training rows, test rows), optional
        Deals the rows in the place of stratified, shuffled folds.
    verbose : int, default=0
        Above zero, standard error shows the fold, the share done and the time left.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of rows, in fits and in scores; rows of weight zero are left out.
    plan : ReadingPlan, dict or path, optional
        As for `fit`.
    description_length : bool, default=False
        Adds the bits of each model and of the classes of its training rows, by minimum
        description length; for classifiers that are one network of tables.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If a model, the baseline, the loss, the weights or the folds do not fit.
    TypeError
        If a model is neither a name nor a classifier with probabilities.

    Examples
    --------
    >>> from bayleaf.datasets import load_heart
    >>> X, y = load_heart(return_X_y=True)
    >>> found = compare(X, y, ["nb", "tan"], n_folds=5)
    >>> found.best("accuracy"), found.mark("accuracy", "tan")
    ('nb', '=')
    """
    estimators = named_models(models, random_state)
    if baseline != BEST and baseline not in estimators:
        raise ValueError(
            f"baseline must be {quoted(BEST)} or one of the models, got "
            f"{quoted(baseline)}; "
            f"{near_names(baseline, estimators)}"
        )
    classes, codes, weights = weighted_labels(y, sample_weight)
    costs = checked_loss(
        loss.for_classes(classes) if isinstance(loss, LossMatrix) else loss, classes
    )
    if costs is not None and len(classes) == 2:
        # A loss that leaves no threshold is refused before anything is learned.
        implied_threshold(costs)
    if cv is not None:
        cv = deal_folds(codes, n_folds, 1, random_state, groups=groups, cv=cv)
        n_folds, n_repeats = len(cv), 1
    results = cross_validate(
        estimators,
        X,
        y,
        n_folds=n_folds,
        n_repeats=n_repeats,
        random_state=random_state,
        loss=costs,
        groups=groups if cv is None else None,
        cv=cv,
        verbose=verbose,
        sample_weight=weights,
        plan=plan,
        description_length=description_length,
    )
    return Comparison(
        tuple(results),
        tuple(classes.tolist()),
        int((codes >= 0).sum()),
        n_folds,
        n_repeats,
        random_state,
        baseline,
        costs,
        weights is not None,
    )


def named_models(models: Any, random_state: int) -> dict[str, Any]:
    """Estimators by name; `random_state` is for models given by name.

    ValueError if there are none, a name is unknown, or two models have the same name;
    TypeError for anything but estimators.
    """
    if isinstance(models, str) or hasattr(models, "fit"):
        models = [models]
    if not isinstance(models, Iterable):
        raise TypeError(
            f"models must be names or classifiers in a list or mapping, got "
            f"{quoted(models)}"
        )
    if isinstance(models, Mapping):
        named = list(models.items())
    else:
        # An estimator is called as its class.
        named = [(m if isinstance(m, str) else type(m).__name__, m) for m in models]
    found: dict[str, Any] = {}
    for name, model in named:
        if name in found:
            raise ValueError(
                f"two models are called {quoted(name)}; give a mapping with names of "
                "their own"
            )
        found[name] = _estimator(model, random_state)
    if not found:
        raise ValueError("there is no model to compare; name at least one")
    return found


def _estimator(model: Any, random_state: int) -> Any:
    """The estimator that a name stands for, or the estimator itself."""
    if isinstance(model, str):
        if model not in CLASSIFIERS:
            raise ValueError(
                f"models must be among {', '.join(CLASSIFIERS)} or be classifiers, got "
                f"{quoted(model)}; {near_names(model, CLASSIFIERS)}"
            )
        return CLASSIFIERS[model](random_state=random_state)
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(
            f"models must be names or classifiers, got {quoted(model)}; make an "
            "instance of a class"
        )
    return model
