"""Nats by the joint state of a few features."""

from __future__ import annotations

from collections.abc import Sequence

from bayleaf.io.exports.scorers.program.engine import Reader


class Look:
    """A table that adds an entry to the classes; joint states without one add zero."""

    def __init__(
        self,
        reader: Reader,
        owner: int,
        features: list[int],
        maps: list[int],
        keys: int,
        rows: list[int],
        gate: int = -1,
    ) -> None:
        self.owner, self.features = owner, features
        self.maps = [reader.integers[k] for k in maps]
        self.radices = [max(states) + 1 for states in self.maps]
        self.gate = reader.integers[gate] if gate >= 0 else None
        states, values = reader.integers[keys], reader.values(rows)
        self.rows = {key: values[k :: len(states)] for k, key in enumerate(states)}

    def key(self, codes: Sequence[int]) -> int:
        """The joint state of a row, -1 where the table does not count."""
        if self.gate and not self.gate[codes[self.owner]]:
            return -1
        key = 0
        for feature, states, radix in zip(self.features, self.maps, self.radices):
            key = key * radix + states[codes[feature]]
        return key

    def add_to(self, nats: Sequence[list[float]], codes: Sequence[int]) -> None:
        """Add the entry to the nats of its owner, by class."""
        own = nats[self.owner]
        for label, value in enumerate(self.rows.get(self.key(codes), ())):
            own[label] += value
