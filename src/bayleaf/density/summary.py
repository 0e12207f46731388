"""What a fitted density model is, in a few lines for a reader."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bayleaf.data.column_table import ColumnTable
from bayleaf.describe.fitted_summary import MAX_ITEMS, FittedSummary, Name
from bayleaf.models.fit_stamp import FitStamp
from bayleaf.results.document import Items, Part
from bayleaf.wording import brief, brief_names, counted


@dataclass(frozen=True)
class DensitySummary(FittedSummary):
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
    n_table_parameters : int
        `n_parameters` of full tables over the same arcs.
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
    n_table_parameters: int
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

    def facts(self) -> list[tuple[str, str]]:
        """Setting, sizes and scores."""
        bits = self.log_likelihood / math.log(2.0)
        score = self.score / (1.0 if self.local_score == "mdl" else math.log(2.0))
        facts = [
            ("setting", self.setting),
            ("variables", str(self.n_variables)),
            ("edges", str(self.n_edges)),
            ("parameters", f"{self.n_parameters} ({self.n_free_parameters} free)"),
            *self._compression(),
            (f"{self.local_score} score", f"{score:.8g} bits"),
            ("log-likelihood", f"{bits:.8g} bits (training rows)"),
        ]
        if self.sample:
            facts.append(("rows", self.sample))
        if self.fitted is not None:
            facts.append(("fitted", str(self.fitted)))
        return facts

    def _compression(self) -> list[tuple[str, str]]:
        """The size of full tables over the same arcs, where it differs."""
        if self.n_table_parameters == self.n_parameters:
            return []
        ratio = self.n_table_parameters / self.n_parameters
        full = f"{self.n_table_parameters} parameters, {ratio:.3g} times as many"
        return [("as full tables", full)]

    def lists(self) -> list[Part]:
        """Remarks and arcs."""
        edges = [f"{parent} -> {child}" for parent, child in self.edges]
        return [Items(self.remarks, "remarks"), Items(edges, "edges", MAX_ITEMS)]

    def __repr__(self) -> str:
        arcs = brief_names([f"{parent} -> {child}" for parent, child in self.edges])
        return brief(
            self,
            f"{self.model}, setting {self.setting}",
            counted(self.n_variables, "variable"),
            f"{counted(self.n_edges, 'arc')} ({arcs})",
            f"log-likelihood {self.log_likelihood / math.log(2.0):.8g} bits",
        )
