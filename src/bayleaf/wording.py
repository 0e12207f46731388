"""How names and numbers are put into a sentence, and names taken out of one."""

from __future__ import annotations

import difflib
import json
import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence, Sized
from dataclasses import fields
from typing import Any, TypeVar

# A number or an array of numbers.
N = TypeVar("N")

# Longer texts are cut in the middle.
MOST_CHARACTERS = 300
# Controls, line ends, what turns the direction of text, and what takes no room. Joiners
# stay, as some scripts and emoji are not written without.
_OBEYED = (
    "\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
)
_HIDDEN = re.compile(f"[\n{_OBEYED}]")
_HIDDEN_IN_LINES = re.compile(f"[{_OBEYED}]")
# Characters without a look of their own, and those that turn the direction of others.
_UNSEEN = {"Cc", "Cs", "Cn", "Co", "Cf"}
# What the representation of an object may take: a few lines of a terminal.
_MOST_OF_A_REPR = 360
_MAX_OF_NAME = 40
_MOST_OF_A_QUOTE = 80
_NAMES_IN_A_REPR = 3
_MOST_COMPARED = 60


def format_number(value: float) -> str:
    """Write a number with at most six significant digits and no trailing zeros."""
    return f"{value:.6g}"


def rough(value: float, sign: str = "") -> str:
    """Write a number with three significant digits, or as an integer from 1000 on.

    Examples
    --------
    >>> rough(0.12345), rough(1895.4, "+"), rough(2e16)
    ('0.123', '+1895', '2e+16')
    """
    return f"{value:{sign}{'.0f' if 1000 <= abs(value) < 1e15 else '.3g'}}"


def like(value: float, whole: float, sign: str = "") -> str:
    """Write a number with as many decimals as give `whole` four digits."""
    decimals = 3 - math.floor(math.log10(abs(whole))) if whole else 3
    return f"{value:{sign}.{max(0, decimals)}f}"


def in_bits(nats: N) -> N:
    """A logarithm in the unit that people read; attributes and JSON are in nats."""
    return nats / math.log(2)  # type: ignore[operator, return-value]


def stated(name: object, label: str, cell: object = None) -> str:
    """Say that a variable has a state, such as ``age > 54.5`` or ``sex = male``.

    With the `cell` of an interval it is ``age 61, > 54.5`` or ``age 55, in (50, 60]``.
    """
    name, label = visible(str(name)), visible(label)
    shown = format_number(cell) if isinstance(cell, float) else visible(str(cell))
    if cell is not None and shown != label:
        if label.startswith(("<= ", "> ", "(")):
            return stated(f"{name} {shown},", label)
        return f"{name} {shown} ({label})"
    if label.startswith(("<= ", "> ")):
        return f"{name} {label}"
    if label.startswith("(") and label.endswith("]"):
        return f"{name} in {label}"
    return f"{name} = {label}"


def visible(text: str) -> str:
    r"""A text with escapes for characters that a terminal obeys, line ends included.

    Examples
    --------
    >>> print(visible("a\x1b[31m\nb"))
    a\x1b[31m\nb
    """
    return _HIDDEN.sub(_escaped, text)


def visible_lines(text: str) -> str:
    """The same as `visible`, except that line ends stay."""
    return _HIDDEN_IN_LINES.sub(_escaped, text)


def visible_json(text: str) -> str:
    """A JSON text of the same meaning in which every character can be seen."""
    return _HIDDEN_IN_LINES.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _escaped(found: re.Match[str]) -> str:
    """One character as Python writes it."""
    return ascii(found[0])[1:-1]


def shown_name(name: object) -> str:
    """A name as it is; in quotes if it would not be seen without, such as ``' a'``."""
    text = str(name)
    return visible(text) if text and text == text.strip() else repr(text)


def name_list(names: Sequence[object], *, limit: int = 5) -> str:
    """Join names with commas, cutting long names and a long list, and saying so."""
    shown = ", ".join(_short(name) for name in names[:limit])
    hidden = len(names) - limit
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def quoted(value: object) -> str:
    """A value in quotes, as messages name it, cut in the middle if it is long."""
    return plain(repr(value), _MOST_OF_A_QUOTE)


def _short(name: object) -> str:
    """A name in a list of several."""
    return plain(shown_name(name), _MAX_OF_NAME)


def spaced(name: str) -> str:
    """The name of a field or class as words, such as ``loss matrix``.

    Examples
    --------
    >>> spaced("LossMatrix"), spaced("n_rows")
    ('loss matrix', 'n rows')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).lower()


def counted(number: int, noun: str) -> str:
    """A number and what it counts, such as ``1 arc`` or ``3 arcs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def plain(value: Any, most: int = MOST_CHARACTERS) -> str:
    """A value as text in which every character can be seen, cut if it is long.

    Examples
    --------
    >>> plain("abcdefgh", 5)
    'ab…gh'
    """
    text = cut(str(value), most)
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _UNSEEN else c
        for c in text.replace("\n", " ").replace("\t", " ")
    )


def cut(text: str, most: int) -> str:
    """A text without its middle where it is longer than `most` characters."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


def brief(thing: object, *facts: object) -> str:
    """Represent an object in one line of a few hundred characters.

    Examples
    --------
    >>> brief(1.5, "a number", "not whole")
    '<float: a number; not whole>'
    """
    told = plain("; ".join(map(str, facts)), _MOST_OF_A_REPR)
    return f"<{type(thing).__name__}: {told}>"


def brief_names(names: Sequence[object]) -> str:
    """The first few names of a list and how many more there are."""
    return name_list(names, limit=_NAMES_IN_A_REPR)


def brief_fields(thing: Any) -> str:
    """Represent a dataclass by its fields: short ones as they are, others by size."""
    return brief(
        thing,
        *(f"{f.name} {brief_value(getattr(thing, f.name))}" for f in fields(thing)),
    )


def brief_value(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, float):
        return format_number(value)
    shape = getattr(value, "shape", ())
    if len(shape) > 1:
        return f"array of shape {shape}"
    if isinstance(value, str) or not isinstance(value, Sized):
        return plain(repr(value), 3 * _MAX_OF_NAME)
    items = list(value) if isinstance(value, Iterable) else []
    if not all(isinstance(item, str | int | float) for item in items):
        return f"of length {len(value)}"
    return brief_names([brief_value(i) if isinstance(i, float) else i for i in items])


def size_text(n_bytes: float) -> str:
    """Bytes in decimal units, as ``1.5 MB``; rounded up so that it is enough."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n_bytes >= unit:
            whole = n_bytes >= 10 * unit
            shown = n_bytes / unit if whole else n_bytes / unit * 10
            return f"{math.ceil(shown) / (1 if whole else 10):g} {name}"
    return f"{n_bytes:.0f} bytes"


def split_names(texts: Iterable[str], known: Collection[str]) -> list[str]:
    """Names with commas between; a text that is a known name itself is one name."""
    return [
        name if name in known else name.strip()
        for text in texts
        for name in ([text] if text in known else text.split(","))
    ]


def near_names(name: str, known: Iterable[str]) -> str:
    """Suggest names close to a mistyped one, as a clause, or list what there is."""
    choices = [str(choice) for choice in known]
    # Comparing takes as long as both names together, so long ones are cut.
    wanted = cut(str(name), _MOST_COMPARED)
    texts = {cut(choice, _MOST_COMPARED): choice for choice in choices}
    close = difflib.get_close_matches(wanted, texts, n=3, cutoff=0.6)
    if not close:
        texts = {text.lower(): choice for text, choice in texts.items()}
        close = difflib.get_close_matches(wanted.lower(), texts, n=3, cutoff=0.6)
    close = [texts[text] for text in close]
    if close:
        return f"did you mean {' or '.join(map(_short, close))}?"
    return f"there are: {name_list(choices)}"
