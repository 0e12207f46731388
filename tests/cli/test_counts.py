"""Counts on the command line: days added up, rows taken out, models fitted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pytest

from bayleaf.datasets import load_heart
from bayleaf.io.native.count_store import CountFile
from offenders import check_each

Run = Callable[..., Any]


@pytest.fixture
def days(heart_files: Callable[..., Path], tmp_path: Path) -> Path:
    """The heart table, two days of it, and a model of the whole."""
    table = load_heart().frame
    shutil.copy(heart_files(), tmp_path / "all.csv")
    pa_csv.write_csv(table.slice(0, 150), tmp_path / "1.csv")
    pa_csv.write_csv(table.slice(150), tmp_path / "2.csv")
    shutil.copy(heart_files("--model", "tan"), tmp_path / "m.json")
    return tmp_path


def test_days_add_up_to_the_model_of_all(run: Run, days: Path) -> None:
    like = ("--like", days / "m.json")
    for day in "12":
        done = run("counts", days / f"{day}.csv", *like, "-o", days / f"{day}.counts")
        assert done.code == 0
    both = [days / "1.counts", days / "2.counts"]
    assert run("counts", *both, "-o", days / "all.counts").code == 0
    done = run("fit", days / "all.counts", "--model", "tan", "-o", days / "n.json")
    assert done.code == 0
    one, two = (json.loads((days / f"{n}.json").read_text()) for n in "mn")
    assert one["model"] == two["model"]
    # The second day taken out leaves the first.
    minus = ("--minus", days / "2.counts", "-o", days / "left.counts")
    assert run("counts", days / "all.counts", *minus).code == 0
    assert (days / "left.counts").read_bytes() == (days / "1.counts").read_bytes()
    minus = ("--minus", days / "2.csv", *like, "-o", days / "left.counts")
    assert run("counts", days / "all.counts", *minus).code == 0
    assert (days / "left.counts").read_bytes() == (days / "1.counts").read_bytes()


def test_counts_are_scaled(run: Run, days: Path) -> None:
    words = ("--like", days / "m.json", "--scale", "0.5", "--json")
    done = run("counts", days / "all.csv", *words, "-o", days / "a.counts")
    assert json.loads(done.out)["weight"] == 135


UNCOUNTABLE = [
    (["all.csv", "-o", "x.counts"], "--like must name a model"),
    (["all.csv", "-o", "x.json"], "ends in .counts"),
    (["-o", "x.counts"], "name a table or a file of counts"),
    (["none.csv", "--like", "m.json", "-o", "x.counts"], "there is no such file"),
    (["m.json.counts", "-o", "x.counts"], "cannot"),
]


def test_what_cannot_be_counted_is_reported(
    run: Run, days: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(days)

    def check(case: tuple[list[str], str]) -> None:
        words, message = case
        done = run("counts", *words)
        assert (done.code, message in done.err, done.err.count("\n")) == (2, True, 1)

    check_each(UNCOUNTABLE, check)


def test_counts_take_no_words_on_tables(run: Run, days: Path) -> None:
    words = ("--like", days / "m.json", "-o", days / "a.counts")
    assert run("counts", days / "all.csv", *words).code == 0
    for more in (["--target", "disease"], ["--density"], ["--memory", "1GB"]):
        done = run("fit", days / "a.counts", *more, "-o", days / "x.json")
        assert (done.code, "counts know their target" in done.err) == (2, True)
    done = run("fit", days / "a.counts", "-o", days / "x.json")
    assert (done.code, "needs rows" in done.err) == (2, True)


def test_a_bad_cell_of_a_later_batch_has_its_line(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{i},5;{'pq'[i % 2]}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["x;y", *rows]))
    model = tmp_path / "m.json"
    words = ("--target", "y", "--model", "nb", "-o", model)
    assert run("fit", tmp_path / "t.csv", *words).code == 0
    rows[30] = "many;p"
    (tmp_path / "t.csv").write_text("\n".join(["x;y", *rows]))
    monkeypatch.setattr("bayleaf.streams.batch_sources.BATCH_ROWS", 8)
    found = run(
        "counts", tmp_path / "t.csv", "--like", model, "-o", tmp_path / "t.counts"
    )
    assert found.code == 2
    assert "'many' where a number belongs (line 31 below the header)" in found.err


def test_counts_and_drift_keep_what_training_kept(tmp_path: Path, run: Run) -> None:
    rows = [f"{['NA', 'EU'][i % 2]},{'pq'[i % 3 > 0]}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y", *rows]))
    model, out = tmp_path / "m.json", tmp_path / "t.counts"
    words = ("--keep-na", "--target", "y", "--model", "nb", "-o", model)
    assert run("fit", tmp_path / "t.csv", *words).code == 0
    assert run("counts", tmp_path / "t.csv", "--like", model, "-o", out).code == 0
    (variable,) = CountFile.open(out).reading.encoder.domain
    assert variable.states == ("EU", "NA")
    assert CountFile.open(out).tables.pairs[:, 2, 2].sum() == 0
    drift = run("drift", model, tmp_path / "t.csv")
    assert drift.code == 0
    assert "not seen in training" not in drift.err
