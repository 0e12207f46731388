"""Nested blocks of attributes, of which Netica's and Elvira's files are made."""

from __future__ import annotations

from dataclasses import dataclass, field

from bayleaf.io.formats.lexer import Lexer, Token
from bayleaf.io.formats.source_file import NetworkFileError

# Programs nest four deep.
_MAX_DEPTH = 50


@dataclass
class Block:
    """What a file has between two braces, and the words before them."""

    header: list[Token]
    line: int
    values: dict[str, list[Token]] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)

    def word(self, name: str) -> str:
        """The first word of a value, or an empty text."""
        return self.values[name][0].text if self.values.get(name) else ""

    def named(self, kind: str) -> list[Block]:
        """The blocks inside whose first word is a kind."""
        return [block for block in self.blocks if block.header[0].text == kind]

    def error(self, lexer: Lexer, problem: str) -> NetworkFileError:
        """An error that names the block's line."""
        return NetworkFileError(lexer.file, self.line, problem)


def read_blocks(lexer: Lexer) -> list[Block]:
    """All blocks of a file, which hold ``name = value;``, blocks and statements."""
    top = Block([], 1)
    _read_into(top, lexer, 0)
    return top.blocks


def _read_into(block: Block, lexer: Lexer, depth: int) -> None:
    """Read up to the closing brace of a block, or to the end of the file."""
    if depth > _MAX_DEPTH:
        raise block.error(lexer, "blocks are nested too deeply for a network")
    while not (depth and lexer.skip_sign("}")):
        if lexer.ahead.kind == "end" and not depth:
            return
        header = _tokens_before(lexer, "={;")
        if lexer.skip_sign("="):
            name = " ".join(token.text for token in header)
            block.values.setdefault(name, _tokens_before(lexer, ";"))
            lexer.take()
        elif lexer.at_sign("{"):
            if not header:
                raise lexer.unexpected(lexer.ahead, "the name of a block")
            lexer.take()
            inner = Block(header, lexer.line(header[0].start))
            _read_into(inner, lexer, depth + 1)
            block.blocks.append(inner)
            lexer.skip_sign(";")
        else:
            lexer.take()


def _tokens_before(lexer: Lexer, signs: str) -> list[Token]:
    """Take the tokens before one of some signs; values may have braces in them."""
    tokens: list[Token] = []
    depth = 0
    while depth or not (lexer.ahead.kind == "sign" and lexer.ahead.text in signs):
        if lexer.ahead.kind == "end" or (lexer.at_sign("}") and not depth):
            expected = " or ".join(f'"{sign}"' for sign in signs)
            raise lexer.unexpected(lexer.ahead, expected)
        depth += lexer.at_sign("{") - lexer.at_sign("}")
        tokens.append(lexer.take())
    return tokens
