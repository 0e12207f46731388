"""From a row to a label, to probabilities, and to what speaks for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.engine import (
    Program,
    known_shares,
    log_sum_exp,
    unpacked,
)
from bayleaf.io.exports.scorers.program.row_cells import Cell

# Features that a text names beside the one that a term is of.
_MOST_GIVEN = 3


class Scorer:
    """A model that scores one row at a time."""

    def __init__(self, model: Any, kinds: Sequence[Any]) -> None:
        self.classes: list[Any] = model["classes"]
        self.cells = [Cell(own) for own in model["cells"]]
        self.names: list[Any] = [own["feature"] for own in model["cells"]]
        self.labels = [own["states"] for own in model["variables"][:-1]]
        self.texts: list[Any] = model["texts"]
        self.parents: list[list[int]] = model["parents"]
        self.temperature: float = model["temperature"]
        shift, strengths = model["shift"], model["strengths"]
        self.shift = unpacked(shift) if shift else [0.0] * len(self.classes)
        self.strengths = unpacked(strengths) if strengths else []
        loss, n = unpacked(model["loss"]) if model["loss"] else [], len(self.classes)
        # By class predicted, the costs by true class; empty without a loss.
        self.loss = [loss[k : k + n] for k in range(0, len(loss), n)]
        self.program = Program(model["program"], kinds)

    def codes(self, row: Mapping[Any, Any], is_text: bool = False) -> list[int]:
        """Codes of the values of a row; columns that the model has no use for pass."""
        if not hasattr(row, "keys"):
            raise TypeError(
                "a row must be a dict of columns and values, got a "
                f"{type(row).__name__}"
            )
        found = []
        for cell in self.cells:
            if cell.column not in row:
                raise ValueError(
                    f"the row lacks column {cell.column!r}; give it, as None if it is "
                    "not known"
                )
            found.append(cell.code(row[cell.column], is_text))
        return found

    def _calibration(self, codes: list[int]) -> tuple[float, list[float]]:
        """What scores are divided by, and what is added then.

        Both are learned on rows that know all features.
        """
        known = self.program.known(codes)
        if not self.strengths or all(known):
            return self.temperature, self.shift
        _, share = known_shares(self.strengths, known)
        rate = 1.0 + share * (1.0 / self.temperature - 1.0)
        return 1.0 / rate, [share * nats for nats in self.shift]

    def log_proba(self, codes: list[int]) -> list[float]:
        """Logarithm of the probability of each class."""
        temperature, shift = self._calibration(codes)
        scores = self.program.scores(codes)
        scores = [score / temperature + shift[k] for k, score in enumerate(scores)]
        total = log_sum_exp(scores)
        if not math.isfinite(total):
            raise ValueError(
                "the row has probability zero under every class; use a smoothing rule "
                "that leaves no zero in the tables"
            )
        return [own - total for own in scores]

    def chosen(self, logs: list[float]) -> int:
        """The class that is most probable or, under a loss, cheapest."""
        proba = [math.exp(own) for own in logs]
        if not self.loss:
            return proba.index(max(proba))
        costs = [sum([p * own[k] for k, p in enumerate(proba)]) for own in self.loss]
        return costs.index(min(costs))

    def predict(self, row: Mapping[Any, Any]) -> Any:
        """The label of a row."""
        return self.classes[self.chosen(self.log_proba(self.codes(row)))]

    def predict_proba(self, row: Mapping[Any, Any]) -> dict[Any, float]:
        """The probability of each label."""
        logs = self.log_proba(self.codes(row))
        return {label: math.exp(logs[k]) for k, label in enumerate(self.classes)}

    def explain(self, row: Mapping[Any, Any], against: Any = None) -> dict[str, Any]:
        """Terms of the log-odds of the label predicted, see `explanation`."""
        return self.explanation(self.codes(row), against)

    def explanation(self, codes: list[int], against: Any = None) -> dict[str, Any]:
        """The log-odds of the label predicted against another, in terms that add up."""
        logs = self.log_proba(codes)
        target = self.chosen(logs)
        other = self._rival(logs, target, against)
        prior, terms = self.program.contributions(codes, target, other)
        temperature, shift = self._calibration(codes)
        prior = prior / temperature + (shift[target] - shift[other])
        return {
            "class": self.classes[target],
            "against": self.classes[other],
            "probability": math.exp(logs[target]),
            "against_probability": math.exp(logs[other]),
            "log_odds": logs[target] - logs[other],
            "prior": prior,
            "terms": [
                self._term(feature, codes, terms[feature] / temperature)
                for feature in range(len(codes))
            ],
        }

    def _rival(self, logs: list[float], target: int, against: Any) -> int:
        """The class to compare with: the one named, else the runner-up."""
        if against is not None:
            if against not in self.classes:
                raise ValueError(
                    "against must be one of the classes "
                    f"{', '.join(map(str, self.classes))}, got {against!r}"
                )
            if self.classes.index(against) != target:
                return self.classes.index(against)
        others = [k for k in range(len(logs)) if k != target] or [target]
        return max(others, key=lambda k: (logs[k], -k))

    def _term(self, feature: int, codes: list[int], nats: float) -> dict[str, Any]:
        """What one feature contributes, and on which others that depends."""
        parents = self.parents[feature]
        text = self._text(feature, codes[feature])
        if parents:
            given = [self._text(p, codes[p]) for p in parents[:_MOST_GIVEN]]
            more = ["..."] if len(parents) > _MOST_GIVEN else []
            text = f"{text} given {', '.join(given + more)}"
        return {
            "feature": self.names[feature],
            "value": self._label(feature, codes[feature]),
            "given": {self.names[p]: self._label(p, codes[p]) for p in parents},
            "contribution": nats,
            "text": text,
        }

    def _label(self, feature: int, code: int) -> str:
        """Name of a feature's state."""
        labels = self.labels[feature]
        return str(labels[code]) if code < len(labels) else "missing"

    def _text(self, feature: int, code: int) -> str:
        """That a feature has a state, in words."""
        texts = self.texts[feature]
        if texts:
            return str(texts[code])
        return f"{self.names[feature]} = {self._label(feature, code)}"
