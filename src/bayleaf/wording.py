"""How names and numbers are put into a sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


def format_number(value: float) -> str:
    """Write a number with at most six significant digits and no trailing zeros."""
    return f"{value:.6g}"


def stated(name: object, label: str) -> str:
    """Say that a variable has a state, such as ``age > 54.5`` or ``sex = male``."""
    if label.startswith(("<= ", "> ")):
        return f"{name} {label}"
    if label.startswith("(") and label.endswith("]"):
        return f"{name} in {label}"
    return f"{name} = {label}"


def shown_name(name: object) -> str:
    """A name as it is; in quotes if it would not be seen without, such as ``' a'``."""
    text = str(name)
    return text if text and text == text.strip() else repr(text)


def name_list(names: Sequence[object], *, limit: int = 8) -> str:
    """Join names with commas, cutting a long list short and saying so."""
    shown = ", ".join(shown_name(name) for name in names[:limit])
    hidden = len(names) - limit
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def near_names(name: str, known: Iterable[str]) -> str:
    """Suggest names close to a mistyped one, as a clause, or list what there is."""
    choices = [str(choice) for choice in known]
    close = difflib.get_close_matches(str(name), choices, n=3, cutoff=0.6)
    if not close:
        lowered = {choice.lower(): choice for choice in choices}
        match = difflib.get_close_matches(str(name).lower(), lowered, n=3, cutoff=0.6)
        close = [lowered[key] for key in match]
    if close:
        return f"did you mean {' or '.join(shown_name(name) for name in close)}?"
    return f"there are: {name_list(choices)}"
