"""The one signature of all classifiers."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from bayleaf.classifiers import CLASSIFIERS, BayesianClassifier


@pytest.mark.parametrize("kind", list(CLASSIFIERS.values()))
def test_every_classifier_shows_the_shared_parameters(kind: Any) -> None:
    shared = inspect.signature(BayesianClassifier).parameters
    own = inspect.signature(kind).parameters
    # A classifier may name a shared parameter itself, to give it a default of its own.
    restated = kind.__init__.__code__.co_varnames
    assert set(shared) <= set(own) | set(kind.lacks)
    for name in set(shared) - set(restated) - set(kind.lacks):
        assert own[name].default == shared[name].default
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in own.values())
