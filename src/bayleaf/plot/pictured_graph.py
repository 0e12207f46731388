"""What a picture of a network shows: nodes by kind, arcs by weight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bayleaf.models.averaged_kdb import AveragedKDBModel
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.latent_class import LatentClassModel
from bayleaf.models.latent_rules import latent_names
from bayleaf.models.one_dependence import AveragedOneDependenceModel
from bayleaf.wording import near_names

# Parent, child, and weight where arcs have weights.
WeightedArc = tuple[int, int, float | None]
FEATURE, CLASS, LATENT = "feature", "class", "latent"
# More variables than this leave no room for names.
MAX_NODES = 150


@dataclass(frozen=True)
class PicturedGraph:
    """Nodes and arcs to draw.

    Parameters
    ----------
    names : tuple of str or int
        One a node.
    kinds : tuple of str
        "feature", "class" or "latent", one a node.
    arcs : tuple of (int, int, float or None)
        Parent, child and weight from 0 to 1; None where arcs have no weights.
    note : str, default=""
        What the picture cannot show.
    """

    names: tuple[str | int, ...]
    kinds: tuple[str, ...]
    arcs: tuple[WeightedArc, ...]
    note: str = ""

    def only(self, variables: Iterable[str | int]) -> PicturedGraph:
        """The part over some variables.

        Raises
        ------
        ValueError
            If there is no such variable.
        """
        place = {name: node for node, name in enumerate(self.names)}
        for name in (wanted := list(dict.fromkeys(variables))):
            if name not in place:
                near = near_names(str(name), map(str, self.names))
                raise ValueError(f"there is no variable {name!r}; {near}")
        kept = {place[name]: number for number, name in enumerate(wanted)}
        return PicturedGraph(
            tuple(wanted),
            tuple(self.kinds[node] for node in kept),
            tuple(
                (kept[parent], kept[child], weight)
                for parent, child, weight in self.arcs
                if parent in kept and child in kept
            ),
            self.note,
        )


def pictured_graph(source: Any) -> PicturedGraph:
    """Nodes and arcs of a network, a model or a fitted estimator.

    Raises
    ------
    TypeError
        If it is none of them, or not fitted.
    """
    model = getattr(source, "model_", source)
    if isinstance(model, HierarchicalNaiveBayesModel):
        return _tree_graph(model)
    if isinstance(model, AveragedOneDependenceModel):
        return _one_dependence_graph(model)
    if isinstance(model, LatentClassModel):
        return _latent_class_graph(model)
    if hasattr(model, "arcs") and hasattr(model, "domain"):
        return _class_graph(model)
    network = getattr(source, "network_", source)
    if isinstance(network, BayesianNetwork):
        return PicturedGraph(
            network.domain.names,
            (FEATURE,) * len(network.domain),
            tuple((parent, child, None) for parent, child in network.dag.arcs),
        )
    raise TypeError(
        "network must be a Bayesian network, a model or a fitted estimator, got a "
        f"{type(source).__name__}{' that is not fitted' * hasattr(source, 'fit')}"
    )


def _class_graph(model: Any) -> PicturedGraph:
    """Features and the class, arcs weighted where a model averages networks."""
    names = model.domain.names
    weights: dict[Any, float] = {}
    if isinstance(model, AveragedKDBModel):
        weights = {(arc[0], arc[1]): arc.weight for arc in model.weighted_arcs}
    return PicturedGraph(
        names,
        (FEATURE,) * (len(names) - 1) + (CLASS,),
        tuple(
            (parent, child, weights.get((names[parent], names[child])))
            for parent, child in model.arcs
        ),
    )


def _one_dependence_graph(model: AveragedOneDependenceModel) -> PicturedGraph:
    """The class over all features; the networks together have every other arc too."""
    n_features = len(model.domain) - 1
    return PicturedGraph(
        model.domain.names,
        (FEATURE,) * n_features + (CLASS,),
        tuple((n_features, child, None) for child in range(n_features)),
        "an average of networks: in each of them one feature is a parent of all others",
    )


def _latent_class_graph(model: LatentClassModel) -> PicturedGraph:
    """The network with the component; the class and it over all features."""
    network = model.network
    n_features = len(model.domain) - 1
    n_latents = len(network.domain) - len(model.domain)
    return PicturedGraph(
        network.domain.names,
        (FEATURE,) * n_features + (LATENT,) * n_latents + (CLASS,),
        tuple((parent, child, None) for parent, child in network.dag.arcs),
    )


def _tree_graph(model: HierarchicalNaiveBayesModel) -> PicturedGraph:
    """The class over features and latents, each latent over its two children."""
    tree, names = model.tree, model.domain.names
    root = tree.n_features + len(tree.latents)
    arcs: list[WeightedArc] = [(root, child, None) for child in model.used_children]
    for node, latent in enumerate(tree.latents, start=tree.n_features):
        arcs += [(node, latent.left, None), (node, latent.right, None)]
    return PicturedGraph(
        (*names[:-1], *latent_names(model.domain, tree), names[-1]),
        (FEATURE,) * tree.n_features + (LATENT,) * len(tree.latents) + (CLASS,),
        tuple(arcs),
    )
