"""Networks on the command line: ask, sample, convert."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest

import bayleaf
from bayleaf import BayesianNetwork
from offenders import check_each

Run = Callable[..., Any]


@pytest.fixture
def sprinkler(tmp_path: Path) -> Path:
    """A network file with a name that holds blanks and an equals sign."""
    network = BayesianNetwork.from_tables(
        states={"rain": ["no", "yes"], "dew = 1": [0, 1, 2], "grass": ["dry", "wet"]},
        parents={"grass": ["rain", "dew = 1"]},
        tables={
            "rain": [0.75, 0.25],
            "dew = 1": [0.5, 0.25, 0.25],
            "grass": [[[1, 0], [0.5, 0.5], [0, 1]], [[0.1, 0.9], [0, 1], [0, 1]]],
        },
    )
    path = tmp_path / "sprinkler.json"
    bayleaf.write_network(network, path)
    return path


def _json(run: Run, *words: object) -> Any:
    done = run("query", *words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_query_shows_what_evidence_leaves_open(run: Run, sprinkler: Path) -> None:
    found = _json(run, sprinkler, "--given", "grass=dry")
    assert set(found["posteriors"]) == {"rain", "dew = 1"}
    assert found["posteriors"]["rain"]["yes"] == pytest.approx(0.0125 / 0.48125)
    assert found["log_probability_of_evidence"] == pytest.approx(math.log(0.48125))
    shown = run("query", sprinkler, "--given", "grass=dry", "--target", "rain").out
    assert "yes" in shown
    assert "dew" not in shown


def test_states_are_ruled_out_alike_in_samples_and_queries(
    run: Run, sprinkler: Path, tmp_path: Path
) -> None:
    found = _json(
        run, sprinkler, "--given", "`dew = 1` != 0", "--given", "`dew = 1`!=1"
    )
    assert found["log_probability_of_evidence"] == pytest.approx(math.log(0.25))
    rows = []
    for number, text in enumerate(("rain != no", "rain=!no")):
        path = tmp_path / f"rows{number}.csv"
        drawn = ("sample", sprinkler, "-n", 20, "--given", text, "-o", path)
        assert run(*drawn).code == 0
        rows.append(path.read_text(encoding="utf-8"))
    assert rows[0] == rows[1]
    assert "no" not in rows[0]


def test_names_may_hold_equals_signs_and_states_may_be_numbers(
    run: Run, sprinkler: Path
) -> None:
    found = _json(run, sprinkler, "--given", "dew = 1=2", "--target", "grass")
    assert found["posteriors"]["grass"]["wet"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("option", "text", "expected"),
    [
        ("--given", "dew = 1=0|1", 1 / 3),
        ("--given", "dew = 1=!2", 1 / 3),
        ("--given", "dew = 1=!0", 0.5),
        ("--likelihood", "dew = 1=0:1,1:2,2:0", 0.5),
    ],
)
def test_evidence_may_be_negative_or_uncertain(
    run: Run, sprinkler: Path, option: str, text: str, expected: float
) -> None:
    found = _json(run, sprinkler, option, text, "--target", "dew = 1")
    assert found["posteriors"]["dew = 1"]["1"] == pytest.approx(expected)


def test_the_most_probable_explanation_names_every_variable(
    run: Run, sprinkler: Path
) -> None:
    found = _json(run, sprinkler, "--given", "grass=wet", "--most-probable")
    assert found["states"] == {"rain": "no", "dew = 1": 2, "grass": "wet"}
    assert found["log_joint_probability"] == pytest.approx(math.log(0.75 * 0.25))
    shown = run("query", sprinkler, "--most-probable").out
    assert "dew = 1" in shown


def test_information_ranks_what_would_tell_most(run: Run, sprinkler: Path) -> None:
    found = _json(run, sprinkler, "--target", "grass", "--information")
    assert list(found) == ["dew = 1", "rain"]
    assert found["dew = 1"] > found["rain"] > 0
    shown = run("query", sprinkler, "--target", "grass", "--information").out
    assert shown.startswith("dew = 1")
    # What reveals nothing is counted.
    lines = run("query", sprinkler, "--target", "rain", "--information").out
    assert [line.split()[0] for line in lines.splitlines()] == ["grass", "0"]
    assert lines.endswith("0 bits for 1 other\n")


EITHER = "rain = yes or `dew = 1` in {1, 2}"


def test_events_have_a_probability(run: Run, sprinkler: Path) -> None:
    found = _json(run, sprinkler, "--probability", EITHER)
    assert found["probability"] == pytest.approx(1 - 0.75 * 0.5)
    assert found["log_probability"] == pytest.approx(math.log(0.625))
    shown = run("query", sprinkler, "--probability", "grass = wet", "--given", EITHER)
    assert shown.out == f"{(0.25 * 0.95 + 0.75 * 0.375) / 0.625:.6g}\n"
    never = _json(run, sprinkler, "--probability", "rain = yes and rain = no")
    assert never == {"probability": 0.0, "log_probability": None}


def test_joints_are_shown_as_tables(run: Run, sprinkler: Path) -> None:
    found = _json(run, sprinkler, "--joint", "grass,rain", "--given", "dew = 1=1")
    assert found["joint"][1] == {
        "states": {"grass": "dry", "rain": "yes"},
        "probability": 0.0,
    }
    shown = run("query", sprinkler, "--joint", "grass,rain").out
    assert shown.startswith("grass  rain  probability\n")


def test_the_most_probable_states_of_some_variables(run: Run, sprinkler: Path) -> None:
    found = _json(run, sprinkler, "--map", "rain,grass")
    assert found["states"] == {"rain": "no", "grass": "dry"}
    assert found["probability"] == pytest.approx(0.75 * 0.625)
    shown = run("query", sprinkler, "--map", "rain", "--given", "grass != dry").out
    assert shown.startswith("rain  no\nprobability of these together: 0.54")


SPELLINGS = [
    ("--given", "rain=yes", ["rain = yes", " rain= 'yes' ", '"rain" = "yes"']),
    ("--given", "dew = 1=2", ["`dew = 1` = 2", "dew = 1 = '2'"]),
    ("--given", "rain=no|yes", ["rain = no | yes", "rain = 'no'|\"yes\""]),
    ("--given", "rain=!no", ["rain = !no", "rain = ! 'no'", "rain != no", "rain!=no"]),
    ("--given", "dew = 1=!0", ["dew = 1 != 0", "`dew = 1` != 0"]),
    ("--do", "rain=yes", ["rain = yes", "'rain' = \"yes\""]),
    (
        "--do",
        "rain=no:0.3,yes:0.7",
        ["rain = no:0.3, yes:0.7", "rain= 'no' : 0.3,yes:.7"],
    ),
    ("--likelihood", "rain=no:0.3,yes:1", ["rain = no:0.3, 'yes': 1"]),
]


def test_blanks_and_quotes_around_names_and_states_change_nothing(
    run: Run, sprinkler: Path
) -> None:
    def check(case: tuple[str, str, list[str]]) -> None:
        option, plain, others = case
        wanted = _json(run, sprinkler, option, plain)
        for text in others:
            assert _json(run, sprinkler, option, text) == wanted

    check_each(SPELLINGS, check)


def test_states_padded_with_blanks_are_found_without_them(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "padded.net"
    path.write_text(
        'net {} node a { states = ("Sim     " "Nao     "); }\n'
        "potential (a) { data = (0.1 0.9); }\n"
    )
    for text in ("a=Sim", "a = Sim     ", 'a = "Sim     "'):
        found = _json(run, path, "--given", text)
        assert round(found["log_probability_of_evidence"], 4) == -2.3026


def test_expressions_may_be_evidence_for_any_question(
    run: Run, sprinkler: Path
) -> None:
    both = ("--given", "grass = wet and rain = no", "--given", "dew = 1=2")
    assert _json(run, sprinkler, *both) == _json(
        run, sprinkler, "--given", "grass=wet", "--given", "rain=no", *both[2:]
    )


SENSELESS = [
    (["--probability", "rian = yes"], "did you mean rain"),
    (["--probability", "rain = yes", "--joint", "rain"], "are two questions"),
    (["--joint", "rain", "--target", "rain"], "leave it out beside --joint"),
    (["--map", "rain,rian"], "did you mean rain"),
    (["--given", EITHER], "'or' joins conditions on rain and dew = 1"),
    (["--given", "rain = yes and"], "expected the name of a variable, got the end"),
    (["--given", "rain"], "should have the form name=state"),
    (["--given", "rain=maybe"], "its states are no, yes"),
    (["--given", "rain = maybe"], "variable 'rain' has no state 'maybe'"),
    (["--given", "rian=yes"], "did you mean rain"),
    (["--given", "rain=yes", "--given", "rain=no"], "rain is given twice"),
    (["--likelihood", "rain=yes"], "should have the form name=state:0.8"),
    (["--likelihood", "rain=yes:-1"], "rain"),
    (["--likelihood", "rain=no:1,no:2,yes:1"], "weighs state no twice"),
    (["--target", "rian"], "did you mean rain"),
    (["--information"], "exactly one --target"),
    (["--most-probable", "--target", "rain"], "give it alone"),
    (["--given", "dew = 1=2", "--given", "grass=dry"], "cannot be together"),
]


def test_a_question_that_makes_no_sense_is_refused_in_one_sentence(
    run: Run, sprinkler: Path
) -> None:
    def check(case: tuple[list[str], str]) -> None:
        words, message = case
        done = run("query", sprinkler, *words)
        assert done.code == 2
        assert message in done.err
        assert done.err.count("\n") == 1

    check_each(SENSELESS, check)


def test_the_network_of_a_classifier_answers(run: Run, model: Path) -> None:
    words = ("--given", "sex=male", "--given", "age=60", "--target", "disease")
    found = _json(run, model, *words)
    assert sum(found["posteriors"]["disease"].values()) == pytest.approx(1.0)


def test_samples_keep_to_the_evidence(
    run: Run, sprinkler: Path, tmp_path: Path
) -> None:
    out = tmp_path / "rows.csv"
    words = ("-n", 500, "--given", "grass=wet", "--given", "dew = 1=!2")
    done = run("sample", sprinkler, *words, "--seed", 3, "-o", out)
    assert done.code == 0, done.err
    table = pa_csv.read_csv(out)
    assert table.num_rows == 500
    assert set(table["grass"].to_pylist()) == {"wet"}
    assert set(table["dew = 1"].to_pylist()) == {0, 1}
    again = run("sample", sprinkler, *words, "--seed", 3)
    assert again.out == out.read_text()


def test_samples_may_be_parquet(run: Run, sprinkler: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.parquet"
    assert run("sample", sprinkler, "-n", 7, "-o", out).code == 0
    assert pa_parquet.read_table(out).num_rows == 7


def test_a_number_of_rows_below_one_is_refused(run: Run, sprinkler: Path) -> None:
    def check(rows: int) -> None:
        done = run("sample", sprinkler, f"--rows={rows}")
        assert done.code == 2
        assert "at least 1" in done.err

    check_each([0, -1], check)


def test_a_broken_number_is_refused_and_not_cut(run: Run, sprinkler: Path) -> None:
    def check(option: str) -> None:
        done = run("sample", sprinkler, option, "2.5")
        assert done.code == 2
        assert "'2.5' is not an integer" in done.err

    check_each(["--rows", "-n", "--seed"], check)


def test_a_network_without_variables_is_kept_by_our_own_format_alone(
    tmp_path: Path,
) -> None:
    empty = BayesianNetwork.from_tables({}, {})
    bayleaf.write_network(empty, tmp_path / "empty.json")
    assert len(bayleaf.read_network(tmp_path / "empty.json").domain) == 0
    with pytest.raises(ValueError, match="without variables cannot be held"):
        bayleaf.write_network(empty, tmp_path / "empty.bif")


def test_a_missing_file_is_told_in_a_sentence(run: Run, tmp_path: Path) -> None:
    done = run("convert", tmp_path / "none.bif", tmp_path / "some.net")
    assert done.code == 2
    assert done.err.endswith("none.bif: there is no such file\n")


def test_a_network_goes_through_every_format_and_back(
    run: Run, sprinkler: Path, tmp_path: Path
) -> None:
    def check(suffix: str) -> None:
        there, back = tmp_path / f"a.{suffix}", tmp_path / f"from_{suffix}.json"
        assert run("convert", sprinkler, there).code == 0
        assert run("convert", there, back).code == 0
        assert back.read_bytes() == sprinkler.read_bytes()

    check_each(["bif", "net", "xdsl", "xml", "bifxml"], check)


def test_inspect_shows_networks_of_any_format(
    run: Run, sprinkler: Path, tmp_path: Path
) -> None:
    path = tmp_path / "a.bif"
    assert run("convert", sprinkler, path).code == 0
    for file in (sprinkler, path):
        assert run("inspect", file).out.startswith("Bayesian network: 3 variables")
        assert "P(grass | rain" in run("inspect", file, "--table", "grass").out
        assert "digraph" in run("inspect", file, "--structure", "dot").out
        found = json.loads(run("inspect", file, "--json").out)
        assert found["variables"][2]["parents"] == ["rain", "dew = 1"]
        refused = run("inspect", file, "--shape", "grass")
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert "--shape belongs to classifiers, not networks" in refused.err


def test_dot_and_pmml_are_written(
    run: Run, sprinkler: Path, heart_files: Callable[..., Path], tmp_path: Path
) -> None:
    assert run("convert", sprinkler, tmp_path / "a.dot").code == 0
    assert (tmp_path / "a.dot").read_text().startswith("digraph")
    model = heart_files("--model", "nb")
    assert run("convert", model, tmp_path / "nb.pmml").code == 0
    assert "NaiveBayesModel" in (tmp_path / "nb.pmml").read_text()


def test_an_unknown_format_is_refused_before_the_source_is_read(
    run: Run, tmp_path: Path
) -> None:
    done = run("convert", tmp_path / "absent.bif", tmp_path / "a.xyz")
    assert done.code == 2
    assert ".xdsl" in done.err


def test_a_source_that_is_missing_is_named(run: Run, tmp_path: Path) -> None:
    done = run("convert", tmp_path / "absent.bif", tmp_path / "a.net")
    assert done.code == 2
    assert "absent.bif" in done.err


def test_convert_packs_and_unpacks(run: Run, sprinkler: Path, tmp_path: Path) -> None:
    there, back = tmp_path / "a.uai.gz", tmp_path / "back.json"
    assert run("convert", sprinkler, there).code == 0
    assert run("convert", there, back).code == 0
    assert back.read_bytes() == sprinkler.read_bytes()


def test_convert_names_counts_and_divides_them_on_demand(
    run: Run, tmp_path: Path
) -> None:
    source, target = tmp_path / "a.net", tmp_path / "a.bif"
    source.write_text(
        "net {}\nnode a { states = (n y); }\npotential (a) { data = (1 3); }"
    )
    done = run("convert", source, target)
    assert done.code == 2
    assert "a.net, line 3" in done.err
    assert "convert --normalize" in done.err
    assert not target.exists()
    assert run("convert", "--normalize", source, target).code == 0
    probabilities = bayleaf.read_network(target).cpds[0].probabilities
    assert probabilities.tolist() == [0.25, 0.75]


@pytest.fixture
def kidney_stones(tmp_path: Path) -> Path:
    """A network whose names of variables hold a comma, with experience counts."""
    network = BayesianNetwork.from_tables(
        states={"size": ["small", "large"], "a, b": ["A", "B"], "cured": ["no", "yes"]},
        parents={"a, b": ["size"], "cured": ["size", "a, b"]},
        tables={
            "size": [0.51, 0.49],
            "a, b": [[0.25, 0.75], [0.75, 0.25]],
            "cured": [[[0.07, 0.93], [0.13, 0.87]], [[0.27, 0.73], [0.31, 0.69]]],
        },
    )
    path = tmp_path / "stones.json"
    bayleaf.write_network(network.with_experience(350.0), path)
    return path


def test_an_intervention_cuts_the_arcs_into_what_is_set(
    run: Run, kidney_stones: Path
) -> None:
    found = _json(run, kidney_stones, "--do", "a, b=A")
    assert set(found["posteriors"]) == {"size", "cured"}
    assert found["posteriors"]["size"]["small"] == pytest.approx(0.51)
    expected = 0.51 * 0.93 + 0.49 * 0.73
    assert found["posteriors"]["cured"]["yes"] == pytest.approx(expected)
    assert "assumption" in run("query", kidney_stones, "--do", "a, b=A").err


def test_an_intervention_may_draw_the_state(run: Run, kidney_stones: Path) -> None:
    found = _json(run, kidney_stones, "--do", "a, b=A:0.5,B:0.5")
    expected = 0.51 * (0.93 + 0.87) / 2 + 0.49 * (0.73 + 0.69) / 2
    assert found["posteriors"]["cured"]["yes"] == pytest.approx(expected)


def test_an_effect_is_shown_with_its_interval(run: Run, kidney_stones: Path) -> None:
    found = _json(run, kidney_stones, "--effect", "a, b,cured")
    (contrast,) = found["contrasts"]
    expected = 0.51 * (0.87 - 0.93) + 0.49 * (0.69 - 0.73)
    assert contrast["difference"]["value"] == pytest.approx(expected)
    assert contrast["difference"]["low"] < expected < contrast["difference"]["high"]
    assert "assumption" in run("query", kidney_stones, "--effect", "a, b,cured").out


WRONG_EFFECTS = [
    (("--effect", "a, b,cured", "--latent", "size"), "open path 'a, b' <- size"),
    (("--effect", "cured"), "treatment,outcome"),
    (("--effect", "size,curd"), "did you mean cured"),
    (("--effect", "size,cured", "--target", "size"), "--target"),
    (("--effect", "size,cured", "--most-probable"), "--most-probable"),
    (("--latent", "size"), "--effect"),
    (("--do", "size=tiny"), "no state 'tiny'"),
    (("--do", "size=small:0.4,large:0.4"), "sums to 0.8"),
    (("--do", "size=small", "--do", "size=large"), "twice"),
]


def test_a_wrong_intervention_or_effect_is_refused_in_a_sentence(
    run: Run, kidney_stones: Path
) -> None:
    def check(case: tuple[tuple[str, ...], str]) -> None:
        words, message = case
        done = run("query", kidney_stones, *words)
        assert done.code == 2
        assert message.replace("'a, b'", "a, b") in done.err

    check_each(WRONG_EFFECTS, check)


def test_query_estimates_with_standard_errors(run: Run, sprinkler: Path) -> None:
    words = (sprinkler, "--given", "grass=dry", "--method", "approximate")
    found = _json(run, *words)
    exact = _json(run, sprinkler, "--given", "grass=dry")
    error = found["standard_errors"]["rain"]["yes"]
    difference = found["posteriors"]["rain"]["yes"] - exact["posteriors"]["rain"]["yes"]
    assert abs(difference) < 4 * error <= 4 * 0.005
    assert "±" in run("query", *words).out
    assert "standard_errors" not in exact


def test_query_is_exact_by_auto_where_that_fits(run: Run, sprinkler: Path) -> None:
    assert _json(run, sprinkler, "--method", "auto") == _json(run, sprinkler)
