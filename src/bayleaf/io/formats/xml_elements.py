"""XML as elements that know their line, parsed so that hostile files do no harm.

Entities, which can grow without bound or reach for other files, are refused. A document
type that only lists elements, as XMLBIF files show one, is harmless and passed over.
Text is written so that a parser returns the same text.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from xml.parsers.expat import ErrorString, errors
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from defusedxml import DefusedXmlException, EntitiesForbidden  # type: ignore[import-untyped]
from defusedxml.ElementTree import DefusedXMLParser, ParseError  # type: ignore[import-untyped]
from numpy.typing import NDArray

from bayleaf.data.domain import MAX_STATES
from bayleaf.data.files.text_encodings import utf_16_without_mark
from bayleaf.io.formats.full_tables import FullTable, NetworkWriter, network_writer
from bayleaf.io.formats.safe_names import NOTE_PREFIX, SafeNames
from bayleaf.io.formats.source_file import (
    MAX_BYTES,
    NetworkFileError,
    Reader,
    Result_co,
    file_reader,
    quoted,
    read_content,
    text_in,
    windows_text,
)

MAX_DEPTH = 100
MAX_ELEMENTS = 500_000
# A variable of as many states as may be still lists them, with room to spare.
MAX_CHILDREN = 2 * MAX_STATES
_BLANK = b" \t\r\n"
_ENCODING = re.compile(rb"<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([\w.-]{1,40})")
_LIKE_UTF_8 = (b"utf-8", b"utf8", b"ascii", b"us-ascii")
# What XML 1.0 (fifth edition, production 2) has no place for, even as a reference.
_NO_PLACE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(slots=True)
class XmlElement:
    """An element of an XML file."""

    file: str
    tag: str  # without a name space
    attributes: dict[str, str]
    line: int  # of its start tag, from 1
    children: list[XmlElement] = field(default_factory=list)
    text: str = ""  # without that of its children

    def all(self, tag: str) -> list[XmlElement]:
        """Children with a tag."""
        return [child for child in self.children if child.tag == tag]

    def optional(self, tag: str) -> XmlElement | None:
        """The child with a tag, or None; NetworkFileError if there are several."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(
                f"<{self.tag}> has a second <{tag}> here; leave one of them"
            )
        return found[0] if found else None

    def one(self, tag: str) -> XmlElement:
        """The one child with a tag; NetworkFileError if there is none or several."""
        child = self.optional(tag)
        if child is None:
            raise self.error(f"<{self.tag}> lacks the element <{tag}>; add it")
        return child

    def attribute(self, name: str) -> str:
        """An attribute that must be there and not be empty; else NetworkFileError."""
        value = self.attributes.get(name, "").strip()
        if not value:
            raise self.error(f'<{self.tag}> lacks the attribute "{name}"; add it')
        return value

    def words(self) -> str:
        """Its text without blanks at either end; NetworkFileError if none is left."""
        text = self.text.strip()
        if not text:
            raise self.error(f"<{self.tag}> is empty; put a name into it")
        return text

    def numbers(self, text: str | None = None) -> NDArray[np.float64]:
        """The numbers in its text, or in another one, split at blanks, dtype float64.

        NetworkFileError if a part is not a number.
        """
        texts = (self.text if text is None else text).split()
        values = np.empty(len(texts))
        for i, number in enumerate(texts):
            try:
                values[i] = float(number)
            except ValueError:
                raise self.error(
                    f"<{self.tag}> holds {quoted(number)}, which is no number; give "
                    "numbers with blanks between them"
                ) from None
        return values

    def error(self, problem: str) -> NetworkFileError:
        """An error that names the element's line."""
        return NetworkFileError(self.file, self.line, problem)


def xml_reader(
    root_tag: str, kind: str, *, also: str | None = None
) -> Callable[[Callable[[XmlElement, bool], Result_co]], Reader[Result_co]]:
    """The reader of an XML format, from what it makes of (root, normalize)."""

    def opened(path: str | Path, max_bytes: int, encoding: str | None) -> XmlElement:
        return read_xml(path, root_tag, kind, max_bytes, encoding, also=also)

    return partial(file_reader, opened)


def read_xml(
    path: str | Path,
    root_tag: str,
    kind: str,
    max_bytes: int = MAX_BYTES,
    encoding: str | None = None,
    *,
    also: str | None = None,
) -> XmlElement:
    """Read an XML file and return its root; `kind` is the format's name for the error.

    An `encoding` goes before the one that the file declares; `also` is a second root.

    NetworkFileError if the file exceeds `max_bytes`, is not well-formed, defines
    entities, is nested too deeply, or has a root other than `root_tag`.
    """
    file, content = Path(path).name, read_content(path, max_bytes)
    if encoding is not None:
        content = text_in(content, file, encoding).encode("utf-8")
    elif order := utf_16_without_mark(content):
        content = "\ufeff".encode(order) + content
    builder = _Builder(file, kind, None if encoding is None else "utf-8")
    root = builder.built(*_sound_start(content, file, encoding))
    if root.tag not in (root_tag, also):
        raise root.error(
            f"this is no {kind} file: its root is <{root.tag[:60]}>, not <{root_tag}>"
        )
    return root


def _sound_start(content: bytes, file: str, encoding: str | None) -> tuple[bytes, int]:
    """The content as parsers want it, and how many lines were cut off before it.

    Nothing may stand before a declaration, yet files begin with blank lines or a byte
    order mark that an editor put after them; and older programs write letters of the
    Windows code page without a word about it.
    """
    start = content.lstrip(_BLANK).removeprefix(BOM_UTF8).lstrip(_BLANK)
    n_lines = content.count(b"\n", 0, len(content) - len(start))
    if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return start, n_lines
    named = _ENCODING.match(start)
    is_other = named is not None and named[1].lower() not in _LIKE_UTF_8
    if is_other or encoding is not None:
        return start, n_lines
    try:
        start.decode("utf-8")
    except UnicodeDecodeError:
        start = windows_text(start, file).encode("utf-8")
    return start, n_lines


class _Builder:
    """Takes the parser's events and makes elements of them."""

    def __init__(self, file: str, kind: str, encoding: str | None) -> None:
        self.file = file
        self.kind = kind
        self._parser = DefusedXMLParser(
            target=self, encoding=encoding, forbid_dtd=False
        )
        # Defaults from a document type could fill the memory, element by element.
        self._parser.parser.specified_attributes = True
        self._parser.parser.buffer_size = 1 << 16
        self._root: XmlElement | None = None
        self._n_elements = 0
        self._open: list[tuple[XmlElement, list[str]]] = []
        self._n_cut = 0

    def built(self, content: bytes, n_cut: int = 0) -> XmlElement:
        """The root of a whole file before which some lines were cut off."""
        self._n_cut = n_cut
        try:
            self._parser.feed(content)
            self._parser.close()
        except ParseError as error:
            raise self._malformed(error) from None
        except DefusedXmlException as error:
            problem = (
                "the file refers to another file, which is refused for safety; remove "
                "the reference"
            )
            if isinstance(error, EntitiesForbidden):
                problem = (
                    f"the file defines the entity {quoted(error.name)}, which is "
                    "refused for safety; remove the definition and write out its text"
                )
            raise self._error(problem) from None
        except NetworkFileError:
            raise
        except (LookupError, ValueError):
            # Python knows no codec of the declared name, or cannot use it here.
            raise self._error(
                "the encoding that the file declares is unknown; save it as UTF-8"
            ) from None
        assert self._root is not None
        return self._root

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Open an element."""
        local = tag.rpartition("}")[2]
        plain = {name.rpartition("}")[2]: text for name, text in attributes.items()}
        element = XmlElement(self.file, local, plain, self._line)
        self._n_elements += 1
        if len(self._open) >= MAX_DEPTH:
            raise element.error(
                f"the elements are nested more than {MAX_DEPTH} deep, which no network "
                "needs; check where the file is from"
            )
        if self._n_elements > MAX_ELEMENTS:
            raise element.error(
                f"the file holds more than {MAX_ELEMENTS:,} elements; split the network"
            )
        if not self._open:
            self._root = element
        elif len(self._open[-1][0].children) < MAX_CHILDREN:
            self._open[-1][0].children.append(element)
        else:
            raise self._open[-1][0].error(
                f"<{self._open[-1][0].tag}> holds more than {MAX_CHILDREN:,} elements, "
                "which no variable needs; check where the file is from"
            )
        self._open.append((element, []))

    def data(self, text: str) -> None:
        """Take text of the innermost open element."""
        if self._open:
            self._open[-1][1].append(text)

    def end(self, tag: str) -> None:
        """Close an element."""
        element, pieces = self._open.pop()
        element.text = "".join(pieces)

    def close(self) -> None:
        """Take note of the end of the file, which needs nothing more."""

    @property
    def _line(self) -> int:
        """Where the parser stands."""
        return int(self._parser.parser.CurrentLineNumber) + self._n_cut

    def _error(self, problem: str) -> NetworkFileError:
        """An error that names the line where the parser stands."""
        return NetworkFileError(self.file, self._line, problem)

    def _malformed(self, error: Any) -> NetworkFileError:
        """What the parser's own complaint says."""
        line = int(error.position[0]) + self._n_cut
        reason = ErrorString(error.code)
        if self._root is None:
            problem = f"this is no {self.kind} file: it is not XML ({reason})"
        elif reason in (errors.XML_ERROR_NO_ELEMENTS, errors.XML_ERROR_UNCLOSED_TOKEN):
            within = self._open[-1][0] if self._open else self._root
            problem = (
                f"the file ends within <{within.tag[:60]}> of line {within.line}, as "
                "if cut short; get it whole"
            )
        else:
            problem = f"the XML is malformed here ({reason}); correct the tags"
        return NetworkFileError(self.file, line, problem)


def notes_of(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Our own properties, by the names of notes."""
    return {
        name.removeprefix(NOTE_PREFIX): text
        for name, text in pairs
        if name.startswith(NOTE_PREFIX)
    }


def xml_writer(
    lines: Callable[[SafeNames, Iterator[FullTable]], Iterator[str]],
) -> NetworkWriter:
    """The writer of an XML format, from the lines of its root element."""
    return network_writer(lambda names, tables: xml_lines(lines(names, tables)))


def xml_lines(lines: Iterator[str]) -> Iterator[str]:
    """Lines of a file, from those of its root element."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield from (f"{line}\n" for line in lines)


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
