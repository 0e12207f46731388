"""Columns of text that are aligned by blanks, found by where all lines are blank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Ranges of positions between columns, which are blank in all lines.
Gaps = tuple[tuple[int, int], ...]
# Lines that may be above a header, and characters to look at.
_MAX_ABOVE, _MAX_SIGNS = 10, 1 << 22
_BLANK = ord(" ")
_DIGITS = np.array([*map(ord, "0123456789")], np.uint32)
_NUMBER_SIGNS = np.array([*map(ord, "0123456789.,-+%() ")], np.uint32)


class Aligned(NamedTuple):
    """Columns of fixed width in the lines of a file."""

    n_above: int  # lines of a title
    gaps: Gaps


def aligned_columns(lines: Sequence[str], *, has_header: bool) -> Aligned | None:
    """The columns of a file's first lines; None if these are not aligned.

    Lines of a title may be above them, and notes below a blank line.
    """
    texts = [line.rstrip() for line in lines]
    width = max(map(len, texts), default=0)
    is_aligned = any("  " in text.lstrip() for text in texts)
    if not is_aligned or "\t" in "".join(texts) or width * len(texts) > _MAX_SIGNS:
        return None
    joined = "".join(text.ljust(width) for text in texts).encode("utf-32-le")
    signs = np.frombuffer(joined, np.uint32).reshape(len(texts), width)
    filled = np.flatnonzero((signs != _BLANK).any(axis=1))
    breaks = filled[:-1][np.diff(filled) > 1]
    last = int(breaks[-1]) + 1 if len(breaks) else len(texts)
    apart: list[Aligned] = []
    others: list[Aligned] = []
    for n_titles, start in enumerate(
        filled[: _MAX_ABOVE if has_header else 1].tolist()
    ):
        above = texts[start - 1] if start else ""
        is_apart = not n_titles or not above or above.startswith(("#", "%"))
        parts = [
            signs[filled[(filled >= start) & (filled < n)]] for n in (len(texts), last)
        ]
        results = (
            Aligned(start if n_titles else 0, _gaps(part, has_header=has_header))
            for part in parts
            if not n_titles or _is_below_title(part)
        )
        (apart if is_apart else others).extend(r for r in results if r.gaps)
    # A title or notes are across gaps of the rows.
    return max(apart or others[:1], key=lambda result: len(result.gaps), default=None)


def _is_below_title(signs: NDArray[np.uint32]) -> bool:
    """Whether the first of some lines may be a header, and not a row."""
    return len(signs) > 2 and not bool(np.isin(signs[0], _DIGITS).any())


def _gaps(signs: NDArray[np.uint32], *, has_header: bool) -> Gaps:
    """The gaps of lines of characters (n_lines, n_positions); none for other texts."""
    if len(signs) < 2:
        return ()
    is_blank = signs == _BLANK
    edges = np.flatnonzero(np.diff(is_blank.all(axis=0), prepend=True, append=True))
    gaps = list(zip(edges[1:-1:2].tolist(), edges[2::2].tolist(), strict=True))
    index = 0
    while has_header and index < len(gaps):
        following = [*gaps[index + 1 :], (int(edges[-1]), len(is_blank[0]) + 2)]
        sizes = [end - start for start, end in (gaps[index], following[0])]
        column = is_blank[:, gaps[index][1] : following[0][0]]
        has_name, has_cells = not column[0].all(), not column[1:].all()
        if has_name and (has_cells or min(sizes) > 1):
            index += 1
            continue
        # Words without a name above, or cells below, belong to those that are nearest,
        # such as the second words of names that are equally long.
        del gaps[index + (sizes[1] < sizes[0] and len(following) > 1)]
    bounds = [int(edges[0]), *(edge for gap in gaps for edge in gap), int(edges[-1])]
    columns = zip(bounds[::2], bounds[1::2], strict=True)
    are_columns = all(_is_column(signs[:, a:b], has_header) for a, b in columns)
    return tuple(gaps) if are_columns else ()


def _is_column(signs: NDArray[np.uint32], has_header: bool) -> bool:
    """Whether cells begin or end at one position, or are numbers, and none is two."""
    cells = signs[int(has_header) :]
    cells = cells[(cells != _BLANK).any(axis=1)]
    is_blank = cells == _BLANK
    starts = is_blank.argmin(axis=1)
    ends = cells.shape[1] - is_blank[:, ::-1].argmin(axis=1)
    texts = ["".join(map(chr, row)).strip() for row in signs.tolist()]
    n_double = sum("  " in text for text in texts[int(has_header) :])
    if "  " in texts[0] or 2 * n_double > len(cells):
        return False
    are_numbers = bool(np.isin(cells, _NUMBER_SIGNS).all())
    return are_numbers or len({*starts}) <= 1 or len({*ends}) <= 1


def parts_between(line: str, gaps: Gaps) -> list[str] | None:
    """The parts of a line, cut in each gap; None if a cell is across one.

    Text in a gap belongs to the cell that it follows, or is before, by one blank at
    most.
    """
    parts, start = [], 0
    for first, last in gaps:
        gap, end = line[first:last], min(last, len(line))
        if text := gap.strip(" "):
            begin = end - len(gap.lstrip(" "))
            before, after = line[:begin], line[begin + len(text) :]
            n_before = len(before) - len(before.rstrip(" "))
            n_after = len(after) - len(after.lstrip(" ")) if after.strip(" ") else 2
            if n_before == n_after or min(n_before, n_after) > 1:
                return None
            end = end if n_before < n_after else begin
        parts.append(line[start:end])
        start = end
    return [*parts, line[start:]]


def _extents(line: str, gaps: Gaps) -> list[tuple[int, int]]:
    """The first position of each cell of a line, and that behind its last."""
    extents, position = [], 0
    for part in parts_between(line, gaps) or [""] * (len(gaps) + 1):
        first = position + len(part) - len(part.lstrip())
        extents.append((first, first + len(part.strip())))
        position += len(part)
    return extents


class FixedColumns:
    """Columns between gaps, in whose lines cells are filled in."""

    def __init__(self, lines: Sequence[str], gaps: Gaps) -> None:
        """Note the positions of cells in a header and rows."""
        self._gaps = gaps
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._is_right = []  # whether cells end, rather than begin, at one position
        for cells in zip(*[_extents(line, gaps) for line in lines], strict=True):
            filled = [(first, end) for first, end in cells if first < end]
            start, _ = min(filled, default=(0, 0))
            self._starts.append(start)
            self._ends.append(max((end for _, end in filled), default=start))
            self._is_right.append(any(start < a < b for a, b in cells[1:]))
        # Characters by which columns become wider.
        self._further = [0] * len(self._starts)

    @property
    def width(self) -> int:
        """Characters of a line."""
        return self._ends[-1] + sum(self._further)

    def widen(self, widths: Sequence[int]) -> None:
        """Make room for cells of so many characters in each column."""
        self._further = [
            max(0, width - (end - start))
            for width, start, end in zip(widths, self._starts, self._ends, strict=True)
        ]

    def line(self, line: str, cells: Sequence[str | None]) -> str:
        """A line with some of its cells filled in, aligned as the others are."""
        if not any(self._further) and not any(cells):
            return line
        parts = parts_between(line.ljust(self._ends[-1]), self._gaps)
        if parts is None:
            return line
        position, result = 0, ""
        for j, (part, cell) in enumerate(zip(parts, cells, strict=True)):
            further = " " * self._further[j]
            if cell is not None:
                start, end = max(self._starts[j], position), self._ends[j]
                width = end - start + len(further)
                cell = cell.rjust(width) if self._is_right[j] else cell.ljust(width)
                new = " " * (start - position) + cell
                result += new.ljust(len(part) + len(further))
            else:
                result += further + part if self._is_right[j] else part + further
            position += len(part)
        return result.rstrip()
