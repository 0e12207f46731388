"""Scores of one family: how well a distribution of some shape fits its counts."""

from bayleaf.scores.local_scores import LOCAL_SCORES, LocalScore, resolve_score

__all__ = ["LOCAL_SCORES", "LocalScore", "resolve_score"]
