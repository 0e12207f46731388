"""The one signature of all classifiers."""

from __future__ import annotations

import inspect
from typing import Any

from bayleaf.classifiers import CLASSIFIERS, BayesianClassifier
from offenders import check_each


def test_every_classifier_shows_the_shared_parameters() -> None:
    def check(kind: Any) -> None:
        shared = inspect.signature(BayesianClassifier).parameters
        own = inspect.signature(kind).parameters
        # A classifier may name a shared parameter itself, with its own default.
        restated = kind.__init__.__code__.co_varnames
        assert set(shared) <= set(own) | set(kind.lacks)
        for name in set(shared) - set(restated) - set(kind.lacks):
            assert own[name].default == shared[name].default
        assert all(
            parameter.kind is parameter.KEYWORD_ONLY for parameter in own.values()
        )

    check_each(list(CLASSIFIERS.values()), check)
