"""Structure search from counts, and choices by leaving rows out."""

from bayleaf.search.leave_one_out import LeaveOneOutScores
from bayleaf.search.selection import SMOOTHING_GRID, Candidate, Selection

__all__ = ["SMOOTHING_GRID", "Candidate", "LeaveOneOutScores", "Selection"]
