"""Settings of models: their panels in --help, and values that are read from text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from cyclopts import Group, Parameter

from bayleaf.data.text_parsing import read_numbers
from bayleaf.wording import quoted

# Both learn networks without a class in their middle, by the same search.
NETWORK = "network, --density"
_EVERY_MODEL = "every model"
# Cyclopts asks a panel for its place when it prints help, without the words.
_asked_for: ContextVar[tuple[str, ...]] = ContextVar("_asked_for", default=())


def settings_of(*models: str) -> Parameter:
    """The panels in which a setting stands: one for each of its models.

    Without models the setting stands in the panel of what every model has.
    """
    return Parameter(group=[_panel(model) for model in models or (_EVERY_MODEL,)])


def put_first(words: Sequence[str]) -> None:
    """Let the panels of the models that a command line names come first in its help."""
    models = ["--density"] if "--density" in words else []
    for place, word in enumerate(words):
        option, joined, value = word.partition("=")
        if option in ("--model", "--models"):
            models += [value] if joined else words[place + 1 : place + 2]
    _asked_for.set(tuple(models))


def _panel(model: str) -> Group:
    """The panel of a model's own settings."""
    return Group(f"Settings of {model}", sort_key=_place)


def _place(panel: Group) -> tuple[int, str]:
    """Where a panel stands: models asked for, what all models have, other models."""
    models = panel.name.removeprefix("Settings of ")
    if set(models.split(", ")) & set(_asked_for.get()):
        return 1, models
    return (2 if models == _EVERY_MODEL else 3), models


def orders_from(texts: Sequence[str] | None) -> dict[str, list[Any]] | None:
    """Orders of categories from texts such as size=S<M<L, or size alone."""
    if not texts:
        return None
    found: dict[str, list[Any]] = {}
    for text in texts:
        name, given, order = text.partition("=")
        parts = [part.strip() for part in order.split("<")] if given else []
        if not all(parts) or len(parts) == 1:
            raise ValueError(
                "--ordered should have the form column=least<next<greatest, got "
                f"{quoted(text)}"
            )
        numbers = read_numbers(parts)
        found[name.strip()] = parts if numbers is None else list(numbers)
    return found


def edge_from(option: str, text: str) -> tuple[str, str]:
    """An arc from text such as age->income."""
    parent, arrow, child = text.partition("->")
    if not (arrow and parent.strip() and child.strip()):
        raise ValueError(
            f"--{option.replace('_', '-')} should have the form parent->child, got "
            f"{quoted(text)}"
        )
    return parent.strip(), child.strip()


def beliefs_from(texts: Sequence[str] | None) -> dict[tuple[str, str], float] | None:
    """Prior probabilities of arcs from texts such as age->income=0.9."""
    if not texts:
        return None
    found: dict[tuple[str, str], float] = {}
    for text in texts:
        edge, _, belief = text.rpartition("=")
        numbers = read_numbers([belief])
        if not edge or numbers is None:
            raise ValueError(
                "--arc-prior should have the form parent->child=probability, got "
                f"{quoted(text)}"
            )
        found[edge_from("arc_prior", edge)] = float(numbers[0])
    return found


def directions_from(text: str | None) -> dict[str, int] | None:
    """Directions of monotone features from text such as age=+,income=-."""
    if text is None:
        return None
    directions = {"+": 1, "+1": 1, "-": -1, "-1": -1}
    found: dict[str, int] = {}
    for part in text.split(","):
        name, _, direction = part.rpartition("=")
        if not name.strip() or direction.strip() not in directions:
            raise ValueError(
                "--monotone should have the form column=+ or column=-, several with "
                f"commas between them, got {quoted(text)}"
            )
        found[name.strip()] = directions[direction.strip()]
    return found


def tiers_from(text: str | None) -> list[list[str]] | None:
    """Tiers from text such as age,sex;smoking, or from a file of such lines or JSON."""
    if text is None:
        return None
    path = Path(text)
    if not path.is_file():
        return _tiers_of_lines(text.split(";"), text)
    content = path.read_text(encoding="utf-8-sig")
    if not content.lstrip().startswith("["):
        return _tiers_of_lines(content.splitlines(), path.name)
    try:
        found = json.loads(content)
    except ValueError as error:
        raise ValueError(f"file {quoted(path.name)} holds no JSON: {error}") from None
    if not all(isinstance(tier, list) for tier in found):
        raise ValueError(
            f"file {quoted(path.name)} should hold a list of lists of column names"
        )
    return [[str(name) for name in tier] for tier in found]


def _tiers_of_lines(lines: Sequence[str], source: str) -> list[list[str]]:
    """One tier a line, names parted by commas; lines without any are left out."""
    filled = [line for line in lines if line.strip()]
    tiers = [[name.strip() for name in line.split(",")] for line in filled]
    if not tiers or not all(name for tier in tiers for name in tier):
        raise ValueError(
            "--tiers should have the form name,name;name, the earliest first, or name "
            f"a file of such lines, got {quoted(source)}"
        )
    return tiers


def architecture_from(text: str) -> tuple[int, ...] | str:
    """An architecture from text such as 2-2; a lone word is left to the estimator."""
    widths = text.split("-")
    if not any(character.isdigit() for character in text):
        return text
    if not all(width.isascii() and width.isdigit() for width in widths):
        raise ValueError(
            "--architecture must be numbers of children joined by hyphens, such as "
            f"2-2, got {quoted(text)}"
        )
    return tuple(map(int, widths))
