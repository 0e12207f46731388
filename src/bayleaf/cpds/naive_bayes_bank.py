"""Many naive Bayes classifiers over the same features, scored together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.wording import brief_fields

Floats = NDArray[np.float64]

# Log scores of a tile of rows: they stay in the second cache.
_TILE_CELLS = 1 << 15


@dataclass(frozen=True, eq=False)
class NaiveBayesBank:
    """All naive Bayes classifiers of one level of a hierarchy.

    A *node* is one classifier, an *output* what it chooses among: the children of a
    gate or the classes of an expert. ``P(output, features | node)`` is the prior of the
    output times one table entry per feature; a missing cell contributes no entry.

    Entry ``offsets[k] + state`` of `log_table` is ln P(feature k = state | output,
    node); the last of the (n_features + 1,) `offsets` is `n_values`.
    """

    log_prior: Floats  # (n_nodes, n_outputs): ln P(output | node)
    log_table: Floats  # (n_values, n_nodes, n_outputs)
    offsets: NDArray[np.int64]  # where the states of each feature begin

    __repr__ = brief_fields

    @property
    def n_nodes(self) -> int:
        """Number of classifiers."""
        return int(self.log_prior.shape[0])

    @property
    def n_outputs(self) -> int:
        """What each classifier chooses among."""
        return int(self.log_prior.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.offsets) - 1

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        n_free = len(self.log_table) - self.n_features
        return self.n_nodes * (self.n_outputs - 1 + self.n_outputs * n_free)

    @cached_property
    def _entries(self) -> Floats:
        """The table with one more entry, for missing cells, that is zero."""
        flat = self.log_table.reshape(len(self.log_table), -1)
        return np.vstack([flat, np.zeros((1, flat.shape[1]))])

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def log_scores(self, codes: Codes) -> Floats:
        """Log joint probability (nats) of each output and the observed features.

        Shape (n_rows, n_nodes, n_outputs). Variables after the features are ignored.
        """
        prior = self.log_prior.ravel()
        scores = np.empty((codes.n_rows, len(prior)))
        step = max(1, _TILE_CELLS // max(1, len(prior)))
        for first in range(0, codes.n_rows, step):
            tile = scores[first : first + step]
            tile[:] = prior
            for feature in range(self.n_features):
                tile += self._entries[self._places(codes, feature, first, step)]
        return scores.reshape(codes.n_rows, self.n_nodes, self.n_outputs)

    def _places(
        self, codes: Codes, feature: int, first: int, step: int
    ) -> NDArray[np.int64]:
        """Table entry of each cell of one feature, in a tile of rows."""
        states = codes.column(feature)[first : first + step].astype(np.int64)
        start, stop = self.offsets[feature : feature + 2]
        return np.where(states < stop - start, start + states, len(self.log_table))

    def log_posteriors(self, codes: Codes) -> Floats:
        """Log probability (nats) of each output, shape (n_rows, n_nodes, n_outputs)."""
        scores = self.log_scores(codes)
        scores -= scores.max(axis=2, keepdims=True)
        # Of a whole array: early NumPy 2 rounds exponentials of cells at a stride in
        # another way where the result happens to lie right behind them.
        powers = np.exp(scores)
        # Term by term, so that a sum does not depend on how many others there are.
        total = np.zeros(scores.shape[:2])
        for output in range(self.n_outputs):
            total += powers[:, :, output]
        scores -= np.log(total)[:, :, None]
        return scores

    def terms(self, codes: Codes, output: NDArray[np.intp]) -> Floats:
        """What each feature adds to the log score (nats) of one output per row.

        `output` (n_rows,) -> (n_features, n_rows, n_nodes); zero for missing cells.
        """
        entries = self._entries.reshape(-1, self.n_nodes, self.n_outputs)
        found = np.empty((self.n_features, codes.n_rows, self.n_nodes))
        for feature in range(self.n_features):
            places = self._places(codes, feature, 0, codes.n_rows)
            found[feature] = entries[places, :, output]
        return found
