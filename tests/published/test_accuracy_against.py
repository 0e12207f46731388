"""What the page on accuracy says of each peer, on tables made by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from accuracy_against import against_peers
from accuracy_page import draw_ranks

TABLES = [f"t{place}" for place in range(8)]


def means(losses: dict[str, float], shuffles: dict[str, list[int]]) -> pd.DataFrame:
    rows = [
        {"table": table, "shuffle": shuffle, "model": model, "log_loss": loss}
        for model, loss in losses.items()
        for shuffle in shuffles.get(model, [0, 1])
        for table in TABLES
    ]
    return pd.DataFrame(rows)


def line_of(text: str, peer: str) -> list[str]:
    (line,) = [own for own in text.splitlines() if own.startswith(f"| {peer} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


LOSSES = {"averaged KDB": 0.3, "naive Bayes": 0.9, "forest": 0.5, "boosting": 0.4}


def test_a_difference_of_ranks_is_held_against_the_critical_one() -> None:
    text = against_peers(means(LOSSES, {}))
    # Three models on 8 tables: 2.344 sqrt(3 * 4 / (6 * 8)) = 1.17 (Demsar 2006).
    assert "more than 1.17 is significant" in text
    assert line_of(text, "forest")[4] == "+2.00, significant"
    assert line_of(text, "boosting")[4] == "+1.00, not significant"
    assert "naive Bayes" not in text


def test_tables_where_ours_is_behind_are_named_the_worst_first() -> None:
    frame = means(LOSSES, {})
    forest = frame["model"] == "forest"
    frame.loc[forest & (frame["table"] == "t3"), "log_loss"] = 0.25
    frame.loc[forest & (frame["table"] == "t4"), "log_loss"] = 0.1
    frame.loc[forest & (frame["table"] == "t5"), "log_loss"] = 0.295
    line = line_of(against_peers(frame), "forest")
    assert line[5] == "t4 0.200, t3 0.050"
    # Tables t0, t2, t4, t6 are for development, the others confirm.
    assert line[2:4] == ["+0.100", "+0.086"]


def test_ranks_are_taken_on_the_shuffles_that_all_peers_share() -> None:
    frame = means(LOSSES, {"boosting": [1]})
    frame.loc[(frame["shuffle"] == 0) & (frame["model"] == "forest"), "log_loss"] = 0.0
    text = against_peers(frame)
    assert "on the shuffle with seed 1." in text
    assert line_of(text, "forest")[4] == "+2.00, significant"


def test_a_peer_run_on_some_tables_is_compared_there_and_not_ranked() -> None:
    frame = means({**LOSSES, "EBM": 0.2}, {})
    frame = frame[(frame["model"] != "EBM") | (frame["table"] == "t1")]
    line = line_of(against_peers(frame), "EBM")
    assert line == ["EBM", "1", "-", "-0.100", "-", "t1 0.100"]


def test_the_picture_shows_the_ranks_of_the_peers(tmp_path: Path) -> None:
    draw_ranks(means(LOSSES, {}), tmp_path / "ranks.svg")
    shown = (tmp_path / "ranks.svg").read_text("utf-8")
    assert "critical difference 1.17" in shown
    assert all(name in shown for name in ("averaged KDB", "forest", "boosting"))
    assert "naive Bayes" not in shown


def test_the_page_opens_with_the_picture() -> None:
    text = (Path(__file__).parents[2] / "docs/results/accuracy.md").read_text("utf-8")
    assert text.splitlines()[2].endswith("(../pictures/accuracy.svg)")
