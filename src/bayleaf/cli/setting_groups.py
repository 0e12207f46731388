"""Panels of --help: the settings of each model, those of the models asked for first."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar

from cyclopts import Group, Parameter

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
