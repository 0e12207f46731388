"""What a network says of a row whichever of its cells are missing, all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.explain.certificates.margins import dearer
from bayleaf.models.class_model import calibrated_log_proba
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.models.predictor import Predictor

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Cells of the largest table, and features that may be missing, beyond which sets of
# missing cells are looked at one by one.
_MAX_CELLS = 1 << 23
_MAX_FEATURES = 16
# Costs that differ by no more than this, relative, are compared by the model itself.
_ROUNDING = 1e-9
_BLOCK_ROWS = 1 << 10


@dataclass(frozen=True, eq=False)
class PatternSearch:
    """Sets of missing cells that flip a prediction, or nearly do.

    Parameters
    ----------
    near : ndarray of shape (n_sets, n_features), dtype bool
        Which cells are missing, the most promising sets of a size first.
    """

    near: NDArray[np.bool_]
    bounded: ClassVar[bool] = True

    @property
    def n_features(self) -> int:
        """Features that may be missing."""
        return int(self.near.shape[1])

    def of_size(self, size: int) -> Iterator[Indices]:
        """Blocks of sets of a size that may do, as positions of features."""
        sets = np.nonzero(self.near[self.near.sum(axis=1) == size])[1].reshape(-1, size)
        for first in range(0, len(sets), _BLOCK_ROWS):
            yield sets[first : first + _BLOCK_ROWS]


def pattern_search(
    predictor: Predictor, codes: Codes, features: Indices
) -> PatternSearch | None:
    """All sets of missing cells of a row, by their probabilities under a network.

    None for other models, for naive Bayes, whose terms add up, and where tables would
    be too large.
    """
    model, n = predictor.model, len(features)
    if not isinstance(model, NetworkModel) or not 0 < n <= _MAX_FEATURES:
        return None
    if all(len(factor.variables) <= 1 for factor in model.factors):
        return None
    scores = _Patterns.of(model, codes, features.tolist()).log_scores()
    if scores is None or not np.isfinite(scores.max(axis=1)).all():
        return None
    logs = calibrated_log_proba(scores, predictor.temperature, predictor.prior_shift, 0)
    proba = np.exp(logs)
    chosen = int(predictor.choose(predictor.proba(codes))[0])
    worse = dearer(predictor, chosen)
    rounding = _ROUNDING + np.expm1(2 * model.excess / predictor.temperature)
    behind = (proba @ worse.T - rounding * (proba @ np.abs(worse).T)).min(axis=1)
    near = np.flatnonzero(behind <= 0.0)
    near = near[np.argsort(behind[near], kind="stable")]
    return PatternSearch((near[:, None] >> np.arange(n)[::-1] & 1).astype(bool))


@dataclass(frozen=True, eq=False)
class _Table:
    """Probabilities over masks and states, (n_classes, *masks, *states).

    A mask's second place means that the feature is missing. Both axes are in
    increasing order of the features.
    """

    masks: tuple[int, ...]
    open: tuple[int, ...]
    values: Floats

    def spread(self, masks: Sequence[int], open_: Sequence[int]) -> Floats:
        """The values with axes of length one for what they do not depend on."""
        sizes = iter(self.values.shape[1:])
        shape = [next(sizes) if m in self.masks else 1 for m in masks]
        shape += [next(sizes) if v in self.open else 1 for v in open_]
        return self.values.reshape(len(self.values), *shape)


@dataclass(eq=False)
class _Patterns:
    """Sums missing features out, with a mask for each that may be either.

    Parameters
    ----------
    own : dict from int to int
        State of each feature with a mask.
    cards : dict from int to int
        Number of states of each feature that is summed out.
    tables : list of _Table
        The network's distributions at the states of all other features.
    log_scale : ndarray of shape (n_classes,)
        Taken out of the tables, nats.
    """

    own: dict[int, int]
    cards: dict[int, int]
    tables: list[_Table]
    log_scale: Floats

    @classmethod
    def of(cls, model: NetworkModel, codes: Codes, features: list[int]) -> _Patterns:
        """The tables of a row, some of whose present cells may be missing."""
        states = [int(codes.column(v)[0]) for v in range(codes.n_variables)]
        cards = dict(enumerate(codes.cards))
        opened = {v: c for v, c in cards.items() if v in features or states[v] >= c}
        own = {v: states[v] for v in features}
        patterns = cls(own, opened, [], np.zeros(len(model.class_prior)))
        for factor in model.factors:
            index = [
                slice(None) if v in opened else states[v] for v in factor.variables
            ]
            values = factor.log_values[(slice(None), *index)]
            kept = tuple(v for v in factor.variables if v in opened)
            order = np.argsort(kept)
            values = np.transpose(values, [0, *(1 + order).tolist()])
            patterns._put((), sorted(kept), np.exp(values))
        return patterns

    def _put(self, masks: Sequence[int], open_: Sequence[int], values: Floats) -> None:
        """Keep a table, its largest value of each class taken out."""
        top = values.max(axis=tuple(range(1, values.ndim)), keepdims=True)
        top = np.where(top > 0.0, top, 1.0)
        self.log_scale = self.log_scale + np.log(top.ravel())
        self.tables.append(_Table(tuple(masks), tuple(open_), values / top))

    def log_scores(self) -> Floats | None:
        """Log joints of all patterns, (2 ** n_masks, n_classes); None if too large.

        The bits of a pattern's number are the masks, the first feature's the highest.
        """
        left = set(self.cards)
        while left:
            feature = min(left, key=lambda v: (self._cells(v), v))
            if self._cells(feature) > _MAX_CELLS:
                return None
            self._sum_out(feature)
            left.remove(feature)
        masks = sorted(self.own)
        with np.errstate(divide="ignore"):
            logs = [np.log(table.spread(masks, ())) for table in self.tables]
        shape = (len(self.log_scale), *[2] * len(masks))
        total = np.broadcast_to(reduce(np.add, logs), shape)
        return total.reshape(len(total), -1).T + self.log_scale

    def _touching(self, feature: int) -> tuple[list[_Table], list[int], list[int]]:
        """Tables over a feature, and the masks and features that they are over."""
        tables = [table for table in self.tables if feature in table.open]
        masks = sorted({m for table in tables for m in table.masks})
        return tables, masks, sorted({v for table in tables for v in table.open})

    def _cells(self, feature: int) -> int:
        """Cells of the table that summing a feature out would build."""
        _, masks, open_ = self._touching(feature)
        n_states = prod(self.cards[v] for v in open_)
        return (len(self.log_scale) * n_states) << len(masks)

    def _sum_out(self, feature: int) -> None:
        """Replace all tables over a feature by one over its mask, if it has one."""
        tables, masks, open_ = self._touching(feature)
        self.tables = [t for t in self.tables if feature not in t.open]
        product = reduce(np.multiply, [t.spread(masks, open_) for t in tables])
        axis = 1 + len(masks) + open_.index(feature)
        found = product.sum(axis=axis)
        if feature in self.own:
            known = product.take(self.own[feature], axis=axis)
            place = sum(m < feature for m in masks)
            found = np.stack([known, found], axis=1 + place)
            masks = sorted([*masks, feature])
        open_.remove(feature)
        self._put(masks, open_, found)
