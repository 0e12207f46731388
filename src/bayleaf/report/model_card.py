"""Model cards: what a model is for, how good it is, and what it cannot know.

Each sentence is a fact of a report's summary, or was given by a person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from bayleaf.models.fit_stamp import current_time
from bayleaf.report.card_groups import groups_part
from bayleaf.report.summary_form import (
    DENSITY_TITLES,
    NUMBER_TITLES,
    SCORE_TITLES,
    check_schema,
    figure,
    number,
    percent,
)
from bayleaf.results.document import (
    Document,
    Facts,
    Items,
    Name,
    Part,
    Table,
    Text,
    listed_names,
)
from bayleaf.results.markdown import markdown_of
from bayleaf.wording import counted

Values = dict[str, Any]

BLANK = "to be filled in"
_CLASSES = 12
_COLUMNS = 60
MISSING_TOLD = {
    "marginalize": "Missing cells are not counted, and predictions impute nothing.",
    "em": "Missing cells count by expectation, and are summed out of answers.",
    "state": "Missing cells count as a value of their own.",
    "drop": "Rows with missing cells are left out of training, and predictions impute "
    "nothing.",
    "error": "Rows with missing cells are refused.",
}
UNKNOWN_TOLD = {
    "missing": "Values that training did not contain count as missing.",
    "error": "Values that training did not contain are refused.",
}
_RANGES = 12
# Groups of fewer rows are named.
_FEW = 30
_NO_DATE = "It is not given when rows were collected"


@dataclass(frozen=True, kw_only=True)
class About:
    """What a person adds to a model card.

    Parameters
    ----------
    purpose : str, optional
        What the model is for; line ends count as spaces. What is left out here and
        below is marked "to be filled in" on the card.
    users : str, optional
        Who is to use it.
    out_of_scope : str, optional
        What it is not to be used for.
    owner : str, optional
        Who answers for it, and how that person is reached.
    source : str, optional
        Where the table came from: the name of its file; folders before it are left out.
    collected : str, optional
        When the rows were collected.
    fitted : str, optional
        When the model was fitted, which `bayleaf inspect` shows.
    written : str, optional
        Date of the card. By default that of the environment variable
        ``SOURCE_DATE_EPOCH``, in seconds since 1970, or else today's, in UTC.
    """

    purpose: str | None = None
    users: str | None = None
    out_of_scope: str | None = None
    owner: str | None = None
    source: str | None = None
    collected: str | None = None
    fitted: str | None = None
    written: str | None = None

    @property
    def source_name(self) -> str | None:
        """The name of the table's file, without its folders."""
        if self.source is None:
            return None
        return self.source.replace("\\", "/").rstrip("/").rpartition("/")[2]

    def dated(self) -> About:
        """The same with the date of the card; ValueError as of `current_time`."""
        if self.written is not None:
            return self
        return replace(self, written=current_time().date().isoformat())


def model_card(summary: Values, about: About | None = None) -> str:
    """Write a model card as Markdown.

    Parameters
    ----------
    summary : dict
        What `bayleaf.report.summarize` gave, or what it wrote as JSON.
    about : About, optional
        Purpose, users, owner and dates; what is missing is marked "to be filled in".

    Returns
    -------
    str
        Markdown with tables, without HTML and links, whatever names the table holds.
        All but what `about` gives is computed from the summary.

    Raises
    ------
    ValueError
        If the summary is of another version, or `SOURCE_DATE_EPOCH` is no number.
    """
    check_schema(summary)
    parts = card_parts(summary, about or About())
    return markdown_of(Document(card_title(summary), parts))


def card_title(summary: Values) -> Text:
    """The heading of a card."""
    model = summary["model"]
    if summary["kind"] == "density":
        variables = counted(model["n_variables"], "variable")
        return f"Model card: {model['name']} over {variables}"
    return (f"Model card: {model['name']} for ", Name(model["target"]))


def card_parts(summary: Values, about: About) -> list[Document]:
    """The parts of a card, in their order; `summary` is what `summarize` gave."""
    opening = Document(
        "",
        [
            (
                f"Written on {about.dated().written} with bayleaf "
                f"{summary['version']}. All but the purpose and the dates that are "
                "given is computed from the model and the table."
            ),
            *summary["privacy"]["told"],
        ],
    )
    parts = [
        opening,
        _purpose_part(about),
        _model_part(summary),
        _data_part(summary, about),
        _columns_part(summary),
        _figures_part(summary),
        groups_part(summary),
        limits_part(summary, about),
    ]
    return [part for part in parts if part is not None]


def _purpose_part(about: About) -> Document:
    """What a person says of the model."""
    facts = Facts(
        [
            ("Purpose", _given(about.purpose)),
            ("Intended users", _given(about.users)),
            ("Out of scope", _given(about.out_of_scope)),
            ("Owner and contact", _given(about.owner)),
        ]
    )
    return Document("Purpose", [facts], is_short=True)


def _given(text: str | None) -> Text:
    """What a person gave, or the mark that it is missing."""
    return text if text and text.strip() else BLANK


def _model_part(summary: Values) -> Document:
    """Kind, size and settings of the model."""
    model, structure = summary["model"], summary["structure"]
    facts: list[tuple[str, Text]] = [("Kind", model["name"])]
    if summary["kind"] == "density":
        facts.append(("Variables", str(model["n_variables"])))
    else:
        facts.append(("Target", Name(model["target"])))
        facts.append(("Features", str(model["n_features"])))
    facts += [("Classes", text) for text in _classes(model)]
    if "n_parameters" in model:
        facts.append(("Free parameters", f"{model['n_parameters']:,}"))
    facts.append(("Structure", _structure(summary)))
    if (model.get("temperature") or 1.0) != 1.0:
        told = f"log scores are divided by {number(model['temperature'])}"
        facts.append(("Temperature", told))
    if summary.get("loss"):
        told = "the class of least expected cost is predicted, by a given table"
        facts.append(("Costs of errors", told))
    settings = summary["settings"]
    parts: list[Part] = []
    if settings:
        rows = [
            (Name(one["name"]), Name(one["value"], 120))
            if one["value"] is not None
            else (Name(one["name"]), "given, not shown")
            for one in settings
        ]
        caption = "Settings other than the defaults"
        parts.append(Table(("setting", "value"), rows, caption, n_words=2))
    elif settings is not None:
        facts.append(("Settings", "the defaults"))
    note = structure["note"]
    if note:
        parts.append(f"{note[:1].upper()}{note[1:]}.")
    return Document("The model", [Facts(facts), *parts])


def _classes(model: Values) -> list[Text]:
    """The classes with their prior probabilities, as the one text there may be."""
    classes = model.get("classes")
    if not classes:
        return []
    pieces: list[str | Name] = []
    for one in classes[:_CLASSES]:
        pieces += [", "] * bool(pieces)
        pieces += [Name(one["label"]), f" (prior {number(one['prior'])})"]
    hidden = len(classes) - _CLASSES
    return [(*pieces, f" and {hidden} more" if hidden > 0 else "")]


def _structure(summary: Values) -> str:
    """How large the structure is, in words."""
    model, structure = summary["model"], summary["structure"]
    if summary["kind"] == "regression":
        networks = counted(model["n_networks"], "network")
        return f"{networks} and {counted(model['n_trees'], 'tree')}"
    if structure["latents"]:
        return counted(len(structure["latents"]), "latent variable")
    among = " among features" if summary["kind"] == "classifier" else ""
    return f"{counted(model['n_arcs'], 'arc')}{among}"


def _data_part(summary: Values, about: About) -> Document:
    """The table, its source and its dates."""
    data = summary["data"]
    rounded = summary["privacy"]["min_count"] > 1
    left_out = data["left_out"]
    source = about.source_name
    unread = listed_names(left_out) if left_out else "none"
    facts = Facts(
        [
            ("Source", Name(source) if source else BLANK),
            ("Rows", "about " * rounded + f"{data['n_rows']:,}"),
            ("Columns that the model reads", str(data["n_columns"])),
            ("Columns that it does not read", unread),
            ("Rows collected", _given(about.collected)),
            ("Model fitted", _given(about.fitted)),
        ]
    )
    return Document("Data and dates", [facts])


def _columns_part(summary: Values) -> Document:
    """How each column is read, with its cut points counted and its missing cells."""
    columns, n_rows = summary["columns"], summary["data"]["n_rows"]
    table = Table(
        ("column", "read as", "values", "cut points", "missing", "unknown"),
        [_row(column, n_rows) for column in columns],
        "Columns as the model reads them, and their cells in this table",
        n_words=2,
        max_rows=_COLUMNS,
    )
    rules = summary["rules"]
    told = []
    if rules is not None:
        told = [
            MISSING_TOLD[rules["missing_cells"]],
            UNKNOWN_TOLD[rules["unknown_values"]],
        ]
    n_sharing = sum(column["has_other"] for column in columns)
    if n_sharing:
        sharing = "column has a value" if n_sharing == 1 else "columns have a value"
        told.append(f"{n_sharing} {sharing} that rare and unseen ones share.")
    return Document("How columns are read", [table, *told])


def _row(column: Values, n_rows: int) -> tuple[Text, ...]:
    """One column of the table."""
    n_cuts = column["n_cuts"]
    return (
        Name(column["name"]),
        column["read_as"],
        str(column["n_states"]),
        "" if n_cuts is None else str(n_cuts),
        _share(column["missing"], n_rows),
        _share(column["unknown"], n_rows),
    )


def _share(n_cells: int, n_rows: int) -> str:
    """A share of the rows; numbers of two roundings could give one above all."""
    return percent(min(n_cells / n_rows, 1.0)) if n_cells else "0"


def _figures_part(summary: Values) -> Document:
    """Held-out figures with their intervals, and how they were measured."""
    quality = summary["quality"]
    if quality["basis"] == "none":
        # The reason may name values of the table.
        return Document("Figures", [Name(quality["basis_told"], 300)])
    scores, titles = _scores(summary)
    intervals, without = quality["intervals"], quality.get("baseline") or {}
    rows: list[tuple[Text, ...]] = []
    for name, title in titles.items():
        if scores.get(name) is None:
            continue
        cells = [figure(scores[name], name), _interval(name, intervals.get(name))]
        cells.append(figure(without[name], name) if name in without else "")
        rows.append((title, *cells))
    heads = ("figure", "value", "95 % interval", "without any feature")
    about = "about " * (summary["privacy"]["min_count"] > 1)
    caption = f"Figures on {about}{quality['n_rows']} held-out rows"
    told = [quality["basis_told"], *_told(intervals, quality.get("folds"))]
    return Document("Figures", [Table(heads, rows, caption), *told])


def _scores(summary: Values) -> tuple[Values, dict[str, str]]:
    """Scores by name, and what they are called."""
    quality = summary["quality"]
    if summary["kind"] == "density":
        return quality, DENSITY_TITLES
    titles = SCORE_TITLES if summary["kind"] == "classifier" else NUMBER_TITLES
    return quality["scores"], titles


def _told(intervals: Values, folds: Values | None) -> list[Text]:
    """How intervals were computed, and how figures vary over folds."""
    told: list[Text] = []
    if intervals:
        told.append(
            "Intervals are of 95 %: of shares by Jeffreys' prior, of means over "
            "rows by Student's distribution. They are for the choice of held-out "
            "rows, not for that of training rows."
        )
    if folds:
        accuracy, loss = folds["accuracy"], folds["log_loss"]
        spread = figure(loss["sd"], "log_loss")
        told.append(
            f"Over {folds['n_folds']} folds, the accuracy has a standard deviation "
            f"of {percent(accuracy['sd'])}, the log-loss of {spread} bits."
        )
    return told


def _interval(name: str, ends: list[float] | None) -> str:
    """An interval as it is written; nothing where there is none."""
    if ends is None:
        return ""
    low, high = (figure(end, name) for end in ends)
    return f"{low} to {high}"


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
