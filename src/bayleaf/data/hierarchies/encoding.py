"""Encoders whose variables take the value hierarchies that a person wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.data.encoder.table_encoder import TableEncoder
from bayleaf.data.hierarchies.files import fit_hierarchy
from bayleaf.data.hierarchies.ranges import has_range_leaves, range_cut_points
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.data.tables.columns import Name


def with_value_hierarchies(
    encoder: TableEncoder, hierarchies: Mapping[Name, ValueHierarchy]
) -> TableEncoder:
    """An encoder whose variables have hierarchies, fitted to their states.

    Numeric columns with range leaves are cut where the ranges end, unless declared
    nominal; encode the training table again, since cut points may differ. ValueError as
    in `fit_hierarchy` and `range_cut_points`.
    """
    nominal = encoder.rules.nominal_names(encoder.domain.names) or frozenset()
    variables, notes = [], dict(encoder.notes)
    for variable in encoder.domain:
        tree = hierarchies.get(variable.name)
        if tree is not None:
            cut = variable
            if variable.name not in nominal:
                cut = _cut_at_ranges(variable, tree)
            if cut is not variable:
                notes.pop(variable.name, None)
            variable = replace(cut, hierarchy=fit_hierarchy(tree, cut))
        variables.append(variable)
    return replace(encoder, domain=Domain(tuple(variables)), notes=notes)


def _cut_at_ranges(variable: Variable, tree: ValueHierarchy) -> Variable:
    """A variable of numbers cut where range leaves end; any other as it is."""
    is_numbers = variable.kind == "numeric" or not any(
        isinstance(state, str | bool) for state in variable.known_states
    )
    if not (is_numbers and has_range_leaves(tree)):
        return variable
    return numeric_variable(
        variable.name,
        range_cut_points(tree),
        missing_state=variable.has_missing_state,
    )
