"""``bayleaf explain``: why rows of a table get their class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bayleaf.cli.file_format import FileFormat
from bayleaf.cli.options import Source, Strings
from bayleaf.cli.showing.found import print_json

if TYPE_CHECKING:
    from bayleaf.cli.explaining.answers import Answer
    from bayleaf.data.codes import Codes
    from bayleaf.explain import Robustness
    from bayleaf.io import SavedModel
    from bayleaf.models.explanation import Explanation
    from bayleaf.models.predictor import Predictor


def explain(
    model: Path,
    data: Source,
    *,
    line: Annotated[
        tuple[int, ...] | None, Parameter(name=["--line", "--row"], negative="")
    ] = None,
    all_lines: Annotated[bool, Parameter(negative="")] = False,
    against: str | None = None,
    terms: int = 10,
    counterfactuals: int = 0,
    max_changes: int | None = None,
    immutable: Strings = (),
    direction: Strings = (),
    cost: Strings = (),
    per_step: Strings = (),
    robustness: Annotated[bool, Parameter(negative="")] = False,
    intervals: Annotated[bool, Parameter(negative="")] = False,
    form: FileFormat | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Explain the predicted class of rows: what each feature adds to the log-odds.

    Of a numeric target, what each feature adds to the expectation.
    Contexts, groups and latent rules that a row uses, and values that contradict one
    another, are told too.

    Example: `bayleaf explain heart.json new.csv --line 3 --counterfactuals 3`

    Example: `bayleaf explain heart.json new.csv --robustness --all-lines`

    Parameters
    ----------
    model
        Model file.
    data
        CSV or Parquet file; - for CSV on standard input.
    line
        Line below the header, from 1, which is the default; may be repeated.
    all_lines
        Tell of all lines how many need how many changed cells, with --robustness.
    against
        Class to compare with; the runner-up by default.
    terms
        How many features are listed, the strongest first.
    counterfactuals
        How many changes to show that would make the prediction another class.
    max_changes
        Most features that they change at once; 3 by default.
    immutable
        Feature that they, and --robustness, leave as it is; may be repeated.
    direction
        Feature that they only raise or lower, such as age=up; may be repeated.
    cost
        What it costs to change a feature, such as income=2, and 1 for others: the
        cheapest changes are shown; may be repeated.
    per_step
        Feature whose cost counts for each state that it moves by; may be repeated.
    robustness
        Show how many wrong, and how many missing, cells would change the class.
    intervals
        Show how sure each probability is, from the rows that were learned from.
    json
        Print JSON.
    """
    from bayleaf.cli.explaining.answers import Asked
    from bayleaf.cli.explaining.recourse import Recourse, check_all_lines
    from bayleaf.cli.regression.fitted import refuse_options
    from bayleaf.io import read_model

    wishes = Recourse(
        counterfactuals, max_changes, immutable, direction, cost, per_step
    )
    singles: dict[str, Any] = {
        "--line": line,
        "--against": against,
        "--intervals": intervals,
        "--counterfactuals": counterfactuals,
    }
    saved = read_model(model)
    if saved.kind == "regressor":
        others = {**singles, "--robustness": robustness, "--all-lines": all_lines}
        del others["--line"]
        refuse_options({**others, **wishes.options})
        return _explain_numbers(saved, data, line or (1,), form, terms, json)
    wishes.check(robustness=robustness)
    predictor = saved.predictor
    if all_lines:
        check_all_lines(singles, robustness=robustness)
        return _all_lines(predictor, data, form, immutable, json)
    lines = line or (1,)
    codes = _codes(predictor, data, lines, form)
    asked = Asked(predictor, codes)
    answers = [asked.contexts(), asked.conflicts()]
    if intervals:
        answers.append(asked.intervals())
    if robustness:
        answers.append(asked.robustness(immutable))
    if counterfactuals:
        answers.append(asked.counterfactuals(wishes))
    found = predictor.explain(codes, _label(predictor.classes, against))
    _show(found, lines, answers, terms, as_json=json)
    return 0


def _explain_numbers(
    saved: SavedModel,
    data: str,
    lines: tuple[int, ...],
    form: FileFormat | None,
    terms: int,
    as_json: bool,
) -> int:
    """Explain the expectation of rows."""
    from bayleaf.cli.coding import encode_batch
    from bayleaf.cli.regression.fitted import print_explanations

    encoded = encode_batch(saved, _rows(data, lines, form), data, lines=lines)
    print_explanations(saved, encoded.codes, lines, terms, as_json=as_json)
    return 0


def _codes(
    predictor: Predictor, data: str, lines: tuple[int, ...], form: FileFormat | None
) -> Codes:
    """The features of some rows."""
    from bayleaf.cli.coding import encode_batch

    return encode_batch(predictor, _rows(data, lines, form), data, lines=lines).codes


def _show(
    explanations: Sequence[Explanation],
    lines: Sequence[int],
    answers: Sequence[list[Answer]],
    n_terms: int,
    *,
    as_json: bool,
) -> None:
    """Print explanations of rows, and what else is told of them."""
    if as_json:
        placed = [replace(one, row=n - 1) for one, n in zip(explanations, lines)]
        print_json(
            [_values(one, [a[i] for a in answers]) for i, one in enumerate(placed)]
        )
        return
    texts = []
    for place, (one, number) in enumerate(zip(explanations, lines, strict=True)):
        more = [answer[place].text for answer in answers]
        text = one.to_text(n_terms, f"line {number}")
        texts.append("\n".join([text, *filter(None, more)]))
    print("\n\n".join(texts))


def _all_lines(
    predictor: Predictor,
    data: str,
    form: FileFormat | None,
    immutable: tuple[str, ...],
    as_json: bool,
) -> int:
    """Print how robust the predictions of all rows are."""
    from bayleaf.cli.coding import encode_batch
    from bayleaf.cli.explaining.recourse import changeable
    from bayleaf.cli.tables import read_batches
    from bayleaf.explain import RobustnessOfRows, robustness_of_rows

    features = changeable(predictor, immutable)
    items: list[Robustness] = []
    for batch in read_batches(data, form):
        lines = range(len(items) + 1, len(items) + 1 + batch.num_rows)
        codes = encode_batch(predictor, batch, data, lines=lines).codes
        items += robustness_of_rows(predictor, codes, features=features)
    found = RobustnessOfRows(tuple(items))
    if as_json:
        values = found.to_dict()
        rows = enumerate(values["rows"], start=1)
        print_json({**values, "rows": [{"line": n, **one} for n, one in rows]})
    else:
        print(found)
    return 0


def _values(explanation: Explanation, answers: Sequence[Answer]) -> dict[str, Any]:
    """All that is told of one row, ready for JSON."""
    told = {answer.key: answer.value for answer in answers}
    return {"line": explanation.row + 1, **explanation.to_dict(), **told}


def _rows(data: str, numbers: tuple[int, ...], form: FileFormat | None) -> Any:
    """The rows with the given numbers, counted from one, in that order."""
    import pyarrow as pa

    from bayleaf.cli.tables import read_batches

    if any(number < 1 for number in numbers):
        raise ValueError(f"--line must be at least 1, got {min(numbers)}")
    found: dict[int, pa.RecordBatch] = {}
    start = 0
    for batch in read_batches(data, form):
        for number in numbers:
            if start < number <= start + batch.num_rows:
                found[number] = batch.slice(number - start - 1, 1)
        start += batch.num_rows
        if len(found) == len(set(numbers)):
            break
    else:
        absent = min(number for number in numbers if number not in found)
        raise ValueError(f"--line {absent} is beyond the table's {start} rows")
    table = pa.Table.from_batches([found[number] for number in numbers])
    return table.combine_chunks().to_batches()[0]


def _label(classes: Any, text: str | None) -> Any:
    """The class label that a text spells; the text itself if there is none."""
    if text is None:
        return None
    spelled = {str(label): label for label in classes.tolist()}
    for label in classes.tolist():
        if isinstance(label, bool):
            # A truth value is written false and true in CSV files.
            spelled[str(label).lower()] = label
    return spelled.get(text, text)
