"""Which variable and which state a name, a number or a text means."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain, Variable
from bayleaf.wording import format_number, name_list, near_names, quoted

# From here on not every integer is a float.
_EXACT = 1 << 53


def find_variable(domain: Domain, name: Any) -> int:
    """Position of the variable that a name means; ValueError offers near names.

    A name that no variable has, such as the text ``"3"`` from a command line, finds the
    variable whose name is written like it.
    """
    try:
        return domain.index(name)
    except (KeyError, TypeError):
        pass
    written = [str(known) for known in domain.names]
    if str(name) in written:
        return written.index(str(name))
    raise ValueError(
        f"there is no variable {quoted(name)}; {near_names(str(name), written)}"
    )


def find_variables(domain: Domain, names: Any) -> list[int]:
    """Positions of the variables that one name or several mean, each once."""
    if isinstance(names, str | int):
        names = [names]
    if not isinstance(names, Iterable):
        raise TypeError(
            f"variables must be a name or several names, got {type(names).__name__}"
        )
    return list(dict.fromkeys(find_variable(domain, name) for name in names))


def position_of(names: Sequence[str | int], name: str | int, role: str) -> int:
    """Index of a variable; ValueError names near ones."""
    try:
        return names.index(name)
    except ValueError:
        near = near_names(str(name), map(str, names))
        raise ValueError(
            f"{role} {quoted(name)}, but there is no such variable; {near}"
        ) from None


def find_feature(domain: Domain, name: str | int) -> int:
    """Position of a feature, the class being last; ValueError lists the features."""
    names = domain.names[:-1]
    if name not in names:
        raise ValueError(
            f"there is no feature {quoted(name)}; the features are {name_list(names)}"
        )
    return names.index(name)


class StateReader:
    """Finds the states of one variable by value, by text, and by cut points."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable

    @cached_property
    def _by_text(self) -> dict[str, int]:
        """Code of each state by its label and by its text."""
        codes: dict[str, int] = {}
        for code, state in enumerate(self.variable.states):
            codes.setdefault(self.variable.label(code), code)
            codes.setdefault(str(state), code)
            if isinstance(state, bool):
                codes.setdefault(str(state).lower(), code)
                codes.setdefault(str(state).upper(), code)
        # Files of some tools pad states with blanks.
        bare = [str(state).strip() for state in self.variable.states]
        for code, text in enumerate(bare):
            if bare.count(text) == 1:
                codes.setdefault(text, code)
        return codes

    @cached_property
    def _by_number(self) -> dict[float, int]:
        """Code of each state that is a number."""
        return {
            float(state): code
            for code, state in enumerate(self.variable.states)
            if isinstance(state, int | float)
            and not isinstance(state, bool)
            and abs(state) < _EXACT
        }

    def code(self, value: Any) -> int | None:
        """Code of the state that a value means, None if it means no single state.

        A state itself goes before its text, and both before the interval into which
        a number falls.
        """
        try:
            exact = self.variable.state_index.get(value)
        except TypeError:
            exact = None
        if exact is not None:
            return exact
        for text in _texts(value):
            if text in self._by_text:
                return self._by_text[text]
        if self.variable.categories is not None:
            spelled = {str(known): known for known in self.variable.categories}
            return self.variable.state_of_category(spelled.get(str(value), value))
        number = _as_number(value)
        if number is None or self.variable.kind != "numeric":
            return None if number is None else self._by_number.get(number)
        return int(np.searchsorted(np.array(self.variable.cut_points), number))

    def codes(self, value: Any) -> tuple[int, ...] | None:
        """Codes of a state, or of all states under a node of the value hierarchy."""
        single = self.code(value)
        if single is not None:
            return (single,)
        hierarchy = self.variable.hierarchy
        if hierarchy is None:
            return None
        for node in hierarchy.nodes:
            if node == value or str(node) == str(value):
                index = self.variable.state_index
                return tuple(index[state] for state in hierarchy.states_under(node))
        return None

    def unknown(self, value: Any) -> ValueError:
        """The error for a value that is no state, with what there is instead."""
        name, labels = self.variable.name, self.labels()
        if group := self.codes(value):
            return ValueError(
                f"variable {quoted(name)} needs a single state, but {quoted(value)} is "
                f"a group of its hierarchy; name one of its states "
                f"{name_list([labels[code] for code in group])}"
            )
        if self.variable.categories is not None:
            known = f"its categories are {name_list(self.variable.categories)}"
        elif self.variable.kind == "numeric":
            known = f"give a number or one of the intervals {name_list(labels)}"
        elif len(labels) > 8:
            known = f"it has {len(labels)} states; {near_names(str(value), labels)}"
        else:
            known = f"its states are {name_list(labels)}"
        return ValueError(
            f"variable {quoted(name)} has no state {quoted(value)}; {known}"
        )

    def labels(self) -> list[str]:
        """The states as a reader sees them, in order."""
        return [self.variable.label(code) for code in range(self.variable.n_states)]


def known_state(variable: Variable, value: Any) -> int:
    """Code of the one state that a value means; ValueError if there is none."""
    reader = StateReader(variable)
    code = reader.code(value)
    if code is None:
        raise reader.unknown(value)
    return code


def known_states(variable: Variable, value: Any) -> tuple[int, ...]:
    """Codes of a state, or of all under a node; ValueError if there is none."""
    reader = StateReader(variable)
    codes = reader.codes(value)
    if codes is None:
        raise reader.unknown(value)
    return codes


def indicator(n_states: int, codes: int | Sequence[int]) -> NDArray[np.float64]:
    """One at some states and zero at all others, shape (n_states,)."""
    found = np.zeros(n_states)
    found[codes] = 1.0
    return found


def check_integer(what: str, value: Any, lowest: int = 1) -> None:
    """Raise ValueError unless a value is an integer of at least `lowest`."""
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_integer or value < lowest:
        raise ValueError(
            f"{what} must be an integer of at least {lowest}, got {quoted(value)}"
        )


def distinct_labels(variable: Variable) -> Sequence[str]:
    """Texts for all states, in order, no two alike."""
    labels = [variable.label(code) for code in range(variable.n_states)]
    if len(set(labels)) == len(labels):
        return labels
    return [repr(state) for state in variable.states]


def _texts(value: Hashable) -> list[str]:
    """How a value may be written as a state."""
    if isinstance(value, bool | np.bool_):
        text = str(value)
        return [text, text.lower(), text.upper()]
    if isinstance(value, float | np.floating):
        return [str(value), format_number(float(value))]
    if isinstance(value, str):
        return [value, value.strip()]
    return [str(value)] if isinstance(value, numbers.Number) else []


def _as_number(value: Any) -> float | None:
    """A number, or the number that a text holds; None for all else."""
    if isinstance(value, bool | np.bool_):
        return None
    if not isinstance(value, numbers.Real | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return None if np.isnan(number) else number
