"""Results: frozen dataclasses with plain values, and a document that shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from bayleaf.results.document import Document, Facts, Items, Name, Part, Table, Text
from bayleaf.results.html import html_of
from bayleaf.typing import JSONObject
from bayleaf.wording import brief_fields, brief_value, in_bits, spaced

if TYPE_CHECKING:
    import pandas as pd

# Objects of a list that are shown.
_MAX_LISTED = 40


class Shown:
    """A frozen dataclass that notebooks show as its document.

    By default that is its text where the class writes one, or its representation in a
    line; else its public fields, of which those named by `nats` are in bits.
    """

    _nats: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, nats: tuple[str, ...] = ()) -> None:
        super().__init_subclass__()
        cls._nats = nats or cls._nats

    def document(self) -> Document:
        """What is shown of the result, before it is text or HTML."""
        text = _text_of(self)
        if text:
            return Document("", text.splitlines())
        facts: list[tuple[str, Text]] = []
        lists: list[Part] = []
        for name, value in _public_fields(self).items():
            if isinstance(value, list | tuple) and isinstance(value[0], Shown):
                lists.append(list_of(value, spaced(name)))
            else:
                facts.append((_label(self, name), _text(self, name, value)))
        return Document(spaced(type(self).__name__), [Facts(facts), *lists])

    def _repr_html_(self) -> str:
        return html_of(self.document())


def list_of(shown: Sequence[Shown], title: str = "") -> Part:
    """Objects of one class below one another: a table of their fields, or texts."""
    texts = [*map(_text_of, shown)]
    if any(texts):
        return Items(texts, title, _MAX_LISTED, is_short=True)
    rows = [_public_fields(line) for line in shown]
    names = list(dict.fromkeys(name for row in rows for name in row))
    heads = [_label(shown[0], name) for name in names]
    cells = [
        [_text(line, name, row[name]) if name in row else "" for name in names]
        for line, row in zip(shown, rows, strict=True)
    ]
    numbers = [any(isinstance(row.get(n), int | float) for row in rows) for n in names]
    n_words = [*numbers, True].index(True)
    return Table(heads, cells, title, max(1, n_words), max_rows=_MAX_LISTED)


def _text_of(shown: Shown) -> str:
    """What the class of an object writes for people; empty if only its fields."""
    if type(shown).__str__ not in (object.__str__, Result.__str__):
        return str(shown)
    line = "" if type(shown).__repr__ is brief_fields else repr(shown)
    return line[1:-1] if line.startswith("<") else ""


def _public_fields(shown: Shown) -> dict[str, Any]:
    """The fields of an object that have a value and are not private or bulky."""
    values = {f.name: getattr(shown, f.name) for f in fields(shown) if f.repr}  # type: ignore[arg-type]
    return {
        name: value
        for name, value in values.items()
        if not name.startswith("_")
        and value is not None
        and not (isinstance(value, Sequence | Mapping) and not value)
    }


def _label(shown: Shown, name: str) -> str:
    """What a field is called on pages."""
    return f"{spaced(name)} (bits)" if name in shown._nats else spaced(name)


def _text(shown: Shown, name: str, value: Any) -> Text:
    """The value of a field in a few words."""
    if name in shown._nats:
        # The command's help imports this file, and not NumPy.
        import numpy as np

        value = in_bits(np.asarray(value, dtype=np.float64))[()]
    if isinstance(value, Shown):
        value = _text_of(value) or repr(value)
    return Name(value) if isinstance(value, str) else brief_value(value)


class Record(Shown):
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
        nats: tuple[str, ...] = (),
    ) -> None:
        super().__init_subclass__(nats)
        cls._keys = keys or cls._keys
        cls._computed = computed or cls._computed

    def to_dict(self) -> JSONObject:
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
    """A result that terminals show as its document, too."""

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

    def to_latex(self) -> str:
        r"""Write the result as LaTeX, tables in the rules of the package booktabs.

        Returns
        -------
        str
            Without pictures; to be used with ``\usepackage{booktabs}``.
        """
        from bayleaf.results.latex import latex_of

        return latex_of(self.document())

    def to_rows(self) -> list[JSONObject]:
        """List the lines of the tables that are shown, a flat dict each.

        Returns
        -------
        list of dict
            Cells by the head of their column, numbers as numbers; of several tables
            each line has the title of its own as "table".

        Raises
        ------
        ValueError
            If the result has no table.
        """
        from bayleaf.results.frames import rows_of

        return rows_of(self.document())

    def to_pandas(self) -> pd.DataFrame:
        """Convert the lines of `to_rows` to a data frame of pandas.

        Returns
        -------
        pandas.DataFrame
            One row per line; cells that a line lacks are missing.

        Raises
        ------
        ValueError
            If the result has no table.
        ImportError
            If pandas is not installed.
        """
        from bayleaf.results.frames import pandas_of

        return pandas_of(self.to_rows())

    def __str__(self) -> str:
        return self.to_text()


def plain_values(value: Any) -> Any:
    """A value as JSON can hold it; numbers that are not finite are None."""
    if isinstance(value, Record):
        return value.to_dict()
    # Arrays and numbers of NumPy.
    if hasattr(value, "dtype"):
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
