"""The committed accuracy figures are complete, and say what is said of them."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from bayleaf.models.averaged_kdb_model import MEASURED_LOG_LOSS

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
OURS = "averaged KDB"


@pytest.fixture(scope="module")
def losses() -> pd.DataFrame:
    """Mean log-loss of each model on each table."""
    folds = pd.read_csv(RESULTS / "accuracy.csv")
    return folds.pivot_table(index="table", columns="model", values="log_loss")


# What need not be run on everything: on tables of few columns, or as far as time went.
PARTLY = {"A2DE, calibrated", "EBM"} | {
    f"{name}{how}"
    for name in ("CatBoost", "HistGradientBoosting", "LightGBM", "XGBoost")
    for how in ("", ", calibrated")
}


def test_every_model_ran_on_every_fold_of_every_table() -> None:
    folds = pd.read_csv(RESULTS / "accuracy.csv")
    assert folds["table"].nunique() == 46
    counts = folds.groupby(["model", "table", "shuffle"])["fold"].nunique()
    assert (counts == 5).all()
    sizes = folds.groupby("model").size()
    assert (sizes[~sizes.index.isin(PARTLY)] == 46 * 2 * 5).all()
    assert not folds.duplicated(["model", "table", "shuffle", "fold"]).any()


def test_averaged_kdb_keeps_to_its_targets(losses: pd.DataFrame) -> None:
    folds = pd.read_csv(RESULTS / "accuracy.csv")
    accuracy = folds[folds["model"] == OURS].groupby("table")["accuracy"].mean().mean()
    assert losses[OURS].mean() <= 0.305
    assert accuracy >= 0.875
    assert (losses[OURS] < losses["random forest"]).sum() >= 43
    # Its rounds are chosen on inner folds and its leaves are pulled to nothing; by
    # default, without either, it lost on three tables more.
    boosting = losses["HistGradientBoosting"].dropna()
    assert (losses[OURS][boosting.index] < boosting).sum() >= 34
    assert losses[OURS][boosting.index].mean() < boosting.mean() - 0.02


def test_the_readme_counts_its_wins_rightly(losses: pd.DataFrame) -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    found = re.search(
        r"forest higher on (\d+), lower on \d+; boosting higher on (\d+)", text
    )
    assert found is not None
    wins = [
        int((losses[OURS] < losses[peer]).sum())
        for peer in ("random forest", "HistGradientBoosting")
    ]
    assert [int(number) for number in found.groups()] == wins


def test_summaries_quote_the_measured_log_losses(losses: pd.DataFrame) -> None:
    for model, quoted in MEASURED_LOG_LOSS.items():
        assert quoted == pytest.approx(losses[model].mean(), abs=0.0005)
