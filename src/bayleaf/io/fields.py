"""Typed access to the fields of a parsed file, with errors that name the field."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

# Longer messages, which hostile files can bring about, are cut.
_MOST_LETTERS = 300


class ModelFileError(ValueError):
    """A model file cannot be used; the message is one sentence that says why."""

    def __init__(self, message: str) -> None:
        sentence = " ".join(message.split())
        if len(sentence) > _MOST_LETTERS:
            sentence = f"{sentence[: _MOST_LETTERS - 3]}..."
        super().__init__(sentence)


class Fields:
    """A JSON object whose fields are taken out with a check of their type.

    Parameters
    ----------
    values : dict
        The parsed object.
    where : str
        What the object is, for error messages.
    """

    def __init__(self, values: Any, where: str) -> None:
        self.values: dict[str, Any] = values
        self.where = where

    def _get(self, key: str, kinds: type | tuple[type, ...], what: str) -> Any:
        """The value of a field once it is of one of the kinds."""
        if not isinstance(self.values, dict):
            raise ModelFileError(f"{self.where} should be an object")
        if key not in self.values:
            raise ModelFileError(f"{self.where} lacks the field {key!r}")
        value = self.values[key]
        wrong_bool = isinstance(value, bool) and kinds is not bool
        if wrong_bool or not isinstance(value, kinds):
            raise ModelFileError(f"field {key!r} of {self.where} should be {what}")
        return value

    def text(self, key: str) -> str:
        """A string field."""
        return str(self._get(key, str, "text"))

    def flag(self, key: str) -> bool:
        """A truth value."""
        return bool(self._get(key, bool, "true or false"))

    def number(self, key: str) -> float:
        """A finite number."""
        value = float(self._get(key, (int, float), "a number"))
        if not math.isfinite(value):
            raise ModelFileError(f"field {key!r} of {self.where} should be finite")
        return value

    def count(self, key: str) -> int:
        """A whole number of at least one."""
        value = int(self._get(key, int, "a whole number"))
        if value < 1:
            raise ModelFileError(f"field {key!r} of {self.where} should be at least 1")
        return value

    def list(self, key: str) -> list[Any]:
        """A list."""
        values: list[Any] = self._get(key, list, "a list")
        return values

    def object(self, key: str) -> Fields:
        """An object inside this one."""
        return Fields(self._get(key, dict, "an object"), f"{key!r} of {self.where}")

    def choice(self, key: str, choices: Sequence[str]) -> str:
        """One of a few strings."""
        value = self.text(key)
        if value not in choices:
            raise ModelFileError(
                f"field {key!r} of {self.where} should be one of "
                f"{', '.join(choices)}, but is {value[:50]!r}"
            )
        return value

    @staticmethod
    def name(value: Any) -> str | int:
        """A variable's name."""
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ModelFileError("a variable's name should be text or a whole number")
        return value
