"""What a fitted density model is, in a few lines for a reader."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from bayleaf.data.column_table import ColumnTable
from bayleaf.describe.summary import (
    Name,
    column_lists,
    column_section,
    section,
    short_name,
)
from bayleaf.models.fit_stamp import FitStamp
from bayleaf.models.texts.html_summary import arc_text, facts_html
from bayleaf.wording import brief, brief_names, counted, visible


@dataclass(frozen=True)
class DensitySummary:
    """Facts on a fitted density model.

    Parameters
    ----------
    model : str
        Name of the estimator.
    setting : str
        Name of its setting in desJardins, Rathod and Getoor (2008).
    n_variables : int
        Number of variables.
    n_edges : int
        Number of arcs.
    n_parameters : int
        States times distributions, as the paper counts.
    n_free_parameters : int
        Number of free parameters.
    local_score : str
        Name of the score that the search made large.
    score : float
        What it came to: minus bits for MDL, nats for the others.
    log_likelihood : float
        Log-likelihood (nats) of the training rows.
    edges : tuple of (parent, child)
        All arcs.
    notes : tuple of (name, str)
        Columns that were read in a way that a reader should know.
    unknown : tuple of (name, int)
        Cells of the last table scored whose values training did not contain.
    columns : ColumnTable, optional
        How the columns of the training table were taken.
    sample : str, default=""
        What was learned from a sample of the rows; empty where all were looked at.
    remarks : tuple of str
        What the search was told of arcs.
    fitted : FitStamp, optional
        Date of the fit and version of the library.
    """

    model: str
    setting: str
    n_variables: int
    n_edges: int
    n_parameters: int
    n_free_parameters: int
    local_score: str
    score: float
    log_likelihood: float
    edges: tuple[tuple[Name, Name], ...]
    notes: tuple[tuple[Name, str], ...]
    unknown: tuple[tuple[Name, int], ...]
    columns: ColumnTable | None = None
    sample: str = ""
    remarks: tuple[str, ...] = ()
    fitted: FitStamp | None = None

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values, ready for JSON."""
        values = asdict(replace(self, columns=None))
        values["columns"] = [] if self.columns is None else self.columns.to_dict()
        values["notes"] = dict(self.notes)
        values["unknown"] = dict(self.unknown)
        return values

    def _repr_html_(self) -> str:
        unit = "bits" if self.local_score == "mdl" else "nats"
        facts = [
            ("setting", self.setting),
            ("variables", self.n_variables),
            ("arcs", self.n_edges),
            ("parameters", f"{self.n_parameters} ({self.n_free_parameters} free)"),
            (f"{self.local_score} score", f"{self.score:.8g} {unit}"),
            ("log-likelihood", f"{self.log_likelihood:.8g} nats, training rows"),
        ]
        if self.sample:
            facts.append(("rows", self.sample))
        if self.fitted is not None:
            facts.append(("fitted", str(self.fitted)))
        lists = [
            ("arcs", [arc_text(*arc) for arc in self.edges]),
            ("remarks", self.remarks),
            *column_lists(self.notes, self.unknown, short_name),
        ]
        return facts_html(self.model, facts, lists)

    def __repr__(self) -> str:
        arcs = brief_names([f"{parent} -> {child}" for parent, child in self.edges])
        return brief(
            self,
            f"{self.model}, setting {self.setting}",
            counted(self.n_variables, "variable"),
            f"{counted(self.n_edges, 'arc')} ({arcs})",
            f"log-likelihood {self.log_likelihood:.8g} nats",
        )

    def __str__(self) -> str:
        lines = self.model_text().splitlines()
        return "\n".join([*lines, *column_section(self.columns)])

    def model_text(self) -> str:
        """The facts without those on columns."""
        unit = "bits" if self.local_score == "mdl" else "nats"
        lines = [
            self.model,
            f"  setting          {self.setting}",
            f"  variables        {self.n_variables}",
            f"  edges            {self.n_edges}",
            f"  parameters       {self.n_parameters} ({self.n_free_parameters} free)",
            f"  {self.local_score} score".ljust(19) + f"{self.score:.8g} {unit}",
            f"  log-likelihood   {self.log_likelihood:.8g} nats (training rows)",
        ]
        if self.sample:
            lines.append(f"  rows             {self.sample}")
        if self.fitted is not None:
            lines.append(f"  fitted           {self.fitted}")
        edges = [f"{parent} -> {child}" for parent, child in self.edges]
        lines += [f"  {visible(remark)}" for remark in self.remarks]
        for place in (("edges", edges), *column_lists(self.notes, self.unknown)):
            lines += section(*place)
        return "\n".join(lines)
