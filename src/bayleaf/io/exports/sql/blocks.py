"""Networks whose latent variables join few features: a table over each such block.

Given the class, blocks are independent. So what a block says is a table over the codes
of its features, those of missing cells included, which the model itself fills.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.inference.log_sums import log_sum_exp
from bayleaf.io.exports.sql.looking_up import Addend, Look, Rows, check_size
from bayleaf.io.exports.sql.networks import (
    ScoredNetwork,
    add_terms,
    code_columns,
    slot_of,
)
from bayleaf.scoring.reference import product, summed_out

Floats = NDArray[np.float64]
# Joint codes of a block.
_MOST_CODES = 20_000


def add_blocks(rows: Rows, scored: ScoredNetwork, *, told: bool) -> bool:
    """Score rows by blocks if all of them are small; whether that was done."""
    if not scored.latents or not scored.class_is_root:
        return False
    blocks, cards = _blocks(scored), scored.cards
    members = [[v for v in scored.order if v in block] for block in blocks]
    if max(prod(cards[v] + 1 for v in own) for own in members) > _MOST_CODES:
        return False
    names = code_columns(scored.n_features)
    terms: list[Addend] = []
    looks = []
    for block, features in zip(blocks, members, strict=True):
        whole = _block_table(scored, block, features)
        n_features = len(features)
        prefixes = range(1 if told else max(1, n_features), n_features + 1)
        for n in prefixes:
            known = features[:n]
            values = _with_missing(whole, n)
            if told:
                values = _change(values)
            radices = [cards[v] + 1 for v in known]
            looks.append(Look.dense([names[v] for v in known], radices, values))
            terms.append((slot_of(known[-1], is_reported=told), looks[-1]))
    check_size(looks)
    add_terms(rows, terms, scored.n_features, scored.n_classes, scored.base, told=told)
    return True


def _blocks(scored: ScoredNetwork) -> list[set[int]]:
    """Variables that are linked other than through the class, by block."""
    blocks: list[set[int]] = []
    for child in range(scored.label):
        family = {child, *scored.parents[child]}
        linked = [block for block in blocks if block & family]
        blocks = [block for block in blocks if not block & family]
        blocks.append(family.union(*linked))
    return blocks


def _block_table(scored: ScoredNetwork, block: set[int], features: list[int]) -> Floats:
    """Nats of each class by the codes of a block, shape (n_classes, *codes)."""
    factors = [scored.factors[v] for v in sorted(block)]
    axes = [scored.label, *features]
    tables = summed_out(
        [(factor.variables, factor.logs[None]) for factor in factors],
        scored.cards,
        set(axes),
    )
    shape = [scored.cards[v] for v in axes]
    values = np.broadcast_to(product(tables, axes)[0], shape)
    for axis in range(1, len(axes)):
        missing = np.expand_dims(log_sum_exp(values, axis=axis), axis)
        values = np.concatenate([values, missing], axis=axis)
    # Exactly zero where all features are missing.
    corner = values[(slice(None), *[slice(-1, None)] * len(features))]
    return np.asarray(values - corner)


def _with_missing(whole: Floats, n: int) -> Floats:
    """The table where all but the first features are missing."""
    for _ in range(whole.ndim - 1 - n):
        whole = whole[..., -1]
    return whole


def _change(values: Floats) -> Floats:
    """What the last feature of a table changes; nothing where it is missing."""
    before = values[..., -1:]
    with np.errstate(invalid="ignore"):
        found = values - before
    return np.asarray(np.where(np.isnan(found), 0.0, found))
