"""Text put into XML so that a parser gives back the same text."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

# What XML 1.0 (fifth edition, production 2) has no place for, even as a reference.
_NO_PLACE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_holds(text: str) -> bool:
    """Whether every character of a text may stand in XML 1.0."""
    return _NO_PLACE.search(text) is None


def xml_text(text: str) -> str:
    """A text as the content of an element."""
    # A bare carriage return would be read as a line feed.
    return escape(text, {"\r": "&#13;"})


def xml_attributes(values: dict[str, str]) -> str:
    """Attributes as they stand in a tag, each after a blank."""
    return "".join(f" {name}={quoteattr(value)}" for name, value in values.items())
