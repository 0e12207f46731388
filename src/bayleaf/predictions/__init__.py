"""Predictions of tables of any size, written part by part."""
