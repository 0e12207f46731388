"""Description length of a classifier and of a table given it, in bits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.parameters import check_choice
from bayleaf.classifiers.shared.training import row_weights
from bayleaf.evaluation.left_out_gain import known_class_codes
from bayleaf.results.document import Document, Facts
from bayleaf.results.result import Result
from bayleaf.typing import ColumnLike, NumbersLike, TableLike
from bayleaf.wording import brief_fields

CLASS, ALL = "class", "all"
_DATA = {CLASS: "classes given the features", ALL: "classes and features"}


@dataclass(frozen=True)
class DescriptionLength(Result, computed=("total",)):
    """Bits that a classifier, and the rows of a table given it, take.

    Parameters
    ----------
    data : float
        Bits of the rows, see `covers`; infinite if one is impossible.
    parameters : float
        Bits of the free parameters, half of log2 N each, N the weight of the rows.
    structure : float
        Bits of the structure: the parents of each variable, and latent variables.
    covers : {"class", "all"}
        Whether the data are the classes given the features, or all columns.
    """

    data: float
    parameters: float
    structure: float
    covers: str = CLASS

    __repr__ = brief_fields

    @property
    def total(self) -> float:
        """The description length in bits; the smaller, the better."""
        return self.data + self.parameters + self.structure

    def document(self) -> Document:
        """The total and its parts."""
        parts = {
            "total": self.total,
            "data": self.data,
            "parameters": self.parameters,
            "structure": self.structure,
        }
        rows = [(label, f"{bits:.2f} bits") for label, bits in parts.items()]
        rows[1] = "data", f"{rows[1][1]} ({_DATA[self.covers]})"
        return Document("Description length", [Facts(rows)])


def description_length(
    classifier: BayesianClassifier,
    X: TableLike,
    y: ColumnLike,
    sample_weight: NumbersLike | None = None,
    *,
    covers: str = CLASS,
) -> DescriptionLength:
    """Measure how many bits a classifier and a table given it take.

    Parameters
    ----------
    classifier : BayesianClassifier
        A fitted classifier that is one network of tables, with or without latent
        variables.
    X : table of shape (n_rows, n_features)
        The rows to encode, usually those of training.
    y : array-like of shape (n_rows,)
        Their classes.
    sample_weight : array-like of shape (n_rows,), optional
        Weights >= 0. A row of weight 2 equals a repeated one.
    covers : {"class", "all"}, default="class"
        What the bits of the data encode: the classes given the features, by
        `predict_proba`, or classes and observed features, by the joint distribution.

    Returns
    -------
    DescriptionLength
        Shorter is better. Classifiers can be compared where the table, `covers` and,
        for "all", the intervals of numbers are the same: cut points take no bits.

    Raises
    ------
    ValueError
        If the classifier averages networks or has numbers without tables, has trees or
        groups of states as tables, or has latent variables and `covers` is "all"; or if
        `y` contains a label that is not a class of the model.

    Notes
    -----
    Each parameter takes half of log2 N bits and each parent log2 of the number of
    variables, as in desJardins, Rathod and Getoor (2008), section 3.1. A latent
    variable of `HNBClassifier` takes log2 of the number of nodes for each of its two
    children, and log2 of its number of states for each of their joint states. With
    tables by maximum likelihood and ``covers="all"`` the total is what the search for
    networks makes small.

    Examples
    --------
    >>> from bayleaf import NaiveBayesClassifier, TANClassifier
    >>> from bayleaf.datasets import load_heart
    >>> X, y = load_heart(return_X_y=True)
    >>> models = NaiveBayesClassifier().fit(X, y), TANClassifier().fit(X, y)
    >>> nb, tan = (description_length(model, X, y) for model in models)
    >>> nb.total < tan.total
    True
    """
    check_choice("covers", covers, (CLASS, ALL))
    name = type(classifier).__name__
    try:
        network = classifier.network_
        structure = classifier.model_.structure_bits
    except (AttributeError, ValueError) as error:
        raise ValueError(f"{error}; its description length is not defined") from error
    if covers == ALL and len(network.domain) > len(classifier.model_.domain):
        raise ValueError(
            f"{name} has latent variables, whose bits are defined for the classes "
            "alone; use covers='class'"
        )
    codes = known_class_codes(y, classifier.classes_)
    weights = row_weights(sample_weight, len(codes))
    if covers == CLASS:
        log_probabilities = classifier.predict_log_proba(X)
    else:
        log_probabilities = classifier.predict_joint_log_proba(X)
    of_class = log_probabilities[np.arange(len(codes)), codes]
    # A row of weight zero takes no bits, even if it is impossible.
    data = -float(weights[weights > 0] @ of_class[weights > 0]) / math.log(2)
    weight = max(float(weights.sum()), 1.0)
    parameters = 0.5 * classifier.model_.n_parameters * math.log2(weight)
    return DescriptionLength(data, parameters, structure, covers)
