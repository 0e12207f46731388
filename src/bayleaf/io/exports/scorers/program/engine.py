"""The numbers of a scoring program, and its terms by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.arithmetic import unpacked


class Reader:
    """Numbers of a program, which terms share."""

    def __init__(self, program: Any, kinds: Sequence[Any]) -> None:
        self.cards: list[int] = program["cards"]
        self.numbers = [x for part in program["numbers"] for x in unpacked(part)]
        self.integers: list[list[int]] = program["integers"]
        self.base = self.values(program["base"])
        self._kinds = {kind.__name__: kind for kind in kinds}

    def values(self, span: Sequence[int]) -> list[float]:
        """Some numbers by position and size."""
        first, size = span
        return self.numbers[first : first + size]

    def term(self, term: Sequence[Any]) -> Any:
        """A term by its kind and parameters."""
        kind, *parameters = term
        return self._kinds[kind](self, *parameters)


class Engine:
    """A base and terms, which add nats by owner or have scores; the prior is last."""

    def __init__(self, program: Any, kinds: Sequence[Any]) -> None:
        reader = Reader(program, kinds)
        self.base = reader.base
        terms = [reader.term(term) for term in program["terms"]]
        self.additive = [term for term in terms if hasattr(term, "add_to")]
        self.others = [term for term in terms if not hasattr(term, "add_to")]

    def scores(self, codes: Sequence[int]) -> list[float]:
        """Score of each class, nats."""
        total = self.base
        if self.additive:
            # Sums of features round less than one of all terms.
            total = [sum(own) for own in zip(*self._nats(codes))]
        for term in self.others:
            total = [a + b for a, b in zip(total, term.scores(codes))]
        return total

    def _nats(self, codes: Sequence[int]) -> list[list[float]]:
        """Nats by owner and class."""
        nats = [*([0.0] * len(self.base) for _ in codes), list(self.base)]
        for term in self.additive:
            term.add_to(nats, codes)
        return nats

    def contributions(
        self, codes: Sequence[int], target: int, against: int
    ) -> tuple[float, list[float]]:
        """Terms of the log-odds: the prior, and one for each feature."""
        odds = [*[0.0] * len(codes), self.base[target] - self.base[against]]
        if self.additive:
            odds = [own[target] - own[against] for own in self._nats(codes)]
        for term in self.others:
            for owner, own in enumerate(term.odds(codes, target, against)):
                odds[owner] += own
        return odds[-1], odds[:-1]
