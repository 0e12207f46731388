"""Counts of many partitions, merged in a tree: what a pass over a cluster takes.

    python benchmarks/speed/merging.py [partitions [rows]]

Partitions of generated codes, 50 features of 5 states and a class of 2, are counted
one after the other, sent as bytes, kept in files, and added up two by two, as workers
would. What no machine is needed for is then worked out for larger tables.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import ceil, log2
from pathlib import Path

import numpy as np
import pyarrow as pa
from machine import describe_processor, markdown_table

from bayleaf import CountStore, KDBClassifier, NaiveBayesClassifier, TANClassifier
from bayleaf.classifiers.shared.streaming.from_counts import reading_of
from bayleaf.counts.count_tables import CountTables
from bayleaf.counts.table_counts import TableCounts
from bayleaf.data.codes import Codes
from bayleaf.io.native.tables import TableReading

N_FEATURES, N_STATES, N_CLASSES = 50, 5, 2
CARDS = (*[N_STATES] * N_FEATURES, N_CLASSES)
STATES = np.array(["a", "b", "c", "d", "e"])


@dataclass
class Stages:
    """Seconds of this process by what it did."""

    seconds: dict[str, float] = field(default_factory=dict)

    def take(self, name: str, action: Callable[[], object]) -> object:
        """What an action returns, its time added up under a name."""
        start = time.process_time()
        found = action()
        spent = time.process_time() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + spent
        return found


def partition(seed: int, n_rows: int) -> Codes:
    """Codes of some rows; each feature follows the one before, or the class."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, N_CLASSES, n_rows, dtype=np.uint8)
    columns, before = [], label
    for j in range(N_FEATURES):
        drawn = rng.integers(0, N_STATES, n_rows, dtype=np.uint8)
        kept = rng.integers(0, 256, n_rows, dtype=np.uint8) < 150
        values = np.where(kept, (before + label) % N_STATES, drawn).astype(np.uint8)
        columns.append(values)
        before = values if j % 4 else label
    return Codes.from_columns([*columns, label], CARDS)


def reading() -> TableReading:
    """How a table with such columns is read."""
    rows = np.arange(60)
    columns = {f"x{j}": pa.array(STATES[rows % N_STATES]) for j in range(N_FEATURES)}
    table = pa.table({**columns, "class": pa.array(STATES[rows % N_CLASSES])})
    model = NaiveBayesClassifier().fit(table.to_reader(), target="class")
    return reading_of(model)


def count(codes: Codes, like: TableReading) -> CountStore:
    """Counts of some rows: the class with all pairs of features."""
    return CountStore(like, CountTables.of(TableCounts(codes), like.domain.names))


def merged(
    sent: Iterator[CountStore], stages: Stages
) -> tuple[CountStore, int, list[int]]:
    """The sum of stores that arrive one by one, the depth of the tree, stores held."""
    # As in a binary counter, two sums of equally many stores become one at once.
    held: list[tuple[int, CountStore]] = []
    most = 0
    for store in sent:
        level = 0
        while held and held[-1][0] == level:
            other, own = held.pop()[1], store
            store = stages.take("merge", lambda a=other, b=own: a + b)
            level += 1
        held.append((level, store))
        most = max(most, len(held))
    depth = held[0][0] + (len(held) > 1)
    total = held.pop()[1]
    while held:
        other, own = held.pop()[1], total
        total = stages.take("merge", lambda a=other, b=own: a + b)
    return total, depth, [most]


def main(n_partitions: int = 1000, n_rows: int = 100_000) -> None:
    """Print what was measured, and what follows for larger tables."""
    like, stages = reading(), Stages()
    one = count(partition(0, n_rows), like)
    n_bytes = len(one.to_bytes())
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:

        def sent() -> Iterator[CountStore]:
            path = Path(folder) / "partition.counts"
            for seed in range(n_partitions):
                codes = stages.take("generate", lambda s=seed: partition(s, n_rows))
                own = stages.take("count", lambda c=codes: count(c, like))
                stages.take("write", lambda o=own: o.save(path))
                yield stages.take("read", lambda: CountStore.open(path))

        total, depth, most = merged(sent(), stages)
    wall = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert total.weight == n_partitions * n_rows
    for kind in (NaiveBayesClassifier, TANClassifier, KDBClassifier):
        name = f"model: {kind.__name__}"
        stages.take(name, lambda k=kind: k.from_counts(total))
    print(f"{describe_processor()}\n")
    print(f"{n_partitions:,} partitions of {n_rows:,} rows, one process\n")
    facts = [
        ["bytes of one partition's counts", f"{n_bytes:,}"],
        ["depth of the tree", f"{depth}"],
        ["stores held at once, at most", f"{most[0]}"],
        ["memory above that after the first partition, MB", f"{peak - base:.0f}"],
        ["wall-clock seconds in all", f"{wall:.1f}"],
    ]
    print(markdown_table(["what", "value"], facts), "\n")
    times = [
        [name, f"{seconds:.2f}", f"{1e3 * seconds / n_partitions:.2f}"]
        for name, seconds in stages.seconds.items()
    ]
    print(markdown_table(["stage", "CPU s", "ms a partition"], times), "\n")
    cells = n_partitions * n_rows * (N_FEATURES + 1)
    rates = {name: s / n_partitions for name, s in stages.seconds.items()}
    count_ns = 1e9 * stages.seconds["count"] / cells
    print(f"counting: {count_ns:.3f} ns of CPU a cell\n")
    extrapolate(rates, n_rows, n_bytes)


def extrapolate(rates: dict[str, float], n_rows: int, n_bytes: int) -> None:
    """Print what one pass takes on tables that are not at hand."""
    rows_a_partition = 1_000_000
    scale = rows_a_partition / n_rows
    lines = []
    for total in (1e9, 1e12):
        parts = ceil(total / rows_a_partition)
        count_hours = parts * rates["count"] * scale / 3600
        merge_hours = parts * (rates["merge"] + rates["read"] + rates["write"]) / 3600
        lines.append(
            [
                f"{total:.0e}",
                f"{parts:,}",
                f"{total * (N_FEATURES + 1) / 1e9:,.0f} GB",
                f"{parts * n_bytes / 1e9:,.1f} GB",
                f"{ceil(log2(parts))}",
                f"{count_hours:,.2f}",
                f"{merge_hours:,.2f}",
            ]
        )
    heading = [
        "rows",
        "partitions",
        "codes",
        "counts sent",
        "depth",
        "counting, core h",
        "merging, core h",
    ]
    print(markdown_table(heading, lines))


if __name__ == "__main__":
    main(*(int(float(word)) for word in sys.argv[1:]))
