"""Scores of several classifiers on the same folds, and tests between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayleaf.evaluation.held_out import LARGER_IS_BETTER, SCORES, CrossValidation
from bayleaf.evaluation.operating_points import implied_threshold
from bayleaf.evaluation.statistics import Floats, TestResult, corrected_t_test

BEST = "best"
# Differences with a smaller p-value count as significant.
LEVEL = 0.05


@dataclass(frozen=True)
class ComparedScores:
    """What a `Comparison` holds and tests, which says what the fields are."""

    results: tuple[CrossValidation, ...]
    classes: tuple[Any, ...]
    n_rows: int
    n_folds: int
    n_repeats: int
    random_state: int
    baseline: str = BEST
    loss: Floats | None = None

    def __getitem__(self, name: str) -> CrossValidation:
        """The scores of one classifier."""
        for result in self.results:
            if result.name == name:
                return result
        raise KeyError(name)

    @property
    def names(self) -> tuple[str, ...]:
        """What the classifiers are called."""
        return tuple(result.name for result in self.results)

    @property
    def scores(self) -> tuple[str, ...]:
        """Scores that at least one fold has."""
        first = self.results[0]
        return tuple(score for score in SCORES if len(first.values(score)))

    @property
    def threshold(self) -> float | None:
        """Probability of the second class above which the loss says to predict it.

        None without a loss, or with more than two classes.
        """
        if self.loss is None or len(self.classes) != 2:
            return None
        return implied_threshold(self.loss)

    def reference(self, score: str) -> str:
        """The classifier that the others are tested against."""
        return self.best(score) if self.baseline == BEST else self.baseline

    def best(self, score: str) -> str:
        """The classifier with the best mean of a score, the first of several."""
        choose = max if score in LARGER_IS_BETTER else min
        return choose(self.results, key=lambda result: result.mean(score)).name

    def test(self, score: str, first: str, second: str) -> TestResult:
        """Corrected paired t-test over the folds that have the score.

        Nadeau & Bengio's correction (2003) for overlapping training sets, see
        `corrected_t_test`; positive where `first` has the larger score. One fold alone
        shows no difference: a statistic of 0 and a p-value of 1.
        """
        a, b = self[first].values(score), self[second].values(score)
        if len(a) < 2:
            return TestResult(0.0, 1.0)
        n_test = self.n_rows / self.n_folds
        return corrected_t_test(a, b, n_train=self.n_rows - n_test, n_test=n_test)

    def mark(self, score: str, name: str) -> str:
        """How a classifier's score stands to the reference's.

        Returns
        -------
        str
            ``*`` for the reference, ``=`` if the difference is not significant at .05,
            else ``+`` for a better and ``-`` for a worse score.
        """
        reference = self.reference(score)
        if name == reference:
            return "*"
        result = self.test(score, name, reference)
        if result.p_value >= LEVEL:
            return "="
        better = (result.statistic > 0) == (score in LARGER_IS_BETTER)
        return "+" if better else "-"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, with the tests against the reference."""
        return {
            "n_rows": self.n_rows,
            "classes": list(self.classes),
            "n_folds": self.n_folds,
            "n_repeats": self.n_repeats,
            "seed": self.random_state,
            "baseline": self.baseline,
            "loss": None if self.loss is None else self.loss.tolist(),
            "threshold": self.threshold,
            "models": [
                {**result.to_dict(), "tests": self._tests(result.name)}
                for result in self.results
            ],
        }

    def _tests(self, name: str) -> dict[str, dict[str, Any]]:
        """Difference from the reference and its p-value, by score."""
        found = {}
        for score in self.scores:
            other = self.reference(score)
            p_value = self.test(score, name, other).p_value
            found[score] = {
                "against": other,
                "difference": self[name].mean(score) - self[other].mean(score),
                "p_value": p_value,
                "significant": p_value < LEVEL,
            }
        return found
