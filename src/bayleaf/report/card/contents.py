"""What stands in a model card: each sentence is a fact of a report's summary."""

from __future__ import annotations

from typing import Any

from bayleaf.report.card.about import About
from bayleaf.report.card.groups import groups_part
from bayleaf.report.card.limits import limits_part
from bayleaf.report.schema import check_schema
from bayleaf.report.wording import NUMBER_TITLES, SCORE_TITLES, number, percent
from bayleaf.results.document import (
    Document,
    Facts,
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
    "marginalize": "Missing cells are not counted, and are summed out of predictions.",
    "em": "Missing cells count by expectation, and are summed out of answers.",
    "state": "Missing cells count as a value of their own.",
    "error": "Rows with missing cells are refused.",
}
UNKNOWN_TOLD = {
    "missing": "Values that training did not contain count as missing.",
    "error": "Values that training did not contain are refused.",
}
_OF_DENSITIES = {"nats_per_row": "log-likelihood (nats a row)"}
_SHARES = ("accuracy", "balanced_accuracy", "coverage", "r2")


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
    """The parts of a card, in their order.

    Parameters
    ----------
    summary : dict
        What `bayleaf.report.summarize` gave.
    about : About
        What a person adds.
    """
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
        facts.append(("Free parameters", str(model["n_parameters"])))
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
            ("Rows", "about " * rounded + str(data["n_rows"])),
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
        cells = [_figure(name, scores[name]), _interval(name, intervals.get(name))]
        cells.append(_figure(name, without[name]) if name in without else "")
        rows.append((title, *cells))
    heads = ("figure", "value", "95 % interval", "without any feature")
    about = "about " * _rounded(summary)
    caption = f"Figures on {about}{quality['n_rows']} held-out rows"
    told = [quality["basis_told"], *_told(intervals, quality.get("folds"))]
    return Document("Figures", [Table(heads, rows, caption), *told])


def _rounded(summary: Values) -> bool:
    """Whether numbers of rows are rounded."""
    return bool(summary["privacy"]["min_count"] > 1)


def _scores(summary: Values) -> tuple[Values, dict[str, str]]:
    """Scores by name, and what they are called."""
    quality = summary["quality"]
    if summary["kind"] == "density":
        return quality, _OF_DENSITIES
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
        told.append(
            f"Over {folds['n_folds']} folds, the accuracy has a standard deviation "
            f"of {percent(accuracy['sd'])}, the log-loss of {number(loss['sd'])}."
        )
    return told


def _figure(name: str, value: float) -> str:
    """A figure as it is written."""
    if name in _SHARES:
        return percent(value)
    return f"{value:.5g}" if name in NUMBER_TITLES else number(value)


def _interval(name: str, ends: list[float] | None) -> str:
    """An interval as it is written; nothing where there is none."""
    if ends is None:
        return ""
    low, high = (_figure(name, end) for end in ends)
    return f"{low} to {high}"
