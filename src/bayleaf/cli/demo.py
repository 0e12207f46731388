"""``bayleaf demo``: the shipped tables, compared and explained."""

from __future__ import annotations


def demo() -> int:
    """Train on the shipped tables, compare the models, explain one prediction.

    Example: `bayleaf demo`
    """
    from rich.console import Console

    from bayleaf.classifiers import CLASSIFIERS, HNBClassifier
    from bayleaf.datasets import load_heart, load_mushroom
    from bayleaf.evaluation import compare
    from bayleaf.evaluation.result_table import print_tables, title_of

    console = Console()
    folds, seed = 5, 0
    for table in (load_heart(), load_mushroom()):
        found = compare(
            table.X, table.y, list(CLASSIFIERS), n_folds=folds, random_state=seed
        )
        print_tables(found, console, f"{table.name}: {title_of(found)}")
        console.print()
    heart = load_heart()
    model = CLASSIFIERS["auto"]().fit(heart.X, heart.y)
    console.print(
        "\nWhy the first patient of the heart table gets this class (averaged KDB):"
    )
    print(model.explain(heart.X.slice(0, 1))[0])
    hierarchical = HNBClassifier(search="significance", significance_level=0.001)
    hierarchical.fit(heart.X, heart.y)
    console.print("\nLatent variables that dependent features of it point to (HNB):")
    print(hierarchical)
    return 0
