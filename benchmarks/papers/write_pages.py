"""Write the papers' result pages, with what there is to say, from finished cells.

    python benchmarks/papers/write_pages.py docs/results

`bayleaf reproduce all --output docs/results` runs the cells before.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import desjardins2008_page
import langseth2006_page
import sahami1996_page
import wiering2003_page
from bayleaf.reproduction.paper_tables import Sources
from bayleaf.reproduction.runner import Reproduction, write

PAGES = {
    "sahami1996": sahami1996_page.page,
    "langseth2006": langseth2006_page.page,
    "wiering2003": wiering2003_page.page,
    "desjardins2008": desjardins2008_page.page,
}


def main() -> None:
    """Write the page of every paper."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path, help="folder of the CSV files")
    parser.add_argument("--data", help="folder with the published tables")
    arguments = parser.parse_args()
    sources = Sources.find(arguments.data)
    for paper, page in PAGES.items():
        write(Reproduction(paper, sources, arguments.output), page)


if __name__ == "__main__":
    main()
