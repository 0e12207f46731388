"""Graphs as people write them down: pairs, parents, text, graphs of other libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bayleaf.graph.dag import DAG
from bayleaf.models.network_parts import Name
from bayleaf.wording import counted, plain, quoted

_ARROW = re.compile(r"(->|<-|→|←)")
_FORMS = (
    "(parent, child) pairs of names, a text such as 'a -> b; b -> c', a mapping from "
    "children to their parents, or a directed graph"
)


def read_edges(
    edges: Any, nodes: Iterable[Name] | None = None
) -> tuple[list[Name], dict[Name, list[Name]]]:
    """Take a graph apart into names, `nodes` first, and the parents of each.

    Edges are pairs, text, a mapping, a graph of networkx, a DAG or a network; names and
    parents come in their order. ValueError if a DAG has another number of nodes than
    there are names; TypeError if the edges have none of these forms, or a name is
    neither text nor an integer.
    """
    if isinstance(nodes, str) or not isinstance(nodes, Iterable | None):
        raise TypeError(f"nodes must be a list of names, got {quoted(nodes)}")
    given = list(nodes or ())
    if isinstance(edges, DAG):
        return _of_dag(edges, given)
    names: dict[Name, None] = dict.fromkeys(map(_checked, given))
    names.update(dict.fromkeys(map(_checked, _own_nodes(edges))))
    parents: dict[Name, list[Name]] = {}
    for parent, child in _pairs(edges):
        names.setdefault(_checked(parent))
        names.setdefault(_checked(child))
        parents.setdefault(child, []).append(parent)
    return list(names), parents


def _of_dag(dag: DAG, names: list[Name]) -> tuple[list[Name], dict[Name, list[Name]]]:
    """Names and parents of a graph over indices."""
    if len(names) != len(dag):
        raise ValueError(
            f"a DAG of {counted(len(dag), 'node')} needs as many names, but nodes= "
            f"has {len(names)}"
        )
    parents = zip(names, dag.parents, strict=True)
    return names, {name: [names[p] for p in own] for name, own in parents}


def _own_nodes(edges: Any) -> Sequence[Name]:
    """The nodes of a graph that knows its own; none for other forms."""
    if isinstance(edges, Mapping):
        return list(edges)
    if _is_graph(edges):
        return list(edges.nodes)
    own = getattr(edges, "domain", edges)
    return getattr(own, "names", ())


def _is_graph(edges: Any) -> bool:
    """Whether arcs come as a graph of networkx, or of what is built on it."""
    if not (hasattr(edges, "nodes") and hasattr(edges, "is_directed")):
        return False
    if not edges.is_directed():
        raise TypeError(
            "the graph has no directions; give a directed one, such as a "
            "networkx.DiGraph"
        )
    return True


def _pairs(edges: Any) -> Iterator[tuple[Name, Name]]:
    """All arcs as pairs of parent and child."""
    if isinstance(edges, str):
        yield from _of_text(edges)
        return
    if isinstance(edges, Mapping):
        for child, parents in edges.items():
            listed = [parents] if isinstance(parents, str | int) else parents
            if not isinstance(listed, Iterable):
                raise TypeError(
                    f"the parents of {quoted(child)} must be a list, got "
                    f"{quoted(listed)}"
                )
            yield from ((parent, child) for parent in listed)
        return
    listed = getattr(edges, "edges", edges)
    if callable(listed) and not isinstance(listed, Iterable):
        listed = listed()
    if not isinstance(listed, Iterable):
        raise TypeError(f"edges must be {_FORMS}, got {quoted(edges)}")
    for edge in listed:
        if not isinstance(edge, tuple | list) or len(edge) != 2:
            raise TypeError(f"edges must be {_FORMS}, but one is {quoted(edge)}")
        yield edge[0], edge[1]


def _of_text(text: str) -> Iterator[tuple[str, str]]:
    """The arcs of chains such as ``a -> b <- c; d -> b``."""
    for chain in re.split(r"[;\n]", text):
        if not chain.strip():
            continue
        names = [part.strip() for part in _ARROW.split(chain)]
        if not all(names) or len(names) == 1:
            raise ValueError(
                f"{quoted(plain(chain.strip(), 60))} names no arc; write arcs as "
                "'a -> b' or 'a -> b <- c', with ; between chains"
            )
        for (first, second), arrow in zip(pairwise(names[::2]), names[1::2]):
            yield (first, second) if arrow in ("->", "→") else (second, first)


def _checked(name: Any) -> Name:
    """A name, once it is text or an integer."""
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise TypeError(
            f"a variable's name must be text or an integer, got {quoted(name)}"
        )
    return name
