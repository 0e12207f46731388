"""Paths from a group variable to the class, measured against enumerated joints."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from bayleaf import BayesianNetwork, TANClassifier
from bayleaf.data.codes import Codes
from bayleaf.datasets import load_heart
from bayleaf.evaluation import audit
from bayleaf.evaluation.audits.routes import (
    ALL_KNOWN,
    ALONE,
    Path,
    RouteCase,
    Routes,
    routes_of_feature,
)
from bayleaf.models.networks.network_model import NetworkPosteriorModel

GROUP, JOB, TEST, Y = range(4)


def chain() -> BayesianNetwork:
    """Group to job to class, and group and class to a test."""
    rng = np.random.default_rng(0)
    return BayesianNetwork.from_tables(
        states={name: ["0", "1"] for name in ("group", "job", "test", "y")},
        parents={"job": ["group"], "y": ["job"], "test": ["group", "y"]},
        tables={
            "group": rng.dirichlet([3, 3]),
            "job": rng.dirichlet([1, 1], 2),
            "y": rng.dirichlet([1, 1], 2),
            "test": rng.dirichlet([1, 1], (2, 2)),
        },
    )


def joint_of(network: BayesianNetwork) -> np.ndarray:
    """P of all joint states, by the definition, axes as the variables."""
    cards = network.domain.cards
    joint = np.empty(cards)
    for codes in itertools.product(*map(range, cards)):
        factors = [
            cpd.probabilities[tuple(codes[v] for v in cpd.family)]
            for cpd in network.cpds
        ]
        joint[codes] = np.prod(factors)
    return joint


def information(joint: np.ndarray, a: int, b: int, given: tuple[int, ...]) -> float:
    """I(a; b | given) in nats from a joint table, by its definition."""
    kept = (a, b, *given)
    table = np.einsum(joint, list(range(joint.ndim)), list(kept))
    total = 0.0
    for codes in itertools.product(*map(range, table.shape)):
        x, y, *z = codes
        p_z = table[(slice(None), slice(None), *z)].sum()
        p_xz, p_yz = (
            table[(x, slice(None), *z)].sum(),
            table[(slice(None), y, *z)].sum(),
        )
        p = table[codes]
        total += p * np.log(p * p_z / (p_xz * p_yz))
    return total


@pytest.fixture(scope="module")
def routes() -> Routes:
    """How the group reaches the class of the network."""
    model = NetworkPosteriorModel(chain())
    nothing = Codes.from_columns([np.zeros(1, dtype=int)] * 3, (2, 2, 2))
    case = RouteCase(model, nothing, np.zeros(1, dtype=np.intp), "y", withheld=False)
    return routes_of_feature(case, GROUP, "group")


def test_open_paths_and_their_information_are_those_of_the_joint(routes) -> None:
    joint = joint_of(chain())
    found = {(path.names, path.when): path for path in routes.paths}
    assert set(found) == {
        (("group", "job", "y"), ALONE),
        (("group", "test", "y"), ALL_KNOWN),
    }
    chained = found[("group", "job", "y"), ALONE]
    assert chained.forward == (True, True)
    assert chained.information == pytest.approx(
        [information(joint, GROUP, JOB, ()), information(joint, JOB, Y, ())]
    )
    through_test = found[("group", "test", "y"), ALL_KNOWN]
    assert through_test.forward == (True, False)
    assert through_test.information == pytest.approx(
        [information(joint, GROUP, TEST, (Y,)), information(joint, Y, TEST, (GROUP,))]
    )


def test_the_information_on_the_class_is_that_of_the_joint(routes) -> None:
    expected = information(joint_of(chain()), GROUP, Y, ())
    assert routes.information == pytest.approx(expected)


def test_proxies_share_what_the_joint_says(routes) -> None:
    joint = joint_of(chain())
    assert {proxy.feature for proxy in routes.proxies} <= {"job", "test"}
    assert routes.proxies
    for proxy in routes.proxies:
        other = {"job": JOB, "test": TEST}[proxy.feature]
        assert proxy.with_group == pytest.approx(information(joint, GROUP, other, ()))
        assert proxy.with_class == pytest.approx(information(joint, other, Y, ()))


def test_proxies_of_a_column_that_is_no_feature_are_counted_in_the_rows() -> None:
    heart = load_heart()
    without = heart.X.drop_columns(["sex"])
    model = TANClassifier().fit(without, heart.y)
    (routes,) = audit(model, heart.frame, "disease", by="sex").routes
    first = routes.proxies[0]
    codes = np.asarray(heart.frame.column("thallium_scan").to_pylist(), dtype=str)
    sex = np.asarray(heart.frame.column("sex").to_pylist(), dtype=str)
    assert (first.feature, routes.proxies_from) == ("thallium_scan", "rows")
    assert first.with_group == pytest.approx(mutual_info_score(codes, sex))
    assert "does not read this column" in routes.note


def test_a_path_is_written_with_its_arrows_and_numbers() -> None:
    path = Path(("a", "b", "y"), (True, False), (0.25, None), ALONE)
    assert path.to_text() == "a -[0.3607]-> b <- y"
