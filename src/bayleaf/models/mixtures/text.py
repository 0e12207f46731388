"""A mixture's tree of gates and experts, for a reader."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.domain import Domain, Variable
from bayleaf.models.mixtures.tables import (
    Banks,
    MixtureTables,
    node_path,
    path_name,
)
from bayleaf.wording import name_list, shown_name

Floats = NDArray[np.float64]

# Lines on a mixture, attributes of a gate, and mixtures that are written.
_LINES_SHOWN = 60
_ATTRIBUTES_SHOWN = 3
_MIXTURES_SHOWN = 2
# States of an attribute that are listed for a child.
_STATES_SHOWN = 4
# Attributes that tell less than this of the output, in nats, decide nothing.
_LEAST_INFORMATION = 1e-3


def mixture_text(model: MixtureTables) -> str:
    """Write the tree: each gate with the attributes that decide it, each expert.

    An attribute decides a gate by the mutual information (nats) between it and the
    child under the gate's own distributions. The number before a child is its weight
    in a row of which nothing is known.
    """
    lines = []
    for start, banks in enumerate(model.starts[:_MIXTURES_SHOWN]):
        if len(model.starts) > 1:
            lines.append(f"mixture {start + 1} of {len(model.starts)}")
        nodes = list(_lines(model, banks, 0, 0, 1.0))
        lines += nodes[:_LINES_SHOWN]
        if hidden := len(nodes[_LINES_SHOWN:]):
            lines.append(f"and {hidden} more lines on gates and experts")
    return "\n".join(lines)


def deciding_attributes(bank: NaiveBayesBank, node: int) -> Floats:
    """Mutual information (nats) of each feature and one classifier's output.

    Shape (n_features,), under the classifier's own distributions.
    """
    prior = np.exp(bank.log_prior[node])
    found = np.empty(bank.n_features)
    for feature in range(bank.n_features):
        joint = _table(bank, node, feature) * prior
        # Values are no distribution where rows that miss them count as well.
        joint /= joint.sum()
        apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        seen = joint > 0
        found[feature] = np.sum(joint[seen] * np.log(joint[seen] / apart[seen]))
    return found


def _table(bank: NaiveBayesBank, node: int, feature: int) -> Floats:
    """P(state | output) of one feature, shape (n_states, n_outputs)."""
    first, last = bank.offsets[feature : feature + 2]
    return np.asarray(np.exp(bank.log_table[first:last, node]))


def _lines(
    model: MixtureTables, banks: Banks, level: int, node: int, weight: float
) -> Iterator[str]:
    """A node's line and those below it, indented by depth."""
    bank, path = banks[level], node_path(model.architecture, level, node)
    indent = "  " * level
    shares = np.exp(bank.log_prior[node])
    if level == len(banks) - 1:
        variable = model.domain[len(model.domain) - 1]
        classes = [f"{variable.label(c)} {share:.2f}" for c, share in enumerate(shares)]
        names = _deciding_names(model.domain, bank, node)
        by = f", by {name_list(names)}" if names else ""
        name = f"expert {path_name(path)}"
        yield f"{indent}{weight:.2f} {name}: {name_list(classes)}{by}"
        return
    yield f"{indent}{weight:.2f} gate {path_name(path)}"
    for line in _division(model.domain, bank, node, path):
        yield f"{indent}     by {line}"
    for child, share in enumerate(shares):
        below = node * bank.n_outputs + child
        yield from _lines(model, banks, level + 1, below, weight * float(share))


def _deciding_names(domain: Domain, bank: NaiveBayesBank, node: int) -> list[str]:
    """The attributes that tell most of a node's output."""
    information = deciding_attributes(bank, node)
    order = np.argsort(-information, kind="stable")[:_ATTRIBUTES_SHOWN]
    return [
        shown_name(domain[int(feature)].name)
        for feature in order
        if information[feature] >= _LEAST_INFORMATION
    ]


def _division(
    domain: Domain, bank: NaiveBayesBank, node: int, path: tuple[int, ...]
) -> Iterator[str]:
    """The attributes that decide a gate, and which states lean to which child."""
    information = deciding_attributes(bank, node)
    order = np.argsort(-information, kind="stable")[:_ATTRIBUTES_SHOWN]
    for feature in order.tolist():
        if information[feature] < _LEAST_INFORMATION:
            return
        variable = domain[feature]
        table = _table(bank, node, feature)
        leaning = np.argmax(table / table.sum(axis=0), axis=1)
        parts = [
            f"{_states(variable, np.flatnonzero(leaning == child))} to "
            f"{path_name((*path, child + 1))}"
            for child in range(bank.n_outputs)
            if (leaning == child).any()
        ]
        yield f"{shown_name(variable.name)}: {'; '.join(parts)}"


def _states(variable: Variable, states: NDArray[np.intp]) -> str:
    """A few states by name."""
    return name_list([variable.label(int(s)) for s in states], limit=_STATES_SHOWN)
