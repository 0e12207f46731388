"""Classifiers for scikit-learn, one file each; `CLASSIFIERS` lists them all.

Contract tests, the command line's ``--model`` and benchmarks walk this list.
"""

from bayleaf.classifiers.a2de import A2DEClassifier
from bayleaf.classifiers.aode import AODEClassifier
from bayleaf.classifiers.averaged_kdb import AveragedKDBClassifier
from bayleaf.classifiers.bayesian_network import BayesianNetworkClassifier
from bayleaf.classifiers.ensemble import EnsembleClassifier
from bayleaf.classifiers.hierarchical_mixture import HierarchicalMixtureNBClassifier
from bayleaf.classifiers.hnb import HNBClassifier
from bayleaf.classifiers.kdb import KDBClassifier
from bayleaf.classifiers.latent_class import LatentClassNBClassifier
from bayleaf.classifiers.naive_bayes import NaiveBayesClassifier
from bayleaf.classifiers.shared.averaged_networks import AveragedNetworksClassifier
from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.conditional import SingleNetworkClassifier
from bayleaf.classifiers.shared.hybrid import HybridNetworkClassifier
from bayleaf.classifiers.tan import TANClassifier

CLASSIFIERS: dict[str, type[BayesianClassifier]] = {
    "nb": NaiveBayesClassifier,
    "tan": TANClassifier,
    "kdb": KDBClassifier,
    "hnb": HNBClassifier,
    "aode": AODEClassifier,
    "a2de": A2DEClassifier,
    "auto": AveragedKDBClassifier,
    "mixture": HierarchicalMixtureNBClassifier,
    "latent_class": LatentClassNBClassifier,
    "network": BayesianNetworkClassifier,
}

__all__ = [
    "A2DEClassifier",
    "CLASSIFIERS",
    "AODEClassifier",
    "AveragedKDBClassifier",
    "AveragedNetworksClassifier",
    "BayesianClassifier",
    "BayesianNetworkClassifier",
    "EnsembleClassifier",
    "HNBClassifier",
    "HierarchicalMixtureNBClassifier",
    "HybridNetworkClassifier",
    "KDBClassifier",
    "LatentClassNBClassifier",
    "NaiveBayesClassifier",
    "SingleNetworkClassifier",
    "TANClassifier",
]
