"""Few cases of many: rows that contain every pair of settings, and cases far apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any


def pairwise(*factors: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Choose rows of settings such that every pair of settings stands in some row.

    The order of rows is the same in every run, as workers that share tests need.
    Greedy (Cohen et al. 1997, AETG): each row starts from an uncovered pair, then
    takes, factor by factor, the setting that covers most pairs with those chosen.

    Parameters
    ----------
    *factors : sequence
        The settings of each factor; two factors or more.

    Returns
    -------
    list of tuple
        One setting per factor in each row; at least as many rows as the two largest
        factors have pairs.
    """
    sizes = [len(factor) for factor in factors]
    uncovered = {
        ((i, a), (j, b))
        for i, j in combinations(range(len(factors)), 2)
        for a in range(sizes[i])
        for b in range(sizes[j])
    }
    rows = []
    while uncovered:
        row = dict(min(uncovered))
        for factor in range(len(factors)):
            if factor not in row:
                row[factor] = max(
                    range(sizes[factor]),
                    key=lambda setting: (
                        _n_new(row, factor, setting, uncovered),
                        # Settings take turns where none covers more.
                        -((setting - len(rows)) % sizes[factor]),
                    ),
                )
        uncovered -= set(combinations(sorted(row.items()), 2))
        rows.append(tuple(factors[i][row[i]] for i in range(len(factors))))
    return rows


def _n_new(row: dict[int, int], factor: int, setting: int, uncovered: set[Any]) -> int:
    """Count the uncovered pairs of one more setting with those of a row."""
    return sum(
        tuple(sorted(((factor, setting), other))) in uncovered for other in row.items()
    )


def spread(cases: Sequence[Mapping[str, int]], n: int) -> list[int]:
    """Choose cases that lie far apart and have as many different settings as may be.

    Parameters
    ----------
    cases : sequence of mapping
        The place of each setting of a case among those of its factor.
    n : int
        Number of cases; all where there are no more.

    Returns
    -------
    list of int
        Places of the chosen cases.
    """
    chosen: list[int] = []
    seen: set[tuple[str, int]] = set()
    for number in range(min(n, len(cases))):
        even = number * len(cases) // n
        best = max(
            (place for place in range(len(cases)) if place not in chosen),
            key=lambda place: (len(cases[place].items() - seen), -abs(place - even)),
        )
        chosen.append(best)
        seen |= cases[best].items()
    return sorted(chosen)
