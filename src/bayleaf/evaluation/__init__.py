"""How well a classifier does on rows that it has not seen."""

from bayleaf.evaluation.cross_validation import CrossValidation, cross_validate

__all__ = ["CrossValidation", "cross_validate"]
