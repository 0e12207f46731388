"""What a new process waits for: first calls beside later ones, and whole programs.

    python benchmarks/speed/cold_start.py [--repeats 5] [--classifiers nb ...]
        [--tables heart adult] [--json FILE]

prints Markdown tables. Each figure comes from fresh processes; a classifier's are done
with its steps once and then do them again with a new model, which gives the warm times.
Times are least over the processes; one more process, which does not count, goes first
and leaves byte code behind, as an installation does. A row that has taken a minute is
not repeated. Adult is read from the folder that the environment variable BAYLEAF_DATA
names and left out without it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from machine import describe_processor, markdown_table

ROOT = Path(__file__).parents[2]
STEPS = ("fit", "predict", "explain", "query")
PREDICTED_ROWS = 1000
PATIENCE_SECONDS = 60.0
# What every program that fits pays for before a line of ours.
PEERS = {
    "Python, doing nothing": "pass",
    "`import numpy`": "import numpy",
    "`import sklearn.base`": "import sklearn.base",
    "`import bayleaf`": "import bayleaf",
    "`from bayleaf import KDBClassifier`": "from bayleaf import KDBClassifier",
}


# ---- processes


def run_fresh(words: Sequence[str]) -> tuple[float, str]:
    """Run Python in a process of its own; its seconds and what it printed."""
    environment = {
        key: value
        for key, value in os.environ.items()
        # Without byte code every process would compile all that it imports.
        if key != "PYTHONDONTWRITEBYTECODE"
    }
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, env=environment
    )
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr}")
    return seconds, done.stdout


def measure_steps(*words: str) -> dict[str, list[float]]:
    """What a fresh process measures of itself: seconds by step, first and again."""
    script = str(Path(__file__).with_name("cold_start_steps.py"))
    found: dict[str, list[float]] = json.loads(run_fresh([script, *words])[1])
    return found


def repeated(measure: Callable[[], Any], repeats: int) -> list[Any]:
    """Results of several calls; fewer if they take long."""
    end = time.perf_counter() + PATIENCE_SECONDS
    results = [measure()]
    while len(results) < repeats and time.perf_counter() < end:
        results.append(measure())
    return results


# ---- classifiers


def classifier_rows(
    names: Sequence[str], table: str, repeats: int
) -> Iterator[dict[str, Any]]:
    """Seconds of a classifier's steps on a table, over the processes."""
    for name in names:
        words = ("classifier", name, table)
        runs = repeated(lambda words=words: measure_steps(*words), repeats)
        yield {
            "classifier": name,
            "table": table,
            "import": [run["import"][0] for run in runs],
            **{step: [run[step] for run in runs] for step in STEPS if step in runs[0]},
        }


def classifier_line(row: dict[str, Any]) -> list[str]:
    """A line of the table: first and warm times, and most that lies between them."""
    cells = []
    least, middle = [], []
    for step in STEPS:
        if step not in row:
            cells.append("-")
            continue
        first, warm = zip(*row[step], strict=True)
        cells.append(f"{min(first):.3f} / {min(warm):.3f}")
        least.append(min(first) - min(warm))
        middle.append(median(one - other for one, other in row[step]))
    worst = f"{max(least):.3f} ({max(middle):.3f})"
    return [row["classifier"], f"{min(row['import']):.2f}", *cells, worst]


# ---- whole processes


def programs(folder: Path) -> dict[str, tuple[list[str], list[str]]]:
    """By what is shown: Python's words, and those for `cold_start_steps.py`."""
    table, rows, model = (str(folder / n) for n in ("heart.csv", "rows.csv", "m.json"))
    commands = {
        "`bayleaf --version`": ["--version"],
        "`bayleaf fit`, TAN on heart": [
            *("fit", table, "--target", "disease", "--model", "tan", "-o", model),
        ],
        f"`bayleaf predict`, {PREDICTED_ROWS} rows": [
            *("predict", model, rows, "-o", str(folder / "out.csv")),
        ],
        "`bayleaf inspect`": ["inspect", model],
        "`bayleaf explain`, one row": ["explain", model, table, "--row", "1"],
        "`bayleaf query`": ["query", model],
    }
    texts = {**PEERS, "the first example of README.md": first_example()}
    return {
        **{what: (["-c", text], ["code", text]) for what, text in texts.items()},
        **{
            what: (["-m", "bayleaf", *words], ["command", *words])
            for what, words in commands.items()
        },
    }


def first_example() -> str:
    """The first block of Python in README.md."""
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert found is not None
    return found[1]


def write_tables(folder: Path) -> None:
    """The heart table as a CSV file, and as one of more rows without the class."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    from bayleaf.datasets import load_heart

    table = load_heart()
    pa_csv.write_csv(table.frame, folder / "heart.csv")
    many = pa.concat_tables([table.X] * (PREDICTED_ROWS // len(table.y) + 1))
    pa_csv.write_csv(many[:PREDICTED_ROWS], folder / "rows.csv")


def program_rows(repeats: int) -> Iterator[dict[str, Any]]:
    """Seconds of whole programs, and of the same once more in one process."""
    with tempfile.TemporaryDirectory() as name:
        write_tables(Path(name))
        for what, (words, again) in programs(Path(name)).items():
            run_fresh(words)
            runs = repeated(lambda words=words: run_fresh(words)[0], repeats)
            warm = repeated(lambda again=again: measure_steps(*again), repeats)
            yield {
                "program": what,
                "seconds": runs,
                "again": [run["all"][1] for run in warm],
            }


def program_line(row: dict[str, Any]) -> list[str]:
    """A line of the table."""
    seconds = row["seconds"]
    figures = (min(seconds), median(seconds), min(row["again"]))
    return [row["program"], *(f"{figure:.3f}" for figure in figures)]


def main() -> None:
    """Print the tables."""
    from bayleaf.classifiers import CLASSIFIERS

    tables = ["heart", "adult"] if os.environ.get("BAYLEAF_DATA") else ["heart"]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--classifiers", nargs="*", default=[*CLASSIFIERS])
    parser.add_argument("--tables", nargs="*", choices=tables, default=tables)
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    arguments = parser.parse_args()
    print(f"{describe_processor()}; Python {platform.python_version()}\n", flush=True)
    rows = list(program_rows(arguments.repeats))
    heading = ["program", "s", "median", "again in one process"]
    print(markdown_table(heading, [program_line(row) for row in rows]), flush=True)
    heading = ["first / warm, s", "import", *STEPS, "most above warm (median)"]
    for table in arguments.tables:
        measure_steps("classifier", "nb", table)
        found = list(classifier_rows(arguments.classifiers, table, arguments.repeats))
        rows += found
        lines = [classifier_line(row) for row in found]
        print(f"\n{table}\n\n{markdown_table(heading, lines)}", flush=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
