"""The row loop of a mixture that learns from one row after another."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Least probability whose logarithm is taken.
_LEAST = 1e-300


@compiled
def score_outputs(
    cells_of_row: NDArray[np.int32],
    priors: Floats,
    cells: Floats,
    totals: Floats,
    highest: float,
    most_factors: int,
    products: Floats,
    logs: Floats,
) -> bool:
    """Joint probability of every output of every node and one row.

    Ratios are multiplied, at most `most_factors` of them before a logarithm is taken,
    so that no product underflows. Returns whether one was taken: the probability is
    then ``exp(logs) * products``, otherwise `products` alone.
    """
    n_columns = products.size
    for j in range(n_columns):
        products[j] = priors[j] / highest
    n_factors = 1
    took_logs = False
    for k in range(cells_of_row.size):
        cell = cells_of_row[k]
        if cell < 0:
            continue
        if n_factors == most_factors:
            for j in range(n_columns):
                before = logs[j] if took_logs else 0.0
                logs[j] = before + math.log(products[j])
                products[j] = 1.0
            n_factors = 0
            took_logs = True
        for j in range(n_columns):
            products[j] *= cells[cell, j] / totals[k, j]
        n_factors += 1
    return took_logs


@compiled
def normalize_nodes(columns: Integers, products: Floats) -> None:
    """Divide what belongs to each node by its sum."""
    for node in range(columns.size - 1):
        first, last = columns[node], columns[node + 1]
        total = 0.0
        for j in range(first, last):
            total += products[j]
        for j in range(first, last):
            products[j] /= total


@compiled
def exponentiate_nodes(columns: Integers, logs: Floats, products: Floats) -> None:
    """Turn ``exp(logs) * products`` into numbers of which each node's largest is 1."""
    for node in range(columns.size - 1):
        first, last = columns[node], columns[node + 1]
        for j in range(first, last):
            logs[j] += math.log(products[j])
        most = logs[first]
        for j in range(first + 1, last):
            most = max(most, logs[j])
        for j in range(first, last):
            products[j] = math.exp(logs[j] - most)


@compiled
def weigh_nodes(
    own: int,
    weight: float,
    sigma: float,
    columns: Integers,
    first_child: Integers,
    shares: Floats,
    true_shares: Floats,
    values: Floats,
    paths: Floats,
    learned: Integers,
) -> None:
    """Learning weight of every node, and the output it learns, for one row.

    Values come from the experts up, and with them the probability `true_shares` of the
    true class; weights come from the root down.
    """
    n_gates, n_nodes = first_child.size, columns.size - 1
    for node in range(n_gates, n_nodes):
        learned[node] = columns[node] + own
        true_shares[node] = shares[learned[node]]
        values[node] = math.exp(-sigma * (1.0 - true_shares[node]))
    for node in range(n_gates - 1, -1, -1):
        first, child = columns[node], first_child[node]
        total = 0.0
        true_share = 0.0
        best = 0
        for j in range(columns[node + 1] - first):
            total += shares[first + j] * values[child + j]
            true_share += shares[first + j] * true_shares[child + j]
            if values[child + j] > values[child + best]:
                best = j
        values[node] = total
        true_shares[node] = true_share
        learned[node] = first + best
    paths[0] = weight
    for node in range(n_gates):
        first, child = columns[node], first_child[node]
        for j in range(columns[node + 1] - first):
            h = shares[first + j] * values[child + j] / values[node]
            paths[child + j] = paths[node] * h


@compiled
def learn_pass(
    order: Integers,
    row_cells: NDArray[np.int32],
    classes: Integers,
    weights: Floats,
    columns: Integers,
    first_child: Integers,
    sigma: float,
    all_rows: bool,
    highest: float,
    most_factors: int,
    priors: Floats,
    cells: Floats,
    totals: Floats,
) -> float:
    """Visit the rows in order, and let all gates and experts learn from each.

    Nodes are numbered level by level from the root; node n owns the counter columns
    ``columns[n]`` to ``columns[n + 1]``, one an output. `row_cells` (n_rows,
    n_features) holds the row of `cells` that a table cell counts in, -1 where it is
    missing. `priors` (n_columns,), `cells` (n_values, n_columns) and `totals`
    (n_features, n_columns) are changed; none of them may exceed `highest`, and no
    product of `most_factors` shares of it may underflow. Returns the sum of -ln P(class
    | features) by weight, nats, each row predicted just before it is learned.
    """
    n_nodes, n_columns = columns.size - 1, priors.size
    shares, logs = np.empty(n_columns), np.empty(n_columns)
    values, true_shares = np.empty(n_nodes), np.empty(n_nodes)
    paths = np.empty(n_nodes)
    learned = np.empty(n_nodes, dtype=np.int64)
    loss = 0.0
    for place in range(order.size):
        row = order[place]
        took_logs = score_outputs(
            row_cells[row],
            priors,
            cells,
            totals,
            highest,
            most_factors,
            shares,
            logs,
        )
        if took_logs:
            exponentiate_nodes(columns, logs, shares)
        normalize_nodes(columns, shares)
        weigh_nodes(
            classes[row],
            weights[row],
            sigma,
            columns,
            first_child,
            shares,
            true_shares,
            values,
            paths,
            learned,
        )
        loss -= weights[row] * math.log(max(true_shares[0], _LEAST))
        for node in range(n_nodes):
            priors[learned[node]] += paths[node]
        for k in range(row_cells.shape[1]):
            cell = row_cells[row, k]
            if cell >= 0:
                for node in range(n_nodes):
                    cells[cell, learned[node]] += paths[node]
            if cell >= 0 or all_rows:
                for node in range(n_nodes):
                    totals[k, learned[node]] += paths[node]
    return loss
