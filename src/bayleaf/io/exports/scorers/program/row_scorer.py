"""Rows of a scorer: their cells as codes, labels, probabilities and reasons; CSV files.

Like the engine, it stays with what the standard library of Python 3.8 offers.
"""

from __future__ import annotations

import csv
import datetime
import errno
import io
import json
import math
import os
import re
import sys
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.engine import (
    Program,
    known_shares,
    log_sum_exp,
    unpacked,
)

_TRUTHS = {"true": True, "false": False}
NUMBER = re.compile(
    r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)"
)


class Cell:
    """How a column of the row becomes the code of a variable."""

    def __init__(self, shipped: Any, readers: Any, empty: Any, markers: Any) -> None:
        self.column: Any = shipped["column"]
        self.readers = readers
        self.empty, self.markers = empty, markers
        self.text: Any = shipped.get("text", {})
        self.form: str = shipped["form"]
        self.part: Any = shipped.get("part")
        self.origin: int = shipped.get("origin", 0)
        self.unit: Any = shipped.get("unit")
        self.cuts: Any = shipped.get("cuts")
        # What the column held in training; empty where it held both or neither.
        self.sort: str = shipped["sort"]
        self.codes = dict(zip(shipped.get("values", ()), shipped.get("codes", ())))
        self.missing: Any = shipped["missing"]
        self.unknown: Any = shipped["unknown"]
        self.is_nearest = "nearest" in shipped

    def code(self, value: Any) -> int:
        """Code of a value; texts are read as those of training."""
        if _is_missing(value) or (isinstance(value, str) and self._is_empty(value)):
            return self._allowed(self.missing, "is missing, which the model refuses")
        if self.form in ("date", "duration"):
            found = self.readers["times"].value(value, self)
            is_unread = isinstance(found, str) and isinstance(value, str)
            if is_unread and self.unknown is not None:
                return self._allowed(self.missing, "holds a text that is none of those")
            if isinstance(found, str):
                raise self._differs(found, f"{self.form}s")
            value = found
        elif isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
            raise self._differs("dates or times", self.sort or "text")
        else:
            value = self._plain(value)
        if self.cuts is not None:
            return bisect_left(self.cuts, float(value))
        code = self.codes.get(value, self.unknown)
        return self._allowed(code, "holds a value that training did not contain")

    def note(self, value: Any, code: int, labels: Any) -> str:
        """Why a value is not taken as it is, if so."""
        if code >= (len(labels) if self.missing is None else self.missing):
            words = [*self.empty[1:], *self.text.get("missing", ())]
            is_text = isinstance(value, str)
            is_blank = value.strip() in words if is_text else _is_missing(value)
            return "missing" if is_blank else "unknown"
        if self.is_nearest and self._plain(value) != int(labels[code]):
            return f"nearest {labels[code]}"
        return ""

    def _allowed(self, code: Any, what: str) -> int:
        """A code, unless there is none for such a value."""
        if code is None:
            raise ValueError(f"column {self.column!r} {what}; give another value")
        return int(code)

    def _differs(self, held: str, was: str) -> ValueError:
        """The error for a value of another kind than those of training."""
        return ValueError(
            f"column {self.column!r} held {was} in training but holds {held} now; "
            f"convert it to {was}"
        )

    def _is_empty(self, text: str) -> bool:
        """Whether a text stands for an empty cell."""
        word = text.strip()
        is_marker = self.form in ("numbers", "truths") and word in self.markers
        return is_marker or text in self.empty or word in self.text.get("missing", ())

    def _plain(self, value: Any) -> Any:
        """A value as text, a number or a boolean, whichever training saw."""
        if not isinstance(value, str):
            self._check_number(value)
        elif self.form == "truths":
            value = _TRUTHS.get(value.strip().lower(), value)
        elif self.form == "numbers" or self.sort == "numbers":
            number = self.readers["numbers"].value(value, self)
            if number is not None:
                self._check_number(number)
                value = number
        now = "text" if isinstance(value, str) else "numbers"
        if self.sort and now != self.sort:
            raise self._differs(now, self.sort)
        return value

    def _check_number(self, value: Any) -> None:
        """Raise ValueError unless a value is a finite number or a boolean."""
        try:
            is_infinite = math.isinf(value)
        except TypeError:
            raise ValueError(
                f"column {self.column!r} holds a {type(value).__name__}; give text, a "
                "number or None"
            ) from None
        except OverflowError:
            raise ValueError(
                f"column {self.column!r} holds a number too large for a float; pass "
                "such identifiers as text"
            ) from None
        if is_infinite:
            raise ValueError(
                f"column {self.column!r} holds infinity; replace it by a number or None"
            )


def _is_missing(value: Any) -> bool:
    """Whether a value stands for an empty cell: None, or not a number."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True


# Features that a text names beside the one that a term is of.
_MOST_GIVEN = 3


class Scorer:
    """A model that scores one row at a time."""

    def __init__(self, model: Any, kinds: Sequence[Any], readers: Any = ()) -> None:
        self.classes: list[Any] = model["classes"]
        by_name = {kind.__name__.lower(): kind(model["patterns"]) for kind in readers}
        self.empty: Any = model.get("empty", ())
        empty = self.empty, model.get("markers", ())
        self.cells = [Cell(own, by_name, *empty) for own in model["cells"]]
        self.names: list[Any] = [own["feature"] for own in model["cells"]]
        self.left_out: Any = model.get("left_out", ())
        self.labels = [own["states"] for own in model["variables"][:-1]]
        self.texts: list[Any] = model["texts"]
        self.parents: list[list[int]] = model["parents"]
        self.temperature: float = model["temperature"]
        shift, strengths = model["shift"], model["strengths"]
        self.shift = unpacked(shift) if shift else [0.0] * len(self.classes)
        self.strengths = unpacked(strengths) if strengths else []
        loss, n = unpacked(model["loss"]) if model["loss"] else [], len(self.classes)
        # By class predicted, the costs by true class; empty without a loss.
        self.loss = [loss[k : k + n] for k in range(0, len(loss), n)]
        self.program = Program(model["program"], kinds)

    def codes(self, row: Mapping[Any, Any]) -> list[int]:
        """Codes of the values of a row; columns that the model has no use for pass."""
        if not hasattr(row, "keys"):
            raise TypeError(
                "a row must be a dict of columns and values, got a "
                f"{type(row).__name__}"
            )
        found = []
        for cell in self.cells:
            if cell.column not in row:
                raise ValueError(
                    f"the row lacks column {cell.column!r}; give it, as None if it is "
                    "not known"
                )
            found.append(cell.code(row[cell.column]))
        return found

    def notes(self, row: Mapping[Any, Any]) -> list[dict[str, Any]]:
        """Cells of a row that are not taken as they are."""
        notes = [
            (cell.column, cell.note(row[cell.column], code, labels))
            for cell, code, labels in zip(self.cells, self.codes(row), self.labels)
        ]
        known = {*self.left_out, *(column for column, _ in notes)}
        notes += [(name, "not in training") for name in row if name not in known]
        # One note for a date.
        return [
            {"column": k, "cell": None if _is_missing(row[k]) else row[k], "note": note}
            for k, note in {k: note for k, note in notes if note}.items()
        ]

    def _calibration(self, codes: list[int]) -> tuple[float, list[float]]:
        """What scores are divided by, and what is added then.

        Both are learned on rows that know all features.
        """
        known = self.program.known(codes)
        if not self.strengths or all(known):
            return self.temperature, self.shift
        _, share = known_shares(self.strengths, known)
        rate = 1.0 + share * (1.0 / self.temperature - 1.0)
        return 1.0 / rate, [share * nats for nats in self.shift]

    def log_proba(self, codes: list[int]) -> list[float]:
        """Logarithm of the probability of each class."""
        temperature, shift = self._calibration(codes)
        scores = self.program.scores(codes)
        scores = [score / temperature + shift[k] for k, score in enumerate(scores)]
        total = log_sum_exp(scores)
        if not math.isfinite(total):
            raise ValueError(
                "the row has probability zero under every class; use a smoothing rule "
                "that leaves no zero in the tables"
            )
        return [own - total for own in scores]

    def chosen(self, logs: list[float]) -> int:
        """The class that is most probable or, under a loss, cheapest."""
        proba = [math.exp(own) for own in logs]
        if not self.loss:
            return proba.index(max(proba))
        costs = [sum([p * own[k] for k, p in enumerate(proba)]) for own in self.loss]
        return costs.index(min(costs))

    def predict(self, row: Mapping[Any, Any]) -> Any:
        """The label of a row."""
        return self.classes[self.chosen(self.log_proba(self.codes(row)))]

    def predict_proba(self, row: Mapping[Any, Any]) -> dict[Any, float]:
        """The probability of each label."""
        logs = self.log_proba(self.codes(row))
        return {label: math.exp(logs[k]) for k, label in enumerate(self.classes)}

    def explanation(self, codes: list[int], against: Any = None) -> dict[str, Any]:
        """The log-odds of the label predicted against another, in terms that add up."""
        logs = self.log_proba(codes)
        target = self.chosen(logs)
        other = self._rival(logs, target, against)
        prior, terms = self.program.contributions(codes, target, other)
        temperature, shift = self._calibration(codes)
        prior = prior / temperature + (shift[target] - shift[other])
        return {
            "class": self.classes[target],
            "against": self.classes[other],
            "probability": math.exp(logs[target]),
            "against_probability": math.exp(logs[other]),
            "log_odds": logs[target] - logs[other],
            "prior": prior,
            "terms": [
                self._term(feature, codes, terms[feature] / temperature)
                for feature in range(len(codes))
            ],
        }

    def _rival(self, logs: list[float], target: int, against: Any) -> int:
        """The class to compare with: the one named, else the runner-up."""
        if against is not None:
            if against not in self.classes:
                raise ValueError(
                    "against must be one of the classes "
                    f"{', '.join(map(str, self.classes))}, got {against!r}"
                )
            if self.classes.index(against) != target:
                return self.classes.index(against)
        others = [k for k in range(len(logs)) if k != target] or [target]
        return max(others, key=lambda k: (logs[k], -k))

    def _term(self, feature: int, codes: list[int], nats: float) -> dict[str, Any]:
        """What one feature contributes, and on which others that depends."""
        parents = self.parents[feature]
        text = self._text(feature, codes[feature])
        if parents:
            given = [self._text(p, codes[p]) for p in parents[:_MOST_GIVEN]]
            more = ["..."] if len(parents) > _MOST_GIVEN else []
            text = f"{text} given {', '.join(given + more)}"
        return {
            "feature": self.names[feature],
            "value": self._label(feature, codes[feature]),
            "given": {self.names[p]: self._label(p, codes[p]) for p in parents},
            "contribution": nats,
            "text": text,
        }

    def _label(self, feature: int, code: int) -> str:
        """Name of a feature's state."""
        labels = self.labels[feature]
        return str(labels[code]) if code < len(labels) else "missing"

    def _text(self, feature: int, code: int) -> str:
        """That a feature has a state, in words."""
        texts = self.texts[feature]
        if texts:
            return str(texts[code])
        return f"{self.names[feature]} = {self._label(feature, code)}"


_MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "None", "#N/A", "n/a", "?")
# A spreadsheet takes a cell that begins so for a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_TERMS_SHOWN = 10
# The status of a program that SIGPIPE ends, as shells report it.
_READER_LEFT = 141


def main(scorer: Scorer, arguments: list[str], usage: Any = None) -> int:
    """Score standard input; 2 if it cannot be read, with a sentence saying why."""
    options = set(arguments[1:])
    if options not in (set(), {"--explain"}, {"--notes"}):
        asked = bool(options & {"-h", "--help"})
        print(usage, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    source = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
    target = io.TextIOWrapper(
        sys.stdout.buffer, encoding="utf-8", errors="backslashreplace", newline=""
    )
    try:
        try:
            _score(scorer, source, target, options)
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


def _score(scorer: Scorer, source: Any, target: Any, options: Container[str]) -> None:
    """Score all rows of a file."""
    explains, has_notes = "--explain" in options, "--notes" in options
    rows = csv.reader(source)
    header = next(rows, None)
    if not header:
        raise ValueError("standard input has no column names; give CSV with a header")
    added = ["prediction", *(f"probability_{label}" for label in scorer.classes)]
    added += ["notes"] * has_notes
    _check_distinct(header, "standard input has several columns called")
    _check_distinct(map(_without_formula, scorer.classes), "as CSV several classes are")
    writer = csv.writer(target, lineterminator="\n")
    if not explains:
        _check_distinct([*header, *added], "standard input already has a column")
        writer.writerow([*header, *added])
    for number, cells, row, codes in _coded(scorer, header, rows):
        if explains:
            target.write(_explained(number, scorer.explanation(codes)))
            continue
        logs = scorer.log_proba(codes)
        proba = [repr(math.exp(own)) for own in logs]
        label = _without_formula(scorer.classes[scorer.chosen(logs)])
        notes = [_json(scorer.notes(row))] if has_notes else []
        writer.writerow([*cells, label, *proba, *notes])


def _json(value: Any) -> str:
    """A value as JSON, spelt as by JSON.stringify in JavaScript."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _check_distinct(names: Iterable[str], where: str) -> None:
    """Raise ValueError if names occur twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{where} {name!r}; give each another name")
        seen.add(name)


def _coded(
    scorer: Scorer, header: list[str], rows: Any
) -> Iterator[tuple[int, list[str], dict[Any, Any], list[int]]]:
    """Number, cells, values by column and codes of each row."""
    names = {str(cell.column): cell.column for cell in scorer.cells}
    missing = scorer.empty or _MISSING
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
            names.get(name, name): None if cells[place] in missing else cells[place]
            for place, name in enumerate(header)
        }
        try:
            codes = scorer.codes(row)
        except ValueError as error:
            raise ValueError(f"row {number + 1}: {error}") from None
        yield number, cells, row, codes


def _explained(number: int, found: dict[str, Any]) -> str:
    """The terms of a row as lines, the largest first."""
    lines = [
        f"row {number}: {_one_line(found['class'])} with probability "
        f"{found['probability']:.3f}, against {_one_line(found['against'])} with "
        f"{found['against_probability']:.3f}",
        f"log-odds {_bits(found['log_odds'])} bits, the sum of",
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
    return f"  {_bits(nats):>8}  {text}"


def _bits(nats: float) -> str:
    """A contribution in bits; no zero is negative."""
    return f"{round(nats / math.log(2.0), 3) + 0.0:+.3f}"


def _one_line(value: Any) -> str:
    """A label or text in which line ends and controls are escaped."""
    text = str(value)
    return "".join([c if c.isprintable() else ascii(c)[1:-1] for c in text])


def _without_formula(label: Any) -> str:
    """A label with an apostrophe before it if a spreadsheet would compute it."""
    text = str(label)
    risky = len(text) > 1 and text.startswith(_FORMULAS)
    return "'" + text if risky and not NUMBER.fullmatch(text) else text
