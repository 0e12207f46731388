"""Scores of one family: how well a distribution of some shape fits its counts."""

from bayleaf.scores.local_score import LocalScore
from bayleaf.scores.resolve import LOCAL_SCORES, resolve_score

__all__ = ["LOCAL_SCORES", "LocalScore", "resolve_score"]
