"""A numeric target on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import bayleaf
from bayleaf.cli import main
from bayleaf.regression import learned_trees
from offenders import check_each


@pytest.fixture(scope="module", autouse=True)
def few_trees() -> Iterator[None]:
    """Grow a fiftieth of the trees, which take nearly all the time."""
    with pytest.MonkeyPatch.context() as patch:
        means = [
            growth._replace(n_trees=growth.n_trees // 50, n_stages=1)
            for growth in learned_trees._MEANS
        ]
        patch.setattr(learned_trees, "_MEANS", tuple(means))
        spread = learned_trees._SPREAD._replace(n_trees=4)
        patch.setattr(learned_trees, "_SPREAD", spread)
        yield


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in which size and place move the price."""
    rng = np.random.default_rng(0)
    size = rng.normal(50, 10, 120).round(1)
    place = rng.choice(["town", "hill"], 120)
    price = (2 * size + 30 * (place == "town") + rng.normal(0, 5, 120)).round(2)
    columns = {"size": size, "place": place.tolist(), "price": price}
    path = tmp_path_factory.mktemp("homes") / "homes.csv"
    pa_csv.write_csv(pa.table(columns), path)
    return path


@pytest.fixture(scope="module")
def model(table: Path) -> Path:
    """A regressor's file."""
    output = table.parent / "model.json"
    words = ["fit", str(table), "--target", "price", "--model", "regressor"]
    assert main([*words, "--n-networks", "4", "-o", str(output)]) == 0
    return output


def test_a_fitted_regressor_is_shown(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(model)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("AveragedKDBRegressor\n  target           price, ")
    assert main(["inspect", str(model), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_features"] == 2


def test_predictions_are_those_of_the_estimator(
    model: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = table.parent / "scored.parquet"
    assert main(["predict", str(model), str(table), "-o", str(output)]) == 0
    import pyarrow.parquet as pa_parquet

    scored = pa_parquet.read_table(output)
    assert scored.column_names[-4:] == [
        "prediction",
        "quantile_0.05",
        "quantile_0.5",
        "quantile_0.95",
    ]
    rows = pa_csv.read_csv(table).drop_columns(["price"])
    expected = bayleaf.load(model).predict(rows)
    assert scored["prediction"].to_pylist() == expected.tolist()


def test_explanations_add_up(
    model: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["explain", str(model), str(table), "--line", "3"]
    assert main([*words, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    total = told["baseline"] + sum(term["contribution"] for term in told["terms"])
    assert (told["line"], told["target"]) == (3, "price")
    assert total == pytest.approx(told["expectation"], abs=1e-10)
    assert main(words) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("line 3: price is expected to be ")
    # Numbers that add up have as many decimals as each other.
    assert len({len(line.split()[0].partition(".")[2]) for line in lines}) == 1


def test_evaluation_reports_scores_of_distributions(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", str(table), "--target", "price", "--model", "regressor"]
    assert main([*words, "--folds", "2", "--n-networks", "4", "--json"]) == 0
    (figures,) = json.loads(capsys.readouterr().out)
    assert figures["n_rows"] == 120
    assert figures["r2"] > 0.8
    assert 0 < figures["crps"] < figures["rmse"]


def test_the_target_of_a_report_is_read_as_in_training(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = []
    for name, sign in (("points", "."), ("commas", ",")):
        lines = table.read_text("utf-8").replace(",", ";").replace(".", sign)
        data, model = (table.parent / f"{name}.{end}" for end in ("csv", "json"))
        data.write_text(lines, "utf-8")
        words = ["fit", str(data), "--target", "price", "--model", "regressor"]
        assert main([*words, "--n-networks", "2", "-o", str(model)]) == 0
        capsys.readouterr()
        words = ["report", str(model), str(data), "--held-out", "--json"]
        assert main(words) == 0
        written.append(json.loads(capsys.readouterr().out))
    points, commas = written
    assert commas["quality"] == points["quality"]


def test_compare_scores_the_regressor_as_evaluate_does(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--target", "price", "--model", "regressor", "--folds", "2"]
    words += ["--n-networks", "4"]
    printed = []
    for command in ("evaluate", "compare"):
        for form in ([], ["--json"]):
            assert main([command, str(table), *words, *form]) == 0
            printed.append(capsys.readouterr().out)
    assert printed[:2] == printed[2:]
    (scores,) = json.loads(printed[1])
    first = " ".join(printed[0].splitlines()[:2])
    assert first.startswith(
        f"price: regressor is off by {scores['mae']:.3g} on average; its 90 % "
        f"intervals contain {100 * scores['coverage']:.0f} of 100 held-out numbers."
    )
    other = table.parent / "other.csv"
    other.write_text(table.read_text("utf-8"), "utf-8")
    assert main(["compare", str(table), str(other), *words, "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["data"], second["data"]) == (str(table), str(other))
    assert first["crps"] == second["crps"] == json.loads(printed[1])[0]["crps"]


def test_check_cuts_columns_as_the_regressor_does(
    table: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["check", str(table), "--target", "price", "--n-networks", "4", "--json"]
    assert main(words) == 0
    shown = json.loads(capsys.readouterr().out)["columns"]
    assert shown == bayleaf.load(model).columns_.to_dict()


REFUSED = """
explain MODEL TABLE --counterfactuals 2
explain MODEL TABLE --robustness
inspect MODEL --shape size
report MODEL TABLE --min-count 5
report MODEL TABLE --positive yes
explore MODEL -o page.html --min-count 5
evaluate TABLE --target price --model regressor nb
evaluate TABLE --target place --model regressor
fit TABLE --target place --model regressor -o MODEL
compare TABLE --target price --model regressor nb
compare TABLE --target price --model regressor --csv -
""".strip().splitlines()


@pytest.mark.slow
def test_what_does_not_apply_is_refused_in_one_sentence(
    model: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"MODEL": str(model), "TABLE": str(table)}

    def check(line: str) -> None:
        assert main([places.get(word, word) for word in line.split()]) == 2
        message = capsys.readouterr().err.strip().splitlines()[-1]
        assert message.startswith("bayleaf: ")
        if "--target place" in line:
            assert "column place must hold real numbers, got '" in message

    check_each(REFUSED, check)
