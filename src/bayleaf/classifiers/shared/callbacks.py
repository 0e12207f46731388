"""Scikit-learn's callbacks, which are experimental there and missing before 1.9.

All that we use of them stands here. Without them estimators fit as they do with them,
and have no `set_callbacks`.
"""

from __future__ import annotations

from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:
    HAS_CALLBACKS = False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Fallback for scikit-learn before 1.9."""

    def with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method

else:
    HAS_CALLBACKS = True

__all__ = ["HAS_CALLBACKS", "CallbackSupportMixin", "with_callbacks"]
