"""How text files of tables are read: what is given of it, the rest is found out."""

from __future__ import annotations

import codecs
import sys
import warnings
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Self

from bayleaf.wording import counted, quoted, split_names

if TYPE_CHECKING:
    from bayleaf.data.reading_plan import ReadingPlan

BLANK = " "
SEPARATORS = {
    ",": "commas",
    ";": "semicolons",
    "\t": "tabs",
    "|": "bars",
    BLANK: "blanks",
}
_WORDS = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "\\t": "\t",
    "bar": "|",
    "blank": BLANK,
}


@dataclass(frozen=True)
class FileFormat:
    """How CSV files are read.

    Parameters
    ----------
    na
        Cell that counts as empty, beside NA, N/A, NaN, NULL, None, #N/A, n/a and ?;
        may be repeated.
    keep_na
        Only cells without text, and those that --na names, count as empty.
    sep
        Sign between cells: comma, semicolon, tab, bar, blank (one or several), or
        another sign; by default found out.
    decimal
        Decimal sign, a point or a comma; by default found out.
    encoding
        Such as cp1252; by default UTF-8, or UTF-16 with its mark.
    no_header
        The first line is a row of values; columns are x0, x1, ... unless --names
        contains their names.
    names
        Names of the columns of a file without a header, with commas between.
    sheet
        Sheet of an Excel workbook; by default the first that is shown.
    """

    na: tuple[str, ...] = ()
    keep_na: bool = False
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    no_header: bool = False
    names: tuple[str, ...] = ()
    sheet: str | None = None
    is_of_command: ClassVar[bool] = False  # whether a user can give these as options

    def ask(self, option: str, otherwise: str) -> str:
        """The remedy in a message: an option of the command, or what else helps."""
        return f"give {option}" if self.is_of_command else otherwise

    def report(self, sentence: str) -> None:
        """Report what reading leaves out, once, though it may read a file again."""
        _report(sentence, self.is_of_command)

    @property
    def missing_texts(self) -> list[str]:
        """The texts of cells that count as empty."""
        from bayleaf.data.text_forms import MISSING_TEXTS

        usual = () if self.keep_na else MISSING_TEXTS
        return list(dict.fromkeys(["", *usual, *self.na]))

    def plan(self, given: ReadingPlan | None, *, is_csv: bool) -> ReadingPlan:
        """How training reads a file's texts: by a plan, and what is given here.

        In files that are not CSV no text counts as empty unless the plan names it.
        """
        from bayleaf.data.reading_plan import ReadingPlan

        given = given or ReadingPlan()
        missing = given.missing
        if is_csv and (missing is None or self.na or self.keep_na):
            missing = tuple(self.missing_texts)
        return replace(given, missing=missing, decimal=self.decimal or given.decimal)

    def of_plan(self, plan: ReadingPlan | None) -> Self:
        """The format of another file that is read by a model's plan."""
        if plan is None:
            return self
        form = replace(self, decimal=self.decimal or plan.decimal)
        if plan.missing is None:
            return form
        return replace(form, na=(*plan.missing, *self.na), keep_na=True)

    @property
    def separator(self) -> str:
        """What stands between cells; a comma until it is known."""
        return _WORDS.get(self.sep or ",", self.sep or ",")

    def check(self) -> None:
        """Raise ValueError unless signs are single and the encoding is known."""
        if self.names and not self.no_header:
            raise ValueError(
                "--names belongs to a file without a header; add --no-header"
            )
        if len(self.separator) != 1 or self.separator in '"\r\n':
            raise ValueError(
                "--sep must be comma, semicolon, tab, bar, blank or one other sign, "
                f"got {quoted(self.sep)}"
            )
        if self.decimal not in (None, ".", ","):
            raise ValueError(
                f"--decimal must be a point or a comma, got {quoted(self.decimal)}"
            )
        if self.decimal == self.separator and self.sep is not None:
            raise ValueError("--decimal and --sep must be different signs")
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError:
            raise ValueError(
                f"--encoding names {quoted(self.encoding)}, which is no encoding known "
                "here; utf-8, utf-16 and cp1252 are"
            ) from None

    def names_of(self, n_cells: int, source: str) -> list[str]:
        """Names of the columns of a file without a header."""
        names = split_names(self.names, ()) or [f"x{i}" for i in range(n_cells)]
        if len(names) != n_cells:
            raise ValueError(
                f"--names has {counted(len(names), 'name')}, but the first row of "
                f"{source} has {counted(n_cells, 'cell')}; give each column a name"
            )
        return names

    def described(self) -> str:
        """What is unusual of the format, in words; empty where nothing is."""
        unusual = []
        if self.separator != ",":
            named = SEPARATORS.get(self.separator, quoted(self.separator))
            unusual.append(f"{named} between cells")
        if self.decimal == ",":
            unusual.append("decimal commas")
        if self.encoding not in (None, "utf-8", "utf-8-sig"):
            unusual.append(f"encoding {self.encoding}")
        return ", ".join(unusual)


@cache
def _report(sentence: str, is_of_command: bool) -> None:
    """Print a sentence on standard error, or warn of it in Python."""
    if is_of_command:
        print(f"bayleaf: {sentence}", file=sys.stderr)
    else:
        warnings.warn(sentence, stacklevel=2)
