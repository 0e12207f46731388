"""A summary laid out as one page that needs nothing beside itself."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from bayleaf.io.atomic import text_file
from bayleaf.pictures.svg import network_svg
from bayleaf.report.card import About, card_parts, model_card
from bayleaf.report.pictures import calibration_svg, observed_svg, roc_svg
from bayleaf.report.schema import check_schema
from bayleaf.report.summary import summarize
from bayleaf.report.wording import (
    NUMBER_TITLES,
    SCORE_TITLES,
    count,
    number,
    percent,
    plain,
    probability,
)
from bayleaf.results.html import sections_html

Values = dict[str, Any]


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
    return page


def write_report(
    model: Any,
    table: Any,
    path: str | Path,
    target: str | int | None = None,
    *,
    title: str | None = None,
    card: str | Path | None = None,
    about: About | None = None,
    **options: Any,
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
        import jinja2
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError(
            'a report needs Jinja2; install it with pip install "bayleaf[report]", or '
            "take the summary as JSON"
        ) from error

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
        "percent": percent,
        "number": number,
        "count": count,
        "probability": probability,
        "cut": plain,
        # Only for what `pictures` and `results` drew and for the style sheet.
        "drawn": Markup,
    }
    return environment
