"""Work that methods of networks hand over to packages which stand after theirs.

A network can be fitted, written and asked to fill in missing cells in one line, but
encoders, files and learners stand later in the order of packages than networks do. What
does the work is named here, in one table, and loaded when it is called.
"""

from __future__ import annotations

import importlib
from typing import Any

_CONVERTERS = "bayleaf.io.formats.converters"
# By the method: the module, and its function, which takes the network first.
IMPLEMENTATIONS = {
    "save": ("bayleaf.io.registry", "write_network"),
    "from_networkx": (f"{_CONVERTERS}.networkx_graph", "from_networkx"),
    "from_pgmpy": (f"{_CONVERTERS}.pgmpy_model", "from_pgmpy"),
    "from_pyagrum": (f"{_CONVERTERS}.pyagrum_model", "from_pyagrum"),
    "to_dot": ("bayleaf.io.formats.dot", "to_dot"),
    "to_mermaid": ("bayleaf.io.formats.mermaid", "to_mermaid"),
    "to_networkx": (f"{_CONVERTERS}.networkx_graph", "to_networkx"),
    "to_pgmpy": (f"{_CONVERTERS}.pgmpy_model", "to_pgmpy"),
    "to_pyagrum": (f"{_CONVERTERS}.pyagrum_model", "to_pyagrum"),
    "fit": ("bayleaf.modelling.fitting", "fit_network"),
    "plot": ("bayleaf.plot.network_graphs", "network"),
    "_repr_html_": ("bayleaf.explorer.notebook", "model_html"),
}
# The same of structures that have no tables yet.
STRUCTURE_IMPLEMENTATIONS = {
    "fit": ("bayleaf.modelling.fitting", "fit_structure"),
    "plot": ("bayleaf.plot.network_graphs", "network"),
    "read": ("bayleaf.io.formats.dagitty", "read_structure"),
    "save": ("bayleaf.io.formats.dagitty", "write_structure"),
    "score": ("bayleaf.modelling.structure_scores", "score_structure"),
    "test_independences": (
        "bayleaf.modelling.structure_scores",
        "tested_independences",
    ),
    "to_dot": ("bayleaf.io.formats.dot", "to_dot"),
    "to_mermaid": ("bayleaf.io.formats.mermaid", "to_mermaid"),
    "to_networkx": (f"{_CONVERTERS}.networkx_graph", "structure_to_networkx"),
}
# The same of classifiers.
CLASSIFIER_IMPLEMENTATIONS = {
    "feature_importances_": ("bayleaf.explain.importance", "feature_importances"),
    "save": ("bayleaf.loading", "save_estimator"),
}
# The same of influence diagrams.
DIAGRAM_IMPLEMENTATIONS = {
    "save": ("bayleaf.io.diagram_files", "write_influence_diagram")
}


def dispatch(method: str, network: Any, *arguments: Any, **options: Any) -> Any:
    """What the function in charge of a method returns.

    Parameters
    ----------
    method : str
        One of `IMPLEMENTATIONS`.
    network : object
        What the method was called on.
    *arguments, **options
        Of the method.
    """
    return _done(IMPLEMENTATIONS[method], network, *arguments, **options)


def dispatch_structure(
    method: str, structure: Any, *arguments: Any, **options: Any
) -> Any:
    """What the function in charge of a method of a structure returns."""
    return _done(STRUCTURE_IMPLEMENTATIONS[method], structure, *arguments, **options)


def dispatch_classifier(method: str, classifier: Any, *arguments: Any) -> Any:
    """What the function in charge of a method or property of a classifier returns."""
    return _done(CLASSIFIER_IMPLEMENTATIONS[method], classifier, *arguments)


def dispatch_diagram(method: str, diagram: Any, *arguments: Any) -> Any:
    """What the function in charge of a method of an influence diagram returns."""
    return _done(DIAGRAM_IMPLEMENTATIONS[method], diagram, *arguments)


def _done(doer: tuple[str, str], *arguments: Any, **options: Any) -> Any:
    """What a function returns that is named by its module and its name."""
    module, function = doer
    return getattr(importlib.import_module(module), function)(*arguments, **options)
