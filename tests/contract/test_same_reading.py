"""Rows have one probability, whatever brings them to a model that was fitted to a file.

Tables are made of columns as programs and countries write them, with missing cells and
with cells of sorts that training lacked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pa_parquet
import pytest

from bayleaf import NaiveBayesClassifier, load
from contract.reading_ways import SIGNS, Case, run
from contract.written_tables import (
    WrittenTable,
    kinds_of_table,
    with_surprises,
    written_table,
)
from oracles.running_scorers import CLOSE

# Arrays, and some batches, have no names.
pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
N_TRAINING, N_REST, N_COLUMNS = 240, 60, 6
# What kinds of written columns are read as.
FORMS = {
    "number": "numbers",
    "integer": "numbers",
    "boolean": "truths",
    "date": "date",
    "duration": "duration",
    "text": "values",
}
Ways = Mapping[str, Callable[[], Any]]


def tables(seed: int) -> tuple[list[str], WrittenTable, WrittenTable, Any]:
    """Kinds of columns, a table to learn from, a later one, and a generator."""
    rng = np.random.default_rng(seed)
    kinds = kinds_of_table(N_COLUMNS, rng)
    share = float(rng.choice([0.0, 0.03]))
    both = written_table(kinds, N_TRAINING + N_REST, rng, odd=share)
    rest = both.rows(range(N_TRAINING, both.n_rows))
    return kinds, both.rows(range(N_TRAINING)), with_surprises(rest, share, rng), rng


def sign_of(seed: int) -> str:
    """The separator of the file to learn from."""
    return [*SIGNS.values()][seed % len(SIGNS)]


def fitted(seed: int, folder: Path) -> tuple[Case, WrittenTable, list[str]]:
    """A model of a file, with the table that it is to read; and the file's table."""
    kinds, train, rest, _ = tables(seed)
    (folder / "train.csv").write_text(train.csv(sign_of(seed)), "utf-8", newline="")
    path = folder / "model.json"
    words = ("--target", "class", "--model", "nb", "-o", path)
    run("fit", folder / "train.csv", *words)
    return Case(path, rest, folder), train, kinds


def differing(
    ways: Ways, expected: Any, show: Callable[[int], object], close: float = 0.0
) -> Iterator[str]:
    """Sentences on ways that fail, or lead to other probabilities than expected."""
    for name, way in ways.items():
        try:
            found = np.asarray(way(), float)
        except Exception as error:
            yield f"{name}: {type(error).__name__}: {error}"
            continue
        if found.shape != expected.shape:
            yield f"{name}: {found.shape} in the place of {expected.shape}"
            continue
        rows = np.flatnonzero((np.abs(found - expected) > close).any(axis=1))
        if len(rows):
            yield f"{name}: {len(rows)} rows differ, such as {show(int(rows[0]))}"


def unlike(name: str, found: Callable[[], Mapping[str, Any]]) -> Iterator[str]:
    """Sentences on files of which a command prints something else than of the first."""
    try:
        texts = found()
    except Exception as error:
        yield f"{name}: {type(error).__name__}: {error}"
        return
    first = next(iter(texts.values()))
    for file, text in texts.items():
        if text != first:
            yield f"{name}: {file} differs"


def check_kinds(case: Case, train: WrittenTable, kinds: list[str]) -> Iterator[str]:
    """Sentences on columns that are read as something else than they are."""
    for reading, kind in zip(case.model.encoder_.readings, kinds, strict=True):
        column = train.columns[str(reading.name)]
        if reading.form != FORMS[column.kind]:
            yield f"{kind} is read as {reading.form}: {column.texts[:5]}"


def check_containers(case: Case, rng: Any) -> Iterator[str]:
    """Sentences on containers and batches that are read in another way."""
    show = case.rest.records().__getitem__
    for ways in (case.containers(), case.values(), case.parts(rng)):
        yield from differing(ways, case.expected, show)


def check_commands(case: Case) -> Iterator[str]:
    """Sentences on commands that read a file in another way."""
    show, model = case.rest.records().__getitem__, case.path
    ways = case.commands() | {"stream": case.stream}
    yield from differing(ways, case.expected, show)
    explained = {f"explain {n}": (lambda n=n: case.explained(n, 9)) for n in case.files}
    yield from differing(explained, case.expected[:9], show, CLOSE)
    scorers: Ways = {
        "Python": case.python_scorer,
        "JavaScript": case.script_scorer,
        "SQL": case.query,
    }
    yield from differing(scorers, case.expected, show, CLOSE)
    for words in (
        ("report", model, ..., "--held-out", "--json"),
        ("audit", model, ..., "--by", "x1", "--json"),
        ("drift", model, ..., "--json"),
        ("inspect", model, "--importance", ..., "--json"),
    ):
        yield from unlike(str(words[0]), lambda words=words: case.printed(*words))
    yield from unlike("explore", case.pages)
    report = json.loads(
        run("report", model, case.folder / "commas.csv", "--held-out", "--json")
    )
    is_right = (case.expected[:, 1] > 0.5) == (np.array(case.rest.labels) == "yes")
    if abs(report["quality"]["scores"]["accuracy"] - is_right.mean()) > CLOSE:
        yield f"report: accuracy {report['scores']['accuracy']}, not {is_right.mean()}"
    parts = [f"parts/{path.name}" for path in sorted(case.write_parts().iterdir())]
    yield from unlike(
        "counts",
        lambda: {
            "all rows": case.counted("commas.csv"),
            "parts": case.counted(*parts),
            **{name: case.counted(name) for name in case.files},
        },
    )


def check_trainings(case: Case, train: WrittenTable, sign: str) -> Iterator[str]:
    """Sentences on tables of the same texts from which another model is learned."""
    model, folder = case.model, case.folder
    plan = model.encoder_.rules.plan
    text = run("check", folder / "train.csv", "--target", "class", "--plan")
    (folder / "plan.json").write_text(text, "utf-8")
    table = train.arrow()
    pa_parquet.write_table(table, folder / "train.parquet", row_group_size=50)
    (folder / "days").mkdir()
    for place, (a, b) in enumerate(((0, 2), (2, 90), (90, N_TRAINING))):
        day = train.rows(range(a, b)).csv(sign)
        (folder / f"days/{place}.csv").write_text(day, "utf-8", newline="")

    def by_command(*words: object) -> Any:
        path = folder / "again.json"
        run("fit", *words, "--target", "class", "--model", "nb", "-o", path)
        return load(path)

    def by_frame(frame: Any) -> Any:
        return NaiveBayesClassifier().fit(frame, train.labels, plan=plan)

    of_file = ("--plan", folder / "plan.json")
    models = {
        "pandas": lambda: by_frame(train.frame()),
        "Arrow": lambda: by_frame(train.arrow(label=False)),
        "memory": lambda: by_command(folder / "train.csv", "--memory", "1GB"),
        "plan": lambda: by_command(folder / "train.csv", *of_file),
        "Parquet": lambda: by_command(folder / "train.parquet", *of_file),
        "Parquet in batches": lambda: by_command(
            folder / "train.parquet", *of_file, "--memory", "1GB"
        ),
        "folder": lambda: by_command(folder / "days"),
    }
    rows, show = case.rest.frame(), case.rest.records().__getitem__
    # Batches have no plan: texts are those of a frame without one.
    batch, labels = train.frame(), train.labels
    alone = NaiveBayesClassifier().fit(batch, labels).predict_proba(rows)
    first = NaiveBayesClassifier().partial_fit(batch, labels, sorted(set(labels)))
    yield from differing(
        {"partial_fit": lambda: first.predict_proba(rows)}, alone, show
    )
    for name, learn in models.items():
        try:
            other = learn()
        except Exception as error:
            yield f"fit, {name}: {type(error).__name__}: {error}"
            continue
        if other.encoder_.plan.columns != model.encoder_.plan.columns:
            yield f"fit, {name}: another plan"
        ways = {f"fit, {name}": lambda other=other: other.predict_proba(rows)}
        yield from differing(ways, case.expected, show)


def faults(seed: int, folder: Path, *, everything: bool = True) -> list[str]:
    """Sentences on all that goes wrong with one table."""
    try:
        case, train, kinds = fitted(seed, folder)
        assert len(case.expected) == N_REST
    except Exception as error:
        return [f"{tables(seed)[0]}: {type(error).__name__}: {error}"]
    rng = np.random.default_rng(seed)
    found = [*check_kinds(case, train, kinds), *check_containers(case, rng)]
    if everything:
        found += check_commands(case)
        found += check_trainings(case, train, sign_of(seed))
    return found and [f"columns: {kinds}", *found]


def test_rows_have_one_probability_in_every_container(tmp_path: Path) -> None:
    assert faults(0, tmp_path, everything=False) == []


@pytest.mark.slow
def test_rows_have_one_probability_by_every_command(tmp_path: Path) -> None:
    assert faults(2, tmp_path) == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1, *range(3, 60)])
def test_rows_of_many_tables_have_one_probability(seed: int, tmp_path: Path) -> None:
    assert faults(seed, tmp_path) == []
