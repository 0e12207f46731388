"""Scores of a network for all sets of missing cells of a row at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.explain.certificates.changed_row import ChangedRow
from bayleaf.models.class_model import calibrated_log_proba
from bayleaf.scoring.bounds import joint_scores
from bayleaf.scoring.terms import SumOut

Indices = NDArray[np.intp]

# Cells of the largest table, and features that may be missing, beyond which sets of
# missing cells are looked at one by one.
_MAX_CELLS = 1 << 22
_MAX_FEATURES = 16
# Costs that differ by no more than this, relative, are compared by the model itself.
_ROUNDING = 1e-9
_BLOCK_ROWS = 1 << 10


@dataclass(frozen=True, eq=False)
class PatternSearch:
    """Sets of missing cells that flip a prediction, or nearly do."""

    # Which cells are missing (n_sets, n_features), the most promising sets first.
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


def pattern_search(row: ChangedRow) -> PatternSearch | None:
    """All sets of missing cells of a row, by their probabilities under a network.

    None for other models, for naive Bayes, whose terms add up, and where tables would
    be too large.
    """
    predictor, codes = row.predictor, row.codes
    program, n = row.program, len(row.features)
    if program is None or not 0 < n <= _MAX_FEATURES or len(program.terms) != 1:
        return None
    term = program.terms[0]
    if not isinstance(term, SumOut):
        return None
    label = len(term.cards) - 1
    if all(len({*factor.variables} - {label}) <= 1 for factor in term.factors):
        return None
    options = {f: codes.column(f)[:1].astype(np.intp) for f in range(codes.n_variables)}
    for feature in row.features.tolist():
        options[feature] = np.append(options[feature], term.cards[feature])
    try:
        logs = joint_scores(term.cards, term.factors, options, _MAX_CELLS)
    except ValueError:
        return None
    # The bits of a row's index are the features, the first the highest.
    scores = program.base + term.weight * logs.reshape(len(logs), -1).T
    if not np.isfinite(scores.max(axis=1)).all():
        return None
    temperature, costs = predictor.temperature, row.extra_costs
    logs = calibrated_log_proba(scores, temperature, predictor.prior_shift, 0)
    proba = np.exp(logs)
    rounding = _ROUNDING + np.expm1(2 * term.weight * term.excess / temperature)
    behind = (proba @ costs.T - rounding * (proba @ np.abs(costs).T)).min(axis=1)
    near = np.flatnonzero(behind <= 0.0)
    near = near[np.argsort(behind[near], kind="stable")]
    return PatternSearch((near[:, None] >> np.arange(n)[::-1] & 1).astype(bool))
