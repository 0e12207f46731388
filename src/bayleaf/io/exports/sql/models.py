"""Scores of the classes by what a model ships: one network, or one of the averages."""

from __future__ import annotations

from bayleaf.io.exports.sql.averages.averaged import add_averaged
from bayleaf.io.exports.sql.averages.ensembles import Ensemble
from bayleaf.io.exports.sql.averages.members import one_parent, two_parents
from bayleaf.io.exports.sql.blocks import add_blocks
from bayleaf.io.exports.sql.looking_up import Rows
from bayleaf.io.exports.sql.whole_network import add_hybrid, add_network
from bayleaf.models.predictor import Predictor
from bayleaf.models.support.shipped import (
    ShippedAverage,
    ShippedNetwork,
    ShippedNetworks,
)


def add_scores(rows: Rows, predictor: Predictor, *, told: bool, limit: int) -> str:
    """Add s_class of each class's score; what features say too if it is to be told.

    Returns a remark for the reader of the query, empty if there is nothing to say.

    Raises
    ------
    ValueError
        If queries cannot hold the model.
    """
    model = predictor.model
    shipped = model.shipped
    if isinstance(shipped, ShippedNetwork):
        if add_blocks(rows, model, shipped, told=told):
            return ""
        return add_network(rows, shipped, told=told, limit=limit)
    if isinstance(shipped, ShippedAverage):
        if shipped.engine == "averaged":
            cards = model.domain.cards[:-1]
            return add_averaged(rows, model.terms, shipped.values, cards, told=told)
        if shipped.engine == "hybrid" and shipped.network is not None:
            network = shipped.network
            return add_hybrid(rows, shipped.values, network, told=told, limit=limit)
        if shipped.engine == "one_dependence":
            members = one_parent(shipped.values, model.domain.cards[:-1])
            Ensemble(members, model.domain.cards[:-1], predictor).add(rows, told=told)
            return ""
    if isinstance(shipped, ShippedNetworks):
        members = two_parents(shipped)
        Ensemble(members, model.domain.cards[:-1], predictor).add(rows, told=told)
        return ""
    raise ValueError(
        f"a {type(model).__name__} is not written as SQL; fit another classifier"
    )
