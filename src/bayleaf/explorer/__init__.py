"""A page to play with a model: its network, its evidence, and exact inference."""

from bayleaf.explorer.explorer_page import (
    explorer_html,
    suggested_cases,
    words_template,
    write_explorer,
)

__all__ = ["explorer_html", "suggested_cases", "words_template", "write_explorer"]
