"""What a fitted classifier is, in a few lines for a reader."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bayleaf.data.column_table import ColumnTable
from bayleaf.models.fit_stamp import FitStamp
from bayleaf.models.predictor import Predictor
from bayleaf.models.texts.html_summary import arc_text, facts_html
from bayleaf.wording import brief, brief_names, counted, plain, shown_name, visible

Name = str | int
Pairs = tuple[tuple[Name, Any], ...]

_WIDTH = 80


@dataclass(frozen=True)
class Summary:
    """Facts on a fitted classifier.

    Parameters
    ----------
    model : str
        Name of the classifier.
    target : str or int
        Name of the class variable.
    classes : tuple of (label, float)
        Class labels with their prior probabilities.
    n_features : int
        Number of features.
    n_arcs : int
        Number of arcs among features; class arcs not counted.
    n_parameters : int
        Number of free parameters.
    log_likelihood : float
        Log-likelihood (nats) of the training rows under the model.
    log_likelihood_scope : str
        What the log-likelihood sums over.
    arcs : tuple of (parent, child)
        Arcs among features, the heaviest first where they have weights.
    notes : tuple of (feature, str)
        Features that were dropped or read in a way that a reader should know, and why.
    unknown : tuple of (feature, int)
        Cells of the last table predicted whose values training did not contain.
    temperature : float, default=1.0
        What calibration divides log scores by.
    remarks : tuple of str
        What else a reader of such a model should know.
    columns : ColumnTable, optional
        How the columns of the training table were taken.
    fitted : FitStamp, optional
        Date of the fit and version of the library.
    """

    model: str
    target: str | int
    classes: tuple[tuple[Any, float], ...]
    n_features: int
    n_arcs: int
    n_parameters: int
    log_likelihood: float
    log_likelihood_scope: str
    arcs: tuple[tuple[Name, Name], ...]
    notes: tuple[tuple[Name, str], ...]
    unknown: tuple[tuple[Name, int], ...]
    temperature: float = 1.0
    remarks: tuple[str, ...] = ()
    columns: ColumnTable | None = None
    fitted: FitStamp | None = None

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values, ready for JSON."""
        values = asdict(replace(self, columns=None))
        values["columns"] = [] if self.columns is None else self.columns.to_dict()
        values["classes"] = [
            {"label": label, "prior": prior} for label, prior in self.classes
        ]
        values["notes"] = dict(self.notes)
        values["unknown"] = dict(self.unknown)
        return values

    def _repr_html_(self) -> str:
        facts: list[tuple[str, Any]] = [("class", short_name(self.target))]
        facts += [(f"P({short_name(c)})", f"{p:.3f}") for c, p in self.classes[:20]]
        facts += [
            ("features", self.n_features),
            ("arcs among features", self.n_arcs),
            ("free parameters", self.n_parameters),
            (
                f"log-likelihood ({self.log_likelihood_scope})",
                f"{self.log_likelihood:.6g} nats, training rows",
            ),
        ]
        if self.temperature != 1.0:
            facts.append(("temperature", f"{self.temperature:.4g}"))
        if self.fitted is not None:
            facts.append(("fitted", str(self.fitted)))
        lists = [
            ("arcs among features", [arc_text(*arc) for arc in self.arcs]),
            ("remarks", self.remarks),
            *column_lists(self.notes, self.unknown, short_name),
        ]
        return facts_html(self.model, facts, lists)

    def __repr__(self) -> str:
        shown = brief_names([f"{label} {prior:.3f}" for label, prior in self.classes])
        return brief(
            self,
            self.model,
            f"class {short_name(self.target)} ({shown})",
            counted(self.n_features, "feature"),
            f"{counted(self.n_arcs, 'arc')} among features",
            counted(self.n_parameters, "free parameter"),
        )

    def __str__(self) -> str:
        lines = self.model_text().splitlines()
        return "\n".join([*lines, *column_section(self.columns)])

    def model_text(self) -> str:
        """The facts without those on columns."""
        priors = ", ".join(
            f"{visible(str(label))} {prior:.3f}" for label, prior in self.classes
        )
        lines = [
            self.model,
            f"  class            {shown_name(self.target)}: {priors}",
            f"  features         {self.n_features}",
            f"  dependence arcs  {self.n_arcs} among features",
            f"  free parameters  {self.n_parameters}",
            f"  log-likelihood   {self.log_likelihood:.6g} nats "
            f"({self.log_likelihood_scope})",
        ]
        if self.temperature != 1.0:
            lines.append(f"  temperature      {self.temperature:.4g}")
        if self.fitted is not None:
            lines.append(f"  fitted           {self.fitted}")
        lines += section("arcs among features", [f"{a} -> {b}" for a, b in self.arcs])
        lines += [f"  {visible(remark)}" for remark in self.remarks]
        notes, unknown = column_lists(self.notes, self.unknown)
        lines += section(*notes) + section(*unknown, most=len(self.unknown))
        return "\n".join(shown for line in lines for shown in _folded(line))


def section(title: str, items: Sequence[str], most: int = 20) -> list[str]:
    """A title and the first items below it; nothing where there are none."""
    if not items:
        return []
    hidden = len(items) - most
    more = [f"    and {hidden} more"] if hidden > 0 else []
    return [f"  {title}", *(f"    {visible(item)}" for item in items[:most]), *more]


def column_section(columns: ColumnTable | None) -> list[str]:
    """How columns were taken, as a section of a summary's text."""
    if columns is None:
        return []
    return ["  columns", *(f"    {one}" for one in columns.lines(20, _WIDTH - 4))]


def column_lists(
    notes: Pairs, unknown: Pairs, named: Callable[[Name], str] = str
) -> list[tuple[str, list[str]]]:
    """Notes on columns and their unknown cells, each as a title and its items."""
    cells = [f"{named(name)}: {count} cells" for name, count in unknown]
    return [
        ("notes", [f"{named(name)}: {note}" for name, note in notes]),
        ("values not seen in training, taken as missing", cells),
    ]


def short_name(name: Name) -> str:
    """A column's name where room is scarce."""
    return plain(name, 60)


def _folded(line: str) -> list[str]:
    """A line as it is, or where it is too long as several, the further ones deeper."""
    if len(line) <= _WIDTH:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(
        line.lstrip(),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
    )


def summarize(
    name: str,
    predictor: Predictor,
    log_likelihood: float,
    unknown: Mapping[Name, int],
    fitted: FitStamp | None = None,
) -> Summary:
    """Gather the facts on a fitted classifier; `log_likelihood` of training, in nats.

    `unknown` counts, by column, cells of the last table predicted whose values training
    did not contain.
    """
    model = predictor.model
    names = model.domain.names
    class_index = len(names) - 1
    weights = model.arc_weights
    arcs = tuple(
        (names[parent], names[child])
        for parent, child in sorted(model.arcs, key=lambda arc: -weights.get(arc, 0.0))
        if class_index not in (parent, child)
    )
    labels = predictor.classes.tolist()
    return Summary(
        model=name,
        target=names[class_index],
        classes=tuple(zip(labels, model.class_prior.tolist(), strict=True)),
        n_features=class_index,
        n_arcs=len(arcs),
        n_parameters=model.n_parameters,
        log_likelihood=log_likelihood,
        log_likelihood_scope=model.log_likelihood_scope,
        arcs=arcs,
        notes=tuple(predictor.encoder.notes.items()),
        unknown=tuple(unknown.items()),
        temperature=predictor.temperature,
        remarks=tuple(model.remarks),
        columns=ColumnTable(predictor.encoder),
        fitted=fitted,
    )
