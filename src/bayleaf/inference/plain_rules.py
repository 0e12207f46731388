"""Rules of elimination and scoring that need no NumPy.

Scorers contain them, so they stay with the standard library of Python 3.8.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

# Bound of a log density, in nats, above and below.
MAX_LOG_DENSITY = 50.0

# Networks' worth of no change in the mean of what a parent changes, where some networks
# lack a parent.
NETWORKS_WITHOUT_CHANGE = 0.5


def bent(share: Any, rate: float) -> Any:
    """Zero at zero, one at one; above the share for rates above one."""
    return rate * share / (1.0 - share + rate * share)


def elimination(
    scopes: Iterable[Iterable[int]], cards: Sequence[int], kept: set[int]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Variables in the order in which they are summed out of tables with these scopes.

    That with the smallest product of its tables goes first, the lowest of equal ones.
    With each, the other variables of that product, in increasing order.
    """
    left = [set(scope) for scope in scopes]
    while True:
        joint: dict[int, set[int]] = {}
        for scope in left:
            for variable in scope - kept:
                joint.setdefault(variable, set()).update(scope)
        if not joint:
            return
        sizes = {v: math.prod(cards[u] for u in scope) for v, scope in joint.items()}
        best = min(joint, key=lambda v: (sizes[v], v))
        rest = joint[best] - {best}
        left = [*(scope for scope in left if best not in scope), rest]
        yield best, tuple(sorted(rest))
