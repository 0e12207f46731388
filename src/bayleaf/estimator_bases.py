"""What estimators take from scikit-learn, typed: it ships no types of its own.

A class on a base of unknown type would have every method, for mypy, and a method under
an untyped decorator any signature. Pyright reads scikit-learn's sources instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# True for mypy alone.
MYPY = False

if MYPY:
    from collections.abc import Mapping
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    class _BaseEstimator:
        feature_names_in_: NDArray[np.object_]
        n_features_in_: int

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def set_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_partial_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_score_request(self, **requests: bool | str | None) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...
        def _html_repr(self) -> str: ...
        def __getstate__(self) -> Mapping[str, Any]: ...

    class _ClassifierMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class _RegressorMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class _DensityMixin:
        pass

    class _OneToOneFeatureMixin:
        def get_feature_names_out(self, input_features: Any = None) -> Any: ...

    class _TransformerMixin:
        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...

    BaseEstimator = _BaseEstimator
    ClassifierMixin = _ClassifierMixin
    DensityMixin = _DensityMixin
    OneToOneFeatureMixin = _OneToOneFeatureMixin
    RegressorMixin = _RegressorMixin
    TransformerMixin = _TransformerMixin
else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        DensityMixin,
        OneToOneFeatureMixin,
        RegressorMixin,
    )

    if TYPE_CHECKING:
        from typing import Self

        from sklearn.base import TransformerMixin as _Transformer

        class TransformerMixin(_Transformer):
            """Methods that have no types there."""

            def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
                """Fit to a table, and transform it."""

            def set_output(self, *, transform: str | None = None) -> Self:
                """Choose the library of what `transform` returns."""
                ...

    else:
        from sklearn.base import TransformerMixin

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    _Method = TypeVar("_Method", bound=Callable[..., Any])

    def available_if(check: Callable[[Any], bool]) -> Callable[[_Method], _Method]:
        """A decorator that changes no type."""

else:
    from sklearn.utils.metaestimators import available_if

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "DensityMixin",
    "OneToOneFeatureMixin",
    "RegressorMixin",
    "TransformerMixin",
    "available_if",
]
