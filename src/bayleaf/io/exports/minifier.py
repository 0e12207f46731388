"""Scripts, styles and templates without what a browser passes over."""

from __future__ import annotations

import re
from functools import cache

_TOKEN = re.compile(
    r"""
    (?P<blank>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<pattern>/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*)
    |(?P<word>[\w$\#]+(?:\.\d+)?)
    |(?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# A piece of a template literal, up to its end or to the next expression in it.
_PIECE = re.compile(r"[`}](?:\\.|(?!\$\{)[^`\\])*(?:`|\$\{)", re.DOTALL)
# What a pattern follows; elsewhere its slash divides.
_BEFORE_PATTERN = frozenset("(,=:[!&|?{};") | {"", "return", "typeof"}
# Where a statement cannot end: after these signs, and before those.
_GOES_ON_AFTER = frozenset("{([,;=+-*/?:&|<>!")
_GOES_ON_BEFORE = frozenset(")],;.?:=&|<>*}")
_STYLE = re.compile(r'("[^"]*")|/\*.*?\*/|\s*([{};,])\s*|(?<=:)\s+|\s+', re.DOTALL)


@cache
def minified_script(script: str) -> str:
    """A script without comments, and without blanks that separate no words.

    A line break stays where it may end a statement. Regular expressions must not follow
    a closing bracket, as after the condition of an `if`.
    """
    tokens: list[str] = []
    before, gap, position = "", "", 0
    # Open braces of each expression in a template literal.
    braces: list[int] = []
    while position < len(script):
        token = _TOKEN.match(script, position)
        assert token is not None
        text = token[0]
        if token.lastgroup == "blank":
            gap = "\n" if "\n" in gap + text else " "
            position = token.end()
            continue
        if token.lastgroup == "pattern" and before not in _BEFORE_PATTERN:
            text = "/"
        if text == "`" or (text == "}" and braces and not braces[-1]):
            piece = _PIECE.match(script, position)
            assert piece is not None
            if text == "}":
                braces.pop()
            text = piece[0]
            if text.endswith("${"):
                braces.append(0)
        elif braces:
            braces[-1] += (text == "{") - (text == "}")
        tokens.append(_separator(before, text, gap) + text)
        before, gap, position = text, "", position + len(text)
    return "".join(tokens)


def _separator(before: str, after: str, gap: str) -> str:
    """The blank between two tokens that were apart; none where nothing needs it."""
    if not gap or not before:
        return ""
    ends = before[-1] + after[0]
    goes_on = ends[0] in _GOES_ON_AFTER or ends[1] in _GOES_ON_BEFORE
    if gap == "\n" and not goes_on:
        return "\n"
    joins = all(sign.isalnum() or sign in "_$#" for sign in ends)
    # Two equal signs would become another one, or a comment.
    return " " if joins or ends in ("++", "--", "//") else ""


@cache
def minified_style(style: str) -> str:
    """A style sheet without comments and blanks around its signs."""

    def shortened(match: re.Match[str]) -> str:
        if match[1] or match[2]:
            return match[1] or match[2]
        is_dropped = match[0].startswith("/*") or match.string[match.start() - 1] == ":"
        return "" if is_dropped else " "

    return _STYLE.sub(shortened, style).replace(";}", "}").strip()
