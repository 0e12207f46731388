"""Networks as pyAgrum's, and back.

pyAgrum is no requirement of this package; it is imported when asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayleaf.io.formats.converters import peer
from bayleaf.io.formats.full_tables import MAX_TABLE_CELLS, full_tables
from bayleaf.models.bayesian_network import BayesianNetwork


def to_pyagrum(
    network: BayesianNetwork, *, max_table_cells: int = MAX_TABLE_CELLS
) -> Any:
    """Make a network of pyAgrum.

    Parameters
    ----------
    network : BayesianNetwork
        Trees and value maps become their full tables; cut points and experience are
        left out.
    max_table_cells : int, default=10_000_000
        Largest table to make.

    Returns
    -------
    pyagrum.BayesNet
        Its variables have the names, in their order, and the states as labels, both as
        text.

    Raises
    ------
    ImportError
        If pyAgrum is not installed.
    ValueError
        If two names or two states are the same text, such as 7 and "7"; if a table
        would be larger than `max_table_cells`. The variable is named.
    """
    gum = _pyagrum()
    names = _texts(network.domain.names, "the network has two variables")
    made = gum.BayesNet()
    for name, variable in zip(names, network.domain, strict=True):
        states = tuple(map(variable.label, range(variable.n_states)))
        labels = _texts(states, f"variable {name!r} has two states")
        made.add(gum.LabelizedVariable(name, name, labels))
    for table in full_tables(network, max_table_cells):
        # pyAgrum's first variable is fastest: the child, then the last parent.
        for parent in reversed(table.parents):
            made.addArc(names[parent], names[table.child])
        made.cpt(names[table.child]).fillWith(table.rows.ravel().tolist())
    return made


def from_pyagrum(model: Any) -> BayesianNetwork:
    """Make a network from one of pyAgrum.

    Parameters
    ----------
    model : pyagrum.BayesNet
        Of variables of any kind; the states are their labels, as text.

    Raises
    ------
    ImportError
        If pyAgrum is not installed.
    TypeError
        If it is no such network.
    ValueError
        If a table holds no distributions, as after building a network whose tables were
        never filled; the variable is named.
    """
    gum = _pyagrum()
    if not isinstance(model, gum.BayesNet):
        raise TypeError(
            "a network is made from a pyagrum.BayesNet, but a "
            f"{type(model).__name__} was given"
        )
    states, parents, tables = {}, {}, {}
    for node in sorted(model.nodes()):
        name = model.variable(node).name()
        table = model.cpt(node)
        above = list(reversed(table.names[1:]))
        states[name] = list(model.variable(node).labels())
        parents[name] = above
        # The array's axes stand in the reverse order of the variables.
        tables[name] = np.asarray(table.toarray(), dtype=np.float64)
    return BayesianNetwork.from_tables(states=states, parents=parents, tables=tables)


def _texts(names: tuple[Any, ...], problem: str) -> list[str]:
    """Names as text."""
    texts = [str(name) for name in names]
    for position, text in enumerate(texts):
        if text in texts[:position]:
            raise ValueError(
                f"{problem} that are both written {text!r}, which pyAgrum cannot tell "
                "apart; rename one"
            )
    return texts


def _pyagrum() -> Any:
    """The module pyagrum."""
    return peer("pyagrum", "pyagrum", "networks")
