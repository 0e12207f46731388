"""Settings of public classifiers that behave like classifiers of their own."""

from __future__ import annotations

from typing import Any

from bayleaf.classifiers import (
    AveragedKDBClassifier,
    BayesianClassifier,
    BayesianNetworkClassifier,
    KDBClassifier,
    LatentClassNBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)


class GaussianNaiveBayes(NaiveBayesClassifier):
    """Naive Bayes with numbers as numbers."""

    def __init__(self, *, numeric: str = "gaussian", **shared: Any) -> None:
        super().__init__(numeric=numeric, **shared)


class GaussianTAN(TANClassifier):
    """TAN with numbers as numbers."""

    def __init__(self, *, numeric: str = "gaussian", **shared: Any) -> None:
        super().__init__(numeric=numeric, **shared)


class GaussianKDB(KDBClassifier):
    """KDB with numbers as numbers, and two parents a feature."""

    def __init__(
        self, *, numeric: str = "gaussian", k: int | str = 2, **shared: Any
    ) -> None:
        super().__init__(numeric=numeric, k=k, **shared)


class WeightedKDB(KDBClassifier):
    """KDB with numbers as numbers, weighed."""

    def __init__(
        self,
        *,
        numeric: str = "gaussian",
        numeric_weights: str | None = "leave_one_out",
        **shared: Any,
    ) -> None:
        super().__init__(numeric=numeric, numeric_weights=numeric_weights, **shared)


class FourNetworks(AveragedKDBClassifier):
    """Averaged KDB of four networks, which are learned in no time."""

    def __init__(self, *, n_networks: int | None = 4, **shared: Any) -> None:
        super().__init__(n_networks=n_networks, **shared)


class OneClimb(BayesianNetworkClassifier):
    """A network by a single climb, which a search with restarts starts from."""

    def __init__(self, *, n_restarts: int = 1, **shared: Any) -> None:
        super().__init__(n_restarts=n_restarts, **shared)


class OneStart(LatentClassNBClassifier):
    """Latent classes by expectation maximisation from one start."""

    def __init__(self, *, n_restarts: int = 1, **shared: Any) -> None:
        super().__init__(n_restarts=n_restarts, **shared)


VARIANTS: dict[str, type[BayesianClassifier]] = {
    "gaussian_nb": GaussianNaiveBayes,
    "gaussian_tan": GaussianTAN,
    "gaussian_kdb": GaussianKDB,
    "weighted_kdb": WeightedKDB,
    "four_networks": FourNetworks,
    "one_climb": OneClimb,
    "one_start": OneStart,
}
