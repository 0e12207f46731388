"""A scoring program: its numbers, unpacked, and its terms by kind."""

from __future__ import annotations

import base64
import json
import math
import struct
import zlib
from collections.abc import Sequence
from typing import Any

_NOTHING = -math.inf


def read_document(text: str) -> Any:
    """What the model's JSON holds, inflated if it was compressed."""
    document = json.loads(text)
    if "deflate" in document:
        plain = zlib.decompress(base64.b64decode(document["deflate"]))
        document = json.loads(plain.decode("utf-8", "surrogatepass"))
    return document


def unpacked(packed: Any) -> list[float]:
    """Numbers of an array in one row; its shape is known to the caller."""
    if "list" in packed:
        return [float(value) for value in packed["list"]]
    if "f8" in packed:
        return _numbers_of(packed["f8"], "d")
    values = unpacked(packed["values"])
    return [values[place] for place in _numbers_of(packed["at"], "H")]


def _numbers_of(text: str, form: str) -> list[Any]:
    """The numbers of a form of struct that a base64 text stands for."""
    raw = base64.b64decode(text)
    return list(struct.unpack(f"<{len(raw) // struct.calcsize(form)}{form}", raw))


def log_sum_exp(values: Sequence[float]) -> float:
    """Logarithm of the sum of exponentials; minus infinity for none."""
    highest = max(values, default=_NOTHING)
    if highest == _NOTHING:
        return highest
    return highest + math.log(sum([math.exp(value - highest) for value in values]))


def known_shares(
    strengths: Sequence[float], known: Sequence[bool]
) -> tuple[list[float], float]:
    """Share of all features' strength that is known, of rows that do not know all.

    Without each feature, and without the strongest.
    """
    counted = [strength * is_known for strength, is_known in zip(strengths, known)]
    total, summed = sum(strengths), sum(counted)

    def share(part: float, whole: float) -> float:
        return min(max(part / whole, 0.0), 1.0) if whole > 0 else 0.0

    others = [share(summed - strength, total - strength) for strength in strengths]
    return others, share(summed - max(counted), total - max(strengths))


class Program:
    """A base and terms, which add nats by owner or have scores; the prior is last."""

    def __init__(self, program: Any, kinds: Sequence[Any]) -> None:
        self.cards: list[int] = program["cards"]
        self.numbers = [x for part in program["numbers"] for x in unpacked(part)]
        self.integers: list[list[int]] = program["integers"]
        self.base = self.values(program["base"])
        self._kinds = {kind.__name__: kind for kind in kinds}
        terms = [self.term(term) for term in program["terms"]]
        self.additive = [term for term in terms if hasattr(term, "add_to")]
        self.others = [term for term in terms if not hasattr(term, "add_to")]
        sharing = program.get("sharing")
        self.sharing = self.term(sharing) if sharing else None

    def values(self, span: Sequence[int]) -> list[float]:
        """Some numbers by position and size."""
        first, size = span
        return self.numbers[first : first + size]

    def term(self, term: Sequence[Any]) -> Any:
        """A term by its kind and parameters."""
        kind, *parameters = term
        return self._kinds[kind](self, *parameters)

    def known(self, codes: Sequence[int]) -> tuple[bool, ...]:
        """Whether the state of each feature is known."""
        return tuple([code < card for code, card in zip(codes, self.cards)])

    def _nats(self, codes: Sequence[int]) -> list[list[float]]:
        """Nats by owner and class."""
        known = self.known(codes)
        given = self.sharing.given(known) if self.sharing and not all(known) else None
        base = given.base if given else self.base
        nats = [*([0.0] * len(self.base) for _ in codes), list(base)]
        for term in self.additive:
            term.add_to(nats, codes, given)
        return nats

    def scores(self, codes: Sequence[int]) -> list[float]:
        """Score of each class, nats."""
        total = self.base
        if self.additive:
            # Sums of features round less than one of all terms.
            total = [sum(own) for own in zip(*self._nats(codes))]
        for term in self.others:
            total = [a + b for a, b in zip(total, term.scores(codes))]
        return total

    def contributions(
        self, codes: Sequence[int], target: int, against: int
    ) -> tuple[float, list[float]]:
        """Terms of the log-odds: the prior, and one for each feature."""
        odds = [own[target] - own[against] for own in self._nats(codes)]
        for term in self.others:
            for owner, own in enumerate(term.odds(codes, target, against)):
                odds[owner] += own
        return odds[-1], odds[:-1]
