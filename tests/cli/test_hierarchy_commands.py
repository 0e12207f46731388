"""The commands that learn, check and show value hierarchies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from bayleaf.data.fitted_hierarchies import read_hierarchies
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each

Run = Callable[..., Any]
TREES = {
    "colour": {"any": {"warm": ["red", "orange"], "cold": ["blue", "black"]}},
    "hours": {"any": {"few": ["1-19", "20-34"], "many": ["35+"]}},
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "shop.csv"
    colours = ["red", "warm", "orange", "blue", "green", "blue"]
    columns = {
        "colour": colours,
        "hours": [3, 20, 50, 40, 8, 33],
        "w": [1, 1, 0, 2, 1, 1],
    }
    pa_csv.write_csv(pa.table(columns), path)
    return path


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "trees.json"
    path.write_text(json.dumps(TREES))
    return path


def test_learned_hierarchies_are_a_file_that_is_read(
    run: Run, heart: Path, tmp_path: Path
) -> None:
    path = tmp_path / "learned.json"
    done = run("hierarchy", "learn", heart, "--drop", "disease", "-o", path)
    assert done.code == 0, done.err
    learned = read_hierarchies(path)
    assert "chest_pain" in learned
    assert "disease" not in learned
    assert all(len(tree.states) > 2 for tree in learned.values())
    assert run("hierarchy", "check", path, heart).code == 0


def test_chosen_columns_are_printed(run: Run, heart: Path) -> None:
    words = ("--column", "chest_pain", "--linkage", "hamming")
    done = run("hierarchy", "learn", heart, *words, "--linkage-arity", "multiway")
    assert done.code == 0, done.err
    assert list(json.loads(done.out)) == ["chest_pain"]


def test_rows_without_weight_do_not_count(run: Run, table: Path) -> None:
    done = run("hierarchy", "learn", table, "--weight", "w", "--column", "colour")
    assert done.code == 0, done.err
    assert "orange" not in done.out
    assert "blue" in done.out


REFUSED = [
    (("--column", "color"), "no column 'color'; did you mean colour"),
    (("--drop", "colour", "--drop", "hours", "--drop", "w"), "no column left"),
    (("--drop", "size"), "has no column size"),
    (("--weight", "colour"), "weight column 'colour' must hold numbers"),
    (("--linkage", "ward"), "ward"),
]


def test_learning_refuses_in_one_sentence(run: Run, table: Path) -> None:
    def check(case: tuple[tuple[str, ...], str]) -> None:
        words, sentence = case
        done = run("hierarchy", "learn", table, *words)
        assert done.code == 2
        assert sentence in done.err
        assert done.err.count("\n") == 1

    check_each(REFUSED, check)


def test_a_check_tells_what_fits_and_what_does_not(
    run: Run, table: Path, trees: Path
) -> None:
    done = run("hierarchy", "check", trees, table)
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "colour: states: 4, groups: 2, cuts: 3",
        "  right below the root: green",
        "  not in the table: black",
        "  cells that name groups: 1",
        "hours: states: 3, groups: 2, cuts: 3",
    ]


def test_a_check_fails_where_a_hierarchy_does_not_fit(
    run: Run, table: Path, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.json"
    path.write_text('{"colour": {"any": ["a", "b"]}, "hours": {"any": ["1-9", "8+"]}}')
    done = run("hierarchy", "check", path, table, "--json")
    assert done.code == 2
    errors = [report["error"] for report in json.loads(done.out)]
    assert "no leaf" in errors[0]
    assert "'1-9' and '8+'" in errors[1]
    assert run("hierarchy", "check", path, table).code == 2
    path.write_text('{"size": {"any": ["a", "b"]}}')
    done = run("hierarchy", "check", path, table)
    assert "'size', which the table lacks" in done.err


def test_the_hierarchy_of_a_variable_is_shown(
    run: Run, tmp_path: Path, model: Path
) -> None:
    from dataclasses import replace

    from bayleaf.data.domain import Domain
    from bayleaf.data.value_hierarchy import ValueHierarchy
    from bayleaf.io import read_network, write_network

    network = read_network(model)
    pain = network.domain[network.domain.index("chest_pain")]
    tree = ValueHierarchy.from_nested(
        {"any": {"some": list(pain.states[:2]), "other": list(pain.states[2:])}}
    )
    domain = Domain(
        tuple(replace(v, hierarchy=tree) if v is pain else v for v in network.domain)
    )
    path = tmp_path / "network.json"
    write_network(BayesianNetwork(domain, network.dag, network.cpds), path)
    done = run("inspect", path, "--hierarchy", "chest_pain")
    assert done.code == 0, done.err
    assert done.out == f"{tree}\n"
    done = run("inspect", path, "--hierarchy", "chest_pain", "--json")
    assert json.loads(done.out) == tree.to_nested()
    done = run("inspect", path, "--hierarchy", "age")
    assert (done.code, "those that have one: chest_pain" in done.err) == (2, True)
    assert "did you mean age" in run("inspect", path, "--hierarchy", "agee").err


@pytest.mark.parametrize("command", ["learn", "check"])
def test_commands_have_help_with_an_example(run: Run, command: str) -> None:
    done = run("hierarchy", command, "--help")
    assert done.code == 0
    assert f"bayleaf hierarchy {command}" in done.out
    assert "learn" in run("hierarchy", "--help").out
