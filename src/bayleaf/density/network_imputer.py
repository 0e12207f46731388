"""A network learned from incomplete rows fills in their missing cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import (
    _check_feature_names_in,
    check_is_fitted,
    validate_data,
)

from bayleaf.classifiers.shared.parameters import check_flag, check_jobs
from bayleaf.data.random_state import RandomState
from bayleaf.data.tables.columns import Column, Matrix, Name, TimeColumn, cell_of
from bayleaf.data.tables.filling import with_cells
from bayleaf.data.tables.frames import column_names, to_columns, whole_table
from bayleaf.data.tables.named_rows import named_table, records_of
from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator
from bayleaf.estimator_bases import BaseEstimator, TransformerMixin
from bayleaf.inference.imputation import Filling, Imputation, ReadTable, missing_cells
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.typing import ByName, ColumnLike, ListLike, NumbersLike, TableLike

Frame = TypeVar("Frame")

# What a reading makes of a column where cells of it can be filled.
_FILLED_FORMS = ("as_is", "values", "truths", "numbers", "ordered")


class BayesianNetworkImputer(TransformerMixin, BaseEstimator):
    """Fills in missing cells by a Bayesian network that is learned from the table.

    Text, categories, booleans and numbers are filled alike, each as its column
    holds it; the table comes back as the kind of table that it is.

    Parameters
    ----------
    estimator : BayesianNetworkEstimator, optional
        Learns the network; one with the same `random_state` and `n_jobs` by default.
        It must not take missing cells as a state (``missing="state"``).
    how : {"most_probable", "marginal", "mean", "sample"}, default="most_probable"
        The most probable completion of the row as a whole; each cell's own most
        probable state; the same, but for numbers their expected value; or a draw from
        the joint posterior of the row's missing cells.
    add_indicator : bool, default=False
        Whether to add a column of booleans for each column that lacked cells in
        `fit`: which cells were missing.
    impossible : {"error", "missing"}, default="error"
        Whether a row of probability zero is refused, or left as it is.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the search for the network, and of the draws; with an integer the same
        table is filled alike each time.
    n_jobs : int, default=None
        Threads; -1 means all cores. No cell depends on it.

    Attributes
    ----------
    estimator_ : BayesianNetworkEstimator
        The fitted density model.
    network_ : BayesianNetwork
        Its network.
    indicated_ : tuple of int
        Places of the columns that lacked cells in `fit`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, where all of them are strings.

    Notes
    -----
    Dates, durations, and columns that were left out in training since nearly every
    value is another one, are returned as they are, missing cells included. Values that
    training did not contain are kept and say nothing about the other cells of their
    row. Cells that name a group of a value hierarchy get one of its states.

    Examples
    --------
    >>> from bayleaf import BayesianNetworkImputer
    >>> rows = [["wet", "rain"], ["dry", "sun"]] * 20 + [["wet", None]]
    >>> BayesianNetworkImputer(random_state=0).fit_transform(rows)[-1].tolist()
    ['wet', 'rain']
    """

    estimator_: BayesianNetworkEstimator
    network_: BayesianNetwork
    indicated_: tuple[int, ...]

    def __init__(
        self,
        estimator: BayesianNetworkEstimator | None = None,
        *,
        how: str = "most_probable",
        add_indicator: bool = False,
        impossible: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.how = how
        self.add_indicator = add_indicator
        self.impossible = impossible
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def fit(
        self, X: TableLike, y: object = None, sample_weight: NumbersLike | None = None
    ) -> Self:
        """Learn a network from a table.

        Parameters
        ----------
        X : data frame, ndarray or list of rows, shape (n_rows, n_features)
            Text, numbers, booleans; missing cells as the table marks them.
        y : None
            Not looked at; scikit-learn's tools pass it.
        sample_weight : array-like of shape (n_rows,), optional
            Weights >= 0. Weight 0 equals a removed row, weight 2 a repeated one.

        Returns
        -------
        BayesianNetworkImputer
            The fitted imputer itself.

        Raises
        ------
        ValueError, TypeError
            If a parameter or a column cannot be used; the sentence names it and the
            remedy.
        """
        self._filling()
        check_flag("add_indicator", self.add_indicator)
        check_jobs(self.n_jobs)
        X = named_table(X)
        parts = to_columns(X)
        validate_data(self, X, reset=True, skip_check_array=True)
        self.estimator_ = self._unfitted().fit(X, sample_weight=sample_weight)
        self.network_ = self.estimator_.network_
        masks = _masks(parts)
        self.indicated_ = tuple(j for j, mask in enumerate(masks) if mask.any())
        return self

    @overload
    def transform(self, X: ListLike[ListLike[object]]) -> NDArray[Any]: ...
    @overload
    def transform(self, X: ListLike[ByName[object]]) -> list[dict[Name, object]]: ...
    @overload
    def transform(
        self, X: ByName[object]
    ) -> dict[Name, object] | list[dict[Name, object]]: ...
    @overload
    def transform(self, X: Frame) -> Frame: ...
    def transform(self, X: Any) -> Any:
        """Fill in the missing cells of a table, given what each row holds.

        Parameters
        ----------
        X : data frame, ndarray or list of rows, shape (n_rows, n_features)
            With the columns of training; or a dict, a series or a list of dicts, whose
            cells are matched by name.

        Returns
        -------
        table
            A copy of the same kind, an array for a list of rows, and dicts for rows
            with names; cells that held something are as they were.

        Raises
        ------
        ValueError
            If columns are not those of training, or a row has probability zero.
        TypeError
            If a column's type has no place for what is filled in.
        """
        check_is_fitted(self, "network_")
        X, encoder = whole_table(X), self.estimator_.encoder_
        records = records_of(X, encoder.column_names)
        parts, is_matched = encoder.split(X if records is None else records)
        if not is_matched:
            validate_data(self, X, reset=False, skip_check_array=True)
        table = X if column_names(X) is not None else _as_array(X)
        if records is not None:
            table = _cells_by_column(parts)
        trees = NetworkTrees(
            self.network_, max_table_cells=self.estimator_.max_table_cells
        )
        imputation = Imputation(trees, self._read(parts), self._filling())
        (filled,) = imputation.tables(table)
        if records is not None:
            return self._as_records(X, records, filled, parts)
        return self._with_indicators(filled, parts) if self.add_indicator else filled

    def get_feature_names_out(
        self, input_features: ColumnLike | None = None
    ) -> NDArray[np.object_]:
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns, if `fit` saw none.

        Returns
        -------
        ndarray of shape (n_columns,)
        """
        check_is_fitted(self, "network_")
        names = _check_feature_names_in(self, input_features)
        added = [_indicator(names[j]) for j in self.indicated_ if self.add_indicator]
        return np.array([*names, *added], dtype=object)

    def _unfitted(self) -> BayesianNetworkEstimator:
        """The estimator to fit."""
        if self.estimator is None:
            return BayesianNetworkEstimator(
                random_state=self.random_state, n_jobs=self.n_jobs
            )
        if not isinstance(self.estimator, BayesianNetworkEstimator):
            raise TypeError(
                "estimator must be a BayesianNetworkEstimator or None, got "
                f"{type(self.estimator).__name__}"
            )
        if self.estimator.missing == "state":
            raise ValueError(
                "estimator takes missing cells as a state of their own "
                "(missing='state'), so that nothing would be filled in; give it "
                "missing='marginalize'"
            )
        return clone(self.estimator)  # type: ignore[no-any-return]

    def _filling(self) -> Filling:
        """How cells are filled, once the parameters are checked."""
        how: Any = self.how
        impossible: Any = self.impossible
        return Filling(how, None, self.random_state, impossible, self.n_jobs)

    def _read(self, parts: Matrix | list[Column]) -> ReadTable:
        """A table as the network reads it."""
        encoder = self.estimator_.encoder_
        rows = encoder.transform(parts).rows
        own = {}
        for place, reading in enumerate(encoder.readings):
            if reading.form in _FILLED_FORMS:
                own[encoder.domain.index(reading.name)] = place
        columns = parts.columns() if isinstance(parts, Matrix) else parts
        plain = {
            position: column
            for position, place in own.items()
            if not isinstance(column := columns[place], TimeColumn)
        }
        return ReadTable(rows, plain, {p: own[p] for p in plain})

    def _as_records(
        self,
        X: Any,
        records: Sequence[Mapping[Any, Any]],
        filled: NDArray[Any],
        parts: Matrix | list[Column],
    ) -> Any:
        """Rows with names with what was filled in, a single one as a dict."""
        names, masks = self.estimator_.encoder_.column_names, _masks(parts)
        rows = []
        for number, record in enumerate(records):
            row = {**record, **dict(zip(names, filled[number].tolist(), strict=True))}
            if self.add_indicator:
                for j in self.indicated_:
                    row[_indicator(names[j])] = bool(masks[j][number])
            rows.append(row)
        has_many = len(rows) != 1 or isinstance(X, list | tuple)
        return rows if has_many else rows[0]

    def _with_indicators(self, table: Any, parts: Matrix | list[Column]) -> Any:
        """A table with columns that tell which cells were missing."""
        masks = _masks(parts)
        names = column_names(table)
        if names is None:
            return np.column_stack([table, *(masks[j] for j in self.indicated_)])
        added: dict[Name, list[Any]] = {
            _indicator(names[j]): masks[j].tolist() for j in self.indicated_
        }
        return with_cells(table, {}, added)


def _cells_by_column(parts: Matrix | list[Column]) -> NDArray[Any]:
    """The cells of a table as an array, shape (n_rows, n_columns)."""
    columns = parts.columns() if isinstance(parts, Matrix) else parts
    cells = [[cell_of(column, i) for i in range(column.n_rows)] for column in columns]
    return np.array(cells, dtype=object).T


def _masks(parts: Matrix | list[Column]) -> list[NDArray[np.bool_]]:
    """Which cells of each column are missing."""
    columns = parts.columns() if isinstance(parts, Matrix) else parts
    return [
        own.missing if isinstance(own, TimeColumn) else missing_cells(own)
        for own in columns
    ]


def _indicator(name: Any) -> str:
    """What the column is called that tells which cells of another were missing."""
    return f"missingindicator_{name}"


def _as_array(rows: Any) -> NDArray[Any]:
    """Rows as an array in which mixed cells keep their types."""
    array = np.asarray(rows)
    return np.array(rows, dtype=object) if array.dtype.kind in "USO" else array
