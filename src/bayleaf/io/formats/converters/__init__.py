"""Networks of other libraries, which are imported when their networks are asked for."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def peer(module: str, package: str, what: str) -> ModuleType:
    """Import a module of another library; ImportError names the package to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{package} is not installed; install it to exchange {what} with it"
        ) from error
