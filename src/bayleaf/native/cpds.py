"""Native log-probabilities of sampled networks: of rows, and by look-up tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import (
    F4,
    F8,
    I8,
    U2,
    code_arguments,
    readable,
    writable,
)
from bayleaf.native.library import FLAG, INTEGER, POINTER, REAL, Function, Handle

_CODES = (POINTER, INTEGER, POINTER, INTEGER, POINTER, INTEGER, INTEGER)

_networks_new = Function("bl_networks_new", INTEGER, *[REAL] * 4, POINTER)
_networks_add = Function(
    "bl_networks_add",
    *[POINTER, POINTER, INTEGER, INTEGER],
    *[POINTER, INTEGER, POINTER, INTEGER],
    *[POINTER, POINTER, POINTER, INTEGER, POINTER],
)
_networks_size = Function("bl_networks_size", *[POINTER] * 3)
_networks_add_scores = Function(
    "bl_networks_add_scores",
    *[POINTER, *_CODES],
    *[POINTER, INTEGER, INTEGER, POINTER, POINTER],
)
_write_log_probabilities = Function(
    "bl_write_log_probabilities",
    *[POINTER, INTEGER, INTEGER],
    *_CODES,
    *[POINTER, POINTER],
    *[POINTER, INTEGER, INTEGER, INTEGER, FLAG],
)

PseudoWeights = tuple[float, float, float]


class Networks(Handle):
    """Sampled networks over the same features, each family as a tree over its parents.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    pseudo : tuple of three float
        Prior weight of each state of a feature, of all alike, and of all by their
        shares of the training rows.
    min_rows : float
        Weight of the rows that a configuration of parents needs: one that is left with
        less once a row is left out repeats the one of one parent fewer.

    Attributes
    ----------
    n_classes : int
        Number of classes.
    n_features : int
        Number of families of each network.
    """

    def __init__(
        self, n_classes: int, pseudo: PseudoWeights, min_rows: float = 1.0
    ) -> None:
        super().__init__(
            _networks_new, "bl_networks_free", n_classes, *pseudo, min_rows
        )
        self.n_classes, self.n_features = n_classes, 0
        # Arrays that are read and not copied.
        self._codings: list[tuple[NDArray[Any], ...]] = []

    @property
    def size(self) -> tuple[int, int]:
        """Bytes that all networks take, and their nodes."""
        found = np.zeros(2, dtype=np.int64)
        address = found.ctypes.data
        _networks_size(self.address, address, address + found.itemsize)
        return int(found[0]), int(found[1])

    def add(
        self,
        families: NDArray[np.int64],
        values: NDArray[np.uint16],
        value_starts: NDArray[np.int64],
        states: NDArray[np.uint16],
        classes: NDArray[np.uint16],
        weights: NDArray[np.float64],
        starts: NDArray[np.int64],
    ) -> None:
        """Add a network.

        Parameters
        ----------
        families : ndarray of shape (n_features, n_places), dtype int64
            Each feature and its parents, -1 after the last.
        values : ndarray of shape (n_values,), dtype uint16
            For each variable, one after the other, the state that each of its codes
            stands for; the last is the highest.
        value_starts : ndarray of shape (n_variables + 1,), dtype int64
            Where the states of each variable begin.
        states : ndarray of shape (n_places, n_cells), dtype uint16
            State of each variable of a family in its cells, family after family, in the
            order of the parents' states.
        classes : ndarray of shape (n_cells,), dtype uint16
            Class of each cell.
        weights : ndarray of shape (n_cells,), dtype float64
            Weight of each cell.
        starts : ndarray of shape (n_features + 1,), dtype int64
            Where the cells of each family begin.

        Raises
        ------
        TypeError, ValueError
            If an array is not what it should be, or holds a variable, state or class
            that does not exist, or cells are not in order.
        """
        n_features, n_places = families.shape
        n_cells, n_values = len(classes), len(values)
        n_variables = len(value_starts) - 1
        _networks_add(
            self.address,
            readable(families, I8, (n_features, n_places)),
            n_features,
            n_places,
            readable(values, U2, (n_values,)),
            n_values,
            readable(value_starts, I8, (n_variables + 1,)),
            n_variables,
            readable(states, U2, (n_places, n_cells)),
            readable(classes, U2, (n_cells,)),
            readable(weights, F8, (n_cells,)),
            n_cells,
            readable(starts, I8, (n_features + 1,)),
        )
        self.n_features = n_features
        self._codings.append((values, value_starts))

    def write_log_probabilities(
        self,
        features: range,
        narrow: NDArray[np.uint8],
        wide: NDArray[np.uint16],
        slots: NDArray[np.int64],
        own: NDArray[np.int64],
        shares: NDArray[np.float64],
        values: NDArray[np.float32] | NDArray[np.float64],
        first: int,
        n_depths: int,
    ) -> None:
        """Write the mean over networks of ln P(x | class, first j parents) of rows.

        Parameters
        ----------
        features : range
            The features x, one after the other.
        narrow : ndarray of shape (n_narrow, n_rows), dtype uint8
            Codes of narrow variables, see `bayleaf.data.codes.Codes`.
        wide : ndarray of shape (n_wide, n_rows), dtype uint16
            Codes of wide variables.
        slots : ndarray of shape (n_variables,) or more, dtype int64
            Where each variable lies.
        own : ndarray of shape (n_rows,), dtype int64
            Class of each row from whose counts its share is taken; -1 for none.
        shares : ndarray of shape (n_rows,), dtype float64
            What is taken.
        values : ndarray of shape (n_rows, n_classes, n_pieces), float32 or float64
            Takes the nats of depths 0, 1, ... in the pieces from `first` on; what is
            beyond the last configuration of parents repeats the deepest.
        first : int
            Piece of depth 0 of the first feature.
        n_depths : int
            Number of depths of each feature, at least 1.

        Raises
        ------
        TypeError, ValueError
            If an array is not what it should be, or there is no such feature or piece.
        """
        n_rows, _, n_pieces = values.shape
        n_features = len(features)
        is_inside = 0 <= features.start <= features.stop <= self.n_features
        if features.step != 1 or not is_inside:
            raise ValueError(f"there are {self.n_features} features, got {features}")
        if n_depths < 1 or not 0 <= first <= n_pieces - n_features * n_depths:
            raise ValueError(
                f"{n_depths} depths of {n_features} features from piece {first} on do "
                f"not fit {n_pieces} pieces"
            )
        dtype = F4 if values.dtype == F4 else F8
        _write_log_probabilities(
            self.address,
            features.start,
            n_features,
            *code_arguments(narrow, wide, slots, n_rows),
            n_rows,
            readable(own, I8, (n_rows,)),
            readable(shares, F8, (n_rows,)),
            writable(values, dtype, (n_rows, self.n_classes, n_pieces)),
            n_pieces,
            first,
            n_depths,
            dtype == F4,
        )

    def add_scores(
        self,
        narrow: NDArray[np.uint8],
        wide: NDArray[np.uint16],
        slots: NDArray[np.int64],
        scales: NDArray[np.float64],
        sets: NDArray[np.int64],
        scores: NDArray[np.float64],
    ) -> None:
        """Add ``scale * ln(P(x | class, ...) / P(x))`` of all families to rows' scores.

        Terms are relative to a state's prior share P(x), so that states and parents
        without data add nothing.

        Parameters
        ----------
        narrow : ndarray of shape (n_narrow, n_rows), dtype uint8
            Codes of narrow variables, see `bayleaf.data.codes.Codes`.
        wide : ndarray of shape (n_wide, n_rows), dtype uint16
            Codes of wide variables.
        slots : ndarray of shape (n_variables,) or more, dtype int64
            Where each variable lies.
        scales : ndarray of shape (n_sets, n_features, n_depths), dtype float64
            Weights of each feature at each depth in each network; what is beyond the
            last configuration of parents counts for the deepest.
        sets : ndarray of shape (n_rows,), dtype int64
            Which of the weights each row has.
        scores : ndarray of shape (n_rows, n_classes), dtype float64
            Added to.

        Raises
        ------
        TypeError, ValueError
            If an array is not what it should be.
        """
        n_rows, (n_sets, _, n_depths) = len(scores), scales.shape
        _networks_add_scores(
            self.address,
            *code_arguments(narrow, wide, slots, n_rows),
            n_rows,
            readable(scales, F8, (n_sets, self.n_features, n_depths)),
            n_sets,
            n_depths,
            readable(sets, I8, (n_rows,)),
            writable(scores, F8, (n_rows, self.n_classes)),
        )
