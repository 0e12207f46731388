"""Options of every command: --quiet, --verbose and --log."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bayleaf
from bayleaf.cli.run_record import RunOptions

Run = Callable[..., Any]


@pytest.fixture
def files(run: Run, tmp_path: Path) -> tuple[Path, Path]:
    """A model and a table with a value that training did not contain."""
    train, new = tmp_path / "train.csv", tmp_path / "new.csv"
    rows = "".join(f"{i},5;{'ab'[i % 2]};{'pq'[i % 2]}\n" for i in range(20))
    train.write_text(f"n;t;y\n{rows}", "utf-8")
    new.write_text("n;t\n1,5;a\n2,5;c\n", "utf-8")
    model = tmp_path / "model.json"
    words = ["fit", train, "--target", "y", "--model", "nb", "-o", model]
    assert run(*words, "--quiet").err == ""
    return model, new


def test_quiet_leaves_errors(run: Run, files: tuple[Path, Path]) -> None:
    model, new = files
    assert "not seen in training" in run("predict", model, new).err
    done = run("--quiet", "predict", model, new)
    assert (done.code, done.err) == (0, "")
    assert done.out == run("predict", model, new).out
    done = run("predict", "--quiet", model, "absent.csv")
    assert done.code == 2
    assert done.err.startswith("bayleaf: cannot read absent.csv")


def test_verbose_names_plan_format_rows_and_time(
    run: Run, files: tuple[Path, Path], tmp_path: Path
) -> None:
    model, new = files
    err = run("predict", model, new, "-o", tmp_path / "p.csv", "--verbose").err
    assert "is read with semicolons between cells" in err
    assert "model's plan: n has decimal commas" in err
    assert "new.csv has 2 rows and 2 columns" in err
    assert err.rstrip().splitlines()[-1].endswith(" s")
    fit = ["fit", tmp_path / "train.csv", "--target", "y", "-o", tmp_path / "m.json"]
    err = run(*fit, "--verbose").err
    assert "train.csv has 20 rows and 3 columns" in err


def test_a_log_has_a_line_of_each_run(
    run: Run, files: tuple[Path, Path], tmp_path: Path
) -> None:
    model, new = files
    log, out = tmp_path / "runs.jsonl", tmp_path / "é.csv"
    assert run("predict", model, new, "-o", out, "--log", log).code == 0
    assert run("predict", model, "absent.csv", f"--log={log}", "--quiet").code == 2
    assert run("check", new, "--nonsense", "--log", log).code == 2
    good, absent, wrong = map(json.loads, log.read_text("utf-8").splitlines())
    assert good["command"] == "predict"
    assert good["arguments"] == ["predict", str(model), str(new), "-o", str(out)]
    assert good["version"] == bayleaf.__version__
    assert datetime.datetime.fromisoformat(good["time"]).tzinfo is not None
    assert good["seconds"] >= 0
    sizes = [{"path": str(p), "bytes": p.stat().st_size} for p in (model, new, out)]
    assert good["inputs"] == sizes[:2]
    assert good["results"] == sizes[2:]
    assert len(good["notes"]) == 1
    assert "not seen in training" in good["notes"][0]
    assert [e["exit_code"] for e in (good, absent, wrong)] == [0, 2, 2]
    assert "cannot read absent.csv" in absent["notes"][-1]
    assert absent["results"] == []


def test_a_folder_is_logged_with_its_files(
    run: Run, files: tuple[Path, Path], tmp_path: Path
) -> None:
    model, new = files
    (tmp_path / "in").mkdir()
    new.rename(tmp_path / "in" / "a.csv")
    log, out = tmp_path / "runs.jsonl", tmp_path / "out"
    run("predict", model, tmp_path / "in", "-o", out, "--log", log)
    entry = json.loads(log.read_text("utf-8"))
    assert entry["inputs"][1]["n_files"] == 1
    assert str(out / "a.parquet") in [each["path"] for each in entry["results"]]


def test_options_of_every_command_that_cannot_be_used(
    run: Run, files: tuple[Path, Path], tmp_path: Path
) -> None:
    model, new = files
    for words, message in (
        (["--log", tmp_path / "no" / "log"], "does not exist"),
        (["--log"], "--log must name a file"),
        (["--quiet", "--verbose"], "use either"),
        (["--log", tmp_path], "it is a folder"),
    ):
        done = run("predict", model, new, "-o", tmp_path / "out.csv", *words)
        assert done.code == 2
        assert message in done.err
        assert len(done.err.splitlines()) == 1
        assert not (tmp_path / "out.csv").exists()
    assert RunOptions.of_words(["a", "--", "--quiet"]).words == ["a", "--", "--quiet"]


def test_help_names_the_options_of_every_command(run: Run) -> None:
    for words in (["--help"], ["predict", "--help"], ["fit", "--help"]):
        assert "--log FILE" in " ".join(run(*words).out.split())
