"""How robust predictions are against wrong and missing cells, row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np

from bayleaf.data.partial_values import Rows
from bayleaf.explain.certificates.changed_row import (
    BudgetSpentError,
    ChangedRow,
    SetSearch,
    changes_cell,
    changes_list,
    changes_text,
    check_counts,
    check_lists,
)
from bayleaf.explain.subject import row_of, rows_of
from bayleaf.inference.states import find_variable
from bayleaf.models.predictor import ModelLike, predictor_inside
from bayleaf.results.document import Document, Items, Table
from bayleaf.results.html import Bar, bars_html, picture_html
from bayleaf.results.result import Record, Result
from bayleaf.typing import JSONObject, RowLike, RowsLike
from bayleaf.wording import brief, counted

Kind = Literal["wrong", "missing"]


@dataclass(frozen=True)
class FewestCells(
    Record, keys={"becomes": "class", "n_tried": "sets_tried"}, computed=("exact",)
):
    """How many cells have to be wrong, or missing, for another class.

    Parameters
    ----------
    kind : {"wrong", "missing"}
        Whether cells take any other state, of groups one outside, or are removed.
    at_least : int or None
        No smaller set of cells flips the prediction; None if no set at all does.
    at_most : int or None
        Size of the set in `changes`; None if none was found.
    changes : dict from name to (str, str)
        Old and new state of each cell of a set that flips it.
    becomes : object
        The class chosen then; None without such a set.
    n_tried : int
        Sets of changes that were scored; bounds ruled out all others.
    bounded : bool
        Whether bounds were at hand; otherwise all smaller sets were scored.
    """

    kind: Kind
    at_least: int | None
    at_most: int | None
    changes: dict[str | int, tuple[str, str]]
    becomes: Hashable
    n_tried: int
    bounded: bool

    @property
    def exact(self) -> bool:
        """Whether the least number is proven."""
        return self.at_least == self.at_most

    @property
    def number(self) -> str:
        """The least number for a reader: "2", "2 or more" or "never"."""
        if self.at_least is None:
            return "never"
        return f"{self.at_least}" if self.exact else f"{self.at_least} or more"

    def to_dict(self) -> JSONObject:
        """The certificate as plain values, ready for JSON."""
        return {**super().to_dict(), "changes": changes_list(self.changes)}

    def __repr__(self) -> str:
        return brief(self, self)

    def __str__(self) -> str:
        if self.at_least is None:
            return f"no set of {self.kind} cells flips it ({self._proof})"
        cells = counted(self.at_least, f"{self.kind} cell")
        if self.exact:
            found = f"{cells} can flip it, fewer cannot ({self._proof})"
        else:
            most = "none was found" if self.at_most is None else f"{self.at_most} do"
            found = f"at least {cells}, {most}; the search ended at its budget"
        if not self.changes:
            return found
        return f"{found}: {changes_text(self.changes)}: {self.becomes}"

    @property
    def _proof(self) -> str:
        """How smaller sets were ruled out."""
        tried = f"{counted(self.n_tried, 'set')} scored"
        return f"{tried}, others ruled out by bounds" if self.bounded else tried


@dataclass(frozen=True)
class Robustness(Result, keys={"prediction": "class"}):
    """The fewest wrong and the fewest missing cells that flip a prediction.

    Parameters
    ----------
    prediction : object
        The class chosen for the row as it is.
    wrong, missing : FewestCells
        Where cells take any other state, and where they are removed.
    """

    prediction: Hashable
    wrong: FewestCells
    missing: FewestCells

    def document(self) -> Document:
        """Both certificates as sentences."""
        rows = [
            (
                f"{one.kind} cells",
                one.number,
                changes_cell(one.changes),
                "" if one.becomes is None else str(one.becomes),
            )
            for one in (self.wrong, self.missing)
        ]
        heads = ["cells", "fewest that flip it", "such as", "then"]
        items = [str(self.wrong), str(self.missing)]
        return Document(
            f"how robust {self.prediction} is",
            [Items(items, table=Table(heads, rows, n_words=len(heads)))],
        )

    def __repr__(self) -> str:
        return brief(self, str(self.prediction), str(self.wrong), str(self.missing))


@dataclass(frozen=True)
class RobustnessOfRows(Result, keys={"items": "rows"}, computed=("distribution",)):
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

    def to_text(self, width: int = 80) -> str:
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


def _counts(found: Iterable[FewestCells]) -> dict[str, int]:
    """Rows by number of cells, the least number first."""
    keys = Counter(
        (inf if one.at_least is None else one.at_least, not one.exact, one.number)
        for one in found
    )
    return {number: keys[key] for key in sorted(keys) for number in key[2:]}


def robustness(
    model: ModelLike,
    row: RowLike | Rows,
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
    return _robustness(model, row_of(model, row), features, budget).items[0]


def robustness_of_rows(
    model: ModelLike,
    X: RowsLike | Rows,
    *,
    features: Iterable[str | int] | None = None,
    budget: int = 200_000,
) -> RobustnessOfRows:
    """Find the robustness of the prediction of each row of a table.

    Parameters
    ----------
    model : classifier or Predictor
        The fitted model, with its calibration and loss.
    X : table, or codes of its rows
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
    return _robustness(model, rows_of(model, X), features, budget)


def _robustness(
    model: Any, rows: Rows, features: Iterable[str | int] | None, budget: int
) -> RobustnessOfRows:
    """Both certificates of each row."""
    predictor = predictor_inside(model)
    domain = predictor.encoder.domain
    check_counts(budget=budget)
    check_lists(features=features)
    places = list(range(len(domain)))
    if features is not None:
        places = sorted({find_variable(domain, name) for name in features})
    known = {v: range(domain[v].n_known_states) for v in places}
    # The code of a missing cell follows those of the known states.
    missing = {v: range(len(codes), len(codes) + 1) for v, codes in known.items()}
    states: dict[Kind, dict[int, range]] = {"wrong": known, "missing": missing}
    items = []
    for number in range(rows.n_rows):
        row = rows.rows(slice(number, number + 1))
        found = [
            _fewest_cells(ChangedRow.of(predictor, row, allowed), kind, int(budget))
            for kind, allowed in states.items()
        ]
        items.append(Robustness(predictor.predict(row)[0], *found))
    return RobustnessOfRows(tuple(items))


def _fewest_cells(row: ChangedRow, kind: Kind, budget: int) -> FewestCells:
    """Find the fewest cells of a row whose change flips it."""
    if not len(row.features) or len(row.predictor.classes) < 2:
        return FewestCells(kind, None, None, {}, None, 0, False)
    search = SetSearch(row, budget)
    at_least, found, n_tried = None, None, 0
    try:
        for block in search.blocks(search.n_features):
            hits = np.flatnonzero(row.flipped(block))
            n_tried += len(block)
            if len(hits):
                at_least, found = block.shape[1], block[hits[0]]
                break
    except BudgetSpentError as spent:
        sets = row.greedy()
        at_least, found = spent.size, None if sets is None else sets[0]
    if found is None:
        return FewestCells(kind, at_least, None, {}, None, n_tried, search.bounded)
    found = np.sort(found)
    return FewestCells(
        kind,
        at_least,
        len(found),
        row.named(found),
        row.predictor.classes[int(row.classes(found[None, :])[0])],
        n_tried,
        search.bounded,
    )
