"""Tables of the page on desJardins, Rathod and Getoor (2008)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bayleaf.reproduction.cells import Results
from bayleaf.reproduction.desjardins2008_text import (
    ABOUT_CURVES,
    ABOUT_ORDERINGS,
    ABOUT_REGROWN,
    ABOUT_SEEDS,
    ABOUT_TARGETS,
    ABOUT_VERDICTS,
    CURVES,
    DERIVATION,
    ORDERINGS,
    PROTOCOL,
)
from bayleaf.reproduction.pages import (
    comparison_table,
    markdown_table,
    number,
    read_printed,
)
from bayleaf.reproduction.verdicts import Comparison

SETS = ("nursery", "mushroom", "adult")
# Folds that are run, and restarts of each search, by set: as the figures that are
# expected were measured, and as the paper says.
SHORT = {"nursery": 5, "mushroom": 3, "adult": 2}
FULL = {"nursery": 5, "mushroom": 5, "adult": 5}
SIZES = (7200, 14400, 21600, 28800, 36000)
CURVE_METHODS = (
    "TCPT",
    "TABS-E",
    "TABS-G hamming",
    "TABS-L hamming",
    "TABS-G information",
    "TABS-L information",
)
CURVE_FOLDS, CURVE_RESTARTS = 5, 2
# Methods that learn from adult with more seeds of the restarts, and how many.
SEED_METHODS = ("FLAT", "TCPT", "TABS-L hamming", "TABS-L information")
N_SEEDS = 10
# Parameters of TCPT over those of TABS-L, and arcs of trees over those of FLAT.
LEAST_COMPRESSION, LEAST_ARCS, MOST_ARCS = 1.35, 1.4, 2.7
# Ratios on adult that depend on the seed, and the least that they are to be.
BY_SEED = (
    ("parameters", "TCPT", "TABS-L hamming", LEAST_COMPRESSION),
    ("parameters", "TCPT", "TABS-L information", LEAST_COMPRESSION),
    ("edges", "TCPT", "FLAT", LEAST_ARCS),
)
# Methods whose searches also grow whole trees anew, and those that they go on from.
REGROWN = {
    "TCPT regrown": "TCPT",
    "TABS-E regrown": "TABS-E",
    "TABS-L information regrown": "TABS-L information",
    "TCPT regrown, merged": "TCPT merged",
}
# Expected: log-likelihood (nats), parameters, arcs; in the order of the sets.
EXPECTED: dict[str, tuple[tuple[float, float, float], ...]] = {
    "FLAT": ((-25169, 173, 7.6), (-10988, 1893, 52), (-115797, 1770, 21)),
    "ABS-E": ((-25103, 223, 11), (-10760, 1694, 58), (-115049, 1541, 26)),
    "ABS-G hamming": ((-25125, 186, 11), (-10964, 1260, 62), (-115890, 1160, 27)),
    "ABS-L1 hamming": ((-25095, 205, 13), (-10744, 1356, 64), (-115198, 1286, 29)),
    "ABS-Lf hamming": ((-25083, 210, 13), (-10786, 1312, 55), (-114623, 1479, 22)),
    "TCPT": ((-25004, 275, 19), (-10194, 1278, 76), (-114692, 1752, 30)),
    "TABS-E": ((-24977, 227, 19), (-10068, 1042, 86), (-114093, 1566, 44)),
    "TABS-G hamming": ((-25056, 177, 17), (-10715, 841, 95), (-116011, 1144, 42)),
    "TABS-L hamming": ((-25005, 189, 20), (-10319, 859, 94), (-114928, 1183, 42)),
    "TABS-G information": ((-24896, 256, 8), (-10492, 896, 102), (-114107, 1330, 46)),
    "TABS-L information": ((-24988, 200, 22), (-10282, 818, 90), (-113935, 1190, 45)),
}
# No fold is more likely (nats) under a model that is no better on it than on the rows
# it was learned from; the page derives these.
HIGHEST = {"nursery": -24545.1, "mushroom": -9743.7, "adult": -90285.0}
# How far below what is expected a log-likelihood may be, in percent.
TOLERANCE = 1.0
# Figures of a cell, the column of the printed tables, and whether more is better.
_FIGURES = {
    "log_likelihood": ("loglik", True),
    "parameters": ("params", False),
    "edges": ("edges", True),
}
_SPELLED = {
    "log_likelihood": "log-likelihood",
    "parameters": "parameters",
    "edges": "arcs",
}


class Figures(NamedTuple):
    """Means over the folds of one method on one set; NaN if a fold was not run."""

    log_likelihood: float
    parameters: float
    edges: float


def of_folds(
    results: Results,
    name: str,
    method: str,
    figure: str,
    n_folds: int,
    size: int | None = None,
    seed: int = 0,
) -> list[float]:
    """One figure of each fold that was run with as many restarts as folds."""
    restarts = n_folds if size is None else CURVE_RESTARTS
    found = results.figures(
        figure, set=name, method=method, restarts=restarts, rows=size, seed=seed
    )
    return [float(one) for one in found]


def mean(results: Results, name: str, method: str, n_folds: int) -> Figures:
    """Means over the folds of a protocol."""
    found = [of_folds(results, name, method, f, n_folds) for f in Figures._fields]
    return Figures(
        *(float(np.mean(one)) if len(one) == n_folds else math.nan for one in found)
    )


def expected(name: str, method: str) -> Figures:
    """Log-likelihood, parameters and arcs that a method is expected to have."""
    return Figures(*EXPECTED[method][SETS.index(name)])


def shortfall(results: Results, name: str, method: str, n_folds: int) -> float:
    """Log-likelihood less the expected one, in percent of that one's size."""
    wanted = expected(name, method).log_likelihood
    found = mean(results, name, method, n_folds).log_likelihood
    return 100.0 * (found - wanted) / -wanted


def compression(results: Results, name: str, linkage: str, n_folds: int) -> float:
    """Parameters of TCPT over those of TABS-L."""
    other = mean(results, name, f"TABS-L {linkage}", n_folds)
    return mean(results, name, "TCPT", n_folds).parameters / other.parameters


def ratios_by_seed(
    results: Results, figure: str, method: str, base: str
) -> list[float]:
    """A figure of one method over that of another on adult, seed by seed."""
    n_folds, ratios = SHORT["adult"], []
    for seed in range(N_SEEDS):
        ours, others = (
            of_folds(results, "adult", one, figure, n_folds, seed=seed)
            for one in (method, base)
        )
        if len(ours) == len(others) == n_folds:
            ratios.append(sum(ours) / sum(others))
    return ratios


def arcs(results: Results, name: str, method: str, n_folds: int) -> float:
    """Number of arcs over that of FLAT."""
    base = mean(results, name, "FLAT", n_folds)
    return mean(results, name, method, n_folds).edges / base.edges


def compare(results: Results) -> list[Comparison]:
    """Every printed figure beside ours."""
    return [
        *(one for name in SETS for one in _of_set(results, name)),
        *_of_sizes(results),
    ]


def _of_set(results: Results, name: str) -> list[Comparison]:
    """Figures of tables 1 and 2 on one set."""
    found = []
    for row in read_printed("desjardins_2008_tables1_2"):
        method = _method(row["algorithm"])
        for figure, (column, more_is_better) in _FIGURES.items():
            is_likelihood = figure == "log_likelihood"
            sd = row[f"{name}_{column}_sd"] if is_likelihood else ""
            found.append(
                Comparison(
                    (name, method, _SPELLED[figure]),
                    float(row[f"{name}_{column}"]),
                    float(sd) if sd else None,
                    of_folds(results, name, method, figure, FULL[name]),
                    _reason(name) if is_likelihood else "",
                    more_is_better,
                )
            )
    return found


def _of_sizes(results: Results) -> list[Comparison]:
    """Figures of tables 3 and 4."""
    found = []
    columns = {"tcpt": "TCPT", "tabs_e": "TABS-E"}
    columns |= {"tabs_g": _method("TABS-G"), "tabs_l": _method("TABS-L")}
    for row in read_printed("desjardins_2008_tables3_4"):
        size = int(row["train_rows"])
        for prefix, method in columns.items():
            for figure, (column, more_is_better) in _FIGURES.items():
                ours = of_folds(results, "adult", method, figure, CURVE_FOLDS, size)
                found.append(
                    Comparison(
                        (f"adult, {size} rows", method, _SPELLED[figure]),
                        float(row[f"{prefix}_{column}"]),
                        None,
                        ours,
                        _reason("adult") if figure == "log_likelihood" else "",
                        more_is_better,
                    )
                )
    return found


def _method(printed: str) -> str:
    """Our name of a method; the paper's learned hierarchies join by Hamming."""
    return (
        printed
        if printed in ("FLAT", "TCPT") or printed[-1] == "E"
        else (f"{printed} hamming")
    )


def _reason(name: str) -> str:
    """Why a log-likelihood cannot come out as printed."""
    return f"above {HIGHEST[name]:.0f}, see the derivation"


def page_text(results: Results, methods: Sequence[str]) -> str:
    """Derivation, verdicts, figures beside those expected, orderings, more rows."""
    parts = [
        PROTOCOL,
        *_without_hierarchies(results),
        DERIVATION,
        "## Verdicts",
        ABOUT_VERDICTS,
        comparison_table(compare(results), ["rows of", "method", "figure"]),
        "## Our figures beside those expected",
        ABOUT_TARGETS,
    ]
    for name in SETS:
        parts += [f"### {name.capitalize()}", _of_methods(results, name, methods)]
    parts += ["### Orderings", ABOUT_ORDERINGS]
    for title, protocol in (("5, 3 and 2", SHORT), ("Five", FULL)):
        parts.append(f"{title} folds and restarts:")
        parts.append(_orderings(results, protocol))
    is_whole = not any(math.isnan(arcs(results, name, "TCPT", 5)) for name in SETS)
    if is_whole:
        parts.append(ORDERINGS)
    parts += ["### Seeds of the restarts", ABOUT_SEEDS, _seeds(results)]
    parts += ["### Whole trees grown anew", ABOUT_REGROWN, _regrown(results)]
    parts += ["## More and more rows of adult", ABOUT_CURVES, _curves(results)]
    if is_whole:
        parts.append(CURVES)
    return "\n\n".join(parts)


def _without_hierarchies(results: Results) -> list[str]:
    """Which cells have no figures, since hierarchies of values were to be given."""
    sets = sorted({r.cell.text("set") for r in results if not r.figures})
    if not sets:
        return []
    files = ", ".join(f"avh/{name}.json" for name in sets)
    return [
        f"The given hierarchies of values were not there ({files} of the data folder), "
        "so that ABS-E and TABS-E were not run on these sets."
    ]


def _of_methods(results: Results, name: str, methods: Sequence[str]) -> str:
    """Figures of all methods on one set with both protocols, beside those expected."""
    rows = []
    for method in methods:
        row = [method]
        for n_folds in (SHORT[name], FULL[name]):
            found = mean(results, name, method, n_folds)
            row += [_triple(found)]
            row += [_shortfall(results, name, method, n_folds)]
        row.append(_triple(expected(name, method)) if method in EXPECTED else "-")
        rows.append(row)
    if SHORT[name] == FULL[name]:
        rows = [[row[0], *row[3:]] for row in rows]
        protocols = [FULL[name]]
    else:
        protocols = [SHORT[name], FULL[name]]
    heading = ["method"]
    for n_folds in protocols:
        heading += [f"{n_folds} folds", f"difference, %, {n_folds} folds"]
    return markdown_table([*heading, "expected"], rows)


def _triple(found: Figures) -> str:
    if math.isnan(found.log_likelihood):
        return "-"
    return f"{found.log_likelihood:.0f} / {found.parameters:.0f} / {found.edges:.1f}"


def _shortfall(results: Results, name: str, method: str, n_folds: int) -> str:
    """How far a log-likelihood is from the expected one, and whether too far."""
    if method not in EXPECTED:
        return "-"
    found = shortfall(results, name, method, n_folds)
    return number(found, 2, signed=True) + (" below" if found < -TOLERANCE else "")


def _orderings(results: Results, protocol: Mapping[str, int]) -> str:
    """What the methods are to one another, set by set."""
    trees = [m for m in EXPECTED if m.startswith(("TCPT", "TABS"))]
    rows = []
    for name in SETS:
        n_folds = protocol[name]
        tables, trees_of = (mean(results, name, m, n_folds) for m in ("FLAT", "TCPT"))
        merged = mean(results, name, "TCPT merged", n_folds)
        share = [arcs(results, name, method, n_folds) for method in trees]
        rows.append(
            [
                name,
                number(trees_of.log_likelihood - tables.log_likelihood, 0, signed=True),
                f"{number(min(share), 2)} to {number(max(share), 2)}",
                number(compression(results, name, "hamming", n_folds), 2),
                number(compression(results, name, "information", n_folds), 2),
                number(merged.parameters / trees_of.parameters, 2),
                number(merged.log_likelihood - trees_of.log_likelihood, 0, signed=True),
            ]
        )
    heading = ["set", "TCPT less FLAT, nats", "arcs of trees / FLAT"]
    heading += ["TCPT / TABS-L hamming", "TCPT / TABS-L information"]
    heading += ["merged / TCPT", "merged less TCPT, nats"]
    return markdown_table(heading, rows)


def _seeds(results: Results) -> str:
    """How much some ratios on adult depend on the seed."""
    rows = []
    for figure, method, base, least in BY_SEED:
        ratios = ratios_by_seed(results, figure, method, base)
        if not ratios:
            continue
        enough = sum(ratio >= least for ratio in ratios)
        spread = f"{number(min(ratios), 2)} to {number(max(ratios), 2)}"
        mean_ratio = number(float(np.mean(ratios)), 2)
        what = f"{_SPELLED[figure]}, {method} / {base}"
        rows.append([what, mean_ratio, spread, f"{enough} of {len(ratios)}"])
        rows[-1].insert(1, f"{least:g}")
    heading = ["ratio", "at least", "mean", "from, to", "seeds with so much"]
    return markdown_table(heading, rows)


def _regrown(results: Results) -> str:
    """What whole trees grown anew change, set by set, over all folds."""
    rows = []
    for name, (method, base) in itertools.product(SETS, REGROWN.items()):
        n_folds = FULL[name]
        bits, base_bits = (
            of_folds(results, name, one, "bits", n_folds) for one in (method, base)
        )
        if not len(bits) == len(base_bits) == n_folds:
            continue
        found, before = (mean(results, name, one, n_folds) for one in (method, base))
        saved = 100.0 * (1.0 - float(np.mean(bits)) / float(np.mean(base_bits)))
        gained = found.log_likelihood - before.log_likelihood
        row = [name, base, _triple(before), _triple(found)]
        rows.append([*row, number(saved, 2), number(gained, 0, signed=True)])
    heading = ["set", "method", "splits and collapses", "whole trees too"]
    return markdown_table([*heading, "bits saved, %", "nats gained"], rows)


def _curves(results: Results) -> str:
    """Log-likelihood, parameters and arcs of every size and method."""
    rows = []
    for size in SIZES:
        row = [str(size)]
        for method in CURVE_METHODS:
            found = [
                of_folds(results, "adult", method, figure, CURVE_FOLDS, size)
                for figure in Figures._fields
            ]
            means = [float(np.mean(one)) if one else math.nan for one in found]
            row.append(_triple(Figures(*means)))
        rows.append(row)
    return markdown_table(["rows", *CURVE_METHODS], rows)
