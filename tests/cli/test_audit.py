"""Audits by group on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from offenders import check_each

Run = Callable[..., Any]


def test_columns_are_named_with_commas_or_again(
    run: Run, model: Path, heart: Path
) -> None:
    once = run("audit", model, heart, "--by", "sex,age")
    twice = run("audit", model, heart, "--by", "sex", "--by", "age")
    assert once.code == 0, once.err
    assert once.out == twice.out
    assert "by age, sex: present" in once.out


@pytest.mark.parametrize(("name", "shown"), [("s,ex", "s,ex"), (" sex", "' sex'")])
def test_a_column_whose_name_has_a_comma_or_a_blank_is_one_column(
    run: Run, model: Path, heart: Path, name: str, shown: str
) -> None:
    heart.write_text(heart.read_text().replace('"sex"', f'"{name}"', 1))
    named = model.read_text().replace('"sex"', f'"{name}"')
    model.write_text(named)
    done = run("audit", model, heart, "--by", name)
    assert done.code == 0, done.err
    assert f"by {shown}: present" in done.out


def test_json_holds_folds_bins_and_reference(
    run: Run, model: Path, heart: Path
) -> None:
    done = run(
        "audit", model, heart, "--by", "age,sex", "--bins", "age=40,60", "--folds", "2",
        "--reference", "sex=female", "--json",
    )  # fmt: skip
    found = json.loads(done.out)
    assert found["basis"] == "cross_validation"
    ages, sexes, _ = found["groupings"]
    assert [group["group"] for group in ages["groups"]] == [
        ["<= 40"],
        ["(40, 60]"],
        ["> 60"],
    ]
    assert sexes["reference"] == ["female"]


def test_a_page_and_a_picture_are_written(
    run: Run, model: Path, heart: Path, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    page, picture = tmp_path / "a.html", tmp_path / "a.svg"
    done = run("audit", model, heart, "--by", "sex", "-o", page, "--picture", picture)
    assert done.code == 0, done.err
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_small_counts_are_withheld(run: Run, model: Path, heart: Path) -> None:
    done = run("audit", model, heart, "--by", "sex", "--min-count", "8", "--json")
    found = json.loads(done.out)
    rows = [group["n_rows"] for group in found["groupings"][0]["groups"]]
    assert all(n % 8 == 0 for n in rows)
    assert found["parity"] == []


def test_a_loss_file_gives_costs(
    run: Run, model: Path, heart: Path, tmp_path: Path
) -> None:
    costs = tmp_path / "costs.csv"
    costs.write_text(",absent,present\nabsent,0,5\npresent,1,0\n")
    done = run("audit", model, heart, "--by", "sex", "--loss", costs)
    assert done.code == 0, done.err
    assert "cost/row" in done.out


REFUSED = [
    (["--by", "sexx"], "no column 'sexx' to make groups by"),
    (["--by", "age", "--bins", "age"], "--bins takes a column, = and a value"),
    (["--by", "age", "--bins", "age=old"], "must be numbers with commas"),
    (["--by", "sex", "--folds", "1"], "fold"),
    (["--by", "sex", "--target", "no"], "no target column 'no'"),
]


def test_what_cannot_be_audited_is_refused_in_a_sentence(
    run: Run, model: Path, heart: Path
) -> None:
    def check(case: tuple[list[str], str]) -> None:
        options, message = case
        done = run("audit", model, heart, *options)
        assert (done.code, done.out) == (2, "")
        assert message in done.err

    check_each(REFUSED, check)
