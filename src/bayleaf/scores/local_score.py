"""What a search asks of a score, and the terms that most scores do without."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Unit = Literal["bits", "nats"]
Counts = NDArray[np.float64]
Scores = NDArray[np.float64]


class LocalScore(Protocol):
    """Score of one variable's distribution given its parents; larger is better.

    The score of a network is the sum over its variables. That of one variable is what
    its rows of counts score, and the terms for the shape of its CPD.

    Attributes
    ----------
    name : str
        The name by which `resolve_score` knows it.
    unit : {"bits", "nats"}
        What all its terms are measured in.
    adds_over_rows : bool
        Whether scoring rows apart, each as a CPD of one row, gives the same sum.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def unit(self) -> Unit: ...  # noqa: D102

    @property
    def adds_over_rows(self) -> bool: ...  # noqa: D102

    def rows_score(self, counts: Counts, n_rows: float, total_weight: float) -> Scores:
        """Score data and parameters of CPDs.

        Parameters
        ----------
        counts : ndarray of shape (..., n_seen, n_states), dtype float64
            Weight of each state of the child in each row of the CPD: a configuration
            of the parents, a group of them or a leaf. Rows without data may be left
            out.
        n_rows : float
            Number of rows of the CPD, those left out included.
        total_weight : float
            Weight of the whole table, N.

        Returns
        -------
        ndarray of shape (...)
            One score a CPD.
        """
        ...

    def parents_score(self, n_parents: int, n_variables: int) -> float:
        """Score naming the parents among all variables."""
        ...

    def cuts_score(self, n_cuts: Iterable[int]) -> float:
        """Score naming one cut through the hierarchy of each parent.

        Parameters
        ----------
        n_cuts : iterable of int
            How many cuts each of the hierarchies has.
        """
        ...

    def leaf_score(self) -> float:
        """Score saying that a node of a tree is a leaf."""
        ...

    def split_score(self, n_candidates: int) -> float:
        """Score saying that a node of a tree splits on one of some variables."""
        ...

    def merge_score(self, n_leaves: int) -> float:
        """Score naming the leaf that one of so many leaves is merged with."""
        ...


class ParametersOnly:
    """The shape of a CPD costs nothing but its parameters."""

    adds_over_rows = True

    def parents_score(self, n_parents: int, n_variables: int) -> float:
        """Score naming the parents among all variables: zero."""
        return 0.0

    def cuts_score(self, n_cuts: Iterable[int]) -> float:
        """Score naming one cut through the hierarchy of each parent: zero."""
        return 0.0

    def leaf_score(self) -> float:
        """Score saying that a node of a tree is a leaf: zero."""
        return 0.0

    def split_score(self, n_candidates: int) -> float:
        """Score saying that a node of a tree splits on a variable: zero."""
        return 0.0

    def merge_score(self, n_leaves: int) -> float:
        """Score naming the leaf that another is merged with: zero."""
        return 0.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def log_likelihood(counts: Counts) -> Scores:
    """Largest log-likelihood (nats) that rows of counts can have.

    Sum of N(x, row) ln(N(x, row) / N(row)), with 0 ln 0 = 0: (..., n_rows, n_states) ->
    (...).
    """
    rows = counts.sum(axis=-1)
    cells = _weighted_logs(counts).sum(axis=(-2, -1))
    return np.asarray(cells - _weighted_logs(rows).sum(axis=-1))


def _weighted_logs(weights: Counts) -> Scores:
    """Each weight times its natural logarithm, zero where it is zero."""
    # Not scipy's xlogy, which takes four times as long.
    logs: Scores = np.log(weights, where=weights > 0, out=np.zeros(weights.shape))
    logs *= weights
    return logs
