"""Groups of rows by the values of one or several columns."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.class_labels import sorted_positions
from bayleaf.data.tables.frames import value_column
from bayleaf.evaluation.operating_points import class_names
from bayleaf.wording import brief_fields

MISSING = "missing"


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
    def of_values(cls, column: str, values: Any) -> Groups:
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
