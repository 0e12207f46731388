"""Results: frozen dataclasses with plain values, and a document that shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from bayleaf.results.document import Document
from bayleaf.results.html import html_of


class Record:
    """A frozen dataclass that is written as plain values.

    The keys are the names of the fields, and of the properties in `computed`, but for
    those that `keys` renames or, by None, leaves out.
    """

    _keys: ClassVar[Mapping[str, str | None]] = MappingProxyType({})
    _computed: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(
        cls,
        keys: Mapping[str, str | None] = MappingProxyType({}),
        computed: tuple[str, ...] = (),
    ) -> None:
        super().__init_subclass__()
        cls._keys = keys or cls._keys
        cls._computed = computed or cls._computed

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON.

        Returns
        -------
        dict
            Nested dicts and lists; numbers that are not finite are None.
        """
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        keys = [(self._keys.get(n, n), n) for n in (*names, *self._computed)]
        return {key: plain_values(getattr(self, n)) for key, n in keys if key}


class Result(Record):
    """A result that terminals and notebooks show as its document."""

    def document(self) -> Document:
        """What is shown of the result, before it is text or HTML."""
        raise NotImplementedError

    def to_text(self, width: int = 80) -> str:
        """Write the result for a terminal.

        Parameters
        ----------
        width : int, default=80
            Characters per line.

        Returns
        -------
        str
        """
        # Laying out tables takes a library that plain values do without.
        from bayleaf.results.text import text_of

        return text_of(self.document(), width)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return html_of(self.document())


def plain_values(value: Any) -> Any:
    """A value as JSON can hold it; numbers that are not finite are None."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: plain_values(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain_values(getattr(value, f.name)) for f in fields(value)}
    return value
