"""What a fitted classifier is: network, arcs, summary, shapes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bayleaf.classifiers.shared.classifier_parts import ClassifierParts
from bayleaf.classifiers.shared.constraints.edge_parameters import edge_remarks
from bayleaf.classifiers.shared.constraints.monotone_features import monotone_remarks
from bayleaf.data.codes import Codes
from bayleaf.describe.summary import Summary, summarize
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.model_kind import AVERAGES_NETWORKS
from bayleaf.models.texts.feature_shape import FeatureShape
from bayleaf.wording import name_list, quoted

if TYPE_CHECKING:
    from bayleaf.io.native.count_store import CountStore


class FittedClassifier(ClassifierParts):
    """What can be looked at once a classifier is fitted."""

    def shape(self, feature: str | int) -> FeatureShape:
        """What one feature says of the classes alone, state by state.

        Parameters
        ----------
        feature : str or int
            Name of the feature.

        Returns
        -------
        FeatureShape
            A step curve for a numeric feature, bars for a nominal one, with the weight
            of the training rows in each state, as long as the rows are known: not
            after pickling, or reading a file of most kinds.

        Raises
        ------
        ValueError
            If there is no such feature.
        """
        check_is_fitted(self, "model_")
        names = self.model_.domain.names[:-1]
        if feature not in names:
            raise ValueError(
                f"there is no feature {quoted(feature)}; the features are "
                f"{name_list(names)}"
            )
        place = names.index(feature)
        found = self.model_.feature_shape(place, tuple(self.classes_.tolist()))
        assert isinstance(found, FeatureShape)
        codes = self._training_codes
        if found.row_counts.size or codes is None:
            return found
        return replace(found, row_counts=_rows(codes, place, len(found.states)))

    @property
    def network_(self) -> BayesianNetwork:
        """The learned Bayesian network: features, then the class; not calibrated."""
        check_is_fitted(self, "model_")
        network = getattr(self.model_, "network", None)
        if network is None:
            why = getattr(self.model_, "why_no_network", None) or AVERAGES_NETWORKS
            raise AttributeError(f"{type(self).__name__} {why}")
        return cast(BayesianNetwork, network)

    @property
    def edges_(self) -> list[tuple[str | int, str | int]]:
        """Arcs as (parent, child) names, arcs from the class included."""
        check_is_fitted(self, "model_")
        names = self.model_.domain.names
        return [(names[parent], names[child]) for parent, child in self.model_.arcs]

    def summary(self) -> Summary:
        """Class, features, arcs, free parameters, log-likelihood, remarks."""
        check_is_fitted(self, "model_")
        facts = self._predictor(), self.log_likelihood_, self._last_unknown
        found = summarize(type(self).__name__, *facts, self._fit_stamp)
        remarks = [*edge_remarks(self), *monotone_remarks(self)]
        return replace(found, remarks=(*found.remarks, *remarks))

    @property
    def counts_(self) -> CountStore:
        """Counts of the training rows, which add up with those of others.

        Of the class with all pairs of features, and of the model's own families; with
        their states, they take memory by the square of the number of features.
        """
        from bayleaf.classifiers.shared.streaming.from_counts import counts_of

        check_is_fitted(self, "model_")
        return counts_of(self)

    def count(self, table: Any, *, sample_weight: str | None = None) -> CountStore:
        """Count other rows as this model reads them: its columns, at its cut points.

        Parameters
        ----------
        table : data frame, or what `fit` reads in batches
            With the columns of training and the class; others are left out. Values
            that training did not contain become states, unless ``unknown="error"``.
        sample_weight : str, optional
            The column of row weights.

        Returns
        -------
        CountStore
            Of the same tables as `counts_`, so that both can be added.

        Raises
        ------
        ValueError
            If a column is missing, or there are no rows.
        """
        from bayleaf.classifiers.shared.streaming.from_counts import (
            count_batches,
            families_of,
            reading_of,
        )
        from bayleaf.streams.sources import open_source

        check_is_fitted(self, "model_")
        source, families = open_source(table), families_of(self.model_)
        return count_batches(source, reading_of(self), families, sample_weight)

    @classmethod
    def from_counts(cls, counts: CountStore, **parameters: Any) -> Self:
        """Learn from counts alone: of other days, of several sites, less some rows.

        Parameters
        ----------
        counts : CountStore
            Of a table, or of several whose counts were added.
        **parameters
            Of the classifier.

        Returns
        -------
        FittedClassifier
            The model that `fit` gives on all the rows counted, bit for bit, at the same
            cut points.

        Raises
        ------
        ValueError
            If the counts lack a table that the classifier asks for, naming its
            variables, or it learns from rows.
        """
        from bayleaf.classifiers.shared.streaming.from_counts import fit_to_counts

        classifier = cls(**parameters)
        fit_to_counts(classifier, counts)
        return classifier


def _rows(codes: Codes, feature: int, n_states: int) -> NDArray[np.float64]:
    """Weight of the rows in each state of a feature."""
    column = codes.column(feature)
    counts = np.bincount(column, weights=codes.weights, minlength=n_states)
    return counts[:n_states].astype(np.float64)
