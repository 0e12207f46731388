"""Which states each feature of a row may change to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from numbers import Real
from sys import float_info
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.explain.change_sets import ChangeSets
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
    direction: Mapping[str | int, Direction],
) -> ChangeSets:
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
    direction : mapping of str or int to {"up", "down"}
        Features that may only rise or fall.

    Returns
    -------
    ChangeSets
        Feature and new state of each change, by feature, then state.

    Raises
    ------
    ValueError
        If a name or state is unknown, or a feature with a direction has no order.
    """
    domain = predictor.encoder.domain
    fixed = {_feature(domain, name) for name in immutable}
    limited = {_feature(domain, name): states for name, states in allowed.items()}
    one_way = {_feature(domain, name): way for name, way in direction.items()}
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
    return ChangeSets(np.array(features, np.intp), np.array(states, np.intp))


def costs_of(
    predictor: Predictor,
    codes: Codes,
    changes: ChangeSets,
    cost: Mapping[str | int, float],
    per_step: Iterable[str | int],
) -> NDArray[np.float64]:
    """What each single change costs, shape (n_changes,).

    Parameters
    ----------
    predictor : Predictor
        How columns are read.
    codes : Codes
        The row.
    changes : ChangeSets
        The changes.
    cost : mapping of str or int to float
        What it costs to change a feature; 1 for those that are not named.
    per_step : iterable of str or int
        Features with an order, whose cost counts for each state that they move by.

    Raises
    ------
    ValueError
        If a name is unknown, a cost is no finite number above 0, or a feature whose
        cost counts for each step has no order.
    """
    domain = predictor.encoder.domain
    prices = np.ones(len(domain))
    for name, price in cost.items():
        prices[_feature(domain, name)] = _price(name, price)
    found = prices[changes.features]
    for name in per_step:
        feature = _feature(domain, name)
        places = np.argsort(np.argsort(_places(domain[feature], "counted by steps")))
        those = changes.features == feature
        if those.any():
            own = places[int(codes.column(feature)[0])]
            found[those] *= np.abs(places[changes.states[those]] - own)
    return found


def _price(name: str | int, price: object) -> float:
    """The cost of changing a feature, if it is one."""
    is_number = isinstance(price, Real) and not isinstance(price, bool | np.bool_)
    if not is_number or not 0.0 < price <= float_info.max:  # type: ignore[operator]
        raise ValueError(
            f"the cost of feature {quoted(name)} must be a finite number above 0, got "
            f"{quoted(price)}; features that cannot change belong in immutable"
        )
    return float(price)  # type: ignore[arg-type]


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
    return [sign * place for place in _places(variable, f"moved {way}")]


def _places(variable: Variable, asked: str) -> list[float]:
    """A number for each state, larger further up; refused if there is no order."""
    known = variable.known_states
    if variable.kind == "numeric":
        return [float(place) for place in range(len(known))]
    if all(isinstance(s, int | float | np.number) for s in known):
        return [float(state) for state in known]  # type: ignore[arg-type]
    raise ValueError(
        f"feature {quoted(variable.name)} has no order, so that it cannot be {asked}; "
        "name the states that it may take in allowed"
    )
