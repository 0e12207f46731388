"""Names of files that name no file, or one that few programs can read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pytest

from bayleaf.cli import main
from bayleaf.datasets import load_heart
from bayleaf.wording import cut
from covering import pairwise
from offenders import check_each

Run = Callable[..., Any]

LONG_NAME = "x" * 300
LONG_PATH = "/y" * 2500
# Where a command reads from FILE, and where it writes to FILE.
READING = """
fit FILE --target disease -o OUT.json
fit TABLE --density --hierarchies FILE -o OUT.json
predict FILE TABLE
predict MODEL FILE
inspect FILE
inspect MODEL --importance FILE
inspect FILE --hierarchy age
explain FILE TABLE
explain MODEL FILE
explore FILE -o OUT.html
query FILE
sample FILE -n 3
convert FILE OUT.bif
report FILE TABLE --folds 2 -o OUT.html
report MODEL FILE --folds 2 -o OUT.html
report MODEL TABLE --loss FILE -o OUT.html
evaluate FILE --target disease
evaluate TABLE --target disease --loss FILE
compare FILE --target disease
hierarchy learn FILE
hierarchy check FILE TABLE
hierarchy check TREES FILE
""".strip().splitlines()
WRITING = """
fit TABLE --target disease --model nb -o FILE
predict MODEL TABLE -o FILE
sample MODEL -n 3 -o FILE
explore MODEL -o FILE
convert MODEL FILE
report MODEL TABLE --folds 2 -o FILE
compare TABLE --target disease --csv FILE --models nb --folds 2
hierarchy learn TABLE -o FILE
demo -o FILE
""".strip().splitlines()
SUFFIXES = ("", ".json", ".bif", ".csv", ".parquet")
STEMS = ("loop", "folder", LONG_NAME, LONG_PATH)
LINES = (*READING, *WRITING)
# Whatever command reads or writes them.
NEVER_FILES = ["around/x.json", ""]
NEVER_READ = ["no\udcff\udcfe.json", "no\udcff\udcfe.csv", "no\nfile.parquet"]
LIGHT = ("predict", "query", "convert", "sample", "inspect")


def few_names() -> dict[str, list[str]]:
    """Names for each command line, such that all pairs of their parts are tried."""
    found: dict[str, list[str]] = {line: [] for line in LINES}
    for line, stem, suffix in pairwise(LINES, STEMS, SUFFIXES):
        found[line].append(f"{stem}{suffix}")
    return found


FEW_NAMES = few_names()


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """A folder with a table, a model, hierarchies, and with what is no file."""
    folder = tmp_path_factory.mktemp("odd")
    names = {"TABLE": "heart.csv", "MODEL": "heart.json", "TREES": "trees.json"}
    found = {key: str(folder / name) for key, name in names.items()}
    pa_csv.write_csv(load_heart().frame, found["TABLE"])
    fit = ["fit", found["TABLE"], "--target", "disease", "--model", "nb"]
    assert main([*fit, "-o", found["MODEL"]]) == 0
    learn = ["hierarchy", "learn", found["TABLE"], "-o", found["TREES"]]
    assert main(learn) == 0
    for suffix in SUFFIXES:
        (folder / f"folder{suffix}").mkdir()
        (folder / f"loop{suffix}").symlink_to(folder / f"pool{suffix}")
        (folder / f"pool{suffix}").symlink_to(folder / f"loop{suffix}")
    (folder / "around").symlink_to(folder / "around")
    return found | {"FOLDER": str(folder), "OUT": str(folder / "out")}


def words_of(line: str, places: Mapping[str, str], file: str) -> list[str]:
    """The words of a command line with files in place of what stands for them."""
    kinds = re.compile("|".join([*places, "FILE"]))
    found = {**places, "FILE": file}
    return [kinds.sub(lambda key: found[key[0]], word) for word in line.split()]


@pytest.fixture
def check_refused(
    places: Mapping[str, str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, list[str]], None]:
    """Check that a command line refuses each of some names."""
    monkeypatch.chdir(places["FOLDER"])

    def check(line: str, names: list[str]) -> None:
        def check_name(file: str) -> None:
            done = run(*words_of(line, places, file))
            assert (done.code, done.out) == (2, ""), done
            sentence, *more = done.err.splitlines()
            assert more == []
            assert sentence.startswith("bayleaf: ")
            assert len(sentence) < 400
            assert not re.search("codec|Errno|Traceback", sentence), sentence

        check_each(names, check_name, lambda file: ascii(cut(file, 40)))

    return check


@pytest.mark.parametrize("line", LINES)
def test_what_names_no_file_is_refused_in_one_sentence(
    line: str, check_refused: Callable[[str, list[str]], None]
) -> None:
    check_refused(line, FEW_NAMES[line])


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, marks=[] if line.startswith(LIGHT) else pytest.mark.slow)
        for line in LINES
    ],
)
def test_a_name_that_no_file_can_have_is_refused_in_one_sentence(
    line: str, check_refused: Callable[[str, list[str]], None]
) -> None:
    check_refused(line, NEVER_FILES + (NEVER_READ if line in READING else []))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("line", LINES)
def test_names_with_every_suffix_are_refused_in_one_sentence(
    line: str, check_refused: Callable[[str, list[str]], None]
) -> None:
    check_refused(line, [f"{stem}{suffix}" for stem in STEMS for suffix in SUFFIXES])


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_a_name_that_is_no_text_is_a_name(
    suffix: str, places: Mapping[str, str], run: Run, tmp_path: Path
) -> None:
    if os.fsencode("\udcff") != b"\xff":
        pytest.skip("names of files are text here")
    source = f"{tmp_path}/no\udcfftext{suffix}"
    content = Path(places["TABLE"]).read_bytes()
    if suffix == ".csv.gz":
        import gzip

        content = gzip.compress(content)
    Path(source).write_bytes(content)
    if suffix == ".parquet":
        words = words_of("predict MODEL TABLE -o FILE", places, source)
        assert run(*words, "--no-probabilities").code == 0
    model = f"{tmp_path}/m\udcff.json"
    fitted = run("fit", source, "--target", "disease", "--model", "nb", "-o", model)
    assert fitted.code == 0, fitted.err
    assert "m\\udcff.json" in fitted.err
    target = f"{tmp_path}/out\udcfe{suffix.removesuffix('.gz')}"
    drawn = run("sample", model, "-n", "10", "-o", target)
    assert drawn.code == 0, drawn.err
    assert Path(target).stat().st_size > 0


def test_a_name_of_255_bytes_is_written(
    places: Mapping[str, str], run: Run, tmp_path: Path
) -> None:
    target = tmp_path / f"{'n' * 250}.json"
    assert run(*words_of(WRITING[0], places, str(target))).code == 0
    assert target.stat().st_size > 0


@pytest.mark.parametrize("options", [(), ("--memory", "1GB")])
def test_few_integers_of_19_digits_are_the_same_values_in_every_command(
    run: Run, tmp_path: Path, options: tuple[str, ...]
) -> None:
    path, model, out = (tmp_path / name for name in ("t.csv", "m.json", "o.csv"))
    ids = [1234567890123456789 + 2 * i for i in range(3)]
    rows = "".join(f"{ids[i % 3]},{'ab'[i % 3 == 0]}\n" for i in range(60))
    path.write_text("x,y\n" + rows)
    known = ("--target", "y", "--model", "nb", "-o", model, *options)
    assert run("fit", path, *known).code == 0
    done = run("predict", model, path, "-o", out)
    assert done.err == ""
    labels = [line.split(",")[1:3] for line in out.read_text().splitlines()[1:]]
    assert all(label == predicted for label, predicted in labels)
