"""Streams that are closed or full, signals that are ignored, cells like formulas."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pyarrow.csv as pa_csv
import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.cli import main
from bayleaf.cli.streams import seen
from bayleaf.datasets import load_heart

unix = pytest.mark.skipif(os.name != "posix", reason="needs streams as Unix has them")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The heart table, a model, a network."""
    place = tmp_path_factory.mktemp("streams")
    pa_csv.write_csv(load_heart().frame, place / "t.csv")
    words = ["--target", "disease", "--model", "tan", "-o", str(place / "m.json")]
    assert main(["fit", str(place / "t.csv"), *words]) == 0
    assert main(["convert", str(place / "m.json"), str(place / "n.bif")]) == 0
    return place


COMMANDS = {
    "fit": "fit t.csv --target disease --model nb -o new.json",
    "fit density": "fit t.csv --density -o density.json",
    "predict": "predict m.json t.csv",
    "evaluate": "evaluate t.csv --target disease --model nb --folds 2",
    "compare": "compare t.csv --target disease --models nb,tan --folds 2",
    "inspect": "inspect m.json",
    "explain": "explain m.json t.csv --row 1",
    "explore": "explore m.json -o e.html",
    "query": "query n.bif",
    "sample": "sample n.bif --rows 300",
    "convert": "convert n.bif x.net",
    "report": "report m.json t.csv --folds 2 -o r.html",
    "hierarchy": "hierarchy learn t.csv",
    "help": "--help",
    "version": "--version",
    "nothing": "",
    "an error": "fit nothing.csv --target y",
}


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell in which `bayleaf` is the program."""
    line = command.replace("bayleaf", f"{sys.executable} -m bayleaf", 1)
    return subprocess.run(
        ["/bin/sh", "-c", line], cwd=folder, capture_output=True, text=True, timeout=60
    )


@unix
@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    "redirection",
    [">&-", "<&-", "2>&-", ">&- 2>&- <&-", "| true", "| head -c 5", ">/dev/full"],
)
def test_no_stream_brings_a_traceback(
    words: str, redirection: str, folder: Path
) -> None:
    done = shell(f"bayleaf {words} {redirection}", folder)
    told = done.stdout + done.stderr
    assert "Traceback" not in told, told
    assert "Exception ignored" not in told, told
    assert done.stderr.count("\n") <= 1 or "bayleaf:" in done.stderr, told
    assert done.returncode in {0, 2}, (done.returncode, told)


@unix
@pytest.mark.slow
@pytest.mark.parametrize("kind", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(
    "words", [w for n, w in COMMANDS.items() if n not in {"help", "version", "nothing"}]
)
def test_an_ignored_signal_stays_ignored(words: str, kind, folder: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "bayleaf", *words.split()],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(kind, signal.SIG_IGN),
    )
    while program.poll() is None:
        program.send_signal(kind)
        time.sleep(0.02)
    assert program.returncode == (2 if "nothing.csv" in words else 0)
    program.communicate()


@pytest.fixture
def formulas(tmp_path: Path) -> Path:
    """A model whose classes and states look like formulas or numbers."""
    labels = ["=HYPERLINK(1)", "-5", "+1e3", "@x", "-a", "plain"] * 4
    X = pd.DataFrame({"=a": labels, "b": [*"uv"] * 12})
    NaiveBayesClassifier().fit(X, labels).save(tmp_path / "m.json")
    X.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path


GUARDED = {"'=HYPERLINK(1)", "-5", "+1e3", "'@x", "'-a", "plain"}


def test_labels_like_formulas_are_guarded_in_csv(formulas: Path) -> None:
    model, table = str(formulas / "m.json"), str(formulas / "t.csv")
    plain = {label.lstrip("'") for label in GUARDED}
    for options, wanted in ([], GUARDED), (["--no-safe-csv"], plain):
        out = formulas / "out.csv"
        assert main(["predict", model, table, "-o", str(out), *options]) == 0
        found = pd.read_csv(out, dtype=str)
        assert set(found["prediction"]) == wanted
        # What the table itself holds is as it was.
        assert set(found["=a"]) == plain
        assert main(["sample", model, "-o", str(out), "-n", "400", *options]) == 0
        found = pd.read_csv(out, dtype=str)
        assert found.columns[0] == ("=a" if options else "'=a")
        assert set(found.iloc[:, 0]) == wanted
    parquet = formulas / "out.parquet"
    assert main(["predict", model, table, "-o", str(parquet)]) == 0
    assert "=HYPERLINK(1)" in set(pd.read_parquet(parquet)["prediction"])


def test_only_what_moves_a_cursor_is_escaped() -> None:
    for text in ("naïve", "日本\t語\n", "5\u00a0000", "می\u200cخواهم", "👩\u200d🔬"):
        assert seen(text) == text
    assert seen("a\x1b[1mb\r\x07\u202e\x9b\ud800") == (
        r"a\x1b[1mb\r\x07\u202e\x9b\ud800"
    )
