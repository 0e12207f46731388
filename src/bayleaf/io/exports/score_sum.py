"""Class scores as sums of terms over joint states, for formats that hold sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.occupied_terms import SumTerm, averaged_terms
from bayleaf.io.formats.full_tables import full_tables
from bayleaf.models.predictor import Predictor
from bayleaf.models.support.shipped import ShippedNetwork
from bayleaf.wording import name_list

# Coefficients beyond which no document is written.
MAX_COEFFICIENTS = 1_000_000
_WHAT_SUMS = (
    "PMML holds models whose score is a sum of table look-ups: naive Bayes, TAN, KDB, "
    "networks without latent variables, and averaged KDB of tables alone"
)


@dataclass(frozen=True)
class ScoreSum:
    """Scores of classes as a sum.

    Parameters
    ----------
    intercept : ndarray of shape (n_classes,)
        Scores before any feature is seen, nats.
    terms : sequence of SumTerm
        What joint states add.
    inner : frozenset of int
        Features whose missing cells would have to be summed out.
    codings : sequence of sequence of ndarray
        Of each coding the state of each feature's states.
    """

    intercept: NDArray[np.float64]
    terms: Sequence[SumTerm]
    inner: frozenset[int]
    codings: Sequence[Sequence[NDArray[Any]]] = ()


def score_sum(predictor: Predictor) -> ScoreSum:
    """Return the sum that a model's scores are.

    Raises
    ------
    ValueError
        If they are none, or the model predicts under a loss matrix.
    """
    if predictor.loss is not None:
        raise ValueError(
            "PMML's regression predicts the most probable class, but this model has a "
            "loss matrix; fit without loss"
        )
    shipped = predictor.model.shipped
    if isinstance(shipped, ShippedNetwork):
        found = _network_sum(shipped)
    elif getattr(shipped, "engine", None) == "averaged":
        beside = {"linear", "trees"} & set(shipped.values)  # type: ignore[union-attr]
        if beside:
            words = {"linear": "numbers as regressions", "trees": "class trees"}
            raise ValueError(
                f"{_WHAT_SUMS}; this average holds "
                f"{name_list(sorted(words[b] for b in beside))} too; fit with "
                "linear_families=False and class_trees=False"
            )
        found = _average_sum(shipped.values)  # type: ignore[union-attr]
    else:
        raise ValueError(f"{_WHAT_SUMS}; write this model to .onnx instead")
    size = sum(len(term.rows) * len(found.intercept) for term in found.terms)
    if size > MAX_COEFFICIENTS:
        raise ValueError(
            f"as PMML this model has {size:,} coefficients, more than "
            f"{MAX_COEFFICIENTS:,}; fit with fewer parents or networks"
        )
    return found


def _network_sum(shipped: ShippedNetwork) -> ScoreSum:
    """Families that the class is in, as terms."""
    if set(shipped.roles) - {"feature", "class"}:
        raise ValueError(
            f"{_WHAT_SUMS}; this one has latent variables; write it to .onnx instead"
        )
    network = shipped.network
    last = len(network.domain) - 1
    cards = network.domain.cards
    intercept = np.zeros(cards[last])
    if shipped.class_weight is not None:
        intercept += _logs(shipped.class_weight)
    terms, inner = [], set()
    for table in full_tables(network):
        family = (*table.parents, table.child)
        inner |= set(table.parents) - {last}
        if last not in family:
            continue
        logs = _logs(table.rows).reshape([cards[v] for v in family])
        features = [v for v in family if v != last]
        by_class = np.moveaxis(logs, family.index(last), -1)
        if not features:
            intercept += by_class
            continue
        states = np.stack(
            np.unravel_index(np.arange(by_class[..., 0].size), by_class.shape[:-1]), 1
        )
        rows = by_class.reshape(-1, cards[last])
        terms.append(SumTerm(tuple(features), None, states, rows))
    return ScoreSum(intercept, terms, frozenset(inner))


def _average_sum(values: Mapping[str, Any]) -> ScoreSum:
    """Occupied joint states of all families of an average, as terms."""
    terms = list(averaged_terms(values))
    if "curves" in values:
        curves = values["curves"]
        for feature, curve in zip(curves["features"], curves["curves"], strict=True):
            states = np.arange(len(curve))[:, None]
            terms.append(SumTerm((feature,), None, states, curve))
    # What is unknown says nothing, so no cell has to be summed out.
    intercept = np.array(values["base"], dtype=np.float64)
    return ScoreSum(intercept, terms, frozenset(), values["codings"])


def _logs(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms, all of them numbers."""
    if not (probabilities > 0).all():
        raise ValueError(
            "PMML's regression has no term for a probability of zero, which this model "
            "holds; fit with smoothing, or write it to .onnx"
        )
    return np.log(probabilities)
