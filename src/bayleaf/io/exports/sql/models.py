"""Scores of the classes by what a model ships: one network, or one of the averages."""

from __future__ import annotations

from bayleaf.io.exports.sql.blocks import add_blocks
from bayleaf.io.exports.sql.looking_up import Rows
from bayleaf.io.exports.sql.networks import add_network
from bayleaf.models.predictor import Predictor
from bayleaf.models.support.shipped import ShippedNetwork


def add_scores(rows: Rows, predictor: Predictor, *, told: bool, limit: int) -> str:
    """Add s_class of each class's score; what features say too if it is to be told.

    Returns a remark for the reader of the query, empty if there is nothing to say.

    Raises
    ------
    ValueError
        If queries cannot hold the model.
    """
    shipped = predictor.model.shipped
    if isinstance(shipped, ShippedNetwork):
        if add_blocks(rows, predictor.model, shipped, told=told):
            return ""
        return add_network(rows, shipped, told=told, limit=limit)
    raise ValueError("not yet")
