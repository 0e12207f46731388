"""Classifiers as SQL: one query that scores a table, and tells why."""
