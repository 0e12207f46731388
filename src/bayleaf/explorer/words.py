"""Words of a page: labels, questions, units, costs and groups, which a file contains.

They are for the cockpit, the view of models with a target; what features are, and which
of them may be changed, is not in the data.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from bayleaf.data.domain import Domain, Variable
from bayleaf.models.page_model import CLASSIFIER, PageModel
from bayleaf.wording import near_names, quoted

Content = dict[str, Any]

_TEXTS = ("label", "short", "question", "help", "unit", "group")
_NUMBERS = ("cost", "tolerance")
_OF_FEATURE = (*_TEXTS, *_NUMBERS, "states")
_OF_NUMBERS = ("cases", "features")
_OF_CLASSES = (*_OF_NUMBERS, "outcome", "wanted", "phrases")
# States of a feature that the template lists.
_STATES_LISTED = 20
# Names of a class that mean nothing to a reader, as in `wording.js`.
_GENERIC = ("class", "target", "label", "outcome", "y")
# Classes that a title lists where the name of the target has no meaning.
_CLASSES_IN_TITLE = 3
# Words of names of features that no one can change.
_LASTING = re.compile(
    r"\b(age|sex|gender|race|racial|ethnic(ity)?|birth(day|date|place)?|dob|born"
    r"|nationality|native|origin|citizen(ship)?|religion|disability|disabled"
    # What describes a family is not for others to change either.
    r"|marital|married|civil status|relationship|spouse|pregnant|pregnancy"
    # German, French, Spanish, Italian, Portuguese.
    r"|alter|geschlecht|geburts\w*|staatsangehörigkeit|herkunft|familienstand"
    r"|sexe|naissance|nationalité|origine|état civil"
    r"|edad|sexo|género|raza|nacimiento|nacionalidad|estado civil"
    r"|età|sesso|nascita|nazionalità|stato civile"
    r"|idade|gênero|raça|nascimento|nacionalidade)\b"
)


def template_of(domain: Domain, *, has_classes: bool) -> Content:
    """What a file of words contains, with the words that a page has without one."""
    *features, target = domain.variables
    labels = _labels(target)
    template: Content = {"cases": "cases"}
    if has_classes:
        template["outcome"] = labels[min(1, len(labels) - 1)]
        template["wanted"] = None
        template["phrases"] = {label: _phrase(target, label) for label in labels}
    template["features"] = {
        str(feature.name): {
            "label": _plain(feature),
            "question": f"{_plain(feature)}?",
            "help": "",
            "unit": "",
            "group": "",
            "cost": 1,
        }
        | _states_listed(feature)
        for feature in features
    }
    if not has_classes:
        words_of_target = {"label": _plain(target), "unit": ""}
        template["features"][str(target.name)] = words_of_target
    return template


def title_of(variables: list[Content], explored: PageModel) -> str:
    """What a model predicts: its target's name, or classes where it has no meaning."""
    if not explored.has_target:
        # What learned from a table has the name of its class, unknown to readers.
        return explored.name if explored.encoder is None else "Bayesian network"
    target = variables[-1]
    name = str(target["name"]).replace("_", " ")
    if name.lower() not in _GENERIC or explored.task != CLASSIFIER:
        return name
    labels = target["states"]
    if len(labels) > _CLASSES_IN_TITLE:
        return f"{name}: {len(labels)} outcomes"
    return " or ".join(labels)


def add_words(
    content: Content, words: Any, domain: Domain, *, has_classes: bool
) -> None:
    """Add checked words to a page's content; ValueError for what has no meaning."""
    _check(words, Mapping, "the words of a page", "an object")
    known = _OF_CLASSES if has_classes else _OF_NUMBERS
    _check_keys(words, known, "the words of a page")
    target = domain.variables[-1]
    added: Content = {}
    if cases := _text(words.get("cases"), "'cases'"):
        added["cases"] = cases
    for key, what in {"outcome": "outcome", "wanted": "wanted class"}.items():
        if (label := words.get(key)) is None:
            continue
        labels = _labels(target)
        if str(label) not in labels:
            raise ValueError(
                f"the {what} {quoted(label)} is not a class of the model; "
                f"{near_names(str(label), labels)}"
            )
        added[key] = labels.index(str(label))
    if phrases := _by_state(words.get("phrases"), target, "'phrases'"):
        added["phrases"] = phrases
    content["words"] = added
    features = _object(words.get("features"), "'features'")
    variables = {str(v.name): v for v in domain.variables}
    _check_keys(features, variables, "'features'")
    for shown in content["variables"]:
        about = features.get(shown["name"])
        if about is not None:
            feature = _feature_words(about, variables[shown["name"]])
            # A page may have to hide the names of some states.
            states = feature.pop("states", {})
            if states := {s: states[s] for s in shown["states"] if s in states}:
                feature["states"] = states
            shown["words"] = feature


def add_changes(
    content: Content, immutable: Iterable[str] | None, actionable: Iterable[str] | None
) -> None:
    """Mark features that cannot be changed, and those that a person can change.

    Without either, names such as age and sex are taken to be those of the former.
    """
    features = {v["name"]: v for v in content["variables"] if v["role"] == "feature"}
    given = {"immutable": immutable, "actionable": actionable}
    for change, names in given.items():
        if isinstance(names, str):
            raise ValueError(f"{change} must be a list of names, got {quoted(names)}")
        for name in names or ():
            if name not in features:
                raise ValueError(
                    f"{change} names {quoted(name)}, which is not a feature of the "
                    f"model; {near_names(name, features)}"
                )
            if features[name].setdefault("change", change) != change:
                raise ValueError(
                    f"{quoted(name)} is named by both immutable and actionable; "
                    "name it once"
                )
    if immutable is None:
        for name, feature in features.items():
            if "change" not in feature and _is_lasting(name):
                feature["change"] = "immutable"


def _is_lasting(name: str) -> bool:
    """Whether a name is one of a feature that no one can change, such as age."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[\W\d_]+", " ", name)
    return _LASTING.search(words.lower()) is not None


def _feature_words(about: Any, variable: Variable) -> Content:
    """The words of one feature, without those that are empty."""
    name = quoted(str(variable.name))
    _check(about, Mapping, f"the words of {name}", "an object")
    _check_keys(about, _OF_FEATURE, f"the words of {name}")
    feature: Content = {}
    for key in _TEXTS:
        if text := _text(about.get(key), f"{key!r} of {name}"):
            feature[key] = text
    for key in _NUMBERS:
        if (number := about.get(key)) is not None:
            is_number = isinstance(number, int | float) and not isinstance(number, bool)
            if not is_number or not 0 < number <= sys.float_info.max:
                raise ValueError(
                    f"{key!r} of {name} must be a number above 0, got {quoted(number)}"
                )
            feature[key] = number
    if states := _by_state(about.get("states"), variable, f"'states' of {name}"):
        feature["states"] = states
    return feature


def _by_state(texts: Any, variable: Variable, what: str) -> dict[str, str]:
    """A text for states, by their labels, without those that are empty."""
    given = _object(texts, what)
    _check_keys(given, _labels(variable), what)
    checked = {label: _text(t, f"{label!r} of {what}") for label, t in given.items()}
    return {label: text for label, text in checked.items() if text}


def _check_keys(given: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    """ValueError if there is a key that has no meaning."""
    known = list(known)
    for key in given:
        if key not in known:
            raise ValueError(
                f"{what} have no key {quoted(key)}; {near_names(str(key), known)}"
            )


def _check(value: Any, kind: type, what: str, name: str) -> None:
    """ValueError unless a value is of a kind."""
    if not isinstance(value, kind):
        raise ValueError(f"{what} must be {name}, got {quoted(value)}")


def _text(value: Any, what: str) -> str:
    """A text, empty where there is none; ValueError for anything else."""
    text: str = "" if value is None else value
    _check(text, str, what, "a text")
    return text


def _object(value: Any, what: str) -> Mapping[str, Any]:
    """A mapping, empty where there is none; ValueError for anything else."""
    values: Mapping[str, Any] = {} if value is None else value
    _check(values, Mapping, what, "an object")
    return values


def _phrase(target: Variable, label: str) -> str:
    """What follows "of 100 cases" for a class, as on a page without words."""
    name = _plain(target)
    verb = "are" if name.lower() in _GENERIC else f"have {name}"
    return f"{verb} “{label}”"


def _plain(variable: Variable) -> str:
    """A name with blanks between its words."""
    return str(variable.name).replace("_", " ")


def _labels(variable: Variable) -> list[str]:
    """The labels of all states."""
    return [variable.label(code) for code in range(variable.n_states)]


def _states_listed(variable: Variable) -> Content:
    """A word for each state of a variable of few named states."""
    if variable.kind == "numeric" or variable.n_states > _STATES_LISTED:
        return {}
    return {"states": {label: label for label in _labels(variable)}}
