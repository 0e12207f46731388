"""Network files as they come: content, encoding, and errors that say where."""

from __future__ import annotations

from pathlib import Path

from bayleaf.io.bounded import opened, read_at_most
from bayleaf.io.errors import ModelFileError

# Larger files are refused before they are read.
MAX_BYTES = 1 << 28
_MOST_LETTERS_OF_A_NAME = 60
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


def decoded(content: bytes, file: str) -> str:
    """The text of a file, with line ends as newlines; NetworkFileError if it is binary.

    Read as UTF-8, with or without a byte order mark, else as the Windows code page
    1252, of which Latin-1 is a part and which older programs write.
    """
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise NetworkFileError(
            file, line, "the file holds binary data; give a text file with a network"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = windows_text(content)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def windows_text(content: bytes) -> str:
    """Content that is no UTF-8 as text of the code page 1252, else of Latin-1."""
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:
        # Five bytes mean nothing in the code page.
        return content.decode("latin-1")
