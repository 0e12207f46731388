"""Bagging with votes and boosting of any classifier, and gates over the result."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from bayleaf.classifiers.shared.parameters import check_choice, check_count
from bayleaf.classifiers.shared.training import one_dimensional
from bayleaf.classifiers.shared.voting import (
    bagged,
    best_experts,
    boosted,
    gated,
    vote_sums,
)
from bayleaf.data.class_labels import encode_labels, label_codes
from bayleaf.data.random_state import RandomState, random_generator
from bayleaf.estimator_bases import BaseEstimator, ClassifierMixin
from bayleaf.latent.mixture_experts import check_expert
from bayleaf.typing import ColumnLike, Estimator, NumbersLike, RowsLike, TableLike
from bayleaf.wording import quoted

METHODS = BOOSTING, BAGGING = ("boosting", "bagging")


class EnsembleClassifier(ClassifierMixin, BaseEstimator):
    """Classifiers that vote, learned from reweighted or resampled rows.

    Boosting and bagging as Wiering (2003) compares them with hierarchical mixtures.
    scikit-learn's ``BaggingClassifier`` averages probabilities instead of counting
    votes; its ``AdaBoostClassifier`` ends where a classifier is wrong on more than half
    of the weight, instead of drawing other weights.

    Parameters
    ----------
    estimator : classifier
        What is combined: any classifier that takes `sample_weight` and has
        `predict_proba`.
    method : {"boosting", "bagging"}, default="boosting"
        AdaBoost.M1, in which each classifier learns from weights that are higher where
        the one before it was wrong, and votes by its error; or bootstrap samples with
        equal votes.
    gate : classifier, optional
        Instead of votes: learns from the rows which classifier is most certain of the
        true class, and weights their probabilities row by row, as
        ``NaiveBayesClassifier()`` does in hierarchical mixtures.
    n_estimators : int, default=10
        Number of classifiers; boosting ends with one that makes no error.
    max_samples : float, default=0.9
        Rows of a bootstrap sample, as a share of all (bagging).
    random_state : int, RandomState, Generator or None, default=None
        Source of samples, of redrawn weights, and of seeds of classifiers.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimators_ : list of classifier
        The fitted classifiers.
    estimator_weights_ : ndarray of shape (n_estimators,)
        The vote of each.
    gate_ : classifier
        The fitted gate, if there is one; its classes are positions in `estimators_`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where all of them are strings.

    References
    ----------
    Wiering, M. A. (2003). Hierarchical mixtures of naive Bayes classifiers. Utrecht
    University, UU-CS-2003-003, section 4. Freund, Y., Schapire, R. E. (1996).
    Experiments with a new boosting algorithm. ICML, 148-156.

    Examples
    --------
    >>> from bayleaf import EnsembleClassifier, NaiveBayesClassifier
    >>> from bayleaf.datasets import load_heart
    >>> X, y = load_heart(return_X_y=True)
    >>> model = EnsembleClassifier(NaiveBayesClassifier(), random_state=0).fit(X, y)
    >>> len(model.estimators_)
    10
    """

    def __init__(
        self,
        estimator: Estimator | None,
        *,
        method: str = BOOSTING,
        gate: Estimator | None = None,
        n_estimators: int = 10,
        max_samples: float = 0.9,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.gate = gate
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def fit(
        self, X: TableLike, y: ColumnLike, sample_weight: NumbersLike | None = None
    ) -> Self:
        """Learn the classifiers and, if there is one, the gate.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            What the classifiers take.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), optional
            Weights >= 0. Weight 0 equals a removed row, weight 2 a repeated one; a
            bootstrap sample then depends on the order of the rows.

        Returns
        -------
        EnsembleClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError, TypeError
            If a parameter, a weight, or a column cannot be used.
        """
        self._check()
        rng = random_generator(self.random_state)
        self.classes_, codes = encode_labels(one_dimensional(y))
        if not len(codes):
            raise ValueError("X and y have no rows; give at least one")
        weights = np.ones(len(codes))
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, weights, dtype=np.float64, ensure_non_negative=True
            )

        def learn(weights: NDArray[np.float64]) -> Any:
            return _seeded(self.estimator, rng).fit(X, y, sample_weight=weights)

        if self.method == BAGGING:
            self.estimators_ = bagged(
                learn, weights, self.n_estimators, self.max_samples, rng
            )
            votes = [1.0] * len(self.estimators_)
        else:
            self.estimators_, votes = boosted(
                learn,
                lambda model: self._answers(model, X) != codes,
                weights,
                self.n_estimators,
                rng,
            )
        self.estimator_weights_ = np.array(votes)
        self.n_features_in_ = self.estimators_[0].n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(self.estimators_[0], "feature_names_in_"):
            self.feature_names_in_ = self.estimators_[0].feature_names_in_
        if self.gate is not None:
            best = best_experts(self._outputs(X), codes)
            self.gate_ = _seeded(self.gate, rng).fit(X, best, sample_weight=weights)
        return self

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """Class of most votes, or most probable by the gate, shape (n_rows,).

        Ties go to the earlier class.
        """
        codes = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: RowsLike) -> NDArray[np.float64]:
        """Shares of the votes, or probabilities by the gate, (n_rows, n_classes)."""
        check_is_fitted(self, "estimators_")
        if self.gate is None:
            answers = [self._answers(model, X) for model in self.estimators_]
            votes = self.estimator_weights_ / self.estimator_weights_.sum()
            return vote_sums(answers, votes.tolist(), len(self.classes_))
        outputs = self._outputs(X)
        gates = np.zeros((outputs.shape[1], len(outputs)))
        gates[:, self.gate_.classes_] = self.gate_.predict_proba(X)
        return gated(gates, outputs)

    def _check(self) -> None:
        """Raise ValueError or TypeError if a parameter is out of range."""
        check_choice("method", self.method, METHODS)
        check_count("n_estimators", self.n_estimators, 1)
        check_expert(self.estimator, "estimator")
        if self.gate is not None:
            check_expert(self.gate, "gate")
        if not 0.0 < self.max_samples <= 1.0:
            raise ValueError(
                "max_samples must be a number above 0 and at most 1, got "
                f"{quoted(self.max_samples)}"
            )

    def _answers(self, model: Any, X: Any) -> NDArray[np.intp]:
        """Class codes that a classifier predicts, shape (n_rows,)."""
        return label_codes(model.predict(X), self.classes_)

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities of all classifiers, (n_estimators, n_rows, n_classes)."""
        tables = []
        for model in self.estimators_:
            known = model.predict_proba(X)
            table = np.zeros((len(known), len(self.classes_)))
            table[:, label_codes(model.classes_, self.classes_)] = known
            tables.append(table)
        return np.stack(tables)


def _seeded(estimator: Any, rng: np.random.Generator) -> Any:
    """A clone with a seed of its own, where it takes one."""
    model = clone(estimator)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=int(rng.integers(2**31)))
    return model
