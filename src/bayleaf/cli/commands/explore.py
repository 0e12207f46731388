"""``bayleaf explore``: a page to play with a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bayleaf.cli.options import (
    USUAL_FORMAT,
    FormatOptions,
    OptionalOutput,
    Source,
    Strings,
)
from bayleaf.wording import quoted, split_names, visible


def explore(
    model: Path,
    *,
    output: OptionalOutput = None,
    title: str | None = None,
    min_count: int = 1,
    rows: Source | None = None,
    edit: Source | None = None,
    words: Path | None = None,
    words_template: Path | None = None,
    immutable: Strings = (),
    actionable: Strings = (),
    form: FormatOptions = USUAL_FORMAT,
) -> int:
    """Write one page that shows a model and computes what it says, and open it.

    Example: `bayleaf explore heart.json -o explorer.html`

    Parameters
    ----------
    model
        Model file, or network file (bif, net, xdsl, xml).
    output
        File to write; without it, a temporary one that the browser opens.
    title
        Heading of the page; by default what the model predicts, and of a network or
        density model the file's name.
    min_count
        Show a classifier of counts rounded to multiples of this number, and no names of
        values that few training rows have.
    rows
        CSV or Parquet file; its first 1 000 rows go into the page, to pick cases from.
    edit
        CSV or Parquet file of the training rows of a naive Bayes, TAN or KDB model, all
        of which go into the page: cut points and arcs can then be edited in it.
    words
        JSON file of the words of a classifier's page: labels, questions, units, costs
        and groups of features, and what cases and the outcome are called.
    words_template
        Write such a file with the page's own words, to be edited, and no page.
    immutable
        Features that no one can change, with commas between; may be repeated. By
        default those with names such as age, sex and race.
    actionable
        Features that a person can change, which What if proposes first, with commas
        between; may be repeated.
    """
    import tempfile
    import webbrowser

    from bayleaf.cli.table_reading import known_table
    from bayleaf.explorer import explorer_html
    from bayleaf.explorer import words_template as template_of
    from bayleaf.io.atomic import check_writable, write_text
    from bayleaf.loading import load, read_model_or_network
    from bayleaf.models.page_model import page_model

    for path in (output, words_template):
        if path is not None:
            check_writable(path)
    given_words = None if words is None else _words(words)
    # Left-out answers of rows take the estimator, and so scikit-learn.
    found = read_model_or_network(model) if rows is None else load(model)
    if words_template is not None:
        text = json.dumps(template_of(found), indent=2, ensure_ascii=False)
        write_text(words_template, f"{text}\n", errors="replace")
        print(visible(str(words_template)))
        return 0
    explored = page_model(found, "bayleaf explore shows models and networks, got")
    if title is None and not explored.has_target:
        title = f"{model.stem}: Bayesian network"
    encoder = explored.encoder if explored.has_target else None
    domain = explored.model.domain
    shown, learned = (
        None if source is None else known_table(source, form, domain, encoder)
        for source in (rows, edit)
    )
    names = [str(variable.name) for variable in domain]
    page = explorer_html(
        found,
        title,
        min_count=min_count,
        rows=shown,
        edit=learned,
        words=given_words,
        immutable=split_names(immutable, names) if immutable else None,
        actionable=split_names(actionable, names) if actionable else None,
    )
    # The folder stays when the program has ended, for the browser.
    path = output or Path(tempfile.mkdtemp(prefix="bayleaf-")) / f"{model.stem}.html"
    write_text(path, page, errors="replace")
    print(visible(str(path)))
    if output is None:
        webbrowser.open(path.as_uri())
    return 0


def _words(path: Path) -> Any:
    """The words in a JSON file; ValueError with the line of what is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"file {quoted(path.name)} holds no JSON: {error}") from None
