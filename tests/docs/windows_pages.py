"""Run pages of the documentation in one process that looks like Windows.

    python tests/docs/windows_pages.py FOLDER PAGE...

prints a line for each page that fails.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

if __name__ in {"__main__", "__mp_main__"}:
    # Processes that a page spawns run this file too.
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from oracles.simulated_windows import install

    install()


# Boxes of help texts, where an encoding lacks their lines.
BOXES = str.maketrans("╭╮╰╯─│", "++++-|")


def run_as_utf8(words: list[str], folder: Path) -> tuple[int, bytes, str]:
    """Run a command line; its exit code, output in UTF-8, and messages."""
    from cli.windows_program import run_in_pipes
    from oracles.simulated_windows import ENCODING

    code, output, messages = run_in_pipes(words, folder)
    try:
        output.decode()
    except UnicodeDecodeError:
        # Text for people has the encoding of the pipe; tables and JSON have their own.
        output = output.decode(ENCODING).encode()
    return code, output, messages


def run_page(page: Path, folder: Path) -> None:
    """Run a page's blocks in a folder of its own, with the streams of a pipe."""
    import pyarrow.csv

    from bayleaf.datasets import load_heart
    from cli.windows_program import streams
    from oracles.simulated_windows import check_names
    from readme.fenced_blocks import run_blocks

    folder.mkdir()
    with contextlib.chdir(folder), streams():
        pyarrow.csv.write_csv(load_heart().frame, "heart.csv")
        text = page.read_text("utf-8").translate(BOXES)
        run_blocks(text, page.name, folder, run_as_utf8)
    check_names(folder)


def main() -> int:
    """Run the pages and print what went wrong; 1 if anything did."""
    import matplotlib as mpl

    mpl.use("agg")
    folder = Path(sys.argv[1])
    wrong = []
    for number, page in enumerate(sys.argv[2:]):
        try:
            run_page(Path(page), folder / str(number))
        except Exception as error:
            wrong.append(f"{page}: {type(error).__name__}: {error}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
