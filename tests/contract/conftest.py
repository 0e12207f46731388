"""Every public classifier in turn, so that a new one is tested without a line more."""

from __future__ import annotations

from typing import cast

import pytest

from bayleaf.classifiers import CLASSIFIERS, BayesianClassifier


@pytest.fixture(params=list(CLASSIFIERS.values()), ids=list(CLASSIFIERS))
def kind(request: pytest.FixtureRequest) -> type[BayesianClassifier]:
    """The class of a public classifier."""
    return cast("type[BayesianClassifier]", request.param)
