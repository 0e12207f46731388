"""Means and quantiles of numbers, from the probabilities of states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.wording import quoted

Floats = NDArray[np.float64]
# From here on not every integer is a float.
_EXACT = 1 << 53


def mean_number(variable: Variable, probabilities: Floats) -> float:
    """Expected value; a missing state is left out.

    ValueError if states are not numbers, or numbers inside intervals are not known.
    """
    return float(mean_numbers(variable, probabilities))


def mean_numbers(variable: Variable, probabilities: Floats) -> Floats:
    """Expected values of distributions of shape (..., n_states); see `mean_number`."""
    chances, means = _chances(variable, probabilities), _means(variable)
    return np.asarray((chances * means).sum(axis=-1))


def expected_cells(variable: Variable, probabilities: Floats) -> Floats:
    """Expected values, (n_rows, n_states) -> (n_rows,); integers where numbers were.

    The variable was cut into intervals. ValueError as in `mean_number`.
    """
    found = mean_numbers(variable, probabilities)
    return np.rint(found) if _are_whole(variable) else found


def number_deviation(variable: Variable, probabilities: Floats) -> float:
    """Standard deviation; inside intervals by the quantiles of the training numbers.

    ValueError as in `mean_number`.
    """
    chances, means = _chances(variable, probabilities), _means(variable)
    squares = (means - (chances * means).sum()) ** 2
    if variable.numbers is not None:
        squares = squares + [
            _variance_inside(own) for own in variable.numbers.quantiles
        ]
    return float(np.sqrt((chances * squares).sum()))


def number_quantiles(variable: Variable, probabilities: Floats, shares: Any) -> Floats:
    """Numbers below which some shares of the distribution lie, of the shares' shape.

    ValueError as in `mean_number`, or if a share is not between 0 and 1.
    """
    wanted = np.asarray(shares, dtype=np.float64)
    if not ((wanted >= 0) & (wanted <= 1)).all():
        raise ValueError("the shares of quantiles must lie between 0 and 1")
    chances, means = _chances(variable, probabilities), _means(variable)
    order = np.argsort(means, kind="stable")
    order = order[chances[order] > 0]
    ends = np.cumsum(chances[order])
    places = np.minimum(np.searchsorted(ends, wanted * ends[-1]), len(order) - 1)
    found = np.empty(wanted.shape)
    for place in np.unique(places):
        here, state = places == place, int(order[place])
        begin = ends[place] - chances[state]
        inside = np.clip((wanted[here] * ends[-1] - begin) / chances[state], 0.0, 1.0)
        found[here] = _inside(variable, state, inside)
    # Of integers the least one is meant below or at which the share lies.
    return np.ceil(found - 1e-9) if _are_whole(variable) else found


def drawn_numbers(domain: Domain, codes: Codes, rng: np.random.Generator) -> pa.Table:
    """Random numbers for the states of variables that were cut into intervals.

    A column each, of integers where the training numbers were. ValueError if a
    variable's training numbers are not known.
    """
    columns = {}
    for place, variable in enumerate(domain):
        if variable.kind != "numeric" or variable.categories is not None:
            continue
        own = codes.column(place)
        numbers: NDArray[Any] = numbers_of_states(variable, own, rng.random(len(own)))
        if _are_whole(variable) and (np.abs(numbers) < _EXACT).all():
            numbers = numbers.astype(np.int64)
        missing = own >= variable.n_known_states
        columns[str(variable.name)] = pa.array(numbers, mask=missing)
    return pa.table(columns)


def numbers_of_states(
    variable: Variable, states: NDArray[Any], shares: Floats | None = None
) -> Floats:
    """Numbers (n,) for states (n,) that are intervals; 0 for missing ones.

    `shares` (n,) from 0 to 1 place numbers in the distribution inside the interval; by
    default they are the means. Integers where the training numbers were; ValueError if
    the numbers inside the intervals are not known.
    """
    if variable.numbers is None:
        raise _unknown(variable)
    numbers = np.zeros(len(states))
    for state in np.unique(states[states < variable.n_known_states]).tolist():
        here = states == state
        if shares is not None:
            numbers[here] = _inside(variable, state, shares[here])
        elif variable.numbers.quantiles[state]:
            numbers[here] = variable.numbers.means[state]
        else:
            numbers[here] = _inside(variable, state, np.array([0.5]))
    return np.rint(numbers) if _are_whole(variable) else numbers


def _chances(variable: Variable, probabilities: Floats) -> Floats:
    """Probabilities of the known states, given that one of them holds."""
    known = np.array(probabilities, dtype=np.float64)[..., : variable.n_known_states]
    if variable.kind == "numeric" and variable.numbers is not None:
        # Smoothing gives an interval without rows a chance, but no numbers.
        known[..., [not own for own in variable.numbers.quantiles]] = 0.0
    sums = known.sum(axis=-1, keepdims=True)
    if not (sums > 0).all():
        raise ValueError(f"variable {quoted(variable.name)} has no number for sure")
    return np.asarray(known / sums)


def _means(variable: Variable) -> Floats:
    """The number, or mean of the numbers, of each known state."""
    if variable.kind == "numeric" and variable.categories is None:
        if variable.numbers is None:
            raise _unknown(variable)
        return np.array(variable.numbers.means)
    states: list[Any] = list(variable.known_states)
    if not all(isinstance(s, int | float) and not isinstance(s, bool) for s in states):
        raise ValueError(
            f"the states of variable {quoted(variable.name)} are no numbers; ask for "
            "probabilities instead"
        )
    return np.array(states, dtype=np.float64)


def _inside(variable: Variable, state: int, shares: Floats) -> Floats:
    """Numbers of one state at some shares of its distribution."""
    if variable.kind != "numeric":
        return np.full(shares.shape, float(_means(variable)[state]))
    if variable.numbers is None:
        raise _unknown(variable)
    if not variable.numbers.quantiles[state]:
        # No training row lies there, so the cut points are all that is known.
        cuts = variable.cut_points
        if not cuts:
            raise ValueError(
                f"no number of variable {quoted(variable.name)} is known; its column "
                "held none in training"
            )
        low, high = cuts[max(0, state - 1)], cuts[min(state, len(cuts) - 1)]
        return low + shares * (high - low)
    return variable.numbers.at(state, shares)


def _variance_inside(quantiles: Sequence[float]) -> float:
    """Variance of numbers spread evenly between each two neighbouring quantiles."""
    if len(quantiles) < 2:
        return 0.0
    ends = np.array(quantiles) - np.mean(quantiles)
    low, high = ends[:-1], ends[1:]
    middle = ((low + high) / 2).mean()
    return float(((low**2 + low * high + high**2) / 3).mean() - middle**2)


def _are_whole(variable: Variable) -> bool:
    """Whether intervals hold integers alone."""
    return variable.numbers is not None and variable.numbers.are_whole


def _unknown(variable: Variable) -> ValueError:
    """The error for intervals of which no numbers are known."""
    return ValueError(
        f"the numbers inside the intervals of variable {quoted(variable.name)} are not "
        "known; they are where a model was fitted to a table, or where "
        "Variable.numeric was given low= and high="
    )
