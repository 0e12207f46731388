"""Grids of binary variables with random tables, and their posteriors row by row."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayleaf.models.bayesian_network import BayesianNetwork


def cell(row: int, column: int) -> str:
    return f"x{row}_{column}"


def grid_network(width: int, seed: int) -> BayesianNetwork:
    """Each variable depends on the one above it and the one to its left."""
    rng = np.random.default_rng(seed)
    states, parents, tables = {}, {}, {}
    for row in range(width):
        for column in range(width):
            name = cell(row, column)
            above = [cell(row - 1, column)] if row else []
            left = [cell(row, column - 1)] if column else []
            states[name], parents[name] = [0, 1], above + left
            tables[name] = rng.dirichlet([1, 1], size=(2,) * len(parents[name]))
    return BayesianNetwork.from_tables(states, tables, parents)


def grid_posteriors(
    network: BayesianNetwork, evidence: Mapping[str, int]
) -> tuple[dict[str, np.ndarray], float]:
    """Posteriors and ln P(evidence), by sums over the states of one row at a time.

    An array over all states of a row (or of parts of two neighbouring ones) goes
    through the grid cell by cell, and back again.
    """
    width = round(len(network.domain) ** 0.5)
    forward, log_scale = np.ones((2,) * width) / 2**width, 0.0
    kept = []
    for row in range(width):
        kept.append(forward)
        for column in range(width):
            forward = _step(network, evidence, forward, row, column)
        log_scale += np.log(forward.sum())
        forward = forward / forward.sum()
    backward = np.ones((2,) * width)
    found = {}
    for row in reversed(range(width)):
        within = [kept.pop()]
        for column in range(width):
            within.append(_step(network, evidence, within[-1], row, column))
        for column in reversed(range(width)):
            joint = within.pop() * backward
            sums = joint.reshape(2**column, 2, -1).sum(axis=2).sum(axis=0)
            found[cell(row, column)] = sums / sums.sum()
            backward = _step_back(network, evidence, backward, row, column)
        backward /= backward.max()
    return found, float(log_scale)


def _kernel(network, evidence, row, column) -> np.ndarray:
    """P(x, evidence on x | above, left), axes (above, left, x); ones if absent."""
    name = cell(row, column)
    table = network.cpd(name).probabilities
    shape = (2 if row else 1, 2 if column else 1, 2)
    table = np.broadcast_to(table.reshape(shape), (2, 2, 2)).copy()
    if name in evidence:
        table[..., 1 - evidence[name]] = 0.0
    return table


def _step(network, evidence, array, row, column) -> np.ndarray:
    """Put a cell in the place of the one above it."""
    kernel = _kernel(network, evidence, row, column)
    return _product(array, kernel, column)


def _step_back(network, evidence, array, row, column) -> np.ndarray:
    """Sum a cell out, which leaves the one above it."""
    kernel = _kernel(network, evidence, row, column).transpose(2, 1, 0)
    return _product(array, kernel, column)


def _product(array, kernel, column) -> np.ndarray:
    """Sums of an array times kernel[old, left, new] over the old state of a column."""
    if not column:
        parts = array.reshape(1, 1, 2, -1)
        kernel = kernel[:, :1]
    else:
        parts = array.reshape(2 ** (column - 1), 2, 2, -1)
    found = np.empty_like(parts)
    for left in range(parts.shape[1]):
        for new in (0, 1):
            found[:, left, new] = (
                kernel[0, left, new] * parts[:, left, 0]
                + kernel[1, left, new] * parts[:, left, 1]
            )
    return found.reshape(array.shape)
