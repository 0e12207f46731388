"""``bayleaf explain``: why rows of a table get their class."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from bayleaf.cli.options import Source, Strings, print_json


def explain(
    model: Path,
    data: Source,
    *,
    row: Annotated[tuple[int, ...], Parameter(negative="")] = (1,),
    against: str | None = None,
    terms: int = 10,
    na: Strings = (),
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Explain the predicted class of rows: what each feature adds to the log-odds.

    Example: `bayleaf explain heart.json new.csv --row 3`

    Parameters
    ----------
    model
        Model file.
    data
        CSV or Parquet file; - for CSV on standard input.
    row
        Row below the header, from 1; may be repeated.
    against
        Class to compare with; the runner-up by default.
    terms
        How many features are listed, the strongest first.
    na
        Cell that counts as empty, such as ?; may be repeated.
    json
        Print JSON.
    """
    from dataclasses import replace

    from bayleaf.cli.coding import codes_of_batch
    from bayleaf.io import read_model

    predictor = read_model(model).predictor
    batch = _rows(data, row)
    codes = codes_of_batch(predictor, batch, data, frozenset(na), row_numbers=row)
    found = predictor.explain(codes, _label(predictor.classes, against))
    explanations = [
        replace(one, row=number) for one, number in zip(found, row, strict=True)
    ]
    if json:
        print_json([one.to_dict() for one in explanations])
    else:
        print("\n\n".join(one.to_text(terms) for one in explanations))
    return 0


def _rows(data: str, numbers: tuple[int, ...]) -> Any:
    """The rows with the given numbers, counted from one, in that order."""
    import pyarrow as pa

    from bayleaf.cli.tables import read_batches

    if any(number < 1 for number in numbers):
        raise ValueError(f"--row must be at least 1, got {min(numbers)}")
    found: dict[int, pa.RecordBatch] = {}
    start = 0
    for batch in read_batches(data):
        for number in numbers:
            if start < number <= start + batch.num_rows:
                found[number] = batch.slice(number - start - 1, 1)
        start += batch.num_rows
        if len(found) == len(set(numbers)):
            break
    else:
        absent = min(number for number in numbers if number not in found)
        raise ValueError(f"--row {absent} is beyond the table's {start} rows")
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
