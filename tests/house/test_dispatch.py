"""Methods that hand their work over find who does it."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest

from bayleaf.classifiers import BayesianClassifier
from bayleaf.decisions import InfluenceDiagram
from bayleaf.dispatch import (
    CLASSIFIER_IMPLEMENTATIONS,
    DIAGRAM_IMPLEMENTATIONS,
    IMPLEMENTATIONS,
    STRUCTURE_IMPLEMENTATIONS,
)
from bayleaf.models.bayesian_network import BayesianNetwork, NetworkStructure

TABLES = [
    (BayesianNetwork, IMPLEMENTATIONS, "dispatch"),
    (NetworkStructure, STRUCTURE_IMPLEMENTATIONS, "dispatch_structure"),
    (InfluenceDiagram, DIAGRAM_IMPLEMENTATIONS, "dispatch_diagram"),
    (BayesianClassifier, CLASSIFIER_IMPLEMENTATIONS, "dispatch_classifier"),
]


@pytest.mark.parametrize(
    ("kind", "method", "doer"),
    [
        (kind, method, doer)
        for kind, table, _ in TABLES
        for method, doer in table.items()
    ],
)
def test_what_is_handed_over_has_a_doer_and_a_method(
    kind: type, method: str, doer: tuple[str, str]
) -> None:
    module, function = doer
    assert callable(getattr(importlib.import_module(module), function))
    assert inspect.getdoc(getattr(kind, method))


@pytest.mark.parametrize(("kind", "table", "function"), TABLES)
def test_every_method_that_hands_over_is_in_the_table(
    kind: type, table: dict[str, tuple[str, str]], function: str
) -> None:
    own = [base for base in kind.__mro__ if base.__module__.startswith("bayleaf")]
    source = "".join(map(inspect.getsource, own))
    handed = re.findall(rf"\b{function}\(\s*\"(\w+)\"", source)
    assert set(handed) == set(table)
