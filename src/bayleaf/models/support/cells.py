"""Which distributions a row uses, and how many training rows stand behind each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain

Floats = NDArray[np.float64]
Fact = tuple[str | int, str]


class UsedCells(NamedTuple):
    """The distributions of one variable that rows use under each class.

    Parameters
    ----------
    fact : callable of (row, class)
        Name and state of the variable.
    given : callable of (row, class)
        Names and states of what the distribution is conditioned on, class included.
    rows : ndarray of shape (n_rows, n_classes)
        Weight of the training rows behind it; infinite where it is not used.
    """

    fact: Callable[[int, int], Fact]
    given: Callable[[int, int], tuple[Fact, ...]]
    rows: Floats


@dataclass(frozen=True, eq=False)
class RowFacts:
    """Names and states of the variables in some rows.

    Parameters
    ----------
    domain : Domain
        Features, then the class.
    codes : Codes
        Features of the rows.
    """

    domain: Domain
    codes: Codes

    def fact(self, variable: int, row: int, chosen: int) -> Fact:
        """Name and state of a variable in a row of the chosen class."""
        known = self.domain[variable]
        is_class = variable == len(self.domain) - 1
        code = chosen if is_class else int(self.codes.column(variable)[row])
        return known.name, known.label(code)

    def used(
        self,
        variable: int,
        parents: Iterable[int],
        rows: Floats,
    ) -> UsedCells:
        """Cells of a variable given others, the same ones in each row."""
        above = tuple(parents)
        return UsedCells(
            lambda row, chosen: self.fact(variable, row, chosen),
            lambda row, chosen: tuple(self.fact(v, row, chosen) for v in above),
            rows,
        )

    def of_features(
        self,
        rows: Floats,
        further: Callable[[int, int, int], tuple[Fact, ...]] = lambda *_: (),
    ) -> Iterator[UsedCells]:
        """Cells of each feature given the class, none where the feature is missing.

        Parameters
        ----------
        rows : ndarray of shape (n_features, n_rows, n_classes)
            Weight of the training rows.
        further : callable of (feature, row, class), optional
            What the distribution is conditioned on beside the class.
        """
        class_index = len(self.domain) - 1
        for feature in range(class_index):
            hidden = self.codes.missing(feature)[:, None]
            cells = self.used(
                feature, [class_index], np.where(hidden, np.inf, rows[feature])
            )

            def given(
                row: int, chosen: int, feature: int = feature, cells: UsedCells = cells
            ) -> tuple[Fact, ...]:
                return (*cells.given(row, chosen), *further(feature, row, chosen))

            yield cells._replace(given=given)
