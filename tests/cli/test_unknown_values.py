"""Every command reports values that training did not contain, in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TEAL = (
    "bayleaf: column colour: 2 cells hold values not seen in training, such as 'teal' "
    "in line 2 below the header, and were taken as missing\n"
)
ROOMS = (
    "bayleaf: column rooms: 1 cell holds a value not seen in training, such as 9 in "
    "line 3 below the header, and was taken as the nearest value seen; training took "
    "its few integers as categories, so that fitting with --ordered and all values in "
    "their order includes later ones\n"
)


@pytest.fixture
def files(tmp_path: Path, run: Callable[..., Any]) -> tuple[Path, Path, Path]:
    """A model, the table that it learned from, and one with unknown values."""
    rows = [(1 + i % 8, "rgb"[i % 3], "ny"[i % 8 > 3]) for i in range(48)]
    table, later, model = (tmp_path / name for name in ("t.csv", "l.csv", "m.json"))
    for path, changed in ((table, {}), (later, {1: (2, "teal"), 2: (9, "r")})):
        own = [(*changed.get(i, row[:2]), row[2]) for i, row in enumerate(rows)]
        if changed:
            own[9] = (1, "teal", "n")
        lines = [",".join(map(str, row)) for row in own]
        path.write_text("\n".join(["rooms,colour,y", *lines]) + "\n")
    fit = ("fit", table, "--target", "y", "--model", "nb", "-o", model)
    assert run(*fit).code == 0
    return model, table, later


@pytest.mark.parametrize(
    "words",
    [
        ("predict",),
        ("explain", "--robustness", "--all-lines"),
        ("audit", "--by", "colour"),
        ("drift",),
        ("report", "--json", "--held-out"),
        ("importance",),
        ("explore",),
    ],
    ids=lambda words: words[0],
)
def test_commands_report_unknown_values(
    run: Callable[..., Any],
    files: tuple[Path, Path, Path],
    words: tuple[Any, ...],
    tmp_path: Path,
) -> None:
    model, _, later = files
    command, *options = words
    if command == "importance":
        done = run("inspect", model, "--importance", later)
    elif command == "explore":
        done = run("explore", model, "--rows", later, "-o", tmp_path / "page.html")
    else:
        done = run(command, model, later, *options)
    assert done.code == 0, done.err
    assert set(done.err.splitlines()) == {*(TEAL + ROOMS).splitlines()}


def test_explain_names_the_lines_of_the_file(
    run: Callable[..., Any], files: tuple[Path, Path, Path]
) -> None:
    model, _, later = files
    done = run("explain", model, later, "--line", 3, "--line", 10)
    assert ROOMS in done.err
    assert "column colour: 1 cell holds" in done.err
    assert "'teal' in line 10 below the header" in done.err


def test_values_in_one_of_several_files_are_named_with_it(
    run: Callable[..., Any], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    model, table, later = files
    folder = tmp_path / "folder"
    folder.mkdir()
    for path, name in ((table, "a.csv"), (later, "b.csv")):
        (folder / name).write_text(path.read_text())
    done = run("predict", model, folder, "-o", tmp_path / "scored")
    assert f"'teal' in line 2 below the header of {folder / 'b.csv'}, and" in done.err
    assert (
        f"such as 'teal' in row 50 of {folder}, and" in run("drift", model, folder).err
    )


def test_counts_report_values_that_become_states(
    run: Callable[..., Any], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    model, _, later = files
    done = run("counts", later, "--like", model, "-o", tmp_path / "all.counts")
    assert "such as 'teal' in line 2 below the header, and were counted as" in done.err
    assert "such as 9 in line 3 below the header, and was counted as new" in done.err


def test_impute_reports_values_that_it_is_to_ignore(
    run: Callable[..., Any], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    model, _, later = files
    words = ("impute", model, later, "-o", tmp_path / "full.csv")
    # As in training of the model, by default.
    for done in (run(*words), run(*words, "--unknown", "missing")):
        assert done.code == 0
        assert TEAL in done.err
        assert ROOMS.replace("the nearest value seen", "missing") in done.err
    assert run(*words, "--unknown", "error").code == 2


def test_evaluation_reports_values_of_held_out_rows_alone(
    run: Callable[..., Any], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    _, _, later = files
    for words in (
        ("evaluate", later, "--target", "y", "--model", "nb"),
        ("compare", later, "--target", "y", "--models", "nb,tan"),
    ):
        done = run(*words, "--folds", 3)
        assert done.code == 0
        assert done.err.count("column rooms: 1 cell holds a value not seen") == 1
        assert "such as 9 in line 3 below the header" in done.err
    numbers = tmp_path / "numbers.csv"
    lines = later.read_text().splitlines()[1:]
    numbers.write_text(
        "\n".join(f"{row},{i}.5" for i, row in enumerate(["a,b,c", *lines]))
    )
    text = numbers.read_text().replace("a,b,c,0.5", "rooms,colour,kind,y")
    numbers.write_text(text)
    words = ("evaluate", numbers, "--target", "y", "--model", "regressor")
    done = run(*words, "--folds", 3)
    assert "such as 9 in line 3 below the header" in done.err


def test_the_column_without_a_name_may_be_absent_or_renamed(
    run: Callable[..., Any], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    _, table, _ = files
    header, *rows = table.read_text().splitlines()
    model = tmp_path / "numbered.json"
    paths = {name: tmp_path / f"{len(name)}.csv" for name in ("", "Unnamed: 0")}
    for name, path in paths.items():
        lines = [f"k{i},{row}" for i, row in enumerate(rows)]
        path.write_text("\n".join([f"{name},{header}", *lines]) + "\n")
    for fitted in paths.values():
        words = ("fit", fitted, "--target", "y", "--model", "nb", "-o", model)
        assert run(*words).code == 0
        expected = run("predict", model, table).out.splitlines()
        for path in paths.values():
            found = run("predict", model, path).out.splitlines()
            assert [line.split(",", 1)[1] for line in found] == expected
            counted = run("counts", path, "--like", model, "-o", tmp_path / "a.counts")
            assert counted.code == 0, counted.err
