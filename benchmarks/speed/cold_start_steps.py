"""What one fresh process measures of itself, for `cold_start.py`.

    python benchmarks/speed/cold_start_steps.py classifier NAME TABLE
    python benchmarks/speed/cold_start_steps.py command WORD ...
    python benchmarks/speed/cold_start_steps.py code TEXT

prints JSON: by step, its seconds for the first time and again. A classifier's second
round has a model of its own, so that nothing but the process is warm.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PREDICTED_ROWS = 1000


class Stopwatch:
    """Seconds of each step, one item a round."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    def time(self, step: str, action: Callable[[], Any]) -> Any:
        """Do a step and write down how long it takes."""
        start = time.perf_counter()
        done = action()
        self.seconds.setdefault(step, []).append(time.perf_counter() - start)
        return done


def load_table(name: str) -> tuple[Any, Any]:
    """Features as an Arrow table, and labels."""
    if name == "heart":
        from bayleaf.datasets import load_heart

        return load_heart(return_X_y=True)
    import pyarrow.csv as pa_csv

    path = Path(os.environ["BAYLEAF_DATA"]) / "small" / f"{name}.csv"
    options = pa_csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
    table = pa_csv.read_csv(path, convert_options=options)
    return table.drop_columns(["class"]), table["class"].to_pylist()


def import_classifier(name: str) -> Any:
    """The class of a classifier."""
    from bayleaf.classifiers import CLASSIFIERS

    return CLASSIFIERS[name]


def time_classifier(watch: Stopwatch, name: str, table: str) -> None:
    """Import a classifier; then do its steps twice."""
    Classifier = watch.time("import", lambda: import_classifier(name))
    X, y = load_table(table)
    first_row = {X.column_names[0]: X.column(0)[0].as_py()}
    for _ in range(2):
        model = Classifier()
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        steps = {
            "fit": lambda model=model: model.fit(X, y),
            "predict": lambda model=model: model.predict_proba(X[:PREDICTED_ROWS]),
            "explain": lambda model=model: model.explain(X[:1]),
            "query": lambda model=model: model.network_.query(first_row),
        }
        for step, action in steps.items():
            # Averages of networks and gated experts are no single network.
            if step != "query" or hasattr(model, "network_"):
                watch.time(step, action)


def run_command(words: list[str]) -> None:
    """Run a command of the command line."""
    from bayleaf.cli import main

    if main(words) != 0:
        raise RuntimeError(f"bayleaf {' '.join(words)} failed")


def run_code(words: list[str]) -> None:
    """Run a program's text."""
    exec(" ".join(words), {"__name__": "__main__"})


def main() -> None:
    """Measure, and print the seconds."""
    watch = Stopwatch()
    kind, *words = sys.argv[1:]
    with contextlib.redirect_stdout(io.StringIO()):
        if kind == "classifier":
            time_classifier(watch, *words)
        else:
            action = run_command if kind == "command" else run_code
            for _ in range(2):
                watch.time("all", lambda: action(words))
    print(json.dumps(watch.seconds))


if __name__ == "__main__":
    main()
