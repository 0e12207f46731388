"""``bayleaf demo``: the shipped tables, compared and explained."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from bayleaf.wording import visible


def demo(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("report.html"),
) -> int:
    """Train on the shipped tables, compare the models, explain one, report on it.

    Example: `bayleaf demo`

    Parameters
    ----------
    output
        File for the report.
    """
    import narwhals as nw

    from bayleaf.classifiers import CLASSIFIERS, HNBClassifier
    from bayleaf.cli.showing.console import ShownConsole
    from bayleaf.datasets import load_heart, load_mushroom
    from bayleaf.evaluation import compare
    from bayleaf.evaluation.result_table import print_tables, title_of
    from bayleaf.io.atomic import check_writable

    check_writable(output)
    console = ShownConsole()
    folds, seed = 5, 0
    for table in (load_heart(), load_mushroom()):
        found = compare(
            table.X, table.y, list(CLASSIFIERS), n_folds=folds, random_state=seed
        )
        print_tables(found, console, f"{table.name}: {title_of(found)}")
        console.print()
    heart = load_heart()
    model = CLASSIFIERS["auto"](random_state=seed).fit(heart.X, heart.y)
    console.print(
        "\nWhy the first patient of the heart table gets this class (averaged KDB):"
    )
    print(model.explain(heart.X.slice(0, 1))[0])
    hierarchical = HNBClassifier(
        search="significance", significance_level=0.001, random_state=seed
    )
    # As a series the class keeps the name of its column.
    disease = nw.from_native(heart.frame, eager_only=True).get_column("disease")
    hierarchical.fit(heart.X, disease)
    console.print("\nLatent variables that dependent features of it point to (HNB):")
    print(hierarchical)
    _write_report(hierarchical, heart.frame, output, folds)
    return 0


def _write_report(model: Any, table: Any, output: Path, folds: int) -> None:
    """Write the page on a model and say where, or what it takes to write it."""
    from bayleaf.report import write_report

    try:
        write_report(model, table, output, n_folds=folds)
    except ImportError as error:
        print(f"\nNo report: {error}.")
        return
    print(f"\nA report on this model, to open in a browser: {visible(str(output))}")
