"""What a benchmark says of the machine, and how it prints its figures."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median


def describe_processor() -> str:
    """Name of the processor, its cores, and whether it counts bits in vectors."""
    name, flags = platform.processor() or platform.machine(), ""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                name = value.strip()
            elif key.strip() == "flags":
                flags = value
    counts_bits = "with" if "avx512_vpopcntdq" in flags else "without"
    return f"{name}, {os.cpu_count()} cores, {counts_bits} AVX-512 VPOPCNTDQ"


def markdown_table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(heading) + " |", "|" + " --- |" * len(heading)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def paired_times(
    first: Callable[[], object],
    second: Callable[[], object],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float, float]:
    """Least seconds of two calls taken in turn, and the median of their ratios.

    Whatever slows the machine down for a while meets both, so that the ratio of a pair
    tells more than that of the two least times.
    """
    pairs = [
        (best_time(first, 1, clock), best_time(second, 1, clock))
        for _ in range(repeats)
    ]
    least = [min(times) for times in zip(*pairs, strict=True)]
    return least[0], least[1], median(one / other for one, other in pairs)


def best_time(
    action: Callable[[], object],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Least of several times in seconds, those of a wall clock by default."""
    times = []
    for _ in range(repeats):
        start = clock()
        action()
        times.append(clock() - start)
    return min(times)
