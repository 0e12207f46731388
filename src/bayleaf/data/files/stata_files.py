"""Files of Stata as the text of a CSV file."""

from __future__ import annotations

import csv
import io
import re
import struct
import warnings
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from bayleaf.data.files.workbooks import cell_text
from bayleaf.wording import cut, quoted

# What pandas raises for files that cannot be read.
_BROKEN = (ValueError, LookupError, TypeError, EOFError, OverflowError, struct.error)


class StataFile:
    """The columns of a file, and its rows as lines of CSV.

    Values with a label each are categories by the names of the labels, Stata's missing
    codes and texts without a letter are empty cells. ValueError without pandas, or if
    the file cannot be read.
    """

    n_above = 0  # lines above the rows

    def __init__(self, content: IO[bytes], source: str) -> None:
        try:
            import pandas as pd
        except ImportError:
            raise ValueError(
                f"{source} is a Stata file (.dta), which needs pandas; install it with "
                "pip install pandas, or save the table as CSV"
            ) from None
        try:
            with warnings.catch_warnings():
                # Of texts in another encoding than the file declares.
                warnings.simplefilter("ignore", UnicodeWarning)
                self._frame: Any = pd.read_stata(content, order_categoricals=False)
        except _BROKEN as error:
            raise _refusal(error, source) from error
        self.names = tuple(map(str, self._frame.columns))

    @property
    def categories(self) -> tuple[str, ...]:
        """Names of the columns all values of which have labels."""
        kinds = (
            (n, getattr(self._frame[n].dtype, "categories", ())) for n in self.names
        )
        return tuple(
            name
            for name, labels in kinds
            if len(labels) and all(isinstance(label, str) for label in labels)
        )

    def csv_lines(self) -> Iterator[str]:
        """The rows."""
        columns = [_texts(self._frame[name]) for name in self.names]
        line = io.StringIO()
        writer = csv.writer(line, lineterminator="\n")
        for cells in zip(*columns, strict=True):
            line.seek(0)
            line.truncate()
            writer.writerow(cells)
            yield line.getvalue()


def _texts(column: Any) -> list[str]:
    """The text of each cell of a column."""
    missing = column.isna().tolist()
    # As floats of eight bytes, those of four have more digits than were written.
    cells = column.to_numpy() if column.dtype == np.float32 else column
    return [
        "" if lacks else cell_text(cell)
        for cell, lacks in zip(cells, missing, strict=True)
    ]


def _refusal(error: Exception, source: str) -> ValueError:
    """One sentence on a file that pandas cannot read."""
    repeated = re.search(r"labels for column (.+) are not unique", str(error))
    if repeated is not None:
        return ValueError(
            f"{source} has the same label for several codes of column "
            f"{quoted(repeated[1])}; give each code a label of its own"
        )
    why = cut(" ".join(str(error).split()), 80) or type(error).__name__
    return ValueError(
        f"{source} is not a Stata file that can be read ({why}); save it again in "
        "Stata, or the table as CSV"
    )
