"""No file imports itself by way of others.

Imports inside functions and those for type checkers count too. A module of a package
imports the package's `__init__.py` only where it names it.
"""

from __future__ import annotations

from pathlib import Path

import networkx as nx

from house.import_walk import SOURCE, imported_modules

# A name stands for a file or for a package.
ENDS = ("", ".__init__")


def import_graph(source: Path) -> nx.DiGraph[str]:
    """The files of a tree of packages, each with an arc to every file it imports."""
    files = {
        ".".join(["bayleaf", *path.relative_to(source).with_suffix("").parts]): path
        for path in sorted(source.rglob("*.py"))
    }
    graph = nx.DiGraph()
    graph.add_nodes_from(files)
    for name, path in files.items():
        for imported in imported_modules(path, source):
            # What is imported is a file, a package, or a name in one of the two.
            above = imported.rpartition(".")[0]
            places = (f"{place}{end}" for place in (imported, above) for end in ENDS)
            target = next((place for place in places if place in files), None)
            if target is not None:
                graph.add_edge(name, target)
    return graph


def circles(graph: nx.DiGraph[str]) -> list[set[str]]:
    """Sets of files that all import one another, directly or not."""
    found = nx.strongly_connected_components(graph)
    return [part for part in found if len(part) > 1 or graph.has_edge(*part, *part)]


def shown(graph: nx.DiGraph[str], part: set[str]) -> str:
    """One circle among some files, and how many they are."""
    arcs = nx.find_cycle(graph.subgraph(part))
    path = " imports ".join([*(tail for tail, _ in arcs), arcs[0][0]])
    return f"circle of {len(part)} files: {path}"


def test_no_file_imports_itself_by_way_of_others() -> None:
    graph = import_graph(SOURCE)
    found = [shown(graph, part) for part in circles(graph)]
    assert not found, "\n".join(found)


def graph_of(source: Path, **texts: str) -> nx.DiGraph[str]:
    """The imports among some files of one package and its `__init__.py`."""
    (source / "graph").mkdir()
    for name, text in texts.items():
        (source / "graph" / f"{name}.py").write_text(text, encoding="utf-8")
    return import_graph(source)


def test_a_circle_through_a_function_is_found(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path,
        dag="def f():\n    from bayleaf.graph.order import sort\n",
        order="from bayleaf.graph import dag\n",
        spanning="import bayleaf.graph.dag\n",
    )
    assert circles(graph) == [{"bayleaf.graph.dag", "bayleaf.graph.order"}]


def test_a_circle_through_a_package_is_found(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path,
        __init__="from bayleaf.graph.dag import DAG\n",
        dag="import bayleaf.graph\n",
    )
    assert circles(graph) == [{"bayleaf.graph.__init__", "bayleaf.graph.dag"}]


def test_a_file_that_imports_itself_is_found(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, dag="from bayleaf.graph import dag\n")
    assert circles(graph) == [{"bayleaf.graph.dag"}]


def test_a_chain_of_imports_is_no_circle(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path,
        __init__="from bayleaf.graph.order import sort\n",
        dag="",
        order="from bayleaf.graph.dag import DAG\n",
    )
    assert circles(graph) == []
