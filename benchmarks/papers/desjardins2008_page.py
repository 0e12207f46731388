"""The page on desJardins, Rathod and Getoor (2008)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from bayleaf.reproduction.cells import Results
from bayleaf.reproduction.desjardins2008 import (
    BY_SEED,
    CURVE_FOLDS,
    CURVE_METHODS,
    EXPECTED,
    FULL,
    METHODS,
    PAPER,
    REGROWN,
    SETS,
    SHORT,
    SIZES,
    SPELLED,
    TOLERANCE,
    Figures,
    arcs,
    comparisons,
    compression,
    expected,
    mean,
    of_folds,
    ratios_by_seed,
    shortfall,
)
from bayleaf.reproduction.runner import (
    comparison_table,
    markdown_table,
    number,
)
from desjardins2008_text import (
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


def page(results: Results) -> str:
    """Derivation, verdicts, figures beside those expected, orderings, more rows."""
    parts = [
        PROTOCOL,
        *_without_hierarchies(results),
        DERIVATION,
        "## Verdicts",
        ABOUT_VERDICTS,
        comparison_table(comparisons(results), PAPER.labels),
        "## Our figures beside those expected",
        ABOUT_TARGETS,
    ]
    for name in SETS:
        parts += [f"### {name.capitalize()}", _of_methods(results, name, list(METHODS))]
    parts += ["### Orderings", ABOUT_ORDERINGS]
    for title, protocol in (("5, 3 and 2", SHORT), ("Five", FULL)):
        parts.append(f"{title} folds and restarts:")
        parts.append(_orderings(results, protocol))
    is_whole = not any(math.isnan(arcs(results, name, "TCPT", 5)) for name in SETS)
    if is_whole:
        parts.append(ORDERINGS)
    parts += ["### Seeds of the restarts", ABOUT_SEEDS, _seeds(results)]
    parts += ["### Whole trees grown again", ABOUT_REGROWN, _regrown(results)]
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
        what = f"{SPELLED[figure]}, {method} / {base}"
        rows.append([what, mean_ratio, spread, f"{enough} of {len(ratios)}"])
        rows[-1].insert(1, f"{least:g}")
    heading = ["ratio", "at least", "mean", "from, to", "seeds with so much"]
    return markdown_table(heading, rows)


def _regrown(results: Results) -> str:
    """What whole trees grown again change, set by set, over all folds."""
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
