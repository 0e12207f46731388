"""Summaries, drawings and texts of finished models."""

from bayleaf.describe.summary import Summary

__all__ = ["Summary"]
