"""Every parameter of a constructor is documented, and can be set."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from bayleaf import (
    AveragedKDBRegressor,
    BayesianNetworkEstimator,
    HierarchicalMixtureNBClassifier,
    KDBClassifier,
    NaiveBayesClassifier,
)
from bayleaf.classifiers import CLASSIFIERS, SingleNetworkClassifier
from contract.kinds import KINDS
from contract.tables import mixed_frame
from offenders import check_each
from oracles.small_tables import QUICK

# Another legal value of each parameter, and what else must be set for it to matter.
OTHER_VALUES: dict[str, tuple[Any, dict[str, Any]]] = {
    "smoothing": ("m_estimate", {}),
    "discretizer": ("equal_width", {}),
    "categorical_features": (["weather"], {}),
    "unknown": ("error", {}),
    "max_states": (50, {}),
    "identifiers": ("keep", {}),
    "rare": ("error", {}),
    "dates": ("error", {}),
    "ordered_features": (["weather"], {}),
    "weight_scale": ("mean_one", {}),
    "max_table_cells": (1_000_000, {}),
    "random_state": (1, {}),
    "n_jobs": (2, {}),
    "verbose": (1, {}),
    "class_prior": ([0.2, 0.3, 0.5], {}),
    "fit_prior": (False, {}),
    "class_weight": ("balanced", {}),
    "loss": ([[0, 1, 2], [1, 0, 2], [1, 1, 0]], {}),
    "calibration": ("leave_one_out", {}),
    "objective": ("conditional", {}),
    "pull": (2.0, {"objective": "conditional"}),
    "numeric": ("gaussian", {}),
    "numeric_weights": ("leave_one_out", {"numeric": "gaussian"}),
    "theta": (0.01, {}),
    "k": (2, {}),
    "max_k": (2, {"k": "auto"}),
    "theta_unit": ("bits", {"theta": 0.01}),
    "n_features": (2, {}),
    "min_count": (2, {}),
    "n_networks": (3, {}),
    "max_parents": (2, {}),
    "weights": (None, {}),
    "linear_families": (False, {}),
    "correction": (False, {}),
    "class_trees": (False, {}),
    "max_rows": (50, {}),
    "max_model_size": (10_000_000, {}),
    "n_bins": (3, {}),
    "n_intervals": (3, {}),
    "trees": (False, {}),
    "search": ("significance", {}),
    "pair_score": ("mutual_information", {}),
    "wrapper_score": ("log_loss", {}),
    "n_candidates": (3, {}),
    "score_folds": (3, {}),
    "significance_level": (0.01, {"search": "significance"}),
    "max_cells": (1000, {}),
    "deduplicate_rows": (False, {}),
    "feature_selection": ("forward", {}),
    "estimation": ("counting", {}),
    "n_components": (2, {}),
    "max_components": (4, {"n_components": "auto"}),
    "n_restarts": (1, {}),
    "max_iter": (50, {}),
    "tol": (1e-3, {}),
    "architecture": ((3,), {}),
    "learning": ("batch", {}),
    "expert": (KDBClassifier(), {"learning": "batch"}),
    "n_mixtures": (2, {}),
    "n_passes": (2, {}),
    "sigma": (0.2, {}),
    "gamma": (0.5, {}),
    "noise": (0.1, {}),
    "missing_denominator": ("all_rows", {}),
    "local_structure": ("tree", {}),
    "abstraction": ("local", {}),
    "structural": ("edges", {"missing": "em"}),
    "local_score": ("bic", {}),
    "hierarchies": (
        {"weather": {"any": {"wet": ["rain", "snow"], "dry": ["sun", "fog"]}}},
        {},
    ),
    "refine_hierarchies": (
        True,
        {
            "hierarchies": {
                "weather": {"any": {"wet": ["rain", "snow"], "dry": ["sun", "fog"]}}
            },
            "abstraction": "global",
        },
    ),
    "linkage": ("hamming", {"abstraction": "global"}),
    "linkage_arity": ("multiway", {"abstraction": "global"}),
    "table_search": ("greedy", {}),
    "tree_search": ("incremental", {"local_structure": "tree"}),
    "merge_leaves": (True, {"local_structure": "tree"}),
    "penalty_weight": (0.5, {}),
    "required_edges": ([("weather", "windy")], {}),
    "latents": ([["weather", "windy"]], {}),
    "required_joins": ([["weather", "windy"]], {}),
    "forbidden_joins": ([["weather", "windy"]], {}),
    "forbidden_edges": ([("weather", "windy")], {}),
    "tiers": ([["weather"], ["windy"]], {}),
    "arc_prior": ({("weather", "windy"): 0.9}, {}),
    "monotone": ({"degrees": 0}, {}),
    "time_limit": (600.0, {}),
    "cache_size": (10, {}),
}
ESTIMATORS: dict[str, Any] = {
    **CLASSIFIERS,
    "density": BayesianNetworkEstimator,
    "regressor": AveragedKDBRegressor,
}
# Parameters of one estimator are tested in so many tests, so that each stays short.
N_PARTS = 4
# Settings that keep fits short, where these parameters are not the ones in question.
SMALL: dict[str, dict[str, Any]] = {
    **QUICK,
    "density": {"n_restarts": 1},
    "regressor": {"n_networks": 4, "trees": False},
}
# Parameters of the regressor that its trees, which take seconds, depend on.
OF_TREES = ("loss", "missing", "max_rows", "n_jobs", "random_state")


@functools.cache
def _table_for(name: str, *, is_complete: bool) -> tuple[pd.DataFrame, list[Any]]:
    """Rows that an estimator accepts, those with missing cells left out if asked."""
    table, y = mixed_frame(60)
    if is_complete:
        table = table.dropna()
    labels: list[Any] = [y[row] for row in table.index]
    if name == "regressor":
        labels = [float(sorted(set(labels)).index(label)) for label in labels]
    return table, labels


def _other(default: Any) -> Any:
    """Return another value of a flag or number, for parameters that are not listed."""
    return not default if isinstance(default, bool) else (default or 1) * 2


def _check_another_value(
    name: str, parameter: str, small: dict[str, Any] | None = None
) -> None:
    kind = ESTIMATORS[name]
    default = inspect.signature(kind).parameters[parameter].default
    if parameter == "missing":
        value, others = ("error" if default == "state" else "state"), {}
    else:
        value, others = OTHER_VALUES.get(parameter, (_other(default), {}))
    if (name, parameter) == ("regressor", "loss"):
        value = "absolute"
    assert value is not default
    small = SMALL.get(name, {}) if small is None else small
    model = kind(**{**small, "random_state": 0, **others, parameter: value}).fit(
        *_table_for(name, is_complete=value == "error")
    )
    assert model.get_params(deep=False)[parameter] is value


def _check_documented(name: str, parameter: str) -> None:
    kind = ESTIMATORS[name]
    default = inspect.signature(kind).parameters[parameter].default
    entry = re.compile(rf"^ *(?:\w+, )*{parameter}(?:, \w+)* : (.*)$", re.MULTILINE)
    places = [*kind.__mro__]
    if "`BayesianNetworkEstimator`" in kind.__doc__:
        places.append(BayesianNetworkEstimator)
    found = [
        entries[0]
        for place in places
        if (entries := entry.findall(inspect.getdoc(place) or ""))
    ]
    assert found, f"{parameter} is not documented"
    shown = re.search(r"default=(.*)$", found[0])
    if shown is None:
        assert default is None
        assert "optional" in found[0]
    else:
        assert ast.literal_eval(shown[1]) == default


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("part", range(N_PARTS))
def test_another_legal_value_is_accepted(name: str, part: int) -> None:
    parameters = [*inspect.signature(ESTIMATORS[name]).parameters][part::N_PARTS]
    check_each(parameters, lambda parameter: _check_another_value(name, parameter))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("parameter", OF_TREES)
def test_trees_accept_other_legal_values(parameter: str) -> None:
    _check_another_value("regressor", parameter, {"n_networks": 4})


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", SMALL)
def test_another_legal_value_is_accepted_next_to_defaults(name: str) -> None:
    parameters = inspect.signature(ESTIMATORS[name]).parameters
    check_each(parameters, lambda parameter: _check_another_value(name, parameter, {}))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_are_documented_with_their_default(name: str) -> None:
    check_each(
        inspect.signature(ESTIMATORS[name]).parameters,
        lambda parameter: _check_documented(name, parameter),
    )


def test_nothing_is_drawn_the_same_way_twice_unless_a_seed_says_so() -> None:
    def check(name: str) -> None:
        parameters = inspect.signature(ESTIMATORS[name]).parameters
        assert parameters["random_state"].default is None

    check_each(ESTIMATORS, check)


def test_only_single_networks_can_be_fitted_to_the_classes() -> None:
    def check(name: str) -> None:
        with pytest.raises(TypeError, match="objective"):
            ESTIMATORS[name](objective="conditional")

    kinds = ESTIMATORS.items()
    others = [n for n, kind in kinds if not issubclass(kind, SingleNetworkClassifier)]
    assert {"aode", "auto", "network", "density"} < {*others}
    check_each(others, check)


def test_a_mixture_has_no_smoothing() -> None:
    with pytest.raises(TypeError, match="has no smoothing; set gamma"):
        HierarchicalMixtureNBClassifier(smoothing="laplace")


def test_every_public_name_of_a_fitted_estimator_is_documented() -> None:
    frame, y = mixed_frame()
    fits: list[Any] = [kind(random_state=0).fit(frame, y) for kind in KINDS.values()]
    fits += [
        NaiveBayesClassifier().partial_fit(frame, y, sorted(set(y))),
        BayesianNetworkEstimator(random_state=0).fit(frame),
        AveragedKDBRegressor(random_state=0).fit(frame, np.arange(len(y)) % 7.0),
    ]
    of_scikit_learn = set(dir(LogisticRegression()))

    def check(model: Any) -> None:
        kind = type(model)
        texts = [inspect.getdoc(base) or "" for base in kind.__mro__]
        known = {
            *of_scikit_learn,
            *model.get_params(deep=False),
            *getattr(kind, "_lacks", ()),
            *re.findall(r"^(\w+_)(?:, \w+_)* : ", "\n".join(texts), re.MULTILINE),
        }
        names = {name for name in dir(model) if not name.startswith("_")} - known
        members = {name: inspect.getattr_static(kind, name, None) for name in names}
        bare = [n for n, m in members.items() if m is None or not inspect.getdoc(m)]
        assert not bare, sorted(bare)

    check_each(fits, check, lambda model: type(model).__name__)
