"""The distribution of a variable given its parents, as a table with labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.inference.states import distinct_labels
from bayleaf.models.texts.network_text import (
    MAX_ROWS,
    distribution_text,
    head_text,
    probability_text,
)
from bayleaf.results.document import Document, Table
from bayleaf.results.html import html_of
from bayleaf.wording import counted, stated


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalTable:
    """P(variable | parents): a row per configuration of the parents, a column a state.

    Parameters
    ----------
    domain : Domain
        All variables of the network.
    cpd : TableCPD, TreeCPD or DeterministicCPD
        The distribution; all but its text expand trees and value maps to full tables.
    """

    domain: Domain
    cpd: CPD

    @property
    def name(self) -> str | int:
        """Name of the variable."""
        return self.domain[self.cpd.child].name

    @property
    def parents(self) -> tuple[str | int, ...]:
        """Names of its parents, in the order of the axes."""
        return tuple(self.domain[parent].name for parent in self.cpd.parents)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """All cells, shape (parent cards ..., number of states); read-only."""
        return self.cpd.probabilities

    def to_arrow(self) -> pa.Table:
        """A row per configuration: a column a parent, then a column a state.

        Returns
        -------
        pyarrow.Table
            States of the parents are text, the last parent's change fastest. Columns
            of states are called ``variable = state`` where a parent has the name of a
            state.
        """
        *above, child = self._members
        table = self.probabilities.reshape(-1, child.n_states)
        indices = np.indices(self.probabilities.shape[:-1]).reshape(
            len(above), self.probabilities.size // child.n_states
        )
        columns: dict[str, Any] = {
            str(parent.name): np.array(distinct_labels(parent), dtype=object)[codes]
            for parent, codes in zip(above, indices, strict=True)
        }
        labels = list(distinct_labels(child))
        if columns.keys() & set(labels):
            labels = [stated(child.name, label) for label in labels]
        return pa.table(columns | dict(zip(labels, table.T, strict=True)))

    def to_pandas(self) -> Any:
        """The same table as a data frame of pandas, indexed by the parents' states."""
        frame = self.to_arrow().to_pandas()
        above = [str(parent) for parent in self.parents]
        if above:
            frame = frame.set_index(above)
        return frame.rename_axis(columns=str(self.name))

    @property
    def _members(self) -> list[Variable]:
        """The parents, then the variable."""
        return [self.domain[member] for member in self.cpd.family]

    def __str__(self) -> str:
        return distribution_text(self.domain, self.cpd)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = self.to_arrow()
        n_parents = len(self.parents)
        rows = [
            [*row[:n_parents], *map(probability_text, row[n_parents:])]
            for row in zip(*cells.slice(0, MAX_ROWS).to_pydict().values(), strict=True)
        ]
        title = head_text(self.domain, self.cpd)
        hidden = len(cells) - len(rows)
        note = [f"and {counted(hidden, 'line')} more"] * (hidden > 0)
        table = Table(cells.column_names, rows, title, n_words=n_parents)
        return html_of(Document("", [table, *note]))
