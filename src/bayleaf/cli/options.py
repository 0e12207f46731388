"""Types of options that several commands share, and texts that name several things."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from bayleaf.wording import quoted


def whole_number(kind: type, tokens: Sequence[Token]) -> int:
    """An integer; without this, what follows a decimal point is dropped."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{quoted(text)} is not an integer") from None


# A file's name, or a lone hyphen for a standard stream.
Source = Annotated[str, Parameter(allow_leading_hyphen=True)]
Strings = Annotated[tuple[str, ...], Parameter(negative="")]
Flag = Annotated[bool, Parameter(negative="")]
WholeNumber = Annotated[int, Parameter(converter=whole_number)]
# Files that a command writes; a table may go to standard output.
Output = Annotated[Path, Parameter(name=["--output", "-o"])]
OptionalOutput = Annotated[Path | None, Parameter(name=["--output", "-o"])]
TableOutput = Annotated[
    str, Parameter(name=["--output", "-o"], allow_leading_hyphen=True)
]


def refuse_options(given: Mapping[str, Any]) -> None:
    """Raise ValueError if an option was given that belongs to classifiers alone."""
    for name, value in given.items():
        if value:
            raise ValueError(
                f"{name} belongs to classifiers, not to models of a numeric target"
            )


def split_names(texts: Iterable[str], known: Collection[str]) -> list[str]:
    """Names with commas between; a text that is a known name itself is one name."""
    return [
        name.strip()
        for text in texts
        for name in ([text] if text in known else text.split(","))
    ]


def labels_by_text(labels: Sequence[Hashable]) -> dict[str, Hashable]:
    """Labels by the texts that spell them; CSV files write booleans false and true."""
    texts = {str(label): label for label in labels}
    return texts | {str(one).lower(): one for one in labels if isinstance(one, bool)}
