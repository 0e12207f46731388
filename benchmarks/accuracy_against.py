"""Averaged KDB beside each peer of another package: halves, ranks, where it loses."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from bayleaf.evaluation import RankTest, friedman_test

sys.path.insert(0, str(Path(__file__).parent / "speed"))
from machine import markdown_table

OURS = "averaged KDB"
# How the names of this library's classifiers begin.
HOUSE = (OURS, "KDB", "naive Bayes", "A2DE")
# A table on which a peer's log-loss is lower by more than this is named.
MUCH = 0.01


def against_peers(means: pd.DataFrame) -> str:
    """The section on the peers, from means by table, shuffle and model.

    Ranks are those among averaged KDB and the peers that were run on all tables, on the
    shuffles that all of these share; a peer run on fewer tables is compared on those.
    """
    ranks, sentence = _ranks(means)
    names = sorted(means["table"].unique())
    rows = []
    for peer in _peers(means):
        gap = _gaps(means, peer)
        halves = (gap[gap.index.isin(half)] for half in (names[0::2], names[1::2]))
        shown = (f"{half.mean():+.3f}" if len(half) else "-" for half in halves)
        rows.append([peer, str(len(gap)), *shown, ranks.get(peer, "-"), _behind(gap)])
    heading = [
        "peer",
        "tables",
        "more log-loss, development",
        "more log-loss, confirming",
        "worse in mean rank by",
        f"tables on which {OURS} loses more than {MUCH}",
    ]
    return "\n".join(
        [
            "\n## Against each peer\n",
            f"How much more log-loss than {OURS} a peer has, on average over the "
            f"tables and shuffles that both were run on. {sentence}\n",
            markdown_table(heading, rows),
            f"\nDevelopment tables: {', '.join(names[0::2])}.\n",
            f"Confirming tables: {', '.join(names[1::2])}.",
        ]
    )


def _ranks(means: pd.DataFrame) -> tuple[dict[str, str], str]:
    """By how much each peer is worse in mean rank, and what that is held against."""
    losses, shuffles = _shared(means)
    test = peer_ranks(means)
    if test is None:
        return {}, "Too few models were run on all tables to rank them."
    critical, own = test.critical_difference(), test.mean_ranks[OURS]
    shown = {}
    for peer, rank in test.mean_ranks.items():
        verdict = "significant" if abs(rank - own) > critical else "not significant"
        shown[peer] = f"{rank - own:+.2f}, {verdict}"
    return shown, (
        f"Ranks are those of {OURS} (mean rank {own:.2f}) among the peers run on all "
        f"{test.n_datasets} tables, on {_seeds(shuffles)}. A difference of more than "
        f"{critical:.2f} is significant (Nemenyi's test at .05 over {losses.shape[1]} "
        f"models; Friedman's p = {test.p_value:.1g})."
    )


def peer_ranks(means: pd.DataFrame) -> RankTest | None:
    """Mean ranks by log-loss of averaged KDB and peers; None if there are too few."""
    losses, _ = _shared(means)
    if losses.shape[1] < 3:
        return None
    return friedman_test(losses.to_dict("list"), larger_is_better=False)


def _peers(means: pd.DataFrame) -> list[str]:
    """Models of other packages, in the order of the file."""
    return [m for m in means["model"].unique() if not m.startswith(HOUSE)]


def _shared(means: pd.DataFrame) -> tuple[pd.DataFrame, list[int]]:
    """Log-loss by table and model on the shuffles that all ranked models share."""
    n_tables = means["table"].nunique()
    counts = means.groupby(["model", "shuffle"])["table"].nunique()
    full = counts[counts == n_tables].reset_index()
    of_models = {m: set(own["shuffle"]) for m, own in full.groupby("model")}
    ranked = [m for m in (OURS, *_peers(means)) if of_models.get(m)]
    shuffles = set.intersection(*(of_models[m] for m in ranked))
    own = means[means["model"].isin(ranked) & means["shuffle"].isin(shuffles)]
    wide = own.pivot_table(index="table", columns="model", values="log_loss")
    return wide[[m for m in ranked if m in wide]], sorted(shuffles)


def _gaps(means: pd.DataFrame, peer: str) -> pd.Series[float]:
    """How much more log-loss a peer has, table by table, where both were run."""
    wide = means.pivot_table(
        index=["table", "shuffle"], columns="model", values="log_loss"
    )
    pair = wide[[OURS, peer]].dropna().groupby("table").mean()
    return pair[peer] - pair[OURS]


def _behind(gap: pd.Series[float]) -> str:
    """Tables on which a peer is better by more than a little, the worst first."""
    worse = gap[gap < -MUCH].sort_values()
    return ", ".join(f"{table} {-loss:.3f}" for table, loss in worse.items()) or "none"


def _seeds(shuffles: list[int]) -> str:
    """Which shuffles, in words."""
    noun = "the shuffle with seed" if len(shuffles) == 1 else "the shuffles with seeds"
    return f"{noun} {' and '.join(map(str, shuffles))}"
