"""Fit every classifier, and compare what they predict on two machines.

    python tools/platforms/fitted_models.py fit FILE
    python tools/platforms/fitted_models.py compare FILE OTHER

Tables: heart, mushroom, and 2 000 rows of adult. Machines must agree on every class,
and on probabilities to 1e-12.
"""

from __future__ import annotations

import platform
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from bayleaf.classifiers import CLASSIFIERS
from bayleaf.datasets import load_heart, load_mushroom

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests")]
from contract.variants import VARIANTS  # noqa: E402

TOLERANCE = 1e-12


def _tables() -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    """Features and classes of each table."""
    found = {}
    for name, load in {"heart": load_heart, "mushroom": load_mushroom}.items():
        X, y = load(return_X_y=True)
        found[name] = X.to_pandas(), np.asarray(y)
    adult = pd.read_csv(ROOT / "examples" / "adult_sample.csv.gz", nrows=2_000)
    found["adult"] = adult.drop(columns="income"), adult["income"].to_numpy()
    return found


def fit(path: Path) -> None:
    """Save the probabilities that every classifier gives to the rows of every table."""
    found = {}
    for table, (X, y) in _tables().items():
        for name, kind in {**CLASSIFIERS, **VARIANTS}.items():
            start = time.perf_counter()
            model = kind(random_state=0).fit(X, y)
            found[f"{table} {name}"] = model.predict_proba(X)
            print(f"{table} {name}: {time.perf_counter() - start:.1f} s", flush=True)
    np.savez_compressed(path, **found)
    print(f"fitted on {platform.machine()}, {platform.system()}")


def compare(path: Path, other: Path) -> int:
    """Print the largest difference of each classifier; 1 if one is too large."""
    a, b = np.load(path), np.load(other)
    if set(a) != set(b):
        print(f"only one file has {', '.join(sorted(set(a) ^ set(b)))}")
        return 1
    is_wrong = False
    for key in a:
        apart = float(np.abs(a[key] - b[key]).max())
        n_other = int((a[key].argmax(axis=1) != b[key].argmax(axis=1)).sum())
        n_cells = int((a[key] != b[key]).sum())
        bad = not apart <= TOLERANCE or n_other > 0
        is_wrong |= bad
        print(
            f"{key:<28} {n_cells:>6} of {a[key].size:>6} cells differ, by at most "
            f"{apart:.1e}; {n_other} other classes{'  WRONG' if bad else ''}"
        )
    return int(is_wrong)


if __name__ == "__main__":
    if sys.argv[1] == "fit":
        fit(Path(sys.argv[2]))
    else:
        sys.exit(compare(Path(sys.argv[2]), Path(sys.argv[3])))
