"""``bayleaf explain``: why rows of a table get their class."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter

from bayleaf.cli.file_format import FileFormat
from bayleaf.cli.options import Source, Strings, print_json

if TYPE_CHECKING:
    from bayleaf.data.codes import Codes
    from bayleaf.models.explanation import Explanation
    from bayleaf.models.predictor import Predictor


def explain(
    model: Path,
    data: Source,
    *,
    line: Annotated[
        tuple[int, ...], Parameter(name=["--line", "--row"], negative="")
    ] = (1,),
    against: str | None = None,
    terms: int = 10,
    counterfactuals: int = 0,
    immutable: Strings = (),
    intervals: Annotated[bool, Parameter(negative="")] = False,
    form: FileFormat | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Explain the predicted class of rows: what each feature adds to the log-odds.

    Of a numeric target, what each feature adds to the expectation.
    Contexts, groups and latent rules that a row uses, and values that contradict one
    another, are told too.

    Example: `bayleaf explain heart.json new.csv --line 3 --counterfactuals 3`

    Parameters
    ----------
    model
        Model file.
    data
        CSV or Parquet file; - for CSV on standard input.
    line
        Line below the header, from 1; may be repeated.
    against
        Class to compare with; the runner-up by default.
    terms
        How many features are listed, the strongest first.
    counterfactuals
        How many changes to show that would make the prediction another class.
    immutable
        Feature that they leave as it is; may be repeated.
    intervals
        Show how sure each probability is, from the rows that were learned from.
    json
        Print JSON.
    """
    from dataclasses import replace
    from functools import partial

    from bayleaf.cli.coding import encode_batch
    from bayleaf.cli.regression.fitted import print_explanations, refuse_options
    from bayleaf.io import read_model
    from bayleaf.io.native.regression import is_regression, read_regression

    if is_regression(model):
        refuse_options(
            {
                "--against": against,
                "--counterfactuals": counterfactuals,
                "--immutable": immutable,
                "--intervals": intervals,
            }
        )
        saved = read_regression(model)
        encoded = encode_batch(saved, _rows(data, line, form), data, lines=line)
        print_explanations(saved, encoded.codes, line, terms, as_json=json)
        return 0
    predictor = read_model(model).predictor
    batch = _rows(data, line, form)
    encoded = encode_batch(predictor, batch, data, lines=line)
    codes = encoded.codes
    found = predictor.explain(codes, _label(predictor.classes, against))
    if counterfactuals < 0:
        raise ValueError(f"--counterfactuals must be >= 0, got {counterfactuals}")
    if immutable and not counterfactuals:
        raise ValueError("--immutable belongs to --counterfactuals; give both")
    explanations = [
        replace(one, row=number - 1) for one, number in zip(found, line, strict=True)
    ]
    asked = _Asked(predictor, codes)
    more = [asked.contexts, asked.conflicts]
    if intervals:
        more.append(asked.intervals)
    if counterfactuals:
        more.append(partial(asked.counterfactuals, counterfactuals, immutable))
    answers = [answer() for answer in more]
    if json:
        print_json(
            [
                _values(one, [a[i] for a in answers])
                for i, one in enumerate(explanations)
            ]
        )
    else:
        texts = [
            one.to_text(terms, f"line {number}") for one, number in zip(found, line)
        ]
        for answer in answers:
            texts = [
                f"{text}\n{one.text}" if one.text else text
                for text, one in zip(texts, answer, strict=True)
            ]
        print("\n\n".join(texts))
    return 0


class _Answer(NamedTuple):
    """What is told of one row beside its contributions."""

    key: str
    value: Any
    text: str


class _Asked:
    """What may be asked of rows beside their contributions; answers by row.

    Parameters
    ----------
    predictor : Predictor
        The model.
    codes : Codes
        The rows.
    """

    def __init__(self, predictor: Predictor, codes: Codes) -> None:
        self._predictor = predictor
        self._codes = codes

    def contexts(self) -> list[_Answer]:
        """Context-specific independences, groups and rules used."""
        from bayleaf.explain import contexts
        from bayleaf.models.explanation import wrapped

        answers = []
        for sentences in contexts(self._predictor, self._codes):
            lines = [line for one in sentences for line in wrapped(one, "  - ")]
            text = "\n".join(["in this row", *lines]) if lines else ""
            answers.append(_Answer("contexts", sentences, text))
        return answers

    def conflicts(self) -> list[_Answer]:
        """Whether the values contradict one another."""
        from bayleaf.explain import conflicts
        from bayleaf.models.explanation import wrapped

        found = conflicts(self._predictor, self._codes)
        if found is None:
            return [_Answer("conflict", None, "")] * self._codes.n_rows
        return [
            _Answer(
                "conflict",
                one.to_dict(),
                "\n".join(wrapped(str(one), "")) if one.worth_telling else "",
            )
            for one in found
        ]

    def intervals(self) -> list[_Answer]:
        """Credible intervals of the class probabilities."""
        from bayleaf.explain import credible_intervals

        return [
            _Answer("intervals", one.to_dict(), one.to_text())
            for one in credible_intervals(self._predictor, self._codes, random_state=0)
        ]

    def counterfactuals(self, n: int, immutable: tuple[str, ...]) -> list[_Answer]:
        """What would make the prediction another class."""
        from bayleaf.explain import counterfactuals

        answers = []
        for row in range(self._codes.n_rows):
            single = self._codes.rows(slice(row, row + 1))
            found = counterfactuals(self._predictor, single, n=n, immutable=immutable)
            answers.append(_Answer("counterfactuals", found.to_dict(), found.to_text()))
        return answers


def _values(explanation: Explanation, answers: Sequence[_Answer]) -> dict[str, Any]:
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
