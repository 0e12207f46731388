"""A summary laid out as one page that needs nothing beside itself."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any, Unpack

from bayleaf.io.atomic import text_file
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.predictor import ModelLike
from bayleaf.pictures.svg import (
    Interval,
    bars_svg,
    icons_svg,
    image,
    intervals_svg,
    network_svg,
    steps_svg,
)
from bayleaf.report.model_card import About, card_parts, model_card
from bayleaf.report.overview import DECISIONS, OUTCOMES, in_100
from bayleaf.report.summarize import ReportOptions, summarize
from bayleaf.report.summary_form import (
    NUMBER_TITLES,
    SCORE_TITLES,
    check_schema,
    count,
    factor,
    figure,
    number,
    percent,
    probability,
)
from bayleaf.results.html import breakable, sections_html
from bayleaf.typing import FrameLike
from bayleaf.wording import in_bits, like, plain, rough, stated

Values = dict[str, Any]
Place = tuple[float, float]

# Frame of the charts: its left, top, and the length of both sides.
_LEFT, _TOP, _SIDE = 46.0, 12.0, 240.0
_MARKS = (0.0, 0.25, 0.5, 0.75, 1.0)
# In these large numbers at axes are written, from ten of them on.
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_GROUP_RATES = {
    "true_positive_rate": "found",
    "positive_predictive_value": "right when predicted",
}
# Characters of a sentence with names in it.
_MAX_SENTENCE = 1000
# States of a feature that are drawn.
_MAX_STATES = 8


def report_html(
    summary: Values, title: str | None = None, about: About | None = None
) -> str:
    """Lay a summary out as a page.

    Parameters
    ----------
    summary : dict
        What `summarize` gave, or what it wrote as JSON.
    title : str, optional
        Title of the page.
    about : About, optional
        Adds a section with the model card, see `model_card`.

    Returns
    -------
    str
        HTML with style and pictures inside; it holds no script and asks for nothing.

    Raises
    ------
    ImportError
        If Jinja2 is not installed (the extra `report`).
    ValueError
        If the summary is of another version.
    """
    check_schema(summary)
    environment = _environment()
    structure, quality = summary["structure"], summary["quality"]
    drawing, note = network_svg(structure)
    pictures = {"network": drawing, "network_note": note}
    pictures |= dict.fromkeys(("roc", "calibration", "observed"), "")
    if quality.get("calibration"):
        pictures["calibration"] = calibration_svg(quality["calibration"])
    if quality.get("roc"):
        pictures["roc"] = roc_svg(quality["roc"])
    model = summary["model"]
    if quality.get("observed"):
        pictures["observed"] = observed_svg(quality["observed"])
    pictures |= _overview_pictures(summary)
    heading = title or (
        f"{model['name']} over {model['n_variables']} variables"
        if summary["kind"] == "density"
        else f"{model['name']} for {plain(model['target'], 60)}"
    )
    page: str = environment.get_template("report.html").render(
        **summary,
        title=heading,
        card="" if about is None else sections_html(card_parts(summary, about)),
        pictures=pictures,
        score_titles=SCORE_TITLES,
        number_titles=NUMBER_TITLES,
    )
    # Numbers keep the sign of per cent on their line.
    return breakable(page).replace(" %", "\u00a0%")


def write_report(
    model: ModelLike | BayesianNetwork,
    table: FrameLike,
    path: str | Path,
    target: str | int | None = None,
    *,
    title: str | None = None,
    card: str | Path | None = None,
    about: About | None = None,
    **options: Unpack[ReportOptions],
) -> Values:
    """Write a page about a model to a file, and its model card to another.

    Parameters
    ----------
    model : classifier, regressor, BayesianNetworkEstimator or BayesianNetwork
        The fitted model.
    table : data frame
        Rows with the model's columns.
    path : str or Path
        The file; it appears when all is written.
    target : str, optional
        The column with the classes or numbers.
    title : str, optional
        Title of the page.
    card : str or Path, optional
        A file for the model card as Markdown; the page then has it as a section.
    about : About, optional
        What a person adds to the card; with it the page has that section too.
    **options
        As for `summarize`.

    Returns
    -------
    dict
        The summary that the page shows.

    Raises
    ------
    ImportError
        If Jinja2 is not installed (the extra `report`).
    TypeError, ValueError
        As for `summarize`.
    OSError
        If the file cannot be written.
    """
    _environment()
    if card is not None or about is not None:
        about = (about or About()).dated()
    with contextlib.ExitStack() as files:
        page = files.enter_context(text_file(path))
        card_file = None if card is None else files.enter_context(text_file(card))
        summary = summarize(model, table, target, **options)
        page.write(report_html(summary, title, about))
        if card_file is not None:
            card_file.write(model_card(summary, about))
    return summary


def _environment() -> Any:
    """Jinja2 with escaping everywhere, and every text cleaned before that."""
    try:
        return _compiled_templates()
    except ImportError as error:
        raise ImportError(
            'a report needs Jinja2; install it with pip install "bayleaf[report]", or '
            "take the summary as JSON"
        ) from error


@cache
def _compiled_templates() -> Any:
    """The environment of all pages; to compile templates takes longer than to fit."""
    import jinja2
    from markupsafe import Markup

    def finalize(value: Any) -> Any:
        return value if isinstance(value, Markup) else plain(value)

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "figure": figure,
        "bits": in_bits,
        "furthest": _furthest,
        "percent": percent,
        "number": number,
        "like": like,
        "state": lambda term: (
            stated("", term["value"], term["cell"]).strip().removeprefix("= ")
        ),
        "count": count,
        "probability": probability,
        "sentence": lambda text: Markup(escape(plain(text, _MAX_SENTENCE))),
        # Only for what `pictures` and `results` drew and for the style sheet.
        "drawn": Markup,
    }
    return environment


def _furthest(features: Sequence[Values], name: str) -> float:
    """How far bars of a value and lines of its interval reach from zero."""
    ends = [end for one in features for end in (one[name], *(one["interval"] or ()))]
    return max(map(abs, ends)) or 1.0


def _overview_pictures(summary: Values) -> Values:
    """Icon arrays, shapes and rates by group of the first page."""
    overview = summary["overview"]
    icons = []
    for point in overview.get("points", ()):
        kinds = OUTCOMES if "found" in point else DECISIONS
        counts = in_100([point[kind] for kind in kinds])
        listed = [f"{n} {kind}" for n, kind in zip(counts, kinds.values(), strict=True)]
        label = f"Of 100 rows at {percent(point['threshold'], 0)}: {', '.join(listed)}"
        drawing = icons_svg(label, [*zip(kinds, counts, strict=True)])
        icons.append({"drawing": drawing, "counts": listed[:3], **point})
    shapes = []
    # One scale for all, so that a stronger effect looks stronger.
    all_values = [
        v
        for shape in overview.get("shapes", ())
        for v in shape.get("moved", shape.get("log_odds", [1.0]))
    ]
    span = min(all_values, default=0.0), max(all_values, default=0.0)
    for shape in overview.get("shapes", ()):
        name = plain(shape["feature"])
        written: Callable[[float], str] = factor
        if "shares" in shape:
            values, written = shape["shares"], partial(percent, digits=0)
            label = f"Share with {plain(stated(shape['target'], shape['state']))}"
        elif "moved" in shape:
            values, written = shape["moved"], partial(rough, sign="+")
            label = f"What {name} adds to {plain(summary['model']['target'])}"
        else:
            values = shape["log_odds"]
            label = f"Odds of {plain(shape['class'])} by {name}"
        if shape.get("edges"):
            drawing = steps_svg(
                label, values, shape["rows"], shape["edges"], written, span
            )
        else:
            texts = map(written, values)
            ranked = sorted(zip(values, shape["states"], texts, strict=True))[::-1]
            shown = ranked[: _MAX_STATES // 2] + ranked[_MAX_STATES // 2 :][-4:]
            bars = [(state, v, text) for v, state, text in shown]
            drawing = bars_svg(label, bars, span)
        shapes.append(
            {
                "name": name,
                "drawing": drawing,
                "low": written(min(values)),
                "high": written(max(values)),
                "n_left_out": 0 if shape.get("edges") else len(values) - len(shown),
                "label": label,
                **{key: shape.get(key) for key in ("target", "bits")},
            }
        )
    return {"icons": icons, "shapes": shapes, "groups": _group_pictures(summary)}


def _group_pictures(summary: Values) -> list[str]:
    """Rates by group as dots with their intervals, a picture per column."""
    drawn = []
    for column in summary.get("groups") or ():
        groups = column["groups"]
        if not groups:
            continue
        names = [f"{', '.join(group['group'])} ({group['n_rows']})" for group in groups]
        rates = [("right", [group["accuracy"] for group in groups])]
        if len(groups[0]["classes"]) == 1:
            rates += [
                (word, [group["classes"][0][key] for group in groups])
                for key, word in _GROUP_RATES.items()
            ]
        series = [(word, [*map(_interval, estimates)]) for word, estimates in rates]
        title = f"Rates by {', '.join(column['columns'])}"
        drawn.append(
            f"<h3>{escape(plain(title))}</h3>" + intervals_svg(title, names, series)
        )
    return drawn


def _interval(rate: Values | None) -> Interval:
    """A rate of a group as it is drawn."""
    return Interval(*(rate[key] if rate else None for key in ("value", "low", "high")))


def calibration_svg(calibration: Values) -> str:
    """Share of rows with the event against the probability predicted, in bins."""
    bins = [one for one in calibration["bins"] if one["n"]]
    most = max((one["n"] for one in bins), default=1)
    dots = []
    for one in bins:
        x, y = _point(one["mean_probability"], one["share"])
        radius = 2.5 + 7 * math.sqrt(one["n"] / most)
        told = (
            f"{one['n']} rows: predicted {percent(one['mean_probability'])}, "
            f"occurred {percent(one['share'])}"
        )
        dots.append(
            f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}">'
            f"<title>{told}</title></circle>"
        )
    label = "Calibration: share that occurred against probability predicted"
    axes = _axes("probability predicted", "share that occurred")
    return _chart(label, [*axes, *dots])


def roc_svg(curves: Sequence[Values]) -> str:
    """Sensitivity against false positive rate, a curve a class."""
    lines = []
    for place, curve in enumerate(curves):
        path = " ".join(
            f"{x:.1f} {y:.1f}" for x, y in (_point(*p) for p in curve["points"])
        )
        name = escape(plain(curve["class"]))
        lines.append(
            f'<path class="curve c{place}" d="M{path}"><title>{name}</title></path>'
        )
    label = "ROC: sensitivity against one minus specificity"
    return _chart(label, [*_axes("1 - specificity", "sensitivity"), *lines])


def observed_svg(pairs: Sequence[Sequence[float]]) -> str:
    """Actual against expected values, a dot a row, both in one unit."""
    low, high = min(map(min, pairs)), max(map(max, pairs))
    span = high - low or 1.0
    dots = []
    for expected, observed in pairs:
        x, y = _point((expected - low) / span, (observed - low) / span)
        told = f"expected {expected:.5g}, actual {observed:.5g}"
        dots.append(
            f'<circle class="dot row" cx="{x:.1f}" cy="{y:.1f}" r="2.2">'
            f"<title>{told}</title></circle>"
        )
    marks = [((at - low) / span, mark) for at, mark in _round_numbers(low, high)]
    axes = _axes("expected", "actual", marks)
    return _chart("Actual against expected values", [*axes, *dots])


def _point(x: float, y: float) -> Place:
    """Where two shares stand in a chart."""
    return _LEFT + _SIDE * x, _TOP + _SIDE * (1 - y)


def _round_numbers(low: float, high: float) -> list[tuple[float, str]]:
    """Two to five round numbers of a range, written in four or five letters."""
    quarter = (high - low) / 4 or 1.0
    power = 10.0 ** math.floor(math.log10(quarter))
    step = power * next(n for n in (1, 2, 5, 10) if n * power >= quarter)
    numbers = [n * step for n in range(math.ceil(low / step), int(high // step) + 1)]
    most = max(map(abs, numbers), default=0.0)
    scale, letter = next((u for u in _UNITS if most >= 10 * u[0]), (1.0, ""))
    return [(number, f"{number / scale:.4g}{letter}") for number in numbers]


def _axes(
    below: str, beside: str, marks: Sequence[tuple[float, str]] = ()
) -> list[str]:
    """Frame, diagonal, marks at shares of the sides, and titles of a chart."""
    (x0, y0), (x1, y1) = _point(0, 0), _point(1, 1)
    parts = [
        f'<rect class="frame" x="{x0}" y="{y1}" width="{_SIDE}" height="{_SIDE}"/>',
        f'<path class="diagonal" d="M{x0} {y0} {x1} {y1}"/>',
    ]
    for share, mark in marks or [(share, percent(share, 0)) for share in _MARKS]:
        x, y = _point(share, share)
        parts.append(f'<text class="end" x="{x0 - 5}" y="{y + 4}">{mark}</text>')
        parts.append(f'<text x="{x}" y="{y0 + 16}">{mark}</text>')
    middle = _TOP + _SIDE / 2
    parts.append(f'<text x="{_LEFT + _SIDE / 2}" y="{y0 + 34}">{below}</text>')
    parts.append(
        f'<text x="10" y="{middle}" transform="rotate(-90 10 {middle})">{beside}</text>'
    )
    return parts


def _chart(label: str, parts: Sequence[str]) -> str:
    """A chart of two shares as an image."""
    return image("chart", _LEFT + _SIDE + 22, _TOP + _SIDE + 40, label, parts)
