"""Evidence, interventions and effects from the words of commands about networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayleaf.cli.options import unquoted
from bayleaf.inference.events.events import read_event
from bayleaf.inference.events.expressions import has_keywords
from bayleaf.inference.evidence import Not, Range, parsed_range
from bayleaf.inference.states import StateReader, find_variable
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.wording import quoted


def evidence_from(
    network: BayesianNetwork, given: Sequence[str], likelihood: Sequence[str] = ()
) -> dict[str | int, Any]:
    """Evidence from texts in the forms that ``bayleaf query --help`` lists.

    ValueError for other texts or a variable named twice.
    """
    evidence: dict[str | int, Any] = {}
    for text in given:
        name, value = _bounded(network, text) or _split(network, text, "--given")
        _add(evidence, name, _one_or_several(network, name, value))
    for text in likelihood:
        name, value = _split(network, text, "--likelihood")
        _add(evidence, name, _weights(_reader(network, name), text, value))
    return evidence


def conditions_from(
    network: BayesianNetwork, given: Sequence[str], likelihood: Sequence[str] = ()
) -> tuple[dict[str | int, Any], list[str]]:
    """Evidence from texts, and those of them that are expressions.

    ValueError if a text is neither, or a variable is named twice.
    """
    plain: list[str] = []
    expressions: list[str] = []
    for text in given:
        is_plain = _is_plain(network, text)
        (plain if is_plain else expressions).append(text)
    return evidence_from(network, plain, likelihood), expressions


def _is_plain(network: BayesianNetwork, text: str) -> bool:
    """Whether a text is one item of evidence, not an expression.

    An expression joins conditions by a keyword such as ``and`` or ``in``, or makes
    sense in no other way; a state that holds a keyword goes first.
    """
    joins = has_keywords(text)
    try:
        if joins:
            name, value = _split(network, text, "--given")
            reader = _reader(network, name)
            return reader.codes(_state(reader, value)) is not None
        (item,) = evidence_from(network, [text]).values()
        # Of expressions, several may rule out states of one variable.
        if not isinstance(item, Not):
            return True
    except ValueError:
        if joins:
            return False
    try:
        read_event(network.domain, text)
    except ValueError:
        # What is wrong is told in the words of plain evidence.
        return True
    return False


def interventions_from(
    network: BayesianNetwork, do: Sequence[str]
) -> dict[str | int, Any]:
    """Interventions from texts; ValueError for others or a variable named twice."""
    settings: dict[str | int, Any] = {}
    for text in do:
        name, value = _split(network, text, "--do")
        reader = _reader(network, name)
        state = _state(reader, value)
        is_state = reader.code(state) is not None or ":" not in value
        setting = state if is_state else _weights(reader, text, value, "--do")
        if name in settings:
            raise ValueError(f"--do sets {name} twice; set it once")
        settings[name] = setting
    return settings


def two_variables(network: BayesianNetwork, text: str) -> tuple[str | int, str | int]:
    """Two variables that a comma separates; their names may hold commas."""
    names = {str(name) for name in network.domain.names}
    places = [place for place, sign in enumerate(text) if sign == ","]
    pairs = [(text[:place].strip(), text[place + 1 :].strip()) for place in places]
    known = [pair for pair in pairs if names.issuperset(pair)]
    if not known and len(pairs) != 1:
        raise ValueError(
            f"--effect {quoted(text)} should have the form treatment,outcome"
        )
    first, second = (known or pairs)[0]
    treatment, outcome = (find_variable(network.domain, one) for one in (first, second))
    return network.domain.names[treatment], network.domain.names[outcome]


def _bounded(network: BayesianNetwork, text: str) -> tuple[str | int, Range] | None:
    """A variable and the bound that follows <, <=, > or >=; None for other texts."""
    names = {str(name): name for name in network.domain.names}
    for place, sign in enumerate(text):
        if sign not in "<>" or text[:place].strip() not in names:
            continue
        name = names[text[:place].strip()]
        is_open = not text.startswith("=", place + 1)
        bound: Any = text[place + 1 + (not is_open) :].strip()
        if network.domain[network.domain.index(name)].categories is None:
            try:
                bound = float(bound)
            except ValueError:
                raise ValueError(
                    f"--given {quoted(text)} should compare with a number"
                ) from None
        if sign == "<":
            return name, Range(None, bound, open_high=is_open)
        return name, Range(bound, None, open_low=is_open)
    return None


def _split(network: BayesianNetwork, text: str, option: str) -> tuple[str | int, str]:
    """A variable and what follows the equals sign; names may hold such signs."""
    names = {str(name): name for name in network.domain.names}
    places = [place for place, sign in enumerate(text) if sign == "="]
    if not places:
        raise ValueError(f"{option} {quoted(text)} should have the form name=state")
    for place in places:
        for written in (text[:place], text[:place].strip(), unquoted(text[:place])):
            if written in names:
                return names[written], text[place + 1 :]
        excluded = text[:place].removesuffix("!").strip()
        if text[:place].endswith("!") and excluded in names:
            return names[excluded], "!" + text[place + 1 :]
    position = find_variable(network.domain, text[: places[0]].strip())
    return network.domain.names[position], text[places[0] + 1 :]


def _state(reader: StateReader, text: str) -> str:
    """The text of a state, or of a node of the hierarchy, that a written text means.

    States with blanks at their ends are found without these as well; a text that means
    no state comes back without blanks.
    """
    for written in (text, text.strip(), unquoted(text)):
        if reader.codes(written) is not None:
            return written
    padded = [label for label in reader.labels() if label.strip() == text.strip()]
    return padded[0] if len(padded) == 1 else text.strip()


def _reader(network: BayesianNetwork, name: str | int) -> StateReader:
    """Reads states of a variable from texts."""
    return StateReader(network.domain[network.domain.index(name)])


def _add(evidence: dict[str | int, Any], name: str | int, value: Any) -> None:
    """Take an item in unless the variable has one already."""
    if name in evidence:
        raise ValueError(f"{name} is given twice; use name=a|b for one of several")
    evidence[name] = value


def _one_or_several(
    network: BayesianNetwork, name: str | int, value: str | Range
) -> Any:
    """A state, several of them, or all but one."""
    if isinstance(value, Range):
        return value
    reader = _reader(network, name)
    state = _state(reader, value)
    if reader.codes(state) is not None:
        return state
    bounds = parsed_range(value)
    if bounds is not None:
        return bounds
    parts = [_state(reader, part) for part in state.removeprefix("!").split("|")]
    if state.startswith("!"):
        return Not(*parts)
    return tuple(parts) if "|" in state else state


def _weights(
    reader: StateReader, text: str, value: str, option: str = "--likelihood"
) -> dict[str, float]:
    """Likelihoods, or probabilities, by state."""
    weights: dict[str, float] = {}
    for part in value.split(","):
        written, colon, number = part.rpartition(":")
        state = _state(reader, written)
        if state in weights:
            raise ValueError(f"{option} {quoted(text)} weighs state {state} twice")
        try:
            weights[state] = float(number)
        except ValueError:
            colon = ""
        if not colon:
            raise ValueError(
                f"{option} {quoted(text)} should have the form name=state:0.8,state:0.2"
            )
    return weights
