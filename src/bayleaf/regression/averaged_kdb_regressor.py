"""Averaged KDB for a numeric target: predictive distributions that are explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from bayleaf.classifiers.averaged_kdb import AveragedKDBClassifier
from bayleaf.classifiers.shared.callbacks import with_callbacks
from bayleaf.classifiers.shared.leave_one_out import answers_of_rows, are_first
from bayleaf.classifiers.shared.parameters import check_choice, check_count, check_flag
from bayleaf.classifiers.shared.table_estimator import TableEstimator
from bayleaf.classifiers.shared.training import (
    WeightedRows,
    n_rows,
    split_target_and_weights,
    target_name,
)
from bayleaf.counts.threads import thread_count
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.column_table import ColumnTable
from bayleaf.data.encoder_learning import Discretizer
from bayleaf.data.random_state import RandomState, random_generator
from bayleaf.data.reading_plan import PlanLike, resolve_plan
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.frames import row_labels, to_columns
from bayleaf.data.unknown_cells import warn_of
from bayleaf.describe.fitted_summary import MAX_ITEMS, FittedSummary, Name
from bayleaf.dispatch import dispatch_classifier
from bayleaf.estimator_bases import RegressorMixin
from bayleaf.inference.states import find_feature
from bayleaf.io.native.model_file import SavedModel
from bayleaf.models.explanation import noted
from bayleaf.models.fit_stamp import FitStamp
from bayleaf.models.interval_target import (
    IntervalTargetModel,
    TargetDistributions,
    checked_coverage,
    checked_levels,
)
from bayleaf.models.left_out_answers import MOST_ROWS, LeftOutAnswers, number_cases
from bayleaf.models.page_model import REGRESSOR, PageModel
from bayleaf.models.texts.expectation import ExpectationExplanation, ExpectationShape
from bayleaf.regression.learned_head import LeftOut
from bayleaf.regression.learning import TargetTask, checked_target
from bayleaf.results.document import Items, Part
from bayleaf.results.result_lists import ResultList
from bayleaf.typing import ArrowDataset, NumbersLike, RowNotes, RowsLike, TableLike
from bayleaf.wording import brief, counted, shown_name

Floats = NDArray[np.float64]
SQUARED, ABSOLUTE = LOSSES = ("squared", "absolute")
# Most rows that a shape is averaged over.
_SHAPE_ROWS = 200
# Parameters that are not handed on as they are.
_OWN = *("n_intervals", "trees", "loss"), *("verbose", "weight_scale", "random_state")
# Rows that an interval should have at least, and the numbers that are tried.
_LEAST_ROWS = 10
_CANDIDATES = (8, 16)


class AveragedKDBRegressor(RegressorMixin, TableEstimator):
    """Predictive distribution of a number, every expectation explained by features.

    The target is cut at its quantiles into ordered intervals, of which
    `AveragedKDBClassifier` learns. Boosted trees say where inside and between them the
    number lies and how far it scatters. What both say of training rows that they were
    learned without decides how they are weighed, so that distributions are calibrated.

    Parameters
    ----------
    n_intervals : int, optional
        Most intervals of the target. By default 8 or 16, whichever predicts left-out
        rows better; fewer where an interval would have fewer than ten rows.
    trees : bool, default=True
        Whether boosted trees add to what intervals say.
    loss : {"squared", "absolute"}, default="squared"
        Whether `predict` gives the mean or the median.
    n_networks : int, default=16
        Number of networks.
    max_parents : int, default=4
        Most parents of a feature beside the target.
    linear_families : bool, default=True
        Whether numeric features also count as numbers, in linear-Gaussian families.
    correction : bool, default=True
        Whether curves may correct the intervals' scores.
    max_rows : int, default=12000
        Most rows on which weights and trees are learned, drawn at random; the tables
        are counted from all rows.
    n_bins : int, optional
        Largest number of quantiles at which a column is cut. By default the cube root
        of the number of rows, between 4 and 32.
    smoothing : str or Smoothing, default="dirichlet"
        From counts to probabilities; "auto" is what predicts left-out rows best.
    discretizer : str or discretiser, optional
        One coding for all networks in place of random bins.
    categorical_features : list of str, int or bool, optional
        Columns of numbers that are nominal; all others are then numeric. By default
        columns of integers with at most ten distinct values are nominal.
    missing : {"state", "error"}, default="state"
        Missing cells are a state of their own, or are refused.
    unknown : {"missing", "error"}, default="missing"
        What becomes of values that training did not contain.
    max_states : int, default=1000
        Largest number of states of a nominal column.
    identifiers : {"drop", "keep", "error"}, default="drop"
        For nominal columns in which almost all values are distinct.
    rare : {"group", "error"}, default="group"
        For the rarest values beyond `max_states`.
    dates : {"expand", "error"}, default="expand"
        Whether dates become their parts, and durations numbers.
    ordered_features : dict or list, optional
        Columns of ordered categories; by column their order, the least first, as a
        list or a text such as ``"S<M<L"``.
    weight_scale : {"counts", "mean_one"}, default="counts"
        Whether weights count rows, or get a mean of one, as boosting needs.
    max_table_cells : int, default=20_000_000
        Largest table of counts.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness; with an integer a fit can be repeated.
    n_jobs : int, default=None
        Threads; -1 means all cores. The model does not depend on it.
    verbose : int, default=0
        Above zero, the stages of fitting are told on standard error.

    Attributes
    ----------
    model_ : IntervalTargetModel
        The learned model.
    encoder_ : TableEncoder
        Domain of the features and the rules by which they are read.
    n_intervals_ : int
        Number of intervals.
    left_out_crps_ : float
        Mean continuous ranked probability score of left-out training rows, in the
        target's unit; smaller is better. Its four learned numbers saw these rows.
    left_out_coverage_ : float
        Share of these rows inside their central 90 % interval.
    feature_importances_ : ndarray of shape (n_features,)
        Variance of the target that each column alone explains, in shares.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where all of them are strings.

    References
    ----------
    Friedman, J. H. (2001). Greedy function approximation: a gradient boosting machine.
    Annals of Statistics 29, 1189-1232.

    Gneiting, T., Raftery, A. E. (2007). Strictly proper scoring rules, prediction, and
    estimation. Journal of the American Statistical Association 102, 359-378.

    Examples
    --------
    >>> from bayleaf import AveragedKDBRegressor
    >>> rows = [[i % 7, i % 3] for i in range(60)]
    >>> target = [2.0 * a + b for a, b in rows]
    >>> model = AveragedKDBRegressor(trees=False, random_state=0).fit(rows, target)
    >>> model.predict_interval(rows[:2]).shape
    (2, 2)
    """

    __metadata_request__fit: ClassVar = {"target": UNUSED}
    __metadata_request__predict: ClassVar = {"return_notes": UNUSED}

    n_intervals: int | None = None
    trees: bool = True
    loss: str = SQUARED
    n_networks: int = 16
    max_parents: int = 4
    linear_families: bool = True
    correction: bool = True
    max_rows: int = 12000
    n_bins: int | None = None
    smoothing: str | Smoothing = "dirichlet"
    discretizer: str | Discretizer | None = None
    missing: str = "state"
    random_state: RandomState = None

    def _check(self) -> None:
        if self.n_intervals is not None:
            check_count("n_intervals", self.n_intervals, 2)
        check_flag("trees", self.trees)
        check_choice("loss", self.loss, LOSSES)
        self._classifier(0)._check_parameters()

    def _classifier(self, seed: int) -> AveragedKDBClassifier:
        """What is fitted to intervals."""
        values = self.get_params(deep=False)
        for own in _OWN:
            values.pop(own)
        # Trees of the number itself stand in for trees of its intervals.
        classifier = AveragedKDBClassifier(
            **values, class_trees=False, random_state=seed
        )
        classifier._plan = self._plan
        return classifier

    def _chosen_discretizer(self) -> Discretizer:
        """What finds the cut points of numeric columns in a fit."""
        seed = self._classifier_seed(random_generator(self.random_state))
        return self._classifier(seed)._chosen_discretizer(random_generator(seed))

    @staticmethod
    def _classifier_seed(rng: np.random.Generator) -> int:
        return int(rng.integers(1 << 31))

    @with_callbacks
    def fit(
        self,
        X: TableLike | ArrowDataset,
        y: NumbersLike | None = None,
        sample_weight: NumbersLike | str | None = None,
        *,
        target: str | None = None,
        plan: PlanLike = None,
    ) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : data frame, ndarray or list of rows, shape (n_rows, n_features)
            Text, numbers, booleans; missing cells as the table marks them. Readers of
            Arrow and relations of DuckDB are read into memory.
        y : array-like of shape (n_rows,)
            Finite numbers.
        sample_weight : array-like of shape (n_rows,) or name of a column, optional
            Weights >= 0. Weight 0 equals a removed row, weight 2 a repeated one.
        target : str, optional
            The column of numbers, in the place of `y`.
        plan : ReadingPlan, dict or path, optional
            How the texts of columns become values; by default all cells of a column
            decide. Tools such as cross-validation learn it once from the whole table
            and pass it to every fit.

        Returns
        -------
        AveragedKDBRegressor
            The fitted estimator itself.

        Raises
        ------
        ValueError, TypeError
            If a parameter, a column or the target cannot be used; the sentence names
            it and the remedy.
        """
        self._plan = resolve_plan(plan)
        with self._callback_context(X, y, sample_weight):
            self._fit(*split_target_and_weights(X, y, sample_weight, target))
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Cut the target, learn, keep what was found."""
        self._check_parameters()
        parts = to_columns(X)
        validate_data(self, X, y, reset=True, skip_check_array=True)
        target = checked_target(y, n_rows(parts))
        rows = WeightedRows.of_table(parts, sample_weight, self.weight_scale)
        weights = np.zeros(len(target))
        weights[rows.places] = rows.weights
        rng = random_generator(self.random_state)
        task = TargetTask(X, target, weights, target_name(X, y, "target"))
        with self._stage("learning the model"):
            found = task.learn(
                self._classifier(self._classifier_seed(rng)),
                self._candidates(float(weights.sum())),
                trees=self.trees,
                rng=rng,
                n_jobs=thread_count(self.n_jobs),
            )
        self.encoder_, self.model_ = found.encoder, found.model
        self._training_codes: Codes | None = found.training
        self._training_target: Floats | None = found.target
        self._last_unknown = {}
        self._fit_stamp = FitStamp.now()
        self._kept_answers: LeftOutAnswers | None = None
        self._keep_scores(found.left_out_codes, found.left_out)

    def _candidates(self, total: float) -> tuple[int, ...]:
        """Numbers of intervals that are tried."""
        most = max(2, int(total / _LEAST_ROWS))
        if self.n_intervals is not None:
            return (self.n_intervals,)
        return tuple(dict.fromkeys(min(number, most) for number in _CANDIDATES))

    def _keep_scores(self, codes: Codes, rows: LeftOut) -> None:
        """Keep what left-out rows are given, and how well they are predicted."""
        given = self.model_.of_scores(rows.scores, rows.where)
        self.left_out_crps_ = float(
            np.average(given.crps(rows.target), weights=rows.weights)
        )
        interval = given.interval(0.9)
        lower, upper = interval.T
        answers = np.column_stack([given.mean, interval])
        self._left_out_answers = codes, rows.target, answers
        inside = (rows.target >= lower) & (rows.target <= upper)
        self.left_out_coverage_ = float(np.average(inside, weights=rows.weights))

    def _left_out(self, codes: Codes, target: Floats) -> Floats | None:
        """Expectation and ends of the 90 % interval, (n_rows, 3), without each row.

        None unless the rows, features and their numbers, are the first of training; NaN
        for rows beyond those that the head is learned from and, where a file keeps
        answers, for those that it keeps none of.
        """
        training, numbers = self._training_codes, self._training_target
        if training is None or numbers is None:
            stored = self._kept_answers
            return None if stored is None else stored.to(codes, target)
        is_first = are_first(codes, training.without_last())
        if not (is_first and np.array_equal(numbers[: len(target)], target)):
            return None
        *rows, answers = self._left_out_answers
        return answers_of_rows((codes, target), rows, answers)

    def _answers_to_keep(self) -> LeftOutAnswers | None:
        """Left-out answers that files and pickles keep, see `kept_answers`."""
        training, numbers = self._training_codes, self._training_target
        if training is None or numbers is None:
            return self._kept_answers
        first = training.without_last().rows(slice(MOST_ROWS)), numbers[:MOST_ROWS]
        answers = self._left_out(*first)
        assert answers is not None
        cases = number_cases(answers[:, 0], first[1])
        return LeftOutAnswers.of(cases.values(), answers, *first)

    @property
    def feature_importances_(self) -> Floats:
        """What each column alone explains of the target's variance, (n_features,).

        Shares of the sum, as other estimators' are, of the squared error that means of
        the column's states take from training rows that are left out of them;
        the mean of all rows counts as one more row of each state.
        AttributeError once the rows are gone, as after pickling.
        """
        check_is_fitted(self, "model_")
        shares: Floats = dispatch_classifier("feature_importances_", self)
        return shares

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "model_" not in state:
            return state
        # No pickle holds the training rows.
        rows = ("_training_codes", "_training_target", "_left_out_answers")
        answers = {"_kept_answers": self._answers_to_keep()}
        return {**state, **dict.fromkeys(rows), **answers}

    @property
    def n_intervals_(self) -> int:
        """Number of intervals of the target."""
        check_is_fitted(self, "model_")
        return self.model_.intervals.n_classes

    def summary(self) -> RegressionSummary:
        """Target, intervals, features, left-out scores, remarks."""
        check_is_fitted(self, "model_")
        return RegressionSummary.of(
            type(self).__name__,
            self.encoder_,
            self.model_,
            (self.left_out_crps_, self.left_out_coverage_),
            self._n_unknown,
            self._fit_stamp,
        )

    def _record(self, **others: Any) -> SavedModel:
        return SavedModel.of(
            self.encoder_,
            self.model_.intervals.domain,
            None,
            model=self.model_,
            left_out_crps=self.left_out_crps_,
            left_out_coverage=self.left_out_coverage_,
            left_out_answers=self._answers_to_keep(),
            **others,
        )

    def _page_model(self) -> PageModel:
        check_is_fitted(self, "model_")
        return PageModel(
            name=type(self).__name__,
            task=REGRESSOR,
            model=self.model_.intervals,
            scorer=self.model_,
            encoder=self.encoder_,
            read=self._encode,
            left_out=self._left_out,
            quality=lambda: (self.left_out_crps_, self.left_out_coverage_),
        )

    def _restore(self, saved: Any) -> None:
        super()._restore(saved)
        self.model_ = saved.model
        self.left_out_crps_ = saved.left_out_crps
        self.left_out_coverage_ = saved.left_out_coverage
        self._training_codes = self._training_target = None
        self._kept_answers = saved.left_out_answers

    @overload
    def predict(
        self, X: RowsLike, *, return_notes: Literal[False] = False
    ) -> Floats: ...
    @overload
    def predict(
        self, X: RowsLike, *, return_notes: Literal[True]
    ) -> tuple[Floats, RowNotes]: ...
    def predict(self, X: RowsLike, *, return_notes: bool = False) -> Any:
        """Mean of each row's distribution or, with ``loss="absolute"``, its median.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            The rows.
        return_notes : bool, default=False
            Whether to return also, for each row, a list with a dict for each cell that
            was not read as it is: its "column", the "cell", and as "note" whether it is
            "missing", "unknown", a value that training did not contain, or taken as
            another, as "nearest 8". Without notes a warning reports unknown values.

        Returns
        -------
        ndarray of shape (n_rows,), or that and the notes
            In the target's unit, within the range of training.
        """
        encoded = self._encode(X, return_notes=return_notes)
        if not return_notes:
            warn_of(encoded.unknown_cells.values())
        numbers = self.model_.distributions(encoded.codes)
        predicted = numbers.mean if self.loss == SQUARED else numbers.median
        return (predicted, encoded.notes) if return_notes else predicted

    def predict_distribution(self, X: RowsLike) -> TargetDistributions:
        """The predictive distribution of each row.

        Returns
        -------
        TargetDistributions
            Its `mean`, `variance`, `quantiles`, `interval`, `cdf` and `crps`.
        """
        codes = self._codes_as_fitted(X)
        return self.model_.distributions(codes)

    def predict_quantiles(
        self, X: RowsLike, levels: NumbersLike = (0.05, 0.5, 0.95)
    ) -> Floats:
        """Quantiles of each row's distribution.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            The rows.
        levels : array-like of shape (n_levels,), default=(0.05, 0.5, 0.95)
            From 0 to 1.

        Returns
        -------
        ndarray of shape (n_rows, n_levels)
            In the target's unit.
        """
        wanted = checked_levels(levels)
        return self.model_.distributions(self._codes_as_fitted(X)).quantiles(wanted)

    def predict_interval(self, X: RowsLike, coverage: float = 0.9) -> Floats:
        """The interval that holds the number with some probability.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            The rows.
        coverage : float, default=0.9
            Its probability; the rest lies on both sides alike.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            In the target's unit.
        """
        share = checked_coverage(coverage)
        return self.model_.distributions(self._codes_as_fitted(X)).interval(share)

    def explain(self, X: RowsLike) -> ResultList[ExpectationExplanation]:
        """Split each row's expectation into what its features add.

        Whatever `loss` is, the mean is explained. All features are turned up together,
        from nothing to what they say, and the expectation's changes on the way are
        added up by feature (Aumann and Shapley 1974).

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            One or more rows.

        Returns
        -------
        ResultList of ExpectationExplanation
            Baseline and terms of each add up to its expectation.
        """
        encoded = self._encode(X, return_notes=True)
        warn_of(encoded.unknown_cells.values())
        found = noted(self.model_.explain(encoded.codes), encoded)
        labels = row_labels(X)
        if labels is None:
            return ResultList(found)
        return ResultList(replace(one, row=n) for one, n in zip(found, labels))

    def shape(self, feature: str | int, X: RowsLike) -> ExpectationShape:
        """The mean expectation of rows where one feature is set, state by state.

        The partial dependence of Friedman (2001, section 8.2).

        Parameters
        ----------
        feature : str or int
            Name of the feature.
        X : table of shape (n_rows, n_features)
            Rows that stand for those to come; of more than 200, as many are taken at
            even distances.

        Returns
        -------
        ExpectationShape
            A step curve for a numeric feature, bars for a nominal one, with the number
            of training rows behind each step.

        Raises
        ------
        ValueError
            If there is no such feature.
        """
        codes = self._codes_as_fitted(X)
        index = find_feature(self.model_.intervals.domain, feature)
        n_taken = min(codes.n_rows, _SHAPE_ROWS)
        rows = np.linspace(0, codes.n_rows - 1, n_taken).round().astype(np.intp)
        return self.model_.feature_shape(index, codes.rows(rows))


@dataclass(frozen=True)
class RegressionSummary(FittedSummary):
    """Facts on a fitted regressor."""

    model: str  # name of the estimator
    target: Name
    mean: float  # of the target in training
    lowest: float  # of the target in training
    highest: float  # of the target in training
    n_features: int
    intervals: tuple[str, ...]  # names of the target's intervals
    n_networks: int
    n_trees: int  # for mean and scale
    interval_weight: float  # of intervals in addition to trees
    left_out_crps: float  # mean, in the target's unit
    left_out_coverage: float  # share of rows in their 90 % interval
    notes: tuple[tuple[Name, str], ...]  # columns and how they were read
    unknown: tuple[tuple[Name, int], ...]  # cells of the last table predicted
    columns: ColumnTable | None = None
    fitted: FitStamp | None = None

    @classmethod
    def of(
        cls,
        name: str,
        encoder: TableEncoder,
        model: IntervalTargetModel,
        left_out: tuple[float, float],
        unknown: Mapping[Name, int],
        fitted: FitStamp | None = None,
    ) -> RegressionSummary:
        """Gather the facts on a fitted regressor."""
        *features, target = model.intervals.domain.variables
        lower, upper = model.ends
        trees = () if model.trees is None else (model.trees.mean, model.trees.spread)
        return cls(
            name,
            target.name,
            model.centre,
            float(lower[0]),
            float(upper[-1]),
            len(features),
            tuple(map(str, target.states)),
            len(model.intervals.networks),
            sum(len(tree.roots) for tree in trees),
            model.head.interval_weight,
            *left_out,
            tuple(encoder.notes.items()),
            tuple(unknown.items()),
            ColumnTable(encoder),
            fitted,
        )

    def facts(self) -> list[tuple[str, str]]:
        """Target, sizes and left-out scores."""
        spread = f"{self.lowest:.6g} to {self.highest:.6g}, mean {self.mean:.6g}"
        parts = f"{self.n_networks} networks, {self.n_trees} trees"
        inside = f"{100 * self.left_out_coverage:.1f} % inside the 90 % interval"
        facts = [
            ("target", f"{shown_name(self.target)}, {spread}"),
            ("intervals", f"{len(self.intervals)}, weight {self.interval_weight:.3g}"),
            ("features", str(self.n_features)),
            ("parts", parts),
            ("left-out rows", f"CRPS {self.left_out_crps:.6g}, {inside}"),
        ]
        if self.fitted is not None:
            facts.append(("fitted", str(self.fitted)))
        return facts

    def lists(self) -> list[Part]:
        """The intervals of the target."""
        return [Items(self.intervals, "intervals", MAX_ITEMS)]

    def __repr__(self) -> str:
        return brief(
            self,
            f"{self.model} of {shown_name(self.target)}",
            counted(self.n_features, "feature"),
            counted(len(self.intervals), "interval"),
            f"left-out CRPS {self.left_out_crps:.5g}",
        )
