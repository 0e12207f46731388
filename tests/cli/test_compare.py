from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from offenders import check_each

Run = Callable[..., Any]


@pytest.fixture
def loss(tmp_path: Path) -> Path:
    """Missing a disease costs 5, a false alarm 1."""
    path = tmp_path / "loss.csv"
    path.write_text(",absent,present\nabsent,0,5\npresent,1,0\n", "utf-8")
    return path


@pytest.fixture
def compare(run: Run, heart: Path) -> Run:
    """Run ``bayleaf compare`` on the heart table with few folds."""

    def call(*words: object) -> Any:
        return run("compare", heart, "--target", "disease", "--folds", 3, *words)

    return call


def check_refused(done: Any, *parts: str) -> None:
    """The run failed with exit code 2 and one sentence that holds some parts."""
    assert done.code == 2
    assert done.out == ""
    sentence = done.err
    assert sentence.count("\n") == 1
    for part in parts:
        assert part in sentence


@pytest.mark.slow
def test_help_has_an_example(run: Run) -> None:
    done = run("compare", "--help")
    assert "bayleaf compare heart.csv --target" in done.out


def test_the_table_fits_80_columns_and_explains_its_marks(
    compare: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = compare("--model", "nb,tan,kdb,hnb")
    assert done.code == 0, done.err
    out = done.out
    assert max(len(line.rstrip()) for line in out.splitlines()) <= 80
    assert "disease of heart.csv: 270 rows, 3-fold cross-validation, seed 0" in out
    for name in ("nb", "tan", "kdb", "hnb"):
        [line] = [line for line in out.splitlines() if line.startswith(f"{name} ")][:1]
        assert line.count("±") == 4
    assert "= not significantly different" in out


def test_json_holds_every_fold_and_the_seed(compare: Run) -> None:
    words = ("--model", "nb, tan", "--repeats", 2, "--seed", 7, "--json")
    found = json.loads(compare(*words).out)
    assert (found["seed"], found["n_repeats"], found["target"]) == (7, 2, "disease")
    assert [len(model["folds"]) for model in found["models"]] == [6, 6]


def test_evaluate_and_compare_take_the_same_names_of_models(
    compare: Run, run: Run, heart: Path
) -> None:
    evaluate = ("evaluate", heart, "--target", "disease", "--folds", 3)
    for words in (
        ("--model", "nb,tan"),
        ("--model", "nb", "--model", "tan"),
        ("--models", "nb, tan"),
    ):
        compared = json.loads(compare(*words, "--json").out)["models"]
        evaluated = json.loads(run(*evaluate, *words, "--json").out)
        for found in (compared, evaluated):
            assert [one["model"] for one in found] == ["nb", "tan"]


def test_csv_goes_to_a_file_beside_the_table_or_to_standard_output(
    compare: Run, tmp_path: Path
) -> None:
    path = tmp_path / "out.csv"
    shown = compare("--model", "nb,tan", "--csv", path).out
    assert "accuracy %" in shown
    printed = compare("--model", "nb,tan", "--csv", "-").out
    for text in (path.read_text("utf-8"), printed):
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [row["model"] for row in rows] == ["nb", "tan"]
        assert [row["table"] for row in rows] == ["heart", "heart"]


def test_several_tables_are_compared_by_ranks(
    run: Run, heart: Path, tmp_path: Path
) -> None:
    lines = heart.read_text("utf-8").splitlines(keepends=True)
    half = tmp_path / "half.csv"
    half.write_text("".join(lines[:120]).replace("disease", "illness", 1), "utf-8")
    words = ("compare", heart, half, "--model", "nb,tan,aode", "--folds", 2)
    both = ("--target", "disease", "--target", "illness")
    out = run(*words, *both).out
    assert "Mean ranks on 2 tables" in out
    assert "Nemenyi" in out
    printed = run(*words, *both, "--csv", "-").out
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [row["table"] for row in rows] == [*["heart"] * 3, *["half"] * 3]
    content = json.loads(run(*words, *both, "--json").out)
    assert [table["target"] for table in content["tables"]] == ["disease", "illness"]
    assert content["ranks"]["accuracy"]["n_datasets"] == 2
    check_refused(run(*words, *both, "--target", "x"), "one for each of the 2", "got 3")
    same = tmp_path / "b" / "half.csv"
    same.parent.mkdir()
    same.write_bytes(half.read_bytes())
    twice = run("compare", half, same, "--target", "illness")
    check_refused(twice, "two tables are called 'half'")


def test_markdown_is_printed_instead_of_the_table(compare: Run) -> None:
    out = compare("--model", "nb,tan", "--markdown").out
    assert "| model | accuracy % |" in out


def test_a_loss_adds_cost_and_thresholds(compare: Run, loss: Path) -> None:
    out = compare("--model", "nb,tan", "--loss", loss).out
    assert "cost/row" in out
    assert "predict present where its probability is above 0.167" in out
    assert "0.167 <" in out


def test_evaluate_reports_cost_and_thresholds_of_its_model(
    run: Run, heart: Path, loss: Path
) -> None:
    words = ("evaluate", heart, "--target", "disease", "--model", "nb", "--folds", 3)
    [found] = json.loads(run(*words, "--loss", loss, "--json").out)
    assert found["positive"] == "present"
    [point] = [
        point for point in found["thresholds"] if abs(point["threshold"] - 1 / 6) < 1e-9
    ]
    assert point["cost"] == pytest.approx(found["cost"]["mean"])
    out = run(*words, "--positive", "absent").out
    assert "nb: predict absent above the threshold" in out
    assert "cost/row" not in out


def test_a_loss_over_three_classes_gives_a_cost_and_no_thresholds(
    run: Run, tmp_path: Path
) -> None:
    data, costs = tmp_path / "data.csv", tmp_path / "costs.csv"
    data.write_text("x,y\n" + "0,1\n1,2\n2,3\n" * 6, "utf-8")
    costs.write_text(",3,2,1\n1,9,1,0\n2,1,0,1\n3,0,1,9\n", "utf-8")
    words = (data, "--target", "y", "--folds", 3, "--loss", costs)
    done = run("compare", *words, "--model", "nb")
    assert "cost/row" in done.out
    assert "threshold" not in done.out
    done = run("evaluate", *words, "--model", "nb")
    assert "threshold" not in done.out
    done = run("evaluate", *words, "--model", "nb", "--positive", "1")
    check_refused(done, "--positive must be one of two classes", "1, 2, 3")


UNUSABLE = [
    (("--model", "nb,svm"), ("--model must be one of nb", "'svm'")),
    (("--model", "nb,tna"), ("did you mean tan?",)),
    (("--model", "nb,,tan"), ("joined by commas", "'nb,,tan'")),
    (("--model", "nb,nb"), ("names 'nb' twice",)),
    (("--model", "nb,regressor"), ("--model regressor predicts numbers",)),
    (("--model", "nb", "--baseline", "tan"), ("baseline must be",)),
    (("--model", "nb", "--max-k", 2), ("--max-k is no setting of the nb model",)),
    (("--json", "--markdown"), ("only one of --markdown, --json",)),
    (("--loss", "nowhere.csv"), ("cannot use nowhere.csv",)),
    (("--repeats", 0), ("repeats at least 1",)),
]


def test_bad_input_ends_in_one_sentence(compare: Run) -> None:
    def check(case: tuple[tuple[object, ...], tuple[str, ...]]) -> None:
        words, parts = case
        check_refused(compare(*words), *parts)

    check_each(UNUSABLE, check)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (
            ",absent,present\nabsent,0,many\npresent,1,0\n",
            "must be a number, got 'many'",
        ),
        (",absent,gone\nabsent,0,1\ngone,1,0\n", "the target has absent, present"),
    ],
)
def test_a_malformed_loss_ends_in_one_sentence(
    compare: Run, loss: Path, text: str, part: str
) -> None:
    loss.write_text(text, "utf-8")
    check_refused(compare("--model", "nb", "--loss", loss), part)


def test_a_csv_file_that_cannot_be_written_ends_in_one_sentence(
    compare: Run, tmp_path: Path
) -> None:
    done = compare("--model", "nb", "--csv", tmp_path / "no" / "out.csv")
    check_refused(done, "cannot write")


def test_input_that_does_not_fit_is_refused_before_models_learn(
    compare: Run, run: Run, heart: Path, tmp_path: Path
) -> None:
    nowhere = tmp_path / "nowhere" / "out.csv"
    check_refused(compare("--model", "nb", "--csv", nowhere), "does not exist")
    check_refused(
        compare("--model", "nb,tan", "--sigma", 2),
        "--sigma is no setting of nb, tan; it belongs to mixture",
    )
    check_refused(
        compare("--model", "nb", "--drop", "disease"),
        "--drop leaves out the target column 'disease'",
    )
    evaluate = ("evaluate", heart, "--target", "disease", "--model", "nb")
    check_refused(run(*evaluate, "--positive", "sick"), "--positive is 'sick'")
    check_refused(run(*evaluate, "--model", "nb"), "--model names 'nb' twice")


def test_booleans_are_named_positive_in_any_case(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "sick.csv"
    path.write_text("a,sick\n" + "p,true\nq,false\nq,true\n" * 4, "utf-8")
    words = ("evaluate", path, "--target", "sick", "--model", "nb", "--folds", 2)
    done = run(*words, "--positive", "True", "--json")
    assert [model["positive"] for model in json.loads(done.out)] == [True]


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_folds_are_read_by_the_plan_in_a_file(
    run: Run, tmp_path: Path, command: str
) -> None:
    rows = "".join(f"1{row % 3}{row % 4},{'ab'[row % 2]}\n" for row in range(48))
    (tmp_path / "t.csv").write_text("code,y\n" + rows, "utf-8")
    form = {"code": {"kind": "text"}, "y": {"kind": "text"}}
    plan = {"format": "bayleaf-plan", "columns": {"code": {"kind": "text"}}}
    (tmp_path / "p.json").write_text(json.dumps(plan), "utf-8")
    given = [command, tmp_path / "t.csv", "--target", "y", "--json", "--folds", "3"]
    given += ["--model", "nb"]
    sizes = []
    for words in ([], ["--plan", tmp_path / "p.json"]):
        done = run(*given, *words)
        assert done.code == 0, done.err
        content = json.loads(done.out)
        (found,) = content if command == "evaluate" else content["models"]
        sizes.append(found["n_parameters"])
    assert sizes[0] < sizes[1] == 1 + 2 * 11
    form["coed"] = form.pop("y")
    (tmp_path / "p.json").write_text(json.dumps(plan | {"columns": form}), "utf-8")
    done = run(*given, "--plan", tmp_path / "p.json")
    check_refused(done, "the plan names the column 'coed'; did you mean code")
