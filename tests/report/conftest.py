"""Models and tables that reports are made of."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bayleaf import BayesianNetworkEstimator
from bayleaf.datasets import load_heart
from bayleaf.evaluation.groups import estimates
from bayleaf.report import chosen_rows, summarize
from oracles.small_tables import classifier


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Compare groups on a coarse grid, and draw few tables.

    Each takes longer than the rest of a report.
    """
    with pytest.MonkeyPatch.context() as patch:
        # Other folders' tests need the usual figures, also in the same process.
        if Path(__file__).parent in item.path.parents:
            patch.setattr(estimates, "_QUANTILES", 50)
            patch.setattr(chosen_rows, "_DRAWS", 50)
        return (yield)


@pytest.fixture(scope="session")
def heart() -> pa.Table:
    """The heart table, the class with it."""
    return load_heart().frame


@pytest.fixture(scope="session")
def fitted(heart: pa.Table) -> Callable[[str], Any]:
    """A classifier of the heart table by its name on the command line."""
    known: dict[str, Any] = {}

    def fit(name: str) -> Any:
        if name not in known:
            X, y = heart.drop_columns("disease"), heart.to_pandas()["disease"]
            known[name] = classifier(name).fit(X, y)
        return known[name]

    return fit


@pytest.fixture(scope="session")
def summary_of(fitted: Callable[[str], Any], heart: pa.Table) -> Callable[[str], Any]:
    """Summarize a classifier of the heart table by its name, once."""
    return functools.cache(lambda name: summarize(fitted(name), heart, n_folds=3))


@pytest.fixture(scope="session")
def summary(fitted: Callable[[str], Any], heart: pa.Table) -> dict[str, Any]:
    """What a report tells of naive Bayes."""
    return summarize(fitted("nb"), heart)


@pytest.fixture(scope="session")
def density(heart: pa.Table) -> Any:
    """A density model of the heart table, with trees."""
    return BayesianNetworkEstimator(
        local_structure="tree", n_restarts=1, random_state=0
    ).fit(heart)
