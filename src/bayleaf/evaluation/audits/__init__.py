"""Audits of a classifier by groups: figures, and how groups reach predictions."""
