"""Write the table of tools: ``PYTHONPATH=tests python -m works_with.write_table``.

Each test file here describes its tool in a mapping ``WORKS_WITH`` of plain texts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "works-with.md"
HEADS = {"tool": "tool", "tried": "tried with", "use": "how", "refused": "refused"}


def tools() -> Iterator[dict[str, Any]]:
    """Each test file's description of its tool."""
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        for statement in ast.parse(path.read_text("utf-8")).body:
            if isinstance(statement, ast.Assign) and "WORKS_WITH" in ast.unparse(
                statement.targets[0]
            ):
                yield ast.literal_eval(statement.value)


def page() -> str:
    """The page with the table of today."""
    begin = PAGE.read_text("utf-8").partition("\n| tool")[0]
    rows = [list(HEADS.values()), ["---"] * len(HEADS)]
    rows += [[tool[key] for key in HEADS] for tool in tools()]
    lines = [f"| {' | '.join(cells)} |".replace("  ", " ") for cells in rows]
    return "\n".join([begin, *lines, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
