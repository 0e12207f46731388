"""Scikit-learn's callbacks, which are experimental there and missing before 1.9.

All that we use of them stands here. Without them estimators fit as they do with them,
and have no `set_callbacks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self, TypeVar

    _Method = TypeVar("_Method", bound=Callable[..., Any])
    HAS_CALLBACKS: bool

    class _Callbacks:
        _callback_fit_ctx: Any

        def set_callbacks(self, *callbacks: Any) -> Self: ...
        def _init_callback_context(
            self,
            task_name: str = "fit",
            task_id: int = 0,
            max_subtasks: int | None = None,
            sequential_subtasks: bool = False,
        ) -> Any: ...

    CallbackSupportMixin = _Callbacks

    def with_callbacks(method: _Method) -> _Method:
        """The method, of the same type."""

else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:
        HAS_CALLBACKS = False

        class CallbackSupportMixin:
            """Fallback for scikit-learn before 1.9."""

        def with_callbacks(method: Any) -> Any:
            """The method as it is."""
            return method

    else:
        HAS_CALLBACKS = True

__all__ = ["HAS_CALLBACKS", "CallbackSupportMixin", "with_callbacks"]
