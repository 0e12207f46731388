from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from offenders import check_each

Run = Callable[..., Any]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Where the report goes."""
    return tmp_path / "report.html"


def test_a_page_is_written_and_named(
    run: Run, model: Path, heart: Path, page: Path
) -> None:
    done = run("report", model, heart, "-o", page, "--folds", 3)
    assert done.code == 0, done.err
    assert done.out.strip() == str(page)
    assert "3-fold cross-validation" in page.read_text(encoding="utf-8")


def test_the_summary_is_printed_as_json(run: Run, model: Path, heart: Path) -> None:
    done = run("report", model, heart, "--json", "--folds", 3)
    found = json.loads(done.out)
    assert found["quality"]["basis"] == "cross_validation"
    assert len(found["rows"]) == 10
    assert not heart.with_name("report.html").exists()


def test_page_and_json_go_together(
    run: Run, model: Path, heart: Path, page: Path
) -> None:
    done = run("report", model, heart, "--json", "-o", page, "--held-out")
    assert json.loads(done.out)["quality"]["basis"] == "held_out"
    assert page.exists()


def test_rows_and_small_counts_are_left_out(run: Run, model: Path, heart: Path) -> None:
    done = run("report", model, heart, "--json", "--folds", 3, "--no-rows")
    assert json.loads(done.out)["rows"] is None
    done = run("report", model, heart, "--json", "--folds", 3, "--min-count", 5)
    found = json.loads(done.out)
    assert found["privacy"]["min_count"] == 5
    assert found["rows"] is None


def test_costs_are_read_from_a_file(
    run: Run, model: Path, heart: Path, tmp_path: Path
) -> None:
    loss = tmp_path / "loss.csv"
    loss.write_text(",absent,present\nabsent,0,4\npresent,1,0\n")
    done = run("report", model, heart, "--json", "--folds", 3, "--loss", loss)
    points = json.loads(done.out)["quality"]["operating_points"]
    assert points["implied_threshold"] == 0.2
    assert points["positive"] == "present"


def test_density_models_and_networks_have_reports(
    run: Run, heart: Path, tmp_path: Path, page: Path
) -> None:
    file, network = tmp_path / "net.json", tmp_path / "net.bif"
    assert run("fit", "--density", heart, "-o", file).code == 0
    assert run("report", file, heart, "-o", page, "--folds", 3).code == 0
    assert "independent columns" in page.read_text(encoding="utf-8")
    assert run("convert", file, network).code == 0
    done = run("report", network, heart, "--json", "--held-out")
    assert json.loads(done.out)["quality"]["basis"] == "held_out"


@pytest.mark.slow
def test_page_and_card_are_written_and_named(
    run: Run,
    model: Path,
    heart: Path,
    page: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    card = page.with_name("card.md")
    words = ("--folds", 2, "--by", "sex, age", "--purpose", "To <show>.")
    done = run("report", model, heart, "-o", page, "--card", card, *words)
    assert done.code == 0, done.err
    assert done.out.split() == [str(page), str(card)]
    text = card.read_text(encoding="utf-8")
    assert "Written on 1970-01-02" in text
    assert "- **Purpose:** To \\<show\\>." in text
    assert f"- **Source:** `{heart.name}`" in text
    assert "Held-out rows by `sex`" in text
    assert "Held-out rows by `age`" in text
    assert 'id="card"' in page.read_text(encoding="utf-8")
    again = page.with_name("again.md")
    run("report", model, heart, "-o", page, "--card", again, *words)
    assert again.read_text(encoding="utf-8") == text


def test_a_card_goes_without_a_page_beside_the_summary(
    run: Run, model: Path, heart: Path, page: Path
) -> None:
    card = page.with_name("card.md")
    words = ("--json", "--card", card, "--card-date", "2026-01-02", "--held-out")
    done = run("report", model, heart, *words, "--by", "sex")
    found = json.loads(done.out)
    assert [one["columns"] for one in found["groups"]] == [["sex"]]
    assert "Written on 2026-01-02" in card.read_text(encoding="utf-8")
    assert not heart.with_name("report.html").exists()


def test_page_and_card_need_two_files(
    run: Run, model: Path, heart: Path, page: Path
) -> None:
    done = run("report", model, heart, "-o", page, "--card", page)
    assert done.code == 2
    assert "name two files" in done.err
    assert not page.exists()


UNUSABLE = [
    (("--by", "nothing"), "no column 'nothing' to make groups by"),
    (("--card", "no/such/folder/c.md"), "does not exist"),
    (("--target", "nothing"), "no target column 'nothing'"),
    (("--min-count", 0), "min_count must be at least 1"),
    (("--min-count", 1000), "min_count=1000 needs 5000"),
    (("--positive", "perhaps"), "positive must be one of two classes"),
    (("-o", "no/such/folder/r.html"), "does not exist"),
]


def test_what_cannot_be_used_is_refused_in_one_sentence(
    run: Run, model: Path, heart: Path
) -> None:
    def check(case: tuple[tuple[object, ...], str]) -> None:
        words, sentence = case
        done = run("report", model, heart, "--json", *words)
        assert done.code == 2
        assert done.err.count("\n") == 1
        assert sentence in done.err

    check_each(UNUSABLE, check)


def test_the_extra_is_named_where_it_is_missing(
    run: Run,
    model: Path,
    heart: Path,
    page: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = run("report", model, heart, "-o", page)
    assert done.code == 2
    assert "bayleaf[report]" in done.err
    assert not page.exists()


def test_text_that_looks_like_numbers_in_another_file_is_read_as_text(
    run: Run, tmp_path: Path
) -> None:
    train, test, file = (tmp_path / name for name in ("a.csv", "b.csv", "m.json"))
    cells = ["1,p", "2,q", "x,p", "2,q"]
    train.write_text("\n".join(["code,y", *cells * 5, ""]))
    test.write_text("\n".join(["code,y", *["1,p", "2,q"] * 5, ""]))
    words = ("fit", train, "--target", "y", "--model", "nb", "-o", file)
    assert run(*words).code == 0
    done = run("report", file, test, "--held-out", "--json")
    found = json.loads(done.out)
    assert found["columns"][0]["unknown"] == 0
    assert found["quality"]["scores"]["accuracy"] == 1.0
