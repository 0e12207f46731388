"""What the states of a feature say alone, for every classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bayleaf.data.codes import Codes
from bayleaf.models.texts.feature_shape import FeatureShape
from bayleaf.wording import name_list, quoted


class ShapesOfFeatures:
    """Gives a fitted classifier the shapes of its features."""

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
        fitted: Any = self
        names = fitted.model_.domain.names[:-1]
        if feature not in names:
            raise ValueError(
                f"there is no feature {quoted(feature)}; the features are "
                f"{name_list(names)}"
            )
        place = names.index(feature)
        found = fitted.model_.feature_shape(place, tuple(fitted.classes_.tolist()))
        assert isinstance(found, FeatureShape)
        codes = fitted._training_codes
        if found.row_counts.size or codes is None:
            return found
        return replace(found, row_counts=_rows(codes, place, len(found.states)))


def _rows(codes: Codes, feature: int, n_states: int) -> NDArray[np.float64]:
    """Weight of the rows in each state of a feature."""
    column = codes.column(feature)
    counts = np.bincount(column, weights=codes.weights, minlength=n_states)
    return counts[:n_states].astype(np.float64)
