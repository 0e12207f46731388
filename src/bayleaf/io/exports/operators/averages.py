"""Averages as operators: one-dependence networks, and mixtures of naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.operators.graph import Graph

Floats = NDArray[np.float64]


def one_dependence_scores(
    graph: Graph, values: Mapping[str, Any], codes: Sequence[str], cards: Sequence[int]
) -> str:
    """Log of the sum of all networks' joint probabilities, (n_rows, n_classes).

    The networks that a row may use share its number, which no posterior shows.
    """
    with np.errstate(divide="ignore"):
        prior, parent, child = (
            np.log(values[name]) for name in ("prior", "parent", "child")
        )
    starts = np.cumsum([0, *cards])
    joint = [graph.constant((prior[:, None] + parent)[None])]
    alone = [graph.constant(prior[None])]
    masks = []
    for feature, card in enumerate(cards):
        own = slice(int(starts[feature]), int(starts[feature + 1]))
        # What a state says in each network; nothing where the feature is the parent.
        table = np.zeros((card + 1, *parent.shape))
        table[:card] = np.moveaxis(child[:, :, own], 2, 0)
        table[:, :, own] = 0.0
        joint.append(graph.look_up(table, codes[feature]))
        single = np.concatenate([parent[:, own].T, np.zeros((1, len(prior)))])
        alone.append(graph.look_up(single, codes[feature]))
        usable = np.asarray(values["usable"][own]).astype(bool)
        allowed = np.concatenate([np.diag(usable), np.ones((1, card), dtype=bool)])
        masks.append(graph.look_up(np.where(allowed, 0.0, -np.inf), codes[feature]))
    mask = graph.add("Concat", *masks, axis=1)
    members = graph.add("Add", graph.sum(joint), graph.add("Unsqueeze", mask, [1]))
    found = graph.log_sum_exp(members, 2)
    highest = graph.add("ReduceMax", mask, axes=[1], keepdims=1)
    is_any = graph.add("Equal", highest, np.array(0.0))
    return graph.add("Where", is_any, found, graph.sum(alone))


def mixture_scores(
    graph: Graph, values: Mapping[str, Any], codes: Sequence[str], cards: Sequence[int]
) -> str:
    """Log of the sum over mixtures and experts of weight times posterior."""
    members = [_members(graph, banks, codes, cards) for banks in values["starts"]]
    every = members[0] if len(members) == 1 else graph.add("Concat", *members, axis=1)
    found = graph.log_sum_exp(every, 1)
    return graph.add("Add", found, np.asarray(values["shift"])[None])


def _members(
    graph: Graph,
    banks: Sequence[Mapping[str, Any]],
    codes: Sequence[str],
    cards: Sequence[int],
) -> str:
    """Log of weight times posterior of one mixture's experts, by row, expert, class."""
    weights = ""
    for bank in banks:
        own = _posteriors(graph, bank, codes, cards)
        if weights:
            n_nodes = np.shape(bank["prior"])[0]
            column = graph.add("Reshape", weights, [0, n_nodes, 1])
            own = graph.add("Add", own, column)
        weights = own
    return weights


def _posteriors(
    graph: Graph, bank: Mapping[str, Any], codes: Sequence[str], cards: Sequence[int]
) -> str:
    """Log posteriors of all nodes of a bank, (n_rows, n_nodes, n_outputs)."""
    prior, table = np.asarray(bank["prior"]), np.asarray(bank["table"])
    terms = [graph.constant(prior[None])]
    for feature, card in enumerate(cards):
        first = int(bank["offsets"][feature])
        own = np.concatenate([table[first : first + card], np.zeros((1, *prior.shape))])
        terms.append(graph.look_up(own, codes[feature]))
    scores = graph.sum(terms)
    total = graph.add("Unsqueeze", graph.log_sum_exp(scores, 2), [2])
    return graph.add("Sub", scores, total)
