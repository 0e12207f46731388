"""Accuracy of KDB on the tables of Sahami (1996), beside his table 2.

Ten stratified folds, shuffled with the seeds 0 to 4; the paper prints one run of ten
folds and the standard deviation over them. Columns are nominal: votes as 48 and DNA as
180 truth values. The threshold of 0.03 is taken as nats. The paper says nothing of
smoothing; Laplace's is used.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import stats
from sklearn.model_selection import StratifiedKFold

from bayleaf.classifiers.kdb import KDBClassifier
from bayleaf.cpds.smoothing import Lidstone, MaximumLikelihood, MEstimate
from bayleaf.reproduction.cells import Cell, Results, Value
from bayleaf.reproduction.pages import comparison_table, markdown_table, read_printed
from bayleaf.reproduction.protocols import Paper
from bayleaf.reproduction.sources import TARGET, Sources
from bayleaf.reproduction.verdicts import Comparison

PAPER = Paper(
    "sahami1996",
    "Sahami 1996, table 2",
    "Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD-96, "
    "335-338.",
)

N_FOLDS, N_SEEDS = 10, 5
THRESHOLD = 0.03
DEGREES = range(4)
# The paper's names, and the tables that they stand for.
TABLES = {
    "Corral": "corral",
    "LED7": "led7",
    "Chess": "kr-vs-kp",
    "DNA": "dna",
    "Vote": "vote_bool48",
}
TEXT = "Text"
_TEXT_PARTS = ("reuters3.train", "reuters3.test")
# Smoothing rules tried where the printed figure does not come out.
SMOOTHINGS: dict[str, Any] = {
    "laplace": "laplace",
    "lidstone 0.1": Lidstone(0.1),
    "lidstone 2": Lidstone(2.0),
    "lidstone 5": Lidstone(5.0),
    "dirichlet": "dirichlet",
    "m_estimate 5": MEstimate(5.0),
    "m_estimate 10": MEstimate(10.0),
    "backoff": "backoff",
    "maximum_likelihood": "maximum_likelihood",
    "zeros 0.5/N": MaximumLikelihood(floor=0.5),
}
N_SEEDS_OF_CORRAL = 10
# Rules that leave shares as they were counted, save for zeros.
UNSMOOTHED = ("maximum_likelihood", "zeros 0.5/N")
_CORRAL_REASON = "no smoothing rule gives it beside its neighbours, see below"
_TEXT_REASON = "the paper's part of Reuters is not published; ours is a stand-in"
# Where the paper finds the improvement over naive Bayes significant, at p < 0.10.
CLAIMED = {("Chess", 1), ("Chess", 2), ("Chess", 3), ("Vote", 2), ("Vote", 3)} | {
    ("DNA", 2),
    ("DNA", 3),
}


# Degrees and thresholds of the table; naive Bayes has no arcs to leave out.
COLUMNS: list[tuple[int, float | None]] = [
    *((k, None) for k in DEGREES),
    *((k, THRESHOLD) for k in DEGREES if k),
]


def cells() -> list[Cell]:
    """Every cell of the full run."""
    found = [
        _cell(name, k, threshold, "laplace", seed)
        for name in (*TABLES, TEXT)
        for k, threshold in COLUMNS
        for seed in range(1 if name == TEXT else N_SEEDS)
    ]
    found += [
        _cell("Corral", k, threshold, smoothing, seed)
        for smoothing in SMOOTHINGS
        for k, threshold in COLUMNS
        for seed in range(N_SEEDS_OF_CORRAL)
    ]
    found += [
        _cell("DNA", 3, None, smoothing, seed)
        for smoothing in UNSMOOTHED
        for seed in range(N_SEEDS)
    ]
    return list(dict.fromkeys(found))


def _cell(
    name: str, k: int, threshold: float | None, smoothing: str, seed: int
) -> Cell:
    """One degree of dependence, threshold and smoothing on one shuffle."""
    tables = _TEXT_PARTS if name == TEXT else (TABLES[name],)
    return Cell.of(
        tables,
        quick=_is_quick(name, k, smoothing, seed),
        set=name,
        k=k,
        threshold=threshold,
        smoothing=smoothing,
        seed=seed,
    )


def _is_quick(name: str, k: int, smoothing: str, seed: int) -> bool:
    """Whether the short run has a cell: small tables twice, large ones once."""
    if smoothing != "laplace":
        return name == "Corral" and k == 3 and seed == 0
    if name in ("Corral", "LED7"):
        return seed < 2
    return seed == 0 and name != TEXT


@lru_cache(maxsize=2)
def _coded(sources: Sources, name: str) -> tuple[pa.Table, NDArray[Any]]:
    """Features with their states, and the labels, of a table."""
    table = sources.table(name)
    labels = np.array(table.column(TARGET).to_pylist())
    features = table.drop_columns([TARGET]).combine_chunks()
    # A dictionary keeps the states of the whole table in every fold of it.
    columns = [c.dictionary_encode() for c in features.columns]
    return pa.table(columns, names=features.column_names), labels


def run(cell: Cell, sources: Sources) -> dict[str, float]:
    """Accuracy in percent, over all folds and of each, or of the text's test rows."""
    k, threshold = cell.number("k"), cell["threshold"]
    smoothing = SMOOTHINGS[cell.text("smoothing")]

    def accuracy(train: tuple[Any, Any], test: tuple[Any, Any]) -> float:
        model = KDBClassifier(k=k, theta=threshold, smoothing=smoothing).fit(*train)
        return 100.0 * float(model.score(*test))

    if cell["set"] == TEXT:
        train, test = (_coded(sources, part) for part in _TEXT_PARTS)
        return {"accuracy": accuracy(train, test)}
    X, y = _coded(sources, cell.tables[0])
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=cell.number("seed"))
    found = [
        accuracy((X.take(train), y[train]), (X.take(test), y[test]))
        for train, test in folds.split(np.zeros(len(y)), y)
    ]
    figures = {"accuracy": float(np.mean(found)), "sd": float(np.std(found, ddof=1))}
    return figures | {f"fold {j}": one for j, one in enumerate(found)}


def comparisons(results: Results) -> list[Comparison]:
    """Every printed accuracy beside ours."""
    found = []
    for row in read_printed("sahami_1996_table2"):
        name, k = row["dataset"], int(row["k"])
        for column, threshold in (("kdb_orig", None), ("kdb_theta", THRESHOLD)):
            # Naive Bayes has no arcs that a threshold could leave out.
            wanted = _values(name, k, threshold if k else None)
            sd = row[f"{column}_sd"]
            impossible = (name, k, threshold) == ("Corral", 3, None)
            found.append(
                Comparison(
                    (name, str(k), "-" if threshold is None else f"{threshold}"),
                    float(row[column]),
                    # The mean over ten folds has a smaller one than a single fold.
                    float(sd) / math.sqrt(N_FOLDS) if sd else None,
                    _of_seeds(results, wanted),
                    _TEXT_REASON if name == TEXT else _CORRAL_REASON * impossible,
                )
            )
    return found


def _values(
    name: str, k: int, threshold: float | None, smoothing: str = "laplace"
) -> dict[str, Value]:
    """Values of the cells of one setting, whatever their seed."""
    return {"set": name, "k": k, "threshold": threshold, "smoothing": smoothing}


def _of_seeds(results: Results, wanted: dict[str, Value]) -> list[float]:
    """Accuracies of the seeds that every table has."""
    return [
        result.figures["accuracy"]
        for result in results.where(**wanted)
        if result.cell.number("seed") < N_SEEDS
    ]


def page(results: Results) -> str:
    """Table 2, what cannot come out, and the paper's tests."""
    parts = [
        "Accuracy in percent of `KDBClassifier`: ten stratified folds, shuffled "
        f"with the seeds 0 to {N_SEEDS - 1}, Laplace smoothing, all columns "
        "nominal. The paper prints one run of ten folds with the standard "
        "deviation over folds; that of their mean, a √10th of it, stands here. "
        "With a threshold, only arcs with $I(X;X' \\mid C) > 0.03$ nats are kept "
        "(the paper does not say nats or bits).",
        comparison_table(comparisons(results), ["table", "k", "threshold"], digits=1),
        "- Corral: 128 rows, 32 settings in four copies. Vote: 16 votes as 48 "
        "truth values. LED7: 3 200 rows. Chess: kr-vs-kp. DNA: 60 positions as "
        "180 truth values.\n"
        "- Text: the paper takes 1 084 and 454 documents of three Reuters topics "
        "and 3 440 words; which, it does not say. Ours are 1 077 and 435 other "
        "ones, with 3 440 words, of one split.\n"
        "- Chess: naive Bayes is at 87.8 on every shuffle. Folds must be "
        "shuffled: contiguous ones take it to 66.",
        _corral(results),
        _dna(results),
        _significance(results),
    ]
    return "\n\n".join(part for part in parts if part)


def _corral(results: Results) -> str:
    """Why corral at k = 3 cannot come out as printed."""
    means, spreads = _corral_by_smoothing(results)
    if not means:
        return ""
    # With a threshold the paper has k = 3 at 100.0, without any deviation.
    beside = COLUMNS.index((3, THRESHOLD))
    cell = COLUMNS.index((3, None))
    reaching = [m for m in means.values() if m[beside] >= 99.95]
    least = min((m[cell] for m in reaching), default=math.nan)
    rows = [
        [
            smoothing,
            *(f"{v:.1f}" for v in means[smoothing]),
            f"{spreads[smoothing]:.1f}",
        ]
        for smoothing in means
    ]
    printed = {row["k"]: row for row in read_printed("sahami_1996_table2")[:4]}
    theirs = [
        printed[str(k)]["kdb_orig" if theta is None else "kdb_theta"]
        for k, theta in COLUMNS
    ]
    rows.append(["**paper**", *theirs, printed["3"]["kdb_orig_sd"]])
    heading = [f"k = {k}{', threshold' if theta else ''}" for k, theta in COLUMNS]
    table = markdown_table(["smoothing", *heading, "sd over folds at k = 3"], rows)
    return (
        "## Corral at k = 3 without a threshold\n\n"
        "The paper prints 88.4 with a standard deviation of 17.2 over folds. Strong "
        "smoothing takes this cell as low, but the others of its row with it, which "
        "the paper has at 100.0, some without any deviation. Of the rules below those "
        "that give 100.0 at k = 3 with the threshold give this cell at least "
        f"{least:.1f}; the largest deviation over folds of any rule and shuffle is "
        f"{max(spreads.values()):.1f}. Means over the shuffles, and the largest "
        f"deviation over folds of any:\n\n{table}"
    )


def _corral_by_smoothing(
    results: Results,
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Mean accuracies of corral's columns, and the largest deviation at k = 3."""
    means, spreads = {}, {}
    for smoothing in SMOOTHINGS:
        found = [
            results.figures("accuracy", **_values("Corral", k, theta, smoothing))
            for k, theta in COLUMNS
        ]
        if all(map(len, found)):
            means[smoothing] = [float(one.mean()) for one in found]
            sds = results.figures("sd", **_values("Corral", 3, None, smoothing))
            spreads[smoothing] = float(sds.max())
    return means, spreads


def _dna(results: Results) -> str:
    """What DNA at k = 3 owes to smoothing."""
    found = {
        smoothing: results.figures("accuracy", **_values("DNA", 3, None, smoothing))
        for smoothing in ("laplace", *UNSMOOTHED)
    }
    if not all(map(len, found.values())):
        return ""
    rows = [
        [smoothing, f"{figures.mean():.1f}", f"{figures.std(ddof=1):.1f}"]
        for smoothing, figures in found.items()
    ]
    table = markdown_table(["smoothing", "accuracy", "sd over shuffles"], rows)
    return (
        "## DNA at k = 3 without a threshold\n\n"
        "The paper prints 93.3. Shares that are left as they were counted, save for "
        "zeros, come nearer to it than smoothed ones; the paper says nothing of "
        f"smoothing.\n\n{table}"
    )


def _significance(results: Results) -> str:
    """The paper's t-tests of k > 0 against naive Bayes, over folds."""
    rows = []
    for name in TABLES:
        for k in DEGREES[1:]:
            plain, pruned = (
                _n_significant(results, name, k, theta) for theta in (None, THRESHOLD)
            )
            if plain or pruned:
                claim = "yes" if (name, k) in CLAIMED else "no"
                # The paper says it of the real tables alone.
                claim = "-" if name in ("Corral", "LED7") else claim
                rows.append([name, str(k), plain, pruned, claim])
    if not rows:
        return ""
    heading = ["table", "k", "no threshold", "threshold", "paper"]
    return (
        "## Improvement over naive Bayes\n\n"
        "Shuffles in which KDB is better than naive Bayes at p < 0.10 in a paired, "
        "two-sided t-test over the ten folds, and whether the paper calls the "
        f"improvement significant:\n\n{markdown_table(heading, rows)}"
    )


def _n_significant(results: Results, name: str, k: int, theta: float | None) -> str:
    """In how many shuffles KDB is significantly better than naive Bayes."""
    base = {r.cell["seed"]: r for r in results.where(**_values(name, 0, None))}
    found = []
    for result in results.where(**_values(name, k, theta)):
        other = base.get(result.cell["seed"])
        if other is None or result.cell.number("seed") >= N_SEEDS:
            continue
        ours, theirs = (
            np.array([r.figures[f"fold {j}"] for j in range(N_FOLDS)])
            for r in (result, other)
        )
        gain = ours - theirs
        # The same gain in every fold has no deviation to be tested with.
        alike = np.ptp(gain) < 1e-9
        p = 0.0 if alike else float(stats.ttest_rel(ours, theirs).pvalue)
        found.append(p < 0.10 and gain.mean() > 1e-9)
    return f"{sum(found)} of {len(found)}" if found else ""
