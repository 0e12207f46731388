"""Which states each feature of a row may change to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.explain.subject import is_absent
from bayleaf.inference.states import StateReader, find_variable
from bayleaf.models.predictor import Predictor
from bayleaf.wording import quoted

Direction = Literal["up", "down"]
Indices = NDArray[np.intp]


def single_changes(
    predictor: Predictor,
    codes: Codes,
    immutable: tuple[str | int, ...],
    allowed: Mapping[str | int, Collection[Any]],
    directions: Mapping[str | int, Direction],
) -> tuple[Indices, Indices]:
    """List the single changes that a row may undergo.

    Parameters
    ----------
    predictor : Predictor
        How columns are read.
    codes : Codes
        The row.
    immutable : tuple of str or int
        Features that stay as they are.
    allowed : mapping of str or int to collection
        The only states that some features may take.
    directions : mapping of str or int to {"up", "down"}
        Features that may only rise or fall.

    Returns
    -------
    features, states : ndarray of shape (n_changes,), dtype intp
        Feature and new state of each change, by feature, then state.

    Raises
    ------
    ValueError
        If a name or state is unknown, or a feature with a direction has no order.
    """
    domain = predictor.encoder.domain
    fixed = {_feature(domain, name) for name in immutable}
    limited = {_feature(domain, name): states for name, states in allowed.items()}
    one_way = {_feature(domain, name): way for name, way in directions.items()}
    features: list[int] = []
    states: list[int] = []
    for feature, variable in enumerate(domain):
        own = int(codes.column(feature)[0])
        order = _order(variable, one_way[feature]) if feature in one_way else None
        if feature in fixed or is_absent(codes, domain, feature)[0]:
            continue
        may = set(range(variable.n_known_states)) - {own}
        if feature in limited:
            may &= {_state(variable, state) for state in limited[feature]}
        if order is not None:
            may = {state for state in may if order[state] > order[own]}
        features += [feature] * len(may)
        states += sorted(may)
    return np.array(features, dtype=np.intp), np.array(states, dtype=np.intp)


def _feature(domain: Domain, name: str | int) -> int:
    """Position of a feature; an unknown one is refused with its neighbours."""
    return find_variable(domain, name)


def _state(variable: Variable, value: Any) -> int:
    """Code of an allowed state."""
    reader = StateReader(variable)
    code = reader.code(value)
    if code is None:
        raise reader.unknown(value)
    return code


def _order(variable: Variable, way: str) -> list[float]:
    """Places of the states, larger in the direction that is allowed."""
    if way not in ("up", "down"):
        raise ValueError(
            f"the direction of feature {quoted(variable.name)} must be 'up' or 'down', "
            f"got {quoted(way)}"
        )
    sign = 1.0 if way == "up" else -1.0
    known = variable.known_states
    if variable.kind == "numeric":
        return [sign * place for place in range(len(known))]
    if all(isinstance(s, int | float | np.number) for s in known):
        return [sign * float(state) for state in known]  # type: ignore[arg-type]
    raise ValueError(
        f"feature {quoted(variable.name)} has no order, so that it cannot go {way}; "
        "name the states that it may take in allowed"
    )
