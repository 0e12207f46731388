"""A table with its target and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.wording import brief, brief_names


@dataclass(frozen=True, eq=False)
class Table:
    """Features, target and their story.

    Parameters
    ----------
    name : str
        Short name.
    frame : pyarrow.Table
        All columns, the target last.
    description : str
        What a row is and where the table comes from.
    source : str
        Whom to cite.
    licence : str
        Under what terms the table may be used.
    hierarchies : dict of str to ValueHierarchy, default={}
        Groups of values, by column, that a person wrote down.
    """

    name: str
    frame: pa.Table
    description: str
    source: str
    licence: str
    hierarchies: dict[str, ValueHierarchy] = field(default_factory=dict)

    @property
    def target(self) -> str:
        """Name of the target column."""
        return str(self.frame.column_names[-1])

    @property
    def X(self) -> pa.Table:
        """The features."""
        return self.frame.select(self.frame.column_names[:-1])

    @property
    def y(self) -> NDArray[Any]:
        """The class labels, shape (n_rows,): text, or integers."""
        labels = self.frame.column(self.target)
        if pa.types.is_integer(labels.type):
            return np.asarray(labels)
        array = np.empty(len(labels), dtype=object)
        array[:] = labels.to_pylist()
        return array

    def __repr__(self) -> str:
        n_rows, columns = self.frame.num_rows, self.frame.column_names
        named = f"{len(columns)} columns ({brief_names(columns)})"
        return brief(self, self.name, f"{n_rows} rows", named, f"target {self.target}")
