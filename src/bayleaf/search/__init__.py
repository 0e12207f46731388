"""Structure search from counts, and choices by leaving rows out."""

from bayleaf.search.left_out.left_out_scores import CalibrationBins, LeaveOneOutScores
from bayleaf.search.left_out.selection import SMOOTHING_GRID, Candidate, Selection

__all__ = [
    "SMOOTHING_GRID",
    "CalibrationBins",
    "Candidate",
    "LeaveOneOutScores",
    "Selection",
]
