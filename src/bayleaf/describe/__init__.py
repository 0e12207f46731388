"""Summaries, drawings and texts of finished models."""

from bayleaf.describe.fitted_summary import Summary

__all__ = ["Summary"]
