"""``bayleaf explain``: why rows of a table get their class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter

from bayleaf.cli.display import print_json, progress, text_width
from bayleaf.cli.options import (
    USUAL_FORMAT,
    Flag,
    FormatOptions,
    Json,
    ModelFile,
    Strings,
    Table,
    refuse_options,
    unquoted,
)
from bayleaf.wording import quoted

if TYPE_CHECKING:
    from bayleaf.data.partial_values import Rows
    from bayleaf.data.table_encoder import EncodedTable, TableEncoder
    from bayleaf.models.predictor import Predictor


def explain(
    model: ModelFile,
    data: Table,
    *,
    line: Annotated[
        tuple[int, ...] | None, Parameter(name=["--line", "--row"], negative="")
    ] = None,
    all_lines: Flag = False,
    against: str | None = None,
    terms: int = 10,
    counterfactuals: int = 0,
    max_changes: int | None = None,
    immutable: Strings = (),
    direction: Strings = (),
    cost: Strings = (),
    cost_per_step: Strings = (),
    robustness: Flag = False,
    intervals: Flag = False,
    form: FormatOptions = USUAL_FORMAT,
    json: Json = False,
) -> int:
    """Explain the predicted class of rows: what each feature adds to the log-odds.

    Of a numeric target, what each feature adds to the expectation.
    Contexts, groups and latent rules that a row uses, and values that contradict one
    another, are told too.

    Example: `bayleaf explain heart.json new.csv --line 3 --counterfactuals 3`

    Example: `bayleaf explain heart.json new.csv --robustness --all-lines`

    Parameters
    ----------
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
    cost_per_step
        Feature whose cost counts for each state that it moves by; may be repeated.
    robustness
        Show how many wrong, and how many missing, cells would change the class.
    intervals
        Show how sure each probability is, from the rows that were learned from.
    """
    from bayleaf.data.text_forms import labels_by_text
    from bayleaf.io import read_model
    from bayleaf.models.explanation import noted

    recourse = _Recourse(
        counterfactuals, max_changes, immutable, direction, cost, cost_per_step
    )
    lines = line or (1,)
    single = {
        "--against": against,
        "--intervals": intervals,
        "--counterfactuals": counterfactuals,
    }
    saved: Any = read_model(model)
    if saved.kind == "regressor":
        others = {"--robustness": robustness, "--all-lines": all_lines}
        refuse_options({**single, **others, **recourse.options})
        encoded = _encoded(saved.encoder, data, lines, form)
        expectations = noted(saved.model.explain(encoded.codes), encoded)
        _show(expectations, lines, [], terms, as_json=json)
        return 0
    recourse.check(robustness=robustness)
    predictor = saved.predictor
    if all_lines:
        if not robustness:
            raise ValueError("--all-lines belongs to --robustness; give both")
        for option, value in {"--line": line, **single}.items():
            if value:
                raise ValueError(
                    f"{option} is for single lines; leave out {option} or --all-lines"
                )
        _show_robustness(predictor, data, form, immutable, as_json=json)
        return 0
    encoded = _encoded(predictor.encoder, data, lines, form)
    notes = [*_notes(predictor, encoded.rows, recourse, intervals, robustness)]
    known = labels_by_text(predictor.classes.tolist())
    label = None if against is None else known.get(against, against)
    explanations = noted(predictor.explain(encoded.rows, label), encoded)
    _show(explanations, lines, notes, terms, as_json=json)
    return 0


def _encoded(
    encoder: TableEncoder, data: str, lines: Sequence[int], form: FormatOptions
) -> EncodedTable:
    """The features of rows of a file, which are named by their lines below the header.

    ValueError if the file has fewer lines.
    """
    import pyarrow as pa

    from bayleaf.cli.table_reading import UnknownReport, encode_batch
    from bayleaf.data.files.table_files import read_batches

    if any(line < 1 for line in lines):
        raise ValueError(f"--line must be at least 1, got {min(lines)}")
    rows: dict[int, pa.RecordBatch] = {}
    start = 0
    for batch in read_batches(data, form):
        for line in lines:
            if start < line <= start + batch.num_rows:
                rows[line] = batch.slice(line - start - 1, 1)
        start += batch.num_rows
        if len(rows) == len(set(lines)):
            break
    else:
        absent = min(line for line in lines if line not in rows)
        raise ValueError(f"--line {absent} is beyond the table's {start} rows")
    table = pa.Table.from_batches([rows[line] for line in lines])
    batch = table.combine_chunks().to_batches()[0]
    report = UnknownReport(data)
    encoded = encode_batch(
        encoder, batch, data, lines=lines, report=report, return_notes=True
    )
    report.show()
    return encoded


def _show_robustness(
    predictor: Predictor,
    data: str,
    form: FormatOptions,
    immutable: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """Show how robust the predictions of all rows of a file are."""
    from bayleaf.cli.table_reading import UnknownReport, encode_batch
    from bayleaf.data.files.table_files import read_batches
    from bayleaf.explain import Robustness, RobustnessOfRows, robustness_of_rows

    features = _mutable(predictor, immutable)
    items: list[Robustness] = []
    report = UnknownReport(data)
    for batch in read_batches(data, form):
        encoded = encode_batch(
            predictor.encoder, batch, data, n_before=len(items), report=report
        )
        items += robustness_of_rows(predictor, encoded.rows, features=features)
    report.show()
    result = RobustnessOfRows(tuple(items))
    if as_json:
        values: dict[str, Any] = result.to_dict()
        numbered = enumerate(values["rows"], start=1)
        print_json({**values, "rows": [{"line": n, **one} for n, one in numbered]})
    else:
        print(result)


class _Note(NamedTuple):
    """What is shown of one row in addition to its contributions."""

    key: str
    value: Any
    text: str


def _show(
    explanations: Sequence[Any],
    lines: Sequence[int],
    notes: Sequence[Sequence[_Note]],
    n_terms: int,
    *,
    as_json: bool,
) -> None:
    """Print the explanations of rows, each with its notes; `notes` are by kind."""
    values, texts = [], []
    for index, (explanation, line) in enumerate(zip(explanations, lines, strict=True)):
        row_notes = [kind[index] for kind in notes]
        contributions = replace(explanation, row=line - 1).to_dict()
        noted = {note.key: note.value for note in row_notes}
        values.append({"line": line, **contributions, **noted})
        text = explanation.to_text(n_terms, f"line {line}", columns=text_width())
        texts.append("\n".join([text, *(note.text for note in row_notes if note.text)]))
    if as_json:
        print_json(values)
    else:
        print("\n\n".join(texts))


def _notes(
    predictor: Predictor,
    rows: Rows,
    recourse: _Recourse,
    intervals: bool,
    robustness: bool,
) -> Iterator[list[_Note]]:
    """Notes on all rows, kind by kind: what each row uses, and what was asked for."""
    from bayleaf import explain as library
    from bayleaf.models.explanation import wrapped

    notes = []
    for sentences in library.contexts(predictor, rows):
        lines = [
            line
            for one in sentences
            for line in wrapped(one, "  - ", width=text_width())
        ]
        text = "\n".join(["in this row", *lines]) if lines else ""
        notes.append(_Note("contexts", sentences, text))
    yield notes
    conflicts = library.conflicts(predictor, rows)
    notes = []
    for conflict in [None] * rows.n_rows if conflicts is None else conflicts:
        if conflict is None:
            notes.append(_Note("conflict", None, ""))
            continue
        text = (
            "\n".join(wrapped(str(conflict), "", width=text_width()))
            if conflict.worth_telling
            else ""
        )
        notes.append(_Note("conflict", conflict.to_dict(), text))
    yield notes
    results: dict[str, Any] = {}
    if intervals:
        credible = library.credible_intervals(predictor, rows, random_state=0)
        results["intervals"] = credible
    if robustness:
        features = _mutable(predictor, recourse.immutable)
        results["robustness"] = library.robustness_of_rows(
            predictor, rows, features=features
        )
    if recourse.n:
        settings = recourse.settings()
        with progress():
            results["counterfactuals"] = [
                library.counterfactuals(
                    predictor, rows.rows(slice(row, row + 1)), **settings
                )
                for row in range(rows.n_rows)
            ]
    for key, items in results.items():
        yield [_Note(key, item.to_dict(), item.to_text(text_width())) for item in items]


def _mutable(predictor: Predictor, immutable: Sequence[str]) -> list[str | int]:
    """Names of all features but some."""
    from bayleaf.inference.states import find_variable

    domain = predictor.encoder.domain
    fixed = {find_variable(domain, name) for name in immutable}
    return [name for v, name in enumerate(domain.names) if v not in fixed]


@dataclass(frozen=True)
class _Recourse:
    """Options of counterfactuals, as they are written."""

    n: int  # counterfactuals
    max_changes: int | None  # features changed at once, at most
    immutable: tuple[str, ...]  # features that stay
    direction: tuple[str, ...]  # feature=up or feature=down
    cost: tuple[str, ...]  # feature=cost
    cost_per_step: tuple[str, ...]  # features whose cost counts by steps

    @property
    def options(self) -> dict[str, Any]:
        """The options other than the number of counterfactuals."""
        return {
            "--max-changes": self.max_changes,
            "--immutable": self.immutable,
            "--direction": self.direction,
            "--cost": self.cost,
            "--cost-per-step": self.cost_per_step,
        }

    def check(self, *, robustness: bool) -> None:
        """Raise ValueError if an option was given without what it belongs to."""
        if self.n < 0:
            raise ValueError(f"--counterfactuals must be >= 0, got {self.n}")
        for option, value in self.options.items():
            if self.n or value in (None, ()):
                continue
            if option != "--immutable":
                raise ValueError(f"{option} belongs to --counterfactuals; give both")
            if not robustness:
                raise ValueError(
                    "--immutable belongs to --counterfactuals or --robustness; give "
                    "one of them"
                )

    def settings(self) -> dict[str, Any]:
        """Parameters of `bayleaf.explain.counterfactuals`."""
        from bayleaf.data.text_forms import read_numbers

        costs = {}
        for name, text in _pairs("--cost", "feature=number", self.cost).items():
            numbers = read_numbers([text])
            if numbers is None:
                raise ValueError(
                    f"--cost should have the form feature=number, got "
                    f"{quoted(f'{name}={text}')}"
                )
            costs[name] = float(numbers[0])
        settings = {
            "n": self.n,
            "immutable": self.immutable,
            "direction": _pairs("--direction", "feature=up or =down", self.direction),
            "cost": costs,
            "cost_per_step": self.cost_per_step,
        }
        limit = self.max_changes
        return settings if limit is None else {**settings, "max_changes": limit}


def _pairs(option: str, form: str, texts: Sequence[str]) -> dict[str, str]:
    """Values by feature; the last equals sign of a text separates the two."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.rpartition("=")
        name = unquoted(name)
        if not (sign and name and value.strip()):
            raise ValueError(
                f"{option} should have the form {form}, got {quoted(text)}"
            )
        if name in pairs:
            raise ValueError(f"{option} names {quoted(name)} twice; give one")
        pairs[name] = unquoted(value)
    return pairs
