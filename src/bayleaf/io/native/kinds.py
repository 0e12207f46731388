"""What may stand where a field allows more than one class, and what files call it."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, MutableMapping
from typing import Any, TypeVar

from bayleaf.cpds.distribution import CPD, DeterministicCPD, GroupedTableCPD, TableCPD
from bayleaf.cpds.smoothing import Dirichlet, Lidstone, MEstimate, Smoothing
from bayleaf.cpds.tree_cpd import TreeCPD
from bayleaf.models.averaged_kdb_model import AveragedKDBModel
from bayleaf.models.averaged_networks_model import AveragedNetworksModel
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel
from bayleaf.models.free_latent_model import FreeLatentModel
from bayleaf.models.hierarchical_mixture_model import HierarchicalMixtureModel
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.interval_target import IntervalTargetModel
from bayleaf.models.latent_class_model import LatentClassModel
from bayleaf.models.networks.hybrid_network import HybridNetworkModel
from bayleaf.models.networks.network_model import NetworkModel, NetworkPosteriorModel
from bayleaf.models.one_dependence_model import AveragedOneDependenceModel

Kind = TypeVar("Kind")

MODEL_KINDS: dict[str, type[Any]] = {
    "network": NetworkModel,
    "hybrid_network": HybridNetworkModel,
    "averaged_one_dependence": AveragedOneDependenceModel,
    "averaged_kdb": AveragedKDBModel,
    "averaged_networks": AveragedNetworksModel,
    "hierarchical_naive_bayes": HierarchicalNaiveBayesModel,
    "hierarchical_mixture": HierarchicalMixtureModel,
    "free_latents": FreeLatentModel,
    "latent_class": LatentClassModel,
    "network_posterior": NetworkPosteriorModel,
}

# What a classifier, a density model or a regressor has learned.
FittedModel = ClassModel | BayesianNetwork | IntervalTargetModel

# The classes that a field of each of these types may hold, by their words in files.
KINDS: dict[Any, MutableMapping[str, type[Any]]] = {
    ClassModel: MODEL_KINDS,
    FittedModel: ChainMap(
        MODEL_KINDS,
        {"bayesian_network": BayesianNetwork, "interval_target": IntervalTargetModel},
    ),
    CPD: {
        "table": TableCPD,
        "tree": TreeCPD,
        "grouped_table": GroupedTableCPD,
        "deterministic": DeterministicCPD,
    },
    Smoothing: {"lidstone": Lidstone, "dirichlet": Dirichlet, "m_estimate": MEstimate},
}


def word_of(kind: type[Any]) -> str | None:
    """What files call a class; None if it never stands beside others."""
    words = (item for words in KINDS.values() for item in words.items())
    return next((word for word, other in words if other is kind), None)


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
        ``NDArray``, finite floats, booleans or integers), plain values,
        distributions, tuples and dataclasses of these, and a domain. Files are not
        trusted: its ``__post_init__`` must refuse values that are no model. What
        takes too long to look at each time that a model is made is for a method
        ``check_content()``, which is called before writing and after reading.

    Raises
    ------
    ValueError
        If files call another kind of model so.
    """

    def registered(kind: type[Kind]) -> type[Kind]:
        if KINDS[FittedModel].setdefault(word, kind) is not kind:
            raise ValueError(f"a model kind is called {word!r} in files already")
        return kind

    return registered
