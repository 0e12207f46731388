"""A sampled network with a coding of its own, and what several say of a feature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import kernel_for
from bayleaf.counts.occupied import mapped_states
from bayleaf.cpds.nested import NestedFamilies, PseudoCounts
from bayleaf.cpds.nested_kernels import multiply_families
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes

# Steps that a row's state takes beside one for each class.
_STEPS_A_STATE = 8

Floats = NDArray[np.float64]
States = NDArray[np.uint16]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RandomNetwork:
    """One sampled network: a coding of every feature, and its nested families.

    Parameters
    ----------
    maps : tuple of ndarray of dtype uint16
        For each feature, the state that each of its codes stands for.
    families : tuple of NestedFamilies
        For each feature, its counts with its parents.
    """

    maps: tuple[NDArray[np.uint16], ...]
    families: tuple[NestedFamilies, ...]

    def states(self, codes: Codes) -> NDArray[np.uint16]:
        """State of each feature in each row, shape (n_features, n_rows)."""
        columns = [codes.column(i) for i in range(len(self.maps))]
        return mapped_states(columns, self.maps)


@dataclass(frozen=True, eq=False)
class OwnShares:
    """What each of some rows takes from the counts when it is left out.

    Parameters
    ----------
    own : ndarray of shape (n_rows,), dtype int64
        Class of each row, whose counts are lowered; -1 for none.
    shares : ndarray of shape (n_rows,)
        By how much.
    """

    own: NDArray[np.int64]
    shares: Floats

    @cached_property
    def numbered(self) -> tuple[NDArray[np.int64], Floats]:
        """Number of each row's share, and the distinct shares."""
        levels, numbers = np.unique(self.shares, return_inverse=True)
        return numbers.astype(np.int64), levels


def evidence_work(
    n_networks: int, n_features: int, n_depths: int, n_rows: int, n_classes: int
) -> float:
    """Estimate of the steps that the evidence of rows takes, see `kernel_for`."""
    steps = _STEPS_A_STATE + n_classes
    return float(n_networks * n_features * n_depths * n_rows * steps)


def mean_evidence(
    families: Sequence[NestedFamilies],
    codes: Codes,
    smoothing: Smoothing,
    n_depths: int,
    n_classes: int,
    left_out: OwnShares | None = None,
    work: float = math.inf,
) -> Floats:
    """Mean over networks of one feature's log-probabilities at every depth.

    Parameters
    ----------
    families : sequence of NestedFamilies
        The feature's families, one a network.
    codes : Codes
        The rows.
    smoothing : Smoothing
        Lidstone, Dirichlet or MEstimate.
    n_depths : int
        Numbers of parents looked at: 0, 1, ...; what is beyond the last parent repeats
        the deepest.
    n_classes : int
        Number of classes.
    left_out : OwnShares, optional
        What is taken from the counts of each row's class: at the training rows this
        leaves each row out.
    work : float, optional
        Estimate of the steps that all features take, see `kernel_for`; much by
        default.

    Returns
    -------
    ndarray of shape (n_rows, n_classes, n_depths)
        Nats.
    """
    if left_out is None:
        nobody = np.full(codes.n_rows, -1, dtype=np.int64)
        left_out = OwnShares(nobody, np.zeros(codes.n_rows))
    shape = n_depths, n_classes, codes.n_rows
    products, logs = np.ones(shape), np.zeros(shape)
    kernel_for(multiply_families, work)(
        codes.narrow,
        codes.wide,
        np.array(codes.slots, dtype=np.int64),
        *_side_by_side(families),
        *_prior_weights(families, smoothing),
        left_out.own,
        *left_out.numbered,
        products,
        logs,
    )
    np.log(products, out=products)
    products += logs
    products /= len(families)
    return products.T


def _side_by_side(
    families: Sequence[NestedFamilies],
) -> tuple[Whole, States, Whole, States, States, Floats, Whole]:
    """Variables, the maps of their codes and the counts, as a kernel takes them."""
    n_places = max(len(family.variables) for family in families)
    variables = np.full((len(families), n_places), -1, dtype=np.int64)
    for row, family in zip(variables, families, strict=True):
        row[: len(family.variables)] = family.variables
    n_cells = [0, *(len(family.counts.weights) for family in families)]
    starts = np.cumsum(n_cells, dtype=np.int64)
    states = np.empty((n_places, starts[-1]), dtype=np.uint16)
    for first, last, family in zip(starts, starts[1:], families, strict=False):
        states[: len(family.variables), first:last] = family.counts.states
    maps = [values for family in families for values in family.maps]
    return (
        variables,
        np.concatenate(maps),
        np.cumsum([0, *map(len, maps)], dtype=np.int64),
        states,
        np.concatenate([family.counts.classes for family in families]),
        np.concatenate([family.counts.weights for family in families]),
        starts,
    )


def _prior_weights(
    families: Sequence[NestedFamilies], smoothing: Smoothing
) -> tuple[Floats, Floats, Whole, Floats, bool]:
    """Prior weights of the child's states in each network, as a kernel takes them."""
    # Networks that share the child's coding share its marginal.
    known: dict[int, PseudoCounts] = {}
    marginals: dict[int, Floats] = {}
    for family in families:
        coding = id(family.maps[0])
        if coding not in known:
            known[coding] = PseudoCounts.from_rule(smoothing, family.marginal)
            marginals[coding] = np.append(family.marginal, 0.0)
    codings = [id(family.maps[0]) for family in families]
    priors = [known[coding] for coding in codings]
    return (
        np.concatenate([prior.states for prior in priors]),
        np.concatenate([marginals[coding] for coding in codings]),
        np.cumsum([0, *(len(prior.states) for prior in priors)], dtype=np.int64),
        np.array([prior.strength for prior in priors]),
        priors[0].is_marginal,
    )
