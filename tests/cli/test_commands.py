from __future__ import annotations

import io
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest

import bayleaf
from bayleaf.datasets import load_heart
from cli.forked_programs import exit_code, start_fork, start_process

Run = Callable[..., object]


def test_version_is_printed(run: Run) -> None:
    assert run("--version").out == f"bayleaf {bayleaf.__version__}\n"


def test_version_imports_no_heavy_library() -> None:
    script = (
        "import sys\nfrom bayleaf.cli import main\nmain(['--version'])\n"
        "print({'sklearn', 'numpy', 'pyarrow', 'cyclopts'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize(
    "command",
    [
        "predict",
        "inspect",
        "explain",
        "demo",
        # These have all settings of models, whose pages take long to print.
        pytest.param("fit", marks=pytest.mark.slow),
        pytest.param("evaluate", marks=pytest.mark.slow),
    ],
)
def test_every_command_has_help_with_an_example(run: Run, command: str) -> None:
    done = run(command, "--help")
    assert done.code == 0
    assert f"bayleaf {command}" in done.out


def test_fit_prints_the_summary_and_writes_a_model(model: Path) -> None:
    loaded = bayleaf.load(model)
    assert type(loaded).__name__ == "TANClassifier"
    assert loaded.classes_.tolist() == ["absent", "present"]
    assert loaded.model_.domain[-1].name == "disease"


def test_predict_equals_the_estimator(run: Run, model: Path, heart: Path) -> None:
    out = model.with_name("scored.csv")
    assert run("predict", model, heart, "-o", out).code == 0
    scored = pa_csv.read_csv(out)
    table = load_heart()
    loaded = bayleaf.load(model)
    expected = loaded.predict_proba(table.X)
    assert scored.column_names[:14] == table.frame.column_names
    assert scored.column("prediction").to_pylist() == loaded.predict(table.X).tolist()
    assert np.array_equal(scored.column("probability_absent"), expected[:, 0])
    assert np.array_equal(scored.column("probability_present"), expected[:, 1])


def test_predict_writes_parquet_like_csv(run: Run, model: Path, heart: Path) -> None:
    parquet_in = model.with_name("in.parquet")
    pa_parquet.write_table(load_heart().frame, parquet_in)
    out_csv, out_parquet = model.with_name("a.csv"), model.with_name("b.parquet")
    assert run("predict", model, heart, "-o", out_csv).code == 0
    assert run("predict", model, parquet_in, "-o", out_parquet).code == 0
    from_csv = pa_csv.read_csv(out_csv)
    from_parquet = pa_parquet.read_table(out_parquet)
    assert from_csv.column_names == from_parquet.column_names
    assert from_csv.column("probability_absent").equals(
        from_parquet.column("probability_absent")
    )


@pytest.mark.parametrize(
    "start", [start_fork, pytest.param(start_process, marks=pytest.mark.slow)]
)
def test_predict_reads_and_writes_streams(
    start: Callable[..., int], model: Path, heart: Path
) -> None:
    reading, writing = os.pipe()
    with heart.open("rb") as rows:
        process = start(["predict", str(model), "-"], {0: rows.fileno(), 1: writing})
    os.close(writing)
    with open(reading, "rb") as stream:
        scored = stream.read()
    assert exit_code(process) == 0
    assert pa_csv.read_csv(io.BytesIO(scored)).num_rows == 270


def test_predict_keeps_text_cells_as_they_are(
    run: Run, model: Path, heart: Path
) -> None:
    lines = heart.read_text().splitlines()
    header, first = lines[0] + ',"id"', lines[1] + ',"007"'
    source = model.with_name("ids.csv")
    source.write_text(f"{header}\n{first}\n")
    out = run("predict", model, source).out.splitlines()
    assert '"007"' in out[1]


def test_columns_may_stand_in_any_order(run: Run, model: Path, heart: Path) -> None:
    frame = load_heart().frame
    turned = model.with_name("turned.csv")
    pa_csv.write_csv(frame.select(frame.column_names[::-1]), turned)
    plain, other = model.with_name("a.csv"), model.with_name("b.csv")
    run("predict", model, heart, "-o", plain)
    run("predict", model, turned, "-o", other)
    assert (
        pa_csv.read_csv(plain)
        .column("probability_absent")
        .equals(pa_csv.read_csv(other).column("probability_absent"))
    )


def test_unknown_values_are_counted_on_standard_error(
    run: Run, model: Path, heart: Path
) -> None:
    source = model.with_name("odd.csv")
    source.write_text(heart.read_text().replace("asymptomatic", "elsewhere"))
    done = run("predict", model, source, "-o", model.with_name("out.csv"))
    n_odd = source.read_text().count("elsewhere")
    assert done.code == 0
    assert f"column chest_pain: {n_odd} cells hold values not seen" in done.err


def test_missing_marks_can_be_named(run: Run, model: Path, heart: Path) -> None:
    blank, marked = model.with_name("blank.csv"), model.with_name("marked.csv")
    lines = heart.read_text().splitlines()
    header, cells = lines[0], lines[1].split(",")
    blank.write_text("\n".join([header, ",".join(["", "", *cells[2:]])]) + "\n")
    marked.write_text("\n".join([header, ",".join(["?", "?", *cells[2:]])]) + "\n")
    one = run("predict", model, blank).out.splitlines()[1].split(",")[-2:]
    other = run("predict", model, marked, "--na", "?").out.splitlines()[1]
    assert one == other.split(",")[-2:]


def test_an_interrupted_run_leaves_the_old_file(
    run: Run, model: Path, heart: Path
) -> None:
    target = model.with_name("kept.csv")
    target.write_text("old")
    broken = model.with_name("broken.csv")
    broken.write_text(heart.read_text() + "1,2,3\n")
    assert run("predict", model, broken, "-o", target).code == 2
    assert target.read_text() == "old"
    assert list(target.parent.glob("*.part")) == []


def test_evaluate_prints_json(run: Run, heart: Path) -> None:
    done = run(
        *("evaluate", heart, "--target", "disease", "--model", "nb"),
        *("--folds", 3, "--json"),
    )
    [result] = json.loads(done.out)
    assert result["model"] == "nb"
    assert 0.75 < result["accuracy"]["mean"] < 0.95
    assert len(result["folds"]) == 3


@pytest.mark.slow
def test_evaluate_compares_all_models_by_default(run: Run, heart: Path) -> None:
    few = heart.with_name("few.csv")
    few.write_text("".join(heart.read_text().splitlines(keepends=True)[:41]))
    done = run("evaluate", few, "--target", "disease", "--folds", 2)
    assert done.code == 0
    assert all(name in done.out for name in ("nb", "tan", "kdb", "aode"))


def test_inspect_shows_summary_table_and_structure(run: Run, model: Path) -> None:
    assert "TANClassifier" in run("inspect", model).out
    assert "free parameters" in run("inspect", model).out
    rows = json.loads(run("inspect", model, "--table", "disease", "--json").out)
    assert sum(rows[0].values()) == pytest.approx(1.0)
    dot = run("inspect", model, "--structure", "dot").out
    assert dot.startswith("digraph")
    assert '"disease" -> "age";' in dot
    assert "disease" in run("inspect", model, "--structure", "text").out


def test_explain_adds_up(run: Run, model: Path, heart: Path) -> None:
    done = run("explain", model, heart, "--line", 2, "--row", 5, "--json")
    found = json.loads(done.out)
    assert [one["line"] for one in found] == [2, 5]
    assert [one["row"] for one in found] == [1, 4]
    for one in found:
        total = one["prior"] + sum(term["contribution"] for term in one["terms"])
        assert total == pytest.approx(one["log_odds"], abs=1e-10)


def test_explain_prints_text(run: Run, model: Path, heart: Path) -> None:
    text = run("explain", model, heart, "--line", 270).out
    assert text.startswith("line 270: ")
    assert "log-odds" in text


@pytest.mark.slow
def test_demo_compares_explains_and_reports(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "report.html"
    done = run("demo", "-o", page)
    assert done.code == 0
    assert f"to open in a browser: {page}" in done.out
    assert "Latent variables and their rules" in page.read_text(encoding="utf-8")
    assert "log-odds" in done.out
    assert "then disease = present with probability" in done.out
    # The commands to try next work as they are printed.
    commands = done.out.partition("\nNext")[2].splitlines()[1:]
    assert len(commands) == 3
    for command in commands:
        program, *words = shlex.split(command, posix=os.name != "nt")
        assert program.endswith("bayleaf")
        assert run(*words).code == 0
    assert {path.name for path in tmp_path.iterdir()} >= {"heart.json", "explorer.html"}


def test_verbose_work_stays_off_standard_output(run: Run, heart: Path) -> None:
    words = ("--target", "disease", "--n-networks", 2, "--json")
    done = run("fit", heart, *words, "-o", heart.with_name("m.json"))
    assert json.loads(done.out)["target"] == "disease"


def test_a_linked_output_stays_a_link(run: Run, model: Path, heart: Path) -> None:
    real, link = model.with_name("real.csv"), model.with_name("link.csv")
    try:
        link.symlink_to(real)
    except OSError as error:
        pytest.skip(f"links cannot be made: {error}")
    assert run("predict", model, heart, "-o", link).code == 0
    assert link.is_symlink()
    assert real.read_text().count("\n") == 271


def test_a_device_is_written_to_and_not_replaced(
    run: Run, model: Path, heart: Path
) -> None:
    null = Path(os.devnull)
    assert run("predict", model, heart, "-o", null).code == 0
    assert null.is_char_device()


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_unwinds_the_command_and_leaves_the_old_file(
    name: str, run: Run, model: Path, heart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hasattr(signal, name):
        pytest.skip(f"this system has no {name}")
    old = heart.with_name("old.csv")
    old.write_text("old")

    def interrupt(*_: object, **__: object) -> None:
        signal.raise_signal(getattr(signal, name))

    monkeypatch.setattr("bayleaf.cli.table_reading.encode_batch", interrupt)
    if name == "SIGINT":
        assert run("predict", model, heart, "-o", old).code == 130
    else:
        # What was started to outlive its terminal ignores that this is closed.
        before = signal.signal(getattr(signal, name), signal.SIG_DFL)
        try:
            with pytest.raises(SystemExit) as stop:
                run("predict", model, heart, "-o", old)
        finally:
            signal.signal(getattr(signal, name), before)
        assert stop.value.code == 128 + getattr(signal, name)
    assert old.read_text() == "old"
    assert not list(heart.parent.glob(".*"))


def test_blank_lines_and_names_of_several_lines_stand_before_the_rows(
    run: Run, tmp_path: Path
) -> None:
    source, model = tmp_path / "in.csv", tmp_path / "m.json"
    source.write_text('\n\n"a\nb",y\n1,p\n2,q\n', newline="\n")
    assert run("fit", source, "--target", "y", "-o", model).code == 0
    done = run("predict", model, source)
    assert done.code == 0
    assert done.out.startswith('\n\n"a\nb",y,prediction,')


def test_labels_wider_than_a_signed_integer_are_written_as_text(
    run: Run, tmp_path: Path
) -> None:
    source, model = tmp_path / "in.parquet", tmp_path / "m.json"
    labels = pa.array([2**63 + 1, 5] * 9, pa.uint64())
    pa_parquet.write_table(pa.table({"a": ["x", "z"] * 9, "y": labels}), source)
    assert run("fit", source, "--target", "y", "-o", model).code == 0
    lines = run("predict", model, source).out.splitlines()
    assert lines[1].split(",")[2] == f'"{2**63 + 1}"'


def test_a_table_keeps_every_letter_where_there_is_little_room(
    run: Run, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    done = run("inspect", model, "--table", "chest_pain")
    assert "…" not in done.out
