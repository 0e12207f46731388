"""Bayesian-network classifiers that a person can read, at the speed of counting."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bayleaf.version import __version__

# Public names and the modules that define them; loaded when first used, so that
# importing the package is quick.
_PUBLIC = {
    "A2DEClassifier": "bayleaf.classifiers.a2de",
    "AODEClassifier": "bayleaf.classifiers.aode",
    "AveragedKDBClassifier": "bayleaf.classifiers.averaged_kdb",
    "AveragedKDBRegressor": "bayleaf.regression.averaged_kdb_regressor",
    "Backoff": "bayleaf.cpds.smoothing",
    "BayesianNetwork": "bayleaf.models.bayesian_network",
    "BayesianNetworkClassifier": "bayleaf.classifiers.bayesian_network",
    "BayesianNetworkEstimator": "bayleaf.density.bayesian_network_estimator",
    "BayesianNetworkImputer": "bayleaf.density.network_imputer",
    "CodeStore": "bayleaf.data.code_store",
    "CountFile": "bayleaf.io.native.count_store",
    "Dirichlet": "bayleaf.cpds.smoothing",
    "EnsembleClassifier": "bayleaf.classifiers.ensemble",
    "EqualFrequencyDiscretizer": "bayleaf.data.discretizers",
    "EqualWidthDiscretizer": "bayleaf.data.discretizers",
    "HNBClassifier": "bayleaf.classifiers.hnb",
    "HierarchicalMixtureNBClassifier": "bayleaf.classifiers.hierarchical_mixture",
    "KDBClassifier": "bayleaf.classifiers.kdb",
    "LatentClassNBClassifier": "bayleaf.classifiers.latent_class",
    "Lidstone": "bayleaf.cpds.smoothing",
    "MarginalPreserving": "bayleaf.cpds.smoothing",
    "MDLPDiscretizer": "bayleaf.data.discretizers",
    "MEstimate": "bayleaf.cpds.smoothing",
    "MaximumLikelihood": "bayleaf.cpds.smoothing",
    "NaiveBayesClassifier": "bayleaf.classifiers.naive_bayes",
    "NetworkStructure": "bayleaf.models.bayesian_network",
    "ReadingPlan": "bayleaf.data.reading_plan",
    "StandardDeviationDiscretizer": "bayleaf.data.discretizers",
    "TANClassifier": "bayleaf.classifiers.tan",
    "UnknownValuesWarning": "bayleaf.data.unknown_cells",
    "ApproximationWarning": "bayleaf.inference.approximate.importance_sampling",
    "TooWideError": "bayleaf.inference.junction_tree",
    "ImpossibleEvidenceError": "bayleaf.inference.evidence",
    "Inference": "bayleaf.inference.queries",
    "InfluenceDiagram": "bayleaf.decisions.influence_diagram",
    "AtLeast": "bayleaf.inference.evidence",
    "AtMost": "bayleaf.inference.evidence",
    "Between": "bayleaf.inference.evidence",
    "Not": "bayleaf.inference.evidence",
    "Probabilities": "bayleaf.inference.evidence",
    "ValueHierarchy": "bayleaf.data.value_hierarchy",
    "Variable": "bayleaf.data.domain",
    "learn_parameters": "bayleaf.latent.network_parameters",
    "load": "bayleaf.loading",
    "to_onnx": "bayleaf.io.exports.onnx_classifier",
    "predict_to_folder": "bayleaf.predictions.folder",
    "read_influence_diagram": "bayleaf.io.diagram_files",
    "read_network": "bayleaf.io.registry",
    "to_sql": "bayleaf.io.exports.sql.statement",
    "trusted_types": "bayleaf.loading",
    "write_influence_diagram": "bayleaf.io.diagram_files",
    "write_network": "bayleaf.io.registry",
    "write_scorer": "bayleaf.io.exports.scorers.scorer",
}

# Packages for users, which need no import of their own.
_PACKAGES = ("datasets", "evaluation", "explain", "explorer", "plot", "report")

__all__ = ["__version__", *_PUBLIC]

if TYPE_CHECKING:
    from bayleaf import datasets as datasets
    from bayleaf import evaluation as evaluation
    from bayleaf import explain as explain
    from bayleaf import explorer as explorer
    from bayleaf import plot as plot
    from bayleaf import report as report
    from bayleaf.classifiers.a2de import A2DEClassifier as A2DEClassifier
    from bayleaf.classifiers.aode import AODEClassifier as AODEClassifier
    from bayleaf.classifiers.averaged_kdb import (
        AveragedKDBClassifier as AveragedKDBClassifier,
    )
    from bayleaf.classifiers.bayesian_network import (
        BayesianNetworkClassifier as BayesianNetworkClassifier,
    )
    from bayleaf.classifiers.ensemble import EnsembleClassifier as EnsembleClassifier
    from bayleaf.classifiers.hierarchical_mixture import (
        HierarchicalMixtureNBClassifier as HierarchicalMixtureNBClassifier,
    )
    from bayleaf.classifiers.hnb import HNBClassifier as HNBClassifier
    from bayleaf.classifiers.kdb import KDBClassifier as KDBClassifier
    from bayleaf.classifiers.latent_class import (
        LatentClassNBClassifier as LatentClassNBClassifier,
    )
    from bayleaf.classifiers.naive_bayes import (
        NaiveBayesClassifier as NaiveBayesClassifier,
    )
    from bayleaf.classifiers.tan import TANClassifier as TANClassifier
    from bayleaf.cpds.smoothing import Backoff as Backoff
    from bayleaf.cpds.smoothing import Dirichlet as Dirichlet
    from bayleaf.cpds.smoothing import Lidstone as Lidstone
    from bayleaf.cpds.smoothing import MarginalPreserving as MarginalPreserving
    from bayleaf.cpds.smoothing import MaximumLikelihood as MaximumLikelihood
    from bayleaf.cpds.smoothing import MEstimate as MEstimate
    from bayleaf.data.code_store import CodeStore as CodeStore
    from bayleaf.data.discretizers import (
        EqualFrequencyDiscretizer as EqualFrequencyDiscretizer,
    )
    from bayleaf.data.discretizers import EqualWidthDiscretizer as EqualWidthDiscretizer
    from bayleaf.data.discretizers import MDLPDiscretizer as MDLPDiscretizer
    from bayleaf.data.discretizers import (
        StandardDeviationDiscretizer as StandardDeviationDiscretizer,
    )
    from bayleaf.data.domain import Variable as Variable
    from bayleaf.data.reading_plan import ReadingPlan as ReadingPlan
    from bayleaf.data.unknown_cells import UnknownValuesWarning as UnknownValuesWarning
    from bayleaf.data.value_hierarchy import ValueHierarchy as ValueHierarchy
    from bayleaf.decisions.influence_diagram import InfluenceDiagram as InfluenceDiagram
    from bayleaf.density.bayesian_network_estimator import (
        BayesianNetworkEstimator as BayesianNetworkEstimator,
    )
    from bayleaf.density.network_imputer import (
        BayesianNetworkImputer as BayesianNetworkImputer,
    )
    from bayleaf.inference.approximate.importance_sampling import (
        ApproximationWarning as ApproximationWarning,
    )
    from bayleaf.inference.evidence import AtLeast as AtLeast
    from bayleaf.inference.evidence import AtMost as AtMost
    from bayleaf.inference.evidence import Between as Between
    from bayleaf.inference.evidence import (
        ImpossibleEvidenceError as ImpossibleEvidenceError,
    )
    from bayleaf.inference.evidence import Not as Not
    from bayleaf.inference.evidence import Probabilities as Probabilities
    from bayleaf.inference.junction_tree import TooWideError as TooWideError
    from bayleaf.inference.queries import Inference as Inference
    from bayleaf.io.diagram_files import (
        read_influence_diagram as read_influence_diagram,
    )
    from bayleaf.io.diagram_files import (
        write_influence_diagram as write_influence_diagram,
    )
    from bayleaf.io.exports.onnx_classifier import to_onnx as to_onnx
    from bayleaf.io.exports.scorers.scorer import write_scorer as write_scorer
    from bayleaf.io.exports.sql.statement import to_sql as to_sql
    from bayleaf.io.native.count_store import CountFile as CountFile
    from bayleaf.io.registry import read_network as read_network
    from bayleaf.io.registry import write_network as write_network
    from bayleaf.latent.network_parameters import learn_parameters as learn_parameters
    from bayleaf.loading import load as load
    from bayleaf.loading import trusted_types as trusted_types
    from bayleaf.models.bayesian_network import BayesianNetwork as BayesianNetwork
    from bayleaf.models.bayesian_network import NetworkStructure as NetworkStructure
    from bayleaf.predictions.folder import predict_to_folder as predict_to_folder
    from bayleaf.regression.averaged_kdb_regressor import (
        AveragedKDBRegressor as AveragedKDBRegressor,
    )
else:
    # Type checkers would take it for a promise that there is every name.
    def __getattr__(name: str) -> Any:
        if name in _PACKAGES:
            return importlib.import_module(f"bayleaf.{name}")
        if name in _PUBLIC:
            value = getattr(importlib.import_module(_PUBLIC[name]), name)
            globals()[name] = value
            return value
        from bayleaf.wording import quoted

        raise AttributeError(f"module 'bayleaf' has no attribute {quoted(name)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC, *_PACKAGES})
