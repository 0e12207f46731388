"""The part of a model card on what the model and its figures cannot tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayleaf.report.card.about import About
from bayleaf.report.wording import percent
from bayleaf.results.document import Document, Items, Name, Text, listed_names
from bayleaf.wording import counted

Values = dict[str, Any]

_RANGES = 12
# Groups of fewer rows are named.
_FEW = 30
_NO_DATE = "It is not given when rows were collected"


def limits_part(summary: Values, about: About) -> Document:
    """What cannot be known, each sentence with the facts that it follows from."""
    sentences = [
        *_of_missing_cells(summary),
        *_of_ranges(summary),
        *_of_rare_values(summary),
        *_of_groups(summary),
        *_of_arrows(summary),
        *_of_the_basis(summary),
        *_of_time(about),
    ]
    return Document("What it cannot know", [Items(sentences)])


def _of_missing_cells(summary: Values) -> Iterator[Text]:
    """What is taken for granted of cells that are missing, and of unknown values."""
    columns, n_rows = summary["columns"], summary["data"]["n_rows"]
    n_cells = n_rows * len(columns)
    n_missing = sum(column["missing"] for column in columns)
    n_unknown = sum(column["unknown"] for column in columns)
    rule = (summary["rules"] or {}).get("missing_cells", "marginalize")
    rounded = summary["privacy"]["min_count"] > 1
    about = "About " * rounded
    if rule == "error":
        yield "Rows with missing cells are refused, so there are no figures on them."
    elif not n_missing:
        yield (
            f"{'By the rounded numbers, no' if rounded else 'No'} cell of this table "
            "is missing: figures do not tell how the model does on rows with missing "
            "cells."
        )
    elif rule == "state":
        yield (
            f"{about}{percent(min(n_missing / n_cells, 1.0))} of all cells are "
            "missing, and count as a value: that holds as long as cells are missing "
            "for the same reasons as in training."
        )
    else:
        yield (
            f"{about}{percent(min(n_missing / n_cells, 1.0))} of all cells are "
            "missing, and are summed out: that is right if whether a cell is missing "
            "does not depend on what it would hold, which no table can show."
        )
    if n_unknown:
        cells = counted(n_unknown, "cell")
        hold = "holds a value" if n_unknown == 1 else "hold values"
        yield f"{about}{cells} {hold} that training did not contain."


def _of_ranges(summary: Values) -> Iterator[Text]:
    """Numbers beyond those of training."""
    numbers = [one for one in summary["columns"] if one["read_as"] == "numbers"]
    if not numbers:
        return
    columns = counted(len(numbers), "column")
    yield (
        f"{columns} of numbers: beyond the numbers of training nothing was learned, "
        "and what the model says there is extrapolated."
    )
    known = [column for column in numbers if column["seen"] is not None]
    pieces: list[str | Name] = []
    for column in known[:_RANGES]:
        low, high = (f"{end:.10g}" for end in column["seen"])
        pieces += [", "] * bool(pieces)
        pieces += [Name(column["name"]), f" {low} to {high}"]
    if pieces:
        hidden = len(known) - _RANGES
        more = f", and {counted(hidden, 'more column')}" if hidden > 0 else ""
        yield ("Numbers in training: ", *pieces, f"{more}.")


def _of_rare_values(summary: Values) -> Iterator[Text]:
    """Values that few rows have."""
    rare = [column["name"] for column in summary["columns"] if column["n_rare"]]
    if rare:
        few = max(summary["privacy"]["min_count"], 5)
        yield (
            f"Of values that fewer than {few} rows of this table have, figures tell "
            "little; such values are in ",
            *listed_names(rare),
            ".",
        )


def _of_groups(summary: Values) -> Iterator[Text]:
    """Groups that were not compared, or have few rows."""
    if summary["kind"] != "classifier":
        return
    if not summary["groups"]:
        yield "No groups of rows were compared."
    for one in summary["groups"]:
        few = [
            ", ".join(group["group"])
            for group in one["groups"]
            if group["n_rows"] < _FEW
        ]
        if few and summary["privacy"]["min_count"] == 1:
            yield (
                f"Fewer than {_FEW} rows are behind the figures of ",
                *listed_names(few),
                " by ",
                Name(", ".join(one["columns"])),
                ": their intervals say how little is known.",
            )


def _of_arrows(summary: Values) -> Iterator[Text]:
    """What arrows do not mean."""
    structure = summary["structure"]
    n_arrows = len(structure["arcs"]) + structure["n_arcs_left_out"]
    if n_arrows:
        arrows = "The arrow" if n_arrows == 1 else f"The {n_arrows} arrows"
        says = "says" if n_arrows == 1 else "say"
        yield (
            f"{arrows} of the structure {says} which probabilities depend on which "
            "values, not what causes what: no contribution tells what would happen if "
            "a value were changed."
        )


def _of_the_basis(summary: Values) -> Iterator[Text]:
    """On which rows figures were measured, and what follows."""
    basis = summary["quality"]["basis"]
    if basis == "cross_validation":
        yield (
            "The model itself was not scored: figures are those of fresh models of the "
            "same settings, each fitted to fewer rows."
        )
    elif basis == "held_out":
        yield (
            "Neither the model nor the table shows whether the rows were held out; "
            "figures rest on the word of who wrote the card."
        )
    else:
        yield "No held-out figures: how good the model is remains unknown."


def _of_time(about: About) -> Iterator[Text]:
    """Rows of later days."""
    collected = (about.collected or "").strip()
    when = f"Rows were collected: {collected}" if collected else _NO_DATE
    yield f"{when}. This table does not tell whether later rows are like them."
