"""Bayesian-network classifiers that a person can read, at the speed of counting."""

from __future__ import annotations

import importlib
from typing import Any

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
    "NetworkStructure": "bayleaf.models.network_structure",
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
    "write_influence_diagram": "bayleaf.io.diagram_files",
    "write_network": "bayleaf.io.registry",
    "write_scorer": "bayleaf.io.exports.scorers.scorer",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(importlib.import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    from bayleaf.wording import quoted

    raise AttributeError(f"module 'bayleaf' has no attribute {quoted(name)}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_PUBLIC))
