"""The page of held-out accuracy and log-loss, written from the results file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import matplotlib as mpl
import pandas as pd

from bayleaf.evaluation import friedman_test
from bayleaf.plot import critical_difference

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "speed"))
from machine import describe_processor, markdown_table

from accuracy_against import MUCH, OURS, against_peers, peer_ranks

# Log-losses closer than this are a tie.
TIE = 0.0005
PACKAGES = (
    *("scikit-learn", "numpy", "scipy"),
    *("lightgbm", "xgboost", "catboost", "interpret-core"),
)

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "accuracy.svg"
HEADER = """# Accuracy

![Mean ranks of averaged KDB and peers by held-out log-loss](../pictures/accuracy.svg)

Mean ranks by log-loss over {n_tables} tables, the best at the left; a bar joins models
that do not differ significantly (Nemenyi's test at .05).

Held-out log-loss (nats, probabilities clipped at 1e-15) and accuracy on {n_tables}
published tables: {n_folds} stratified folds, shuffles with the seeds {seeds}.
Every model sees the same folds and learns everything, cut points included, inside the
training fold. `benchmarks/accuracy.py` runs the protocol and writes this page from
`accuracy.csv`, which holds every fold.

- The tables are those whose source fixes no split of its own. Those of `scale/` are cut
  to 6 000 rows drawn with seed 0; the numeric targets of abalone, housing and servo are
  cut at whole standard deviations.
- Averaged KDB and the other classifiers of this library run with the parameters named,
  all else by default. Random forest: 300 trees, votes mixed with one pseudo-vote a
  class, nominal columns one-hot. Boosting: the number of rounds (at most 300) and,
  where it says calibrated, one temperature are chosen on three inner folds of the
  training rows; categories and missing cells are taken natively, all else by default
  (CatBoost and XGBoost with the others' learning rate of 0.1; LightGBM and
  HistGradientBoosting with XGBoost's penalty of 1 on squared leaf values, for without
  one they diverge on kddcup99-10pct and nursery). Logistic regression:
  C, from .01 to 100, by three inner folds; numbers standardised, the mean and an
  indicator for missing cells; nominal columns one-hot.
  {ebm}
- What averaged KDB does was chosen on the *development* tables, every second of the
  sorted names from the first on; the others *confirm* it.
- A class that a training fold lacks gets probability 0 from every model.
- Measured on {processor}, with {packages}.
"""


def write_page(results: Path, page: Path) -> None:
    """Write the Markdown page from the CSV file of all folds."""
    folds = pd.read_csv(results)
    cells = folds.groupby(["table", "shuffle", "model"], sort=False)
    means = cells[["log_loss", "accuracy"]].mean().reset_index()
    models = list(dict.fromkeys([OURS, *folds["model"]]))
    losses = means.pivot_table(index="table", columns="model", values="log_loss")
    shares = means.pivot_table(index="table", columns="model", values="accuracy")
    text = "\n".join(
        [
            HEADER.format(
                n_tables=folds["table"].nunique(),
                n_folds=folds["fold"].nunique(),
                seeds=" and ".join(map(str, sorted(folds["shuffle"].unique()))),
                processor=describe_processor(),
                ebm="EBM: as it comes." if "EBM" in models else "EBM was not run.",
                packages=", ".join(versions()),
            ),
            "## Over all tables\n",
            _overview(means, models),
            _coverage(means, models),
            against_peers(means),
            "\n## Log-loss, table by table\n",
            _by_table(losses[models], 1.0, 3, min),
            "\n## Accuracy in percent, table by table\n",
            _by_table(shares[models], 100.0, 1, max),
            "",
        ]
    )
    page.write_text(text, encoding="utf-8")
    draw_ranks(means, PICTURE)


def draw_ranks(means: pd.DataFrame, picture: Path) -> None:
    """Draw averaged KDB among the peers that were run on all tables."""
    ranks = peer_ranks(means)
    if ranks is None:
        return
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "bayleaf"}):
        figure = critical_difference(ranks).figure
        figure.savefig(picture, metadata={"Date": None})
    lines = picture.read_text("utf-8").splitlines()
    picture.write_text("\n".join(map(str.rstrip, lines)) + "\n", "utf-8", newline="\n")


def versions() -> list[str]:
    """Names and versions of the packages that were measured."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def _paired(means: pd.DataFrame, model: str) -> pd.DataFrame:
    """Mean log-loss of averaged KDB and another model where both were run."""
    wide = means.pivot_table(
        index=["table", "shuffle"], columns="model", values="log_loss"
    )
    return wide[[OURS, model]].dropna().groupby("table").mean()


def _overview(means: pd.DataFrame, models: list[str]) -> str:
    """Means, ranks with their critical difference, and how often averaged KDB wins."""
    complete = [m for m in models if _n_cells(means, m) == _n_cells(means, OURS)]
    losses = means[means["model"].isin(complete)].pivot_table(
        index="table", columns="model", values="log_loss"
    )
    test = friedman_test(losses.to_dict("list"), larger_is_better=False)
    ranks = test.mean_ranks
    rows = []
    for model in models:
        own = means[means["model"] == model]
        rows.append(
            [
                model,
                f"{own.groupby('table')['log_loss'].mean().mean():.3f}",
                f"{own.groupby('table')['log_loss'].mean().median():.3f}",
                *_halves(means, model),
                f"{100 * own.groupby('table')['accuracy'].mean().mean():.1f}",
                f"{ranks[model]:.2f}" if model in ranks else "-",
                "-" if model == OURS else _against(means, model),
            ]
        )
    table = markdown_table(
        [
            "model",
            "mean log-loss",
            "median log-loss",
            "development / confirming",
            "mean accuracy",
            "mean rank by log-loss",
            f"{OURS} wins / ties / loses by log-loss (tie: within {TIE})",
        ],
        rows,
    )
    return (
        f"{table}\n\nMean ranks by log-loss that differ by more than "
        f"{test.critical_difference():.2f} differ significantly (Nemenyi's test at .05 "
        f"over {test.n_datasets} tables; Friedman's p = {test.p_value:.1g}).\n\n"
        f"{_behind(means, models)}"
    )


def _halves(means: pd.DataFrame, model: str) -> list[str]:
    """Mean log-loss on development and on confirming tables."""
    names = sorted(means["table"].unique())
    own = means[means["model"] == model].groupby("table")["log_loss"].mean()
    parts = [own[own.index.isin(half)].mean() for half in (names[0::2], names[1::2])]
    return [" / ".join(f"{part:.3f}" for part in parts)]


def _behind(means: pd.DataFrame, models: list[str]) -> str:
    """Tables on which averaged KDB is much worse than the best of all models."""
    wide = means.pivot_table(index="table", columns="model", values="log_loss")
    others = wide[[model for model in models if model != OURS]]
    gap = (wide[OURS] - others.min(axis=1)).sort_values(ascending=False)
    named = [
        f"{table} ({loss:.3f}, {others.loc[table].idxmin()})"
        for table, loss in gap[gap > MUCH].items()
    ]
    best = wide.min(axis=1).mean()
    return (
        f"Tables on which {OURS} is behind the best of all by more than {MUCH}: "
        f"{', '.join(named) or 'none'}. Who took the best of all models on every "
        f"table, with hindsight, would have a mean log-loss of {best:.3f}."
    )


def _against(means: pd.DataFrame, model: str) -> str:
    """On how many tables averaged KDB wins, ties and loses against a model."""
    pair = _paired(means, model)
    gain = pair[model] - pair[OURS]
    wins, ties = int((gain > TIE).sum()), int((gain.abs() <= TIE).sum())
    return f"{wins} / {ties} / {len(gain) - wins - ties}"


def _n_cells(means: pd.DataFrame, model: str) -> int:
    """Tables times shuffles that a model was run on."""
    return int((means["model"] == model).sum())


def _coverage(means: pd.DataFrame, models: list[str]) -> str:
    """Say on how much a model was run that was not run on everything."""
    most = _n_cells(means, OURS)
    lines = [
        f"\n{model} was run on {_n_cells(means, model)} of the {most} shuffled tables; "
        f"its wins and losses are counted there, its means are over those "
        f"(averaged KDB there: {_paired(means, model)[OURS].mean():.3f})."
        for model in models
        if _n_cells(means, model) < most
    ]
    return "\n".join(lines)


def _by_table(
    values: pd.DataFrame,
    factor: float,
    digits: int,
    best: Callable[[list[float]], float],
) -> str:
    """A Markdown table of one score, the best of each row in bold."""
    rows = []
    for table, line in values.iterrows():
        shown = [f"{factor * v:.{digits}f}" if v == v else "-" for v in line]
        numbers = [float(cell) for cell in shown if cell != "-"]
        top = best(numbers)
        rows.append(
            [
                str(table),
                *(
                    f"**{cell}**" if cell != "-" and float(cell) == top else cell
                    for cell in shown
                ),
            ]
        )
    return markdown_table(["table", *values.columns], rows)
