"""Programs killed while they write: the older file stays, or the new one is whole.

    python tests/cli/kill_program.py 500

kills so many, over all commands that write, at times spread over their work. Each is a
fork of a process that has imported everything, so that the time goes into the work.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

# Files of equal fits are equal but for the date of the fit.
os.environ.setdefault("SOURCE_DATE_EPOCH", "1767225600")

from bayleaf import load
from bayleaf.cli import main
from bayleaf.datasets import load_heart
from bayleaf.io import read_network
from bayleaf.io.native import archive


def whole_page(path: Path) -> None:
    """A page has an end."""
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def whole_csv(path: Path) -> None:
    """All rows, with all cells."""
    assert pa_csv.read_csv(path).num_rows in {270, 500}


def whole_parquet(path: Path) -> None:
    """All rows."""
    assert pa_parquet.read_table(path).num_rows == 270


def prepared(
    folder: Path,
) -> dict[str, tuple[list[str], Path, Callable[[Path], object]]]:
    """By name: a command's words, the file that it writes, and how that is read."""
    table, model, net = (str(folder / n) for n in ("heart.csv", "m.json", "net.bif"))
    pa_csv.write_csv(load_heart().frame, table)
    fit = ["fit", table, "--target", "disease"]
    assert main([*fit, "--model", "tan", "-o", model]) == 0
    assert main(["convert", model, net]) == 0
    out = {
        kind: folder / f"out.{kind}"
        for kind in (
            "json",
            "large.json",
            "small.json",
            "density.json",
            "html",
            "page.html",
            "csv",
            "parquet",
            "bif",
            "net",
            "xdsl",
            "xml",
            "dot",
            "pmml",
            "rows.csv",
            "trees.json",
        )
    }
    found = {
        "fit": ([*fit, "--model", "kdb"], out["json"], load),
        "fit, an archive": ([*fit, "--model", "auto"], out["large.json"], load),
        "fit, naive Bayes": ([*fit, "--model", "nb"], out["small.json"], load),
        "fit, density": (["fit", table, "--density"], out["density.json"], load),
        "report": (["report", model, table, "--folds", "2"], out["html"], whole_page),
        "explore": (["explore", model], out["page.html"], whole_page),
        "predict": (["predict", model, table], out["csv"], whole_csv),
        "predict, Parquet": (["predict", model, table], out["parquet"], whole_parquet),
        "sample": (["sample", net, "--rows", "500"], out["rows.csv"], whole_csv),
    }
    for kind in ("bif", "net", "xdsl", "xml"):
        found[f"convert, {kind}"] = (["convert", net], out[kind], read_network)
    cases = {}
    for name, (words, path, read) in found.items():
        option = [] if words[0] == "convert" else ["-o"]
        cases[name] = [*words, *option, str(path)], path, read
    return cases


def run_forked(words: list[str], large: bool, kill_after: float | None) -> float | None:
    """Seconds that a command took in a process of its own; None if it was killed."""
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            if large:
                archive.MAX_INLINE = 100
            main(words)
        os._exit(0)
    if kill_after is not None:
        time.sleep(kill_after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return None if os.WIFSIGNALED(status) else time.perf_counter() - start


def restore(before: Path, path: Path) -> None:
    """Put the files of an older run in the place of those of this one."""
    for file in before.iterdir():
        shutil.copy2(file, path.parent / file.name)


def attack(n_kills: int, seed: int = 0) -> Counter[str]:
    """Kill commands at random times; how often each case came about."""
    rng, counted = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = prepared(folder)
        for number in range(n_kills):
            case = [*cases][number % len(cases)]
            words, path, read = cases[case]
            large, before = "archive" in case, folder / f"before {case}"
            if not before.exists():
                before.mkdir()
                run_forked(words, large, None)
                shutil.copy2(path, before / path.name)
            restore(before, path)
            old = path.read_bytes()
            seconds = run_forked(words, large, None)
            assert seconds is not None
            new = path.read_bytes()
            restore(before, path)
            ended = run_forked(words, large, rng.uniform(0.0, 1.1) * seconds)
            counted["killed" if ended is None else "ended"] += 1
            read(path)
            found = path.read_bytes()
            assert found in (old, new), case
            if old != new:
                counted["new" if found == new else "old"] += 1
    return counted


if __name__ == "__main__":
    print(dict(attack(int(sys.argv[1]))))
