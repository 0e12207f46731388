"""Learning batch by batch, for classifiers whose questions to the counts are fixed."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.callbacks import with_callbacks
from bayleaf.classifiers.shared.parameters import (
    AUTO,
    CONDITIONAL,
    GAUSSIAN,
    encoder_rules,
)
from bayleaf.classifiers.shared.training import class_variable
from bayleaf.counts.source import CountSource
from bayleaf.counts.stored import StoredCounts
from bayleaf.counts.table_counts import rows_by_state
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.encoder.learning import Target, learn_encoder
from bayleaf.data.random_state import random_generator
from bayleaf.wording import quoted


class IncrementalClassifier(BayesianClassifier):
    """Base of classifiers that always request the same counts and so can add them up.

    `stored_counts_` are the sums over all batches so far.
    """

    # Whether other rows may lead to other families, all of them sums of pairs.
    chooses_structure: ClassVar[bool] = False

    def _kept(self, counts: CountSource) -> CountSource:
        if self.chooses_structure:
            # Pairs are many, and kept only where batches follow.
            self.__dict__.pop("stored_counts_", None)
            return counts
        return self._stored(counts)

    def _stored(self, counts: CountSource) -> StoredCounts:
        """Counts that remember what they were asked."""
        self.stored_counts_ = StoredCounts(counts)
        if self.chooses_structure:
            self.stored_counts_.keep_pairs()
        return self.stored_counts_

    def _learn_from(
        self, counts: CountSource, class_variable: Variable, rng: np.random.Generator
    ) -> None:
        super()._learn_from(counts, class_variable, rng)
        if counts is getattr(self, "stored_counts_", None):
            # Asked now, so that it is remembered when the rows are gone.
            rows_by_state(counts)
            self.stored_counts_.seal()

    @with_callbacks  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from one more batch of rows.

        After any number of batches the model equals that of `fit` on all their rows
        together, as long as no column is numeric: numeric columns keep the cut points
        and integer columns the kind that the first batch gives them. TAN and KDB choose
        their structure anew.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            The batch.
        y : array-like of shape (n_rows,)
            Class labels.
        classes : array-like of shape (n_classes,), optional
            All labels that will ever occur; needed in the first call only.
        sample_weight : array-like of shape (n_rows,), optional
            Weights >= 0.

        Returns
        -------
        IncrementalClassifier
            The estimator itself.

        Raises
        ------
        ValueError
            If `classes` is missing in the first call or differs in a later one, or a
            label is not among them.
        """
        self._refuse_leave_one_out()
        with self._told_to_callbacks(X, y, sample_weight, "partial_fit"):
            self._remember_fit()
            first_call = not hasattr(self, "stored_counts_")
            if first_call and hasattr(self, "model_"):
                raise ValueError(
                    "a model read from a file holds no counts to add to; fit it anew"
                )
            self._check_classes(classes, first_call)
            learn = self._first_batch if first_call else self._next_batch
            learn(X, y, sample_weight)
        return self

    def _remember_fit(self) -> None:
        """Keep the counts of what `fit` learned from, as long as they are known."""
        if hasattr(self, "stored_counts_") or not hasattr(self, "model_"):
            return
        known = getattr(self, "_counts", None)
        if self._training_codes is not None:
            self._stored(self._count(self._training_codes)).seal()
        elif known is not None:
            self._stored(known.tables).seal()

    def _refuse_leave_one_out(self) -> None:
        """Raise if a parameter asks for rows that learning by batches does not keep."""
        for name, value in (
            ("smoothing", self.smoothing == AUTO),
            ("calibration", self.calibration is not None),
            ("objective", getattr(self, "objective", None) == CONDITIONAL),
            ("numeric", getattr(self, "numeric", None) == GAUSSIAN),
        ):
            if value:
                raise ValueError(
                    f"{name}={quoted(getattr(self, name))} needs all rows at once, "
                    "which partial_fit does not keep; use fit, or another value"
                )

    def _check_classes(self, classes: Any, first_call: bool) -> None:
        """Keep the classes of the first call; raise if a later call changes them."""
        if classes is None:
            if first_call:
                raise ValueError(
                    "classes must be passed on the first call to partial_fit: "
                    "all labels that will ever occur"
                )
            return
        given = np.unique(np.asarray(classes))
        if first_call:
            self._announced_classes = given
        elif not np.array_equal(given, self.classes_):
            raise ValueError(
                f"classes={given.tolist()} differs from the classes of the first call "
                f"to partial_fit, {self.classes_.tolist()}; pass the same or none"
            )

    def _first_batch(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn domain and counts from the first rows."""
        announced = self.__dict__.pop("_announced_classes")
        batch = self._training_table(X, y, sample_weight, announced)
        self.classes_ = batch.classes
        target = Target(class_variable(X, y, self.classes_), batch.class_codes)
        rng = random_generator(self.random_state)
        self.encoder_, codes = learn_encoder(
            batch.parts,
            target,
            batch.weights,
            self._chosen_discretizer(rng),
            encoder_rules(self),
            allow_empty=True,
        )
        self._learn_from(self._stored(self._count(codes)), target.variable, rng)

    def _next_batch(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Add the counts of further rows, over a domain that may grow."""
        batch = self._training_table(X, y, sample_weight, self.classes_, reset=False)
        class_variable = self.model_.domain[-1]
        encoder = self.encoder_.extended(batch.parts)
        codes = encoder.transform(batch.parts).codes.with_column(
            batch.class_codes, class_variable.n_states, batch.weights
        )
        before = Domain((*self.encoder_.domain.variables, class_variable))
        after = Domain((*encoder.domain.variables, class_variable))
        self.stored_counts_ = self.stored_counts_.grown(
            before, after, self._count(codes)
        )
        if self.chooses_structure:
            self.stored_counts_.keep_pairs()
        self.encoder_ = encoder
        rng = random_generator(self.random_state)
        self._learn_from(self.stored_counts_, class_variable, rng)
