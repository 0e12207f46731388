"""Encodings of text files that do not name theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bayleaf.wording import cut, name_list, quoted

# Some contain the one before them and more letters.
_ENCODINGS = ("utf-8", "cp1252", "cp1251", "shift_jis", "cp932", "gbk", "gb18030")
# Blanks, quotes, dashes and dots of the Windows code page, which join letters.
_SIGNS = re.compile(rb"[\x85\x91-\x94\x96\x97\xa0\xab\xbb]")
_WORD = re.compile(rb"[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*")
# Bytes that mean nothing in that page.
_MEANINGLESS = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
# Signs that hardly any text has, and Shift-JIS begins its letters with; many letters
# with accents in a row; or a word of nothing else.
_UNLIKELY = re.compile(rb"[\x82\x83]|[\x80-\xff]{3}|^[\x80-\xff]{2}$")


def utf_16_without_mark(content: bytes) -> str | None:
    """UTF-16 of the byte order in which content is text, half of it ASCII; else None.

    None too if it begins with a byte order mark.
    """
    encoding = _byte_order(content)
    if content.count(0) < len(content) / 4:
        return None
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return None
    is_binary = re.search(r"[\x00-\x08\x0e-\x1f\ufeff\ufffe\uffff]", text)
    return None if is_binary else encoding


def unlikely_western(content: bytes) -> bytes:
    """A word that is hardly of a language of Western Europe; empty if most are.

    There letters with accents are among others, so that at most two are in a row in
    most words; in other alphabets whole words consist of such bytes.
    """
    words: list[bytes] = _WORD.findall(_SIGNS.sub(b" ", content))
    for word in words:
        if _MEANINGLESS.search(word):
            return word
    unlikely = [word for word in words if _UNLIKELY.search(word)]
    # Single letters do not count.
    n_likely = sum(len(word) > 1 for word in words) - len(unlikely)
    return unlikely[0] if len(unlikely) >= max(n_likely, 1) else b""


def encoding_hint(content: bytes, *, but: str) -> str:
    """Encodings in which bytes are text, other than one, with what they make of it."""
    fitting = [
        f"{name} ({quoted(cut(word, 20))})"
        for name, word in _likely_encodings(content)
        if name != but.lower()
    ]
    return name_list(fitting) if fitting else "such as cp1252"


def _likely_encodings(content: bytes) -> Iterator[tuple[str, str]]:
    """Encodings in which bytes are valid text, each with a word that it makes of them.

    Without zero bytes most fit often, so that readers have to choose by the words;
    encodings that make the same word of them are one.
    """
    encodings: tuple[str, ...] = _ENCODINGS
    if b"\0" in content:
        encodings = (_byte_order(content),)
        content = content[: len(content) // 2 * 2]
    words: set[str] = set()
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        word = re.search(r"\w*[^\W\x00-\x7f]\w*", text) or re.search(r"\S+", text)
        if word is not None and word[0] not in words:
            words.add(word[0])
            yield encoding, word[0]


def _byte_order(content: bytes) -> str:
    """UTF-16 of the likelier byte order.

    Letters of Western text have their zero byte second in little-endian order.
    """
    little = content[1::2].count(0) > content[::2].count(0)
    return "utf-16-le" if little else "utf-16-be"
