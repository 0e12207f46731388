"""Networks with names, states and tables that files find hard to hold."""

from __future__ import annotations

import numpy as np

from bayleaf.cpds.distribution import CPD, DeterministicCPD, TableCPD
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork

# What foreign programs may be asked to hold as it is.
PRINTABLE_NAMES = (
    "a b",
    "x.y",
    "<=2",
    "été",
    'say "hi"',
    "it's",
    "p, q & r",
    "n" * 300,
    "class",
    "{[(;=|)]}",
)
ODD_NAMES = (
    *PRINTABLE_NAMES,
    "two\nlines",
    "tab\tcarriage\r",
    "bell\x07",
    " padded ",
    "",
    "Été",
    "ete",
    "\ud800",
    7,
    "7",
)


def hard_network(seed: int = 0) -> BayesianNetwork:
    """Odd names for variables and states, states of every type, cut points, a tree.

    Cards differ, so that an order of axes gone wrong shows.
    """
    variables = [
        Variable(name, tuple(ODD_NAMES[: 2 + i % 4]))
        for i, name in enumerate(ODD_NAMES)
    ]
    tree = ValueHierarchy.from_nested({"any": {"some": [1, 2.5], "none": [False]}})
    variables += [
        Variable("mixed", (1, 2.5, "x", None)),
        Variable("flags", (False, True, None)),
        Variable("alike", (1, "1", "v_1")),
        Variable("inner", (1, 2.5, False), hierarchy=tree),
        numeric_variable("height", (0.1, 1 / 3, 1e22), missing_state=True),
        Variable("constant", ("only",)),
        Variable("all names", tuple(str(name) for name in ODD_NAMES[:-1])),
    ]
    domain = Domain(tuple(variables))
    parents = tuple(
        () if node < 2 else (node - 2, node - 1) if node % 2 else (node - 1,)
        for node in range(len(domain))
    )
    return with_random_tables(domain, DAG(parents), seed)


def mixed_network() -> BayesianNetwork:
    """A tree, a value map and tables with experience."""
    domain = Domain(
        (
            Variable("a", ("x", "y")),
            Variable("b", ("x", "y", "z")),
            Variable("t", ("no", "yes")),
            Variable("d", ("low", "high")),
        )
    )
    dag = DAG(((), (0,), (0, 1), (1, 0)))
    inner = Split(1, ((0, 2), (1,)), (_leaf(0.25), _leaf(0.5)))
    root = Split(0, ((0,), (1,)), (_leaf(0.1), inner))
    cpds: tuple[CPD, ...] = (
        TableCPD((0,), np.array([0.3, 0.7]), np.array(12.5)),
        TableCPD((0, 1), np.full((2, 3), 1 / 3), np.array([3.25, 1e6])),
        TreeCPD((0, 1, 2), (2, 3, 2), root),
        DeterministicCPD((1, 0, 3), 2, np.array([[0, 1], [1, 1], [0, 0]])),
    )
    return BayesianNetwork(domain, dag, cpds)


def with_random_tables(domain: Domain, dag: DAG, seed: int) -> BayesianNetwork:
    """A network whose tables hold zeros, tiny numbers and sums not quite one."""
    rng = np.random.default_rng(seed)
    cpds = []
    for family in dag.families:
        shape = tuple(domain.cards[member] for member in family)
        table = rng.dirichlet(np.full(shape[-1], 0.3), size=shape[:-1])
        table[..., 0] += 1e-6 * (rng.random(shape[:-1]) < 0.5)
        first = table.reshape(-1, shape[-1])[0]
        first[:] = 0.0
        first[0], first[-1] = 5e-324, 1.0
        cpds.append(TableCPD(family, table))
    return BayesianNetwork(domain, dag, tuple(cpds))


def assert_same_network(first: BayesianNetwork, second: BayesianNetwork) -> None:
    """Fail unless names, types, graph, full tables and experience are the same."""
    assert second.domain == first.domain
    for one, other in zip(first.domain, second.domain, strict=True):
        assert list(map(type, other.states)) == list(map(type, one.states))
        assert type(other.name) is type(one.name)
    assert second.dag == first.dag
    for cpd, copy in zip(first.cpds, second.cpds, strict=True):
        np.testing.assert_array_equal(copy.probabilities, cpd.probabilities)
        if getattr(cpd, "experience", None) is not None:
            np.testing.assert_array_equal(copy.experience, cpd.experience)


def _leaf(share: float) -> Leaf:
    """A leaf over two states."""
    return Leaf(np.array([share, 1 - share]))
