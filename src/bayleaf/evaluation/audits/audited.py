"""An audit as text, tables and plain values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayleaf.evaluation.audits.audit_figures import AuditFigures
from bayleaf.evaluation.audits.html import audit_html, audit_page
from bayleaf.evaluation.audits.notes import audit_notes
from bayleaf.evaluation.audits.text import audit_text
from bayleaf.io.atomic import write_text
from bayleaf.wording import brief, counted, name_list


@dataclass(frozen=True)
class Audit(AuditFigures):
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

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values, ready for JSON."""
        return {
            "model": self.model,
            "target": self.target,
            "classes": list(self.classes),
            "positive": list(self.positive),
            "basis": self.basis,
            "basis_told": self.basis_told,
            "level": self.level,
            "min_count": self.min_count,
            "overall": self.overall.to_dict(),
            "groupings": [grouping.to_dict() for grouping in self.groupings],
            "parity": [parity.to_dict() for parity in self.parity],
            "routes": [routes.to_dict() for routes in self.routes],
            "changed": [changed.to_dict() for changed in self.changed],
            "notes": self.notes,
        }

    @property
    def notes(self) -> list[str]:
        """Sentences that follow from the figures."""
        return audit_notes(self)

    def to_text(self, width: int = 80) -> str:
        """Tables and sentences for a terminal.

        Parameters
        ----------
        width : int, default=80
            Characters of a line.
        """
        return audit_text(self, width)

    def to_html(self, path: str | Path | None = None) -> str:
        """A page of its own, without scripts or references, written if a path is given.

        Raises
        ------
        OSError
            If the file cannot be written; an older file is then left as it was.
        """
        page = audit_page(self)
        if path is not None:
            write_text(path, page)
        return page

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        columns = self.groupings[-1].columns
        n_groups = sum(len(one.groups) for one in self.groupings)
        return brief(
            self, self.model, f"by {name_list(columns)}", counted(n_groups, "group")
        )

    def _repr_html_(self) -> str:
        return audit_html(self)
