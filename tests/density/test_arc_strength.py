"""Arc strength counts arcs of bootstrap networks and averages them without cycles."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from bayleaf import BayesianNetworkEstimator
from bayleaf.density.arc_strength import ArcStrength

NETWORKS = [
    [("a", "b"), ("b", "c")],
    [("b", "a"), ("b", "c")],
    [("a", "b"), ("c", "a")],
    [("a", "b")],
]


def test_strength_and_direction_are_shares_of_networks() -> None:
    strength = ArcStrength.from_networks(["a", "b", "c"], NETWORKS)
    found = {(arc.parent, arc.child): arc for arc in strength.arcs}
    assert list(found) == [("a", "b"), ("b", "c"), ("c", "a")]
    assert (found["a", "b"].strength, found["a", "b"].direction) == (1.0, 0.75)
    assert (found["b", "c"].strength, found["b", "c"].direction) == (0.5, 1.0)
    assert "a -> b: in 100 % of the networks, 75 % of them" in str(strength)


def test_the_averaged_network_leaves_out_what_closes_a_cycle() -> None:
    strength = ArcStrength.from_networks(["a", "b", "c"], NETWORKS)
    assert list(strength.averaged_network(0.0).arcs) == [(0, 1), (1, 2)]
    assert list(strength.averaged_network(0.6).arcs) == [(0, 1)]
    with pytest.raises(ValueError, match="threshold must be between 0 and 1"):
        strength.averaged_network(2.0)


def chain(n_rows: int) -> pa.Table:
    """Rows in which b follows a, and c nothing."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, n_rows)
    b = np.where(rng.random(n_rows) < 0.9, a, 1 - a)
    return pa.table({"a": a, "b": b, "c": rng.integers(0, 2, n_rows)})


def test_a_sure_arc_is_in_all_networks() -> None:
    model = BayesianNetworkEstimator(random_state=3)
    table = chain(200)
    strength = model.arc_strength(table, n_bootstraps=8)
    first = strength.arcs[0]
    assert {first.parent, first.child} == {"a", "b"}
    assert first.strength == 1.0
    assert all(arc.strength < 0.5 for arc in strength.arcs[1:])
    again = model.arc_strength(table, n_bootstraps=8)
    assert (again.frequencies == strength.frequencies).all()
    assert not hasattr(model, "network_")


def test_rows_without_weight_are_never_drawn() -> None:
    table = chain(100)
    noise = pa.table({"a": [0, 1] * 200, "b": [1, 0] * 200, "c": [0] * 400})
    both = pa.concat_tables([table, noise])
    weights = np.repeat([1.0, 0.0], [100, 400])
    model = BayesianNetworkEstimator(random_state=1)
    one = model.arc_strength(table, n_bootstraps=5)
    other = model.arc_strength(both, n_bootstraps=5, sample_weight=weights)
    assert (one.frequencies == other.frequencies).all()


def test_the_averaged_network_is_fitted_to_a_table() -> None:
    strength = ArcStrength.from_networks(("a", "b"), [[("a", "b")]] * 3)
    network = strength.averaged_network(threshold=0.5).fit(
        {"a": ["n", "y", "y"], "b": ["n", "y", "n"]}
    )
    assert network.edges == [("a", "b")]
