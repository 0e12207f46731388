"""Network files as they come: content, encoding, and errors that say where."""

from __future__ import annotations

import logging
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from bayleaf.data.files.text_encodings import (
    encoding_hint,
    unlikely_western,
    utf_16_without_mark,
)
from bayleaf.io.bounded import opened, read_at_most
from bayleaf.io.errors import ModelFileError

# Larger files are refused before they are read.
MAX_BYTES = 1 << 28
_MOST_LETTERS_OF_A_NAME = 60
_LOGGER = logging.getLogger("bayleaf")
Content = TypeVar("Content")
Result_co = TypeVar("Result_co", covariant=True)
# For the log, with the file's name: what nobody could see from the numbers.
AGRUM_TURNS_PARENTS = (
    "%s: this looks like a file of pyAgrum, whose version 3.3.1 turns the order of "
    "parents round in this format; if it did here, tables with two parents or more are "
    "wrong: save the network as .bif there"
)


class NetworkFileError(ModelFileError):
    """A network file cannot be used; the message is one sentence with file and line.

    Parameters
    ----------
    file : str
        The file's name.
    line : int or None
        Line of the problem, from 1; None where the whole file is meant.
    problem : str
        What is wrong and how to correct it.
    """

    def __init__(self, file: str, line: int | None, problem: str) -> None:
        where = file if line is None else f"{file}, line {line}"
        super().__init__(f"{where}: {problem}")


class DecisionsError(NetworkFileError):
    """A file has decisions or utilities where a network is expected."""

    def __init__(self, file: str, line: int | None, problem: str) -> None:
        remedy = "read influence diagrams with read_influence_diagram or bayleaf decide"
        super().__init__(file, line, f"{problem}; {remedy}")


class Reader(Protocol[Result_co]):
    """A format's function that reads a file.

    `normalize` as in `RowSums`. NetworkFileError names file and line; files larger than
    `max_bytes` are refused.
    """

    def __call__(
        self,
        path: str | Path,
        *,
        max_bytes: int = MAX_BYTES,
        normalize: bool = False,
        encoding: str | None = None,
    ) -> Result_co:
        """Read a file, in an `encoding` if one is given."""


def file_reader(
    opened: Callable[[str | Path, int, str | None], Content],
    built: Callable[[Content, bool], Result_co],
) -> Reader[Result_co]:
    """The reader of a format.

    `opened` takes (path, max_bytes, encoding), `built` its result and `normalize`.
    """

    def read(
        path: str | Path,
        *,
        max_bytes: int = MAX_BYTES,
        normalize: bool = False,
        encoding: str | None = None,
    ) -> Result_co:
        return built(opened(path, max_bytes, encoding), normalize)

    return read


def text_reader(parsed: Callable[[str, str, bool], Result_co]) -> Reader[Result_co]:
    """The reader of a text format, from what it makes of (text, file, normalize)."""

    def opened(
        path: str | Path, max_bytes: int, encoding: str | None
    ) -> tuple[str, str]:
        name = Path(path).name
        return decoded(read_content(path, max_bytes), name, encoding), name

    return file_reader(opened, lambda text, normalize: parsed(*text, normalize))


def quoted(name: object) -> str:
    """A name from a file in quotes, cut short and without unseen letters."""
    text = str(name)
    if len(text) > _MOST_LETTERS_OF_A_NAME:
        text = f"{text[:_MOST_LETTERS_OF_A_NAME]}..."
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return f'"{shown}"'


def counted(number: int) -> str:
    """A count for a message; products of many factors are not written out."""
    return f"{number:,}" if number < 10**15 else "more than 10**15"


def read_content(path: str | Path, max_bytes: int = MAX_BYTES) -> bytes:
    """Read a file; NetworkFileError if it is empty or larger than `max_bytes`."""
    with opened(path) as file:
        content = read_at_most(file, max_bytes + 1)
    name = Path(path).name
    if len(content) > max_bytes:
        raise NetworkFileError(
            name, None, f"the file is larger than max_bytes, which is {max_bytes:,}"
        )
    if not content.strip():
        raise NetworkFileError(
            name, None, "the file is empty; give a file that holds a network"
        )
    return content


def decoded(content: bytes, file: str, encoding: str | None = None) -> str:
    """The text of a file, with line ends as newlines; NetworkFileError if it is binary.

    Without an `encoding`: UTF-8 or UTF-16 where a byte order mark or the bytes show it,
    else text of the Windows code page as in `windows_text`.
    """
    if encoding is None and content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        encoding = "utf-16"
    if encoding is None and b"\0" in content:
        # Of binary data only the line of the zero byte is of interest.
        encoding = utf_16_without_mark(content) or "latin-1"
    if encoding is not None:
        text = text_in(content, file, encoding)
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = windows_text(content, file)
    if (zero := text.find("\0")) >= 0:
        raise NetworkFileError(
            file,
            text.count("\n", 0, zero) + 1,
            "the file holds binary data; give a text file with a network",
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def text_in(content: bytes, file: str, encoding: str) -> str:
    """Content in an encoding that is given; NetworkFileError where it does not fit."""
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise ValueError(
            "encoding must be a codec of Python, such as cp1251, gb18030 or "
            f"shift_jis, got {quoted(encoding)}"
        ) from None
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        line = content.count(b"\n", 0, start) + 1
        raise NetworkFileError(
            file, line, f"the bytes are not text in {encoding}; name another encoding"
        ) from None


def windows_text(content: bytes, file: str) -> str:
    """Content that is not UTF-8 as text of the code page 1252, which the log reports.

    Older programs write it, and Latin-1 is a part. The log shows a word, since a few
    names do not reveal the encoding; NetworkFileError where the words are hardly those
    of a language that is written in it.
    """
    remedy = "its encoding: read_network(..., encoding=), convert --encoding"
    if word := unlikely_western(content):
        raise NetworkFileError(
            file,
            content.count(b"\n", 0, content.index(word)) + 1,
            f"the text is neither UTF-8 nor in a Western language; give {remedy}, such "
            f"as {encoding_hint(content, but='utf-8')}",
        )
    text = content.decode("cp1252")
    named = re.search(r"\w*[^\x00-\x7f]\w*", text)
    _LOGGER.warning(
        "%s: the file is not UTF-8 and was read as Windows-1252, with names such as "
        "%s; if that is wrong, give %s",
        file,
        quoted(named[0] if named else ""),
        remedy,
    )
    return text
