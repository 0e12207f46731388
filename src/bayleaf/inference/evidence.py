"""What is known of some variables: states, bounds, states ruled out, or weights."""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain, Variable
from bayleaf.data.tables.array_columns import is_missing_cell
from bayleaf.inference.states import StateReader, find_variable, indicator
from bayleaf.typing import ByLabel, EventLike
from bayleaf.wording import format_number, name_list, quoted, stated

Likelihood = NDArray[np.float64]
Likelihoods = dict[int, Likelihood]
# Values that are a state if they equal one.
_PLAIN = (str, int, float)
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")


class ImpossibleEvidenceError(ValueError):
    """Evidence that has probability zero under a network.

    Parameters
    ----------
    message : str
        The sentence for the reader.
    variables : tuple of str or int
        Names of the variables whose evidence cannot be together.
    """

    def __init__(self, message: str, variables: tuple[str | int, ...]) -> None:
        super().__init__(message)
        self.variables = variables

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.variables)


class Not:
    """States that are ruled out (negative evidence).

    Parameters
    ----------
    *states : hashable
        States, numbers or nodes of the value hierarchy, as in evidence itself.

    Examples
    --------
    >>> Not("yes", "perhaps")
    Not('yes', 'perhaps')
    """

    def __init__(self, *states: Hashable) -> None:
        self.states = states

    def __repr__(self) -> str:
        return f"Not({', '.join(repr(state) for state in self.states)})"


class Probabilities:
    """Probabilities of a variable's states, given all else that is known.

    They hold afterwards (Jeffrey's rule), while likelihoods are weights that the
    network's own probabilities are multiplied by.

    Parameters
    ----------
    by_state : mapping of state to float, or sequence of float
        One for every state, by name or in the order of states; their sum is 1.

    Examples
    --------
    >>> Probabilities({"yes": 0.7, "no": 0.3})
    Probabilities({'yes': 0.7, 'no': 0.3})
    """

    def __init__(self, by_state: ByLabel[float] | Sequence[float]) -> None:
        self.by_state = by_state

    def __repr__(self) -> str:
        return f"Probabilities({self.by_state!r})"


@dataclass(frozen=True)
class Range:
    """Bounds of a number or of an ordered category; None where there is none.

    All states count that contain a value within the bounds: where a variable is cut
    into intervals, the cut points around the bounds stand in for them. An open bound is
    itself left out.
    """

    low: float | str | None = None
    high: float | str | None = None
    open_low: bool = False
    open_high: bool = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.low!r}, {self.high!r})"

    def text(self, name: str) -> str:
        """The bounds as a reader sees them, such as ``30 <= age <= 50``."""
        low = "" if self.low is None else f"{_shown(self.low)} {_sign(self.open_low)} "
        high = (
            "" if self.high is None else f" {_sign(self.open_high)} {_shown(self.high)}"
        )
        if not high and low:
            return f"{name} {'>' if self.open_low else '>='} {_shown(self.low)}"
        return f"{low}{name}{high}"


class Between(Range):
    """Evidence that a number or ordered category lies within two bounds.

    Parameters
    ----------
    low, high : object
        Both count as within.

    Examples
    --------
    >>> Between(30, 50)
    Between(30, 50)
    """

    def __init__(self, low: float | str | None, high: float | str | None) -> None:
        super().__init__(low, high)


class AtMost(Range):
    """Evidence that a number or ordered category is not above a bound.

    Examples
    --------
    >>> AtMost(50)
    AtMost(50)
    """

    def __init__(self, high: float | str | None) -> None:
        super().__init__(None, high)

    def __repr__(self) -> str:
        return f"AtMost({self.high!r})"


class AtLeast(Range):
    """Evidence that a number or ordered category is not below a bound.

    Examples
    --------
    >>> AtLeast(30)
    AtLeast(30)
    """

    def __init__(self, low: float | str | None) -> None:
        super().__init__(low, None)

    def __repr__(self) -> str:
        return f"AtLeast({self.low!r})"


class EvidenceItem(NamedTuple):
    """What is known of one variable: its state, or a weight (card,) per state.

    Weights are 0 and 1, or likelihoods on any scale.
    """

    variable: int
    about: Variable
    known: int | Likelihood
    words: str | None = None  # as a reader sees it; by default the state
    # Whether the weights are probabilities, to become likelihoods under a network.
    is_distribution: bool = False

    @property
    def weights(self) -> Likelihood:
        """Weight of each state, shape (card,); of `is_distribution`, probabilities."""
        if not isinstance(self.known, int):
            return self.known
        return indicator(self.about.n_states, self.known)

    @property
    def likelihood(self) -> Likelihood:
        """Likelihood of each state, shape (card,); ValueError for probabilities."""
        if self.is_distribution:
            raise ValueError(
                f"the probabilities of variable {quoted(self.about.name)} cannot be "
                "used here; give likelihoods or a state, or ask the network with query"
            )
        return self.weights

    @property
    def text(self) -> str:
        """The item as a reader sees it, such as ``smoker = yes``."""
        if self.words is not None or not isinstance(self.known, int):
            return str(self.words)
        return stated(self.about.name, self.about.label(self.known))

    @property
    def state(self) -> int | None:
        """The only state left, None if there are several."""
        if isinstance(self.known, int):
            return self.known
        left = np.flatnonzero(self.known)
        return int(left[0]) if len(left) == 1 else None

    @property
    def is_informative(self) -> bool:
        """Whether the item changes anything."""
        if isinstance(self.known, int):
            return self.about.n_states > 1
        return self.is_distribution or not (self.known == 1.0).all()

    @property
    def exponent(self) -> int:
        """Power of two that brings the largest weight to at least 1 and below 2."""
        if isinstance(self.known, int):
            return 0
        return int(np.frexp(self.known.max())[1]) - 1

    @property
    def scaled(self) -> int | Likelihood:
        """What is known, its largest weight at least 1 and below 2."""
        # Products of weights on any scale would leave the range of numbers. Powers of
        # two change no digit.
        if isinstance(self.known, int):
            return self.known
        return np.ldexp(self.likelihood, -self.exponent)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of some variables, at most one item each, in variables' order."""

    domain: Domain
    items: tuple[EvidenceItem, ...]

    @property
    def findings(self) -> dict[int, int | Likelihood]:
        """State or weights by variable, on a common scale; see `log_scale`."""
        return {item.variable: item.scaled for item in self.items}

    @property
    def likelihoods(self) -> Likelihoods:
        """Weight of each state, by variable, on a common scale; see `log_scale`."""
        scaled = [item._replace(known=item.scaled) for item in self.items]
        return {item.variable: item.likelihood for item in scaled}

    @property
    def log_scale(self) -> float:
        """What `findings` and `likelihoods` lack of the items' own scale, in nats."""
        return sum(item.exponent for item in self.items) * math.log(2.0)

    @property
    def hard(self) -> dict[int, int]:
        """The state of each variable of which only one state is left."""
        states = {item.variable: item.state for item in self.items}
        return {v: state for v, state in states.items() if state is not None}

    def only(self, items: Iterable[EvidenceItem]) -> Evidence:
        """Evidence of some items."""
        return Evidence(self.domain, tuple(items))

    def impossible(
        self, log_probability: Callable[[Evidence], float]
    ) -> ImpossibleEvidenceError:
        """The error that names items which cannot be together, none of them idle.

        Items are left out one after another, the last first, as long as the rest stays
        impossible; what remains is possible without any one of its items.
        `log_probability` is ln P, minus infinity if impossible.
        """
        kept = list(self.items)
        for item in reversed(self.items):
            rest = [other for other in kept if other is not item]
            if np.isneginf(log_probability(self.only(rest))):
                kept = rest
        texts = [item.text for item in kept]
        names = tuple(self.domain[item.variable].name for item in kept)
        if len(texts) == 1:
            sentence = f"{texts[0]} has probability 0 under this network"
        else:
            joined = f"{', '.join(texts[:-1])} and {texts[-1]}"
            sentence = f"{joined} cannot be together under this network"
        return ImpossibleEvidenceError(sentence, names)


def as_mapping(given: Any) -> Any:
    """A row of a frame of pandas, by its columns, as a mapping; all else as it is."""
    is_row = getattr(given, "ndim", None) == 1 and hasattr(given, "to_dict")
    return given.to_dict() if is_row else given


def read_evidence(domain: Domain, evidence: EventLike | None) -> Evidence:
    """Read what is known by name; None and NaN are nothing unless missing is a state.

    A state; a list, set or tuple of states of which one holds (numbers not as a tuple,
    which could mean bounds); bounds, with a warning where they cut an interval; `Not`;
    likelihoods on any scale by state or in the order of states; a number for cut
    points; `Probabilities`; or a node of the value hierarchy. ValueError if a name does
    not exist or comes twice, no state is left, or a likelihood is negative, infinite or
    of the wrong length; TypeError without a
    mapping.
    """
    if evidence is None:
        return Evidence(domain, ())
    evidence = as_mapping(evidence)
    if not isinstance(evidence, Mapping):
        raise TypeError(
            "evidence must be a mapping from names of variables to what is known of "
            f"them, got {type(evidence).__name__}"
        )
    items: dict[int, EvidenceItem] = {}
    for name, value in evidence.items():
        position = find_variable(domain, name)
        variable = domain[position]
        if position in items:
            raise ValueError(
                f"the evidence names variable {quoted(variable.name)} twice"
            )
        # What most evidence is, hundreds of items at a time.
        is_plain = isinstance(value, _PLAIN)
        state = variable.state_index.get(value) if is_plain else None
        if state is not None:
            items[position] = EvidenceItem(position, variable, state)
            continue
        if isinstance(value, Probabilities):
            items[position] = _distribution(StateReader(variable), position, value)
            continue
        likelihood, text = _read_value(StateReader(variable), value)
        items[position] = EvidenceItem(position, variable, state_or(likelihood), text)
    ordered = [items[position] for position in sorted(items)]
    return Evidence(domain, tuple(item for item in ordered if item.is_informative))


def state_or(likelihood: Likelihood) -> int | Likelihood:
    """The state that a likelihood leaves with weight 1, or the likelihood itself."""
    left = np.flatnonzero(likelihood)
    if len(left) == 1 and likelihood[left[0]] == 1.0:
        return int(left[0])
    return likelihood


def _read_value(reader: StateReader, value: Any) -> tuple[Likelihood, str]:
    """Likelihood of each state that a value means, and its text."""
    variable = reader.variable
    if isinstance(value, Mapping):
        return _checked(variable, _from_mapping(reader, value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub" and value.ndim:
        if value.shape != (variable.n_states,):
            raise ValueError(
                f"the likelihood array for variable {quoted(variable.name)} has shape "
                f"{value.shape}; give one number for each of its {variable.n_states} "
                "states"
            )
        return _checked(variable, value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Range):
        within = range_codes(variable, value)
        warn_of_cut_intervals(variable, value, within)
        likelihood = indicator(variable.n_states, list(within))
        return likelihood, range_text(variable, value, within)
    if is_tuple_of_numbers(value) and reader.codes(value) is None:
        bounds = f"Between{value!r}" if len(value) == 2 else "Between(low, high)"
        raise ValueError(
            f"the evidence on variable {quoted(variable.name)} is {value!r}, which "
            f"could mean a range or single values; give {bounds}, or a list of values "
            "of which one holds"
        )
    is_collection = isinstance(value, Not | set | frozenset | list | tuple)
    nothing_known = not is_collection and is_missing_cell(value)
    if nothing_known and not (value is None and variable.has_missing_state):
        return np.ones(variable.n_states), f"{variable.name} unknown"
    negated = isinstance(value, Not)
    states: Sequence[Any] = (value,)
    if isinstance(value, Not):
        states = value.states
    elif is_collection and reader.codes(value) is None:
        states = tuple(value)
    likelihood = np.full(variable.n_states, float(negated))
    for state in states:
        codes = reader.codes(state)
        if codes is None:
            raise reader.unknown(state)
        likelihood[list(codes)] = float(not negated)
    if not likelihood.any():
        raise ValueError(
            f"the evidence on variable {quoted(variable.name)} leaves no state; "
            "leave at least one possible"
        )
    return likelihood, _text_of(reader, states, likelihood, negated)


def _distribution(
    reader: StateReader, position: int, value: Probabilities
) -> EvidenceItem:
    """The item of probabilities; ValueError unless every state has one, with sum 1."""
    variable, given = reader.variable, value.by_state
    if isinstance(given, Mapping):
        given = _from_mapping(reader, given)
    if len(given) != variable.n_states:
        raise ValueError(
            f"the probabilities of variable {quoted(variable.name)} must be "
            f"{variable.n_states} numbers, one for each state, got {len(given)}"
        )
    weights, _ = _checked(variable, given)
    if abs(float(weights.sum()) - 1.0) > 1e-6:
        raise ValueError(
            f"the probabilities of variable {quoted(variable.name)} must sum to 1, got "
            f"{format_number(float(weights.sum()))}; weights of another sum are "
            "likelihoods, given as a mapping or an array"
        )
    shown = [
        f"P({variable.name} = {variable.label(code)}) = {format_number(float(weight))}"
        for code, weight in enumerate(weights)
    ]
    weights = weights / weights.sum()
    return EvidenceItem(position, variable, weights, name_list(shown), True)


def _from_mapping(reader: StateReader, value: Mapping[Any, Any]) -> list[Any]:
    """Likelihoods of a mapping, in the order of the states."""
    variable = reader.variable
    likelihood: list[Any] = [None] * variable.n_states
    for state, weight in value.items():
        code = reader.code(state)
        if code is None:
            raise reader.unknown(state)
        if likelihood[code] is not None:
            raise ValueError(
                f"the evidence on variable {quoted(variable.name)} weighs state "
                f"{variable.label(code)} twice"
            )
        likelihood[code] = weight
    absent = [
        variable.label(code) for code, weight in enumerate(likelihood) if weight is None
    ]
    if absent:
        raise ValueError(
            f"the evidence on variable {quoted(variable.name)} gives no likelihood for "
            f"{name_list(absent)}; give one for every state, 0 to rule it out"
        )
    return likelihood


def _checked(variable: Variable, weights: Any) -> tuple[Likelihood, str]:
    """A likelihood that can be used, and its text."""
    try:
        likelihood = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"the likelihoods for variable {quoted(variable.name)} must be numbers, "
            f"got {quoted(list(weights))}"
        ) from error
    usable = np.isfinite(likelihood).all() and (likelihood >= 0).all()
    if not (usable and likelihood.any()):
        raise ValueError(
            f"the likelihoods for variable {quoted(variable.name)} must be finite and "
            f"not negative, at least one above 0; got {likelihood.tolist()}"
        )
    shown = [
        f"{variable.label(code)} {format_number(weight)}"
        for code, weight in enumerate(likelihood)
    ]
    return likelihood, f"{variable.name} weighted ({name_list(shown)})"


def _text_of(
    reader: StateReader, states: Sequence[Any], likelihood: Likelihood, negated: bool
) -> str:
    """How a reader sees one state, several, or those that are ruled out."""
    variable = reader.variable
    places: dict[str, int] = {}
    for state in states:
        code = reader.code(state)
        label = str(state) if code is None else variable.label(code)
        places[label] = min(reader.codes(state) or (0,))
    # A set has no order of its own, and a sentence should not change between runs.
    shown = sorted(places, key=lambda label: places[label])
    if negated:
        return f"{variable.name} not {' or '.join(shown)}"
    if len(shown) == 1:
        return stated(variable.name, shown[0])
    if len(shown) <= 8:
        return f"{variable.name} = {' or '.join(shown)}"
    return f"{variable.name} in {int(likelihood.sum())} of {variable.n_states} states"


def range_codes(variable: Variable, bounds: Range) -> tuple[int, ...]:
    """Codes of the states that contain a value within bounds.

    ValueError if the variable has no order, a bound is not a number (a category, where
    these are ordered), or no state contains a value within.
    """
    low, high = (_place(variable, bound) for bound in (bounds.low, bounds.high))
    if low != high and variable.categories is None:
        # A cut point of 1.7000000000000002 is shown, and written, as 1.7.
        texts: Iterable[float | None] = map(float, variable.bounds)
        cut_of = dict(zip(texts, variable.cut_points, strict=True))
        low, high = (cut_of.get(bound, bound) for bound in (low, high))
    lowest = -np.inf if low is None else low
    highest = np.inf if high is None else high
    if lowest > highest:
        raise ValueError(
            f"the bounds on variable {quoted(variable.name)} stand the wrong way "
            f"round: {bounds!r}; give the lower one first"
        )
    found = [
        code
        for code, (first, last, first_open) in enumerate(_extents(variable))
        if _meet(first, last, first_open, lowest, highest, bounds)
    ]
    if not found:
        raise ValueError(
            f"no state of variable {quoted(variable.name)} holds a value with "
            f"{bounds.text(str(variable.name))}; give wider bounds"
        )
    return tuple(found)


def range_text(variable: Variable, bounds: Range, codes: tuple[int, ...]) -> str:
    """The bounds for a reader, with the cut points that stand in for them."""
    text = bounds.text(str(variable.name))
    if variable.kind != "numeric" or variable.categories is not None:
        return text
    if not cuts_an_interval(variable, bounds):
        return text
    ends = (-np.inf, *variable.cut_points, np.inf)
    low, high = ends[codes[0]], ends[codes[-1] + 1]
    stands = Range(
        None if np.isinf(low) else low, None if np.isinf(high) else high, open_low=True
    )
    whole = np.isinf(low) and np.isinf(high)
    return (
        f"{text} (taken as {'any value' if whole else stands.text(str(variable.name))})"
    )


def warn_of_cut_intervals(
    variable: Variable, bounds: Range, codes: tuple[int, ...]
) -> None:
    """Warn where a bound lies inside an interval, which counts as a whole."""
    if not cuts_an_interval(variable, bounds):
        return
    taken = range_text(variable, bounds, codes)
    if variable.categories is not None:
        states = [variable.label(code) for code in codes]
        taken = f"{taken} (taken as {' or '.join(states)})"
    warnings.warn(
        f"{taken}: intervals count as a whole; the cut points of variable "
        f"{quoted(variable.name)} are {name_list(variable.bounds, limit=12)}",
        stacklevel=2,
    )


def cuts_an_interval(variable: Variable, bounds: Range) -> bool:
    """Whether a state contains values within bounds and others that are not.

    Errors as `range_codes`.
    """
    within = set(range_codes(variable, bounds))
    beyond = []
    if bounds.low is not None:
        beyond.append(Range(None, bounds.low, open_high=not bounds.open_low))
    if bounds.high is not None:
        beyond.append(Range(bounds.high, None, open_low=not bounds.open_high))
    for side in beyond:
        try:
            outside = range_codes(variable, side)
        except ValueError:
            # No state holds a value there.
            continue
        if within.intersection(outside):
            return True
    return False


def parsed_range(text: str) -> Range | None:
    """The bounds that a text such as 30..50 gives; None if it has no such form."""
    found = _RANGE.fullmatch(text.strip())
    return None if found is None else Between(float(found[1]), float(found[2]))


def is_tuple_of_numbers(value: Any) -> bool:
    """Whether a value is a tuple of numbers, which could mean bounds."""
    return (
        isinstance(value, tuple)
        and bool(value)
        and all(
            isinstance(part, int | float | np.number) and not isinstance(part, bool)
            for part in value
        )
    )


def _meet(
    first: float, last: float, first_open: bool, low: float, high: float, bounds: Range
) -> bool:
    """Whether values from first to last and values within bounds have one in common."""
    above = last > low if bounds.open_low and np.isfinite(low) else last >= low
    left_out = first_open or (bounds.open_high and np.isfinite(high))
    below = first < high if left_out else first <= high
    return bool(above and below)


def _extents(variable: Variable) -> list[tuple[float, float, bool]]:
    """Least and greatest value of each state, and whether the least is left out."""
    if variable.kind == "numeric":
        ends = itertools.pairwise([-np.inf, *variable.cut_points, np.inf])
        if variable.categories is None:
            if variable.numbers is not None and variable.numbers.are_whole:
                # Between integers there is nothing to be within bounds.
                return [
                    (np.floor(low) + 1, np.floor(high), False) for low, high in ends
                ]
            return [(low, high, True) for low, high in ends]
        last_rank = len(variable.categories) - 1
        return [
            (np.ceil(max(low, 0.0)), np.floor(min(high, last_rank)), False)
            for low, high in ends
        ]
    states: list[Any] = list(variable.known_states)
    numbers = [
        s for s in states if isinstance(s, int | float) and not isinstance(s, bool)
    ]
    if not numbers or len(numbers) < len(states) - (variable.other_state is not None):
        raise ValueError(
            f"the states of variable {quoted(variable.name)} have no order; name one, "
            "or several as a set"
        )
    return [
        (float(s), float(s), False) if s in numbers else (np.inf, -np.inf, False)
        for s in states
    ]


def _place(variable: Variable, bound: Any) -> float | None:
    """A bound as a number: a category's rank, where categories are ordered."""
    if bound is None:
        return None
    if variable.categories is not None:
        spelled = {str(known): i for i, known in enumerate(variable.categories)}
        if str(bound) in spelled:
            return float(spelled[str(bound)])
        wanted = f"one of its categories {', '.join(spelled)}"
    else:
        is_number = isinstance(bound, int | float | np.number) and bound == bound
        if is_number and not isinstance(bound, bool):
            return float(bound)
        wanted = "a number"
    raise ValueError(
        f"a bound on variable {quoted(variable.name)} must be {wanted}, got "
        f"{quoted(bound)}"
    )


def _sign(is_open: bool) -> str:
    """Between a bound and what lies within it."""
    return "<" if is_open else "<="


def _shown(bound: Any) -> str:
    """A bound as a reader sees it."""
    return format_number(bound) if isinstance(bound, float) else str(bound)
