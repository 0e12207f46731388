"""Trees are indented, groups bear names, and lines keep to the width of a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.csv as pacsv
import pytest

from bayleaf import BayesianNetwork, BayesianNetworkClassifier, ValueHierarchy
from bayleaf.cpds.distribution import CPD, GroupedTableCPD, TableCPD
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.describe.local_structure_text import describe_distribution
from bayleaf.graph.dag import DAG

COLOURS = ValueHierarchy.from_nested({"any": {"warm": ["red", "pink"], "c": ["blue"]}})
DOMAIN = Domain(
    (
        Variable("colour", ("red", "pink", "blue"), hierarchy=COLOURS),
        Variable("size", ("s", "m", "l")),
        Variable("sold", ("no", "yes")),
    )
)


def network_with(cpd: CPD) -> BayesianNetwork:
    """Two uniform variables and a distribution given both."""
    roots = [TableCPD((i,), np.full(3, 1 / 3)) for i in range(2)]
    return BayesianNetwork(DOMAIN, DAG(((), (), cpd.parents)), (*roots, cpd))


def test_a_tree_is_indented_and_merged_leaves_point_to_the_first_of_them() -> None:
    shared, other = Leaf(np.array([0.5, 0.5])), Leaf(np.array([0.1, 0.9]))
    inner = Split(1, ((0, 2), (1,)), (shared, other))
    tree = TreeCPD((0, 1, 2), (3, 3, 2), Split(0, ((0, 1), (2,)), (inner, shared)))
    text = describe_distribution(network_with(tree), "sold")
    assert text.splitlines() == [
        "P(sold | colour, size)",
        "  colour = warm",
        "    size = {s, l}: no 0.5, yes 0.5",
        "    size = m: no 0.1, yes 0.9",
        "  colour = blue: as in line 3",
    ]


def test_a_cut_names_its_groups_and_says_what_they_hold() -> None:
    groups = (((0, 1), (2,)), ((0, 1, 2),))
    table = np.array([[[0.25, 0.75]], [[1.0, 0.0]]])
    cpd = GroupedTableCPD((0, 1, 2), (3, 3, 2), groups, table)
    assert describe_distribution(network_with(cpd), "sold").splitlines() == [
        "P(sold | colour, size)",
        "  colour warm: {red, pink}",
        "  colour = warm, size = {s, m, l}: no 0.25, yes 0.75",
        "  colour = blue, size = {s, m, l}: no 1, yes 0",
    ]


def test_long_lines_are_broken_behind_commas() -> None:
    child = Variable("child", tuple(f"state number {i}" for i in range(10)))
    leaf = Leaf(np.full(10, 0.1))
    domain = Domain((child,))
    cpd = TreeCPD((0,), (10,), leaf)
    text = describe_distribution(BayesianNetwork(domain, DAG(((),)), (cpd,)), "child")
    head, *lines = text.splitlines()
    assert head == "P(child)"
    assert [line.startswith("      ") for line in lines] == [False, True, True, True]
    assert all(line.endswith(",") for line in lines[:-1])
    assert " ".join(line.strip() for line in lines) == ", ".join(
        f"state number {i} 0.1" for i in range(10)
    )
    assert max(map(len, lines)) <= 80


@pytest.mark.slow
@pytest.mark.parametrize("local_structure", ["table", "tree"])
def test_distributions_of_nursery_fit_a_terminal(
    data_folder: Path, local_structure: str
) -> None:
    table = pacsv.read_csv(data_folder / "small" / "nursery.csv")
    given = json.loads((data_folder / "avh" / "nursery.json").read_text())
    model = BayesianNetworkClassifier(
        local_structure=local_structure,
        abstraction="given",
        hierarchies=given,
        random_state=0,
    ).fit(table.drop_columns("class"), table["class"])
    texts = [model.describe(name) for name in table.column_names]
    assert max(len(line) for text in texts for line in text.splitlines()) <= 80
    assert any("= few" in text for text in texts)
    assert any("= acceptable" in text for text in texts)
