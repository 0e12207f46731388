"""What a fitted classifier is, in a few lines for a reader."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from bayleaf.data.column_table import ColumnTable
from bayleaf.models.fit_stamp import FitStamp
from bayleaf.models.predictor import Predictor
from bayleaf.results.document import Document, Facts, Items, Part
from bayleaf.results.result import Result, plain_values
from bayleaf.typing import JSONObject
from bayleaf.wording import brief, brief_names, counted, cut, plain, shown_name, visible

Name = str | int
# Items of a list that are shown.
MAX_ITEMS = 20
# Characters of a name.
_MAX_NAME = 60


class FittedSummary(Result):
    """What summaries of classifiers, density models and regressors share."""

    model: str
    notes: tuple[tuple[Name, str], ...]
    unknown: tuple[tuple[Name, int], ...]
    columns: ColumnTable | None

    def facts(self) -> list[tuple[str, str]]:
        """Labels with their values, the first things to read."""
        raise NotImplementedError

    def lists(self) -> list[Part]:
        """What is listed below the facts."""
        raise NotImplementedError

    def document(self) -> Document:
        """The facts without those on columns."""
        notes = [f"{name}: {note}" for name, note in self.notes]
        cells = [f"{name}: {count} cells" for name, count in self.unknown]
        parts = [
            Facts(self.facts()),
            *self.lists(),
            Items(notes, "notes", MAX_ITEMS),
            Items(cells, "values not seen in training, taken as missing"),
        ]
        return Document(self.model, parts)

    def model_text(self, width: int = 80) -> str:
        """The facts without those on columns, as text."""
        return super().to_text(width)

    def to_text(self, width: int = 80) -> str:
        """Write the facts, and how columns were taken, for a terminal.

        Parameters
        ----------
        width : int, default=80
            Characters per line.

        Returns
        -------
        str
        """
        text = super().to_text(width)
        if self.columns is None:
            return text
        lines = self.columns.lines(MAX_ITEMS, width - 4)
        return "\n".join([text, "  columns", *(f"    {line}" for line in lines)])

    def to_dict(self) -> JSONObject:
        """The summary as plain values, ready for JSON.

        Returns
        -------
        dict
        """
        return {
            **super().to_dict(),
            "columns": [] if self.columns is None else self.columns.to_dict(),
            "notes": plain_values(dict(self.notes)),
            "unknown": plain_values(dict(self.unknown)),
        }


@dataclass(frozen=True)
class Summary(FittedSummary):
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
    classes: tuple[tuple[Hashable, float], ...]
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

    def facts(self) -> list[tuple[str, str]]:
        """Class, sizes and log-likelihood."""
        priors = ", ".join(
            f"{cut(visible(str(label)), _MAX_NAME)} {prior:.3f}"
            for label, prior in self.classes
        )
        target = cut(shown_name(self.target), _MAX_NAME)
        bits = f"{self.log_likelihood / math.log(2.0):.6g} bits"
        facts = [
            ("class", f"{target}: {priors}"),
            ("features", str(self.n_features)),
            ("dependence arcs", f"{self.n_arcs} among features"),
            ("free parameters", str(self.n_parameters)),
            ("log-likelihood", f"{bits} ({self.log_likelihood_scope})"),
        ]
        if self.temperature != 1.0:
            facts.append(("temperature", f"{self.temperature:.4g}"))
        if self.fitted is not None:
            facts.append(("fitted", str(self.fitted)))
        return facts

    def lists(self) -> list[Part]:
        """Arcs and remarks."""
        arcs = [f"{parent} -> {child}" for parent, child in self.arcs]
        return [
            Items(arcs, "arcs among features", MAX_ITEMS),
            Items(self.remarks, "remarks"),
        ]

    def to_dict(self) -> JSONObject:
        """The summary as plain values, ready for JSON.

        Returns
        -------
        dict
        """
        classes: list[Any] = [
            {"label": label, "prior": prior} for label, prior in self.classes
        ]
        return {**super().to_dict(), "classes": classes}

    def __repr__(self) -> str:
        shown = brief_names([f"{label} {prior:.3f}" for label, prior in self.classes])
        return brief(
            self,
            self.model,
            f"class {plain(self.target, _MAX_NAME)} ({shown})",
            counted(self.n_features, "feature"),
            f"{counted(self.n_arcs, 'arc')} among features",
            counted(self.n_parameters, "free parameter"),
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
