"""The columns of a table that make groups, at a model's cut points or given ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.columns import NumberColumn
from bayleaf.data.tables.frames import single_column
from bayleaf.evaluation.groups.labels import Groups
from bayleaf.wording import name_list, near_names, quoted

Bins = Mapping[str, Sequence[float]]

# Groups that a person can look at.
MOST_GROUPS = 200
# Of a column of numbers, more values than this are no names of groups.
_MOST_NUMBERS = 24


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
    """Groups by all columns together, in the order that they have in their table.

    However they were named, the same groups then have one partition.
    """
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
