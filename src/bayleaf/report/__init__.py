"""A page about a model: what it learned, how good it is, what matters, and why."""

from bayleaf.report.model_card import About, model_card
from bayleaf.report.page import report_html, write_report
from bayleaf.report.summarize import summarize

__all__ = ["About", "model_card", "report_html", "summarize", "write_report"]
