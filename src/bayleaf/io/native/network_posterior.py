"""A network whose class may have parents as plain values, and back with checks."""

from __future__ import annotations

from typing import Any

from bayleaf.data.domain import Domain
from bayleaf.io.distributions import check_distributions
from bayleaf.io.fields import Fields
from bayleaf.io.native.networks import network_from, network_to
from bayleaf.io.native.sidecar import ArrayReader, ArrayWriter
from bayleaf.models.network_posterior import NetworkPosteriorModel

_PRIOR = "the class prior"


def network_posterior_to(
    model: NetworkPosteriorModel, arrays: ArrayWriter
) -> dict[str, Any]:
    """The model as plain values; its tables go to `arrays`.

    Raises
    ------
    ModelFileError
        If a table does not hold distributions, so that no reader would take it.
    """
    prior = model.given_prior
    if prior is not None:
        check_distributions(prior, _PRIOR)
    return {
        **network_to(model.network, arrays),
        "max_table_cells": int(model.max_table_cells),
        "given_prior": None if prior is None else arrays.add(prior),
    }


def network_posterior_from(
    fields: Fields, domain: Domain, arrays: ArrayReader
) -> NetworkPosteriorModel:
    """The model from plain values.

    Raises
    ------
    ModelFileError
        If something in it is no part of such a model.
    """
    network = network_from(fields, domain, arrays)
    prior = None
    if fields.values.get("given_prior") is not None:
        prior = arrays.get(fields.values["given_prior"], (domain[-1].n_states,), _PRIOR)
        check_distributions(prior, _PRIOR)
    return NetworkPosteriorModel(network, fields.count("max_table_cells"), prior)
