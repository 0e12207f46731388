"""The part of a model card on groups of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from bayleaf.evaluation.groups.estimates import LEAST_ROUNDINGS
from bayleaf.report.summary_form import figure, number, percent
from bayleaf.results.document import Document, Name, Table, Text
from bayleaf.wording import in_bits

Values = dict[str, Any]
Written = Callable[[float], str]

# Groups on a printed page, and classes with rates of their own.
_PRINTED, _CLASSES = 8, 6
_DIFFERENCES, _ROWS = 20, 40
_NO_BREAK = "\N{NO-BREAK SPACE}"
_SCORES = ("accuracy", "log_loss", "brier")
_RATES = {
    "base_rate": "true class",
    "selection_rate": "predicted",
    "true_positive_rate": "found",
    "false_positive_rate": "false alarms",
    "positive_predictive_value": "right if predicted",
    "calibration_gap": "mean probability minus share",
}
_CONTRASTS = {
    "accuracy": "accuracy",
    "log_loss": "log-loss, bits",
    "selection_rate": "share predicted",
    "true_positive_rate": "share found",
    "false_positive_rate": "false alarms",
}
_ABOUT_RATES = (
    "True class: rows of the class. Predicted: rows for which it is predicted. Found: "
    "rows of the class for which it is predicted. False alarms: rows of other classes "
    "for which it is predicted. Right if predicted: rows of the class among those for "
    "which it is predicted."
)


def groups_part(summary: Values) -> Document | None:
    """Figures by group; None where none were requested."""
    found = summary.get("groups")
    if not found:
        return None
    base = _base(summary["privacy"])
    tables: list[Table] = []
    sentences: list[Text] = []
    for one in found:
        tables += [_scores(one), *_rates(one)] if one["groups"] else []
        differences = _differences(one, base > 0)
        if isinstance(differences, Table):
            tables.append(differences)
        elif differences is not None:
            sentences.append(differences)
        sentences += _of_base_rates(one)
    told = [_ABOUT_RATES]
    if base:
        told.append(
            f"Groups and shares of fewer than {LEAST_ROUNDINGS * base} rows are "
            "not shown, or of more where the groups of several columns are added "
            "up, as rounding would change their figures too much. Intervals do "
            f"not include that rounding moves numbers of rows by some {base}."
        )
    n_groups = sum(len(one["groups"]) for one in found)
    return Document(
        "Groups",
        [*tables, *sentences, *told],
        is_short=n_groups <= _PRINTED and len(tables) <= 3 * len(found),
    )


def _base(privacy: Values) -> int:
    """What numbers of rows are rounded to multiples of; 0 where they are exact."""
    return max(privacy["min_count"], 5) if privacy["min_count"] > 1 else 0


def _label(group: Values) -> Name:
    """What a group is called."""
    return Name(", ".join(group["group"]))


def _columns(found: Values) -> Name:
    """The columns that make the groups."""
    return Name(", ".join(found["columns"]))


def _scores(found: Values) -> Table:
    """Accuracy, log-loss, Brier score and calibration of each group."""
    rows: list[tuple[Text, ...]] = [
        (
            _label(group),
            str(group["n_rows"]),
            *(_estimate(group[name], partial(figure, name=name)) for name in _SCORES),
            number(group["calibration_error"]),
            number(group["calibration_error_by_chance"]),
        )
        for group in found["groups"]
    ]
    heads = ("group", "rows", "accuracy", "log-loss (bits)", "Brier score")
    calibration = ("calibration error", "the same by chance")
    caption = ("Held-out rows by ", _columns(found))
    return Table((*heads, *calibration), rows, caption, max_rows=_ROWS)


def _rates(found: Values) -> Iterator[Table]:
    """The rates of each class."""
    first = found["groups"][0]["classes"]
    for place, own in enumerate(first[:_CLASSES]):
        caption = ("Rates of ", Name(own["class"]), " by ", _columns(found))
        rows: list[tuple[Text, ...]] = [
            (
                _label(group),
                *(
                    _estimate(group["classes"][place][rate], _written(rate))
                    for rate in _RATES
                ),
            )
            for group in found["groups"]
        ]
        yield Table(("group", *_RATES.values()), rows, caption, max_rows=_ROWS)


def _written(rate: str) -> Written:
    """How a rate is written."""
    return signed if rate == "calibration_gap" else percent


def signed(share: float) -> str:
    """A difference of shares in per cent, with its sign."""
    # Adding 0 turns -0.0 round.
    return f"{round(100 * share, 1) + 0.0:+.1f} %"


def _signed_bits(nats: float) -> str:
    """A difference of log-losses in bits, with its sign."""
    return f"{in_bits(nats):+.3f}"


def _estimate(found: Values, written: Written) -> str:
    """A figure with its interval; a dash where no row tells it."""
    if found["value"] is None:
        return "\N{EN DASH}"
    value = written(found["value"])
    if found["low"] is None:
        return value
    low, high = (written(found[end]).removesuffix(" %") for end in ("low", "high"))
    # Lines break between figure and interval alone.
    return " ".join(
        piece.replace(" ", _NO_BREAK) for piece in (value, f"({low} to {high})")
    )


def _differences(found: Values, rounded: bool) -> Table | Text | None:
    """Differences to the reference group that are more than chance and rounding.

    A sentence where there are none.
    """
    compared = [
        (group, contrast)
        for group in found["groups"]
        for contrast in group["contrasts"]
        if contrast["figure"] in _CONTRASTS and contrast["rounding"] is not None
    ]
    if not compared:
        return None
    clear = [own for own in compared if own[1]["is_clear"]]
    caption = (
        f"Of {len(compared)} differences to ",
        Name(", ".join(found["reference"])),
        f", the group of most rows, {len(clear) or 'none'} have an interval without 0"
        + ", whatever rounding did" * rounded,
    )
    if not clear:
        return (*caption, ".")
    rows = [_difference(*own) for own in clear]
    heads = ("group", "figure", "difference")
    return Table(heads, rows, caption, n_words=2, max_rows=_DIFFERENCES)


def _difference(group: Values, contrast: Values) -> tuple[Text, ...]:
    """One difference as a row of a table."""
    name, label = contrast["figure"], contrast["class"]
    written: Written = _signed_bits if name == "log_loss" else signed
    of_class = () if label is None else (" of ", Name(label))
    told = _estimate(contrast["difference"], written)
    return _label(group), (_CONTRASTS[name], *of_class), told


def _of_base_rates(found: Values) -> Iterator[Text]:
    """What follows where a class is more frequent in one group than in another."""
    for group in found["groups"]:
        for contrast in group["contrasts"]:
            if contrast["figure"] == "base_rate" and contrast["is_clear"]:
                yield (
                    "The share of ",
                    Name(contrast["class"]),
                    " differs by ",
                    _columns(found),
                    ": then groups cannot have equal shares found, equal false alarms "
                    "and equal shares right if predicted, all three at once, unless "
                    "there are no false alarms, or nothing is found.",
                )
                return
