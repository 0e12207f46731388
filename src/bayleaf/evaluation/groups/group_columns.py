"""Groups of rows by the values of one or several columns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.class_labels import sorted_positions
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.columns import NumberColumn
from bayleaf.data.tables.frames import single_column, value_column
from bayleaf.evaluation.operating_points import class_names
from bayleaf.typing import ColumnLike
from bayleaf.wording import brief_fields, name_list, near_names, quoted

MISSING = "missing"
Bins = Mapping[str, Sequence[float]]
# Groups that a person can look at.
MOST_GROUPS = 200
# Of a column of numbers, more values than this are no names of groups.
_MOST_NUMBERS = 24


@dataclass(frozen=True)
class Groups:
    """Which group each row belongs to.

    Parameters
    ----------
    columns : tuple of str
        The columns that make the groups.
    labels : tuple of tuple of str
        The value of each column in each group.
    codes : ndarray of shape (n_rows,), dtype intp
        Index of each row's group.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    codes: NDArray[np.intp]

    __repr__ = brief_fields

    @classmethod
    def of_values(cls, column: str, values: ColumnLike) -> Groups:
        """Groups by the distinct values of a column; missing cells are one of them.

        Parameters
        ----------
        column : str
            Its name.
        values : array-like or series of shape (n_rows,)
            Its cells.
        """
        found = value_column(values, column)
        order = sorted_positions(found.values)
        names = distinct_names(class_names([found.values[i] for i in order]))
        rank = np.empty(len(order) + 1, dtype=np.intp)
        rank[order] = np.arange(len(order))
        # The index -1 of a missing cell reads the last place.
        rank[-1] = len(order)
        return cls.of_codes(column, names, rank[found.indices])

    @classmethod
    def of_codes(
        cls, column: str, names: Sequence[str], codes: NDArray[np.integer[Any]]
    ) -> Groups:
        """Groups by codes that are known already; one above the names is missing."""
        labels = distinct_names([*names, MISSING])
        if not (codes == len(names)).any():
            labels = labels[:-1]
        return cls((column,), tuple((one,) for one in labels), codes.astype(np.intp))

    def crossed(self, other: Groups) -> Groups:
        """Groups by the columns of both, the former ones first."""
        return Groups(
            (*self.columns, *other.columns),
            tuple(a + b for a, b in itertools.product(self.labels, other.labels)),
            self.codes * len(other.labels) + other.codes,
        )

    @property
    def n_rows(self) -> NDArray[np.intp]:
        """Rows in each group, shape (n_groups,)."""
        return np.bincount(self.codes, minlength=len(self.labels))


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names of which no two are alike, as 1 and "1" would be: primes are added."""
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        while name in taken:
            name = f"{name}'"
        taken.add(name)
        found.append(name)
    return found


@dataclass(frozen=True)
class GroupColumn:
    """A column that makes groups of rows."""

    name: str
    groups: Groups
    feature: int | None  # the one whose states are the groups, or None


def group_columns(
    frame: Any,
    by: Sequence[str],
    encoder: TableEncoder,
    codes: Codes,
    read: Sequence[str],
    target: str | int,
    bins: Bins | None = None,
) -> list[GroupColumn]:
    """Read the columns that make groups.

    `read` are the columns that the encoder reads, in its order; `bins` cut points by
    column of numbers; features have those of the encoder. ValueError if a column is
    missing, named twice, the target, or has too many values.
    """
    bins = dict(bins or {})
    if not by:
        raise ValueError("by must name at least one column that makes groups")
    twice = [name for name in by if list(by).count(name) > 1]
    if twice:
        raise ValueError(f"by names {quoted(twice[0])} twice; name each column once")
    unused = [name for name in bins if name not in by]
    if unused:
        raise ValueError(
            f"bins are given for {quoted(unused[0])}, which makes no groups; name it "
            "in by"
        )
    for name in by:
        if name not in frame.columns:
            raise ValueError(
                f"the table has no column {quoted(name)} to make groups by; "
                f"{near_names(str(name), map(str, frame.columns))}"
            )
        if name == target:
            raise ValueError(
                f"{quoted(name)} is the target and cannot make groups; name another "
                "column"
            )
    # A column may have become several features, as dates do, or none.
    index = {name: place for place, name in enumerate(encoder.domain.names)}
    features = dict(zip(read, map(index.get, encoder.column_names), strict=True))
    found = []
    for name in by:
        column = frame.get_column(name).to_native()
        if name in bins:
            found.append(GroupColumn(name, _binned(name, column, bins[name]), None))
            continue
        feature = features.get(name)
        found.append(_group_column(name, column, feature, encoder.domain, codes))
    return found


def crossed(
    columns: Sequence[GroupColumn],
    order: Sequence[str],
    mend: str = "name fewer columns or give bins",
) -> Groups:
    """Groups by all columns together, in the order of the table's columns."""
    # However they were named, the same groups then have one partition.
    first, *others = sorted(columns, key=lambda column: order.index(column.name))
    groups = first.groups
    for other in others:
        groups = groups.crossed(other.groups)
        occupied = int((groups.n_rows > 0).sum())
        if occupied > MOST_GROUPS:
            raise ValueError(
                f"{name_list([column.name for column in columns])} make {occupied} "
                f"groups together, more than {MOST_GROUPS}; {mend}"
            )
    return groups


def decoded(
    codes: NDArray[np.intp], together: Groups, column: GroupColumn
) -> NDArray[np.intp]:
    """Groups of one column from codes of groups by all of them."""
    place = together.columns.index(column.groups.columns[0])
    later = [
        len({label[i] for label in together.labels})
        for i in range(place + 1, len(together.columns))
    ]
    return codes // math.prod(later) % len(column.groups.labels)


def _group_column(
    name: str, column: Any, feature: int | None, domain: Domain, codes: Codes
) -> GroupColumn:
    """Groups by the states of a feature that is cut, or by values."""
    variable = None if feature is None else domain[feature]
    if feature is not None and variable is not None and variable.cut_points:
        labels = [variable.label(code) for code in range(variable.n_known_states)]
        own = np.minimum(codes.column(feature), variable.n_known_states)
        return GroupColumn(name, Groups.of_codes(name, labels, own), feature)
    is_number = isinstance(single_column(column, name), NumberColumn)
    most = _MOST_NUMBERS if is_number else MOST_GROUPS
    groups = Groups.of_values(name, column)
    if len(groups.labels) > most:
        mend = "give bins for it" if is_number else "name another column"
        raise ValueError(
            f"column {quoted(name)} has {len(groups.labels)} values, more than the "
            f"{most} that can make groups; {mend}"
        )
    return GroupColumn(name, groups, feature)


def _binned(name: str, column: Any, cuts: Sequence[float]) -> Groups:
    """Groups by intervals between given cut points."""
    numbers = single_column(column, name)
    if not isinstance(numbers, NumberColumn):
        raise ValueError(
            f"bins are given for {quoted(name)}, which holds no numbers; leave them out"
        )
    variable = Variable.numeric(name, cuts)
    own = np.searchsorted(variable.cut_points, numbers.values, side="left")
    if numbers.missing is not None:
        own = np.where(numbers.missing, variable.n_states, own)
    labels = [variable.label(code) for code in range(variable.n_states)]
    return Groups.of_codes(name, labels, own)
