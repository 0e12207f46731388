"""What classifiers and density models share as estimators of scikit-learn."""

from __future__ import annotations

import contextlib
import inspect
import logging
import sys
import time
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from bayleaf.classifiers.shared.callbacks import HAS_CALLBACKS, CallbackSupportMixin
from bayleaf.classifiers.shared.parameters import (
    DeclaredParameters,
    check_choice,
    check_count,
    check_jobs,
    encoder_rules,
    no_such_feature,
)
from bayleaf.classifiers.shared.training import WeightedRows, n_rows, row_weights
from bayleaf.cpds.smoothing import Smoothing, with_parameters
from bayleaf.data.codes import Codes
from bayleaf.data.column_reading import (
    DATE_RULES,
    IDENTIFIER_RULES,
    MISSING_RULES,
    RARE_RULES,
    UNKNOWN_RULES,
)
from bayleaf.data.column_table import ColumnTable
from bayleaf.data.encoder_learning import Discretizer, NoCuts, learn_plan, learn_rows
from bayleaf.data.incomplete_rows import (
    DROP,
    note_on_dropped_rows,
    without_incomplete_rows,
)
from bayleaf.data.memory import naming_remedy
from bayleaf.data.partial_values import Hierarchies, Rows, rows_of, single_states
from bayleaf.data.random_state import RandomState
from bayleaf.data.reading_plan import PlanLike, ReadingPlan, resolve_plan
from bayleaf.data.table_encoder import EncodedTable, TableEncoder, with_notes
from bayleaf.data.tables.columns import Column, Matrix, Name, iterate_names
from bayleaf.data.tables.frames import column_names, to_columns, whole_table
from bayleaf.data.tables.named_rows import named_table, notes_on_other_cells
from bayleaf.data.unknown_cells import UnknownCells, warn_of
from bayleaf.data.weight_scale import COUNTS, WEIGHT_SCALES, one_warning
from bayleaf.dispatch import dispatch, dispatch_classifier
from bayleaf.estimator_bases import BaseEstimator
from bayleaf.io.native.model_file import SavedModel
from bayleaf.models.fit_stamp import FitStamp
from bayleaf.models.page_model import PageModel
from bayleaf.models.texts.html_summary import picture_of
from bayleaf.progress import Work, displayed
from bayleaf.results.document import Document, Figure
from bayleaf.typing import ByName, NumbersLike, RowsLike

# How parameters of the smoothing are called.
_NESTED = "smoothing__"
_LOGGER = logging.getLogger("bayleaf")


class TableEstimator(DeclaredParameters, CallbackSupportMixin, BaseEstimator):
    """Base of estimators that read tables: parameters, tags, reports on a fit.

    `BayesianClassifier` and `BayesianNetworkEstimator` say what each parameter means.
    """

    # What may become of missing cells.
    _missing_rules: ClassVar[tuple[str, ...]] = MISSING_RULES
    _unknown_rules: ClassVar[tuple[str, ...]] = UNKNOWN_RULES
    # Where scikit-learn's picture of the parameters leads to.
    _doc_link_module = "bayleaf"
    _doc_link_template = "https://github.com/bayleaf-dev/bayleaf/tree/main/docs/methods"
    # Unknown cells by column of the table read last: never changed, only replaced as a
    # whole, so that threads may predict side by side.
    _last_unknown: Mapping[Name, UnknownCells] = MappingProxyType({})

    # How the texts of the table are read, as passed to the last fit.
    _plan: ReadingPlan | None = None

    smoothing: str | Smoothing = "laplace"
    discretizer: str | Discretizer | None = "equal_frequency"
    categorical_features: Iterable[Name] | None = None
    missing: str = "marginalize"
    unknown: str = "missing"
    max_states: int = 1000
    identifiers: str = "drop"
    rare: str = "group"
    dates: str = "expand"
    ordered_features: ByName[Iterable[Hashable]] | Iterable[Name] | None = None
    weight_scale: str = COUNTS
    max_table_cells: int = 20_000_000
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def set_params(self, **params: object) -> Self:
        """Set parameters by name, such as ``smoothing__alpha=0.5`` of the smoothing.

        Returns
        -------
        TableEstimator
            The estimator itself. Rules are not changed in place, so that others may
            share them; those that are given by name become objects.

        Raises
        ------
        ValueError
            If a parameter does not exist, or the smoothing does not allow the value.
        """
        nested = {n: params.pop(n) for n in list(params) if n.startswith(_NESTED)}
        super().set_params(**params)
        if nested:
            values = {name.removeprefix(_NESTED): v for name, v in nested.items()}
            self.smoothing = with_parameters(self.smoothing, values)
        return self

    def learn_plan(
        self,
        X: RowsLike,
        sample_weight: NumbersLike | None = None,
        *,
        plan: PlanLike = None,
    ) -> ReadingPlan:
        """Decide how the columns of a whole table are read, for fits to some rows.

        Pass it to every fit of a cross-validation, so that no fold reads a column in
        another way: ``cross_validate(..., params={"plan": model.learn_plan(X)})``.
        Labels and cut points have no part in it.

        Parameters
        ----------
        X : data frame, ndarray or list of rows, shape (n_rows, n_features)
            All rows of the table.
        sample_weight : array-like of shape (n_rows,), optional
            Rows of weight zero have no part in it.
        plan : ReadingPlan, dict or path, optional
            What is decided already.

        Returns
        -------
        ReadingPlan
            With an entry for every column.

        Raises
        ------
        ValueError, TypeError
            If a parameter or a column cannot be used.
        """
        self._check_parameters()
        rules = replace(encoder_rules(self), plan=resolve_plan(plan))
        parts = to_columns(named_table(X, self._mixed_columns()))
        rows = WeightedRows.of_table(parts, sample_weight, self.weight_scale)
        return learn_plan(rows.parts, rows.weights, rules)

    @property
    def columns_(self) -> ColumnTable:
        """How each column of the training table was taken, and what became of it."""
        check_is_fitted(self, "encoder_")
        fitted: Any = self
        return ColumnTable(fitted.encoder_)

    @property
    def unknown_(self) -> Mapping[Name, UnknownCells]:
        """Values that training did not contain, in the table read last.

        By column, where there are any: how many cells, and value and row of the first,
        which print as a sentence. They were taken as missing. Each call replaces this
        mapping as a whole, whatever its thread, and a fit empties it.
        """
        check_is_fitted(self, "encoder_")
        return MappingProxyType(dict(self._last_unknown))

    @property
    def _n_unknown(self) -> dict[Name, int]:
        """Number of such cells by column."""
        return {name: cells.number for name, cells in self._last_unknown.items()}

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator to a JSON model file; `bayleaf.load` reads it.

        No file contains training rows. That of averaged KDB contains the left-out
        answers of three of the first 1 000, their positions and one checksum of all of
        these, for `bayleaf.explorer.suggested_cases`.

        Raises
        ------
        TypeError
            If a parameter or label has no place in the file, naming it.
        ValueError
            If a reader would refuse a table, as after a large floor, or anything else,
            as a class that `bayleaf.classifiers.CLASSIFIERS` lacks.
        OSError
            If the file cannot be written; an older file is then left as it was.
        """
        dispatch_classifier("save", self, path)

    def _record(self, **others: Any) -> SavedModel:
        """What a file contains of the fit, and `others`, the fields common to all."""
        raise NotImplementedError

    # Whether learning leaves out cells that name groups, and so may do without rows.
    _leaves_groups_out = False

    def _given_hierarchies(self, names: Iterable[Name]) -> Hierarchies:
        """Value hierarchies by column; none without `HierarchyParameters`."""
        return {}

    def _named_columns(self) -> Iterable[tuple[str, Name]]:
        """Columns that the table must have, each with the parameter that names it."""
        return ()

    def _check_columns(self, names: Collection[Name]) -> None:
        """Raise ValueError if a parameter names columns that the table lacks."""
        texts = set(map(str, names))
        for parameter, name in self._named_columns():
            # Dates are split into features such as "day: month".
            if name not in names and str(name).rpartition(": ")[0] not in texts:
                raise no_such_feature(parameter, name, names)

    def _mixed_columns(self) -> Collection[str]:
        """Columns whose cells may name groups, next to values that are not text."""
        return ()

    def _complete_row_weights(self, X: Any, sample_weight: Any) -> tuple[Any, str]:
        """Weights without the rows that missing='drop' leaves out, and a note of them.

        A column that is left out, such as an identifier, leaves no row out. ValueError
        if no row is complete.
        """
        if self.missing != DROP:
            return sample_weight, ""
        self._check_parameters()
        parts = to_columns(named_table(X, self._mixed_columns()))
        remaining = row_weights(sample_weight, n_rows(parts))
        given, before = remaining, None
        # A column may be used that was left out while there were more rows.
        while before is None or (remaining != before).any():
            before = remaining
            rows = WeightedRows.of_table(parts, remaining)
            encoder, codes, partial = learn_rows(
                rows.parts,
                None,
                rows.weights,
                NoCuts(),
                encoder_rules(self),
                self._given_hierarchies(iterate_names(parts)),
                allow_empty=True,
            )
            read = rows_of(codes, partial, encoder.domain)
            remaining = without_incomplete_rows(read, encoder.domain, remaining)
        return remaining, note_on_dropped_rows(given, remaining)

    def _note_dropped_rows(self, note: str) -> None:
        """Add to the notes of the columns how many rows missing='drop' left out."""
        if note:
            fitted: Any = self
            fitted.encoder_.notes["missing='drop'"] = note

    def _restore(self, saved: Any) -> None:
        """Take over a record whose fields were checked; subclasses add their own."""
        names = saved.encoder.column_names
        self.encoder_: TableEncoder = replace(
            saved.encoder, hierarchies=self._given_hierarchies(names)
        )
        # When the last fit was, and by which version.
        self._fit_stamp: FitStamp = saved.fitted
        self.n_features_in_ = len(names)
        if saved.named_features:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _html_repr(self) -> str:
        """What a notebook shows: the live page of a fitted estimator."""
        # Until then it is scikit-learn's own picture of the parameters.
        parameters = str(super()._html_repr())
        if not hasattr(self, "encoder_"):
            return parameters
        fitted: Any = self
        drawing = picture_of(self._page_model().model)
        below = Document("Parameters and documentation", [Figure(parameters)])
        summary = fitted.summary().document()
        return str(dispatch("_repr_html_", self, drawing, summary, below))

    def _page_model(self) -> PageModel:
        """What reports and explorers show of the fitted estimator."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        """Raise if a parameter is out of range, by the `_check` of each class."""
        for kind in reversed(type(self).__mro__):
            if check := kind.__dict__.get("_check"):
                check(self)

    def _check(self) -> None:
        """Raise if a parameter of this class is out of range."""
        check_choice("missing", self.missing, self._missing_rules)
        check_choice("unknown", self.unknown, self._unknown_rules)
        check_choice("identifiers", self.identifiers, IDENTIFIER_RULES)
        check_choice("rare", self.rare, RARE_RULES)
        check_choice("weight_scale", self.weight_scale, WEIGHT_SCALES)
        check_choice("dates", self.dates, DATE_RULES)
        check_count("max_states", self.max_states, 2)
        check_count("max_table_cells", self.max_table_cells, 1)
        check_count("verbose", int(self.verbose), 0)
        check_jobs(self.n_jobs)

    @contextlib.contextmanager
    def _callback_context(
        self, X: Any, y: Any, sample_weight: Any, method: str = "fit"
    ) -> Iterator[None]:
        """Report to callbacks that a fit begins and that it has ended."""
        fit = {"estimator": self, "X": X, "y": y}
        fit["metadata"] = {"sample_weight": sample_weight}
        if HAS_CALLBACKS:
            context = self._init_callback_context(task_name=method)
            context.call_on_fit_task_begin(**fit)
        what = f"{method} of {type(self).__name__}"
        with one_warning(), naming_remedy(what, self._memory_remedy):
            yield
        if HAS_CALLBACKS:
            context.call_on_fit_task_end(**fit)

    @property
    def _memory_remedy(self) -> str:
        """What to do where a fit gets too little memory."""
        fitted: Any = self
        remedies = "take fewer rows or columns"
        if "memory" in inspect.signature(fitted.fit).parameters:
            remedies = f"pass a limit as memory to fit, or {remedies}"
        if hasattr(self, "max_model_size"):
            remedies = f"lower max_model_size, {remedies}"
        return remedies

    def _on_iteration(self, task_id: tuple[int, int], facts: Mapping[str, Any]) -> None:
        """Report to callbacks a finished pass below the fit."""
        if not HAS_CALLBACKS:
            return
        fit: Any = self._callback_fit_ctx
        task = fit.subcontext(task_name="pass", task_id=task_id)
        task.call_on_fit_task_begin(estimator=self, metadata=facts)
        task.call_on_fit_task_end(estimator=self, metadata=facts)

    @contextlib.contextmanager
    def _stage(self, what: str) -> Iterator[None]:
        """Show a stage while it lasts and log how long it took, when asked to."""
        told = f"{type(self).__name__}: {what}"
        start = time.perf_counter()
        with displayed(self.verbose), Work() as work:
            work.say(told)
            yield
        seconds = time.perf_counter() - start
        _LOGGER.info("%s took %.3f s", told, seconds)
        if self.verbose:
            print(f"{told} took {seconds:.3f} s", file=sys.stderr)

    @naming_remedy("reading the table", "pass fewer rows at a time")
    def _encode(self, X: Any, *, return_notes: bool = False) -> EncodedTable:
        """Encode a table that has the columns of training, and note what was unknown.

        With notes by row where they are asked for.
        """
        check_is_fitted(self, "encoder_")
        fitted: Any = self
        parts = self._parts_as_fitted(X)
        encoded: EncodedTable = fitted.encoder_.transform(parts)
        self._last_unknown = encoded.unknown_cells
        if not return_notes:
            return encoded
        noted = with_notes(fitted.encoder_, encoded, parts)
        others = notes_on_other_cells(X, fitted.encoder_.column_names)
        if others is None or noted.notes is None:
            return noted
        notes = [a + b for a, b in zip(noted.notes, others, strict=True)]
        return replace(noted, notes=notes)

    def _rows_as_fitted(self, X: Any) -> Rows:
        """Codes of a table, with a warning of values not seen in training."""
        encoded = self._encode(X)
        warn_of(encoded.unknown_cells.values())
        return encoded.rows

    def _codes_as_fitted(self, X: Any) -> Codes:
        """The same where every cell has to be a single state, or missing."""
        return single_states(self._rows_as_fitted(X))

    def _parts_as_fitted(self, X: Any) -> Matrix | list[Column]:
        """A table taken apart, once it has the columns of training."""
        X = whole_table(X)
        parts, is_matched = self.encoder_.split(X)
        names = getattr(self, "feature_names_in_", None)
        # scikit-learn compares names too, but takes as long as all the rest.
        if is_matched or (names is not None and column_names(X) == tuple(names)):
            return parts
        try:
            validate_data(self, X, reset=False, skip_check_array=True)
        except ValueError as error:
            known = set(() if names is None else names)
            if not known or not known <= set(column_names(X) or ()):
                raise
            raise ValueError(
                f"{error}\nSelect the columns of training: X[model.feature_names_in_]"
            ) from error
        return parts
