"""Lines of a CSV file in its own text, with cells that a command adds or fills in.

All other cells and lines stay as the file has them, byte for byte.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from bayleaf.data.files.csv_dialects import Dialect, collapse_blanks
from bayleaf.data.files.file_format import BLANK
from bayleaf.data.files.fixed_widths import FixedColumns, parts_between
from bayleaf.data.tables.array_columns import arrow_of
from bayleaf.data.text_forms import TRUTHS, TextEvidence, decide
from bayleaf.wording import quoted

# Text after the byte-order mark, whose codec would write the mark again, or turn bytes.
_AFTER_MARK = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
# Rows by whose numbers the decimal sign is chosen.
_SHOWN_ROWS = 1000
_NUMBER = re.compile(r"[+-]?[\d.,]+([eE][+-]?\d+)?")


class CsvRows:
    """The lines of a CSV file that is read, as they are written back.

    Numbers that are added have a `decimal` sign, by default that of the file's numbers
    or, if these show none, the `usual` one.
    """

    def __init__(self, decimal: str | None = None, usual: str = ".") -> None:
        self._decimal, self._usual = decimal, usual
        self._blocks: list[bytes] = []  # of UTF-8, read but not taken
        self._mark, self._encoding, self._only_returns = b"", "utf-8", False
        self._dialect, self._above, self._header = Dialect(), b"", b""
        self._units: list[bytes] = []  # lines below the header that are not rows
        self._copy = b""  # lines that are left out, since they repeat the header
        self._columns: FixedColumns | None = None  # if their positions are fixed
        self._row_width = 0  # characters of rows whose cells are aligned by blanks
        self._widths: list[int] = []  # characters of each column that is added
        self._places: list[int] = [0]  # of the file's columns that are read
        self.has_layout = False  # whether the file is CSV
        self._header_end = b"\n"
        self._all_quoted: bool | None = None  # whether numbers are, too

    @property
    def n_columns(self) -> int:
        """Columns that are read."""
        return len(self._places)

    def set_encoding(self, start: bytes, encoding: str, *, only_returns: bool) -> None:
        """Note how the file's bytes became lines of UTF-8."""
        marks = (mark for mark in _AFTER_MARK if start.startswith(mark))
        mark = next(marks, b"")
        self._encoding = _AFTER_MARK.get(mark, encoding)
        # A program that adds a mark to one writes two.
        self._mark = mark * (1 + (mark != b"" and start.startswith(mark * 2)))
        self._only_returns = only_returns

    def set_layout(
        self,
        dialect: Dialect,
        n_columns: int,
        above: bytes,
        header: bytes,
        start: bytes,
        units: Sequence[bytes] = (),
    ) -> None:
        """Note the layout, the lines above the rows, and the lines in `start`."""
        self._dialect, self._above = dialect, above
        self._places = [j for j in range(n_columns) if j not in dialect.empty]
        self.has_layout = True
        self._header = header.rstrip(b"\r\n")
        self._units = [line.rstrip(b"\r\n") for line in units]
        first = start.partition(b"\n")[0]
        usual = b"\r\n" if first.endswith(b"\r") else b"\n"
        self._header_end = header[len(self._header) :] or usual
        is_apart = dialect.is_apart and b"\n" not in self._header
        self._copy = self._header if is_apart else b""
        if self._is_blank:
            lines = start.removeprefix(above).splitlines()
            rows = [row for row in lines if len(self._cells(row)) == n_columns]
            if any(re.search(rb"\S[ \t]{2,}\S", row) for row in rows):
                self._row_width = max(map(_n_signs, rows))
            if dialect.gaps:
                texts = [row.decode() for row in rows]
                self._columns = FixedColumns(texts, dialect.gaps)

    def watched(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The same blocks of the lines below the header, which can be taken here."""
        for block in blocks:
            self._blocks.append(block)
            yield block

    def head(
        self,
        names: Sequence[str],
        columns: Sequence[pa.Array],
        changes: Sequence[Sequence[str | None]] = (),
    ) -> bytes:
        """The file's beginning up to its header, which gains the names of columns.

        The first cells of all `columns` show the file's decimal sign and the widths of
        those that are added; `changes` are those of all rows, for which columns of
        fixed width may become wider.
        """
        if self._columns and changes:
            n_signs = [max(len(text or "") for text in texts) for texts in changes]
            self._columns.widen(n_signs)
            self._row_width = self._columns.width
            none = [None] * len(n_signs)
            self._header, *self._units = (
                self._columns.line(line.decode(), none).encode()
                for line in (self._header, *self._units)
            )
        n_own = len(self._places)
        if self._decimal is None:
            forms = (
                decide(TextEvidence.of(column.slice(0, _SHOWN_ROWS))).form
                for column in columns[:n_own]
                if pa.types.is_string(column.type)  # not declared categories
            )
            has_commas = any(form.decimal == "," for form in forms)
            self._decimal = "," if has_commas else self._usual
        added = [self._cell(name) for name in names]
        if self._row_width:
            self._widths = [
                self._width(name, cells)
                for name, cells in zip(added, columns[n_own:], strict=True)
            ]
            # No blanks end a line.
            self._widths[-1:] = [max(width, 0) for width in self._widths[-1:]]
            texts = (arrow_of([name.decode()]) for name in added)
            padded = map(_padded, texts, self._widths)
            added = [name[0].as_py().encode() for name in padded]
        lines = self._above + self._joined(self._header, added) + self._header_end
        empty = [self._cell("", in_quotes=False)] * len(added)
        for line in self._units:
            lines += self._joined(line, empty) + self._header_end
        return self._mark + self._encoded(lines)

    def body(
        self,
        n_rows: int,
        added: Sequence[pa.Array],
        changes: Sequence[Sequence[str | None]] = (),
    ) -> bytes:
        """The lines up to the next rows, and these with further cells, encoded.

        `changes` are the texts to write in place of the file's, by column and row; None
        where its own stays.
        """
        before, rows, ends = self._taken(n_rows)
        if rows and self._all_quoted is None:
            first = self._cells(rows[0])
            self._all_quoted = all(cell.startswith(b'"') for cell in first)
        if changes:
            changed = zip(rows, zip(*changes, strict=True), strict=True)
            rows = [self._changed(row, texts) for row, texts in changed]
        if added:
            columns = [self._texts(column) for column in added]
            if self._widths:
                padded = zip(columns, self._widths, strict=True)
                columns = [_padded(texts, width) for texts, width in padded]
            sign = arrow_of([self._dialect.separator])[0]
            joined = pc.binary_join_element_wise(*columns, sign)
            cells = joined.cast(pa.binary()).to_pylist()
            if self._dialect.is_trailing or self._row_width:
                pairs = zip(rows, cells, strict=True)
                rows = [self._joined(row, [others]) for row, others in pairs]
            else:
                rows = list(map(self._sign.join, zip(rows, cells, strict=True)))
        if len({*ends}) == 1:
            return self._encoded(before + ends[0].join([*rows, b""]))
        lines = chain.from_iterable(zip(rows, ends, strict=True))
        return self._encoded(before + b"".join(lines))

    def _width(self, name: bytes, cells: pa.Array) -> int:
        """Characters of a new column; negative where blanks follow its texts."""
        kind = cells.type
        longest: int = pc.max(pc.utf8_length(self._texts(cells))).as_py()
        width = max(_n_signs(name), longest)
        is_number = pa.types.is_floating(kind) or pa.types.is_integer(kind)
        return width if is_number else -width

    def tail(self) -> bytes:
        """The lines below the last row that was taken, in the file's encoding."""
        lines = b"".join(self._blocks).splitlines(keepends=True)
        return self._encoded(b"".join(x for x in lines if not self._is_copy(x)))

    def _taken(self, n_rows: int) -> tuple[bytes, list[bytes], list[bytes]]:
        """The lines before the next rows, these, and the end of each up to the next.

        Arrow's reader must have returned the rows.
        """
        content = b"".join(self._blocks)
        lines: Iterable[bytes] = content.splitlines(keepends=True)
        if b'"' in content and not self._columns:
            lines = (match[0] for match in self._row.finditer(content))
        ready = self._plain_rows(content, n_rows)
        if ready is not None:
            return ready
        before, n_taken = b"", 0
        rows: list[bytes] = []
        ends: list[bytes] = []
        for line in lines:
            row = line.rstrip(b"\r\n")
            is_row = row.strip() if self._is_blank else row
            if len(rows) == n_rows:
                break
            n_taken += len(line)
            if self._copy and self._is_copy(line):
                continue
            if is_row:
                rows.append(row)
                ends.append(line[len(row) :])
            elif rows:
                ends[-1] += line
            else:
                before += line
        self._blocks = [content[n_taken:]]
        return before, rows, ends

    def _plain_rows(
        self, content: bytes, n_rows: int
    ) -> tuple[bytes, list[bytes], list[bytes]] | None:
        """The same where rows are all lines, which end alike; else None."""
        has_copies = self._copy and self._copy in content
        if b'"' in content or has_copies or self._is_blank:
            return None
        whole = content[: content.rfind(b"\n") + 1]
        lines, n_returns = whole.splitlines(), whole.count(b"\r\n")
        end = b"\r\n" if n_returns else b"\n"
        rows = lines[:n_rows]
        is_alike = whole.count(end) == len(lines) and whole.count(b"\r") == n_returns
        if not (is_alike and len(rows) == n_rows and all(rows)):
            return None
        n_taken = sum(map(len, rows)) + n_rows * len(end)
        self._blocks = [content[n_taken:]]
        return b"", rows, [end] * n_rows

    def _is_copy(self, line: bytes) -> bool:
        """Whether a line repeats the header."""
        row = line.rstrip(b"\r\n")
        if not self._copy or not self._is_blank:
            return bool(row) and row == self._copy
        gaps = self._dialect.gaps
        return collapse_blanks(row, gaps) == collapse_blanks(self._copy, gaps)

    @property
    def _is_blank(self) -> bool:
        """Whether any number of blanks separates cells."""
        return self._dialect.separator == BLANK

    @cached_property
    def _sign(self) -> bytes:
        """What separates cells."""
        return self._dialect.separator.encode()

    @cached_property
    def _pattern(self) -> bytes:
        """A cell, in which quotes count only at its beginning, as for Arrow."""
        tab = b"\t" if self._is_blank else b""
        return rb'(?:"(?:[^"]|"")*+")?+[^%s\r\n]*' % (re.escape(self._sign) + tab)

    @cached_property
    def _row(self) -> re.Pattern[bytes]:
        """A row of the file with its line end; blank lines are rows without text."""
        cell = self._pattern
        sign = rb"[ \t]" if self._is_blank else re.escape(self._sign)
        return re.compile(rb"(%s(?:%s%s)*+)(?:\r\n|\r|\n|\Z)" % (cell, sign, cell))

    @cached_property
    def _is_quoted(self) -> bool:
        """Whether the file has its names in quotes, and so its texts."""
        cells = self._cells(self._header)
        return all(cell.startswith(b'"') for cell in cells)

    def _cells(self, row: bytes) -> list[bytes]:
        """The cells of a row as the file writes them."""
        sign = re.escape(self._sign)
        if self._dialect.gaps:
            parts = parts_between(row.decode().rstrip(), self._dialect.gaps) or ()
            return [part.strip().encode() for part in parts]
        if self._is_blank:
            row = collapse_blanks(row).rstrip(b"\n")
        return re.findall(rb"(?:\A|%s)(%s)" % (sign, self._pattern), row)

    def _joined(self, row: bytes, cells: Sequence[bytes]) -> bytes:
        """A row with further cells, before the separator that ends each line."""
        end = b""
        if self._row_width and cells:
            row += b" " * (self._row_width - _n_signs(row))
        if self._dialect.is_trailing:
            cells_of_row = self._cells(row)
            if len(cells_of_row) > self._dialect.n_cells:
                end = self._sign + cells_of_row[-1]
                row = row.removesuffix(end)
        return self._sign.join([row, *cells]) + end

    def _changed(self, row: bytes, texts: Sequence[str | None]) -> bytes:
        """A row with other texts in some of its cells."""
        if self._columns:
            return self._columns.line(row.decode(), texts).encode()
        if not any(text is not None for text in texts):
            return row
        cells = self._cells(row)
        former = cells.copy()
        for index, text in zip(self._places, texts, strict=True):
            if text is not None:
                was_quoted = cells[index].startswith(b'"')
                is_text = _NUMBER.fullmatch(text) is None and text not in TRUTHS
                cells[index] = self._cell(text, was_quoted or (is_text and None))
        if self._is_blank:
            return _filled(row, former, cells, is_aligned=self._row_width > 0)
        return self._sign.join(cells)

    def _cell(self, text: str, in_quotes: bool | None = None) -> bytes:
        """A cell with a text, in quotes if it needs them or by default as the names."""
        sign = self._dialect.separator
        needs = any(special in text for special in ('"', "\r", "\n", sign))
        needs |= sign == BLANK and (not text or "\t" in text)
        if (needs and not self._columns) or (
            self._is_quoted if in_quotes is None else in_quotes
        ):
            text = '"{}"'.format(text.replace('"', '""'))
        return text.encode()

    def _texts(self, column: pa.Array) -> pa.Array:
        """The cells of a column that the file did not have."""
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        texts = column.cast(pa.string())
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(
            column.type
        )
        if pa.types.is_floating(column.type) and self._decimal == ",":
            texts = pc.replace_substring(texts, ".", ",")
        if texts.null_count:
            texts = pc.fill_null(texts, "")
        is_clash = self._decimal == self._sign.decode()
        if not (is_text or is_clash or self._all_quoted):
            return texts
        numbered = texts.dictionary_encode()
        in_quotes = None if is_text else self._all_quoted
        cells = [self._cell(t, in_quotes) for t in numbered.dictionary.to_pylist()]
        return arrow_of([cell.decode() for cell in cells]).take(numbered.indices)

    def _encoded(self, content: bytes) -> bytes:
        """Text in the file's encoding."""
        if self._only_returns:
            content = content.replace(b"\n", b"\r")
        if codecs.lookup(self._encoding).name == "utf-8":
            return content
        try:
            return self._encoder.encode(content.decode())
        except UnicodeEncodeError as error:
            text = error.object[error.start : error.end]
            raise ValueError(
                f"{quoted(text)} of the model cannot be written in the encoding of the "
                f"file, {self._encoding}; write Parquet, or save the file as UTF-8"
            ) from error

    @cached_property
    def _encoder(self) -> codecs.IncrementalEncoder:
        """Encodes one part of the file after another."""
        name = codecs.lookup(self._encoding).name
        little = {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}
        return codecs.getincrementalencoder(little.get(name, name))()


def _n_signs(text: bytes) -> int:
    """Characters of a text."""
    return len(text.decode())


def _padded(texts: pa.Array, width: int) -> pa.Array:
    """Texts with blanks before them, or after them if a width is negative."""
    return (pc.utf8_rpad if width < 0 else pc.utf8_lpad)(texts, abs(width))


def _filled(
    row: bytes, old: Sequence[bytes], new: Sequence[bytes], *, is_aligned: bool
) -> bytes:
    """A row of cells between blanks with other cells.

    If they are aligned, the rest stays where it was as far as there is room.
    """
    result, position, n_further = b"", 0, 0
    for before, after in zip(old, new, strict=True):
        start = row.index(before, position)
        longer = (_n_signs(after) - _n_signs(before)) * is_aligned
        # Numbers end where the cell did, texts begin where it began.
        is_number = _NUMBER.fullmatch(after.decode()) is not None
        n_further += longer * is_number
        gap = row[position:start]
        if n_further:
            gap = b" " * max(len(gap) - n_further, bool(result))
            n_further -= start - position - len(gap)
        n_further += longer * (not is_number)
        result, position = result + gap + after, start + len(before)
    return result + row[position:]
