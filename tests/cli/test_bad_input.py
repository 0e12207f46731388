"""Each unusable input ends in one sentence on standard error and exit code 2."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from bayleaf.datasets import load_heart
from offenders import check_each

Run = Callable[..., object]


def check_refused(done: object, *fragments: str) -> None:
    """Check the exit code and that one line names each fragment."""
    assert done.code == 2, (done.out, done.err)  # type: ignore[attr-defined]
    lines = done.err.strip().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 1, lines
    assert lines[0].startswith("bayleaf: ")
    assert "Traceback" not in lines[0]
    for fragment in fragments:
        assert fragment in lines[0], lines[0]


@pytest.fixture
def fit(run: Run, tmp_path: Path) -> Callable[..., object]:
    """Fit on the text of a CSV file."""

    def call(text: str | bytes, *words: object, target: str = "y") -> object:
        source = tmp_path / "in.csv"
        source.write_bytes(text if isinstance(text, bytes) else text.encode())
        return run(
            *("fit", source, "--target", target, "-o", tmp_path / "m.json"), *words
        )

    return call


GOOD = "a,b,y\n1,x,p\n2,z,q\n3,x,p\n"


def test_the_good_table_is_fitted(fit: Callable[..., object]) -> None:
    assert fit(GOOD).code == 0  # type: ignore[attr-defined]


def test_missing_target_column_offers_near_names(
    fit: Callable[..., object],
) -> None:
    text = GOOD.replace("y\n", "disease\n", 1)
    check_refused(fit(text, target="diseas"), "diseas", "did you mean disease?")


def test_empty_file(fit: Callable[..., object]) -> None:
    check_refused(fit(""), "is empty")


@pytest.fixture
def no_rows(tmp_path: Path) -> dict[str, Path]:
    """Files and folders without rows, by what they are."""
    openpyxl = pytest.importorskip("openpyxl")
    texts = {
        "header.csv": "a,b,y\n",
        "no_line_end.csv": "a,b,y",
        "empty.csv": "",
        "blank.csv": "\n\n",
        "title.csv": "Sales of the year\n",
        "title_and_header.csv": "Sales of the year\n\na,b,y\n",
        "array.json": "[]",
        "lines.jsonl": "",
        "declared.arff": "@relation t\n@attribute a real\n@attribute b {x,z}\n"
        "@attribute y {p,q}\n@data\n",
        "folder/one.csv": "a,b,y\n",
        "folder/two.csv": "a,b,y\n",
    }
    folder = tmp_path / "none"
    (folder / "folder").mkdir(parents=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    schema = pa.schema({"a": pa.int64(), "b": pa.string(), "y": pa.string()})
    pa_parquet.write_table(schema.empty_table(), folder / "header.parquet")
    for name, cells in (("empty.xlsx", []), ("header.xlsx", ["a", "b", "y"])):
        book = openpyxl.Workbook()
        book.active.append(cells)
        book.save(folder / name)
    return {path.name: path for path in sorted(folder.iterdir())}


def test_tables_without_rows_are_refused_by_all_commands(
    run: Run, no_rows: dict[str, Path], tmp_path: Path
) -> None:
    train, model = tmp_path / "t.csv", tmp_path / "m.json"
    train.write_text("a,b,y\n" + "1,x,p\n2,z,q\n3,x,p\n" * 20)
    fit = ["--target", "y", "--model", "nb", "-o"]
    assert run("fit", train, *fit, model).code == 0  # type: ignore[attr-defined]
    out = tmp_path / "out.csv"
    commands: list[tuple[object, ...]] = [
        ("drift", model, ...),
        ("counts", ..., "--like", model, "-o", tmp_path / "out.counts"),
    ]
    whole: list[tuple[object, ...]] = [
        ("predict", model, ..., "-o", out),
        ("fit", ..., *fit, out),
        ("fit", ..., *fit, out, "--memory", "500MB"),
        ("fit", ..., "--density", "-o", out),
        ("evaluate", ..., "--target", "y"),
        ("compare", ..., "--target", "y"),
        ("audit", model, ..., "--by", "b"),
        ("report", model, ..., "-o", out),
        ("impute", model, ..., "-o", out),
        ("explain", model, ...),
        ("explore", model, "--rows", ..., "-o", out),
        ("inspect", model, "--importance", ...),
        ("check", ...),
        ("hierarchy", "learn", ..., "-o", out),
    ]

    def check(name: str) -> None:
        path = no_rows[name]
        one_file = [] if path.is_dir() else whole
        for command in (*commands, *one_file):
            done = run(*(path if word is ... else word for word in command))
            remedy = "is empty; add" if "empty" in name or name == "blank.csv" else ""
            check_refused(done, name, remedy or "has no rows; add at least one")
            assert not list(tmp_path.glob("out*")), command

    check_each(no_rows, check)
    done = run("predict", model, no_rows["folder"], "-o", tmp_path / "predicted")
    check_refused(done, "one.csv has no rows; add at least one, or remove the file")


def test_column_without_any_value(fit: Callable[..., object]) -> None:
    done = fit("b,y\n,p\n,q\n", "--model", "nb")
    check_refused(done, "no column is left to learn from", "b")


def test_duplicate_column_names(fit: Callable[..., object]) -> None:
    check_refused(fit("a,a,y\n1,2,p\n3,4,q\n"), "several columns called a")


def test_one_distinct_target_when_evaluating(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "one.csv"
    source.write_text("a,y\n1,p\n2,p\n")
    check_refused(run("evaluate", source, "--target", "y"), "one value only")


def test_a_target_without_values(fit: Callable[..., object]) -> None:
    table = "a,y\n" + "1,\n2,NA\n" * 3
    check_refused(fit(table), "column 'y' is empty in all 6 rows", "another target")
    check_refused(fit(table, "--memory", "1GB"), "is empty in all 6 rows")


def test_fractions_are_not_classes(fit: Callable[..., object]) -> None:
    table = "a,y\n" + "".join(f"{'pq'[i % 2]},{i}.5\n" for i in range(40))
    for options in ((), ("--memory", "1GB")):
        check_refused(fit(table, *options), "such as 0.5", "--model regressor")


def test_ragged_row_names_its_line(fit: Callable[..., object]) -> None:
    check_refused(fit('a,b,y\n"1\n1",x,p\n\n2,x,p,9\n'), "line 5", "4 cells")


@pytest.mark.parametrize(
    "n_rows", [2000, pytest.param(100_000, marks=pytest.mark.slow)]
)
def test_identifier_column(fit: Callable[..., object], n_rows: int) -> None:
    rows = "".join(f"id{i},{'pq'[i % 2]}\n" for i in range(n_rows))
    check_refused(fit("id,y\n" + rows), "no column is left", "in id;")


def test_negative_k(fit: Callable[..., object]) -> None:
    check_refused(
        fit(GOOD, "--model", "kdb", "--k=-1"), "k must be an integer >= 0, got -1"
    )


def test_unknown_option_value_lists_the_choices(fit: Callable[..., object]) -> None:
    def check(case: tuple[str, str, str]) -> None:
        option, value, choice = case
        check_refused(fit(GOOD, option, value), value, choice)

    check_each(
        [
            ("--model", "svm", "nb, tan, kdb, hnb, aode, a2de"),
            ("--smoothing", "none", "laplace"),
            ("--discretizer", "best", "equal_width"),
            ("--missing", "skip", "marginalize"),
            ("--unknown", "skip", "error"),
        ],
        check,
    )


def test_setting_of_another_model(fit: Callable[..., object]) -> None:
    check_refused(fit(GOOD, "--model", "nb", "--k", "2"), "--k", "kdb")


def test_unreadable_path(run: Run, tmp_path: Path) -> None:
    check_refused(
        run("fit", tmp_path / "no.csv", "--target", "y", "-o", tmp_path / "m.json"),
        "no such file",
    )
    check_refused(
        run("fit", tmp_path, "--target", "y", "-o", tmp_path / "m.json"),
        "holds no Parquet or CSV",
    )


def test_unwritable_path(run: Run, heart: Path, tmp_path: Path) -> None:
    check_refused(
        run("fit", heart, "--target", "disease", "-o", tmp_path / "no" / "m.json"),
        "does not exist",
    )
    check_refused(
        run("fit", heart, "--target", "disease", "-o", tmp_path), "is a folder"
    )


def test_model_file_of_another_program(run: Run, heart: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"learner": {"name": "gbtree"}}))
    check_refused(run("predict", other, heart), "no bayleaf model file")
    check_refused(run("inspect", heart), "no bayleaf model file")


def test_missing_feature_when_predicting(
    run: Run, model: Path, heart: Path, tmp_path: Path
) -> None:
    text = heart.read_text().replace('"chest_pain"', '"chest_pian"', 1)
    source = tmp_path / "typo.csv"
    source.write_text(text)
    check_refused(
        run("predict", model, source), "chest_pain", "did you mean chest_pian?"
    )


def test_text_in_a_numeric_column_when_predicting(
    run: Run, model: Path, heart: Path, tmp_path: Path
) -> None:
    lines = heart.read_text().splitlines()
    cells = lines[1].split(",")
    source = tmp_path / "word.csv"
    source.write_text("\n".join([lines[0], ",".join(["old", *cells[1:]])]) + "\n")
    check_refused(run("predict", model, source), "'age'", "'old'")


def test_no_utf8(fit: Callable[..., object]) -> None:
    check_refused(fit("a,y\n\xe9,p\nb,q\n".encode("latin-1")), "UTF-8")


def test_row_beyond_the_table(run: Run, model: Path, heart: Path) -> None:
    check_refused(run("explain", model, heart, "--line", 271), "271", "270 rows")
    check_refused(run("explain", model, heart, "--line", 0), "at least 1")


def test_unknown_class_to_compare_with(run: Run, model: Path, heart: Path) -> None:
    check_refused(run("explain", model, heart, "--against", "maybe"), "maybe", "absent")


def test_unknown_variable_to_inspect(run: Run, model: Path) -> None:
    check_refused(
        run("inspect", model, "--table", "chestpain"), "did you mean chest_pain?"
    )


def test_unknown_command_and_missing_argument(run: Run) -> None:
    check_refused(run("frobnicate"), "frobnicate")
    check_refused(run("fit"), "fit needs DATA, as in: bayleaf fit ")
    given = run("query", "m.json", "--evidence", "a=b")
    check_refused(given, "--evidence", "bayleaf query --help lists")
    given = run("query", "m.json", "age")
    check_refused(given, "does not take age; bayleaf query --help lists")


def test_input_that_has_a_prediction_already(
    run: Run, model: Path, heart: Path, tmp_path: Path
) -> None:
    source = tmp_path / "twice.csv"
    assert run("predict", model, heart, "-o", source).code == 0
    check_refused(run("predict", model, source), "'prediction' already")


def test_too_many_folds(run: Run, heart: Path) -> None:
    check_refused(
        run("evaluate", heart, "--target", "disease", "--folds", 200), "at most 150"
    )


def test_semicolons_and_tabs_between_cells(fit: Callable[..., object]) -> None:
    assert fit("a;y\n1;p\n2;q\n").code == 0  # type: ignore[attr-defined]
    assert fit("a\ty\n1\tp\n2\tq\n").code == 0  # type: ignore[attr-defined]
    check_refused(fit("a;y\n1;p\n2;q\n", "--sep", ","), "no column y; there are: a;y")


def test_a_quote_that_is_never_closed(fit: Callable[..., object]) -> None:
    check_refused(fit('a,y\n1,p\n2,"q\n3,p\n'), "line 3", "quote")


def test_a_lone_quote_inside_a_cell_is_text(fit: Callable[..., object]) -> None:
    assert fit('a,y\n5" pipe,p\n6 pipe,q\n').code == 0  # type: ignore[attr-defined]
    assert fit('5" pipe,y\n1,p\n2,q\n').code == 0  # type: ignore[attr-defined]


def test_a_column_of_dates(fit: Callable[..., object]) -> None:
    dates = "d,y\n2020-01-01,p\n2020-01-02,q\n"
    assert fit(dates).code == 0  # type: ignore[attr-defined]
    check_refused(fit(dates, "--dates", "error"), "'d' holds dates", "dates='expand'")


def test_names_that_cannot_be_seen_are_quoted(fit: Callable[..., object]) -> None:
    check_refused(fit("a, y\n1,p\n2,q\n"), "did you mean ' y'?")
    check_refused(fit(",,y\n1,2,p\n3,4,q\n"), "several columns called ''")


def test_a_quote_that_is_not_closed(
    fit: Callable[..., object], run: Run, tmp_path: Path
) -> None:
    check_refused(fit('"a,y\n1,p\n2,q\n'), "header", "quote that is not closed")
    check_refused(fit('a,"y\n' + "1,p\n" * 200), "header", "quote")
    assert fit(GOOD).code == 0  # type: ignore[attr-defined]
    source = tmp_path / "open.csv"
    source.write_text('a,b,y\n1,x,p\n2,z,"q\n')
    check_refused(run("predict", tmp_path / "m.json", source), "line 3", "not closed")


def test_text_of_another_encoding(fit: Callable[..., object]) -> None:
    check_refused(fit(GOOD.encode("utf-16-le")), "UTF-8")


def test_a_file_that_cannot_be_unpacked(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "in.csv.gz"
    source.write_text(GOOD)
    words = ("--target", "y", "-o", tmp_path / "m.json")
    check_refused(run("fit", source, *words), "cannot unpack", "in.csv.gz")


@pytest.mark.parametrize("column", [["x", "y"], [True, False], [1, 2]])
def test_text_where_training_had_none(
    fit: Callable[..., object], run: Run, tmp_path: Path, column: list[object]
) -> None:
    rows = [f"{str(cell).lower()},{label}" for cell, label in zip(column, "pq")]
    text = "\n".join(["a,y", *rows * 9, ""])
    fitted = fit(text, "--categorical", "a")
    assert fitted.code == 0  # type: ignore[attr-defined]
    source = tmp_path / "new.csv"
    source.write_text("a\nodd\n")
    done = run("predict", tmp_path / "m.json", source)
    if isinstance(column[0], str):
        assert done.code == 0  # type: ignore[attr-defined]
    else:
        wanted = "true or false" if column[0] is True else "a number"
        check_refused(done, "'odd'", wanted, "line 1 below the header")


def test_the_row_of_a_bad_cell_is_counted_through_all_batches(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayleaf.data.files.csv_reading.BLOCK_BYTES", 512)
    source = tmp_path / "numbers.csv"
    rows = "".join(f"{i},{'pq'[i // 200]}\n" for i in range(400))
    source.write_text(f"a,y\n{rows}")
    model = tmp_path / "m.json"
    assert run("fit", source, "--target", "y", "-o", model).code == 0  # type: ignore[attr-defined]
    source.write_text(f"a,y\n{rows}1_000,p\n")
    check_refused(run("predict", model, source), "'1_000'", "line 401 below the header")


def test_a_column_that_no_csv_file_can_hold(
    run: Run, model: Path, tmp_path: Path
) -> None:
    source = tmp_path / "nested.parquet"
    frame = load_heart().frame
    notes = pa.array([[1]] * frame.num_rows)
    pa_parquet.write_table(frame.append_column("notes", notes), source)
    check_refused(run("predict", model, source), "list<", "write Parquet instead")
    output = tmp_path / "out.parquet"
    assert run("predict", model, source, "-o", output).code == 0  # type: ignore[attr-defined]


def test_structure_is_text_and_no_json(run: Run, model: Path) -> None:
    check_refused(run("inspect", model, "--structure", "dot", "--json"), "leave out")


def test_hostile_names_neither_hide_nor_turn_the_sentence(
    fit: Callable[..., object],
) -> None:
    done = fit(f"{'x' * 10_000},\u202eb,\x1b[31m\n1,2,3\n")
    check_refused(done, "has no column y; there are: xxx")
    assert len(done.err) < 500  # type: ignore[attr-defined]
    assert "\u202e" not in done.err  # type: ignore[attr-defined]
    assert "\\u202eb, \\x1b[31m" in done.err  # type: ignore[attr-defined]


def test_a_command_without_what_it_needs_shows_its_example(run: Run) -> None:
    example = "as in: bayleaf evaluate heart.csv --target disease"
    check_refused(run("evaluate", "in.csv"), "evaluate needs --target, ", example)
    check_refused(run("fit", "in.csv", "--target"), "fit needs a value for --target, ")
    check_refused(run("report", "m.json"), "report needs DATA, as in: bayleaf report")
    check_refused(run("evaluate", "in.csv", "--traget", "y"), "Did you mean --target")
