"""``bayleaf explore``: a page to play with a model."""

from __future__ import annotations

from pathlib import Path

from bayleaf.cli.options import FileFormat, OptionalOutput, Source
from bayleaf.wording import visible


def explore(
    model: Path,
    *,
    output: OptionalOutput = None,
    title: str | None = None,
    min_count: int = 1,
    rows: Source | None = None,
    edit: Source | None = None,
    form: FileFormat | None = None,
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
        Heading of the page; the file's name and kind of model by default.
    min_count
        Show a classifier of counts rounded to multiples of this number, and no names of
        values that few training rows have.
    rows
        CSV or Parquet file; its first 1 000 rows go into the page, to pick cases from.
    edit
        CSV or Parquet file of the training rows of a naive Bayes, TAN or KDB model, all
        of which go into the page: cut points and arcs can then be edited in it.
    """
    import tempfile
    import webbrowser

    from bayleaf.cli.table_reading import known_table
    from bayleaf.explorer import explorer_html
    from bayleaf.explorer.explorer_page import known_columns
    from bayleaf.io.atomic import check_writable, write_text
    from bayleaf.loading import read_model_or_network

    if output is not None:
        check_writable(output)
    found = read_model_or_network(model)
    kind = getattr(found, "estimator", "Bayesian network")
    heading = f"{model.stem}: {kind}" if title is None else title
    encoder, domain = known_columns(found)
    shown, learned = (
        None if source is None else known_table(source, form, domain, encoder)
        for source in (rows, edit)
    )
    page = explorer_html(found, heading, min_count=min_count, rows=shown, edit=learned)
    # The folder stays when the program has ended, for the browser.
    path = output or Path(tempfile.mkdtemp(prefix="bayleaf-")) / f"{model.stem}.html"
    write_text(path, page, errors="replace")
    print(visible(str(path)))
    if output is None:
        webbrowser.open(path.as_uri())
    return 0
