"""Missing cells are filled in on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest

import bayleaf
from bayleaf.datasets import load_heart
from offenders import check_each

Run = Callable[..., Any]
ROWS = 'id,wet,n,hot\n"007",yes,2.0,true\n"008",,1.0,\n,no,,false\n'


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A network file in which two variables follow a third."""
    made = bayleaf.BayesianNetwork.from_tables(
        states={"wet": ["no", "yes"], "n": [1, 2], "hot": [False, True]},
        parents={"n": ["wet"], "hot": ["wet"]},
        tables={"wet": [0.5, 0.5], "n": [[1, 0], [0, 1]], "hot": [[1, 0], [0, 1]]},
    )
    path = tmp_path / "network.json"
    bayleaf.write_network(made, path)
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A CSV file with missing cells."""
    path = tmp_path / "rows.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def test_cells_are_filled_as_the_file_writes_them(
    run: Run, network: Path, rows: Path, tmp_path: Path
) -> None:
    done = run("impute", network, rows, "-o", tmp_path / "full.csv")
    assert (done.code, done.err) == (0, "bayleaf: 3 cells filled in\n")
    full = (tmp_path / "full.csv").read_text("utf-8").replace('"', "")
    assert full == "id,wet,n,hot\n007,yes,2.0,true\n008,no,1.0,false\n,no,1.0,false\n"


def test_parquet_keeps_its_types(run: Run, network: Path, tmp_path: Path) -> None:
    table = pa.table(
        {"n": pa.array([2, None], pa.int16()), "wet": pa.array([None, "no"])}
    )
    pa_parquet.write_table(table, tmp_path / "rows.parquet")
    words = [tmp_path / "rows.parquet", "-o", tmp_path / "full.parquet"]
    assert run("impute", network, *words).code == 0
    full = pa_parquet.read_table(tmp_path / "full.parquet")
    assert full.schema == table.schema
    assert full.to_pydict() == {"n": [2, 1], "wet": ["yes", "no"]}


def test_a_classifier_fills_in_the_class_too(
    run: Run, model: Path, tmp_path: Path
) -> None:
    frame = load_heart().frame.slice(0, 40)
    place = frame.column_names.index("disease")
    classes = [None, *frame.column("disease").to_pylist()[1:]]
    hidden = frame.set_column(place, "disease", pa.array(classes))
    pa_csv.write_csv(hidden, tmp_path / "hidden.csv")
    done = run("impute", model, tmp_path / "hidden.csv", "-o", tmp_path / "full.csv")
    assert done.code == 0, done.err
    full = pa_csv.read_csv(tmp_path / "full.csv")
    assert full.column("disease").null_count == 0
    assert full.column("disease").to_pylist()[1:] == classes[1:]


def test_a_density_model_fills_in_numbers(run: Run, tmp_path: Path) -> None:
    X = load_heart().X
    path = tmp_path / "density.json"
    bayleaf.BayesianNetworkEstimator(random_state=0).fit(X).save(path)
    place = X.column_names.index("age")
    ages = X.column("age").to_pylist()
    hidden = X.set_column(place, "age", pa.array([None, *ages[1:]]))
    pa_csv.write_csv(hidden, tmp_path / "hidden.csv")
    words = [path, tmp_path / "hidden.csv", "--how", "sample", "--seed", 3]
    outputs = [run("impute", *words, "-o", tmp_path / f"{i}.csv") for i in range(2)]
    assert [done.code for done in outputs] == [0, 0]
    full = pa_csv.read_csv(tmp_path / "0.csv").column("age").to_pylist()
    assert min(ages) <= full[0] <= max(ages)
    assert full[1:] == ages[1:]
    assert (tmp_path / "0.csv").read_bytes() == (tmp_path / "1.csv").read_bytes()


def test_absent_variables_are_added_on_request(
    run: Run, network: Path, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("n\n2\n", encoding="utf-8")
    done = run("impute", network, tmp_path / "rows.csv", "--add-columns")
    assert done.out.replace('"', "") == "n,wet,hot\n2,yes,true\n"


UNFILLABLE = [
    ("n,wet\n3,\n", [], "no state 3"),
    ("n,wet,hot\n1,yes,\n", [], "row 0: .*cannot be together"),
    ("colour\nred\n", [], "no column for any variable"),
    ("colour\nred\n", ["--unknown", "missing"], "no column for any variable"),
    ("n,wet\n", [], "has no rows"),
    ("n,wet\n1,\n", ["--seed", "2.5"], "not an integer"),
]


def test_what_cannot_be_filled_is_refused_in_a_sentence(
    run: Run, network: Path, tmp_path: Path
) -> None:
    full = tmp_path / "full.csv"

    def check(case: tuple[str, list[str], str]) -> None:
        content, words, message = case
        (tmp_path / "rows.csv").write_text(content, encoding="utf-8")
        done = run("impute", network, tmp_path / "rows.csv", *words, "-o", full)
        assert done.code == 2
        assert re.search(message, done.err), done.err
        assert not full.exists()

    check_each(UNFILLABLE, check)


def test_rows_that_cannot_be_are_left_on_request(
    run: Run, network: Path, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("n,wet,hot\n1,yes,\n", encoding="utf-8")
    done = run("impute", network, tmp_path / "rows.csv", "--impossible", "missing")
    assert done.out.replace('"', "") == "n,wet,hot\n1,yes,\n"


def test_a_state_that_looks_like_a_formula_is_marked(run: Run, tmp_path: Path) -> None:
    made = bayleaf.BayesianNetwork.from_tables(
        states={"a": ["=1+1", "b"]}, tables={"a": [0.9, 0.1]}
    )
    bayleaf.write_network(made, tmp_path / "n.json")
    (tmp_path / "rows.csv").write_text("a,id\n,1\n=1+1,2\n", encoding="utf-8")
    words = [tmp_path / "n.json", tmp_path / "rows.csv"]
    assert run("impute", *words).out.replace('"', "") == "a,id\n'=1+1,1\n=1+1,2\n"
    plain = run("impute", *words, "--no-safe-csv").out
    assert plain.replace('"', "") == "a,id\n=1+1,1\n=1+1,2\n"


def test_impute_reads_cells_by_the_plan_of_training(
    tmp_path: Path, run: Callable[..., Any]
) -> None:
    rows = [
        f"{i % 7},5;1.{i % 3 + 1:03};{i % 24:02}:15;{'pq'[i % 3 > 0]}"
        for i in range(60)
    ]
    data, model = tmp_path / "t.csv", tmp_path / "m.json"
    data.write_text("\n".join(["x;n;t;y", *rows]))
    words = ("--target", "y", "--model", "nb", "-o", model)
    assert run("fit", data, *words).code == 0
    # Alone, the points of this file would be decimal signs.
    data.write_text("n;x;t;y\n1.002;;23:15;\n1.003;-;00:15;q\n")
    done = run("impute", model, data, "-o", tmp_path / "full.csv")
    assert done.code == 0, done.err
    assert "3 cells filled in" in done.err
    full = (tmp_path / "full.csv").read_text()
    assert "1.002" in full
    assert "23:15" in full


def test_cells_of_declared_categories_are_filled_in(run: Run, tmp_path: Path) -> None:
    data, model, full = (tmp_path / name for name in ("t.arff", "m.json", "f.csv"))
    rows = [f"{'?' if i % 9 == 5 else 'uv'[i % 2]},{'pq'[i % 2]}\n" for i in range(40)]
    head = "@relation t\n@attribute g {u,v}\n@attribute y {p,q}\n@data\n"
    data.write_text(head + "".join(rows))
    assert run("fit", data, "--target", "y", "--model", "nb", "-o", model).code == 0
    done = run("impute", model, data, "-o", full)
    assert done.code == 0, done.err
    expected = [f"{'uv'[i % 2]},{'pq'[i % 2]}" for i in range(40)]
    assert full.read_text().splitlines() == ["g,y", *expected]


def test_a_row_of_totals_in_the_file_of_a_fit_stays_as_it_is(
    run: Run, tmp_path: Path
) -> None:
    path, model, full = (tmp_path / name for name in ("t.csv", "m.json", "full.csv"))
    rows = "".join(f"{'NS'[i % 2]},{i % 7},{'pq'[i % 3 == 0]}\n" for i in range(40))
    path.write_text(f"region,n,y\n{rows}Average,3,\n")
    assert run("fit", path, "--target", "y", "--model", "nb", "-o", model).code == 0
    done = run("impute", model, path, "-o", full)
    assert done.code == 0, done.err
    assert "such as 'Average' in line 41 below the header" in done.err
    assert full.read_text() == f"region,n,y\n{rows}Average,3,p\n"
    refused = run("impute", model, path, "--unknown", "error", "-o", full)
    assert refused.code == 2
    assert "no state 'Average'" in refused.err
