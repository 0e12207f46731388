"""The command line: ``bayleaf COMMAND``."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

import bayleaf
from bayleaf.cli.display import BAD_INPUT, run_shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default with the process's words; return its exit code.

    0 on success, 2 for input that cannot be used (one sentence on standard error), 1
    when the program itself fails, 130 when interrupted.
    """
    is_program = arguments is None
    words = list(sys.argv[1:] if arguments is None else arguments)
    return run_shown(
        lambda: _answer(words, is_program=is_program), is_program=is_program
    )


def _answer(words: list[str], *, is_program: bool) -> int:
    """Carry out what words ask for and return the exit code."""
    if words == ["--version"]:
        # Answered before anything heavy is imported.
        print(f"bayleaf {bayleaf.__version__}")
        return 0
    if sorted(words) == ["--verbose", "--version"]:
        return _print_versions()
    if is_program:
        # Modules stay: it is lost time to look for garbage among them, now and later.
        gc.disable()
    from bayleaf.cli.app import run

    if is_program:
        gc.freeze()
        gc.enable()
    return run(words)


def _print_versions() -> int:
    """Print what runs: the package, its native core, and the interpreter."""
    import platform

    from bayleaf.native.library import level, usable_levels

    print(f"bayleaf {bayleaf.__version__}")
    try:
        used = level()
    except ImportError as error:
        print(f"bayleaf: {error}", file=sys.stderr)
        return BAD_INPUT
    print(f"native core: {used} (of {', '.join(usable_levels())})")
    print(
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    )
    return 0
