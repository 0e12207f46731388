"""What can be done with a network by packages that stand after models."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self, cast

from bayleaf.hand_over import hand_over


class HandedOver:
    """Methods of a network whose work is done elsewhere; see `bayleaf.hand_over`."""

    def save(self, path: str | Path) -> None:
        """Write the network to a file, in the format that the suffix names.

        Parameters
        ----------
        path : path
            ``.json`` for the library's own format, which keeps everything; ``.bif``,
            ``.net``, ``.xdsl`` and others as `bayleaf.write_network` lists them.

        Raises
        ------
        ValueError
            If no format has that suffix, or the format cannot hold the network.
        OSError
            If the file cannot be written; an older file is then left as it was.
        """
        hand_over("save", self, path)

    @classmethod
    def from_pgmpy(cls, model: Any) -> Self:
        """Make a network from a ``pgmpy.models.DiscreteBayesianNetwork``.

        Raises
        ------
        ImportError
            If pgmpy is not installed.
        TypeError
            If it is no such model.
        ValueError
            If a node has no table, or tables do not fit each other; the node is named.
        """
        return cast("Self", hand_over("from_pgmpy", model))

    @classmethod
    def from_pyagrum(cls, model: Any) -> Self:
        """Make a network from a ``pyagrum.BayesNet``.

        Raises
        ------
        ImportError
            If pyAgrum is not installed.
        TypeError
            If it is no such network.
        ValueError
            If a table holds no distributions; the variable is named.
        """
        return cast("Self", hand_over("from_pyagrum", model))

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """Make a network from a ``networkx.DiGraph``.

        Its nodes have the attributes that `to_networkx` gives.

        Raises
        ------
        ImportError
            If networkx is not installed.
        TypeError, ValueError
            If it is no such graph, or a node lacks what is needed; the node is named.
        """
        return cast("Self", hand_over("from_networkx", graph))

    def to_pgmpy(self) -> Any:
        """Make a ``pgmpy.models.DiscreteBayesianNetwork`` of the same names and states.

        Raises
        ------
        ImportError
            If pgmpy is not installed.
        ValueError
            If a full table would be too large; the variable is named.
        """
        return hand_over("to_pgmpy", self)

    def to_pyagrum(self) -> Any:
        """Make a ``pyagrum.BayesNet``, with names and states as text.

        Raises
        ------
        ImportError
            If pyAgrum is not installed.
        ValueError
            If a full table would be too large, or two names are the same text.
        """
        return hand_over("to_pyagrum", self)

    def to_networkx(self) -> Any:
        """Make a ``networkx.DiGraph`` whose nodes hold states, parents and tables.

        Raises
        ------
        ImportError
            If networkx is not installed.
        ValueError
            If a full table would be too large; the variable is named.
        """
        return hand_over("to_networkx", self)
