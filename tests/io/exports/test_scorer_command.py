"""A scorer in Python is a command for CSV, in a Python without any package."""

from __future__ import annotations

import csv
import errno
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from bayleaf import AveragedKDBClassifier, NaiveBayesClassifier, write_scorer
from bayleaf.datasets import load_heart
from bayleaf.io.exports.scorers.scorer import python_scorer
from bayleaf.io.exports.writers import predictor_of
from explorer.cases import table


@pytest.fixture(scope="module")
def heart(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, pa.Table]:
    """A scorer of heart disease, its model, and rows."""
    found = load_heart()
    model = AveragedKDBClassifier(n_networks=2, random_state=0).fit(found.X, found.y)
    path = tmp_path_factory.mktemp("heart") / "scorer.py"
    write_scorer(model, path)
    return path, model, found.X.slice(0, 20)


def run(path: Path, text: str | bytes, *words: str) -> Any:
    """What the file writes in an isolated Python without installed packages."""
    return subprocess.run(
        [sys.executable, "-I", "-S", path, *words],
        input=text if isinstance(text, bytes) else text.encode("utf-8"),
        capture_output=True,
        timeout=60,
        check=False,
    )


def csv_of(rows: pa.Table) -> bytes:
    """A table as CSV."""
    sink = io.BytesIO()
    pa_csv.write_csv(rows, sink)
    return sink.getvalue()


def test_rows_come_back_with_prediction_and_probabilities(
    heart: tuple[Path, Any, pa.Table],
) -> None:
    path, model, rows = heart
    done = run(path, csv_of(rows))
    assert (done.returncode, done.stderr) == (0, b"")
    header, *lines = csv.reader(io.StringIO(done.stdout.decode("utf-8")))
    n = rows.num_columns
    assert header[:n] == rows.column_names
    assert header[n:] == ["prediction", "probability_absent", "probability_present"]
    assert [line[n] for line in lines] == model.predict(rows).tolist()
    proba = np.array([line[n + 1 :] for line in lines], dtype=float)
    np.testing.assert_allclose(proba, model.predict_proba(rows), rtol=0, atol=1e-12)


def test_empty_and_unknown_cells_are_missing(
    heart: tuple[Path, Any, pa.Table],
) -> None:
    path, model, rows = heart
    header, first, *_ = csv_of(rows).decode().splitlines()
    lines = [first.split(",") for _ in range(3)]
    for line, text in zip(lines, ("", "NA", "?"), strict=True):
        line[0] = text
    text = "\n".join([header, *map(",".join, lines)])
    done = run(path, text)
    told = list(csv.reader(io.StringIO(done.stdout.decode())))[1:]
    gone = rows.slice(0, 1).set_column(
        0, rows.column_names[0], pa.array([None], rows.schema.field(0).type)
    )
    expected = model.predict_proba(gone)[0]
    for line in told:
        np.testing.assert_allclose([float(p) for p in line[-2:]], expected, atol=1e-12)


def test_explanations_are_texts(heart: tuple[Path, Any, pa.Table]) -> None:
    path, model, rows = heart
    done = run(path, csv_of(rows.slice(0, 2)), "--explain")
    assert done.returncode == 0
    lines = done.stdout.decode().splitlines()
    told = model.explain(rows.slice(0, 1))[0]
    assert lines[0] == (
        f"row 0: {told.target} with probability {told.probability:.3f}, against "
        f"{told.against} with {told.against_probability:.3f}"
    )
    assert lines[1] == f"log-odds {told.log_odds_bits:+.3f} bits, the sum of"
    largest = told.ranked()[0]
    assert f"{largest.bits:+.3f}" in lines[3]
    assert lines[3].split("  ")[-1].startswith(str(largest.feature))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "standard input has no column names"),
        ("age\n60\n", "row 1: the row lacks column"),
        ("a,a\n1,2\n", "standard input has several columns called 'a'"),
        ("a,prediction\n1,2\n", "standard input already has a column 'prediction'"),
        ("a,b\n1\n", "row 1 has 1 cells, but there are 2 columns"),
        (b"\xff\xfe\xfa", "can't decode"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(
    heart: tuple[Path, Any, pa.Table], text: str | bytes, told: str
) -> None:
    done = run(heart[0], text)
    assert done.returncode == 2
    assert told in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_notes_may_not_replace_a_column(heart: tuple[Path, Any, pa.Table]) -> None:
    done = run(heart[0], "notes\n1\n", "--notes")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"standard input already has a column 'notes'" in done.stderr


def test_a_text_where_a_number_was_names_row_and_column(
    heart: tuple[Path, Any, pa.Table],
) -> None:
    header, first, *_ = csv_of(heart[2]).decode().splitlines()
    done = run(heart[0], f"{header}\n{first}\nold,{first.partition(',')[2]}\n")
    assert done.returncode == 2
    told = "row 2: column 'age' held numbers in training but holds text now"
    assert told in done.stderr.decode()
    assert len(done.stdout.decode().splitlines()) == 2


@pytest.mark.parametrize("words", [["--loud"], ["--explain", "--notes"]])
def test_an_option_that_is_none_shows_the_usage(
    words: list[str], heart: tuple[Path, Any, pa.Table]
) -> None:
    done = run(heart[0], "", *words)
    assert done.returncode == 2
    assert b"--explain < rows.csv" in done.stderr
    assert run(heart[0], "", "--help").returncode == 0


def test_no_spreadsheet_takes_a_label_for_a_formula(tmp_path: Path) -> None:
    X, y = table()
    labels = ["=1+1" if label == "class 0" else "-5" for label in y]
    write_scorer(NaiveBayesClassifier().fit(X, labels), tmp_path / "scorer.py")
    done = run(tmp_path / "scorer.py", csv_of(X.slice(0, 20)))
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert {row["prediction"] for row in rows} == {"'=1+1", "-5"}


def test_labels_that_are_one_in_csv_are_refused(tmp_path: Path) -> None:
    X, y = table()
    labels = np.array([1 if label == "class 0" else "1" for label in y], dtype=object)
    write_scorer(NaiveBayesClassifier().fit(X, labels), tmp_path / "scorer.py")
    done = run(tmp_path / "scorer.py", csv_of(X))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"as CSV several classes are '1'" in done.stderr


@pytest.mark.parametrize("words", [[], ["--explain"], ["--notes"]])
def test_a_reader_that_leaves_ends_the_command_quietly(
    words: list[str], heart: tuple[Path, Any, pa.Table], tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_bytes(csv_of(heart[2]))
    with (tmp_path / "rows.csv").open("rb") as rows:
        started = subprocess.Popen(
            [sys.executable, "-I", "-S", heart[0], *words],
            stdin=rows,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert started.stdout is not None
        started.stdout.close()
        _, errors = started.communicate(timeout=60)
    assert (started.returncode, errors) == (141, b"")


class BrokenOutput(io.RawIOBase):
    """An output whose writes fail, with a descriptor that may be replaced."""

    def __init__(self, number: int, descriptor: int) -> None:
        self._number, self._descriptor = number, descriptor

    def writable(self) -> bool:
        return True

    def write(self, _: Any) -> int:
        raise OSError(self._number, os.strerror(self._number))

    def fileno(self) -> int:
        return self._descriptor


@pytest.mark.parametrize(
    ("number", "status", "message"),
    [(errno.EINVAL, 141, ""), (errno.ENOSPC, 2, "No space left on device")],
)
def test_outputs_that_fail_have_a_status(
    number: int,
    status: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    X, y = table()
    scorer: dict[str, Any] = {"__name__": "scorer"}
    text = python_scorer(predictor_of(NaiveBayesClassifier().fit(X, y)))
    exec(compile(text, "scorer.py", "exec"), scorer)
    with (tmp_path / "out").open("wb") as file:
        buffer = io.BufferedWriter(BrokenOutput(number, file.fileno()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(csv_of(X))))
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer))
        assert scorer["main"](scorer["_SCORER"], ["scorer.py"]) == status
    assert message in capsys.readouterr().err
