"""An audit: its figures, and the document that shows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bayleaf.evaluation.audits.notes import MEANINGS, audit_notes
from bayleaf.evaluation.audits.parity import ModelParity
from bayleaf.evaluation.audits.routes import Routes
from bayleaf.evaluation.audits.tables import audit_tables
from bayleaf.evaluation.groups.estimates import Estimate
from bayleaf.evaluation.groups.figures import GroupFigures
from bayleaf.evaluation.groups.grouped_figures import GroupedFigures
from bayleaf.io.atomic import write_text
from bayleaf.pictures.svg import Interval, intervals_svg
from bayleaf.results.document import Document, Figure, Items
from bayleaf.results.html import page_of
from bayleaf.results.result import Record, Result
from bayleaf.wording import brief, counted, name_list, plain

_DRAWN = {
    "base rate": "base_rate",
    "selected": "selection_rate",
    "found": "true_positive_rate",
    "false alarms": "false_positive_rate",
}


@dataclass(frozen=True)
class ChangedCell(Record):
    """What other values of a group variable's cell would change, all else as it is.

    Parameters
    ----------
    column : str
        The group variable.
    predictions : Estimate
        Share of rows that some other value gives another predicted class.
    probabilities : Estimate
        Mean over rows of the largest change of a class's probability.
    """

    column: str
    predictions: Estimate
    probabilities: Estimate

    def __str__(self) -> str:
        predicted = 100 * (self.predictions.value or 0.0)
        moved = 100 * (self.probabilities.value or 0.0)
        return (
            f"With another value of {plain(self.column)} and all else as it is, the "
            f"model would predict another class for {predicted:.1f}% of the rows; on "
            f"average the probability of a class moves by up to {moved:.1f} points."
        )


@dataclass(frozen=True)
class Audit(Result, computed=("notes",)):
    """A classifier's predictions by group, and how groups reach them.

    Parameters
    ----------
    model, target : str
        Kind of the classifier, and column of the classes.
    classes, positive : tuple of str
        The classes, and those whose rates are shown against all others.
    basis : str
        "rows" where the model itself was scored, or "cross_validation".
    basis_told : str
        The same in sentences.
    level : float
        Probability of the intervals.
    min_count : int
        Numbers of rows below this cannot be found out; 1 shows all.
    overall : GroupFigures
        Figures of all rows together.
    groupings : tuple of GroupedFigures
        By each column, then by all of them together where there are several.
    parity : tuple of ModelParity
        Probabilities of the classes by group under the model; empty where numbers are
        withheld. A model without a joint distribution has none by several columns.
    routes : tuple of Routes
        How each column reaches the predictions.
    changed : tuple of ChangedCell
        For each column that is a feature; empty where numbers are withheld.
    """

    model: str
    target: str
    classes: tuple[str, ...]
    positive: tuple[str, ...]
    basis: str
    basis_told: str
    level: float
    min_count: int
    overall: GroupFigures
    groupings: tuple[GroupedFigures, ...]
    parity: tuple[ModelParity, ...]
    routes: tuple[Routes, ...]
    changed: tuple[ChangedCell, ...]

    @property
    def notes(self) -> list[str]:
        """Sentences that follow from the figures."""
        return audit_notes(self.groupings, self.positive, self.min_count)

    def document(self) -> Document:
        """Drawings, tables, routes and sentences."""
        rows = counted(self.overall.n_rows, "row")
        about = "about " if self.min_count > 1 else ""
        tables = audit_tables(self.groupings, self.overall, self.parity, self.positive)
        meanings = [f"{name}: {meaning}" for name, meaning in MEANINGS.items()]
        interval = f"in parentheses: {100 * self.level:g} per cent credible intervals"
        return Document(
            f"Audit of {self.model}, {self.target}",
            [
                f"{name_list(self.positive)} against the rest, {about}{rows}",
                self.basis_told,
                *self._drawings(),
                *tables,
                *(routes.document() for routes in self.routes),
                *map(str, self.changed),
                *self.notes,
                Document("", [Items([*meanings, interval])]),
            ],
        )

    def _drawings(self) -> Iterator[Figure]:
        """Rates of each class by group with their intervals."""
        for grouping in self.groupings:
            groups = grouping.groups
            names = [f"{group.name} ({group.n_rows})" for group in groups]
            for number, label in enumerate(self.positive if groups else ()):
                title = plain(f"{label} by {', '.join(grouping.columns)}")
                series = [
                    (
                        name,
                        [_interval(getattr(g.classes[number], rate)) for g in groups],
                    )
                    for name, rate in _DRAWN.items()
                ]
                yield Figure(intervals_svg(title, names, series), title)

    def to_html(self, path: str | Path | None = None) -> str:
        """A page of its own, without scripts or references, written if a path is given.

        Raises
        ------
        OSError
            If the file cannot be written; an older file is then left as it was.
        """
        page = page_of(self.document())
        if path is not None:
            write_text(path, page)
        return page

    def __repr__(self) -> str:
        columns = self.groupings[-1].columns
        n_groups = sum(len(one.groups) for one in self.groupings)
        return brief(
            self, self.model, f"by {name_list(columns)}", counted(n_groups, "group")
        )


def _interval(estimate: Estimate) -> Interval:
    """An estimate as it is drawn."""
    return Interval(estimate.value, estimate.low, estimate.high)
