"""The one fit and the one predict that all classifiers share."""

from __future__ import annotations

import copy
from abc import abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from bayleaf.classifiers.shared.callbacks import with_callbacks
from bayleaf.classifiers.shared.fitted import FittedClassifier
from bayleaf.classifiers.shared.leave_one_out import (
    LeavingOut,
    fitted_temperature,
    note_little_support,
    reprior_shift,
)
from bayleaf.classifiers.shared.parameters import (
    AUTO,
    check_shared,
    checked_class_prior,
    checked_loss,
    encoder_rules,
)
from bayleaf.classifiers.shared.saving import kept_support
from bayleaf.classifiers.shared.table_estimator import TableEstimator
from bayleaf.classifiers.shared.training import (
    TrainingTable,
    class_variable,
    with_columns_aside,
)
from bayleaf.counts.source import MOST_ROWS, CountSource
from bayleaf.counts.table_counts import TableCounts
from bayleaf.counts.threads import thread_count
from bayleaf.cpds.smoothing import Smoothing, resolve_smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.cuts.discretizers import resolve_discretizer
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.encoder.learning import Discretizer, Target, learn_encoder
from bayleaf.data.encoder.table_encoder import EncodedTable
from bayleaf.data.memory import size_in_bytes
from bayleaf.data.random_state import random_generator
from bayleaf.data.tables.frames import row_labels, take_apart
from bayleaf.io.native.model_file import SavedModel
from bayleaf.models.class_model import ClassModel
from bayleaf.models.explanation import Explanation, labelled
from bayleaf.models.fit_stamp import FitStamp
from bayleaf.models.predictor import Predictor
from bayleaf.streams.streamed import is_streamed

# Parameters of `fit` by which a table in batches is read, and what one fit leaves.
READING = ("target", "store", "max_rows_in_memory", "client", "memory")
OF_LAST_FIT = ("_training_codes", "_loo_score", "_prior_shift", "_support", "_counts")


class Learned(NamedTuple):
    """What `_learn` returns: the model and its training log-likelihood in nats."""

    model: ClassModel
    log_likelihood: float


class BayesianClassifier(
    LeavingOut,
    FittedClassifier,
    ClassifierMixin,  # type: ignore[misc]
    TableEstimator,
):
    """Base of the classifiers: checks, encoding, prediction, explanation.

    A subclass defines `_learn`, and takes its own parameters before ``**shared``.

    Parameters
    ----------
    smoothing : str or Smoothing, default="laplace"
        From counts to probabilities; "auto" is what predicts left-out rows best.
    calibration : {"leave_one_out"}, optional
        Divide log scores by a temperature that suits left-out training rows.
    discretizer : str or discretiser, default="mdlp"
        Finds the cut points of numeric columns: "mdlp", "standard_deviation",
        "equal_frequency", "equal_width", or an instance.
    categorical_features : list of str, int or bool, optional
        Columns of numbers that are nominal; all others are then numeric. By default
        columns of whole numbers with at most ten distinct values are nominal.
    missing : {"marginalize", "state", "error"}, default="marginalize"
        Missing cells are left out of counts and summed out of predictions, count as
        a state of their own, or are refused.
    unknown : {"missing", "error"}, default="missing"
        What becomes of values that training did not contain.
    max_states : int, default=1000
        Largest number of states of a nominal column.
    identifiers : {"drop", "keep", "error"}, default="drop"
        For nominal columns in which nearly every value is another one.
    rare : {"group", "error"}, default="group"
        For the rarest values beyond `max_states`.
    dates : {"expand", "error"}, default="expand"
        Whether dates become their parts, and durations numbers.
    ordered_features : dict or list, optional
        Columns of ordered categories; by column their order, the least first.
    weight_scale : {"counts", "mean_one"}, default="counts"
        Whether weights count rows, or get a mean of one, as boosting needs.
    max_table_cells : int, default=20_000_000
        Largest table of counts, and of an intermediate result when missing features
        are summed out.
    class_prior : dict, or array-like of shape (n_classes,), optional
        Prior probabilities by class, or in the order of `classes_`.
    fit_prior : bool, default=True
        Whether the prior is learned, by the smoothing rule; otherwise it is uniform.
    loss : dict of dict, or array-like of shape (n_classes, n_classes), optional
        Cost of predicting the first class (row) where the second (column) is true;
        `predict` then takes the cheapest class.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness where a method draws; ignored by those that do not.
    n_jobs : int, default=None
        Threads for counting; -1 means all cores. The model does not depend on it.
    verbose : int, default=0
        Above zero, stages of fitting are told on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where all of them are strings.
    encoder_ : TableEncoder
        Domain of the features and the rules by which they are read.
    model_ : ClassModel
        The learned model.
    log_likelihood_ : float
        Log-likelihood (nats) of the training rows.
    smoothing_ : Smoothing
        The rule by which the tables were estimated.
    temperature_ : float
        What log scores are divided by, 1 without calibration.
    selection_ : Selection
        Leave-one-out scores of all candidates, where a parameter is "auto".
    """

    # Bytes that the fit in progress may take.
    _memory: int | None = None
    # How a table is read is no metadata that others could pass on.
    __metadata_request__fit: ClassVar = dict.fromkeys(READING, UNUSED)

    def __init__(
        self,
        *,
        calibration: str | None = None,
        discretizer: Any = "mdlp",
        class_prior: Any = None,
        fit_prior: bool = True,
        loss: Any = None,
        **shared: Any,
    ) -> None:
        super().__init__(discretizer=discretizer, **shared)
        self.calibration = calibration
        self.class_prior = class_prior
        self.fit_prior = fit_prior
        self.loss = loss

    @abstractmethod
    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        """Learn the model from counts over `domain`, the class last."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_shared(self)

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        target: str | None = None,
        store: str | Path | None = None,
        max_rows_in_memory: int = MOST_ROWS,
        client: Any = None,
        memory: int | str | None = None,
    ) -> Self:
        """Learn from a table, in memory, batch by batch or on the workers of Dask.

        Parameters
        ----------
        X : data frame, ndarray or list of rows, shape (n_rows, n_features)
            Text, numbers, truth values; missing cells as the table marks them. Or what
            yields batches and may be larger than memory: a Parquet or CSV path, glob or
            folder, a dataset or reader of pyarrow, a LazyFrame of polars, a relation of
            DuckDB, anything with ``__arrow_c_stream__``. Or a data frame of Dask.
        y : array-like of shape (n_rows,)
            Class labels of any hashable scalar type, none missing.
        sample_weight : array-like of shape (n_rows,) or name of a column, optional
            Weights >= 0. Weight 0 equals a removed row, weight 2 a repeated one.
        target : str, optional
            The column of class labels, in the place of `y`.
        store : path, optional
            Of a table in batches: the file that keeps its codes, for other fits.
        max_rows_in_memory : int, default=1_000_000
            Of a table in batches: what needs rows, as leaving them out does, gets a
            sample of so many at most; `summary` says so.
        client : distributed.Client or its address, optional
            Whose workers read the Parquet files, or the data frame of Dask; by default
            this is read by the current client's workers, or by threads.
        memory : int or str, optional
            Bytes that learning may take, such as "2GB", about 200 MB for reading and
            what the process has already not counted. Bounds the rows in the place of
            `max_rows_in_memory`, and the tables of averages of networks.

        Returns
        -------
        BayesianClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError, TypeError
            If a parameter, a column or the target cannot be used.
        """
        self._memory = None if memory is None else size_in_bytes(memory, "memory")
        with self._told_to_callbacks(X, y, sample_weight):
            if client is not None or is_streamed(X):
                from bayleaf.classifiers.shared.streaming.fitting import fit_batches
                from bayleaf.classifiers.shared.streaming.storing import Reading

                reading = Reading(target, store, max_rows_in_memory, sample_weight)
                reading = reading._replace(client=client, memory=self._memory)
                fit_batches(self, X, y, reading)
            else:
                self._fit(*with_columns_aside(X, y, sample_weight, target))
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Encode the table, count, learn."""
        table = self._training_table(X, y, sample_weight)
        self.classes_ = table.classes
        rng = random_generator(self.random_state)
        target = Target(class_variable(X, y, self.classes_), table.class_codes)
        with self._stage("encoding the table"):
            self.encoder_, codes = learn_encoder(
                table.parts,
                target,
                table.weights,
                self._chosen_discretizer(rng),
                encoder_rules(self),
            )
        self._learn_from(self._kept(self._count(codes)), target.variable, rng)
        self._training_codes = codes
        with self._stage("calibrating the model"):
            self.temperature_ = fitted_temperature(self, X, y, sample_weight)
        note_little_support(self)

    def _chosen_discretizer(self, rng: np.random.Generator) -> Discretizer:
        """What finds cut points in this fit."""
        return resolve_discretizer(self.discretizer)

    def _count(self, codes: Codes) -> TableCounts:
        """Counts of the training codes."""
        return TableCounts(codes, self.n_jobs, max_table_cells=self.max_table_cells)

    def _kept(self, counts: CountSource) -> CountSource:
        """The counts that learning asks, which a learner by batches keeps."""
        return counts

    def _learn_from(
        self, counts: CountSource, class_variable: Variable, rng: np.random.Generator
    ) -> None:
        """Learn the model over the encoder's domain and the class."""
        domain = Domain((*self.encoder_.domain.variables, class_variable))
        self.__dict__.update(dict.fromkeys(OF_LAST_FIT))
        self._last_unknown = {}
        self.__dict__.pop("selection_", None)
        self._fit_stamp = FitStamp.now()
        self.temperature_ = 1.0
        if self.smoothing != AUTO:
            self.smoothing_ = resolve_smoothing(self.smoothing)
        with self._stage("learning the model"):
            self.model_, self.log_likelihood_ = self._learn(counts, domain, rng)

    def _training_table(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        known_classes: NDArray[Any] | None = None,
        *,
        reset: bool = True,
    ) -> TrainingTable:
        """Check parameters and take the table apart; see `TrainingTable.from_arrays`.

        `reset` tells whether the table sets the names and number of features or must
        match them.
        """
        self._check_parameters()
        if self.smoothing != AUTO:
            resolve_smoothing(self.smoothing)
        parts = take_apart(X)
        validate_data(self, X, y, reset=reset, skip_check_array=True)
        table = TrainingTable.from_arrays(
            parts, y, sample_weight, known_classes, self.weight_scale
        )
        checked_loss(self.loss, table.classes)
        if self.class_prior is not None:
            checked_class_prior(self.class_prior, table.classes)
        return table

    def _class_prior(
        self, counts: CountSource, smoothing: Smoothing
    ) -> NDArray[np.float64]:
        """Prior probabilities: given, learned, or uniform."""
        if self.class_prior is not None:
            return checked_class_prior(self.class_prior, self.classes_)
        if not self.fit_prior:
            return np.full(len(self.classes_), 1.0 / len(self.classes_))
        return smoothing.estimate(counts.class_counts())

    def _predictor(self) -> Predictor:
        """Encoder, model and loss, without anything of how they were learned."""
        check_is_fitted(self, "model_")
        loss = checked_loss(self.loss, self.classes_)
        return Predictor(
            self.encoder_,
            self.model_,
            self.classes_,
            loss,
            self.temperature_,
            self._prior_shift,
            thread_count(self.n_jobs),
        )

    def _record(self, **others: Any) -> SavedModel:
        predictor = replace(self._predictor(), support=kept_support(self))
        return SavedModel.of_predictor(
            predictor, log_likelihood=self.log_likelihood_, **others
        )

    def _restore(self, saved: Any) -> None:
        super()._restore(saved)
        predictor = saved.predictor
        self.classes_ = predictor.classes
        self.model_ = predictor.model
        self.log_likelihood_ = saved.log_likelihood
        self.temperature_ = predictor.temperature
        if self.smoothing != AUTO:
            self.smoothing_ = resolve_smoothing(self.smoothing)
        self.__dict__.update(dict.fromkeys(OF_LAST_FIT))
        self._prior_shift, self._support = predictor.prior_shift, predictor.support
        # A loss must fit the classes.
        self._predictor()

    def _prepare(self, X: Any) -> tuple[Predictor, Codes]:
        """The predictor and a table's codes, once it has the columns of training."""
        return self._predictor(), self._encode(X).codes

    def _encode(self, X: Any) -> EncodedTable:
        """Encode a table, once it has the columns of training."""
        encoded = self.encoder_.transform(self._parts_as_fitted(X))
        self._last_unknown = encoded.unknown
        return encoded

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row, shape (n_rows,).

        The most probable class or, with `loss`, the one of least expected cost; ties
        go to the earlier class.
        """
        predictor, codes = self._prepare(X)
        return predictor.predict(codes)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Posterior probability of each class, shape (n_rows, n_classes)."""
        predictor, codes = self._prepare(X)
        return predictor.proba(codes)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Log posterior of each class in nats, shape (n_rows, n_classes)."""
        predictor, codes = self._prepare(X)
        return predictor.log_proba(codes)

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Log joint probability (nats) of each class and the row's observed features.

        That of the model itself: no temperature is applied.

        Shape (n_rows, n_classes).
        """
        predictor, codes = self._prepare(X)
        return predictor.joint_log_proba(codes)

    def explain(
        self, X: Any, *, of: Any = None, against: Any = None
    ) -> list[Explanation]:
        """Split each row's log-odds into contributions of the features.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            One or more rows.
        of, against : label, optional
            The class explained, by default the one predicted, and the class that it is
            compared with, by default the runner-up.

        Returns
        -------
        list of Explanation
            Prior and terms of each add up to its log-odds; mixtures tell more.
        """
        predictor, codes = self._prepare(X)
        return labelled(predictor.explain(codes, against, of=of), row_labels(X))

    def with_class_prior(self, class_prior: Any) -> Self:
        """Return this classifier under another class prior, as met in deployment.

        Parameters
        ----------
        class_prior : array-like of shape (n_classes,)
            Probabilities in the order of `classes_`. Posteriors, calibrated or not,
            change in proportion to new prior over old.
        """
        check_is_fitted(self, "model_")
        prior = checked_class_prior(class_prior, self.classes_)
        other = copy.copy(self)
        other._prior_shift = reprior_shift(self._predictor(), prior)
        other.model_ = self.model_.with_class_prior(prior)
        return other
