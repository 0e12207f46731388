"""Rows of a CSV file on standard input, scored line by line."""

from __future__ import annotations

import csv
import errno
import io
import math
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from bayleaf.io.exports.scorers.program.row_cells import NUMBER
from bayleaf.io.exports.scorers.program.scoring import Scorer

_MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "None", "#N/A", "n/a", "?")
# A spreadsheet takes a cell that begins so for a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_TERMS_SHOWN = 10
# The status of a program that SIGPIPE ends, as shells report it.
_READER_LEFT = 141


def main(scorer: Scorer, arguments: list[str], usage: Any = None) -> int:
    """Score standard input; 2 if it cannot be read, with a sentence saying why."""
    options = set(arguments[1:])
    if options - {"--explain"}:
        asked = bool(options & {"-h", "--help"})
        print(usage, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    source = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
    target = io.TextIOWrapper(
        sys.stdout.buffer, encoding="utf-8", errors="backslashreplace", newline=""
    )
    try:
        try:
            _score(scorer, source, target, "--explain" in options)
        finally:
            target.flush()
    except (ValueError, csv.Error, OSError) as error:
        if isinstance(error, OSError):
            # What is left to write, also when Python ends, must not fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if error.errno in (errno.EPIPE, errno.EINVAL):
                return _READER_LEFT
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 2
    return 0


def _score(scorer: Scorer, source: Any, target: Any, explains: bool) -> None:
    """Score all rows of a file."""
    rows = csv.reader(source)
    header = next(rows, None)
    if not header:
        raise ValueError("standard input has no column names; give CSV with a header")
    added = ["prediction", *(f"probability_{label}" for label in scorer.classes)]
    _check_distinct(header, "standard input has several columns called")
    _check_distinct(map(_without_formula, scorer.classes), "as CSV several classes are")
    writer = csv.writer(target, lineterminator="\n")
    if not explains:
        _check_distinct([*header, *added], "standard input already has a column")
        writer.writerow([*header, *added])
    for number, cells, codes in _coded(scorer, header, rows):
        if explains:
            target.write(_explained(number, scorer.explanation(codes)))
            continue
        logs = scorer.log_proba(codes)
        proba = [repr(math.exp(own)) for own in logs]
        label = _without_formula(scorer.classes[scorer.chosen(logs)])
        writer.writerow([*cells, label, *proba])


def _check_distinct(names: Iterable[str], where: str) -> None:
    """Raise ValueError if names occur twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{where} {name!r}; give each another name")
        seen.add(name)


def _coded(
    scorer: Scorer, header: list[str], rows: Any
) -> Iterator[tuple[int, list[str], list[int]]]:
    """Number, cells and codes of each row."""
    names = {str(cell.column): cell.column for cell in scorer.cells}
    for number, cells in enumerate(rows):
        if len(cells) != len(header):
            # A blank line is no row, unless it is the empty cell of a single column.
            if not cells:
                continue
            raise ValueError(
                f"row {number + 1} has {len(cells)} cells, but there are {len(header)} "
                "columns"
            )
        row = {
            names.get(name, name): None if cells[place] in _MISSING else cells[place]
            for place, name in enumerate(header)
        }
        try:
            codes = scorer.codes(row, True)
        except ValueError as error:
            raise ValueError(f"row {number + 1}: {error}") from None
        yield number, cells, codes


def _explained(number: int, found: dict[str, Any]) -> str:
    """The terms of a row as lines, the largest first."""
    lines = [
        f"row {number}: {_one_line(found['class'])} with probability "
        f"{found['probability']:.3f}, against {_one_line(found['against'])} with "
        f"{found['against_probability']:.3f}",
        f"log-odds {found['log_odds']:+.3f} nats, the sum of",
        _weighed(found["prior"], "prior"),
    ]
    ranked = sorted(found["terms"], key=lambda term: -abs(term["contribution"]))
    lines += [
        _weighed(term["contribution"], _one_line(term["text"]))
        for term in ranked[:_TERMS_SHOWN]
    ]
    rest = ranked[_TERMS_SHOWN:]
    if rest:
        total = sum([term["contribution"] for term in rest])
        lines.append(_weighed(total, f"{len(rest)} more together"))
    return "\n".join(lines) + "\n"


def _weighed(nats: float, text: str) -> str:
    """What a contribution amounts to, and where it comes from."""
    return f"  {round(nats, 3) + 0.0:+8.3f}  {text}"  # No zero is negative.


def _one_line(value: Any) -> str:
    """A label or text in which line ends and controls are escaped."""
    text = str(value)
    return "".join([c if c.isprintable() else ascii(c)[1:-1] for c in text])


def _without_formula(label: Any) -> str:
    """A label with an apostrophe before it if a spreadsheet would compute it."""
    text = str(label)
    risky = len(text) > 1 and text.startswith(_FORMULAS)
    return "'" + text if risky and not NUMBER.fullmatch(text) else text
