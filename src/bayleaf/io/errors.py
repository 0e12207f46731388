"""The error of files that cannot be used."""

from __future__ import annotations

# Longer messages, which hostile files can bring about, are cut.
_MOST_LETTERS = 300


class ModelFileError(ValueError):
    """A model file cannot be used; the message is one sentence that says why."""

    def __init__(self, message: str) -> None:
        sentence = " ".join(message.split())
        if len(sentence) > _MOST_LETTERS:
            sentence = f"{sentence[: _MOST_LETTERS - 3]}..."
        super().__init__(sentence)
