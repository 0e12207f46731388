"""What trying all changes of a row finds."""

from __future__ import annotations

import itertools

import numpy as np

from bayleaf.data.codes import Codes
from bayleaf.models.predictor import Predictor


def by_all_sets(predictor: Predictor, codes: Codes, kind: str) -> int | None:
    """The least number of cells, by scoring every row that differs in cells."""
    domain = predictor.encoder.domain
    own = [int(codes.column(v)[0]) for v in range(len(domain))]
    options = []
    for state, variable in zip(own, domain, strict=True):
        n_known = variable.n_known_states
        others = [n_known] if kind == "missing" else list(range(n_known))
        options.append([state] if state >= n_known else sorted({state, *others}))
    rows = np.array(list(itertools.product(*options)))
    changed = Codes.from_columns(list(rows.T), domain.cards)
    flips = predictor.predict(changed) != predictor.predict(codes)
    sizes = (rows != own).sum(axis=1)[flips]
    return int(sizes.min()) if len(sizes) else None
