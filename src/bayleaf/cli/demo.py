"""``bayleaf demo``: the shipped tables, compared and explained."""

from __future__ import annotations


def demo() -> int:
    """Train on the shipped tables, compare the models, explain one prediction.

    Example: `bayleaf demo`
    """
    from rich.console import Console

    from bayleaf.classifiers import CLASSIFIERS, HNBClassifier
    from bayleaf.datasets import load_heart, load_mushroom
    from bayleaf.evaluation.cross_validation import comparison_table, cross_validate

    console = Console()
    folds, seed = 5, 0
    for table in (load_heart(), load_mushroom()):
        results = cross_validate(
            {name: kind(random_state=seed) for name, kind in CLASSIFIERS.items()},
            table.X,
            table.y,
            n_folds=folds,
            random_state=seed,
        )
        title = (
            f"{table.name}: {table.X.num_rows} rows, {table.X.num_columns} features, "
            f"{folds} stratified folds, seed {seed}"
        )
        console.print(comparison_table(results, title))
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
