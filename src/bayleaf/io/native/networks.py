"""Graph and distributions of a network as plain values, and back with every check.

A distribution that is a table is an array; trees and value maps are objects with a
"kind". Experience, where there is any, stands beside the tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayleaf.counts.source import Family
from bayleaf.cpds.deterministic import DeterministicCPD
from bayleaf.cpds.distribution import CPD
from bayleaf.cpds.grouped_table import GroupedTableCPD
from bayleaf.cpds.table import TableCPD
from bayleaf.cpds.tree import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain
from bayleaf.graph.dag import DAG
from bayleaf.io.distributions import check_distributions
from bayleaf.io.fields import Fields, ModelFileError
from bayleaf.io.native.sidecar import ArrayReader, ArrayWriter
from bayleaf.models.bayesian_network import BayesianNetwork

# Trees in files are walked by recursion; deeper ones are refused.
MAX_TREE_DEPTH = 200


def network_to(network: BayesianNetwork, arrays: ArrayWriter) -> dict[str, Any]:
    """Graph and distributions as plain values; tables go to `arrays`.

    Raises
    ------
    ModelFileError
        If a table does not hold distributions, so that no reader would take it.
    """
    tables = []
    for variable, cpd in zip(network.domain, network.cpds, strict=True):
        what = f"the table of variable {variable.name!r}"
        tables.append(_cpd_to(cpd, arrays, what))
    values: dict[str, Any] = {
        "parents": [list(parents) for parents in network.dag.parents],
        "tables": tables,
    }
    experience = [getattr(cpd, "experience", None) for cpd in network.cpds]
    if any(table is not None for table in experience):
        values["experience"] = [
            None if table is None else arrays.add(table) for table in experience
        ]
    return values


def network_from(
    fields: Fields, domain: Domain, arrays: ArrayReader
) -> BayesianNetwork:
    """A network from plain values."""
    parents = fields.list("parents")
    tables = fields.list("tables")
    if not len(parents) == len(tables) == len(domain):
        raise ModelFileError(
            f"the network has {len(parents)} parent lists and {len(tables)} tables for "
            f"{len(domain)} variables"
        )
    for nodes in parents:
        whole = isinstance(nodes, list) and all(type(node) is int for node in nodes)
        if not whole:
            raise ModelFileError(
                "the parents of a variable should be a list of indices"
            )
    experience = [None] * len(domain)
    if "experience" in fields.values:
        experience = fields.list("experience")
    if len(experience) != len(domain):
        raise ModelFileError("the network should have one experience a variable")
    dag = DAG(tuple(tuple(nodes) for nodes in parents))
    cards = domain.cards
    cpds: list[CPD] = []
    for node, (family, table) in enumerate(zip(dag.families, tables, strict=True)):
        shape = tuple(cards[member] for member in family)
        what = f"the table of variable {domain[node].name!r}"
        cpds.append(_cpd_from(table, experience[node], family, shape, arrays, what))
    return BayesianNetwork(domain, dag, tuple(cpds))


def _cpd_to(cpd: CPD, arrays: ArrayWriter, what: str) -> dict[str, Any]:
    """One distribution as plain values."""
    if isinstance(cpd, TreeCPD):
        for leaf, _ in cpd.leaves():
            check_distributions(leaf.probabilities, what)
        return _tree_to(cpd)
    if isinstance(cpd, GroupedTableCPD):
        check_distributions(cpd.table, what)
        groups = [[list(group) for group in own] for own in cpd.groups]
        return {
            "kind": "grouped_table",
            "groups": groups,
            "table": arrays.add(cpd.table),
        }
    if isinstance(cpd, DeterministicCPD):
        return {
            "kind": "deterministic",
            "values": arrays.add(cpd.values.astype(np.uint16)),
        }
    check_distributions(cpd.probabilities, what)
    return arrays.add(cpd.probabilities)


def _cpd_from(
    table: Any,
    experience: Any,
    family: Family,
    shape: tuple[int, ...],
    arrays: ArrayReader,
    what: str,
) -> CPD:
    """One distribution from plain values."""
    if isinstance(table, dict) and "kind" in table:
        fields = Fields(table, what)
        kind = fields.choice("kind", ("tree", "grouped_table", "deterministic"))
        if kind == "tree":
            leaves = _shared_leaves(fields, what)
            root = _node_from(table.get("root"), leaves, what, 0)
            return TreeCPD(family, shape, root)
        if kind == "grouped_table":
            return _grouped_from(fields, family, shape, arrays, what)
        values = arrays.get_codes(table.get("values"), shape[:-1], what)
        return DeterministicCPD(family, shape[-1], values.astype(np.intp))
    probabilities = arrays.get(table, shape, what)
    check_distributions(probabilities, what)
    counts = None
    if experience is not None:
        counts = arrays.get(experience, shape[:-1], f"the experience of {what}")
    return TableCPD(family, probabilities, counts)


def _tree_to(cpd: TreeCPD) -> dict[str, Any]:
    """A tree as plain values; leaves stand apart if paths share some."""
    if cpd.n_distributions == cpd.n_leaves:
        return {"kind": "tree", "root": _node_to(cpd.root, {})}
    leaves = {id(leaf): leaf for leaf, _ in cpd.leaves()}
    numbers = {key: number for number, key in enumerate(leaves)}
    return {
        "kind": "tree",
        "leaves": [leaf.probabilities.tolist() for leaf in leaves.values()],
        "root": _node_to(cpd.root, numbers),
    }


def _node_to(node: Leaf | Split, numbers: dict[int, int]) -> Any:
    """A node of a tree: a leaf's probabilities or its number, or an object."""
    if isinstance(node, Leaf):
        return numbers.get(id(node), node.probabilities.tolist())
    return {
        "variable": node.variable,
        "groups": [list(group) for group in node.groups],
        "branches": [_node_to(branch, numbers) for branch in node.branches],
    }


def _shared_leaves(fields: Fields, what: str) -> list[Leaf]:
    """The leaves of a tree that stand apart from it."""
    if "leaves" not in fields.values:
        return []
    return [_leaf_from(value, what) for value in fields.list("leaves")]


def _leaf_from(value: Any, what: str) -> Leaf:
    """A leaf from the list of its probabilities."""
    if not isinstance(value, list):
        raise ModelFileError(f"{what} has a leaf that is no list of probabilities")
    row = ArrayReader().get(value, (len(value),), what)
    check_distributions(row, what)
    return Leaf(row)


def _node_from(value: Any, leaves: list[Leaf], what: str, depth: int) -> Leaf | Split:
    """A node of a tree from plain values."""
    if depth > MAX_TREE_DEPTH:
        raise ModelFileError(f"{what} is a tree deeper than {MAX_TREE_DEPTH}")
    if isinstance(value, list):
        return _leaf_from(value, what)
    if type(value) is int:
        if not 0 <= value < len(leaves):
            raise ModelFileError(f"{what} has no leaf of the number {value}")
        return leaves[value]
    fields = Fields(value, f"a split of {what}")
    groups = _groups_from(fields.list("groups"), what)
    if type(value.get("variable")) is not int:
        raise ModelFileError(f"{what} has a split without a variable")
    branches = [
        _node_from(item, leaves, what, depth + 1) for item in fields.list("branches")
    ]
    return Split(value["variable"], groups, tuple(branches))


def _grouped_from(
    fields: Fields, family: Family, shape: Family, arrays: ArrayReader, what: str
) -> GroupedTableCPD:
    """A table over groups of states from plain values."""
    listed = fields.list("groups")
    if len(listed) != len(family) - 1:
        raise ModelFileError(f"{what} should have groups of states for each parent")
    if not all(isinstance(own, list) for own in listed):
        raise ModelFileError(f"{what} should have a list of groups for each parent")
    groups = tuple(_groups_from(own, what) for own in listed)
    rows = (*map(len, groups), shape[-1])
    table = arrays.get(fields.values.get("table"), rows, what)
    check_distributions(table, what)
    return GroupedTableCPD(family, shape, groups, table)


def _groups_from(groups: list[Any], what: str) -> tuple[tuple[int, ...], ...]:
    """Groups of states from lists of codes."""
    for group in groups:
        if not isinstance(group, list) or not all(type(i) is int for i in group):
            raise ModelFileError(f"{what} has a group that is no list of states")
    return tuple(tuple(group) for group in groups)
