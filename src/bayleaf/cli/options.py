"""Options that several commands share, and texts that name several things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from bayleaf.data.files.file_format import FileFormat
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
# Options of one meaning in several commands.
Table = Annotated[
    Source,
    Parameter(
        help="CSV, Parquet, JSON, .xlsx, .dta or ARFF file; - for CSV or JSON on "
        "standard input."
    ),
]
PlanFile = Annotated[
    Path | None,
    Parameter(
        help="JSON file with how the texts of columns become values, such as `bayleaf "
        "check --plan` prints."
    ),
]
ModelFile = Annotated[Path, Parameter(help="Model file.")]
Drop = Annotated[Strings, Parameter(help="Column to leave out; may be repeated.")]
Weight = Annotated[str | None, Parameter(help="Column of row weights.")]
Loss = Annotated[
    str | None,
    Parameter(
        help="CSV file of costs, class names as header row and first column; rows are "
        "predicted, columns true classes."
    ),
]
Json = Annotated[Flag, Parameter(help="Print JSON.")]
WholeNumber = Annotated[int, Parameter(converter=whole_number)]
# Files that a command writes; a table may go to standard output.
Output = Annotated[Path, Parameter(name=["--output", "-o"])]
OptionalOutput = Annotated[Path | None, Parameter(name=["--output", "-o"])]
TableOutput = Annotated[
    str, Parameter(name=["--output", "-o"], allow_leading_hyphen=True)
]


@Parameter(name="*", negative="")
class FormatOptions(FileFormat):
    """How CSV files are read, by options of a command."""

    __doc__ = FileFormat.__doc__
    is_of_command = True


# The format of files without options.
USUAL_FORMAT = FormatOptions()


def refuse_options(given: Mapping[str, Any]) -> None:
    """Raise ValueError if an option was given that belongs to classifiers alone."""
    for name, value in given.items():
        if value:
            raise ValueError(
                f"{name} belongs to classifiers, not to models of a numeric target"
            )


def unquoted(text: str) -> str:
    """A name or value without outer blanks, and without quotes around it."""
    stripped = text.strip()
    if len(stripped) > 1 and stripped[0] == stripped[-1] and stripped[0] in "\"'`":
        mark = stripped[0]
        return stripped[1:-1].replace(mark * 2, mark)
    return stripped
