"""Networks as pyAgrum's, and back.

pyAgrum is no requirement of this package; it is imported when asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayleaf.io.formats.converters import peer
from bayleaf.io.formats.full_tables import full_tables
from bayleaf.models.bayesian_network import BayesianNetwork


def to_pyagrum(network: BayesianNetwork) -> Any:
    """Make a network of pyAgrum, with names, in their order, and states as text.

    Trees and value maps become their full tables; cut points and experience are left
    out.
    ValueError if two names or two states are the same text, such as 7 and "7".
    """
    gum = _pyagrum()
    names = _texts(network.domain.names, "the network has two variables")
    made = gum.BayesNet()
    for name, variable in zip(names, network.domain, strict=True):
        states = tuple(map(variable.label, range(variable.n_states)))
        labels = _texts(states, f"variable {name!r} has two states")
        made.add(gum.LabelizedVariable(name, name, labels))
    for table in full_tables(network):
        # pyAgrum's first variable is fastest: the child, then the last parent.
        for parent in reversed(table.parents):
            made.addArc(names[parent], names[table.child])
        made.cpt(names[table.child]).fillWith(table.rows.ravel().tolist())
    return made


def from_pyagrum(model: Any) -> BayesianNetwork:
    """Make a network from one of pyAgrum, whose labels are the states, as text.

    TypeError for another model; ValueError names a variable whose table holds no
    distributions, as after building a network whose tables were never filled.
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
