"""``bayleaf report``: a page about a model and a table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bayleaf.cli.file_format import FileFormat
from bayleaf.cli.options import Source, print_json
from bayleaf.wording import visible

if TYPE_CHECKING:
    from bayleaf.data.domain import Variable

DEFAULT_OUTPUT = Path("report.html")


def report(
    model: Path,
    data: Source,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    target: str | None = None,
    held_out: Annotated[bool, Parameter(negative="")] = False,
    rows: Annotated[bool, Parameter(name=["--rows"], negative="--no-rows")] = True,
    min_count: int = 1,
    loss: str | None = None,
    positive: str | None = None,
    folds: int = 10,
    seed: int = 0,
    title: str | None = None,
    form: FileFormat | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Write one page on what a model learned, how good it is, and why it says so.

    Figures are those of cross-validated fresh models, unless --held-out says that the
    table holds no training rows.

    Example: `bayleaf report heart.json heart.csv -o report.html --min-count 5`

    Parameters
    ----------
    model
        Model file, or network file (bif, net, xdsl, xml).
    data
        CSV or Parquet file; - for CSV on standard input.
    output
        File to write, report.html unless --json is given.
    target
        Column with the classes or numbers; the one of training by default.
    held_out
        The model has not learned from these rows: score it itself on them.
    rows
        Show ten rows with their values, explained; --no-rows leaves them out.
    min_count
        Withhold smaller numbers of rows, what they would follow from, names of rare
        values, and all single rows.
    loss
        CSV file of costs, class names as header row and first column; rows are
        predicted, columns true classes.
    positive
        Of two classes, the one that thresholds are for, by default the second.
    folds
        Number of folds of the cross-validation.
    seed
        Seed that deals the folds.
    title
        Heading of the page.
    json
        Print the summary as JSON.
    """
    from bayleaf.cli.progress import progress
    from bayleaf.cli.tables import as_learned, read_table
    from bayleaf.evaluation.operating_points import read_loss
    from bayleaf.report import summarize

    output = DEFAULT_OUTPUT if output is None and not json else output
    if output is not None:
        _check_page(output)
    costs = None if loss is None else read_loss(loss)
    learned = open_model(model)
    table = as_learned(read_table(data, form), _domain(learned))
    with progress():
        summary = summarize(
            learned,
            table,
            target,
            held_out=held_out,
            rows=rows,
            min_count=min_count,
            loss=costs,
            positive=positive,
            n_folds=folds,
            random_state=seed,
        )
    if output is not None:
        _write(summary, output, title)
    if json:
        print_json(summary)
    else:
        print(visible(str(output)))
    return 0


def open_model(path: Path) -> Any:
    """The classifier, regressor, density model or network in a file."""
    from bayleaf.io import ModelFileError, read_network
    from bayleaf.io.native.regression import is_regression
    from bayleaf.loading import load_estimator, load_regressor

    if path.is_file() and is_regression(path):
        return load_regressor(path)
    if path.suffix.lower() != ".json":
        return read_network(path)
    try:
        return load_estimator(path)
    except ModelFileError as error:
        try:
            return read_network(path)
        except ValueError:
            raise error from None


def _domain(model: Any) -> Iterable[Variable]:
    """The variables that a model reads from a table; none for a network."""
    encoder = getattr(model, "encoder_", None)
    return () if encoder is None else encoder.domain


def _check_page(output: Path) -> None:
    """Refuse early what would fail when all the work is done."""
    from importlib.util import find_spec

    from bayleaf.io.atomic import check_writable

    check_writable(output)
    if find_spec("jinja2") is None:
        raise ValueError(
            "a report needs Jinja2: install bayleaf[report], or print the summary "
            "with --json"
        )


def _write(summary: dict[str, Any], output: Path, title: str | None) -> None:
    """Lay the summary out and write it, whole or not at all."""
    from bayleaf.io.atomic import replacing
    from bayleaf.report import report_html

    page = report_html(summary, title)
    with replacing(output) as part:
        part.write_text(page, encoding="utf-8")
