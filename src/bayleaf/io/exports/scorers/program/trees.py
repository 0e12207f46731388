"""Trees that add nats to a class."""

from __future__ import annotations

from collections.abc import Sequence

from bayleaf.io.exports.scorers.program.engine import Reader


class Tree:
    """Trees: every split adds to its feature what it changes for the tree's class."""

    def __init__(self, reader: Reader, lists: list[int], values: list[int]) -> None:
        self.roots, self.labels, *nodes = [reader.integers[k] for k in lists]
        self.features, self.states, self.children = nodes
        self.values = reader.values(values)
        self.cards = reader.cards

    def add_to(self, nats: Sequence[list[float]], codes: Sequence[int]) -> None:
        """Add each change to the nats of the feature that is tested."""
        for node, label in zip(self.roots, self.labels):
            while self.features[node] >= 0:
                feature = self.features[node]
                code, state = codes[feature], self.states[node]
                if code >= self.cards[feature]:
                    break
                # Where lower states lead left as well, the complement is stored.
                is_left = code == state if state >= 0 else code <= ~state
                child = self.children[node] + (0 if is_left else 1)
                nats[feature][label] += self.values[child] - self.values[node]
                node = child
