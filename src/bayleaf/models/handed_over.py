"""What can be done with a network by packages that stand after models."""

from __future__ import annotations

from pathlib import Path

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
