"""Which rows a classifier learns from, and which it is scored on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from bayleaf.classifiers.shared.parameters import encoder_rules
from bayleaf.classifiers.shared.table_estimator import TableEstimator
from bayleaf.data.column_reading import EncoderRules
from bayleaf.data.reading_plan import ReadingPlan, resolve_plan
from bayleaf.data.tables.columns import Column, TimeColumn, ValueColumn
from bayleaf.data.tables.frames import column_names, to_columns, value_column
from bayleaf.data.text_forms import decide, evidence_of, spelled_column
from bayleaf.progress import Work, displayed

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]
Fold = TypeVar("Fold")


def deal_folds(
    truth: Rows,
    n_folds: int,
    n_repeats: int,
    random_state: int,
    *,
    groups: Any = None,
    cv: Any = None,
) -> list[Split]:
    """Training and test rows of each fold, repeat after repeat.

    `truth` (n_rows,) class indices, -1 for rows that no fold has; `groups` (n_rows,),
    whose rows, as those of one patient, stay together; `cv`, a splitter of scikit-learn
    or (training, test) rows, replaces stratified, shuffled folds. ValueError for unfit
    or too few groups, or unknown rows from `cv`.
    """
    labels = None if groups is None else _group_numbers(groups, len(truth), n_folds)
    if cv is not None:
        return _given(cv, truth, labels)
    rows = np.flatnonzero(truth >= 0)
    labels = None if labels is None else labels[rows]
    dealers = (StratifiedKFold, StratifiedGroupKFold)
    splits: list[Split] = []
    for repeat in range(n_repeats):
        dealer = dealers[labels is not None](
            n_folds, shuffle=True, random_state=random_state + repeat
        )
        with warnings.catch_warnings():
            # A class with fewer rows than folds is scored where it occurs.
            warnings.filterwarnings("ignore", message="The least populated class")
            dealt = dealer.split(np.zeros(len(rows)), truth[rows], labels)
            splits += [(rows[train], rows[test]) for train, test in dealt]
    return splits


def shuffled_folds(
    n_rows: int, n_folds: int, n_repeats: int, random_state: int, groups: Any = None
) -> list[Split]:
    """Folds of rows without classes; rows of one value in `groups` share a fold."""
    dealer = KFold if groups is None else GroupKFold
    rows = np.empty((n_rows, 1))
    return [
        split
        for repeat in range(n_repeats)
        for split in dealer(
            n_folds, shuffle=True, random_state=random_state + repeat
        ).split(rows, groups=groups)
    ]


def fold_plans(
    estimators: Mapping[str, Any], X: Any, plan: Any = None, sample_weight: Any = None
) -> dict[str, dict[str, ReadingPlan]]:
    """What fits of each estimator are passed so that all folds read columns alike.

    Columns that the `plan` does not name are decided by all rows of the table.
    ValueError naming the estimator if a column cannot be used.
    """
    plan = resolve_plan(plan)
    # Most estimators read tables by the same rules.
    known: dict[EncoderRules, ReadingPlan] = {}
    plans: dict[str, dict[str, ReadingPlan]] = {}
    for name, estimator in estimators.items():
        plans[name] = {}
        if not isinstance(estimator, TableEstimator):
            continue
        try:
            rules = encoder_rules(estimator)
            if rules not in known:
                known[rules] = estimator.learn_plan(X, sample_weight, plan=plan)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name} cannot learn from this table: {error}") from error
        plans[name]["plan"] = known[rules]
    return plans


def fitted_plan(model: Any, X: Any) -> ReadingPlan:
    """The plan of a fitted estimator, for fits of its clones to rows of a table."""
    names = column_names(X)
    plan: ReadingPlan = model.encoder_.plan
    return plan if names is None else plan.of_columns(names)


def validate_each(
    estimators: Mapping[str, Any],
    splits: Sequence[Split],
    validate: Callable[[str, Any, Rows, Rows], Fold],
    verbose: int,
) -> Iterator[tuple[str, list[Fold]]]:
    """What `validate` makes of each estimator, by its name, on all splits."""
    with displayed(verbose), Work(len(estimators) * len(splits)) as work:
        for name, estimator in estimators.items():
            folds = []
            for place, (train, test) in enumerate(splits, 1):
                work.step(f"{name}: fold {place} of {len(splits)}")
                folds.append(validate(name, estimator, train, test))
            yield name, folds


def forward_folds(times: Any, n_folds: int) -> list[Split]:
    """`n_folds` stretches of time, each scored after all rows that were learned from.

    `times` (n_rows,), numbers or dates, also as text such as 2024-01-31; rows of one
    time stay together, the first stretch is learned from only. ValueError if one is
    missing or unreadable, or there are too few.
    """
    order = _ranks(times)
    sorted_order = np.sort(order)
    # Stretches of about as many rows each, cut where the time changes.
    cuts = [
        int(sorted_order[len(order) * part // (n_folds + 1)])
        for part in range(1, n_folds + 1)
    ]
    bounds = [*dict.fromkeys(cut for cut in cuts if cut > 0), int(order.max()) + 1]
    if len(bounds) < n_folds + 1:
        raise ValueError(
            f"there are too few different times for {n_folds} folds; ask for fewer"
        )
    return [
        (np.flatnonzero(order < low), np.flatnonzero((order >= low) & (order < high)))
        for low, high in pairwise(bounds)
    ]


def check_classes(classes: NDArray[Any], truth: Rows) -> None:
    """Raise unless there are two classes, one of them with two rows or more."""
    if not len(classes):
        raise ValueError("the target has no rows; evaluating needs two classes")
    if len(classes) < 2:
        raise ValueError(
            f"the target has one value only ({classes[0]}); evaluating needs two"
        )
    if int(np.bincount(truth).max()) < 2:
        raise ValueError(
            f"each of the {len(truth)} rows has a class of its own; evaluating needs "
            "a class with two rows or more"
        )


def check_folds(truth: Rows, n_folds: int, n_repeats: int) -> None:
    """Raise unless the rows can be dealt into so many stratified folds."""
    if n_folds < 2 or n_repeats < 1:
        raise ValueError(
            f"folds must be at least 2 and repeats at least 1, got {n_folds} and "
            f"{n_repeats}"
        )
    largest = int(np.bincount(truth).max())
    if n_folds > largest:
        raise ValueError(
            f"folds must be at most {largest}, the number of rows of the most frequent "
            f"class, got {n_folds}"
        )


def _ranks(times: Any) -> Rows:
    """Place of each row's time among the different times."""
    parts = to_columns(pa.table({"time": pa.array(times)}))
    assert isinstance(parts, list)
    column: Column = parts[0]
    if isinstance(column, ValueColumn) and column.is_text:
        form = decide(evidence_of(column)).form
        if form.kind != "text":
            column = spelled_column(column, form).column
    if isinstance(column, ValueColumn):
        raise ValueError(
            "times must be numbers, or dates such as 2024-01-31; give another column"
        )
    if column.missing is not None and column.missing.any():
        raise ValueError(
            f"row {int(np.argmax(column.missing))} has no time; leave such rows out"
        )
    values = column.microseconds if isinstance(column, TimeColumn) else column.values
    return np.unique(values, return_inverse=True)[1].astype(np.intp)


def _group_numbers(groups: Any, n_rows: int, n_folds: int) -> Rows:
    """Groups as numbers, once there is one a row and enough of them."""
    column = value_column(groups, "groups")
    if len(column.indices) != n_rows:
        raise ValueError(
            f"groups has {len(column.indices)} entries for {n_rows} rows; give one "
            "for each"
        )
    if (column.indices < 0).any():
        raise ValueError("groups has missing entries; give every row a group")
    n_groups = len(np.unique(column.indices))
    if n_groups < n_folds:
        raise ValueError(
            f"there are {n_groups} groups for {n_folds} folds; ask for fewer folds"
        )
    return column.indices.astype(np.intp)


def _given(cv: Any, truth: Rows, groups: Rows | None) -> list[Split]:
    """The folds that a splitter or a list of folds gives."""
    if hasattr(cv, "split"):
        found: Iterable[Any] = cv.split(np.zeros((len(truth), 1)), truth, groups)
    elif isinstance(cv, Iterable):
        found = cv
    else:
        raise TypeError(
            "cv must be a splitter of scikit-learn or pairs of training and test rows, "
            f"got {type(cv).__name__}"
        )
    splits = [(np.asarray(train), np.asarray(test)) for train, test in found]
    for rows in (rows for split in splits for rows in split):
        if rows.dtype.kind not in "iu" or not len(rows):
            raise ValueError("cv must give numbers of rows, some in every part")
        if rows.min() < 0 or rows.max() >= len(truth):
            raise ValueError(
                f"cv names row {int(rows.max())}, but the table has {len(truth)} rows"
            )
    if not splits:
        raise ValueError("cv gives no folds")
    train_rows, test_rows = (
        [rows[truth[rows] >= 0].astype(np.intp) for rows in part]
        for part in zip(*splits, strict=True)
    )
    if not all(map(len, (*train_rows, *test_rows))):
        raise ValueError("cv gives a part in which every row has the weight zero")
    return list(zip(train_rows, test_rows, strict=True))
