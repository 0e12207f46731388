"""``bayleaf report``: a page about a model and a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bayleaf.cli.display import print_json, progress
from bayleaf.cli.options import (
    USUAL_FORMAT,
    Flag,
    FormatOptions,
    Loss,
    OptionalOutput,
    Table,
    Weight,
)
from bayleaf.wording import quoted, split_names, visible

if TYPE_CHECKING:
    from bayleaf.report import About

DEFAULT_OUTPUT = Path("report.html")


@Parameter(name="*")
@dataclass(frozen=True)
class CardOptions:
    """The model card, and what a person adds to it.

    Parameters
    ----------
    card
        Write a model card to this file, as Markdown; the page has it as a section.
    purpose
        Of the card: what the model is for.
    users
        Of the card: who is to use the model.
    out_of_scope
        Of the card: what the model is not to be used for.
    owner
        Of the card: who answers for the model, and how that person is reached.
    collected
        Of the card: when the rows were collected.
    fitted
        Of the card: when the model was fitted.
    card_date
        Date of the card; by default that of SOURCE_DATE_EPOCH, or else today's.
    """

    card: Path | None = None
    purpose: str | None = None
    users: str | None = None
    out_of_scope: str | None = None
    owner: str | None = None
    collected: str | None = None
    fitted: str | None = None
    card_date: str | None = None

    def about(self, source: str) -> About | None:
        """What the card contains beyond the summary; None without a card."""
        from bayleaf.report import About

        values = asdict(self)
        if set(values.values()) == {None}:
            return None
        del values["card"]
        written = values.pop("card_date")
        origin = None if source == "-" else source
        return About(**values, source=origin, written=written).dated()


def report(
    model: Path,
    data: Table,
    *,
    output: OptionalOutput = None,
    target: str | None = None,
    by: str | None = None,
    held_out: Flag = False,
    rows: Annotated[bool, Parameter(name=["--rows"], negative="--no-rows")] = True,
    min_count: int = 1,
    loss: Loss = None,
    positive: str | None = None,
    weight: Weight = None,
    folds: int = 10,
    seed: int = 0,
    title: str | None = None,
    card: CardOptions | None = None,
    form: FormatOptions = USUAL_FORMAT,
    json: Flag = False,
) -> int:
    """Write one page on what a model learned, how good it is, and why it says so.

    Figures are those of cross-validated fresh models, unless --held-out says that the
    table holds no training rows.

    Example: `bayleaf report heart.json heart.csv -o report.html --min-count 5`

    Parameters
    ----------
    model
        Model file, or network file (bif, net, xdsl, xml).
    output
        File to write, report.html unless --json is given.
    target
        Column with the classes or numbers; the one of training by default.
    by
        Columns that make groups, which are scored apart, with commas between them.
    held_out
        The model has not learned from these rows: score it itself on them.
    rows
        Show ten rows with their values, explained; --no-rows leaves them out.
    min_count
        Withhold smaller numbers of rows, what they would follow from, names of rare
        values, and all single rows.
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
    from importlib.util import find_spec

    from sklearn.base import ClassifierMixin, RegressorMixin

    from bayleaf.cli.table_reading import known_table
    from bayleaf.evaluation.operating_points import read_loss
    from bayleaf.io.atomic import check_writable, write_text
    from bayleaf.loading import load
    from bayleaf.report import model_card, report_html, summarize

    card = card or CardOptions()
    output = DEFAULT_OUTPUT if output is None and not json else output
    about = card.about(data)
    if output is not None and output == card.card:
        raise ValueError(
            f"page and card would both be {quoted(str(output))}; name two files"
        )
    for path in filter(None, (output, card.card)):
        check_writable(path)
    if output is not None and find_spec("jinja2") is None:
        raise ValueError(
            'a report needs Jinja2; install it with pip install "bayleaf[report]", or '
            "print the summary with --json"
        )
    costs = None if loss is None else read_loss(loss)
    learned = load(model)
    # A network has no encoder.
    encoder = getattr(learned, "encoder_", None)
    domain = getattr(getattr(learned, "model_", learned), "domain", ())
    if target is None and isinstance(learned, ClassifierMixin | RegressorMixin):
        target = str(learned._page_model().model.domain[-1].name)
    table = known_table(data, form, domain, encoder, target)
    with progress():
        summary = summarize(
            learned,
            table,
            target,
            by=[] if by is None else split_names([by], table.column_names),
            held_out=held_out,
            rows=rows,
            min_count=min_count,
            loss=costs,
            positive=positive,
            n_folds=folds,
            random_state=seed,
            weight=weight,
            source=None if str(data) == "-" else str(data),
        )
    # Both are laid out before either is written.
    texts = {} if output is None else {output: report_html(summary, title, about)}
    if card.card is not None:
        texts[card.card] = model_card(summary, about)
    for path, text in texts.items():
        write_text(path, text)
    if json:
        print_json(summary)
    else:
        for path in texts:
            print(visible(str(path)))
    return 0
