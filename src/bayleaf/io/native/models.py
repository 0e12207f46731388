"""Models as plain values, and back with every check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bayleaf.data.domain import Domain
from bayleaf.io.distributions import check_distributions
from bayleaf.io.fields import Fields, ModelFileError
from bayleaf.io.native.averaged_kdb import averaged_kdb_from, averaged_kdb_to
from bayleaf.io.native.codec import Decoder, encoded
from bayleaf.io.native.hierarchical_mixture import mixture_from, mixture_to
from bayleaf.io.native.hierarchical_naive_bayes import (
    hierarchical_from,
    hierarchical_to,
)
from bayleaf.io.native.latent_class import latent_class_from, latent_class_to
from bayleaf.io.native.network_posterior import (
    network_posterior_from,
    network_posterior_to,
)
from bayleaf.io.native.networks import network_from, network_to
from bayleaf.io.native.sidecar import ArrayReader, ArrayWriter
from bayleaf.models.averaged_kdb import AveragedKDBModel
from bayleaf.models.class_model import ClassModel
from bayleaf.models.hierarchical_mixture import HierarchicalMixtureModel
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.latent_class import LatentClassModel
from bayleaf.models.network_model import NetworkModel
from bayleaf.models.network_posterior import NetworkPosteriorModel
from bayleaf.models.one_dependence import AveragedOneDependenceModel

Kind = TypeVar("Kind")


class FileForm(NamedTuple):
    """How models of one kind stand in files.

    Parameters
    ----------
    kind : type
        Class of the models.
    write : callable
        Plain values of a model; its arrays go to the writer.
    read : callable
        The model from plain values, with every check.
    """

    kind: type[Any]
    write: Callable[[Any, ArrayWriter], dict[str, Any]]
    read: Callable[[Fields, Domain, ArrayReader], Any]


def register_model_kind(word: str) -> Callable[[type[Kind]], type[Kind]]:
    """Give models of a class a place in files; to be put above the class.

    Parameters
    ----------
    word : str
        What files call such models.

    Returns
    -------
    callable
        Takes the class, a frozen dataclass whose fields are arrays (annotated as
        ``NDArray``, finite floats, truth values or whole numbers from 0 to 65535),
        plain values, tuples and dataclasses of these, and a domain. Files are not
        trusted: its ``__post_init__`` must refuse values that are no model.

    Raises
    ------
    ValueError
        If files call another kind of model so.
    """

    def registered(kind: type[Kind]) -> type[Kind]:
        if word in FORMS and FORMS[word].kind is not kind:
            raise ValueError(f"a model kind is called {word!r} in files already")
        FORMS[word] = FileForm(
            kind,
            encoded,
            lambda fields, domain, arrays: Decoder(domain, arrays).object(kind, fields),
        )
        return kind

    return registered


def model_to(model: ClassModel, arrays: ArrayWriter) -> dict[str, Any]:
    """A model as plain values; its tables go to `arrays`.

    Raises
    ------
    ModelFileError
        If a table does not hold distributions, so that no reader would take it.
    TypeError
        If models of its kind are not registered.
    """
    for word, form in FORMS.items():
        if type(model) is form.kind:
            return {"type": word, **form.write(model, arrays)}
    raise TypeError(
        f"models of type {type(model).__name__} have no place in files; give the class "
        "one with bayleaf.io.register_model_kind"
    )


def model_from(fields: Fields, domain: Domain, arrays: ArrayReader) -> ClassModel:
    """A model from plain values."""
    model: ClassModel = FORMS[fields.choice("type", tuple(FORMS))].read(
        fields, domain, arrays
    )
    return model


def _network_to(model: NetworkModel, arrays: ArrayWriter) -> dict[str, Any]:
    """A network model as plain values."""
    return {
        **network_to(model.network, arrays),
        "max_table_cells": int(model.max_table_cells),
    }


def _network_from(fields: Fields, domain: Domain, arrays: ArrayReader) -> NetworkModel:
    """A network model from plain values."""
    network = network_from(fields, domain, arrays)
    return NetworkModel(network, fields.count("max_table_cells"))


def _one_dependence_from(
    fields: Fields, domain: Domain, arrays: ArrayReader
) -> AveragedOneDependenceModel:
    """An averaged one-dependence model from plain values."""
    *cards, n_classes = domain.cards
    width = sum(cards) + len(cards)
    prior = arrays.get(fields.values.get("prior"), (n_classes,), "the class prior")
    parents = arrays.get(
        fields.values.get("parent_probabilities"),
        (n_classes, width),
        "parent_probabilities",
    )
    children = arrays.get(
        fields.values.get("child_probabilities"),
        (n_classes, width, width),
        "child_probabilities",
    )
    usable = fields.list("usable")
    if len(usable) != width or not all(flag in (0, 1) for flag in usable):
        raise ModelFileError(f"usable should be a list of {width} zeros and ones")
    model = AveragedOneDependenceModel(
        domain, prior, parents, children, np.array(usable, dtype=bool)
    )
    _check_one_dependence(model)
    return model


def _one_dependence_to(
    model: AveragedOneDependenceModel, arrays: ArrayWriter
) -> dict[str, Any]:
    """An averaged one-dependence model as plain values."""
    _check_one_dependence(model)
    return {
        "prior": arrays.add(model.prior),
        "parent_probabilities": arrays.add(model.parent_probabilities),
        "child_probabilities": arrays.add(model.child_probabilities),
        "usable": model.usable.astype(int).tolist(),
    }


def _check_one_dependence(model: AveragedOneDependenceModel) -> None:
    """Raise unless every block of an averaged model is a set of distributions."""
    check_distributions(model.prior, "the class prior")
    cards = model.domain.cards[:-1]
    for i, (start, card) in enumerate(zip(model.offsets, cards, strict=True)):
        states = slice(start, start + card)
        what = f"the tables of feature {model.domain[i].name!r}"
        check_distributions(model.parent_probabilities[:, states], what)
        for j, (parent, parent_card) in enumerate(
            zip(model.offsets, cards, strict=True)
        ):
            block = model.child_probabilities[:, parent : parent + parent_card, states]
            if i != j:
                check_distributions(block, what)
            elif not (block == 1.0).all():
                raise ModelFileError(f"{what} should hold ones on the diagonal")
        for table in (model.parent_probabilities, model.child_probabilities):
            if not (table[..., start + card] == 1.0).all():
                raise ModelFileError(f"{what} should hold ones for missing cells")


# What files call each kind of model.
FORMS: dict[str, FileForm] = {
    "network": FileForm(NetworkModel, _network_to, _network_from),
    "averaged_one_dependence": FileForm(
        AveragedOneDependenceModel, _one_dependence_to, _one_dependence_from
    ),
    "averaged_kdb": FileForm(AveragedKDBModel, averaged_kdb_to, averaged_kdb_from),
    "hierarchical_naive_bayes": FileForm(
        HierarchicalNaiveBayesModel, hierarchical_to, hierarchical_from
    ),
    "hierarchical_mixture": FileForm(
        HierarchicalMixtureModel, mixture_to, mixture_from
    ),
    "latent_class": FileForm(LatentClassModel, latent_class_to, latent_class_from),
    "network_posterior": FileForm(
        NetworkPosteriorModel, network_posterior_to, network_posterior_from
    ),
}
