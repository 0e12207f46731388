"""What a summary tells of averaged KDB beside counts and arcs."""

from __future__ import annotations

from bayleaf.wording import size_text

# Mean held-out log-loss on 46 tables, see docs/results/accuracy.md.
MEASURED_LOG_LOSS = {"averaged KDB": 0.305, "KDB auto, calibrated": 0.406}


def size_remark(n_bytes: int) -> str:
    """What tables take."""
    return f"its tables take {size_text(n_bytes)} of memory"


def average_remarks(
    n_networks: int, min_rows: int, n_bytes: int, n_trees: int
) -> tuple[str, ...]:
    """Lines on an average of networks that trees may correct."""
    ours, single = MEASURED_LOG_LOSS.values()
    trees = (
        f"{n_trees} trees add what conjunctions of states say: rules() lists them",
    )
    few = (f"parents' states of less than {min_rows} rows count as one parent fewer",)
    return (
        f"an average of {n_networks} networks, terms weighted by what is new in it",
        *(few if min_rows > 1 else ()),
        size_remark(n_bytes),
        *(trees if n_trees else ()),
        'one drawing instead: KDBClassifier(k="auto", smoothing="auto", '
        'calibration="leave_one_out"),',
        f"  at a mean log-loss of {single:.3f} against {ours:.3f} on 46 tables",
    )
