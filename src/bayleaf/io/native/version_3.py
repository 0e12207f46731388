"""Documents of schema version 3 in the form of today."""

from __future__ import annotations

from typing import Any

# What reading a table did before there were rules for it.
_RULES = {
    "identifiers": "keep",
    "rare": "error",
    "dates": "error",
    "ordered_features": [],
}


def with_rules(document: dict[str, Any]) -> dict[str, Any]:
    """A document with the rules that version 3 had no words for."""
    rules = document.get("rules")
    if not isinstance(rules, dict):
        return document
    return {**document, "rules": {**_RULES, **rules}}
