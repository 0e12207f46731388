"""Arcs of averages, weighted by what two features share within the classes."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import bayleaf
from bayleaf.models.texts.picture import SHARED

NAMES = ("a", "b", "c", "d")


def fitted(kind: type[Any]) -> Any:
    """An average of networks of four features that lean on one another."""
    rng = np.random.default_rng(3)
    label = rng.integers(0, 2, 400)
    columns = [rng.integers(0, 3, 400)]
    for k in range(1, 4):
        follows = rng.random(400) < 0.3 + 0.15 * k
        columns.append(np.where(follows, columns[-1], (label + k) % (2 + k % 2)))
    table = pa.table(
        {name: [f"s{v}" for v in own] for name, own in zip(NAMES, columns, strict=True)}
    )
    return kind().fit(table, label).model_


def shared(joint: NDArray[np.float64]) -> float:
    """I(X; Y | Z) of P(z, x, y) from its definition, nats."""
    total = 0.0
    for z, x, y in itertools.product(*map(range, joint.shape)):
        if joint[z, x, y] > 0:
            apart = joint[z, x].sum() * joint[z, :, y].sum()
            total += joint[z, x, y] * math.log(joint[z, x, y] * joint[z].sum() / apart)
    return total


def one_dependence(model: Any, parent: int, child: int) -> NDArray[np.float64]:
    """P(class, parent, child) in the network of a super-parent."""
    above, below = model._states(parent), model._states(child)
    given = model.child_probabilities[:, above, below]
    table = model.prior[:, None] * model.parent_probabilities[:, above]
    return np.asarray(table[:, :, None] * given)


def two_dependence(model: Any, parent: int, child: int) -> list[NDArray[np.float64]]:
    """P(class, parent, child) in each network with that arc, from its whole joint."""
    found = []
    for own in model.networks:
        if parent in own.network.dag.parents[child]:
            pieces = [(c.probabilities, list(c.family)) for c in own.network.cpds]
            parts = itertools.chain.from_iterable(pieces)
            found.append(np.einsum(*parts, [4, parent, child]))
    return found


def weights(model: Any) -> dict[frozenset[int], float]:
    """Weight of each pair of features that the picture joins."""
    return {frozenset(a[:2]): a[2] for a in model.picture.arcs if a[2] is not None}


def test_aode_weighs_a_pair_by_its_mean_information_in_both_networks() -> None:
    model = fitted(bayleaf.AODEClassifier)
    found = weights(model)
    assert len(found) == 6
    for i, j in itertools.combinations(range(4), 2):
        both = [shared(one_dependence(model, *own)) for own in ((i, j), (j, i))]
        assert found[frozenset((i, j))] == pytest.approx(np.mean(both), abs=1e-12)


def test_a2de_weighs_a_pair_by_its_mean_information_where_it_is_joined() -> None:
    model = fitted(bayleaf.A2DEClassifier)
    found = weights(model)
    assert len(found) == 6
    for i, j in itertools.combinations(range(4), 2):
        joints = two_dependence(model, i, j) + two_dependence(model, j, i)
        expected = np.mean([shared(joint) for joint in joints])
        assert found[frozenset((i, j))] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", [bayleaf.AODEClassifier, bayleaf.A2DEClassifier])
def test_the_arcs_lead_from_what_tells_more_of_the_class(kind: type[Any]) -> None:
    model = fitted(kind)
    told = []
    for feature in range(4):
        joint = one_dependence(fitted(bayleaf.AODEClassifier), feature, feature)
        own = np.einsum("cii->ic", joint)
        told.append(shared(own[None]))
    for parent, child, weight in model.picture.arcs:
        if weight is not None:
            assert told[parent] >= told[child]
    assert model.picture.weights == SHARED
