"""A page about a model: what it learned, how good it is, what matters, and why."""

from bayleaf.report.page import report_html, write_report
from bayleaf.report.summary import summarize

__all__ = ["report_html", "summarize", "write_report"]
