"""Scikit-learn's callbacks, which are experimental there and missing before 1.9.

All that we use of them stands here. Without them estimators fit as they do with them,
and have no `set_callbacks`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:
    HAS_CALLBACKS = False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to tell anyone."""

    def with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method

else:
    HAS_CALLBACKS = True

__all__ = ["HAS_CALLBACKS", "TellsCallbacks", "with_callbacks"]


class TellsCallbacks(CallbackSupportMixin):  # type: ignore[misc]
    """An estimator whose fits scikit-learn's callbacks can follow."""

    @contextlib.contextmanager
    def _told_to_callbacks(
        self, X: Any, y: Any, sample_weight: Any, method: str = "fit"
    ) -> Iterator[None]:
        """Tell callbacks that a fit begins and that it has ended."""
        if not HAS_CALLBACKS:
            yield
            return
        context = self._init_callback_context(task_name=method)
        facts = {"sample_weight": sample_weight}
        context.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=facts)
        yield
        context.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=facts)

    def _tell_of_pass(self, task_id: tuple[int, int], facts: Mapping[str, Any]) -> None:
        """Tell callbacks of a finished pass below the fit."""
        if not HAS_CALLBACKS:
            return
        fit: Any = self._callback_fit_ctx
        task = fit.subcontext(task_name="pass", task_id=task_id)
        task.call_on_fit_task_begin(estimator=self, metadata=facts)
        task.call_on_fit_task_end(estimator=self, metadata=facts)
