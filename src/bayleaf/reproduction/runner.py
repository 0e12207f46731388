"""Running cells, in this process or in several, so that nothing finished is lost."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from threadpoolctl import threadpool_limits

from bayleaf.progress import Work
from bayleaf.reproduction.paper_tables import Sources
from bayleaf.reproduction.protocols import Protocol, protocol_of
from bayleaf.reproduction.results import Cell, CellStore, Result, Results


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
