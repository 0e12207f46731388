"""What the columns of a table mean: variables, their states, and cut points."""

from __future__ import annotations

import itertools
import math
import numbers
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.interval_numbers import IntervalNumbers
from bayleaf.data.value_hierarchy import ValueHierarchy, check_covers
from bayleaf.results.result import Shown
from bayleaf.typing import Name
from bayleaf.wording import (
    brief,
    brief_names,
    counted,
    format_number,
    name_list,
    quoted,
    shown_name,
)

# Codes have two bytes, and one more state stands for missing cells.
MAX_STATES = 65_535
Kind = Literal["nominal", "numeric"]


@dataclass(frozen=True)
class Variable(Shown):
    """A column with finitely many states.

    Parameters
    ----------
    name : str or int
        The column's name in the table.
    states : tuple of hashable
        The values of a nominal variable, in order, or the interval labels of a
        discretised numeric one. ``None`` as the last state stands for "missing"
        where missing cells count as a state of their own.
    kind : {"nominal", "numeric"}
        Whether states are values or intervals between cut points.
    cut_points : tuple of float, default=()
        Increasing thresholds of a numeric variable; state ``i`` holds the values
        ``cut_points[i-1] < value <= cut_points[i]``.
    hierarchy : ValueHierarchy, optional
        A tree whose leaves are the states, a missing state left out or not.
    categories : tuple of hashable, optional
        Of ordered categories, which are numeric: cut points lie between their ranks,
        and state ``i`` holds the categories of ranks up to ``cut_points[i]``.
    other_state : str, optional
        The state that all values without one of their own share.
    numbers : IntervalNumbers, optional
        Of a variable cut into intervals: the training numbers in each.
    meanings : tuple of str, optional
        A text per state: when it holds, as of latent variables.

    Raises
    ------
    ValueError
        If a state occurs twice, cut points do not increase, their number does not
        fit the number of states, these are more than codes can tell apart, or the
        hierarchy has other leaves than the states.
    """

    name: str | int
    states: tuple[Hashable, ...]
    kind: Kind = "nominal"
    cut_points: tuple[float, ...] = ()
    hierarchy: ValueHierarchy | None = None
    categories: tuple[Hashable, ...] | None = None
    other_state: str | None = None
    numbers: IntervalNumbers | None = field(default=None, compare=False, repr=False)
    meanings: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def cut_array(self) -> NDArray[np.float64]:
        """The cut points of a numeric variable as an array."""
        return np.array(self.cut_points, dtype=np.float64)

    @classmethod
    def nominal(cls, name: Name, states: Iterable[Hashable]) -> Variable:
        """Make a variable whose states are named.

        Parameters
        ----------
        name : str or int
            What it is called.
        states : iterable of hashable
            Text or numbers, in order; None as the last one stands for missing cells.

        Raises
        ------
        ValueError
            If there is no state, or one is NaN, occurs twice or cannot be hashed.
        TypeError
            If the name is neither text nor an integer, or the states are no list.

        Examples
        --------
        >>> Variable.nominal("smoker", ["no", "yes"])
        <Variable: smoker; nominal; 2 states (no, yes)>
        """
        plain = _checked_name(name)
        if isinstance(states, Mapping) or not isinstance(states, Iterable):
            raise TypeError(
                f"the states of variable {quoted(plain)} must be a list, got "
                f"{type(states).__name__}"
            )
        listed = tuple(s.item() if isinstance(s, np.generic) else s for s in states)
        if not listed:
            raise ValueError(
                f"variable {quoted(plain)} has no states; give it at least one"
            )
        for state in listed:
            if not isinstance(state, Hashable) or state != state:
                raise ValueError(
                    f"variable {quoted(plain)} cannot have the state {quoted(state)}; "
                    "use text or numbers other than NaN"
                )
        if None in listed[:-1]:
            raise ValueError(
                f"variable {quoted(plain)} has None before its last state; None stands "
                "for missing cells, so put it last"
            )
        return cls(plain, listed)

    @classmethod
    def numeric(
        cls,
        name: Name,
        cuts: Iterable[float],
        *,
        low: float | None = None,
        high: float | None = None,
        integers: bool = False,
    ) -> Variable:
        """Make a variable of numbers that are cut into intervals.

        Parameters
        ----------
        name : str or int
            What it is called.
        cuts : iterable of float
            Increasing; each interval holds its upper cut point.
        low, high : float, optional
            Least and greatest number there is. Within intervals numbers are then
            taken to be spread evenly, which means, quantiles and drawn numbers need.
        integers : bool, default=False
            Whether all numbers are whole ones, such as a count or an age in years.

        Raises
        ------
        ValueError
            If cut points do not increase, or do not lie between the bounds; or if one
            bound is given without the other.
        TypeError
            If a cut point or bound is no number.

        Examples
        --------
        >>> Variable.numeric("age", cuts=[30, 50], low=0, high=100)
        <Variable: age; numeric; 3 states (<= 30, (30, 50], > 50)>
        """
        plain = _checked_name(name)
        if isinstance(cuts, str) or not isinstance(cuts, Iterable):
            raise TypeError(
                f"the cut points of variable {quoted(plain)} must be a list of "
                f"numbers, got {quoted(cuts)}"
            )
        variable = numeric_variable(plain, [_number(plain, cut) for cut in cuts])
        if low is None and high is None:
            return variable
        if low is None or high is None:
            raise ValueError(
                f"variable {quoted(plain)} has one bound; give both low= and high=, or "
                "none of them"
            )
        ends = (_number(plain, low), *variable.cut_points, _number(plain, high))
        if any(b <= a for a, b in itertools.pairwise(ends)):
            raise ValueError(
                f"the cut points of variable {quoted(plain)} must lie between low="
                f"{format_number(ends[0])} and high={format_number(ends[-1])}"
            )
        spread = IntervalNumbers.spread_evenly(ends, integers=integers)
        return replace(variable, numbers=spread)

    def __post_init__(self) -> None:
        if len(set(self.states)) != len(self.states):
            raise ValueError(f"variable {quoted(self.name)} lists a state twice")
        if len(self.states) > MAX_STATES:
            raise ValueError(
                f"variable {quoted(self.name)} has too many states: {len(self.states)}"
            )
        if self.meanings is not None and len(self.meanings) != self.n_states:
            raise ValueError(
                f"variable {quoted(self.name)} has {self.n_states} states, but "
                f"meanings of {len(self.meanings)}"
            )
        if self.hierarchy is not None:
            check_covers(self.hierarchy, self.name, self.states)
        if self.kind == "numeric":
            if any(b <= a for a, b in itertools.pairwise(self.cut_points)):
                raise ValueError(
                    f"the cut points of variable {quoted(self.name)} must increase"
                )
            if self.n_known_states != len(self.cut_points) + 1:
                raise ValueError(
                    f"variable {quoted(self.name)} has {len(self.cut_points)} cut "
                    f"points but {len(self.states)} states; it needs one state more "
                    "than cuts"
                )
        elif self.categories is not None:
            raise ValueError(
                f"variable {quoted(self.name)} has categories in order, but is nominal"
            )
        elif self.kind != "nominal":
            raise ValueError(
                f"kind of variable {quoted(self.name)} must be 'nominal' or 'numeric', "
                f"got {quoted(self.kind)}"
            )

    def check_content(self) -> None:
        """Raise TypeError if a state is neither text nor number, as files ask."""
        if self.other_state is not None and self.other_state not in self.states:
            raise ValueError(
                f"variable {quoted(self.name)} lacks the state of all other values"
            )
        n_numbers = self.n_known_states * (self.kind == "numeric")
        if self.numbers is not None and len(self.numbers.means) != n_numbers:
            raise ValueError(
                f"variable {quoted(self.name)} should know numbers of {n_numbers} "
                "intervals"
            )
        if self.categories is not None and (
            len(set(self.categories)) != len(self.categories)
        ):
            raise ValueError(f"variable {quoted(self.name)} lists a category twice")
        nodes = () if self.hierarchy is None else self.hierarchy.nodes
        for state in (*self.states, *nodes):
            if not isinstance(state, str | int | float | np.generic | None):
                raise TypeError(
                    f"state {quoted(state)} of variable {quoted(self.name)} has no "
                    "place in a model file; use text or numbers"
                )

    @cached_property
    def n_states(self) -> int:
        """Number of states, a missing state included."""
        return len(self.states)

    @property
    def has_missing_state(self) -> bool:
        """Whether the last state stands for missing cells."""
        return bool(self.states) and self.states[-1] is None

    def __getstate__(self) -> dict[str, Any]:
        # Mappings are made again: safe forms of pickles keep no states as keys.
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @cached_property
    def n_known_states(self) -> int:
        """Number of states without a missing state; also the code of a missing cell."""
        return self.n_states - self.has_missing_state

    @property
    def known_states(self) -> tuple[Hashable, ...]:
        """The states without a missing state."""
        return self.states[: self.n_known_states]

    @cached_property
    def state_index(self) -> dict[Hashable, int]:
        """Code of each state."""
        return {state: code for code, state in enumerate(self.states)}

    @property
    def bounds(self) -> list[str]:
        """Texts of what lies between the states: cut points, or last categories."""
        if self.categories is None:
            return _cut_texts(self.cut_points)
        return [str(self.categories[int(cut)]) for cut in self.cut_points]

    def state_of_category(self, value: Hashable) -> int | None:
        """Code of the interval of an ordered category; None for any other value."""
        if self.categories is None or value not in self.categories:
            return None
        return bisect_left(self.cut_points, self.categories.index(value))

    def label(self, code: int) -> str:
        """Name the state with this code for a reader; the reserved code is missing."""
        if code >= self.n_states or self.states[code] is None:
            return "missing"
        state = self.states[code]
        return format_number(state) if isinstance(state, float) else str(state)

    def __repr__(self) -> str:
        labels = [self.label(code) for code in range(self.n_states)]
        states = f"{counted(self.n_states, 'state')} ({brief_names(labels)})"
        return brief(self, shown_name(self.name), self.kind, states)


def _checked_name(name: Any) -> str | int:
    """The name of a variable that a person gave, as a plain one."""
    plain = name.item() if isinstance(name, np.generic) else name
    if isinstance(plain, bool) or not isinstance(plain, str | int):
        raise TypeError(
            f"a variable's name must be text or an integer, got {quoted(name)}"
        )
    return plain


def _number(name: str | int, value: Any) -> float:
    """A cut point or bound that a person gave, as a float."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):
        raise TypeError(
            f"the cut points and bounds of variable {quoted(name)} must be finite "
            f"numbers, got {quoted(value)}"
        )
    return float(value)


def numeric_variable(
    name: str | int, cut_points: Sequence[float], *, missing_state: bool = False
) -> Variable:
    """Build a numeric variable whose states are named after its intervals."""
    cuts = tuple(float(cut) for cut in cut_points)
    states: tuple[Hashable, ...] = interval_labels(cuts)
    return Variable(name, (*states, None) if missing_state else states, "numeric", cuts)


def ordered_variable(
    name: str | int,
    categories: Sequence[Hashable],
    cut_points: Sequence[float],
    *,
    missing_state: bool = False,
) -> Variable:
    """Build a variable of ordered categories, cut between their ranks (0, 1, ...).

    The state of a single category has its name.
    """
    cuts = tuple(sorted({math.floor(cut) + 0.5 for cut in cut_points}))
    states: list[Hashable] = list(interval_labels(()))
    if cuts:
        states = list(_labels_between([str(categories[int(cut)]) for cut in cuts]))
        ends = [0, *(int(cut) + 1 for cut in cuts), len(categories)]
        for state, (first, end) in enumerate(itertools.pairwise(ends)):
            if end == first + 1:
                states[state] = str(categories[first])
    return Variable(
        name,
        (*states, None) if missing_state else tuple(states),
        "numeric",
        cuts,
        categories=tuple(categories),
    )


@dataclass(frozen=True)
class Domain(Shown):
    """An ordered set of variables; ValueError if two of them share a name."""

    variables: tuple[Variable, ...]  # in the order of the codes' rows
    _index: dict[str | int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        index = {variable.name: i for i, variable in enumerate(self.variables)}
        if len(index) != len(self.variables):
            names = [variable.name for variable in self.variables]
            twice = sorted({str(name) for name in names if names.count(name) > 1})
            raise ValueError(f"two variables are called {name_list(twice)}")
        object.__setattr__(self, "_index", index)

    def __len__(self) -> int:
        return len(self.variables)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)

    def __getitem__(self, index: int) -> Variable:
        return self.variables[index]

    def index(self, name: str | int) -> int:
        """Position of the variable with this name; KeyError lists the names."""
        try:
            return self._index[name]
        except KeyError:
            known = name_list([str(variable.name) for variable in self.variables])
            raise KeyError(
                f"there is no variable {quoted(name)}; the variables are {known}"
            ) from None

    @property
    def names(self) -> tuple[str | int, ...]:
        """Names of all variables, in order."""
        return tuple(variable.name for variable in self.variables)

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable, in order."""
        return tuple(variable.n_states for variable in self.variables)

    def __repr__(self) -> str:
        n_variables = counted(len(self), "variable")
        return brief(self, f"{n_variables} ({brief_names(self.names)})")


def masked_domain(domain: Domain, rare: Sequence[NDArray[np.bool_]]) -> Domain:
    """A domain in which the states of few rows have no names.

    `rare` has a mask (>= n_states,) per variable.
    """
    pairs = zip(domain, rare, strict=True)
    return Domain(tuple(_masked(v, own[: v.n_states]) for v, own in pairs))


def _masked(variable: Variable, rare: NDArray[np.bool_]) -> Variable:
    """A variable whose rare states are numbered instead of named."""
    if not rare.any():
        return replace(variable, numbers=None)
    numbers = np.cumsum(rare)
    taken = {str(state) for state in variable.states}
    states: list[Any] = []
    for code, state in enumerate(variable.states):
        name = f"rare value {numbers[code]}" if rare[code] else state
        while rare[code] and name in taken:
            name = f"{name}'"
        states.append(name)
    return Variable(variable.name, tuple(states))


def interval_labels(cut_points: Sequence[float]) -> tuple[str, ...]:
    """Name the intervals between increasing cut points, closed on the right."""
    return _labels_between(_cut_texts(cut_points)) if cut_points else ("any value",)


def _cut_texts(cut_points: Sequence[float]) -> list[str]:
    """Cut points as texts that differ."""
    texts = [format_number(cut) for cut in cut_points]
    if len(set(texts)) < len(texts):
        texts = [repr(float(cut)) for cut in cut_points]
    return texts


def _labels_between(bounds: Sequence[str]) -> tuple[str, ...]:
    """Names of the intervals between some bounds, at least one."""
    inner = [f"({low}, {high}]" for low, high in itertools.pairwise(bounds)]
    return (f"<= {bounds[0]}", *inner, f"> {bounds[-1]}")
