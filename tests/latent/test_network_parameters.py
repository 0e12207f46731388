"""Learned parameters equal counting, climb at every step, and find what was hidden."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayleaf import BayesianNetwork
from bayleaf.cpds import DeterministicCPD, Leaf, Split, TreeCPD
from bayleaf.cpds.distribution import GroupedTableCPD
from bayleaf.data.codes import Codes
from bayleaf.graph.dag import DAG
from bayleaf.latent import learn_parameters
from bayleaf.latent.network_parameters import stalled_latents, with_random_tables
from offenders import check_each
from property.networks import domain_of, random_network

CARDS = [2, 3, 2, 2]
GRAPH = DAG(((), (0,), (0, 1), (2,)))


def _network(seed: int = 0) -> BayesianNetwork:
    return random_network(np.random.default_rng(seed), CARDS, GRAPH)


def _rows(seed: int, n_rows: int, holes: float = 0.0) -> Codes:
    """Rows drawn from a network by the chain rule, with random holes."""
    rng = np.random.default_rng(seed)
    network = _network(seed + 100)
    columns: list[Any] = [np.zeros(n_rows, dtype=int) for _ in CARDS]
    for node in network.dag.order:
        parents = tuple(columns[parent] for parent in network.dag.parents[node])
        table = network.cpds[node].probabilities[parents]
        below = np.cumsum(np.broadcast_to(table, (n_rows, CARDS[node])), axis=1)
        columns[node] = (rng.random(n_rows)[:, None] > below[:, :-1]).sum(axis=1)
    for column, card in zip(columns, CARDS, strict=True):
        column[rng.random(n_rows) < holes] = card
    return Codes.from_columns(columns, CARDS)


def _joint(network: BayesianNetwork) -> Any:
    """The whole joint distribution, one axis a variable."""
    joint = np.ones(CARDS)
    for cpd in network.cpds:
        order = np.argsort(cpd.family)
        shape = [CARDS[i] if i in cpd.family else 1 for i in range(len(CARDS))]
        joint = joint * cpd.probabilities.transpose(order).reshape(shape)
    return joint


def _brute_step(network: BayesianNetwork, rows: Codes) -> tuple[list[Any], float]:
    """Expected family counts and log-likelihood by summing over all completions."""
    joint = _joint(network)
    counts = [np.zeros(cpd.cards) for cpd in network.cpds]
    log_likelihood = 0.0
    for row in range(rows.n_rows):
        cells = [int(rows.column(i)[row]) for i in range(len(CARDS))]
        ranges = [range(n) if c == n else [c] for c, n in zip(cells, CARDS)]
        completions = list(itertools.product(*ranges))
        weights = np.array([joint[c] for c in completions])
        log_likelihood += rows.weights[row] * np.log(weights.sum())
        for completion, share in zip(completions, weights / weights.sum()):
            for table, cpd in zip(counts, network.cpds):
                where = tuple(completion[member] for member in cpd.family)
                table[where] += share * rows.weights[row]
    return counts, log_likelihood


def test_complete_rows_give_the_shares_of_counting_bit_for_bit() -> None:
    rows = _rows(0, 500)
    learned = learn_parameters(_network(), rows)
    assert learned.converged
    assert learned.n_iter == 1
    for node, cpd in enumerate(learned.network.cpds):
        counts = np.zeros(cpd.cards)
        np.add.at(counts, tuple(rows.column(i) for i in cpd.family), 1.0)
        np.testing.assert_array_equal(
            cpd.probabilities, counts / counts.sum(axis=-1, keepdims=True)
        )
        experience = learned.network.cpds[node].experience  # type: ignore[attr-defined]
        np.testing.assert_array_equal(experience, counts.sum(axis=-1))


@pytest.mark.filterwarnings("ignore:expectation maximisation ended:RuntimeWarning")
def test_a_step_equals_one_over_all_completions() -> None:
    def check(seed: int) -> None:
        rows, start = _rows(seed, 60, holes=0.3), _network(seed)
        weights = np.random.default_rng(seed).random(60)
        learned = learn_parameters(start, rows, sample_weight=weights, max_iter=1)
        weighted = replace(rows, weights=weights, unit_weights=False)
        counts, before = _brute_step(start, weighted)
        for cpd, table in zip(learned.network.cpds, counts, strict=True):
            expected = table / table.sum(axis=-1, keepdims=True)
            np.testing.assert_allclose(cpd.probabilities, expected, atol=1e-12)
        assert learned.objectives[0] == pytest.approx(before, rel=1e-12)
        after = _brute_step(learned.network, weighted)[1]
        assert learned.log_likelihood == pytest.approx(after, rel=1e-12)

    check_each(range(4), check)


@pytest.mark.filterwarnings("ignore:expectation maximisation ended:RuntimeWarning")
@pytest.mark.parametrize("experience", [0.0, 2.5])
def test_the_objective_never_falls(experience: float) -> None:
    def check(seed: int) -> None:
        start = _network(seed).with_experience(experience)
        rows = _rows(seed, 300, holes=0.4)
        learned = learn_parameters(start, rows, tol=0.0, max_iter=60)
        assert learned.n_iter >= 30
        steps = np.diff(learned.objectives)
        assert (steps >= -1e-9 * abs(learned.objectives[-1])).all()
        assert steps[0] > 0

    check_each(range(3), check)


def test_the_prior_of_experience_counts_like_rows() -> None:
    start, rows = _network(1).with_experience(7.0), _rows(1, 200)
    learned = learn_parameters(start, rows)
    counts = np.zeros(CARDS[0])
    np.add.at(counts, rows.column(0), 1.0)
    expected = (counts + 7.0 * start.cpds[0].probabilities) / 207.0
    np.testing.assert_allclose(
        learned.network.cpds[0].probabilities, expected, rtol=1e-14
    )
    assert learned.network.cpds[0].experience == 207.0  # type: ignore[attr-defined]


def test_rows_that_lack_the_child_add_no_experience() -> None:
    rows = _rows(1, 200)
    columns = [rows.column(v).copy() for v in range(len(CARDS))]
    columns[3][:150] = CARDS[3]
    start = _network(1).with_experience(7.0)
    learned = learn_parameters(start, Codes.from_columns(columns, CARDS))
    seen = np.bincount(columns[2][150:], minlength=CARDS[2])
    experience = learned.network.cpds[3].experience  # type: ignore[attr-defined]
    np.testing.assert_allclose(experience, 7.0 + seen, atol=1e-9)


def test_tables_without_experience_stay_as_they_are() -> None:
    start = _network().with_experience({"v1": 0.0})
    learned = learn_parameters(start, _rows(0, 200, holes=0.2))
    for node in (0, 2, 3):
        assert learned.network.cpds[node] is start.cpds[node]
    assert (learned.network.cpds[1].probabilities != start.cpds[1].probabilities).any()


def test_a_latent_variable_is_found_behind_what_it_explains() -> None:
    rng = np.random.default_rng(5)
    hidden = rng.integers(2, size=3000)
    shown = [np.where(rng.random(3000) < 0.9, hidden, 1 - hidden) for _ in range(4)]
    domain = domain_of([2] * 5)
    graph = DAG(((), (0,), (0,), (0,), (0,)))
    start = random_network(rng, [2] * 5, graph)
    table = {f"v{i + 1}": column for i, column in enumerate(shown)}
    learned = learn_parameters(start, table, n_restarts=4, random_state=0, tol=1e-7)
    assert learned.network.domain == domain
    for cpd in learned.network.cpds[1:]:
        found = np.sort(cpd.probabilities[:, 0])
        np.testing.assert_allclose(found, [0.1, 0.9], atol=0.03)


def test_more_starts_never_end_lower() -> None:
    start, rows = _network(3), _rows(3, 100, holes=0.5)
    one = learn_parameters(start, rows)
    more = learn_parameters(start, rows, n_restarts=5, random_state=0)
    assert more.objectives[-1] >= one.objectives[-1]
    again = learn_parameters(start, rows, n_restarts=5, random_state=0)
    assert again.objectives == more.objectives


def test_threads_change_nothing() -> None:
    start, rows = _network(2), _rows(2, 3000, holes=0.3)
    one, two = (learn_parameters(start, rows, n_jobs=jobs) for jobs in (1, 2))
    assert one.objectives == two.objectives
    for found, expected in zip(one.network.cpds, two.network.cpds, strict=True):
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)


def test_a_weight_counts_like_repeated_rows() -> None:
    start, rows = _network(4), _rows(4, 50, holes=0.3)
    weights = np.random.default_rng(4).integers(3, size=50)
    weighted = learn_parameters(start, rows, sample_weight=weights)
    repeated = learn_parameters(start, rows.rows(np.repeat(np.arange(50), weights)))
    assert weighted.objectives == repeated.objectives


def test_the_leaves_of_a_tree_share_the_counts_of_their_configurations() -> None:
    leaves = [Leaf(np.array([0.5, 0.5])), Leaf(np.array([0.2, 0.8]))]
    tree = TreeCPD((0, 1, 2), (2, 3, 2), Split(1, ((0, 2), (1,)), tuple(leaves)))
    network = _network()
    start = replace(network, cpds=(*network.cpds[:2], tree, network.cpds[3]))
    rows = _rows(0, 400)
    learned = learn_parameters(start, rows).network.cpds[2]
    assert isinstance(learned, TreeCPD)
    chosen = rows.column(2)[rows.column(1) == 1]
    assert learned.probabilities[0, 1, 1] == chosen.mean()
    others = rows.column(2)[rows.column(1) != 1]
    np.testing.assert_allclose(learned.probabilities[:, [0, 2], 1], others.mean())


def test_a_leaf_in_several_places_pools_them_and_stays_one() -> None:
    shared, other = Leaf(np.array([0.5, 0.5])), Leaf(np.array([0.2, 0.8]))
    branches = (Split(0, ((0,), (1,)), (shared, other)), shared)
    tree = TreeCPD((0, 1, 2), (2, 3, 2), Split(1, ((0, 2), (1,)), branches))
    network = _network()
    start = replace(network, cpds=(*network.cpds[:2], tree, network.cpds[3]))
    rows = _rows(0, 400)
    learned = learn_parameters(start, rows).network.cpds[2]
    assert isinstance(learned, TreeCPD)
    assert learned.n_parameters == tree.n_parameters == 2
    alone = (rows.column(1) != 1) & (rows.column(0) == 1)
    table = learned.probabilities
    assert table[1, 0, 1] == table[1, 2, 1] == rows.column(2)[alone].mean()
    np.testing.assert_allclose(table[0, :, 1], rows.column(2)[~alone].mean())
    np.testing.assert_array_equal(table[0, 0], table[1, 1])


def test_a_row_of_a_grouped_table_shares_the_counts_of_its_configurations() -> None:
    groups = ((0,), (1,)), ((0, 2), (1,))
    grouped = GroupedTableCPD((0, 1, 2), (2, 3, 2), groups, np.full((2, 2, 2), 0.5))
    network = _network()
    start = replace(network, cpds=(*network.cpds[:2], grouped, network.cpds[3]))
    rows = _rows(0, 400)
    learned = learn_parameters(start, rows).network.cpds[2]
    assert isinstance(learned, GroupedTableCPD)
    for a in range(2):
        chosen = rows.column(2)[(rows.column(0) == a) & (rows.column(1) != 1)]
        np.testing.assert_allclose(learned.table[a, 0, 1], chosen.mean())
        chosen = rows.column(2)[(rows.column(0) == a) & (rows.column(1) == 1)]
        np.testing.assert_allclose(learned.table[a, 1, 1], chosen.mean())


def test_a_configuration_without_rows_keeps_its_distribution() -> None:
    rows = _rows(0, 200)
    rows = rows.rows(rows.column(1) != 2)
    start = _network()
    learned = learn_parameters(start, rows)
    np.testing.assert_array_equal(
        learned.network.cpds[2].probabilities[:, 2],
        start.cpds[2].probabilities[:, 2],
    )


def test_impossible_rows_are_named() -> None:
    fixed = DeterministicCPD((2, 3), 2, np.array([0, 1]))
    network = _network()
    start = replace(network, cpds=(*network.cpds[:3], fixed))
    columns = [[0, 0], [0, 3], [1, 1], [1, 0]]
    rows = Codes.from_columns([np.array(column) for column in columns], CARDS)
    with pytest.raises(ValueError, match="row 1 is impossible"):
        learn_parameters(start, rows)
    complete = Codes.from_columns([np.array([c]) for c in (0, 0, 1, 0)], CARDS)
    with pytest.raises(ValueError, match="row 0 is impossible"):
        learn_parameters(start, complete)


def test_parameters_out_of_range_are_refused() -> None:
    def check(case: tuple[dict[str, Any], str]) -> None:
        parameters, message = case
        with pytest.raises(ValueError, match=message):
            learn_parameters(_network(), _rows(0, 20), **parameters)

    check_each(
        [
            ({"tol": -1.0}, "tol"),
            ({"tol": float("nan")}, "tol"),
            ({"max_iter": 0}, "max_iter"),
            ({"n_restarts": 0}, "n_restarts"),
            ({"max_iter": 1.5}, "max_iter must be an integer"),
            ({"max_iter": None}, "max_iter must be an integer"),
            ({"n_restarts": "2"}, "n_restarts must be an integer"),
            ({"tol": "x"}, "tol must be a number"),
            ({"random_state": "seed"}, "random_state must be None, an integer"),
            ({"sample_weight": ["x"] * 20}, "sample_weight must be 20 finite numbers"),
            ({"sample_weight": [1e308] * 20}, "sum to at most 1e[+]300"),
            ({"sample_weight": [1.0]}, "sample_weight must be 20 finite numbers"),
            ({"sample_weight": [-1.0] * 20}, "at least 0"),
            ({"sample_weight": [0.0] * 20}, "no rows with a positive weight"),
        ],
        check,
    )


def test_progress_is_told_after_each_step() -> None:
    told: list[tuple[int, float]] = []
    learned = learn_parameters(
        _network(), _rows(0, 50, 0.3), progress=lambda *step: told.append(step)
    )
    assert [step for step, _ in told] == list(range(1, learned.n_iter + 1))
    assert tuple(objective for _, objective in told) == learned.objectives[1:]


# ---- saddle points

STATES = {"hidden": ["u", "v"], "x": ["n", "y"], "y": ["n", "y"]}
ROWS = {"x": ["n", "y", "y", "n", "y"], "y": ["n", "y", "y", "n", "n"]}


def _latent_network(x: list[list[float]], y: list[list[float]]) -> BayesianNetwork:
    return BayesianNetwork.from_tables(
        states=STATES,
        parents={"x": ["hidden"], "y": ["hidden"]},
        tables={"hidden": [0.3, 0.7], "x": x, "y": y},
    )


BLIND = _latent_network([[0.5, 0.5]] * 2, [[0.2, 0.8]] * 2)
SEEING = _latent_network([[0.5, 0.5]] * 2, [[0.2, 0.8], [0.3, 0.7]])


def test_a_latent_variable_with_blind_children_stalls() -> None:
    with pytest.warns(RuntimeWarning, match="latent hidden apart"):
        learned = learn_parameters(BLIND, ROWS, n_restarts=1)
    table = learned.network.cpd("x").probabilities
    np.testing.assert_allclose(table[0], table[1], atol=1e-12)


def test_nothing_warns_where_one_child_tells_states_apart() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn_parameters(SEEING, ROWS, n_restarts=1)


def test_nothing_warns_where_there_are_more_starts() -> None:
    learn_parameters(BLIND, ROWS, n_restarts=2, random_state=0)
    learn_parameters(BLIND, ROWS, random_state=0)


def test_nothing_warns_where_the_variable_has_a_column() -> None:
    learn_parameters(BLIND, {**ROWS, "hidden": ["u", "v", None, None, "u"]})


def test_nothing_warns_where_the_children_are_not_learned() -> None:
    network = BLIND.with_experience({"hidden": 1.0})
    learn_parameters(network, ROWS, n_restarts=1)


@pytest.mark.filterwarnings("ignore:expectation maximisation ended:RuntimeWarning")
def test_another_start_leaves_the_prior_as_it_is() -> None:
    prior = BLIND.with_experience(4.0)
    learned = learn_parameters(prior, ROWS, start=SEEING, tol=1e-10, n_restarts=1)
    for cpd in learned.network.cpds:
        gained = cpd.experience - 4.0  # type: ignore[attr-defined]
        assert (gained >= 0.0).all()
        assert gained.sum() <= len(ROWS["x"])
    assert (np.diff(learned.objectives) > -1e-9).all()
    assert learned.objectives[0] > learn_objective(prior, max_iter=1)[0]
    assert learned.objectives[-1] == pytest.approx(learn_objective(prior)[-1])


def learn_objective(network: BayesianNetwork, max_iter: int = 200) -> tuple[float, ...]:
    """The objectives of a start that stalls."""
    with pytest.warns(RuntimeWarning, match="apart"):
        found = learn_parameters(
            network, ROWS, tol=1e-10, max_iter=max_iter, n_restarts=1
        )
    return found.objectives


def test_a_start_of_other_form_is_refused() -> None:
    other = BayesianNetwork.from_tables(
        states=STATES,
        tables={"hidden": [0.5, 0.5], "x": [0.5, 0.5], "y": [0.5, 0.5]},
    )
    with pytest.raises(ValueError, match="start has other variables"):
        learn_parameters(BLIND, ROWS, start=other)
    network = _network()
    tree = TreeCPD((2, 3), (2, 2), Leaf(np.array([0.5, 0.5])))
    pruned = replace(network, cpds=(*network.cpds[:3], tree))
    last = network.domain.names[3]
    with pytest.raises(ValueError, match=f"start has other distributions of '{last}'"):
        learn_parameters(network, _rows(0, 50), start=pruned)


def test_random_tables_are_those_of_the_variable_and_its_children() -> None:
    network = BayesianNetwork.from_tables(
        states={**STATES, "z": ["n", "y"]},
        parents={"x": ["hidden"], "z": ["x"]},
        tables={
            "hidden": [0.5, 0.5],
            "x": [[0.5, 0.5]] * 2,
            "y": [0.5, 0.5],
            "z": [[0.5, 0.5]] * 2,
        },
    )
    rng = np.random.default_rng(0)
    drawn = with_random_tables(network, [0], rng)
    changed = [
        name
        for name in network.domain.names
        if (drawn.cpd(name).probabilities != network.cpd(name).probabilities).any()
    ]
    assert changed == ["hidden", "x"]
    drawn.check_content()
    assert stalled_latents(network, {0}, range(4)) == ["hidden"]
    assert stalled_latents(network, set(), range(4)) == []
