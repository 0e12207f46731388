"""Networks with names that no network format can hold as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork

ODD_NAMES: list[Any] = [
    *("a b", "x.y", "<=2", "été", 'say "so"', "it's", "a,b", "a\\b", "two\nlines"),
    *("x" * 300, "table", "node", "5", "_x", "漢字", "{(;)}", "data = (1)", 5, "a.b"),
]


def network_of(
    variables: list[Variable], parents: list[tuple[int, ...]], seed: int = 0
) -> BayesianNetwork:
    """A network with random tables, zeros among them."""
    rng = np.random.default_rng(seed)
    cpds = []
    for child, above in enumerate(parents):
        shape = tuple(variables[node].n_states for node in (*above, child))
        table = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
        table[rng.random(table.shape) < 0.1] = 0.0
        table[..., 0] += 1.0 - table.sum(axis=-1)
        cpds.append(TableCPD((*above, child), table))
    return BayesianNetwork(Domain(tuple(variables)), DAG(tuple(parents)), tuple(cpds))


def odd_network() -> BayesianNetwork:
    """A network with every kind of name, state and variable."""
    tree = ValueHierarchy.from_nested({"any": {"a ring": [1, 2.5], "rest": ["c"]}})
    variables = [Variable(name, ("yes", name)) for name in ODD_NAMES]
    variables += [
        Variable("types", (True, False, 2, 0.5, "1", "été", None)),
        numeric_variable("age", [-0.1, 1 / 3, 1e300], missing_state=True),
        numeric_variable("body mass", [20, 25.5]),
        Variable("tree", (1, 2.5, "c"), hierarchy=tree),
        Variable("constant", ("only one",)),
    ]
    n = len(variables)
    parents: list[tuple[int, ...]] = [(), (0,)]
    # The order of parents is not that of the variables, so a swapped axis shows.
    parents += [(i - 1, i - 2) for i in range(2, n)]
    return network_of(variables, parents)
