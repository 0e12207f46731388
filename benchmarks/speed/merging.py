"""Counts of many partitions, merged in a tree: what a pass over a cluster takes.

    python benchmarks/speed/merging.py [partitions [rows]]

Partitions of generated codes, 50 features of 5 states and a class of 2, are counted
one after the other; their counts are written to files, read again, and added up two by
two, as workers would. Every twentieth is also counted from Parquet, and sent as bytes.
From the CPU time of a core per row and per store follows what larger tables take.
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
import pyarrow.parquet as pa_parquet
from machine import describe_processor, markdown_table

from bayleaf import CountFile, KDBClassifier, NaiveBayesClassifier, TANClassifier
from bayleaf.classifiers.shared.from_counts import reading_of
from bayleaf.counts.count_tables import MergeableCounts
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.io.native.tables import TableReading

N_FEATURES, N_STATES, N_CLASSES = 50, 5, 2
CARDS = (*[N_STATES] * N_FEATURES, N_CLASSES)
STATES = np.array(["a", "b", "c", "d", "e"])
# Of the larger tables, whose counts are sent once for each.
ROWS_A_PARTITION = 1_000_000
# One partition in so many is also read from Parquet, and sent.
SAMPLED = 20


@dataclass
class Stages:
    """CPU seconds of this process by what it did, and how often."""

    seconds: dict[str, float] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)

    def take(self, name: str, action: Callable[[], object]) -> object:
        """What an action returns, its time added up under a name."""
        start = time.process_time()
        found = action()
        spent = time.process_time() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + spent
        self.times[name] = self.times.get(name, 0) + 1
        return found

    def each(self, name: str) -> float:
        """Mean seconds of one call."""
        return self.seconds[name] / self.times[name]


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


def first_model() -> NaiveBayesClassifier:
    """A model that says how tables with such columns are read."""
    codes = np.arange(60)
    columns = {f"x{j}": pa.array(STATES[codes % N_STATES]) for j in range(N_FEATURES)}
    table = pa.table({**columns, "class": pa.array(STATES[codes % N_CLASSES])})
    return NaiveBayesClassifier().fit(table.to_reader(), target="class")


def write_parquet(codes: Codes, path: Path) -> int:
    """Write rows as text to a file; its bytes."""
    names = [*(f"x{j}" for j in range(N_FEATURES)), "class"]
    columns = [pa.array(STATES[codes.column(j)]) for j in range(len(CARDS))]
    pa_parquet.write_table(pa.table(columns, names=names), path, compression="zstd")
    return path.stat().st_size


def count(codes: Codes, like: TableReading) -> CountFile:
    """Counts of some rows: the class with all pairs of features."""
    return CountFile(like, MergeableCounts.of(RowCounts(codes), like.domain.names))


def merged(sent: Iterator[CountFile], stages: Stages) -> tuple[CountFile, int, int]:
    """The sum of stores that arrive one by one, the depth of the tree, stores held."""
    # As in a binary counter, two sums of equally many stores become one at once.
    held: list[tuple[int, CountFile]] = []
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
    return total, depth, most


def main(n_partitions: int = 1000, n_rows: int = 100_000) -> None:
    """Print what was measured, and what follows for larger tables."""
    first, stages = first_model(), Stages()
    like = reading_of(first)
    n_bytes = len(count(partition(0, n_rows), like).to_bytes())
    n_file_bytes = 0
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path, table = Path(folder) / "partition.counts", Path(folder) / "p.parquet"

        def sent() -> Iterator[CountFile]:
            nonlocal n_file_bytes
            for seed in range(n_partitions):
                codes = stages.take("generate", lambda s=seed: partition(s, n_rows))
                own = stages.take("count", lambda c=codes: count(c, like))
                if seed % SAMPLED == 0:
                    n_file_bytes = write_parquet(codes, table)
                    again = stages.take("count, Parquet", lambda: first.count(table))
                    assert again == own
                    content = stages.take("to bytes", own.to_bytes)
                    stages.take("from bytes", lambda c=content: CountFile.from_bytes(c))
                stages.take("save", lambda o=own: o.save(path))
                yield stages.take("open", lambda: CountFile.open(path))

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
        ["bytes of one partition as Parquet", f"{n_file_bytes:,}"],
        ["bytes of one partition's counts", f"{n_bytes:,}"],
        ["depth of the tree", f"{depth}"],
        ["stores held at once, at most", f"{most}"],
        ["memory above that after the first partition, MB", f"{peak - base:.0f}"],
        ["wall-clock seconds in all", f"{wall:.1f}"],
    ]
    print(markdown_table(["what", "value"], facts), "\n")
    times = [
        [name, f"{stages.times[name]:,}", f"{1e3 * stages.each(name):.2f}"]
        for name in stages.seconds
    ]
    print(markdown_table(["stage", "calls", "CPU ms a call"], times), "\n")
    print(larger_tables(stages, n_rows, n_bytes, n_file_bytes))


def larger_tables(stages: Stages, n_rows: int, n_bytes: int, n_file_bytes: int) -> str:
    """What one pass takes on tables that are not at hand, as a Markdown table."""
    store = stages.each("merge") + stages.each("to bytes") + stages.each("from bytes")
    lines = []
    for total in (1e9, 1e12):
        parts = ceil(total / ROWS_A_PARTITION)
        read, count = stages.each("count, Parquet"), stages.each("count")
        lines.append(
            [
                f"{total:.0e}",
                f"{total / n_rows * n_file_bytes / 1e9:,.0f} GB",
                f"{total * len(CARDS) / 1e9:,.0f} GB",
                f"{parts:,}",
                f"{parts * n_bytes / 1e9:,.1f} GB",
                f"{ceil(log2(parts))}",
                f"{total / n_rows * read / 3600:,.2f}",
                f"{total / n_rows * count / 3600:,.2f}",
                f"{parts * store / 3600:,.2f}",
            ]
        )
    heading = [
        "rows",
        "Parquet",
        "codes",
        "partitions",
        "counts sent",
        "tree depth",
        "core h, from Parquet",
        "core h, from codes",
        "core h, sending and adding",
    ]
    return markdown_table(heading, lines)


if __name__ == "__main__":
    main(*(int(float(word)) for word in sys.argv[1:]))
