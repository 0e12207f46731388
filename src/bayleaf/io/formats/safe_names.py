"""Names that every network format can hold, and notes that bring the true ones back.

Formats and the programs that read them agree on little more than identifiers: ASCII
letters, digits and underscores after a letter. A name that is one is written as it is;
any other gets an identifier, and notes beside the variable keep what it stood for.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import ValueHierarchy

# What the names of notes start with in a file.
NOTE_PREFIX = "bayleaf_"
NOTES = ("name", "states", "cut_points", "hierarchy", "impossible", "meanings")
# Second state of a variable that has one, for programs that take none of one state.
_IMPOSSIBLE = "impossible"
MAX_LENGTH = 100

_COMMENT = re.compile(
    rf"^// {NOTE_PREFIX}({'|'.join(NOTES)}) (\S{{1,{MAX_LENGTH}}}) (\S[^\n]*)$",
    re.MULTILINE,
)
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
# Words that mean something in the text formats, in lower case. States stand in quotes
# or lists but for one format, so fewer words are lost to them.
_STATE_KEYWORDS = frozenset(
    {"default", "discrete", "network", "probability", "property", "table", "type"}
    | {"variable"}
)
_VARIABLE_KEYWORDS = _STATE_KEYWORDS | frozenset(
    {"boolean", "class", "continuous", "data", "decision", "experience", "function"}
    | {"interval", "label", "labelled", "name", "net", "node", "node_size", "number"}
    | {"position", "potential", "state_values", "states", "subtype", "utility"}
)
_SPELLED = {"<=": " le ", ">=": " ge ", "<": " lt ", ">": " gt ", "+": " plus "}
_SHOWN = {
    **{"!=": "\N{NOT EQUAL TO}", "<=": "\N{LESS-THAN OR EQUAL TO}"},
    **{">=": "\N{GREATER-THAN OR EQUAL TO}", " = ": " is ", "=": "'"},
    **{'"': "'", "\\": "'", ";": ",", "{": "[", "}": "]"},
}
# Some readers look for words such as `data =` or `node ` in the whole text of a file,
# quoted or not, so notes hold no blank, equals sign or bracket that could pass for one.
_PLAIN_IN_NOTES = '[],:.<>-"'


@dataclass(frozen=True)
class SafeNames:
    """Identifiers for the variables and states of a domain, built by `for_network`.

    Identifiers of variables differ even without regard to capitals, those of states
    within their variable; a variable with one state may have a second, impossible one.
    """

    domain: Domain
    variables: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]

    @classmethod
    def for_network(cls, domain: Domain, *, at_least_two: bool = False) -> SafeNames:
        """Choose identifiers for all names of a domain.

        With `at_least_two`, a variable with one state gets a second, impossible one.
        """
        return cls(
            domain,
            # One reader looks variables up without regard to capitals.
            _identifiers(domain.names, "v", _VARIABLE_KEYWORDS, ignore_case=True),
            tuple(
                _identifiers(
                    (*v.states, _IMPOSSIBLE)
                    if at_least_two and v.n_states == 1
                    else v.states,
                    "s",
                    _STATE_KEYWORDS,
                )
                for v in domain
            ),
        )

    def notes(self, index: int) -> dict[str, str]:
        """Texts to keep with a variable, by name; see `NOTES`.

        The texts are ASCII without blanks, double quotes, semicolons, braces,
        parentheses, backslashes or equals signs, so every format can store them.
        ValueError if a state is not a text, number, boolean or None.
        """
        variable = self.domain[index]
        notes: dict[str, str] = {}
        if variable.name != self.variables[index]:
            notes["name"] = _note(variable.name, variable)
        n_added = len(self.states[index]) - variable.n_states
        if variable.states != self.states[index][: variable.n_states]:
            notes["states"] = _note(list(variable.states), variable)
        if n_added:
            notes["impossible"] = _note(n_added, variable)
        # Ranks would be taken for numbers, so ordered categories are names alone.
        if variable.kind == "numeric" and variable.categories is None:
            notes["cut_points"] = _note(list(variable.cut_points), variable)
        tree = variable.hierarchy
        if tree is not None:
            # Parents come first, so that names of any number may follow.
            notes["hierarchy"] = _note([*tree.parents, *tree.nodes], variable)
        if variable.meanings is not None:
            notes["meanings"] = _note(list(variable.meanings), variable)
        return notes

    def meanings(self, index: int) -> list[str]:
        """What the states of a variable mean, as `shown_text`; empty if unknown."""
        return [*map(shown_text, self.domain[index].meanings or ())]


def shown_text(text: str) -> str:
    """A text for people, without what could end a string of a file early.

    Some readers split properties at every equals sign, or look for `node ` inside of
    strings too.
    """
    for sign, shown in _SHOWN.items():
        text = text.replace(sign, shown)
    text = "".join(c if c.isprintable() else " " for c in text)
    return text.replace("node ", "node\N{NO-BREAK SPACE}")


def note_comments(names: SafeNames, index: int) -> list[str]:
    """Comment lines with the notes of a variable, for formats without properties."""
    identifier = names.variables[index]
    return [
        f"// {NOTE_PREFIX}{key} {identifier} {note}\n"
        for key, note in names.notes(index).items()
    ]


def commented_notes(text: str) -> dict[str, dict[str, str]]:
    """The notes in comment lines of a file, by the variable's identifier."""
    notes: dict[str, dict[str, str]] = {}
    for key, identifier, note in _COMMENT.findall(text):
        notes.setdefault(identifier, {})[key] = note.strip()
    return notes


def restored_variable(
    identifier: str, states: Sequence[str], notes: Mapping[str, str]
) -> Variable:
    """Make the variable that `SafeNames` wrote, or one of its identifiers alone.

    ValueError, without the file's name, if a note cannot be read or does not fit.
    """
    values = {k: _read_note(k, notes[k], identifier) for k in notes if k in NOTES}
    name = values.get("name", identifier)
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise _unfit("name", identifier)
    n_added = values.get("impossible", 0)
    if type(n_added) is not int or not 0 <= n_added < max(len(states), 1):
        raise _unfit("impossible", identifier)
    listed = list(states)[: len(states) - n_added]
    restored = values.get("states", listed)
    _check_values(restored, "states", identifier)
    if len(restored) != len(listed):
        raise _unfit("states", identifier)
    cuts = values.get("cut_points", [])
    if not isinstance(cuts, list) or not all(
        type(cut) is float and math.isfinite(cut) for cut in cuts
    ):
        raise _unfit("cut_points", identifier)
    tree, meanings = values.get("hierarchy"), values.get("meanings")
    if meanings is not None:
        _check_values(meanings, "meanings", identifier)
        if [*map(type, meanings)] != [str] * len(restored):
            raise _unfit("meanings", identifier)
    return Variable(
        name,
        tuple(restored),
        "numeric" if "cut_points" in values else "nominal",
        tuple(cuts),
        None if tree is None else _hierarchy(tree, identifier),
        meanings=None if meanings is None else tuple(meanings),
    )


def _identifiers(
    names: Sequence[Hashable],
    prefix: str,
    keywords: frozenset[str],
    *,
    ignore_case: bool = False,
) -> tuple[str, ...]:
    """Distinct identifiers; names that are some already keep theirs."""

    def key(identifier: str) -> str:
        return identifier.lower() if ignore_case else identifier

    chosen: list[str | None] = []
    taken: set[str] = set()
    for name in names:
        text = name if isinstance(name, str) and _is_safe(name, keywords) else None
        chosen.append(None if text is None or key(text) in taken else str(text))
        if text is not None:
            taken.add(key(text))
    last: dict[str, int] = {}
    for position, name in enumerate(names):
        if chosen[position] is not None:
            continue
        stem = _stem(name, prefix, keywords)
        identifier = stem
        # Numbers go on from the last one used, or many equal stems take a square.
        while key(identifier) in taken:
            last[stem] = last.get(stem, 1) + 1
            identifier = f"{stem}_{last[stem]}"
        taken.add(key(identifier))
        chosen[position] = identifier
    return tuple(str(identifier) for identifier in chosen)


def _is_safe(text: str, keywords: frozenset[str]) -> bool:
    """Whether a name can be written as it is."""
    return (
        len(text) <= MAX_LENGTH
        and _IDENTIFIER.match(text) is not None
        and text.lower() not in keywords
    )


def _stem(name: Hashable, prefix: str, keywords: frozenset[str]) -> str:
    """An identifier that reminds of a name."""
    text = "missing" if name is None else str(name)[: 4 * MAX_LENGTH]
    for sign, word in _SPELLED.items():
        text = text.replace(sign, word)
    text = re.sub(r"(?<!\w)-(?=[\d.])", " minus ", text)
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    text = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[: MAX_LENGTH - 10].strip("_")
    if _is_safe(text, keywords):
        return text
    if text[:1].isalpha():
        # Behind a keyword: one reader finds `node` at the end of longer words too.
        return f"{text}_{prefix}"
    return f"{prefix}_{text}" if text else prefix


def _note(value: Any, variable: Variable) -> str:
    """A value as text that every format can hold."""
    try:
        text = json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"))
        kept = quote(text, safe=_PLAIN_IN_NOTES, errors="surrogatepass")
    except TypeError:
        raise ValueError(
            f"variable {variable.name!r} has a state that is no text, number, truth "
            "value or None, which network files cannot hold; rename its states"
        ) from None
    return kept.replace('"', "'")


def _plain(value: Any) -> Any:
    """A value without NumPy's types, which JSON does not know."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    plain = value.item() if hasattr(value, "item") else value
    if not isinstance(plain, str | int | float | None):
        raise TypeError(type(plain).__name__)
    return plain


def _read_note(key: str, text: str, identifier: str) -> Any:
    """The value that a note keeps."""
    try:
        plain = unquote(text.replace("'", '"'), errors="surrogatepass")
        return json.loads(plain)
    except (ValueError, RecursionError):
        raise _unfit(key, identifier) from None


def _check_values(values: Any, key: str, identifier: str) -> None:
    """Raise unless these are states: a list of texts, numbers, booleans or None."""
    kinds = str | int | float | None
    if not isinstance(values, list) or not all(isinstance(v, kinds) for v in values):
        raise _unfit(key, identifier)


def _hierarchy(values: Any, identifier: str) -> ValueHierarchy:
    """The tree that a note keeps: positions of parents, then as many names."""
    _check_values(values, "hierarchy", identifier)
    half = len(values) // 2
    parents = values[:half]
    if any(type(parent) is not int for parent in parents):
        raise _unfit("hierarchy", identifier)
    return ValueHierarchy(tuple(values[half:]), tuple(parents))


def _unfit(key: str, identifier: str) -> ValueError:
    """The error of a note that cannot be used."""
    return ValueError(
        f'the note "{NOTE_PREFIX}{key}" of variable "{identifier}" cannot be read; '
        "remove the line to go on with the names in the file"
    )
