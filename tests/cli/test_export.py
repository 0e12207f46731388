"""Models as programs of other systems, on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def naive(heart_files: Callable[..., Path]) -> Path:
    """A naive Bayes model file of the heart table."""
    return heart_files("--model", "nb")


def test_the_suffix_names_the_program(run: Run, naive: Path, tmp_path: Path) -> None:
    exported, converted = tmp_path / "a.pmml", tmp_path / "b.pmml"
    assert run("export", naive, "-o", exported).code == 0
    assert run("convert", naive, converted).code == 0
    assert exported.read_bytes() == converted.read_bytes()


def test_a_suffix_of_no_program_is_refused(
    run: Run, naive: Path, tmp_path: Path
) -> None:
    done = run("export", naive, "-o", tmp_path / "a.xlsx")
    assert (done.code, done.out) == (2, "")
    assert "a.xlsx has no suffix of a program" in done.err


def test_an_option_of_other_programs_is_refused(
    run: Run, naive: Path, tmp_path: Path
) -> None:
    done = run("export", naive, "-o", tmp_path / "a.pmml", "--dialect", "sqlite")
    assert done.code == 2
    assert "dialect is no option of .pmml files" in done.err


def test_a_query_of_a_table_ends_in_a_semicolon_and_others_do_not(
    run: Run, naive: Path, tmp_path: Path
) -> None:
    path, reference = tmp_path / "a.sql", "{{ ref('patients') }}"
    assert run("export", naive, "-o", path).code == 0
    assert path.read_text("utf-8").endswith(";\n")
    done = run("export", naive, "-o", path, "--table-expression", reference)
    assert done.code == 0
    text = path.read_text("utf-8")
    assert f"FROM {reference} AS" in text
    assert ";" not in text


def test_what_is_no_model_file_is_refused(run: Run, heart: Path) -> None:
    done = run("export", heart, "-o", heart.with_suffix(".pmml"))
    assert done.code == 2
    assert "Traceback" not in done.err


@pytest.mark.parametrize("name", ["scorer.py", "scorer.js", "scorer.mjs"])
def test_a_scorer_is_written_by_its_suffix(
    run: Run, naive: Path, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    done = run("export", naive, "-o", path)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert "predict_proba" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("option", [("--explain", 3), ("--dialect", "sqlite")])
def test_a_scorer_takes_no_options(
    run: Run, naive: Path, tmp_path: Path, option: tuple[str, Any]
) -> None:
    path = tmp_path / "scorer.py"
    done = run("export", naive, "-o", path, *option)
    assert (done.code, done.out) == (2, "")
    told = f"{option[0].strip('-')} is no option of .py files; these take none"
    assert told in done.err
    assert not path.exists()
