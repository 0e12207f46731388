"""Text files are the same bytes on every system: no default decides on how they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from house.import_walk import SOURCE

# What writes a text, and where the encoding comes if it is not named.
WRITERS = {"write_text": 1, "open": 3, "TextIOWrapper": 1, "fdopen": 3}


def unclear_writes(text: str) -> Iterator[int]:
    """Lines that write a text file without an encoding or without line ends."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        named = {keyword.arg for keyword in node.keywords}
        has_encoding = "encoding" in named or len(node.args) > WRITERS.get(name, 9)
        if name not in WRITERS or (has_encoding and "newline" in named):
            continue
        if name in ("open", "fdopen") and not is_text_mode(node):
            continue
        # The helper of this name has line ends of its own.
        if name != "write_text" or isinstance(node.func, ast.Attribute):
            yield node.lineno


def is_text_mode(call: ast.Call) -> bool:
    """Whether a file is opened to write a text, as far as the mode is a constant."""
    values = [*call.args[:2], *(k.value for k in call.keywords if k.arg == "mode")]
    modes = [v.value for v in values if isinstance(v, ast.Constant)]
    return any(
        isinstance(mode, str) and mode and set(mode) <= set("wax+t") for mode in modes
    )


@pytest.mark.parametrize(
    ("call", "is_unclear"),
    [
        ("path.write_text(text)", True),
        ("path.write_text(text, 'utf-8')", True),
        ("path.write_text(text, newline='')", True),
        ("path.write_text(text, 'utf-8', newline='')", False),
        ("write_text(path, text)", False),
        ("open(path, 'w')", True),
        ("path.open(mode='a', encoding='utf-8')", True),
        ("path.open('a', encoding='utf-8', newline='')", False),
        ("open(path, 'wb')", False),
        ("path.open()", False),
        ("io.TextIOWrapper(stream, encoding='utf-8')", True),
    ],
)
def test_unclear_writes_are_recognised(call: str, is_unclear: bool) -> None:
    assert list(unclear_writes(call)) == [1] * is_unclear


def test_every_text_file_has_a_named_encoding_and_line_ends() -> None:
    offenders = [
        f"{path.name}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        for content in [path.read_text(encoding="utf-8")]
        if any(f"{name}(" in content for name in WRITERS)
        for line in unclear_writes(content)
    ]
    assert not offenders, "\n".join(offenders)
