"""How robust predictions are against wrong and missing cells, row by row."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.explain.certificates.fewest_cells import FewestCells, fewest_cells
from bayleaf.explain.subject import plain_label, predictor_of, row_of, rows_of
from bayleaf.inference.states import find_variable
from bayleaf.models.predictor import Predictor
from bayleaf.pictures.notebook import Bar, bars_html, picture_html, table_html
from bayleaf.wording import brief, counted, quoted, shown_name, stated

_WIDTH = 80


@dataclass(frozen=True)
class Robustness:
    """The fewest wrong and the fewest missing cells that flip a prediction.

    Parameters
    ----------
    prediction : object
        The class chosen for the row as it is.
    wrong, missing : FewestCells
        Where cells take any other state, and where they are removed.
    """

    prediction: Any
    wrong: FewestCells
    missing: FewestCells

    def to_dict(self) -> dict[str, Any]:
        """Both certificates as plain values, ready for JSON."""
        return {
            "class": plain_label(self.prediction),
            "wrong": self.wrong.to_dict(),
            "missing": self.missing.to_dict(),
        }

    def to_text(self) -> str:
        """Write both certificates, at most 80 columns a line."""
        lines = textwrap.wrap(f"how robust {self.prediction} is", _WIDTH)
        for one in (self.wrong, self.missing):
            lines += textwrap.wrap(
                str(one), _WIDTH, initial_indent="  - ", subsequent_indent="    "
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            (
                f"{one.kind} cells",
                one.number,
                "; ".join(
                    f"{stated(shown_name(name), new)} (not {old})"
                    for name, (old, new) in one.changes.items()
                ),
                "" if one.becomes is None else one.becomes,
            )
            for one in (self.wrong, self.missing)
        ]
        heads = ["cells", "fewest that flip it", "such as", "then"]
        title = f"How robust {self.prediction} is"
        return picture_html(table_html(title, heads, rows))

    def __repr__(self) -> str:
        return brief(self, str(self.prediction), str(self.wrong), str(self.missing))

    def __str__(self) -> str:
        return self.to_text()


@dataclass(frozen=True)
class RobustnessOfRows:
    """The robustness of the predictions of a table's rows.

    Parameters
    ----------
    items : tuple of Robustness
        One a row.
    """

    items: tuple[Robustness, ...]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Robustness]:
        return iter(self.items)

    def __getitem__(self, index: int) -> Robustness:
        return self.items[index]

    @property
    def distribution(self) -> dict[str, dict[str, int]]:
        """Rows by number of cells, for "wrong" and "missing".

        Numbers are texts: "2", "never" where no set of cells flips the prediction, and
        "2 or more" where the search ended at its budget.
        """
        return {
            "wrong": _counts(one.wrong for one in self.items),
            "missing": _counts(one.missing for one in self.items),
        }

    def to_dict(self) -> dict[str, Any]:
        """Distribution and certificates as plain values, ready for JSON."""
        return {
            "distribution": self.distribution,
            "rows": [one.to_dict() for one in self.items],
        }

    def to_text(self) -> str:
        """Write the distributions, a line each number of cells."""
        lines = []
        for kind, counts in self.distribution.items():
            lines.append(f"fewest {kind} cells that flip a prediction")
            lines += [f"  {k}: {counted(n, 'row')}" for k, n in counts.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        tables = []
        for kind, counts in self.distribution.items():
            bars = [Bar(k, n, counted(n, "row")) for k, n in counts.items()]
            title = f"Fewest {kind} cells that flip a prediction"
            tables.append(bars_html(title, bars, whole=len(self)))
        return picture_html(*tables)

    def __repr__(self) -> str:
        return brief(self, counted(len(self), "row"))

    def __str__(self) -> str:
        return self.to_text()


def _counts(found: Iterable[FewestCells]) -> dict[str, int]:
    """Rows by number of cells, the least number first."""
    keys = Counter(
        (inf if one.at_least is None else one.at_least, not one.exact, one.number)
        for one in found
    )
    return {number: keys[key] for key in sorted(keys) for number in key[2:]}


def robustness(
    model: Any,
    row: Any,
    *,
    features: Iterable[str | int] | None = None,
    budget: int = 200_000,
) -> Robustness:
    """Find the fewest wrong, and the fewest missing, cells that flip a prediction.

    Sets of one cell are looked at, then of two and so on. Where scores are sums over
    few features each (naive Bayes, TAN, KDB and other networks) bounds rule out most of
    them; all that are left, and all sets of other models, are scored within the budget.
    Cells that are missing already stay so.

    Parameters
    ----------
    model : classifier or Predictor
        The fitted model, with its calibration and loss.
    row : mapping, series, list or one-row table
        The row.
    features : iterable of names, optional
        Features whose cells may be wrong or missing; by default all.
    budget : int, default=200_000
        Sets of changes that are looked at for each kind. Where that does not do, a
        lower bound is returned with the size of a set that flips the prediction.

    Returns
    -------
    Robustness

    Raises
    ------
    ValueError
        If there is no such feature, or the budget is below 1.
    """
    predictor = predictor_of(model)
    places = _places(predictor, features)
    return _one(predictor, row_of(model, row), places, _checked(budget))


def robustness_of_rows(
    model: Any,
    X: Any,
    *,
    features: Iterable[str | int] | None = None,
    budget: int = 200_000,
) -> RobustnessOfRows:
    """Find the robustness of the prediction of each row of a table.

    Parameters
    ----------
    model : classifier or Predictor
        The fitted model, with its calibration and loss.
    X : table or Codes
        The rows.
    features, budget
        As of `robustness`.

    Returns
    -------
    RobustnessOfRows

    Raises
    ------
    ValueError
        As `robustness` does.
    """
    predictor = predictor_of(model)
    places = _places(predictor, features)
    codes = rows_of(model, X)
    limit = _checked(budget)
    return RobustnessOfRows(
        tuple(
            _one(predictor, codes.rows(slice(row, row + 1)), places, limit)
            for row in range(codes.n_rows)
        )
    )


def _one(
    predictor: Predictor, codes: Codes, places: NDArray[np.intp], budget: int
) -> Robustness:
    """Both certificates of a row."""
    return Robustness(
        predictor.predict(codes)[0],
        fewest_cells(predictor, codes, "wrong", places, budget),
        fewest_cells(predictor, codes, "missing", places, budget),
    )


def _places(
    predictor: Predictor, features: Iterable[str | int] | None
) -> NDArray[np.intp]:
    """Positions of the features that may change, in increasing order."""
    domain = predictor.encoder.domain
    if features is None:
        return np.arange(len(domain))
    if isinstance(features, str):
        raise ValueError(
            f"features must be a list, got the text {quoted(features)}; give "
            f"[{quoted(features)}]"
        )
    return np.array(sorted({find_variable(domain, name) for name in features}), np.intp)


def _checked(budget: int) -> int:
    """The budget, if it is one."""
    if not isinstance(budget, Integral) or budget < 1:
        raise ValueError(f"budget must be a whole number >= 1, got {quoted(budget)}")
    return int(budget)
