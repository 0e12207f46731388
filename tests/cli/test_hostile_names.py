"""No name acts on the terminal, whichever command prints it."""

from __future__ import annotations

import json
import os
import random
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from bayleaf.cli import main
from offenders import check_each

# What a terminal obeys: controls, escape sequences, marks that turn text around.
ACTS = [
    "\x1b]0;title\x07",
    "\x1b[2J\x1b[5;7m",
    "\r\x08\x7f",
    "\x9b31m\x85\x90",
    "\u202e\u2066\u2069\u200f",
    "\u061c\u200e\u202a",
    "\u2028\u2029\x0b\x0c",
    "[/b][link=x]:smile:\x00",
]
# A line that begins so was broken by a name.
BROKEN = "INJECTED"
# Colours, and what wipes the line of progress and hides its cursor on a slow machine.
STYLES = re.compile("\r?\x1b\\[([0-9;]*m|\\?25[hl]|[0-9]*[AK])")
UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
WIDE = "\x1b[5;7m"


def hostile(word: str, number: int) -> str:
    """A name with something that acts and a line end inside."""
    return f"{word}{ACTS[number % len(ACTS)]}\n{BROKEN} {number}."


class Seen(NamedTuple):
    """What a command wrote, to both streams."""

    code: int
    text: str


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Seen]:
    """Run a command whose streams are a terminal, or a pipe."""

    # Windows has no terminals of this kind.
    pty, tty = pytest.importorskip("pty"), pytest.importorskip("tty")

    def call(words: list[str], *, terminal: bool = True) -> Seen:
        reading, writing = pty.openpty() if terminal else os.pipe()
        if terminal:
            # Line ends arrive as they were written.
            tty.setraw(writing)
        parts: list[bytes] = []
        reader = threading.Thread(target=lambda: parts.extend(_parts(reading)))
        reader.start()
        with (
            open(writing, "w", encoding="utf-8", newline="") as stream,
            monkeypatch.context() as patch,
        ):
            patch.setattr(sys, "stdout", stream)
            patch.setattr(sys, "stderr", stream)
            code = main(words)
        reader.join()
        os.close(reading)
        return Seen(code, b"".join(parts).decode("utf-8"))

    return call


def _parts(reading: int) -> Iterator[bytes]:
    """All that is written until the other end is closed."""
    while True:
        try:
            part = os.read(reading, 1 << 16)
        except OSError:
            # So a terminal says that nobody writes to it any more.
            return
        if not part:
            return
        yield part


class Files(NamedTuple):
    """Where files with hostile names and contents lie."""

    table: str
    classes: list[str]
    columns: list[str]
    models: dict[str, str]
    folder: Path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """A table and models of several kinds, all of whose names act."""
    folder = tmp_path_factory.mktemp("hostile")
    table = folder / "t\x1b[2J\u202e\nINJECTED.parquet"
    rng = random.Random(0)
    columns = [hostile(f"column{i}", i) for i in range(8)]
    classes = [hostile(f"class{i}", i) for i in range(2)]
    labels = [rng.randrange(2) for _ in range(160)]
    cells = {
        name: [
            hostile("state", 3 * i + (label if rng.random() < 0.8 else 2))
            for label in labels
        ]
        for i, name in enumerate(columns[:-1])
    }
    target = {columns[-1]: [classes[label] for label in labels]}
    numbers = {hostile("number", 3): [label + rng.random() for label in labels]}
    pa_parquet.write_table(pa.table(cells | numbers | target), table)
    models = {}
    quickly = {
        "auto": ["--n-networks", "2"],
        "mixture": ["--n-mixtures", "1", "--n-passes", "2"],
        "latent_class": ["--n-components", "2", "--n-restarts", "1"],
        "network": ["--n-restarts", "1"],
    }
    for model in ("nb", "tan", "auto", "hnb", "mixture", "latent_class", "network"):
        path = str(folder / f"{model}\x1b[2J.json")
        words = ["fit", str(table), "--target", columns[-1], "--model", model]
        assert main([*words, *quickly.get(model, []), "-o", path]) == 0
        models[model] = path
    models["density"] = str(folder / "density\x9b.json")
    words = ["fit", str(table), "--density", "--local-structure", "tree"]
    assert main([*words, "-o", models["density"]]) == 0
    for kind in ("json", "bif", "net", "xdsl", "xml"):
        converted = str(folder / f"network\u202e\x07.{kind}")
        assert main(["convert", models["network"], converted]) == 0
        models[kind] = converted
    models["hierarchy"] = str(folder / "h\x1b[2J.json")
    words = ["hierarchy", "learn", str(table), "--drop", *numbers]
    assert main([*words, "-o", models["hierarchy"]]) == 0
    return Files(str(table), classes, columns, models, folder)


def printing(files: Files) -> dict[str, list[str]]:
    """Command lines that print names, by what tells them apart."""
    table, classes, columns, models, folder = files
    target = ["--target", columns[-1]]
    given = ["--given", f"{columns[0]}={hostile('state', 0)}"]
    out = str(folder / "out\x1b[2J.json")
    few = ["--folds", "2", "--model", "nb"]
    found = {
        "fit": ["fit", table, *target, "--model", "tan", "-o", out],
        "fit json": ["fit", table, *target, "--model", "nb", "-o", out, "--json"],
        "density": ["fit", table, "--density", "-o", out],
        "predict": ["predict", models["nb"], table],
        "sample": ["sample", models["network"], "-n", "5", *given],
        "evaluate": ["evaluate", table, *target, *few, "--positive", classes[1]],
        "evaluate json": ["evaluate", table, *target, *few, "--json"],
        "compare": ["compare", table, *target, "--models", "nb,tan", "--folds", "2"],
        "query": ["query", models["network"], *given],
        "query json": ["query", models["network"], *given, "--json"],
        "query bif": ["query", models["bif"]],
        "most probable": ["query", models["net"], "--most-probable"],
        "information": ["query", models["network"], "--information", *target],
        "hierarchy learn": ["hierarchy", "learn", table],
        "hierarchy check": ["hierarchy", "check", models["hierarchy"], table],
        "inspect hierarchy": [
            *("fit", table, "--density", "--local-structure", "tree"),
            *("--hierarchies", models["hierarchy"], "--abstraction", "given"),
            *("-o", str(folder / "given.json")),
        ],
        "explore": ["explore", models["nb"], "-o", str(folder / "e\x1b[2J.html")],
        "report": [
            *("report", models["nb"], table, "-o", str(folder / "r\x1b[2J.html")),
            *("--folds", "2"),
        ],
        "report json": ["report", models["nb"], table, "--folds", "2", "--json"],
    }
    for name in ("nb", "tan", "auto", "hnb", "mixture", "latent_class", "network"):
        found[f"inspect {name}"] = ["inspect", models[name]]
        found[f"structure {name}"] = ["inspect", models[name], "--structure", "text"]
        found[f"dot {name}"] = ["inspect", models[name], "--structure", "dot"]
        found[f"json {name}"] = ["inspect", models[name], "--json"]
        found[f"explain {name}"] = ["explain", models[name], table, "--line", "3"]
    for name in ("nb", "tan", "network", "density"):
        found[f"table {name}"] = ["inspect", models[name], "--table", columns[1]]
    more = ["--intervals", "--robustness", "--counterfactuals", "2"]
    return found | {
        "importance": ["inspect", models["nb"], "--importance", table],
        "shape": ["inspect", models["auto"], "--shape", columns[1]],
        "rules": ["inspect", models["hnb"], "--rules"],
        "inspect density": ["inspect", models["density"]],
        "arcs density": ["inspect", models["density"], "--structure", "text"],
        "all of explain": ["explain", models["tan"], table, *more],
        "explain json": ["explain", models["tan"], table, "--json"],
        "no target": ["fit", table, "--target", hostile("no", 1), "-o", out],
        "no column": ["fit", table, *target, "--drop", hostile("no", 2), "-o", out],
        "no file": ["inspect", str(folder / hostile("no", 1))],
        "no folder": ["fit", table, *target, "-o", hostile("no", 1) + "/m.json"],
        "no variable": ["query", models["network"], "--target", hostile("no", 0)],
        "no state": ["query", models["bif"], "--given", f"{columns[0]}={WIDE}"],
        "no class": ["explain", models["nb"], table, "--against", hostile("no", 4)],
        "no feature": ["inspect", models["nb"], "--table", hostile("no", 4)],
        "no command": [hostile("no", 1)],
        "no option": ["fit", table, "--" + hostile("no", 5)],
        "no number": ["sample", models["network"], "-n", hostile("no", 1)],
    }


TABLES = {"predict", "sample"}


def groups() -> dict[str, list[str]]:
    """Names of the command lines above, by what they show."""
    # The same words with nothing in them.
    lines = printing(Files("", [""] * 2, [""] * 8, defaultdict(str), Path()))
    found: dict[str, list[str]] = {}
    for name, (command, *_) in sorted(lines.items()):
        kind, *_ = name.split()
        is_kind = command == "inspect" or kind in {"no", "all"}
        found.setdefault(kind if is_kind else command, []).append(name)
    return found


GROUPS = groups()


def check_shown(seen: Seen, *, as_cells: bool = False) -> None:
    """Check that nothing acts and no line is broken, unless it is one of a CSV cell."""
    assert WIDE not in seen.text
    plain = STYLES.sub("", seen.text)
    found = UNSEEN.search(plain)
    assert found is None, plain[max(0, found.start() - 60) : found.end() + 20]
    broken = [] if as_cells else re.findall(f"^ *{BROKEN}.*", plain, re.MULTILINE)
    assert not broken, plain


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("group", GROUPS)
def test_on_a_terminal_no_name_acts(
    group: str, files: Files, watched: Callable[..., Seen]
) -> None:
    def check(name: str) -> None:
        seen = watched(printing(files)[name])
        assert seen.text.strip()
        assert seen.code == (2 if name.startswith("no ") else 0), seen.text
        check_shown(seen, as_cells=name in TABLES)

    check_each(GROUPS[group], check)


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("group", [group for group in GROUPS if group not in TABLES])
def test_in_a_pipe_no_name_acts(
    group: str, files: Files, watched: Callable[..., Seen]
) -> None:
    def check(name: str) -> None:
        seen = watched(printing(files)[name], terminal=False)
        assert not STYLES.search(seen.text)
        check_shown(seen)

    check_each(GROUPS[group], check)


@pytest.mark.parametrize("name", ["compare", "evaluate", "table tan", "no column"])
def test_without_colours_nothing_but_text_is_written(
    name: str,
    files: Files,
    watched: Callable[..., Seen],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    seen = watched(printing(files)[name])
    check_shown(seen)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_in_a_pipe_cells_are_as_they_are(
    name: str, files: Files, watched: Callable[..., Seen]
) -> None:
    seen = watched(printing(files)[name], terminal=False)
    assert files.columns[1] in seen.text


def test_json_means_what_the_names_are(
    files: Files, watched: Callable[..., Seen]
) -> None:
    seen = watched(printing(files)["query json"])
    assert set(json.loads(seen.text)["posteriors"]) > set(files.columns[1:])


LONG_NAMES = ("x" * 10_000, "two words " * 1000, "\udcff" * 99, "\n\x1b" * 5000)


def calls_with(name: str, files: Files) -> list[list[str]]:
    """Command lines that cannot use a name, each in another place."""
    table, model, network = files.table, files.models["nb"], files.models["network"]
    target = ["--target", files.columns[-1], "-o", str(files.folder / "m.json")]
    return [
        [name],
        ["fit", table, "--target", name, "-o", target[-1]],
        ["fit", table, *target, "--drop", name],
        ["fit", table, *target, "--weight", name],
        ["fit", table, *target, "--model", name],
        ["fit", table, *target, "--smoothing", name],
        ["fit", table, *target, "--seed", name],
        ["fit", table, *target, "--architecture", name, "--model", "mixture"],
        ["fit", table, *target, "--categorical", name],
        ["fit", table, *target, f"--{name}"],
        ["predict", name, table],
        ["predict", model, name],
        ["explain", model, table, "--against", name],
        ["explain", model, table, "--line", name],
        ["explain", model, table, "--immutable", name, "--counterfactuals", "1"],
        ["explain", model, table, "--counterfactuals", "1", "--cost", f"{name}=2"],
        ["query", network, "--given", name],
        ["query", network, "--given", f"{name}=a"],
        ["query", network, "--given", f"{files.columns[0]}={name}"],
        ["query", network, "--likelihood", f"{files.columns[0]}={name}:1"],
        ["query", network, "--target", name],
        ["inspect", model, "--table", name],
        ["inspect", files.models["auto"], "--shape", name],
        ["inspect", network, "--hierarchy", name],
        ["compare", table, *target[:2], "--models", name],
        ["compare", table, *target[:2], "--baseline", name, "--models", "nb,tan"],
        ["evaluate", table, *target[:2], "--positive", name, "--model", "nb"],
        ["sample", network, "-n", name],
        ["report", model, table, "--target", name],
        ["reproduce", name],
        ["hierarchy", name],
        ["hierarchy", "learn", table, "--column", name],
    ]


def check_short(done: Any) -> None:
    """Check that a command was refused in one short sentence."""
    assert (done.code, done.out) == (2, "")
    assert len(done.err) < 520, done.err
    assert done.err.count("\n") == 1, done.err
    assert not UNSEEN.search(done.err.removesuffix("\n"))


@pytest.mark.parametrize("start", range(4))
def test_errors_are_short_however_long_a_name_is(
    start: int, files: Files, run: Callable[..., Any]
) -> None:
    # Each place of a name is tried with one of the names.
    calls = [
        calls_with(LONG_NAMES[place % 4], files)[place]
        for place in range(start * 8, start * 8 + 8)
    ]
    check_each(
        calls, lambda words: check_short(run(*words)), lambda words: str(words[:2])[:99]
    )


def test_eight_calls_by_four_are_all_that_cannot_use_a_name(files: Files) -> None:
    assert len(calls_with("", files)) == 32


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", LONG_NAMES)
def test_errors_on_any_long_name_in_any_place_are_short(
    name: str, files: Files, run: Callable[..., Any]
) -> None:
    check_each(
        calls_with(name, files),
        lambda words: check_short(run(*words)),
        lambda words: str(words[:2])[:99],
    )
