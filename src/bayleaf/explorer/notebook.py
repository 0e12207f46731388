"""Models in notebooks: the live page in a frame, a drawing where it cannot be."""

from __future__ import annotations

from html import escape
from typing import Any

from bayleaf.explorer.explorer_page import explorer_html
from bayleaf.models.page_model import page_model
from bayleaf.results.document import Document, Figure, Part
from bayleaf.results.html import html_of
from bayleaf.wording import size_text

# Notebooks store each page that they show; larger ones are for files of their own.
MAX_BYTES = 2_000_000
# Laying out the map of more variables takes seconds.
_MAX_VARIABLES = 150
_HEIGHT = "height:46rem;width:100%;"
_REFUSAL = "notebooks show fitted models and networks, but were given"
_REMEDY = (
    'bayleaf.explorer.write_explorer(model, "model.html") writes it to a file, to be '
    "opened in a browser."
)


def model_html(model: Any, drawing: str, summary: Document, *others: Part) -> str:
    """A model's page in a frame, and its summary and other parts folded below it.

    The `drawing` is in its place where frames are taken out or scripts are off, and,
    with a sentence, where the page would be too large.
    """
    n_variables = len(page_model(model, _REFUSAL).model.domain)
    live, note = (
        "",
        f"The live page of {n_variables} variables takes a while; {_REMEDY}",
    )
    if n_variables <= _MAX_VARIABLES:
        try:
            live, note = _frame(
                explorer_html(model), html_of(Document("", [Figure(drawing)]))
            )
        except ValueError as error:
            note = f"The live page cannot be made: {error}."
    if live:
        return html_of(Document("", [Figure(live), summary, *others]))
    opened = Document(summary.title, summary.parts, is_short=True)
    return html_of(Document("", [Figure(drawing), note, opened, *others]))


def _frame(page: str, static: str) -> tuple[str, str]:
    """The page in a frame over its `static` form, or why it is not shown."""
    source = escape(page.replace("</noscript>", f"{static}</noscript>"))
    n_bytes = len(source.encode("utf-8", "replace"))
    if n_bytes > MAX_BYTES:
        return "", f"The live page has {size_text(n_bytes)}; {_REMEDY}"
    # Without access to the notebook: scripts run in an origin of their own.
    return (
        f'<div style="position:relative;{_HEIGHT}">'
        f'<div style="overflow:auto;{_HEIGHT}">{static}</div>'
        f'<iframe title="Live page of the model" sandbox="allow-scripts" '
        f'srcdoc="{source}" style="position:absolute;top:0;left:0;border:0;{_HEIGHT}">'
        "</iframe></div>"
    ), ""
