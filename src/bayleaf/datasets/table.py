"""A table with its target and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.results.result import Shown
from bayleaf.wording import brief, brief_names

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    Frame: TypeAlias = pa.Table | pd.DataFrame | pl.DataFrame

FrameT = TypeVar("FrameT")


@dataclass(frozen=True, eq=False)
class Table(Shown, Generic[FrameT]):
    """Features, target and their story.

    Parameters
    ----------
    name : str
        Short name.
    frame : pyarrow.Table, or data frame of pandas or polars
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
    frame: FrameT
    description: str
    source: str
    licence: str
    hierarchies: dict[str, ValueHierarchy] = field(default_factory=dict)

    @property
    def target(self) -> str:
        """Name of the target column."""
        return str(self._columns.columns[-1])

    @property
    def X(self) -> FrameT:
        """The features."""
        features: FrameT = self._columns.drop(self.target).to_native()
        return features

    @property
    def y(self) -> NDArray[Any]:
        """The class labels, shape (n_rows,): text, or integers."""
        labels = self._columns.get_column(self.target)
        if labels.dtype.is_integer():
            return labels.to_numpy()
        array = np.empty(len(labels), dtype=object)
        array[:] = labels.to_list()
        return array

    @property
    def _columns(self) -> nw.DataFrame[Any]:
        frame: Any = self.frame
        return nw.from_native(frame, eager_only=True)

    def __repr__(self) -> str:
        n_rows, columns = len(self._columns), self._columns.columns
        named = f"{len(columns)} columns ({brief_names(columns)})"
        return brief(self, self.name, f"{n_rows} rows", named, f"target {self.target}")
