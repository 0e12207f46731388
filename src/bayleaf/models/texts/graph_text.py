r"""Graphs as text: chains of arcs, and a subset of DOT and of DAGitty's language.

A text is chains such as ``a -> {b c} <- d`` with ``;`` or line ends between them, or
such statements inside ``dag { }`` or ``digraph { }``, where names alone are nodes.
``a <-> b`` is an unobserved common cause, and ``u [latent]`` an unobserved variable;
all other attributes are skipped. Names with blanks or signs are quoted; comments
are ``#``, ``//`` and ``/* */``. Sources: the DOT language of Graphviz; Textor et al.
(2016), "Robust causal inference using directed acyclic graphs: the R package dagitty".
Where every node of a DOT text has a label of its own, the labels are the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from itertools import pairwise, product

from bayleaf.wording import plain, quoted

_QUOTE = r"\"(?:\\.|[^\"\\])*\""
_TOKEN = re.compile(
    r"(?P<blank>[^\S\n]+|#[^\n]*|//[^\n]*|/\*[\s\S]*?\*/)"
    r"|(?P<end>[;\n])"
    rf"|(?P<quote>{_QUOTE}|'[^']*')"
    rf"|(?P<attributes>\[(?:{_QUOTE}|[^\]\"])*\])"
    r"|(?P<arrow><->|->|<-|↔|→|←)(?![->])"
    r"|(?P<mark>[{}=,])"
    r"|(?P<word>(?:[^\s\[\]{}=,;\"'<>→←↔|~#-]|(?<=[^\s;{}])[#']|-(?![->]))+)"
    r"|(?P<other>[\s\S])",
    re.DOTALL,
)
_LABEL = re.compile(rf"(?<![\w\"])label\s*=\s*(?:({_QUOTE})|(\w+))")
_DIRECTIONS = {"→": "->", "←": "<-", "↔": "<->"}
# What may precede the braces around a whole graph.
_DIRECTED, _OTHER_GRAPHS = ("dag", "digraph"), ("graph", "pdag", "mag", "pag")
_DEFAULTS = ("node", "edge", "graph")
_LATENT = {"latent", "l", "unobserved", "u"}
_BARE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_KEYWORDS = {*_DIRECTED, *_OTHER_GRAPHS, *_DEFAULTS, "subgraph", "strict"}
_HOW = "write arcs as 'a -> b' or 'a -> {b c}', with ; between chains"
# Far from Python's own limit.
_DEEPEST = 50


class GraphTextError(ValueError):
    """A text that no graph can be read from, with the `line` of the `problem`."""

    def __init__(self, problem: str, line: int | None) -> None:
        super().__init__(problem if line is None else f"line {line}: {problem}")
        self.problem, self.line = problem, line


@dataclass(frozen=True)
class _Token:
    """A name, sign or list of attributes, and where it begins."""

    kind: str
    text: str
    start: int

    @property
    def is_brace(self) -> bool:
        """Whether it opens a group."""
        return self.kind == "mark" and self.text == "{"

    def is_word(self, words: Iterable[str]) -> bool:
        """Whether it is one of some words, in any case."""
        return self.kind == "word" and self.text.lower() in words


@dataclass
class DrawnGraph:
    """What a text names: nodes in their order, arcs, and unobserved variables."""

    names: dict[str, None] = field(default_factory=dict)
    arcs: list[tuple[str, str]] = field(default_factory=list)
    common_causes: list[tuple[str, str]] = field(default_factory=list)
    latents: dict[str, None] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)


def read_graph_text(text: str) -> DrawnGraph:
    """Read a graph, each common cause as a latent variable.

    GraphTextError if the text has another form, an arc without a direction, or a
    group or quote that does not end.
    """
    return with_common_causes(_with_labels(_Parser(text).whole()))


def with_common_causes(graph: DrawnGraph) -> DrawnGraph:
    """The graph with a latent variable in the place of each common cause."""
    for first, second in graph.common_causes:
        cause = f"U_{first}_{second}"
        while cause in graph.names:
            cause += "_"
        graph.names[cause] = graph.latents[cause] = None
        graph.arcs += [(cause, first), (cause, second)]
    return graph


def _with_labels(graph: DrawnGraph) -> DrawnGraph:
    """The graph under its labels, if every node has one of its own."""
    new = graph.labels
    if set(new) != set(graph.names) or len(set(new.values())) < len(new):
        return graph
    return DrawnGraph(
        {new[name]: None for name in graph.names},
        [(new[parent], new[child]) for parent, child in graph.arcs],
        [(new[first], new[second]) for first, second in graph.common_causes],
        {new[name]: None for name in graph.latents},
    )


class _Parser:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = self._depth = 0
        self._graph = DrawnGraph()

    def whole(self) -> DrawnGraph:
        """The graph that the whole text draws."""
        self._skip_ends()
        if self._token.is_word(["strict"]):
            self._next += 1
        head = self._token
        if not self._is_before_brace([*_DIRECTED, *_OTHER_GRAPHS]):
            self._statements(inside=False)
            return self._graph
        if not head.is_word(_DIRECTED):
            raise self._error(
                f"{quoted(head.text)} graphs have arcs without directions; give a "
                "'dag' or 'digraph'",
                head,
            )
        self._next += 1
        self._statements(inside=True)
        self._skip_ends()
        if self._token.kind != "last":
            raise self._error(
                f"{quoted(plain(self._token.text, 40))} follows the closing brace "
                "of the graph; give one graph",
                self._token,
            )
        return self._graph

    def _is_before_brace(self, words: Iterable[str]) -> bool:
        """Whether a brace follows one of some words and perhaps a name; moves to it."""
        following = [
            token for token in self._tokens[self._next :][:8] if token.text != "\n"
        ]
        for token in following[1:3] if following[0].is_word(words) else []:
            if token.is_brace:
                self._next = self._tokens.index(token, self._next)
                return True
        return False

    def _statements(self, *, inside: bool) -> list[str]:
        """All up to the closing brace, or of the whole text; the names in them."""
        opening = self._tokens[self._next - 1]
        names: dict[str, None] = {}
        if self._depth > _DEEPEST:
            raise self._error("groups are nested too deeply", opening)
        while True:
            while self._token.kind == "end" or (inside and self._token.text == ","):
                self._next += 1
            token = self._token
            if token.kind == "last":
                if inside:
                    raise self._error("a group lacks its closing brace }", opening)
                return list(names)
            if inside and token.kind == "mark" and token.text == "}":
                self._next += 1
                return list(names)
            names.update(dict.fromkeys(self._statement(inside=inside)))

    def _statement(self, *, inside: bool) -> list[str]:
        """A chain, a node or a setting; the names in it."""
        start = self._token
        after = self._tokens[min(self._next + 1, len(self._tokens) - 1)]
        if inside and start.is_word(_DEFAULTS) and after.kind == "attributes":
            self._next += 2
            return []
        if inside and start.kind in ("word", "quote") and after.text == "=":
            self._next += 3
            return []
        chain = [self._operand()]
        arrows: list[str] = []
        while True:
            # Inside braces a line end may precede an arrow.
            start_of_line = self._next
            if inside:
                self._skip_ends()
            if self._token.kind != "arrow":
                self._next = start_of_line
                break
            arrows.append(_DIRECTIONS.get(self._token.text, self._token.text))
            self._next += 1
            self._skip_ends()
            chain.append(self._operand())
        has_attributes = self._token.kind == "attributes"
        while self._token.kind == "attributes":
            if not arrows and _is_latent(self._token.text):
                self._graph.latents.update(dict.fromkeys(chain[0]))
            label = _LABEL.search(self._token.text)
            if not arrows and label and len(chain[0]) == 1:
                self._graph.labels[chain[0][0]] = _shown(label)
            self._next += 1
        if not inside:
            self._check_end(bool(arrows or has_attributes))
        for (first, second), arrow in zip(pairwise(chain), arrows, strict=True):
            self._draw(first, second, arrow)
        return [name for names in chain for name in names]

    def _operand(self) -> list[str]:
        """The names at one end of an arrow: a single one, or those of a group."""
        token = self._token
        if self._is_before_brace(["subgraph"]):
            token = self._token
        self._next += 1
        if token.kind in ("word", "quote"):
            name = token.text if token.kind == "word" else _unquoted(token.text)
            if name:
                self._graph.names[name] = None
                return [name]
        if token.is_brace:
            self._depth += 1
            names = self._statements(inside=True)
            self._depth -= 1
            return names
        raise self._refusal(token)

    def _draw(self, first: list[str], second: list[str], arrow: str) -> None:
        """Add the arcs between two ends."""
        for left, right in product(first, second):
            if arrow != "<->":
                arc = (left, right) if arrow == "->" else (right, left)
                self._graph.arcs.append(arc)
            elif left == right:
                raise self._error(
                    f"{quoted(left)} <-> itself; name two variables", None
                )
            else:
                self._graph.common_causes.append((left, right))

    def _check_end(self, is_arc: bool) -> None:
        """Raise unless a chain outside of braces ends here."""
        token = self._token
        if token.kind not in ("end", "last"):
            if token.kind in ("word", "quote") and self._tokens[
                self._next - 1
            ].kind in ("word", "quote"):
                before = self._tokens[self._next - 1].text
                raise self._error(
                    f"{quoted(f'{before} {token.text}')} is read as two names; put a "
                    "name with blanks in double quotes, or ; between chains",
                    token,
                )
            raise self._refusal(token)
        if not is_arc:
            raise self._refusal(token)

    def _refusal(self, token: _Token) -> GraphTextError:
        """The error for what cannot be in a chain."""
        before = re.split(r"[;\n]", self._text[: token.start])[-1]
        after = re.split(r"[;\n]", self._text[token.start :])[0]
        chain = quoted(plain((before + after).strip(), 60))
        if token.kind in ("other", "mark") and token.text in tuple("-<>=~"):
            problem = (
                f"{chain} has an arc that is neither -> nor <-; give its direction, or "
                "<-> for an unobserved common cause"
            )
        elif token.text == ",":
            problem = f"{chain} has a comma; write several variables as {{b c}}"
        elif token.text in ('"', "'", "["):
            problem = f"{chain} has a {token.text} without its end; close it"
        elif token.kind in ("other", "mark"):
            problem = (
                f"{chain} has the sign {quoted(token.text)}; put names with signs in "
                f"double quotes, and {_HOW}"
            )
        else:
            problem = f"{chain} names no arc; {_HOW}"
        return self._error(problem, token)

    def _error(self, problem: str, token: _Token | None) -> GraphTextError:
        """An error with its line, if the text has several."""
        if token is None or "\n" not in self._text.strip():
            return GraphTextError(problem, None)
        return GraphTextError(problem, self._text.count("\n", 0, token.start) + 1)

    @property
    def _token(self) -> _Token:
        """The token that comes next."""
        return self._tokens[min(self._next, len(self._tokens) - 1)]

    def _skip_ends(self) -> None:
        """Pass over the ends of lines and statements."""
        while self._token.kind == "end":
            self._next += 1


def _tokens(text: str) -> Iterator[_Token]:
    """The parts of a text without blanks and comments, and one for its end."""
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind != "blank":
            yield _Token(kind, match[0], match.start())
    yield _Token("last", "", len(text))


def _unquoted(text: str) -> str:
    """The name inside quotes."""
    inner = text[1:-1]
    return re.sub(r"\\([\"\\])", r"\1", inner) if text[0] == '"' else inner


def _shown(label: re.Match[str]) -> str:
    """The text that Graphviz draws for a label."""
    if label[1] is None:
        return label[2]
    escapes = {"n": "\n", "l": "\n", "r": "\n"}
    text = re.sub(r"\\(.)", lambda m: escapes.get(m[1], m[1]), label[1][1:-1])
    return unescape(text)


def _is_latent(attributes: str) -> bool:
    """Whether attributes mark a variable as not observed."""
    words = re.split(r"[\s,;]+", re.sub(_QUOTE, '""', attributes[1:-1]))
    return not _LATENT.isdisjoint(words)


def dagitty_text(
    names: Iterable[object],
    arcs: Iterable[tuple[object, object]],
    latents: Iterable[object],
) -> str:
    """Write a graph in DAGitty's language; `read_graph_text` gives it back."""
    hidden = set(latents)
    lines = [_written(n) + " [latent]" * (n in hidden) for n in names]
    lines += [f"{_written(parent)} -> {_written(child)}" for parent, child in arcs]
    return "\n".join(["dag {", *lines, "}"]) + "\n"


def _written(name: object) -> str:
    """A name, in quotes unless it is a plain word."""
    text = str(name)
    if _BARE_NAME.fullmatch(text) and text.lower() not in _KEYWORDS:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
