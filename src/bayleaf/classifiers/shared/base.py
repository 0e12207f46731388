"""The one fit and the one predict that all classifiers share."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from bayleaf.classifiers.shared.callbacks import with_callbacks
from bayleaf.classifiers.shared.edge_parameters import edge_remarks
from bayleaf.classifiers.shared.incremental import (
    families_of,
    learn_batch,
    remembered_counts,
    seal_counts,
)
from bayleaf.classifiers.shared.leave_one_out import (
    LeftOutLogScores,
    choose_smoothing,
    fitted_temperature,
    kept_answers,
    known_score,
    leave_one_out,
    left_out_proba,
    left_out_score,
    note_little_support,
    reprior_shift,
)
from bayleaf.classifiers.shared.monotone import (
    check_monotone,
    check_two_classes,
    confirm_monotone,
    directions_of,
    monotone_remarks,
)
from bayleaf.classifiers.shared.parameters import (
    AUTO,
    CONDITIONAL,
    GAUSSIAN,
    check_pairs_size,
    check_shared,
    checked_class_prior,
    checked_loss,
    encoder_rules,
)
from bayleaf.classifiers.shared.saving import kept_support, saved_model
from bayleaf.classifiers.shared.table_estimator import TableEstimator
from bayleaf.classifiers.shared.training import (
    Learned,
    TrainingTable,
    class_variable,
    row_weights,
    split_target_and_weights,
)
from bayleaf.counts.count_tables import IncrementalCounts
from bayleaf.counts.source import MOST_ROWS, CountSource
from bayleaf.counts.table_counts import RowCounts
from bayleaf.counts.threads import thread_count
from bayleaf.cpds.smoothing import Smoothing, resolve_smoothing
from bayleaf.data.class_labels import encode_labels
from bayleaf.data.code_store import CodeStore
from bayleaf.data.codes import Codes
from bayleaf.data.column_reading import MISSING_RULES
from bayleaf.data.discretizers import resolve_discretizer
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.encoder_learning import Discretizer, Target, learn_rows
from bayleaf.data.incomplete_rows import DROP
from bayleaf.data.memory import size_in_bytes
from bayleaf.data.partial_values import PartialValues, Rows
from bayleaf.data.random_state import random_generator
from bayleaf.data.reading_plan import PlanLike, resolve_plan
from bayleaf.data.tables.columns import iterate_names
from bayleaf.data.tables.frames import row_labels, to_columns
from bayleaf.data.tables.named_rows import named_table
from bayleaf.data.unknown_cells import warn_of
from bayleaf.describe.fitted_summary import Summary, summarize
from bayleaf.dispatch import dispatch_classifier
from bayleaf.estimator_bases import ClassifierMixin, available_if
from bayleaf.inference.states import find_feature
from bayleaf.io.native.model_file import SavedModel
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import AVERAGES_NETWORKS
from bayleaf.models.explanation import Explanations, labelled, noted
from bayleaf.models.fit_stamp import FitStamp
from bayleaf.models.page_model import CLASSIFIER, PageModel
from bayleaf.models.predictor import Predictor
from bayleaf.models.texts.feature_shape import FeatureShape
from bayleaf.search.left_out.left_out_scores import LeaveOneOut, LeaveOneOutScores
from bayleaf.search.left_out.selection import Selection, rules_without_zeros
from bayleaf.streams.streamed import is_streamed
from bayleaf.typing import (
    BatchesLike,
    ByLabel,
    ColumnLike,
    LossLike,
    NumbersLike,
    RowNotes,
    RowsLike,
    TableLike,
)
from bayleaf.wording import quoted

if TYPE_CHECKING:
    from bayleaf.io.native.count_store import CountFile

# Parameters of `fit` by which a table in batches is read, and what one fit leaves.
READING = ("target", "store", "max_rows_in_memory", "client", "memory")
OF_LAST_FIT = (
    *("_training_codes", "_loo_score", "_prior_shift", "_support", "_counts"),
    *("_learned_temperature", "_left_out_answers", "_kept_answers"),
)


class _Absent:
    """A method of a base that a class lacks."""

    def __get__(self, instance: Any, owner: type) -> Any:
        raise AttributeError(f"{owner.__name__} has no partial_fit")


class BayesianClassifier(ClassifierMixin, TableEstimator):
    """Base of the classifiers: checks, encoding, prediction, explanation.

    A subclass defines `_learn`, and declares its own parameters as annotated defaults.

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
        columns of integers with at most ten distinct values are nominal.
    missing : {"marginalize", "state", "drop", "error"}, default="marginalize"
        Missing cells are left out of counts and summed out of predictions; count as a
        state of their own; leave their rows out of training ("drop", predictions sum
        them out); or are refused.
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
        list or a text such as ``"S<M<L"``. The discretiser may merge these; others
        that a table declares, such as bins of pandas, keep a state each.
    weight_scale : {"counts", "mean_one"}, default="counts"
        Whether weights count rows, or get a mean of one, as boosting needs.
    max_table_cells : int, default=20_000_000
        Largest table of counts, and of an intermediate result when missing features
        are summed out.
    class_prior : dict, or array-like of shape (n_classes,), optional
        Prior probabilities by class, or in the order of `classes_`.
    fit_prior : bool, default=True
        Whether the prior is learned, by the smoothing rule; otherwise it is uniform.
    class_weight : "balanced" or dict, optional
        Factors of row weights by class; "balanced" gives all classes the same weight,
        the sum of weights unchanged. The prior that is learned shifts with them, and so
        do probabilities; costs of errors belong in `loss`.
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

    # Whether batches add up, in `partial_fit`: the counts requested are the same for
    # all rows or, where the structure depends on them, sums of pairs.
    _is_incremental: ClassVar[bool] = False
    _chooses_structure: ClassVar[bool] = False
    # Whether fits look at rows, so that counts alone are not enough; and whether later
    # batches add no states.
    _learns_from_rows: ClassVar[bool] = False
    _keeps_states: ClassVar[bool] = False
    # Whether monotone features may have parents, once these are always known.
    _monotone_parents: ClassVar[bool] = False
    # Bytes that a search of structures takes for each pair of features.
    _bytes_a_pair: ClassVar[int] = 0
    # Bytes that the fit in progress may take.
    _memory: int | None = None
    # Sets of states that cells of the training rows may have.
    _sets = PartialValues.none()
    _missing_rules = (*MISSING_RULES, DROP)
    # The temperature, if learning finds it.
    _learned_temperature: float | None = None
    # How a table is read is no metadata that others could pass on, but for the plan.
    __metadata_request__fit: ClassVar = dict.fromkeys(READING, UNUSED)
    __metadata_request__predict: ClassVar = {"return_notes": UNUSED}
    __metadata_request__predict_proba: ClassVar = {"return_notes": UNUSED}

    calibration: str | None = None
    discretizer: str | Discretizer | None = "mdlp"
    class_prior: ByLabel[float] | NumbersLike | None = None
    fit_prior: bool = True
    class_weight: ByLabel[float] | str | None = None
    loss: LossLike | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls._is_incremental:
            # Otherwise inherited, as scikit-learn makes it of the signature.
            cls.set_partial_fit_request = _Absent()  # type: ignore[assignment,method-assign]

    @abstractmethod
    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        """Learn the model from counts over `domain`, the class last."""

    def _learn_batch(
        self, counts: IncrementalCounts, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        """Learn the model from a batch and what earlier ones left in the counts."""
        return self._learn(counts, domain, rng)

    def _check(self) -> None:
        check_shared(self)
        if self.smoothing != AUTO:
            resolve_smoothing(self.smoothing)
        check_monotone(getattr(self, "monotone", None))

    @with_callbacks
    def fit(
        self,
        X: BatchesLike | CodeStore,
        y: ColumnLike | None = None,
        sample_weight: NumbersLike | str | None = None,
        *,
        target: str | None = None,
        store: str | Path | None = None,
        max_rows_in_memory: int = MOST_ROWS,
        client: object = None,
        memory: int | str | None = None,
        plan: PlanLike = None,
    ) -> Self:
        """Learn from a table, in memory, batch by batch or on the workers of Dask.

        Parameters
        ----------
        X : data frame, ndarray or list of rows, shape (n_rows, n_features)
            Text, numbers, booleans; missing cells as the table marks them. Also a list
            of dicts, a dict of columns or a structured array. Or what yields batches
            and may be larger than memory: a Parquet or CSV path, glob or folder, a
            dataset or reader of pyarrow, a LazyFrame of polars, a relation of DuckDB,
            anything with ``__arrow_c_stream__``. Or a data frame of Dask.
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
        plan : ReadingPlan, dict or path, optional
            How the texts of columns become values; by default all cells of a column
            decide. Tools such as cross-validation learn it once from the whole table
            and pass it to every fit.

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
        self._plan = resolve_plan(plan)
        with self._callback_context(X, y, sample_weight):
            if client is not None or is_streamed(X):
                from bayleaf.classifiers.shared.batches import fit_batches
                from bayleaf.classifiers.shared.stored_tables import Reading

                reading = Reading(target, store, max_rows_in_memory, sample_weight)
                reading = reading._replace(client=client, memory=self._memory)
                fit_batches(self, X, y, reading)
            else:
                mixed = self._mixed_columns()
                self._fit(*split_target_and_weights(X, y, sample_weight, target, mixed))
        return self

    @available_if(lambda self: self._is_incremental)
    @with_callbacks
    def partial_fit(
        self,
        X: TableLike,
        y: ColumnLike,
        classes: ColumnLike | None = None,
        sample_weight: NumbersLike | None = None,
    ) -> Self:
        """Learn from one more batch of rows.

        After any number of batches the model equals that of `fit` on all their rows
        together, as long as no column is numeric: numeric columns keep the cut points
        and integer columns the kind that the first batch gives them. TAN and KDB with
        one parent choose their structure again. Other KDB and HNB keep that of the
        first batch or of an earlier `fit`, and add to its counts; HNB keeps its states
        too, and counts rows whose cells are known. Mixtures that learn online visit
        each row once, as it comes, whatever `n_passes`; values get counters with their
        first row. So for these too, any cut of the rows after the first batch, or of
        all rows of a mixture, gives the same model.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            The batch.
        y : array-like of shape (n_rows,)
            Class labels.
        classes : array-like of shape (n_classes,), optional
            All labels that will ever occur; needed in the first call only.
        sample_weight : array-like of shape (n_rows,), optional
            Weights >= 0. A batch in which all are 0 changes nothing.

        Returns
        -------
        BayesianClassifier
            The estimator itself.

        Raises
        ------
        ValueError
            If `classes` is missing in the first call or differs in a later one, or a
            label is not among them.
        """
        self._refuse_leave_one_out()
        if self.class_weight is not None and not isinstance(self.class_weight, Mapping):
            raise ValueError(
                f"class_weight={quoted(self.class_weight)} needs all labels at once, "
                "which partial_fit does not keep; pass the weights as a mapping, such "
                "as scikit-learn's compute_class_weight('balanced', classes=classes, "
                "y=y) computes of a large sample"
            )
        # A reader gives its batches once, and its names with them.
        X = named_table(X, self._mixed_columns())
        with self._callback_context(X, y, sample_weight, "partial_fit"):
            learn_batch(self, X, y, classes, sample_weight)
        return self

    def _refuse_leave_one_out(self) -> None:
        """Raise if a parameter asks for rows that learning by batches does not keep."""
        for name, value in (
            ("smoothing", self.smoothing == AUTO),
            ("missing", self.missing == DROP),
            ("calibration", self.calibration is not None),
            ("objective", getattr(self, "objective", None) == CONDITIONAL),
            ("numeric", getattr(self, "numeric", None) == GAUSSIAN),
        ):
            if value:
                raise ValueError(
                    f"{name}={quoted(getattr(self, name))} needs all rows at once, "
                    "which partial_fit does not keep; use fit, or another value"
                )

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Encode the table, count, learn."""
        sample_weight, dropped = self._complete_row_weights(X, sample_weight)
        table = self._training_table(X, y, sample_weight)
        self.classes_: NDArray[Any] = table.classes
        rng = random_generator(self.random_state)
        target = Target(class_variable(X, y, self.classes_), table.class_codes)
        with self._stage("encoding the table"):
            self.encoder_, codes, self._sets = learn_rows(
                table.parts,
                target,
                table.weights,
                self._chosen_discretizer(rng),
                encoder_rules(self),
                self._given_hierarchies(iterate_names(table.parts)),
            )
        self._learn_from(
            remembered_counts(self, self._count(codes)), target.variable, rng
        )
        self._training_codes: Codes | None = codes
        with self._stage("calibrating the model"):
            self.temperature_ = fitted_temperature(self, X, y, sample_weight)
        note_little_support(self)
        self._note_dropped_rows(dropped)

    def _chosen_discretizer(self, rng: np.random.Generator) -> Discretizer:
        """What finds cut points in this fit."""
        return resolve_discretizer(self.discretizer)

    def _count(self, codes: Codes) -> RowCounts:
        """Counts of the training codes."""
        return RowCounts(codes, self.n_jobs, max_table_cells=self.max_table_cells)

    def _learn_from(
        self,
        counts: Any,
        class_variable: Variable,
        rng: np.random.Generator,
        learn: Callable[..., Learned] | None = None,
    ) -> None:
        """Learn the model over the encoder's domain and the class.

        `learn` takes the place of `_learn`.
        """
        domain = Domain((*self.encoder_.domain.variables, class_variable))
        self.__dict__.update(dict.fromkeys(OF_LAST_FIT))
        self._last_unknown = {}
        self.__dict__.pop("selection_", None)
        self._fit_stamp = FitStamp.now()
        self.temperature_ = 1.0
        if self.smoothing != AUTO:
            self.smoothing_ = resolve_smoothing(self.smoothing)
        n_features = len(self.encoder_.domain)
        check_pairs_size(n_features, self._bytes_a_pair, self._memory)
        with self._stage("learning the model"):
            learn = learn or self._learn
            self.model_, self.log_likelihood_ = learn(counts, domain, rng)
        seal_counts(self, counts)
        confirm_monotone(self, self.model_)

    def _training_table(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        known_classes: NDArray[Any] | None = None,
        *,
        reset: bool = True,
        allow_empty: bool = False,
    ) -> TrainingTable:
        """Check parameters and take the table apart; see `TrainingTable.from_arrays`.

        With `reset` the table sets the names and number of features, otherwise it must
        match them.
        """
        self._check_parameters()
        X = named_table(X, self._mixed_columns())
        parts = to_columns(X)
        validate_data(self, X, y, reset=reset, skip_check_array=True)
        self._check_columns(tuple(iterate_names(parts)))
        table = TrainingTable.from_arrays(
            parts,
            y,
            sample_weight,
            known_classes,
            self.weight_scale,
            self.class_weight,
            allow_empty=allow_empty,
        )
        checked_loss(self.loss, table.classes)
        if directions_of(self):
            check_two_classes(table.classes.tolist())
        if self.class_prior is not None:
            checked_class_prior(self.class_prior, table.classes)
        return table

    @property
    def _given_prior(self) -> NDArray[np.float64] | None:
        """Prior probabilities, given or uniform; None where they are learned."""
        if self.class_prior is not None:
            return checked_class_prior(self.class_prior, self.classes_)
        if self.fit_prior:
            return None
        return np.full(len(self.classes_), 1.0 / len(self.classes_))

    def _class_prior(
        self, counts: CountSource, smoothing: Smoothing
    ) -> NDArray[np.float64]:
        """Prior probabilities: given, learned, or uniform."""
        given = self._given_prior
        return smoothing.estimate(counts.class_counts()) if given is None else given

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
            predictor,
            log_likelihood=self.log_likelihood_,
            left_out=self._loo_score,
            left_out_answers=kept_answers(self),
            **others,
        )

    def _page_model(self) -> PageModel:
        return PageModel(
            name=type(self).__name__,
            task=CLASSIFIER,
            # First, since it checks that there is a model.
            scorer=self._predictor(),
            model=self.model_,
            encoder=self.encoder_,
            read=self._encode,
            support=partial(kept_support, self),
            left_out=partial(left_out_proba, self),
            quality=partial(known_score, self),
            fitted=self._fit_stamp,
            saved=partial(saved_model, self),
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
        self._loo_score: LeaveOneOutScores | None = saved.left_out
        self._kept_answers = saved.left_out_answers
        self._prior_shift: NDArray[np.float64] | None = predictor.prior_shift
        self._support = predictor.support
        # A loss must fit the classes.
        self._predictor()

    def _prepare(self, X: Any) -> tuple[Predictor, Rows]:
        """The predictor and a table's codes, once it has the columns of training.

        Warns of values not seen in training.
        """
        return self._predictor(), self._rows_as_fitted(X)

    @overload
    def predict(
        self, X: RowsLike, *, return_notes: Literal[False] = False
    ) -> NDArray[Any]: ...
    @overload
    def predict(
        self, X: RowsLike, *, return_notes: Literal[True]
    ) -> tuple[NDArray[Any], RowNotes]: ...
    def predict(self, X: RowsLike, *, return_notes: bool = False) -> Any:
        """Predict the class of each row, shape (n_rows,).

        The most probable class or, with `loss`, the one of least expected cost; ties
        go to the earlier class.

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
            Labels.
        """
        if return_notes:
            predictor, encoded = self._predictor(), self._encode(X, return_notes=True)
            return predictor.predict(encoded.rows), encoded.notes
        predictor, codes = self._prepare(X)
        return predictor.predict(codes)

    def score(
        self, X: RowsLike, y: ColumnLike, sample_weight: NumbersLike | None = None
    ) -> float:
        """Accuracy: the weighted share of rows whose class `predict` gives."""
        labels, codes = encode_labels(y)
        if labels.dtype.kind != "O":
            accuracy: float = super().score(X, y, sample_weight)
            return accuracy
        # NumPy would cut, round or refuse some labels that are objects.
        predicted = self.predict(X).tolist()
        check_consistent_length(codes, predicted, sample_weight)
        hits = [a == b for a, b in zip(labels[codes].tolist(), predicted, strict=True)]
        return float(np.average(hits, weights=row_weights(sample_weight, len(hits))))

    @overload
    def predict_proba(
        self, X: RowsLike, *, return_notes: Literal[False] = False
    ) -> NDArray[np.float64]: ...
    @overload
    def predict_proba(
        self, X: RowsLike, *, return_notes: Literal[True]
    ) -> tuple[NDArray[np.float64], RowNotes]: ...
    def predict_proba(self, X: RowsLike, *, return_notes: bool = False) -> Any:
        """Posterior probability of each class, shape (n_rows, n_classes).

        With `return_notes`, notes on the cells of each row too, see `predict`.
        """
        if return_notes:
            predictor, encoded = self._predictor(), self._encode(X, return_notes=True)
            return predictor.proba(encoded.rows), encoded.notes
        predictor, codes = self._prepare(X)
        return predictor.proba(codes)

    def predict_log_proba(self, X: RowsLike) -> NDArray[np.float64]:
        """Log posterior of each class in nats, shape (n_rows, n_classes)."""
        predictor, codes = self._prepare(X)
        return predictor.log_proba(codes)

    def predict_joint_log_proba(self, X: RowsLike) -> NDArray[np.float64]:
        """Log joint probability (nats) of each class and the row's observed features.

        That of the model itself: no temperature is applied.

        Shape (n_rows, n_classes).
        """
        predictor, codes = self._prepare(X)
        return predictor.joint_log_proba(codes)

    def explain(
        self, X: RowsLike, *, of: Hashable = None, against: Hashable = None
    ) -> Explanations:
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
        Explanations
            A list with an Explanation a row, whose prior and terms add up to its
            log-odds; mixtures tell more. `to_matrix` gives all contributions as an
            array, `to_shap` for the plots of shap.
        """
        predictor, encoded = self._predictor(), self._encode(X, return_notes=True)
        warn_of(encoded.unknown_cells.values())
        rows = predictor.explain(encoded.rows, against, of=of)
        return Explanations(noted(labelled(rows, row_labels(X)), encoded))

    def with_class_prior(
        self, class_prior: ByLabel[float] | NumbersLike | None
    ) -> Self:
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
        # Training rows, and their counts, are not behind this prior.
        other._support = other._kept_answers = None
        other.__dict__.pop("_stored_counts", None)
        return other

    def shape(self, feature: str | int) -> FeatureShape:
        """What one feature says of the classes alone, state by state.

        Parameters
        ----------
        feature : str or int
            Name of the feature.

        Returns
        -------
        FeatureShape
            A step curve for a numeric feature, bars for a nominal one, with the weight
            of the training rows in each state, as long as the rows are known: not
            after pickling, or reading a file of most kinds.

        Raises
        ------
        ValueError
            If there is no such feature.
        """
        check_is_fitted(self, "model_")
        place = find_feature(self.model_.domain, feature)
        found = self.model_.feature_shape(place, tuple(self.classes_.tolist()))
        assert isinstance(found, FeatureShape)
        codes = self._training_codes
        if found.row_counts.size or codes is None:
            return found
        return replace(found, row_counts=_rows(codes, place, len(found.states)))

    @property
    def network_(self) -> BayesianNetwork:
        """The learned Bayesian network: features, then the class; not calibrated."""
        check_is_fitted(self, "model_")
        network = getattr(self.model_, "network", None)
        if network is None:
            why = getattr(self.model_, "why_no_network", None) or AVERAGES_NETWORKS
            raise AttributeError(f"{type(self).__name__} {why}")
        return cast(BayesianNetwork, network)

    @property
    def edges_(self) -> list[tuple[str | int, str | int]]:
        """Arcs as (parent, child) names, arcs from the class included."""
        check_is_fitted(self, "model_")
        names = self.model_.domain.names
        return [(names[parent], names[child]) for parent, child in self.model_.arcs]

    def summary(self) -> Summary:
        """Class, features, arcs, free parameters, log-likelihood, remarks."""
        check_is_fitted(self, "model_")
        facts = self._predictor(), self.log_likelihood_, self._n_unknown
        found = summarize(type(self).__name__, *facts, self._fit_stamp)
        remarks = [*edge_remarks(self), *monotone_remarks(self)]
        return replace(found, remarks=(*found.remarks, *remarks))

    @property
    def counts_(self) -> CountFile:
        """Counts of the training rows, which add up with those of others.

        Of the class with all pairs of features, and of the model's own families; with
        their states, they take memory by the square of the number of features.
        """
        from bayleaf.classifiers.shared.from_counts import counts_of

        check_is_fitted(self, "model_")
        return counts_of(self)

    def count(
        self, table: BatchesLike, *, sample_weight: str | None = None
    ) -> CountFile:
        """Count other rows as this model reads them: its columns, at its cut points.

        Parameters
        ----------
        table : data frame, or what `fit` reads in batches
            With the columns of training and the class; others are left out. Values
            that training did not contain become states, unless ``unknown="error"``.
        sample_weight : str, optional
            The column of row weights.

        Returns
        -------
        CountFile
            Of the same tables as `counts_`, so that both can be added.

        Raises
        ------
        ValueError
            If a column is missing, or there are no rows.
        """
        from bayleaf.classifiers.shared.from_counts import count_batches, reading_of
        from bayleaf.streams.batch_sources import open_source

        check_is_fitted(self, "model_")
        plan, families = self.encoder_.rules.plan, families_of(self.model_)
        source = open_source(table, as_texts=True, plan=plan)
        return count_batches(source, reading_of(self), families, sample_weight)

    @classmethod
    def from_counts(cls, counts: CountFile, **parameters: object) -> Self:
        """Learn from counts alone: of other days, of several sites, less some rows.

        Parameters
        ----------
        counts : CountFile
            Of a table, or of several whose counts were added.
        **parameters
            Of the classifier.

        Returns
        -------
        BayesianClassifier
            The model that `fit` gives on all the rows counted, bit for bit, at the same
            cut points.

        Raises
        ------
        ValueError
            If the counts lack a table that the classifier asks for, naming its
            variables, or it learns from rows.
        """
        from bayleaf.classifiers.shared.from_counts import fit_to_counts

        kind: Callable[..., Self] = cls
        classifier = kind(**parameters)
        fit_to_counts(classifier, counts)
        return classifier

    def _chosen_smoothing(
        self, counts: CountSource, domain: Domain, log_scores: LeftOutLogScores
    ) -> Smoothing:
        """The rule for the tables; with "auto" it is chosen here, once in a fit.

        `log_scores` scores the left-out rows under each rule, the structure fixed.
        """
        if self.smoothing == AUTO and not hasattr(self, "selection_"):
            rules = rules_without_zeros(counts.rows())
            left_out = self._leave_one_out(counts.rows(), domain, rules)
            self._adopt(choose_smoothing(left_out, log_scores))
        return self.smoothing_

    def _adopt(self, selection: Selection) -> None:
        """Take over the best candidate's rule."""
        self.selection_ = selection
        self.smoothing_ = selection.best.smoothing

    def _leave_one_out(
        self, codes: Codes, domain: Domain, rules: Sequence[Smoothing]
    ) -> LeaveOneOut:
        """What scores each row of the codes without itself, under each rule."""
        counts = RowCounts(codes, self.n_jobs, max_table_cells=self.max_table_cells)
        prior = self._given_prior
        return leave_one_out(counts, domain, rules, prior, self.max_table_cells)

    def _left_out_log_scores(self, left_out: LeaveOneOut) -> NDArray[np.float64] | None:
        """Scores of the left-out rows, (n_rules, n_classes, n_rows); None if unknown.

        The structure is that of the fitted model.
        """
        return None

    @property
    def loo_score_(self) -> LeaveOneOutScores:
        """How well the training rows are predicted without themselves.

        Exact leave-one-out of the probabilities: structure, cut points and temperature
        stay those of all rows; the temperature counts in a row as far as its features
        are known. Computed when first asked for; files contain it once it is.
        """
        check_is_fitted(self, "model_")
        if self._loo_score is None:
            self._loo_score = left_out_score(self)
        return self._loo_score

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Information of each column alone on the class, shape (n_features,).

        Shares of the sum, as other estimators' are, of the information by which a
        column raises the mean log-probability of the class of left-out training rows:
        that of `bayleaf.explain.importance`, which also measures what a feature adds to
        the others. AttributeError once the rows are gone, as after pickling.
        """
        check_is_fitted(self, "model_")
        shares: NDArray[np.float64] = dispatch_classifier("feature_importances_", self)
        return shares

    def __getstate__(self) -> dict[str, Any]:
        # Neither a pickle nor a copy under another prior holds the training rows.
        state = cast(dict[str, Any], super().__getstate__())
        rows = {"_training_codes", "_loo_score", "_left_out_answers", "_beside"}
        dropped = dict.fromkeys(rows & set(state))
        answers = {"_kept_answers": kept_answers(self)} if dropped else {}
        return {**state, **dropped, **answers}


def _rows(codes: Codes, feature: int, n_states: int) -> NDArray[np.float64]:
    """Weight of the rows in each state of a feature."""
    column = codes.column(feature)
    counts = np.bincount(column, weights=codes.weights, minlength=n_states)
    return counts[:n_states].astype(np.float64)
