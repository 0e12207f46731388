"""A sampled network with a coding of its own, and what several say of a feature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import kernel_for
from bayleaf.counts.occupied import OccupiedFamilies, mapped_states
from bayleaf.cpds.nested import NestedFamilies, pseudo_weights
from bayleaf.cpds.nested_kernels import multiply_families, store_evidence
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes

# Steps that a row's state takes beside one for each class.
_STEPS_A_STATE = 8

Floats = NDArray[np.float64]
States = NDArray[np.uint16]
Whole = NDArray[np.int64]
Bank = tuple[Whole, States, Whole, States, States, Floats, Whole]


@dataclass(frozen=True, eq=False)
class RandomNetwork:
    """One sampled network: a coding of every feature, and its nested families.

    Parameters
    ----------
    maps : tuple of ndarray of dtype uint16
        For each feature, the state that each of its codes stands for.
    counts : OccupiedFamilies
        For each feature, the counts of its states, its parents' and the class.
    """

    maps: tuple[NDArray[np.uint16], ...]
    counts: OccupiedFamilies

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @cached_property
    def families(self) -> tuple[NestedFamilies, ...]:
        """For each feature, its counts with its parents."""
        return tuple(
            NestedFamilies(family, tuple(self.maps[v] for v in family), self.counts[i])
            for i in range(len(self.counts))
            for family in [self.counts.variables(i)]
        )

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


@dataclass(frozen=True, eq=False)
class FamilyBank:
    """The nested families of several networks, laid out for a kernel.

    Parameters
    ----------
    arrays : tuple of ndarray
        What `multiply_families` takes for them.
    n_networks : int
        Number of networks.
    """

    arrays: Bank
    n_networks: int

    @classmethod
    def from_networks(cls, networks: Sequence[RandomNetwork]) -> FamilyBank:
        """Lay the families of networks over the same features side by side."""
        counts = [network.counts for network in networks]
        n_places = max(each.families.shape[1] for each in counts)
        families = np.full((len(counts), len(counts[0]), n_places), -1, dtype=np.int64)
        for place, each in zip(families, counts, strict=True):
            place[:, : each.families.shape[1]] = each.families
        n_cells = [0, *(len(each.weights) for each in counts)]
        states = np.empty((n_places, sum(n_cells)), dtype=np.uint16)
        firsts = np.cumsum(n_cells, dtype=np.int64)
        for first, last, each in zip(firsts, firsts[1:], counts, strict=False):
            states[: len(each.states), first:last] = each.states
        # Networks mostly share codings: each stands here once.
        codings = {id(network.maps): network.maps for network in networks}
        values = [coding for maps in codings.values() for coding in maps]
        ends = np.cumsum([0, *map(len, values)], dtype=np.int64)
        n_maps = len(networks[0].maps)
        begin = {coding: n * n_maps for n, coding in enumerate(codings)}
        starts = [begin[id(network.maps)] for network in networks]
        arrays = (
            families,
            np.concatenate(values),
            ends[np.add.outer(starts, np.arange(n_maps + 1))],
            states,
            np.concatenate([each.classes for each in counts]),
            np.concatenate([each.weights for each in counts]),
            np.stack(
                [first + e.starts for first, e in zip(firsts, counts, strict=False)]
            ),
        )
        return cls(arrays, len(networks))

    def write_evidence(
        self,
        feature: int,
        codes: Codes,
        smoothing: Smoothing,
        values: NDArray[np.floating[Any]],
        left_out: OwnShares | None = None,
        work: float = math.inf,
    ) -> None:
        """Write the mean over networks of a feature's log-probabilities.

        Parameters
        ----------
        feature : int
            Its number.
        codes : Codes
            The rows.
        smoothing : Smoothing
            Lidstone, Dirichlet or MEstimate.
        values : ndarray of shape (n_rows, n_classes, n_depths)
            Takes the nats at each number of parents: 0, 1, ...; what is beyond the
            last parent repeats the deepest.
        left_out : OwnShares, optional
            What is taken from the counts of each row's class: at the training rows
            this leaves each row out.
        work : float, optional
            Estimate of the steps that all features take, see `kernel_for`; much by
            default.
        """
        if left_out is None:
            nobody = np.full(codes.n_rows, -1, dtype=np.int64)
            left_out = OwnShares(nobody, np.zeros(codes.n_rows))
        products, logs = np.ones(values.T.shape), np.zeros(values.T.shape)
        kernel_for(multiply_families, work)(
            feature,
            codes.narrow,
            codes.wide,
            np.array(codes.slots, dtype=np.int64),
            self.arrays,
            pseudo_weights(smoothing),
            left_out.own,
            *left_out.numbered,
            products,
            logs,
        )
        np.log(products, out=products)
        kernel_for(store_evidence, work)(products, logs, self.n_networks, values)
