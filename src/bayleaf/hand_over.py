"""Work that methods of networks hand over to packages which stand after theirs.

A network can be fitted, written and asked to fill in missing cells in one line, but
encoders, files and learners stand later in the order of packages than networks do. What
does the work is named here, in one table, and loaded when it is called.
"""

from __future__ import annotations

import importlib
from typing import Any

# By the method: the module, and its function, which takes the network first.
_CONVERTERS = "bayleaf.io.formats.converters"
DOERS = {
    "save": ("bayleaf.io.registry", "write_network"),
    "from_networkx": (f"{_CONVERTERS}.networkx_graph", "from_networkx"),
    "from_pgmpy": (f"{_CONVERTERS}.pgmpy_model", "from_pgmpy"),
    "from_pyagrum": (f"{_CONVERTERS}.pyagrum_model", "from_pyagrum"),
    "to_networkx": (f"{_CONVERTERS}.networkx_graph", "to_networkx"),
    "to_pgmpy": (f"{_CONVERTERS}.pgmpy_model", "to_pgmpy"),
    "to_pyagrum": (f"{_CONVERTERS}.pyagrum_model", "to_pyagrum"),
}


def hand_over(method: str, network: Any, *arguments: Any, **options: Any) -> Any:
    """What the function in charge of a method returns.

    Parameters
    ----------
    method : str
        One of `DOERS`.
    network : object
        What the method was called on.
    *arguments, **options
        Of the method.
    """
    module, function = DOERS[method]
    doer = getattr(importlib.import_module(module), function)
    return doer(network, *arguments, **options)
