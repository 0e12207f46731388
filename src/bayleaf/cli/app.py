"""The commands, and what becomes of their errors."""

from __future__ import annotations

import contextlib
import re
import signal
import threading
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from cyclopts import (
    App,
    CycloptsError,
    MissingArgumentError,
    UnknownOptionError,
    UnusedCliTokensError,
)

import bayleaf
from bayleaf.cli.commands.audit import audit
from bayleaf.cli.commands.check import check
from bayleaf.cli.commands.compare import compare
from bayleaf.cli.commands.convert import convert
from bayleaf.cli.commands.counts import counts
from bayleaf.cli.commands.decide import decide
from bayleaf.cli.commands.demo import demo
from bayleaf.cli.commands.drift import drift
from bayleaf.cli.commands.evaluate import evaluate
from bayleaf.cli.commands.explain import explain
from bayleaf.cli.commands.explore import explore
from bayleaf.cli.commands.export import export
from bayleaf.cli.commands.fit import fit
from bayleaf.cli.commands.hierarchy import hierarchy
from bayleaf.cli.commands.impute import impute
from bayleaf.cli.commands.inspect import inspect
from bayleaf.cli.commands.predict import predict
from bayleaf.cli.commands.query import query
from bayleaf.cli.commands.report import report
from bayleaf.cli.commands.reproduce import reproduce
from bayleaf.cli.commands.sample import sample
from bayleaf.cli.display import BAD_INPUT
from bayleaf.cli.model_options import put_first
from bayleaf.cli.run_record import HELP, RunOptions, print_error, run_recorded
from bayleaf.data.unknown_cells import reported_elsewhere
from bayleaf.native.library import NativeCoreError
from bayleaf.wording import cut, name_list, visible_lines

# Paths of files are seldom longer; a column name may be.
_LONGEST_WORD = 120
_LONGEST_SENTENCE = 500

app = App(
    name="bayleaf",
    help="Bayesian-network classifiers that a person can read.",
    version=f"bayleaf {bayleaf.__version__}",
    help_format="markdown",
    help_epilogue=HELP,
    print_error=False,
    exit_on_error=False,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)
for _command in (
    check,
    fit,
    predict,
    evaluate,
    compare,
    counts,
    drift,
    inspect,
    explain,
    explore,
    query,
    decide,
    sample,
    impute,
    convert,
    export,
    report,
    audit,
    reproduce,
    demo,
    hierarchy,
):
    app.command(_command)
app.register_install_completion_command(
    help="Let the shell (bash, zsh or fish) complete commands and options."
)


def run(words: Sequence[str]) -> int:
    """Run a command; input that cannot be used ends in one sentence and exit code 2."""
    try:
        options = RunOptions.of_words(words)
        return run_recorded(options, lambda: _carried_out(options.words))
    except BrokenPipeError:
        # Whoever holds the streams knows what to do.
        raise
    except (ValueError, OSError) as error:
        return _refuse(str(error))


def _carried_out(words: Sequence[str]) -> int:
    """Run a command and return its exit code."""
    put_first(words)
    try:
        # Commands report values not seen in training themselves.
        with _stopping_tidily(), reported_elsewhere():
            result = app(list(words), console=_LateConsole())  # type: ignore[arg-type]
    except MissingArgumentError as error:
        return _refuse(_missing(error))
    except CycloptsError as error:
        return _refuse(_misread(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        # Python's error number is of no use to a person.
        if error.filename and error.strerror:
            return _refuse(f"cannot use {error.filename}: {error.strerror}")
        if error.strerror:
            return _refuse(f"cannot read or write: {error.strerror}")
        return _refuse(str(error))
    except (ValueError, TypeError, NativeCoreError) as error:
        return _refuse(str(error))
    return result if isinstance(result, int) else 0


def _misread(error: CycloptsError) -> str:
    """What a command does not take, and where the words that it takes are listed."""
    command = " ".join(("bayleaf", *(error.command_chain or ())))
    if isinstance(error, UnusedCliTokensError):
        words = name_list(error.unused_tokens or ())
        return f"{command} does not take {words}; {command} --help lists what it takes"
    if isinstance(error, UnknownOptionError) and "Did you mean" not in str(error):
        return f"{str(error).removesuffix('.')}; {command} --help lists the options"
    return str(error)


def _missing(error: MissingArgumentError) -> str:
    """What a command lacks, and its example; of a mistyped option the right one."""
    argument, example = error.argument, None
    if error.target is not None:
        example = re.search(r"Example: `(bayleaf[^`]*)`", error.target.__doc__ or "")
    if argument is None or example is None or "Did you mean" in str(error):
        return str(error)
    name = argument.name
    if argument.index is not None:
        name = name.removeprefix("--").upper()
    what = name if error.keyword is None else f"a value for {error.keyword}"
    return f"{' '.join(error.command_chain or ())} needs {what}, as in: {example[1]}"


class _LateConsole:
    """The console of help pages, made when one is printed: its import takes long."""

    def __getattr__(self, name: str) -> Any:
        from bayleaf.cli.console import ShownConsole

        return getattr(ShownConsole(), name)


@contextlib.contextmanager
def _stopping_tidily() -> Iterator[None]:
    """Let a request to end the program unwind it, so that no half file is left."""
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread may say what a signal does.
        yield
        return
    # SIGHUP, a closed terminal, does not exist everywhere.
    kinds = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    former = {kind: signal.getsignal(kind) for kind in kinds if kind is not None}
    # What was started to outlive its terminal, as by nohup, must do so.
    former = {k: handler for k, handler in former.items() if handler != signal.SIG_IGN}

    def stop(number: int, frame: FrameType | None) -> None:
        # The exit code that shells give to a signal.
        raise SystemExit(128 + number)

    for kind in former:
        signal.signal(kind, stop)
    try:
        yield
    finally:
        for kind, handler in former.items():
            signal.signal(kind, handler)


def _refuse(message: str) -> int:
    """Print one sentence on standard error and give the exit code for bad input."""
    words = (cut(word, _LONGEST_WORD) for word in visible_lines(message).split())
    sentence = cut(" ".join(words), _LONGEST_SENTENCE)
    print_error(f"bayleaf: {sentence}")
    return BAD_INPUT
