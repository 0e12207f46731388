"""What classifiers and density models share as estimators of scikit-learn."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.validation import validate_data

from bayleaf.classifiers.shared.parameters import (
    check_choice,
    check_count,
    check_jobs,
    merged_signature,
)
from bayleaf.classifiers.shared.training import Stage
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.encoder.rules import MISSING_RULES, UNKNOWN_RULES
from bayleaf.data.tables.columns import Column, Matrix, Name
from bayleaf.data.tables.frames import take_apart


class TableEstimator(
    CallbackSupportMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base of estimators that read tables: parameters, tags, reports on a fit.

    A subclass with parameters of its own has an `__init__` that takes them, all by
    keyword, before ``**shared``, which it passes on; its signature then shows the
    bases' parameters too.

    Parameters
    ----------
    smoothing : str or Smoothing, default="laplace"
        Rule that turns counts into probabilities.
    discretizer : str or discretiser, default="equal_frequency"
        Finds the cut points of numeric columns.
    categorical_features : list of str, int or bool, optional
        Columns of numbers that are nominal; all others are then numeric.
    missing : {"marginalize", "state", "error"}, default="marginalize"
        What becomes of missing cells.
    unknown : {"missing", "error"}, default="missing"
        What becomes of values that training did not contain.
    max_states : int, default=1000
        Largest number of states of a nominal column.
    max_table_cells : int, default=20_000_000
        Largest table of counts, and of an intermediate result of inference.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.
    n_jobs : int, default=None
        Threads; -1 means all cores.
    verbose : int, default=0
        Above zero, the stages of fitting are told on standard error.
    """

    # Shared parameters that a kind of estimator has no use for.
    lacks: ClassVar[tuple[str, ...]] = ()
    # Unknown cells by column of the table read last, for `summary`: never changed, only
    # replaced as a whole, so that threads may predict side by side.
    _last_unknown: Mapping[Name, int] = MappingProxyType({})

    def __init__(
        self,
        *,
        smoothing: str | Smoothing = "laplace",
        discretizer: Any = "equal_frequency",
        categorical_features: Any = None,
        missing: str = "marginalize",
        unknown: str = "missing",
        max_states: int = 1000,
        max_table_cells: int = 20_000_000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.smoothing = smoothing
        self.discretizer = discretizer
        self.categorical_features = categorical_features
        self.missing = missing
        self.unknown = unknown
        self.max_states = max_states
        self.max_table_cells = max_table_cells
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            kinds = (kind.__dict__ for kind in cls.__mro__[:-1])
            constructors = [kind["__init__"] for kind in kinds if "__init__" in kind]
            constructors[0].__signature__ = merged_signature(
                *constructors, without=cls.lacks
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _html_repr(self) -> str:
        """What a notebook shows: the summary of a fitted estimator."""
        # Until then it is scikit-learn's own picture of the parameters.
        if not hasattr(self, "encoder_"):
            return str(super()._html_repr())
        fitted: Any = self
        return str(fitted.summary()._repr_html_())

    def _check_parameters(self) -> None:
        """Raise if a parameter is out of range; subclasses add their own."""
        check_choice("missing", self.missing, MISSING_RULES)
        check_choice("unknown", self.unknown, UNKNOWN_RULES)
        check_count("max_states", self.max_states, 2)
        check_count("max_table_cells", self.max_table_cells, 1)
        check_count("verbose", int(self.verbose), 0)
        check_jobs(self.n_jobs)

    @contextlib.contextmanager
    def _told_to_callbacks(self, X: Any, y: Any, sample_weight: Any) -> Iterator[None]:
        """Tell scikit-learn's callbacks that a fit begins and that it has ended."""
        context = self._init_callback_context()
        facts = {"sample_weight": sample_weight}
        context.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=facts)
        yield
        context.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=facts)

    def _stage(self, what: str) -> Stage:
        """Tell on standard error, when asked to, how long a stage took."""
        return Stage(f"{type(self).__name__}: {what}", told=bool(self.verbose))

    def _parts_as_fitted(self, X: Any) -> Matrix | list[Column]:
        """A table taken apart, once it has the columns of training."""
        parts = take_apart(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return parts
