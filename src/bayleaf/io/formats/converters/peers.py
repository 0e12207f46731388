"""Other libraries, imported when their networks are asked for."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def peer(module: str, package: str, what: str) -> ModuleType:
    """A module of another library.

    Parameters
    ----------
    module : str
        Its full name.
    package : str
        What to install.
    what : str
        What is exchanged with it.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{package} is not installed; install it to exchange {what} with it"
        ) from error
