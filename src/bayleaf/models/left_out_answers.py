"""Cases that pages suggest, and their left-out answers, which model files keep."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.results.result import Shown
from bayleaf.wording import brief_fields

Floats = NDArray[np.float64]
# Rows that a page looks at; those beyond them are left out.
MOST_ROWS = 1000


@dataclass(frozen=True, eq=False)
class LeftOutAnswers(Shown):
    """Answers to some of the first training rows, by models without the row.

    These rows are recognised as a whole, so that no other row leaves a trace.
    """

    digest: str  # of the codes of the first rows, and of their targets
    rows: tuple[int, ...]  # positions, ascending
    answers: Floats  # (n, n_classes) posteriors, or (n, 3) of numbers: `PageModel`

    __repr__ = brief_fields

    @classmethod
    def of(cls, rows: Iterable[int], answers: Floats, *first: Codes | Floats) -> Self:
        """Those of some rows; `first` are the codes of the first and their numbers."""
        positions = sorted({*rows})
        return cls(_digest(*first), tuple(positions), answers[positions])

    def to(self, codes: Codes, *numbers: Floats) -> Floats | None:
        """Answers (n_rows, n_figures) to training rows, NaN where none is kept.

        None unless the rows begin with the first of training, in their order.
        """
        if self.rows and self.rows[-1] >= codes.n_rows:
            return None
        if _digest(codes, *numbers) != self.digest:
            return None
        answers = np.full((codes.n_rows, self.answers.shape[1]), np.nan)
        answers[list(self.rows)] = self.answers
        return answers

    def check_content(self) -> None:
        """Raise ValueError unless each of some first rows has an answer."""
        rows, shape = self.rows, self.answers.shape
        is_ascending = list(rows) == sorted({*rows} & {*range(MOST_ROWS)})
        if not is_ascending or len(shape) != 2 or shape[0] != len(rows):
            raise ValueError(
                f"left_out_answers should be a table, for some of {MOST_ROWS} rows"
            )


def _digest(*first: Codes | Floats) -> str:
    """One digest of all first rows: their codes and, of a target, numbers."""
    digest = hashlib.sha256()
    for part in first:
        if isinstance(part, Codes):
            block = part.columns(range(part.n_variables), slice(MOST_ROWS))
            digest.update(block.astype("<u2").tobytes())
        else:
            # Zero has two forms.
            digest.update((part[:MOST_ROWS] + 0.0).astype("<f8").tobytes())
    return digest.hexdigest()


def class_cases(
    proba: Floats, is_right: NDArray[np.bool_] | None = None
) -> dict[str, int]:
    """Rows with a clear, an undecided and, if outcomes are known, a wrong answer.

    `proba` (n_rows, n_classes) is NaN in rows that are not to be suggested.
    """
    highest = proba.max(axis=1)
    ranks = {"clear": highest}
    if is_right is not None:
        ranks = {
            "clear": np.where(is_right, highest, np.nan),
            "wrong": np.where(is_right, np.nan, highest),
        }
    return _first_of_each(ranks | {"undecided": -highest})


def number_cases(means: Floats, numbers: Floats | None = None) -> dict[str, int]:
    """Rows with a low, a high and, if numbers are known, a badly expected number.

    `means` (n_rows,) are NaN in rows that are not to be suggested.
    """
    ranks = {"low": -means, "high": means}
    if numbers is not None:
        ranks = {"wrong": np.abs(numbers - means)} | ranks
    return _first_of_each(ranks)


def _first_of_each(ranks: Mapping[str, Floats]) -> dict[str, int]:
    """The row of highest rank (n_rows,) of each kind that no kind before it has.

    The wrong one comes last; a row of NaN is of no kind.
    """
    cases: dict[str, int] = {}
    for kind, rank in ranks.items():
        figures = rank.copy()
        figures[list(cases.values())] = np.nan
        if not np.isnan(figures).all():
            cases[kind] = int(np.nanargmax(figures))
    return dict(sorted(cases.items(), key=lambda case: case[0] == "wrong"))
