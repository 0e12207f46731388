"""Estimates where exact answers need too large tables: weighted samples."""
