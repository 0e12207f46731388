"""Places inside parsed documents, and documents with one of them changed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to all values inside a document, but only to a few of long lists."""
    if path:
        yield path
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
        items = items if len(items) < 8 else [*items[:2], items[-1]]
    for key, item in items:
        yield from leaves(item, (*path, key))


def changed(document: Any, path: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    """A copy of a document with one value changed."""
    document = copy.deepcopy(document)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = change(inner[path[-1]])
    return document
