"""Influence diagrams: best policies, expected utilities, values of information."""

from bayleaf.decisions.influence_diagram import InfluenceDiagram, Utility
from bayleaf.decisions.solution import Policy, Solution

__all__ = ["InfluenceDiagram", "Policy", "Solution", "Utility"]
