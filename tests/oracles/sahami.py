"""KDB's choice of parents, written as slowly and literally as the paper puts it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

Row = Sequence[Any]


def mutual_information(rows: Sequence[Row], y: Sequence[Any], i: int) -> float:
    """I(X_i; C) in nats; rows without X_i are left out."""
    pairs = [(row[i], c) for row, c in zip(rows, y, strict=True) if row[i] is not None]
    n = len(pairs)
    joint = Counter(pairs)
    values, classes = Counter(x for x, _ in pairs), Counter(c for _, c in pairs)
    return math.fsum(
        count / n * math.log(count * n / (values[x] * classes[c]))
        for (x, c), count in joint.items()
    )


def conditional_mutual_information(
    rows: Sequence[Row], y: Sequence[Any], i: int, j: int
) -> float:
    """I(X_i; X_j | C) in nats; rows without X_i or X_j are left out."""
    triples = [
        (row[i], row[j], c)
        for row, c in zip(rows, y, strict=True)
        if row[i] is not None and row[j] is not None
    ]
    n = len(triples)
    joint = Counter(triples)
    classes = Counter(c for _, _, c in triples)
    first = Counter((a, c) for a, _, c in triples)
    second = Counter((b, c) for _, b, c in triples)
    return math.fsum(
        count / n * math.log(count * classes[c] / (first[a, c] * second[b, c]))
        for (a, b, c), count in joint.items()
    )


def kdb_parents(
    rows: Sequence[Row], y: Sequence[Any], k: int, theta: float | None = None
) -> list[tuple[int, ...]]:
    """Parents of each feature, strongest first (Sahami 1996, section 3.2, steps 1-6).

    Values that agree to twelve decimals are ties, which go to the lower index.
    """
    n_features = len(rows[0])
    # Step 1.
    relevance = [round(mutual_information(rows, y, i), 12) for i in range(n_features)]
    # Step 2.
    information = {
        (i, j): round(conditional_mutual_information(rows, y, i, j), 12)
        for i in range(n_features)
        for j in range(n_features)
        if i != j
    }
    # Steps 3 and 4.
    used: list[int] = []
    parents: list[tuple[int, ...]] = [()] * n_features
    # Step 5.
    while len(used) < n_features:
        unused = [i for i in range(n_features) if i not in used]
        highest = max(unused, key=lambda i: (relevance[i], -i))
        m = min(len(used), k)
        candidates = sorted(used, key=lambda j: (-information[highest, j], j))
        chosen = candidates[:m]
        if theta is not None:
            chosen = [j for j in chosen if information[highest, j] > theta]
        parents[highest] = tuple(chosen)
        used.append(highest)
    return parents
