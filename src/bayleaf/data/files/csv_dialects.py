"""The layout of a CSV file by its first lines: separator, header and lines above it."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from bayleaf.data.files.file_format import BLANK, SEPARATORS, FileFormat
from bayleaf.data.files.fixed_widths import Gaps, aligned_columns, parts_between
from bayleaf.data.text_forms import MISSING_MARKERS, is_marker
from bayleaf.wording import counted

# Rows by which a layout is chosen.
_MAX_ROWS = 100
# The first line of files that spreadsheets split by another sign than their own.
_DECLARED = re.compile(r'"?sep=(.)"?[ \r\n]*', re.IGNORECASE)
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"[12]\d{3}")
# What may be a number of any country, with a sign of currency or percent.
_LIKE_NUMBER = re.compile(r"\s*[^\w\s]{0,2}\s?\d[\d.,'’\s]*\S?\s*")
_RULE = re.compile(r"-+|=+")
_IMPORT = re.compile(r'\{"ImportId"')
_BRACKETED = re.compile(r"\(\D*\)|\[\D*\]")
_TOTAL = re.compile(
    r"((grand |sub)?totals?|sum|(gesamt|zwischen)?summe|gesamt|insgesamt|somme|totale"
    r"|suma|totaal|totalt|итого|всего|合计|合計):?",
    re.IGNORECASE,
)
_BLANKS = re.compile(rb'("(?:[^"]|"")*")|[ \t]+')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')

Row = list[str]


@dataclass(frozen=True)
class Dialect:
    """The layout of a CSV file."""

    separator: str = ","
    n_above: int = 0  # lines above the header, blank ones among them
    skips: bool = False  # whether any of them has text
    is_trailing: bool = False  # whether a separator ends each line
    n_cells: int = 1  # of a row, without the empty one after the last separator
    is_short: bool = False  # whether the header has no name above the names of rows
    n_units: int = 0  # lines of units, rules or questions below the header
    empty: tuple[int, ...] = ()  # columns without a name and text, if several lack one
    is_like_data: bool = False  # whether the header may be a row of values
    is_apart: bool = False  # whether lines like the header are copies, not rows
    joined: tuple[str, ...] = ()  # names that are in two rows, a group above others
    gaps: Gaps = ()  # between columns of fixed width, whose cells may have blanks

    def described(self, form: FileFormat) -> str:
        """What is unusual of the layout and format, in words; empty if nothing is."""
        place = "first row" if form.no_header else "header"
        parts = [
            replace(form, sep=self.separator).described(),
            f"{counted(self.n_above, 'line')} above the {place} skipped"
            if self.skips
            else "",
            "columns of fixed width" if self.gaps else "",
            "a separator at the end of each line" if self.is_trailing else "",
            "no header" if form.no_header else "",
            "no name above the first column" if self.is_short else "",
            "names in two rows, joined" if self.joined else "",
            "a line of units below the header skipped" if self.n_units == 1 else "",
            f"{self.n_units} lines below the header skipped" * (self.n_units > 1),
            f"{counted(len(self.empty), 'empty column')} skipped" if self.empty else "",
        ]
        return ", ".join(part for part in parts if part)

    @property
    def note(self) -> str:
        """The doubt whether a file has a header; empty where there is none."""
        if not self.is_like_data:
            return ""
        return "the first line looks like values; give --no-header if it is a row"


def dialect_of(sample: bytes, form: FileFormat) -> Dialect:
    """The layout that the first lines of a file, in UTF-8, show."""
    text = sample.decode("utf-8", errors="replace")
    lines = io.StringIO(text, newline="").readlines()
    declared = _DECLARED.fullmatch(lines[0]) if lines else None
    n_declared = int(declared is not None)
    if form.sep or declared:
        sign = form.separator if form.sep or not declared else declared[1]
        if sign == BLANK and form.sep:
            return _of_blanks(lines, form).dialect
        return _Layout.of_lines(lines, sign, form, n_declared).dialect
    signs = [sign for sign in SEPARATORS if sign != BLANK]
    layouts = [_Layout.of_lines(lines, sign, form) for sign in signs]
    best = max(layouts, key=lambda layout: layout.fitness)
    if best.n_cut == 1 or not best.fitness[0]:
        blank = _of_blanks(lines, form)
        # Text of several words in the only column must stay whole.
        are_cells = blank.is_regular and (blank.n_cut > 2 or "  " in text)
        if blank.dialect.gaps or (are_cells and best.n_cut == 1):
            return blank.dialect
    return best.dialect


def _of_blanks(lines: Sequence[str], form: FileFormat) -> _Layout:
    """The layout of cells with blanks between, or else of columns of fixed width."""
    layout = _Layout.of_lines(lines, BLANK, form)
    width = layout.dialect.n_cells + layout.dialect.is_trailing
    plain = [collapse_blanks(line.encode()) for line in lines]
    rows = plain[layout.dialect.n_above + 1 : footer_start(plain, BLANK, width)]
    is_even = all(len(_cells(row, BLANK)) == width for row in rows if row.strip())
    # A short header is also above names of two words.
    if layout.is_regular and is_even and not layout.dialect.is_short:
        return layout
    aligned = aligned_columns(lines, has_header=not form.no_header)
    if aligned is None:
        return layout
    fixed = _Layout.of_lines(lines, BLANK, form, *aligned)
    return fixed if fixed.fitness[0] else layout


def collapse_blanks(line: bytes, gaps: Gaps = ()) -> bytes:
    """A line in which one blank is between cells, and none at its ends.

    Between the `gaps` of columns cells with blanks are put in quotes, and so are lines
    that are not rows.
    """
    if gaps:
        text = line.decode("utf-8", "surrogateescape").rstrip()
        # What is not a row has more cells than rows have.
        parts = parts_between(text, gaps) or [text, *[""] * (len(gaps) + 1)]
        cells = [_in_quotes(part.strip()) for part in parts] if text else []
        return " ".join(cells).encode("utf-8", "surrogateescape") + b"\n"
    single = _BLANKS.sub(lambda found: found[1] or b" ", line.strip(b" \t\r\n"))
    return single + b"\n"


def _in_quotes(text: str) -> str:
    """A cell in quotes if it has blanks, or quotes that do not enclose it."""
    if _QUOTED.fullmatch(text) or not (" " in text or '"' in text):
        return text
    return '"{}"'.format(text.replace('"', '""'))


@dataclass(frozen=True)
class _Layout:
    """A layout by one separator, and how well rows fit it."""

    dialect: Dialect
    n_cut: int  # cells of the header, with an empty one at the end of each line
    share: float  # of rows with as many cells
    has_title: bool  # whether lines are skipped that are not comments

    @property
    def fitness(self) -> tuple[bool, bool, bool, float, int]:
        """The best separator cuts rows into several cells, as many in every row."""
        several = self.n_cut > 1
        regular = several and self.share > 0.5
        is_plain = not self.has_title and not self.dialect.is_short
        return regular, several, is_plain, self.share, self.n_cut

    @property
    def is_regular(self) -> bool:
        """Whether the header and nearly all rows have several cells, as many each."""
        return self.n_cut > 1 and self.share > 0.9 and not self.has_title

    @classmethod
    def of_lines(
        cls,
        lines: Sequence[str],
        separator: str,
        form: FileFormat,
        n_declared: int = 0,
        gaps: Gaps = (),
    ) -> _Layout:
        """The layout of a file's first lines, cut by a separator or between gaps."""
        lines = lines[n_declared:]
        if separator == BLANK:
            lines = [collapse_blanks(line.encode(), gaps).decode() for line in lines]
        numbered = _rows(lines, separator)
        rows = [row for _, row in numbered]
        if not rows:
            return cls(Dialect(separator, n_declared, n_declared > 0), 0, 0.0, False)
        widths = Counter(len(row) for row in rows if not _is_comment(row))
        n_cut = max(widths or [1], key=lambda width: (widths[width], width))
        if n_cut > 1 and len(rows) <= _MAX_ROWS:
            # Notes below the rows are not part of their layout.
            end = footer_start([line.encode() for line in lines], separator, n_cut)
            rows = [row for above, row in numbered if above < end] or rows
        full = [row for row in rows if len(row) == n_cut]
        # The header itself may end without a separator.
        trailing = n_cut > 1 and len(full) > 1 and not any(r[-1] for r in full[1:])
        n_cells = n_cut - trailing
        ends = [row[:n_cells] if len(row) == n_cut else row for row in rows]
        first, has_title = _first_row(ends, n_cells, form.no_header)
        if trailing and any(rows[first][n_cells:]):
            trailing, n_cells, ends = False, n_cut, rows
            first, has_title = _first_row(ends, n_cells, form.no_header)
        joined: Row = []
        if not form.no_header and separator != BLANK:
            first, joined = _groups_and_names(ends, first)
        header, others = joined or ends[first], ends[first + 1 + bool(joined) :]
        is_apart = not (form.no_header or joined) and _is_apart(header, others)
        below = _without_copies(header, others)
        is_short = not form.no_header and not trailing and _is_short(header, below)
        if is_short:
            header = ["", *header]
        dialect = Dialect(
            separator,
            n_declared + numbered[first][0],
            first + n_declared > 0,
            trailing,
            len(header),
            is_short,
            0 if form.no_header else _n_units(below, len(header)),
            () if form.no_header else _empty_columns(header, below),
            not form.no_header and _is_like_data(header, below),
            is_apart,
            tuple(joined),
            gaps,
        )
        rows = [header, *below]
        share = sum(len(row) == len(header) for row in rows) / len(rows)
        return cls(dialect, len(header) + trailing, share, has_title)


def _rows(lines: Sequence[str], separator: str) -> list[tuple[int, Row]]:
    """The first rows that are not blank, and the number of lines above each."""
    rows: list[tuple[int, Row]] = []
    reader = csv.reader(lines, delimiter=separator)
    above = 0
    with contextlib.suppress(csv.Error):
        for row in reader:
            # A line of blanks is blank; an empty cell in quotes is a row.
            if row and (len(row) > 1 or not row[0].isspace()):
                rows.append((above, row))
            if len(rows) > _MAX_ROWS:
                break
            above = reader.line_num
    return rows


def _is_comment(row: Row) -> bool:
    """Whether a row begins as comments do."""
    return row[0].lstrip().startswith(("#", "%"))


def _first_row(rows: Sequence[Row], width: int, no_header: bool) -> tuple[int, bool]:
    """The row that is the header, or the first of values, and if a title is above."""
    first = sum(1 for _ in takewhile(_is_comment, rows))
    if width == 1 or first == len(rows):
        return 0, False
    # A header, and rows, may begin with the sign of a comment.
    full = [i for i, row in enumerate(rows[:first]) if len(row) == width]
    if full and no_header:
        return full[0], False
    if full and not _is_header(rows[first], rows[first + 1 :]):
        names = [i for i in full if _is_header(rows[i], rows[i + 1 :])]
        return (names or full[:1])[-1], False

    def is_title(row: Row) -> bool:
        """Whether a row has few cells; spreadsheets fill it up with empty ones."""
        n_filled = max((i for i, cell in enumerate(row, 1) if cell.strip()), default=0)
        is_short = len(row) < width or not no_header
        return is_short and n_filled <= max(1, width // 2)

    after = first + sum(1 for _ in takewhile(is_title, rows[first:]))
    if after == first or after == len(rows) or len(rows[after]) != width:
        return first, False
    header, below = rows[after], rows[after + 1 :]
    # Names may be numbers if others are above values of another kind.
    if (
        no_header
        or _is_header(header, below)
        or _names_columns(header, below)
        or _joined_names(header, below)
    ):
        return after, True
    return first, False


def _is_header(row: Row, below: Sequence[Row]) -> bool:
    """Whether all cells of a row can be names, or years, and none is a value below.

    The first column, and those without text, may lack a name.
    """
    names = [cell for cell in row if cell.strip()]
    below = _without_copies(row, below)
    return 0 < len(names) == len({*names}) and all(
        not any("".join(r[place : place + 1]).strip() for r in below if place)
        if not cell.strip()
        else (_YEAR.fullmatch(cell) or not _NUMBER.fullmatch(cell))
        and not _occurs(cell, place, below)
        for place, cell in enumerate(row)
    )


def _groups_and_names(rows: Sequence[Row], first: int) -> tuple[int, Row]:
    """The first row of a header, and its names if they are in two rows."""
    groups, names = rows[first - 1], rows[first]
    # A title is above names that need none, and begins in the first cell.
    need_groups = len({*names}) < len(names)
    are_groups = need_groups or (not groups[0].strip() and sum(map(bool, groups)) > 1)
    for start in (first, first - 1)[: 1 + (first > 0 and are_groups)]:
        if joined := _joined_names(rows[start], rows[start + 1 :]):
            return start, joined
    return first, []


def _joined_names(groups: Row, rows: Sequence[Row]) -> Row:
    """Distinct names of two rows, as in "2020 Sales"; none unless these have groups.

    A group is above several names, in the first cell or in all.
    """
    if len(rows) < 2 or len(groups) != len(rows[0]):
        return []
    n_columns = Counter(group.strip() for group in groups[1:])
    has_gaps = n_columns.pop("", 0) > 0
    if not n_columns or not (has_gaps or max(n_columns.values()) > 1):
        return []
    if groups[0].strip() and rows[0][0].strip() and len({*rows[0]}) == len(rows[0]):
        return []  # a title
    are_years = all(map(_YEAR.fullmatch, rows[0][1:]))
    below = rows[1 + _n_units(rows[1:], len(rows[0])) :]
    if not (are_years or _names_columns(rows[0], below)):
        return []
    joined, group = [], ""
    for above, name in zip(groups, rows[0], strict=True):
        is_number = _NUMBER.fullmatch(name) and not _YEAR.fullmatch(name)
        if not (above.strip() or name.strip()) or is_number:
            return []
        group = above.strip() or group
        parts = [part for part in (group, name.strip()) if part]
        joined.append(" ".join(dict.fromkeys(parts)))
    return joined if len({*joined}) == len(joined) else []


def _names_columns(row: Row, below: Sequence[Row]) -> bool:
    """Whether cells of a row differ from those below, which are numbers or repeated."""
    names = {j: name for j, name in enumerate(row) if not _NUMBER.fullmatch(name)}
    if any(name.strip() and _occurs(name, j, below) for j, name in names.items()):
        return False
    columns = [[r[j] for r in below if len(r) == len(row)] for j in range(len(row))]
    return _is_apart(row, below) or any(
        name.strip() and columns[j] and min(Counter(columns[j]).values()) > 1
        for j, name in names.items()
    )


def _is_apart(header: Row, rows: Sequence[Row]) -> bool:
    """Whether a column has a name above numbers, dates or other cells with digits.

    Copies of the header and marks of missing cells may be among them.
    """
    others = [row for row in rows if row != header]
    for index, name in enumerate(header if len(header) > 1 else ()):
        cells = [
            cell
            for row in others
            for cell in row[index : index + 1]
            if not is_marker(cell)
        ]
        are_values = cells and all(map(_DIGIT.search, cells))
        if are_values and name.strip() and not _DIGIT.search(name):
            return True
        are_numbers = are_values and all(map(_LIKE_NUMBER.fullmatch, cells))
        if are_numbers and name.strip() and not _LIKE_NUMBER.fullmatch(name):
            return True
    return False


def _without_copies(header: Row, rows: Sequence[Row]) -> Sequence[Row]:
    """Rows without those that repeat the header, as on every page of a print."""
    if header not in rows or not _is_apart(header, rows):
        return rows
    return [row for row in rows if row != header]


def _is_like_data(row: Row, below: Sequence[Row]) -> bool:
    """Whether all cells of a row are numbers, empty or values below."""
    return bool(below) and all(
        not cell.strip() or _NUMBER.fullmatch(cell) or _occurs(cell, place, below)
        for place, cell in enumerate(row)
    )


def _is_short(header: Row, rows: Sequence[Row]) -> bool:
    """Whether rows begin with a name each, as R writes them, and the header does not.

    A header of one cell may be above numbers with decimal commas.
    """
    names = [row[0] for row in rows if len(row) == len(header) + 1]
    are_most = len(names) > 0.9 * len(rows)
    return len(header) > 1 and are_most and len({*names}) == len(names)


def _n_units(rows: Sequence[Row], width: int) -> int:
    """Lines below a header that are not rows: of units, or two of Qualtrics."""
    if len(rows) > 1 and len(rows[1]) == width and all(map(_IMPORT.match, rows[1])):
        return 2
    return int(_are_units(rows, width))


def _are_units(rows: Sequence[Row], width: int) -> bool:
    """Whether the first row has units: words above numbers alone, or in brackets.

    Rules of dashes, by which databases print columns, are skipped as well.
    """
    if len(rows) < 2 or len(rows[0]) != width:
        return False
    words = [(j, cell.strip()) for j, cell in enumerate(rows[0]) if cell.strip()]
    if len(words) < 2:
        return False
    if all(map(_RULE.fullmatch, rows[0])) and len("".join(rows[0])) > 3:
        return True
    below = {cell.strip() for row in rows[1:] for cell in row}
    if all(_BRACKETED.fullmatch(word) for _, word in words):
        return not any(map(_BRACKETED.fullmatch, below))
    for index, word in words:
        cells = [c for row in rows[1:] for c in row[index : index + 1] if c.strip()]
        if _LIKE_NUMBER.fullmatch(word) or word in MISSING_MARKERS:
            return False
        if not cells or not all(map(_LIKE_NUMBER.fullmatch, cells)):
            return False
    return True


def _empty_columns(header: Row, rows: Sequence[Row]) -> tuple[int, ...]:
    """The columns without a name and text, where several columns have no name."""
    unnamed = [index for index, name in enumerate(header) if not name.strip()]
    if len(unnamed) < 2:
        return ()
    return tuple(p for p in unnamed if not any("".join(r[p : p + 1]) for r in rows))


def footer_start(lines: Sequence[bytes], separator: str, width: int) -> int:
    """The first of the last lines of a file that are below its rows.

    These have not as many cells as rows, or a blank after each separator as no row has,
    and are below a blank line, or text in one cell; what may be a row that was cut off,
    or the end of a cell in quotes, is not.
    """
    first = len(lines)
    are_spaced = bool(lines) and _is_spaced(_cells(lines[0], separator))
    for line in reversed(lines):
        cells = _cells(line, separator)
        n_cells = len(cells)
        # More cells than rows have only sentences with commas.
        is_row = n_cells == width or (n_cells > width and b" " not in line[:40])
        is_row &= are_spaced or not _is_spaced(cells)
        if line.strip() and (is_row or line.count(b'"') % 2):
            break
        first -= 1
    footer = [line for line in lines[first:] if line.strip()]
    if not footer or first == 0:
        return len(lines)
    texts = [line.decode("utf-8", "replace") for line in footer]
    are_texts = all(
        len(_cells(line, separator)) == 1 and re.search(r"[^\W\d_]", text)
        for line, text in zip(footer, texts, strict=True)
    )
    is_whole = footer[-1].endswith((b"\n", b"\r")) or re.search(r"[ :*]", texts[-1])
    is_apart = not lines[first].strip()
    return first if is_apart or (are_texts and is_whole) else len(lines)


def total_row(lines: Sequence[bytes], separator: str) -> bytes:
    """The last row if it looks like totals of those above, else nothing.

    It has a word for totals that no row above has there, and a number.
    """
    last, *above = [line for line in reversed(lines) if line.strip()] or [b""]
    row = _cells(last, separator)
    indices = [j for j, cell in enumerate(row) if _TOTAL.fullmatch(cell.strip())]
    if not indices or not any(map(_LIKE_NUMBER.fullmatch, row)):
        return b""
    rows = [_cells(line, separator) for line in above[:_MAX_ROWS]]
    return b"" if _occurs(row[indices[0]], indices[0], rows) else last.strip()


def _cells(line: bytes, separator: str) -> Row:
    """The cells of a line."""
    text = line.decode("utf-8", "replace").strip("\r\n")
    return next(csv.reader([text], delimiter=separator), [])


def _is_spaced(row: Row) -> bool:
    """Whether a blank is behind each separator, as behind commas of a sentence."""
    return len(row) > 1 and all(cell.startswith(" ") for cell in row[1:])


def _occurs(cell: str, place: int, below: Sequence[Row]) -> bool:
    """Whether a cell of some row at a position is the same."""
    return any(row[place : place + 1] == [cell] for row in below)
