"""The page on Wiering (2003)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import ttest_ind_from_stats

from bayleaf.evaluation.paper_statistics import unpaired_t_test
from bayleaf.reproduction.cells import Results
from bayleaf.reproduction.runner import (
    comparison_table,
    markdown_table,
    number,
)
from bayleaf.reproduction.wiering2003 import (
    AVERAGE,
    BESIDE,
    COLUMNS,
    CUTS,
    METHODS,
    N_HALVES,
    PAPER,
    PRINTED_TOTALS,
    READINGS,
    REDUCTION,
    TABLES,
    UNLIKE,
    Floats,
    averages,
    comparisons,
    printed,
    reductions,
    sample,
    signs,
)
from wiering2003_text import (
    ABOUT_CUTS,
    ABOUT_VERDICTS,
    AFTER_FOUR_SETS,
    FOUR_SETS,
    NOTES,
    PROTOCOL,
)


def page(results: Results) -> str:
    """Both readings of cut points, the sets that do not come out, the verdicts."""
    parts = [PROTOCOL]
    for cuts in CUTS:
        parts += [
            f"## Cut points found in the {cuts}",
            ABOUT_CUTS[cuts],
            _means(results, cuts, list(METHODS)),
            _differences(results, cuts),
        ]
    parts += [_four_sets(results, list(READINGS)), "## Verdicts", ABOUT_VERDICTS]
    parts.append(comparison_table(comparisons(results), PAPER.labels))
    if averages(results, CUTS[0], "NBC"):
        parts.append(NOTES)
    return "\n\n".join(parts)


def _means(results: Results, cuts: str, methods: Sequence[str]) -> str:
    """Mean, deviation and t-test of every set and method, then the totals."""
    rows = [
        [name, *(_mean(results, cuts, name, method) for method in methods)]
        for name in TABLES
    ]
    padding = ["-"] * (len(methods) - len(COLUMNS))
    paper = [PRINTED_TOTALS[method] for method in COLUMNS]
    ours = [averages(results, cuts, method) for method in methods]
    gains = [reductions(results, cuts, method) for method in methods[1:]]
    counts = [signs(results, cuts, method) for method in methods[1:]]
    rows += [
        [f"**{AVERAGE}**", *(number(_mean_of(one), 1) for one in ours)],
        ["paper", *(f"{one[0]}" for one in paper), *padding],
        [f"**{REDUCTION}**", "-", *(number(_mean_of(one), 1) for one in gains)],
        ["paper", "-", *(f"{one[1]}" for one in paper[1:]), *padding],
        ["**wins:losses**", "-", *("{}:{}".format(*n) if n else "-" for n in counts)],
        ["paper", "-", *(f"{one[2]}:{one[3]}" for one in paper[1:]), *padding],
    ]
    return markdown_table(["set", *methods], rows)


def _mean_of(figures: Sequence[float]) -> float:
    return float(np.mean(figures)) if len(figures) else math.nan


def _mean(results: Results, cuts: str, name: str, method: str) -> str:
    """Mean, deviation and sign of one method on one set."""
    found = sample(results, cuts, name, method)
    if not len(found):
        return "-"
    text = f"{found.mean():.1f}"
    if len(found) == 1:
        return text
    text += f" ± {found.std(ddof=1):.1f}"
    if method == "NBC":
        return text
    return f"{text} {unpaired_t_test(found, sample(results, cuts, name, 'NBC')).mark()}"


def _differences(results: Results, cuts: str) -> str:
    """How far each mean is from the paper's, and whether that may be chance."""
    rows = []
    compared: dict[str, list[float]] = {method: [] for method in COLUMNS}
    for name in TABLES:
        row = [name]
        for method in COLUMNS:
            found = sample(results, cuts, name, method)
            difference = _mean_of(found.tolist()) - printed(name, method)[0]
            row.append(number(difference, 1, signed=True) + _stars(found, name, method))
            if name not in UNLIKE and not math.isnan(difference):
                compared[method].append(abs(difference))
        rows.append(row)
    absolute = [number(_mean_of(compared[method]), 2) for method in COLUMNS]
    rows.append(["**mean absolute, 15 sets**", *absolute])
    return (
        "Ours less the paper's in percentage points; a star stands where an unpaired "
        "t-test of both times 50 halves tells them apart at .01. Halves share their "
        "rows, so that the test is sharper than it should be.\n\n"
        + markdown_table(["set", *COLUMNS], rows)
    )


def _stars(found: Floats, name: str, method: str) -> str:
    """A star if our halves and the paper's have means that differ at .01."""
    if len(found) < 2:
        return ""
    ours = (found.mean(), found.std(ddof=1), len(found))
    test = ttest_ind_from_stats(*ours, *printed(name, method), N_HALVES)
    return " *" if test.pvalue < 0.01 else ""


def _four_sets(results: Results, readings: Sequence[str]) -> str:
    """Why four of the sets cannot come out as printed."""
    rows = []
    for name in (*UNLIKE, *BESIDE):
        for method in COLUMNS:
            found = [sample(results, cuts, name, method) for cuts in (*CUTS, *readings)]
            mean, sd = printed(name, method)
            figures = [
                f"{one.mean():.1f} ± {one.std(ddof=1):.1f}" if len(one) > 1 else "-"
                for one in found
            ]
            rows.append([name, method, f"{mean} ± {sd}", *figures])
    table = markdown_table(["set", "method", "paper", *CUTS, *readings], rows)
    return f"## Wiering's four sets\n\n{FOUR_SETS}\n\n{table}\n\n{AFTER_FOUR_SETS}"
