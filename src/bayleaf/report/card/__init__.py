"""Model cards: what a model is for, how good it is, and what it cannot know."""

from bayleaf.report.card.about import About
from bayleaf.report.card.contents import card_parts, card_title, model_card

__all__ = ["About", "card_parts", "card_title", "model_card"]
