"""Frozen results of learning, and inference in them."""

from bayleaf.models.averaged_kdb_model import AveragedKDBModel
from bayleaf.models.averaged_networks_model import AveragedNetworksModel
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel
from bayleaf.models.class_model import ModelKind as ModelKind
from bayleaf.models.explanation import Explanation, Term
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.models.one_dependence_model import AveragedOneDependenceModel
from bayleaf.models.predictor import Predictor
from bayleaf.models.texts.feature_shape import FeatureShape
from bayleaf.models.texts.picture import WeightedEdge

__all__ = [
    "AveragedKDBModel",
    "AveragedNetworksModel",
    "AveragedOneDependenceModel",
    "BayesianNetwork",
    "ClassModel",
    "Explanation",
    "FeatureShape",
    "HierarchicalNaiveBayesModel",
    "NetworkModel",
    "Predictor",
    "Term",
    "WeightedEdge",
]
