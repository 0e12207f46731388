"""The least number of cells whose change flips a prediction, with its proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.explain.certificates.changed_row import ChangedRow
from bayleaf.explain.certificates.missing_patterns import (
    PatternSearch,
    pattern_search,
)
from bayleaf.explain.certificates.set_search import BudgetSpentError, SetSearch
from bayleaf.explain.change_sets import ChangeSets, named_changes
from bayleaf.explain.subject import is_absent, plain_label
from bayleaf.models.predictor import Predictor
from bayleaf.wording import brief, counted, shown_name, stated

Kind = Literal["wrong", "missing"]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class FewestCells:
    """How many cells have to be wrong, or missing, for another class.

    Parameters
    ----------
    kind : {"wrong", "missing"}
        Whether cells take any other state, or are removed.
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
    becomes: Any
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

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain values, ready for JSON."""
        return {
            "kind": self.kind,
            "exact": self.exact,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "changes": [
                {"feature": name, "from": old, "to": new}
                for name, (old, new) in self.changes.items()
            ],
            "class": plain_label(self.becomes),
            "sets_tried": self.n_tried,
            "bounded": self.bounded,
        }

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
        changes = "; ".join(
            f"{stated(shown_name(name), old)} becomes {new}"
            for name, (old, new) in self.changes.items()
        )
        return f"{found}: {changes}: {self.becomes}"

    @property
    def _proof(self) -> str:
        """How smaller sets were ruled out."""
        tried = f"{counted(self.n_tried, 'set')} scored"
        return f"{tried}, others ruled out by bounds" if self.bounded else tried


def fewest_cells(
    predictor: Predictor, codes: Codes, kind: Kind, features: Indices, budget: int
) -> FewestCells:
    """Find the fewest cells of a row, among some features, whose change flips it."""
    changes = ChangeSets(*_changes(predictor, codes, kind, features))
    row = ChangedRow(predictor, codes, changes)
    if not len(changes.features) or len(predictor.classes) < 2:
        return _told(row, kind, None, None, 0, False)
    search = _search(row, kind, budget)
    n_tried = 0
    blocks = (
        (size, block)
        for size in range(1, search.n_features + 1)
        for block in search.of_size(size)
    )
    try:
        for size, block in blocks:
            hits = np.flatnonzero(row.flipped(block))
            n_tried += len(block)
            if len(hits):
                return _told(row, kind, size, block[hits[0]], n_tried, search.bounded)
    except BudgetSpentError as spent:
        return _told(row, kind, spent.size, row.greedy(), n_tried, search.bounded)
    return _told(row, kind, None, None, n_tried, search.bounded)


def _search(row: ChangedRow, kind: Kind, budget: int) -> SetSearch | PatternSearch:
    """Where sets that may do come from."""
    predictor, codes, changes = row.predictor, row.codes, row.changes
    domain = predictor.encoder.domain
    own_states = any(domain[v].has_missing_state for v in changes.features.tolist())
    if kind == "missing" and not own_states:
        patterns = pattern_search(predictor, codes, changes.features)
        if patterns is not None:
            return patterns
    return SetSearch(row, budget)


def _changes(
    predictor: Predictor, codes: Codes, kind: Kind, features: Indices
) -> tuple[Indices, Indices]:
    """Features and new states of the single changes; missing cells stay missing."""
    domain = predictor.encoder.domain
    pairs: list[tuple[int, int]] = []
    for feature in features.tolist():
        if is_absent(codes, domain, feature)[0]:
            continue
        n_known, own = domain[feature].n_known_states, codes.column(feature)[0]
        # The code of a missing cell follows those of the known states.
        states = [n_known] if kind == "missing" else range(n_known)
        pairs += [(feature, state) for state in states if state != own]
    table = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _told(
    row: ChangedRow,
    kind: Kind,
    at_least: int | None,
    found: Indices | None,
    n_tried: int,
    bounded: bool,
) -> FewestCells:
    """The certificate with names."""
    if found is None:
        return FewestCells(kind, at_least, None, {}, None, n_tried, bounded)
    found = np.sort(found)
    becomes = row.predictor.classes[int(row.classes(found[None, :])[0])]
    changes = named_changes(row.predictor, row.codes, row.changes, found)
    size = len(found)
    return FewestCells(kind, at_least, size, changes, becomes, n_tried, bounded)
