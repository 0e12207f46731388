"""Networks whose latent variables join few features: a table over each such block.

Given the class, blocks are independent. So what a block says is a table over the codes
of its features, those of missing cells included, which the model itself fills.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.io.exports.sql.looking_up import Addend, Look, Rows, check_size
from bayleaf.io.exports.sql.networks import add_terms, code_columns
from bayleaf.models.class_model import ClassModel
from bayleaf.models.support.shipped import ShippedNetwork

Floats = NDArray[np.float64]
# Joint codes of a block.
_MOST_CODES = 20_000


def add_blocks(
    rows: Rows, model: ClassModel, shipped: ShippedNetwork, *, told: bool
) -> bool:
    """Score rows by blocks if all of them are small; whether that was done."""
    if set(shipped.roles) == {"feature", "class"}:
        return False
    blocks = _blocks(shipped)
    cards = model.domain.cards[:-1]
    sizes = [prod(cards[v] + 1 for v in block) for block in blocks]
    if shipped.network.dag.parents[-1] or max(sizes) > _MOST_CODES:
        return False
    nothing = [np.array([card]) for card in cards]
    base = model.class_log_scores(Codes.from_columns(nothing, cards))[0]
    names = code_columns(len(cards))
    terms: list[Addend] = []
    for block in blocks:
        whole = _block_table(model, block, base)
        prefixes = range(1, len(block) + 1) if told else [len(block)]
        for n in prefixes:
            known = block[:n]
            values = _with_missing(whole, n)
            if told:
                values = _change(values)
            radices = [cards[v] + 1 for v in known]
            look = Look.dense([names[v] for v in known], radices, values)
            terms.append((f"f{known[-1]}" if told else "u", look))
    check_size([look for _, look in terms if isinstance(look, Look)])
    add_terms(rows, base.tolist(), terms, len(cards), told=told)
    return True


def _blocks(shipped: ShippedNetwork) -> list[list[int]]:
    """Features that are linked other than through the class."""
    label = len(shipped.roles) - 1
    group = list(range(label))

    def root(v: int) -> int:
        while group[v] != v:
            v = group[v]
        return v

    for child, parents in enumerate(shipped.network.dag.parents[:-1]):
        for parent in parents:
            if parent != label:
                group[root(parent)] = root(child)
    features = [v for v in range(label) if shipped.roles[v] == "feature"]
    found: dict[int, list[int]] = {}
    for feature in features:
        found.setdefault(root(feature), []).append(feature)
    return list(found.values())


def _block_table(model: ClassModel, block: list[int], base: Floats) -> Floats:
    """Nats of each class by the codes of a block, shape (n_classes, *codes)."""
    cards = model.domain.cards[:-1]
    shape = [cards[v] + 1 for v in block]
    own = np.indices(shape).reshape(len(block), -1)
    columns = [np.full(own.shape[1], card) for card in cards]
    for v, codes in zip(block, own, strict=True):
        columns[v] = codes
    scores = model.class_log_scores(Codes.from_columns(columns, cards))
    known = np.isfinite(base)
    with np.errstate(invalid="ignore"):
        values = np.where(known, scores - base, 0.0)
    return np.asarray(values.T.reshape(len(base), *shape))


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
