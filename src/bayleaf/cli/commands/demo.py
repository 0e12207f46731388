"""``bayleaf demo``: a shipped table, compared, explained and reported."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

from bayleaf.cli.display import text_width
from bayleaf.cli.options import Output
from bayleaf.wording import visible

if TYPE_CHECKING:
    from bayleaf.classifiers import HNBClassifier

_MODELS = ("nb", "tan", "kdb", "hnb", "aode", "auto")
_FOLDS, _SEED = 5, 0


def demo(*, output: Output = Path("report.html")) -> int:
    """Compare classifiers on a shipped table, explain a prediction, write a report.

    Example: `bayleaf demo`

    Parameters
    ----------
    output
        File for the report.
    """
    import narwhals as nw

    from bayleaf.classifiers import CLASSIFIERS, HNBClassifier
    from bayleaf.cli.console import ShownConsole
    from bayleaf.datasets import load_heart
    from bayleaf.evaluation import compare
    from bayleaf.evaluation.comparison import title_of
    from bayleaf.io.atomic import check_writable

    check_writable(output)
    console = ShownConsole()
    heart = load_heart()
    comparison = compare(
        heart.X, heart.y, list(_MODELS), n_folds=_FOLDS, random_state=_SEED
    )
    title = f"Held-out scores on heart disease: {title_of(comparison)}"
    console.print(comparison.to_tables(title, console.width)[0])
    for line in comparison.legend():
        console.print(line, markup=False, highlight=False)
    model = CLASSIFIERS["auto"](random_state=_SEED).fit(heart.X, heart.y)
    console.print("\nWhy the first patient gets this class (auto: averaged KDB):")
    (explanation,) = model.explain(heart.X.slice(0, 1))
    print(explanation.to_text(columns=text_width()))
    hierarchical = HNBClassifier(
        search="significance", significance_level=0.001, random_state=_SEED
    )
    # As a series the class keeps the name of its column.
    disease = nw.from_native(heart.frame, eager_only=True).get_column("disease")
    hierarchical.fit(heart.X, disease)
    print(f"\nA rule (hnb: hierarchical naive Bayes):\n{_clearest_rule(hierarchical)}")
    _write_report(hierarchical, heart.frame, output)
    console.print("\nNext, with this table or your own CSV or Parquet file:")
    print("\n".join(f"  {command}" for command in _next_commands()))
    return 0


def _clearest_rule(model: HNBClassifier) -> str:
    """State the rule of the latent state that raises a class most."""
    state = max(
        (state for report in model.latents_ for state in report.states),
        key=lambda state: float(state.lift.max()),
    )
    best = int(state.lift.argmax())
    return (
        f"  if {state.rules[0]}\n"
        f"  then disease = {model.classes_[best]} with probability "
        f"{state.class_probabilities[best]:.3f} ({state.lift[best]:.2f} times the "
        f"average), from {state.n:.0f} patients"
    )


def _write_report(model: Any, table: Any, output: Path) -> None:
    """Write the report on a model and print its path, or what it takes to write it."""
    from bayleaf.report import write_report

    try:
        write_report(model, table, output, n_folds=_FOLDS)
    except ImportError as error:
        print(f"\nNo report: {error}.")
        return
    print(f"\nA report on this model, to open in a browser: {visible(str(output))}")


def _next_commands() -> list[str]:
    """Three commands to try next, with paths as seen from the working directory."""
    import bayleaf.datasets

    table = Path(bayleaf.datasets.__file__).parent / "tables" / "heart.csv.gz"
    name, source = _program(), _word(str(_from_here(table)))
    return [
        f"{name} fit {source} --target disease -o heart.json",
        f"{name} explain heart.json {source} --line 1",
        f"{name} explore heart.json -o explorer.html",
    ]


def _program() -> str:
    """Name the command, by the path of this program if PATH has another or none."""
    # On Windows PATH has bayleaf.exe, and the program is called without its suffix.
    program, on_path = Path(sys.argv[0]).with_suffix(""), which("bayleaf")
    is_on_path = (
        on_path and Path(on_path).resolve().with_suffix("") == program.resolve()
    )
    if is_on_path or program.name != "bayleaf":
        return "bayleaf"
    return _word(str(_from_here(program)))


def _word(text: str) -> str:
    """Quote one word of a command line for the system's shell."""
    return subprocess.list2cmdline([text]) if os.name == "nt" else shlex.quote(text)


def _from_here(path: Path) -> Path:
    """Shorten a path below the working directory."""
    folder = Path.cwd()
    return path.relative_to(folder) if path.is_relative_to(folder) else path
