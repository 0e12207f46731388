"""A mixture within each class as plain values, and back with every check."""

from __future__ import annotations

from typing import Any

from bayleaf.data.domain import Domain
from bayleaf.io.distributions import check_distributions
from bayleaf.io.fields import Fields, ModelFileError
from bayleaf.io.native.sidecar import ArrayReader, ArrayWriter
from bayleaf.models.latent_class import LatentClassModel

# More components than this are refused, so that no file asks for much.
MAX_COMPONENTS = 1_000_000


def latent_class_to(model: LatentClassModel, arrays: ArrayWriter) -> dict[str, Any]:
    """The model as plain values; its tables go to `arrays`.

    Raises
    ------
    ModelFileError
        If a table does not hold distributions, so that no reader would take it.
    """
    _check(model)
    return {
        "prior": arrays.add(model.prior),
        "n_components": model.n_components,
        "weights": arrays.add(model.weights),
        "tables": [arrays.add(table) for table in model.tables],
    }


def latent_class_from(
    fields: Fields, domain: Domain, arrays: ArrayReader
) -> LatentClassModel:
    """The model from plain values.

    Raises
    ------
    ModelFileError
        If something in it is no part of such a model.
    """
    *cards, n_classes = domain.cards
    n_components = fields.count("n_components")
    if not 1 <= n_components <= MAX_COMPONENTS:
        raise ModelFileError(
            f"n_components should be from 1 to {MAX_COMPONENTS}, but is {n_components}"
        )
    tables = fields.list("tables")
    if len(tables) != len(cards):
        raise ModelFileError(
            f"the model has {len(tables)} tables for {len(cards)} features"
        )
    components = (n_classes, n_components)
    model = LatentClassModel(
        domain,
        arrays.get(fields.values.get("prior"), (n_classes,), "the class prior"),
        arrays.get(fields.values.get("weights"), components, "the component weights"),
        tuple(
            arrays.get(value, (*components, card), _table_of(domain, feature))
            for feature, (value, card) in enumerate(zip(tables, cards, strict=True))
        ),
    )
    _check(model)
    return model


def _check(model: LatentClassModel) -> None:
    """Raise unless every table of the model holds distributions."""
    check_distributions(model.prior, "the class prior")
    check_distributions(model.weights, "the component weights")
    for feature, table in enumerate(model.tables):
        check_distributions(table, _table_of(model.domain, feature))


def _table_of(domain: Domain, feature: int) -> str:
    """How messages call a feature's table."""
    return f"the table of feature {domain[feature].name!r}"
