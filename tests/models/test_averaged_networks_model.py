"""The mean of networks against the whole table of its joint distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.models import AveragedNetworksModel
from bayleaf.models.support.support_counts import SupportCounts
from offenders import check_each

CARDS = (2, 3, 2, 4, 3)
# Parents of each feature; a chain, a network with a lone feature, a diamond.
PARENTS = [
    [(4,), (4, 0), (4, 1), (4, 2)],
    [(4, 3), (4,), (), (4, 1)],
    [(4,), (4, 0), (4, 0), (4, 1, 2)],
]


@pytest.fixture
def model() -> AveragedNetworksModel:
    """Three networks that share P(first | class)."""
    rng = np.random.default_rng(0)
    variables = [
        Variable(f"v{i}", tuple(map(str, range(card)))) for i, card in enumerate(CARDS)
    ]

    def table(parents: tuple[int, ...], child: int) -> TableCPD:
        shape = tuple(CARDS[parent] for parent in parents)
        return TableCPD((*parents, child), rng.dirichlet(np.ones(CARDS[child]), shape))

    prior, shared = table((), 4), table((4,), 0)
    networks = [
        [
            shared if (child, parents) == (0, (4,)) else table(parents, child)
            for child, parents in enumerate(network)
        ]
        for network in PARENTS
    ]
    return AveragedNetworksModel.from_networks(
        Domain(tuple(variables)), [[*network, prior] for network in networks], 10_000
    )


@pytest.fixture
def joint(model: AveragedNetworksModel) -> NDArray[np.float64]:
    """The mean of the joint distributions, one axis a variable."""
    total = np.zeros(CARDS)
    for member in model.members:
        arguments: list[Any] = []
        for place in member:
            cpd = model.tables[place]
            arguments += [cpd.probabilities, list(cpd.family)]
        total += np.einsum(*arguments, list(range(5)))
    return total / len(model.members)


def random_codes(seed: int, missing: float) -> Codes:
    """Rows of which some cells are missing."""
    rng = np.random.default_rng(seed)
    columns = [
        np.where(rng.random(40) < missing, card, rng.integers(card, size=40))
        for card in CARDS[:-1]
    ]
    return Codes.from_columns(columns, CARDS[:-1])


def summed(joint: NDArray[np.float64], codes: Codes, row: int) -> NDArray[np.float64]:
    """P(class, what a row has), summed over the rest."""
    states = [int(codes.column(v)[row]) for v in range(4)]
    index = [s if s < c else slice(None) for s, c in zip(states, CARDS, strict=False)]
    return joint[tuple(index)].reshape(-1, CARDS[-1]).sum(axis=0)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_scores_are_those_of_the_mean(
    model: AveragedNetworksModel, joint: NDArray[np.float64], missing: float
) -> None:
    codes = random_codes(1, missing)
    expected = [summed(joint, codes, row) for row in range(codes.n_rows)]
    found = np.exp(model.class_log_scores(codes))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_contributions_add_up(model: AveragedNetworksModel, missing: float) -> None:
    codes = random_codes(2, missing)
    rows = np.arange(codes.n_rows)
    target, against = rows % 3, (rows + 1) % 3
    prior, terms = model.contributions(codes, target, against)
    scores = model.class_log_scores(codes)
    odds = scores[rows, target] - scores[rows, against]
    np.testing.assert_allclose(prior + terms.sum(axis=1), odds, atol=1e-12)
    absent = np.stack([codes.missing(v) for v in range(4)], axis=1)
    assert (terms[absent] == 0).all()


def test_shared_tables_are_held_once(model: AveragedNetworksModel) -> None:
    assert len(model.tables) == 12
    assert model.n_parameters == sum(table.n_parameters for table in model.tables)
    assert model.arcs[:3] == [(4, 0), (3, 0), (4, 1)]


def test_another_prior_changes_the_classes_alone(model: AveragedNetworksModel) -> None:
    codes, prior = random_codes(3, 0.3), np.array([0.7, 0.1, 0.2])
    moved = model.with_class_prior(prior).class_log_scores(codes)
    expected = model.class_log_scores(codes) + np.log(prior / model.class_prior)
    np.testing.assert_allclose(moved, expected, rtol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_certain_tables_are_drawn_as_they_are(
    model: AveragedNetworksModel, missing: float
) -> None:
    rows = tuple(np.full(size.shape, 1e13) for size in model.table_sizes)
    support = SupportCounts(rows, (0.0,) * len(rows), prior_is_learned=True)
    codes = random_codes(4, missing)
    rng = np.random.default_rng(0)
    drawn = model.sample_log_scores(codes, support, 3, rng)
    expected = np.broadcast_to(model.class_log_scores(codes), drawn.shape)
    np.testing.assert_allclose(drawn, expected, atol=1e-4)


@pytest.mark.parametrize(
    "n_draws", [4000, pytest.param(20_000, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_the_mean_of_draws_is_the_score(
    model: AveragedNetworksModel, missing: float, n_draws: int
) -> None:
    # Tables are drawn independently, so expectations multiply.
    rows = tuple(np.full(size.shape, 9.0) for size in model.table_sizes)
    support = SupportCounts(rows, (0.0,) * len(rows), prior_is_learned=False)
    codes = random_codes(5, missing).rows(slice(0, 6))
    rng = np.random.default_rng(0)
    drawn = np.exp(model.sample_log_scores(codes, support, n_draws, rng))
    expected = np.exp(model.class_log_scores(codes))
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - expected) < 5 * error + 1e-12).all()


def test_what_is_no_mean_of_networks_is_refused(model: AveragedNetworksModel) -> None:
    def check(case: tuple[NDArray[np.int64], str]) -> None:
        members, message = case
        with pytest.raises(ValueError, match=message):
            AveragedNetworksModel(model.domain, model.tables, members)

    check_each(
        [
            (np.zeros((0, 5), dtype=np.int64), "there should be networks"),
            (np.zeros((1, 4), dtype=np.int64), "there should be networks"),
            (np.full((1, 5), -1), "there should be networks"),
            (np.full((1, 5), 12), "names what is no table"),
            (np.full((1, 5), 11), "names what is no table"),
            (np.array([[0, 1, 2, 3, 11]]), "every table should be in use"),
        ],
        check,
    )


def test_arcs_in_a_circle_are_refused(model: AveragedNetworksModel) -> None:
    half = np.full((3, 2), 0.5)
    tables = (
        TableCPD((1, 0), half),
        TableCPD((0, 1), np.full((2, 3), 1 / 3)),
        *model.tables[2:4],
        model.tables[-1],
    )
    circle = AveragedNetworksModel(model.domain, tables, np.array([[0, 1, 2, 3, 4]]))
    with pytest.raises(ValueError, match="cycle"):
        circle.check_content()
