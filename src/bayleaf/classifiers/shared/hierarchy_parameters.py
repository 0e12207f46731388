"""The parameter of value hierarchies, whose groups the cells of tables may name."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from bayleaf.classifiers.shared.parameters import DeclaredParameters
from bayleaf.data.fitted_hierarchies import (
    HierarchiesLike,
    read_hierarchies,
    resolve_hierarchies,
)
from bayleaf.data.partial_values import PartialValues
from bayleaf.data.tables.columns import Name
from bayleaf.data.value_hierarchy import ValueHierarchy


class HierarchyParameters(DeclaredParameters):
    """Value hierarchies of columns, as a parameter.

    Precedes `TableEstimator` among the bases of an estimator.

    Parameters
    ----------
    hierarchies : path, or mapping of column to ValueHierarchy or mapping, optional
        Trees over the values of columns. A cell that names a group of one may have any
        value of the group: predictions sum over these.

    Attributes
    ----------
    hierarchies_ : dict of column to ValueHierarchy
        The trees, as the last fit or file read them.
    """

    hierarchies: HierarchiesLike | None = None

    def _given_hierarchies(self, names: Iterable[Name]) -> dict[Name, ValueHierarchy]:
        """The trees by column, before a table is read; errors as the parameter has."""
        self._sets = PartialValues.none()
        self.hierarchies_ = resolve_hierarchies(self.hierarchies, names)
        return self.hierarchies_

    def _mixed_columns(self) -> Collection[str]:
        given = self.hierarchies
        if isinstance(given, str | os.PathLike):
            given = read_hierarchies(given)
        return [str(name) for name in given] if isinstance(given, Mapping) else []
