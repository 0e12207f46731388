"""The committed log-losses of mixtures are complete, in line, and come out again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
FIGURES = ["accuracy", "log_loss", "brier"]


@pytest.fixture(scope="module")
def folds() -> pd.DataFrame:
    """One line a table, model and fold."""
    return pd.read_csv(ROOT / "docs" / "results" / "mixtures_log_loss.csv")


def test_every_model_ran_on_every_fold_of_every_table(folds: pd.DataFrame) -> None:
    counts = folds.groupby(["table", "model"])["fold"].nunique()
    assert len(counts) == 11 * 5
    assert (counts == 5).all()
    assert len(folds) == counts.sum()


def test_averaging_starts_and_learning_in_batches_help(folds: pd.DataFrame) -> None:
    means = folds.groupby("model")[FIGURES].mean()
    losses = means["log_loss"]
    for learning in ("online", "batch"):
        ten, one = f"{learning}, 10 starts", f"{learning}, 1 start"
        assert losses[ten] < losses[one] - 0.009
        assert means["accuracy"][ten] >= means["accuracy"][one]
    assert losses["online, 1 start"] == pytest.approx(0.58, abs=0.02)
    assert losses["online, 10 starts"] == pytest.approx(0.48, abs=0.02)
    assert losses["batch, 1 start"] < 0.40
    assert losses["naive Bayes"] > losses["online, 1 start"]


@pytest.mark.slow
@pytest.mark.long
def test_the_figures_come_out_again(
    folds: pd.DataFrame, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from mixtures_log_loss import rows

    tables = ["hepatitis", "glass", "vote", "breast"]
    found = pd.DataFrame(rows(tables, 1)).set_index(["table", "model", "fold"])
    expected = folds.set_index(["table", "model", "fold"]).loc[tables]
    pd.testing.assert_frame_equal(
        found[FIGURES].sort_index(), expected[FIGURES].sort_index(), atol=2e-3, rtol=0
    )
