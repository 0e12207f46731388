"""The one signature of all classifiers."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from bayleaf import AveragedKDBRegressor, BayesianNetworkEstimator
from bayleaf.classifiers import CLASSIFIERS, BayesianClassifier
from bayleaf.classifiers.shared.parameters import DeclaredParameters
from offenders import check_each


def test_every_classifier_shows_the_shared_parameters() -> None:
    def check(kind: Any) -> None:
        shared = inspect.signature(BayesianClassifier).parameters
        own = inspect.signature(kind).parameters
        # A class may declare a shared parameter itself, with its own default.
        above = kind.__mro__[: kind.__mro__.index(BayesianClassifier)]
        restated = {name for own_kind in above for name in vars(own_kind)}
        assert set(shared) <= set(own) | set(kind._lacks)
        for name in set(shared) - set(restated) - set(kind._lacks):
            assert own[name].default == shared[name].default
        assert all(
            parameter.kind is parameter.KEYWORD_ONLY for parameter in own.values()
        )

    check_each(list(CLASSIFIERS.values()), check)


class _Shared(DeclaredParameters):
    alpha: float = 1.0
    rule: str = "a"
    _hidden: int = 0


class _Declaring(_Shared):
    _lacks = {"alpha": "set beta"}  # noqa: RUF012
    beta: int = 2
    rule: str = "b"


class _Constructing(_Shared):
    def __init__(self, *, gamma: int = 3, rule: str = "c", **shared: Any) -> None:
        super().__init__(rule=rule, **shared)
        self.gamma = gamma


def test_annotated_defaults_are_parameters_those_of_the_class_first() -> None:
    assert (
        str(inspect.signature(_Shared))
        == "(*, alpha: 'float' = 1.0, rule: 'str' = 'a')"
    )
    assert list(inspect.signature(_Declaring).parameters) == ["beta", "rule"]
    assert vars(_Declaring(beta=5)) == {"beta": 5, "rule": "b"}


def test_a_constructor_of_its_own_passes_on_what_is_shared() -> None:
    assert list(inspect.signature(_Constructing).parameters) == [
        "gamma",
        "rule",
        "alpha",
    ]
    assert vars(_Constructing(alpha=0.5)) == {"alpha": 0.5, "rule": "c", "gamma": 3}


def test_unknown_and_lacking_parameters_are_refused() -> None:
    with pytest.raises(
        TypeError, match=r"_Shared.*unexpected keyword argument 'alhpa'"
    ):
        _Shared(alhpa=1.0)
    with pytest.raises(TypeError, match="_Declaring has no alpha; set beta"):
        _Declaring(alpha=1.0)


def test_errors_name_the_public_class() -> None:
    def check(kind: Any) -> None:
        with pytest.raises(TypeError, match=f"^{kind.__name__}") as raised:
            kind(class_weights="balanced")
        assert "class_weights" in str(raised.value)

    kinds = [*CLASSIFIERS.values(), AveragedKDBRegressor, BayesianNetworkEstimator]
    check_each(kinds, check)


def test_estimators_list_no_settings_of_their_classes() -> None:
    def check(kind: Any) -> None:
        names = {name for name in dir(kind()) if not name.startswith("_")}
        methods = {name for name in names if callable(getattr(kind, name, None))}
        fitted = {name for name in names if name.endswith("_")}
        parameters = set(kind().get_params()) | set(kind._lacks)
        assert names <= methods | fitted | parameters

    kinds = [*CLASSIFIERS.values(), AveragedKDBRegressor, BayesianNetworkEstimator]
    check_each(kinds, check)


def test_classes_show_no_method_or_parameter_that_they_lack() -> None:
    for kind in CLASSIFIERS.values():
        estimator = kind()
        is_incremental = hasattr(estimator, "partial_fit")
        assert hasattr(estimator, "set_partial_fit_request") == is_incremental, kind
        assert not set(dir(estimator)) & set(kind._lacks), kind
