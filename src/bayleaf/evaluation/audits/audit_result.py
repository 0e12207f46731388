"""An audit: its figures, and the document that shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from bayleaf.evaluation.audits.parity import ModelParity
from bayleaf.evaluation.audits.routes import Routes
from bayleaf.evaluation.groups.estimates import (
    LEAST_ROUNDINGS,
    Estimate,
    moved_by_rounding,
)
from bayleaf.evaluation.groups.group_rates import GroupFigures
from bayleaf.evaluation.groups.group_tables import (
    MEANINGS,
    group_tables,
    joined_columns,
)
from bayleaf.evaluation.groups.grouped_figures import GroupedFigures
from bayleaf.evaluation.privacy import Privacy
from bayleaf.io.atomic import write_text
from bayleaf.pictures.svg import Interval, intervals_svg
from bayleaf.results.document import Document, Figure, Items, Table
from bayleaf.results.html import page_of
from bayleaf.results.result import Record, Result
from bayleaf.wording import brief, counted, name_list, plain, shown_name

_DRAWN = {
    "base rate": "base_rate",
    "selected": "selection_rate",
    "found": "true_positive_rate",
    "false alarms": "false_positive_rate",
}
# Rates whose differences the verdict counts, by the rows that they are shares of.
_COMPARED = {
    "selection_rate": "all rows",
    "true_positive_rate": "rows whose class is {}",
    "false_positive_rate": "rows whose class is not {}",
}
# Classes that a table of the model's own probabilities has columns for.
_MOST_CLASSES = 6


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
            f"model would predict another class for {predicted:.1f} % of the rows; on "
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
        notes = []
        for grouping in self.groupings:
            for place, label in enumerate(self.positive):
                notes += _selection(grouping, place, label)
                notes += _base_rates(grouping, place, label)
        notes.append(
            "Differences between groups are those of these rows; they are no effects "
            "of belonging to a group."
        )
        if self.min_count > 1:
            base = Privacy(min_count=self.min_count).base
            notes.append(
                f"Numbers of rows are rounded to multiples of {base} and probabilities "
                "put into intervals; all figures are computed from these alone. Each "
                f"number of rows behind a figure may be off by some {base}, by more "
                "where several groups are added up, of which credible intervals know "
                f"nothing. Groups and shares of fewer than {LEAST_ROUNDINGS * base} "
                "rows (more where several groups are added up) are left out, as "
                "rounding would change them too much; so are numbers of the model. "
                "Differences stand only where neither chance nor rounding can have "
                "made them."
            )
        return notes

    @property
    def verdict(self) -> str:
        """How many rates differ between groups, and the largest such difference."""
        compared = [
            (contrast, group, grouping)
            for grouping in self.groupings
            for group in grouping.groups
            for contrast in group.contrasts
            if contrast.figure in _COMPARED and contrast.difference.value is not None
        ]
        clear = [entry for entry in compared if entry[0].is_clear]
        if not compared:
            return "No rates of groups can be compared: too few groups or rows."
        differences = counted(len(compared), "difference")
        if not clear:
            return f"None of {differences} between groups is more than chance explains."
        contrast, group, grouping = max(
            clear, key=lambda entry: abs(entry[0].difference.value or 0.0)
        )
        index = self.positive.index(str(contrast.label))
        reference = next(g for g in grouping.groups if g.label == grouping.reference)
        rates = [
            f"{100 * (_rate(g, index, contrast.figure) or 0.0):.0f} of 100 "
            f"({plain(g.name)})"
            for g in (group, reference)
        ]
        rows = _COMPARED[contrast.figure].format(plain(contrast.label))
        return (
            f"{len(clear)} of {differences} between groups "
            f"{'is' if len(clear) == 1 else 'are'} unlikely to be chance; the largest: "
            f"of {rows}, {plain(contrast.label)} is predicted for "
            f"{' and '.join(rates)}."
        )

    def document(self) -> Document:
        """Drawings, tables, routes and sentences."""
        rows = counted(self.overall.n_rows, "row")
        about = "about " if self.min_count > 1 else ""
        tables = (
            table
            for grouping in self.groupings
            for table in group_tables(
                grouping.columns, grouping.groups, grouping.reference, self.overall
            )
        )
        meanings = [f"{name}: {meaning}" for name, meaning in MEANINGS.items()]
        interval = f"in parentheses: {100 * self.level:g} per cent credible intervals"
        classes = f"{name_list(self.positive)} against the rest"
        return Document(
            self.verdict,
            [
                f"Audit of {self.model}, {self.target}: {classes}, {about}{rows}",
                self.basis_told,
                *self._drawings(),
                *tables,
                *(_parity_table(parity, self.positive) for parity in self.parity),
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


def _parity_table(parity: ModelParity, positive: Sequence[str]) -> Table:
    """Probabilities under the model, of the classes that are looked at."""
    shown = [
        (place, label)
        for place, label in enumerate(parity.classes)
        if label in positive
    ][:_MOST_CLASSES]
    rows = [
        (
            ", ".join(group.label),
            f"{100 * group.probability:.1f}",
            *(f"{100 * group.classes[place]:.1f}" for place, _ in shown),
        )
        for group in parity.groups
    ]
    gaps = [f"{100 * parity.gap(place):.1f}" for place, _ in shown]
    ratios = [parity.ratio(place) for place, _ in shown]
    rows.append(("largest less least", "", *gaps))
    told = ["-" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
    rows.append(("least by largest", "", *told))
    columns = joined_columns(parity.columns)
    return Table(
        ("group", "P(group)", *(f"P({label} | group)" for _, label in shown)),
        rows,
        f"by {columns}: under the model alone, nothing else known, in per cent",
    )


def _selection(grouping: GroupedFigures, place: int, label: str) -> list[str]:
    """How the lowest selection rate stands to the highest."""
    rates = [(_rate(g, place, "selection_rate"), g) for g in grouping.groups]
    known = [(rate, group) for rate, group in rates if rate is not None]
    if len(known) < 2:
        return []
    lowest, highest = min(known, key=itemgetter(0)), max(known, key=itemgetter(0))
    reach = [(group.rounding, group.n_rows) for _, group in (lowest, highest)]
    if highest[0] - lowest[0] <= moved_by_rounding(*reach):
        return []
    by = name_list([shown_name(name) for name in grouping.columns])
    return [
        f"By {by}, the lowest share for which {plain(label)} is "
        f"predicted ({_named(*lowest)}) is {lowest[0] / highest[0]:.2f} of the highest "
        f"({_named(*highest)})."
    ]


def _base_rates(grouping: GroupedFigures, place: int, label: str) -> list[str]:
    """Whether base rates differ by more than chance, and what that rules out."""
    if grouping.reference is None:
        return []
    differing = [
        (contrast.difference, group)
        for group in grouping.groups
        for contrast in group.contrasts
        if (contrast.figure, contrast.label) == ("base_rate", label)
        and contrast.is_clear
    ]
    columns = name_list([shown_name(name) for name in grouping.columns])
    by = f"By {columns}, base rates of {plain(label)}"
    rounded = grouping.min_count > 1
    if not differing:
        explains = "chance and rounding explain" if rounded else "chance explains"
        return [f"{by} do not differ from the reference by more than {explains}."]
    difference, group = max(differing, key=lambda pair: abs(pair[0].value or 0.0))
    reference = next(g for g in grouping.groups if g.label == grouping.reference)
    own, other = (_rate(g, place, "base_rate") or 0.0 for g in (group, reference))
    return [
        f"{by} differ ({_named(own, group)}; {_named(other, reference)}; difference "
        f"{100 * (difference.value or 0.0):.1f} points, {100 * grouping.level:g} per "
        f"cent interval {100 * (difference.low or 0.0):.1f} to "
        f"{100 * (difference.high or 0.0):.1f}): unless predictions are perfect, such "
        "groups cannot have equal error rates and equal predictive values together."
    ]


def _rate(group: GroupFigures, place: int, rate: str) -> float | None:
    """The value of a rate of a class."""
    value: float | None = getattr(group.classes[place], rate).value
    return value


def _named(rate: float, group: GroupFigures) -> str:
    """A group with a rate of it."""
    return f"{plain(group.name)}: {100 * rate:.1f} %"
