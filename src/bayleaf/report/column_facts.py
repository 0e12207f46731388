"""The columns of a table as a model reads them, and what to know of their quality."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayleaf.data.codes import Codes
from bayleaf.data.column_table import ColumnTable
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.evaluation.privacy import Counts, Privacy, column_partition

Values = dict[str, Any]

_READ_AS = {"numeric": "numbers", "nominal": "values"}
# States of fewer rows than this are rare.
RARE = 5
_STATES = 30
# Of columns cut at more points than this, the first and the last are written.
_CUTS = 12
_RARE_SHOWN = 8


def column_parts(
    codes: Codes, domain: Domain, unknown: Mapping[str | int, int]
) -> list[Counts]:
    """Numbers of rows by the value of each column, (n_states + 2,) each.

    Rows in each state, with missing cells, with `unknown` ones (by name).
    """
    found = []
    for place, variable in enumerate(domain):
        counts = np.bincount(codes.column(place), minlength=variable.n_states + 1)
        strange = int(unknown.get(variable.name, 0))
        # Unknown cells are coded as missing ones.
        counts[variable.n_states] -= strange
        found.append(np.append(counts, strange).astype(np.int64))
    return found


def published_parts(parts: Sequence[Counts], privacy: Privacy) -> list[Counts]:
    """The same numbers as they may leave."""
    return [
        privacy.published(counts, column_partition(place))
        for place, counts in enumerate(parts)
    ]


def column_values(
    parts: Sequence[Counts],
    shown: Domain,
    domain: Domain,
    notes: Mapping[str | int, str],
    privacy: Privacy,
) -> list[Values]:
    """Describe each column: how it is read, its states with counts, its missing cells.

    `parts` from `published_parts`, (n_states + 2,) each; `shown` is the `domain` under
    the names that may be shown; `notes` are remarks by column.
    """
    return [
        _column(variable, own, notes.get(variable.name, ""), privacy)
        | _reading_facts(trained, privacy)
        for variable, trained, own in zip(shown, domain, parts, strict=True)
    ]


def _column(variable: Variable, parts: Counts, note: str, privacy: Privacy) -> Values:
    """One column; counts are those of states, missing cells, unknown cells."""
    told = parts.tolist()
    n_states = variable.n_known_states
    missing = sum(told[n_states:-1])
    labels = [variable.label(code) for code in range(n_states)]
    rare = [code for code in range(n_states) if parts[code] < max(RARE, privacy.base)]
    if variable.kind == "numeric" and n_states > _STATES:
        # Cut so finely that few rows fall between neighbours; coarser codings count.
        rare = []
    return {
        "name": str(variable.name),
        "kind": variable.kind,
        "words": in_words(variable),
        "n_states": n_states,
        "states": [
            {"label": label, "n": n}
            for label, n in zip(labels[:_STATES], told, strict=False)
        ],
        "missing": missing,
        "unknown": told[-1],
        "n_rare": len(rare),
        "rare": []
        if privacy.withholds
        else [{"label": labels[c], "n": told[c]} for c in rare[:_RARE_SHOWN]],
        "note": _kind_of_note(note) if note and privacy.withholds else note,
    }


def _reading_facts(variable: Variable, privacy: Privacy) -> Values:
    """How a column is cut, and the numbers that it had in training."""
    is_numeric = variable.kind == "numeric"
    is_ordered = variable.categories is not None
    return {
        "read_as": "ordered categories" if is_ordered else _READ_AS[variable.kind],
        "n_cuts": len(variable.cut_points) if is_numeric else None,
        # The least and the greatest number are those of single rows.
        "seen": _seen(variable) if privacy.shows_rows else None,
        "has_other": variable.other_state is not None,
    }


def _seen(variable: Variable) -> list[float] | None:
    """The least and the greatest number in training, where they are known."""
    if variable.numbers is None or variable.categories is not None:
        return None
    filled = [own for own in variable.numbers.quantiles if own]
    return [filled[0][0], filled[-1][-1]] if filled else None


def in_words(variable: Variable) -> str:
    """Say how a column is read: its values, or the intervals between its cut points."""
    n_states = variable.n_known_states
    if variable.kind == "nominal":
        return f"{n_states} values" if n_states != 1 else "1 value"
    cuts, what = variable.bounds, "categories in order"
    if variable.categories is None:
        what = "numbers"
    if not cuts:
        return f"{what}, not cut: every value counts as the same"
    if len(cuts) > _CUTS:
        return f"{what} in {len(cuts) + 1} intervals between {cuts[0]} and {cuts[-1]}"
    middle = [f"above {low} up to {high}" for low, high in itertools.pairwise(cuts)]
    intervals = "; ".join([f"up to {cuts[0]}", *middle, f"above {cuts[-1]}"])
    return f"{what} in {len(cuts) + 1} intervals: {intervals}"


def quality_notes(
    columns: Sequence[Values], n_rows: int, left_out: Sequence[str], privacy: Privacy
) -> list[Values]:
    """What a reader should know of the table, as kinds of remarks with sentences.

    `columns` from `column_values`; `left_out` are columns that the model does not read.
    """
    found: list[tuple[str, str | None, str]] = []
    for column in columns:
        name = column["name"]
        for kind, what in (("missing", "missing"), ("unknown", "unknown to the model")):
            if n := column[kind]:
                about = "about " * privacy.withholds
                found.append((kind, name, f"{about}{n} of {n_rows} cells are {what}"))
        if column["n_rare"]:
            found.append(("rare states", name, _rare_text(column, privacy)))
        if column["note"]:
            kind = _kind_of_note(column["note"])
            found.append((kind, name, column["note"]))
    found += [
        ("dropped columns", name, "in the table, but not read by the model")
        for name in left_out
    ]
    return [{"kind": kind, "column": name, "text": text} for kind, name, text in found]


def reading_values(
    encoder: TableEncoder | None, privacy: Privacy
) -> list[Values] | None:
    """How training took each column; None where that is not known or would tell.

    Numbers of distinct values and days of dates are those of training rows.
    """
    if encoder is None or privacy.withholds:
        return None
    return [
        {**facts, "name": str(facts["name"])}
        for facts in ColumnTable(encoder).to_dict()
    ]


def _kind_of_note(note: str) -> str:
    """Under which heading a remark of the encoder belongs; it names no value."""
    if "nominal" in note:
        return "nominal integers"
    return "without information" if "information" in note else "remarks"


def _rare_text(column: Values, privacy: Privacy) -> str:
    """How many states of a column are rare, and which."""
    n_rare = column["n_rare"]
    states = "1 state has" if n_rare == 1 else f"{n_rare} states have"
    text = f"{states} fewer than {max(RARE, privacy.base)} rows here"
    if privacy.withholds:
        return text
    shown = ", ".join(f"{state['label']} ({state['n']})" for state in column["rare"])
    more = n_rare - len(column["rare"])
    return f"{text}: {shown}{f' and {more} more' if more > 0 else ''}"
