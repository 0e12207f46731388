"""Fit, predict and peak memory beside other libraries, same data, same run.

    python benchmarks/speed/classifiers.py [--rows 1000000] [--repeats 3] [--peers]

prints Markdown tables. Every time is the least of the repeats, after one warm-up call
on a part of the rows. Networks of pgmpy and pyAgrum are learned on fewer rows, as their
row says, because they take minutes on all.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from machine import best_time, describe_processor, markdown_table

N_FEATURES, N_STATES, N_CLASSES = 20, 4, 2
WORDS = np.array(["black", "blue", "green", "red"], dtype=object)
PEER_ROWS = 20_000

MEMORY_SCRIPT = """
import sys
import numpy as np
import bayleaf

def kibibytes(field):
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])

X, y = np.load(sys.argv[1]), np.load(sys.argv[2])
model = getattr(bayleaf, sys.argv[3])()
model.fit(X[:300], y[:300]).predict_proba(X[:300])
resident = kibibytes("VmRSS")
model.fit(X, y)
model.predict_proba(X)
print((kibibytes("VmHWM") - resident) / 1024)
"""


def make_table(n_rows: int, seed: int = 0) -> tuple[Any, Any]:
    """A class and features that depend on it and on their left neighbour."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, N_CLASSES, n_rows)
    X = rng.integers(0, N_STATES, (n_rows, N_FEATURES))
    for j in range(N_FEATURES):
        tied = rng.random(n_rows) < 0.3
        X[tied, j] = (y[tied] + (X[tied, j - 1] if j else 0)) % N_STATES
    return X, y


def naive_bayes_rows(X: Any, y: Any, repeats: int) -> list[list[str]]:
    """Naive Bayes and TAN on integers, beside CategoricalNB."""
    from sklearn.naive_bayes import CategoricalNB

    from bayleaf import NaiveBayesClassifier, TANClassifier

    peer, ours, tree = CategoricalNB(), NaiveBayesClassifier(), TANClassifier()
    warm = slice(0, len(X) // 4)
    for model in (peer, ours, tree):
        model.fit(X[warm], y[warm]).predict_proba(X[warm])
    peer_fit = best_time(lambda: peer.fit(X, y), repeats)
    our_fit = best_time(lambda: ours.fit(X, y), repeats)
    tree_fit = best_time(lambda: tree.fit(X, y), repeats)
    peer_predict = best_time(lambda: peer.predict_proba(X), repeats)
    our_predict = best_time(lambda: ours.predict_proba(X), repeats)
    tree_predict = best_time(lambda: tree.predict_proba(X), repeats)
    return [
        [
            "naive Bayes fit",
            f"{our_fit:.3f}",
            f"{peer_fit:.3f}",
            ratio(peer_fit, our_fit),
        ],
        [
            "naive Bayes predict_proba",
            f"{our_predict:.3f}",
            f"{peer_predict:.3f}",
            ratio(peer_predict, our_predict),
        ],
        ["TAN fit", f"{tree_fit:.3f}", "-", "-"],
        ["TAN predict_proba", f"{tree_predict:.3f}", "-", "-"],
    ]


def text_row(X: Any, y: Any, repeats: int) -> list[str]:
    """Naive Bayes from a pandas frame of text, beside scikit-learn's two steps."""
    import pandas as pd
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    from bayleaf import NaiveBayesClassifier

    frame = pd.DataFrame({f"c{j}": WORDS[X[:, j]] for j in range(X.shape[1])})
    peer = make_pipeline(OrdinalEncoder(), CategoricalNB())
    ours = NaiveBayesClassifier()
    ours.fit(frame[: len(X) // 4], y[: len(X) // 4])
    our_fit = best_time(lambda: ours.fit(frame, y), repeats)
    peer_fit = best_time(lambda: peer.fit(frame, y), max(1, repeats - 1))
    return [
        "naive Bayes fit from text (pandas)",
        f"{our_fit:.3f}",
        f"{peer_fit:.3f}",
        ratio(peer_fit, our_fit),
    ]


def network_rows(X: Any, y: Any) -> list[list[str]]:
    """TAN beside pgmpy's and pyAgrum's, on few rows, where they are installed."""
    import pandas as pd

    from bayleaf import TANClassifier

    frame = pd.DataFrame(X[:PEER_ROWS], columns=[f"c{j}" for j in range(X.shape[1])])
    labels = pd.Series(y[:PEER_ROWS], name="target")
    ours = best_time(lambda: TANClassifier().fit(frame, labels), 3)
    rows = []
    for name, learn in (("pgmpy", _pgmpy_tan), ("pyagrum", _pyagrum_tan)):
        if importlib.util.find_spec(name) is None:
            rows.append(
                [
                    f"TAN fit, {PEER_ROWS} rows, {name}",
                    f"{ours:.3f}",
                    "not installed",
                    "-",
                ]
            )
            continue
        seconds = best_time(lambda learn=learn: learn(frame, labels), 1)
        rows.append(
            [
                f"TAN fit, {PEER_ROWS} rows, {name}",
                f"{ours:.3f}",
                f"{seconds:.3f}",
                ratio(seconds, ours),
            ]
        )
    return rows


def _pgmpy_tan(frame: Any, labels: Any) -> None:
    """Structure and parameters of a TAN by pgmpy."""
    from pgmpy.estimators import TreeSearch
    from pgmpy.models import DiscreteBayesianNetwork

    table = frame.assign(target=labels)
    dag = TreeSearch(table, root_node=frame.columns[0]).estimate(
        estimator_type="tan", class_node="target", show_progress=False
    )
    DiscreteBayesianNetwork(dag.edges()).fit(table)


def _pyagrum_tan(frame: Any, labels: Any) -> None:
    """A TAN classifier by pyAgrum."""
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
    from pyagrum.skbn import BNClassifier

    processor = DiscreteTypeProcessor()
    BNClassifier(type_processor=processor, learningMethod="TAN").fit(frame, labels)


def peak_memory(X: Any, y: Any, model: str) -> float:
    """Resident memory at its peak above that after loading the input, in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("X.npy", "y.npy")]
        np.save(paths[0], X)
        np.save(paths[1], y)
        command = [sys.executable, "-c", MEMORY_SCRIPT, *paths, model]
        result = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(result.stdout)


def ratio(peer: float, ours: float) -> str:
    """How many times faster ours is."""
    return f"{peer / ours:.1f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", action="store_true", help="pgmpy and pyAgrum too")
    arguments = parser.parse_args()
    X, y = make_table(arguments.rows)
    print(f"{describe_processor()}; {arguments.rows} x {N_FEATURES}, one thread\n")
    rows = naive_bayes_rows(X, y, arguments.repeats)
    rows.append(text_row(X, y, arguments.repeats))
    if arguments.peers:
        rows += network_rows(X, y)
    heading = ["job", "bayleaf, s", "peer, s", "times faster"]
    print(markdown_table(heading, rows))
    memory = [
        [model, f"{peak_memory(X, y, model):.0f}"]
        for model in ("NaiveBayesClassifier", "TANClassifier")
    ]
    print(
        "\n" + markdown_table(["fit + predict_proba", "peak above input, MiB"], memory)
    )


if __name__ == "__main__":
    main()
