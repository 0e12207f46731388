from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

import bayleaf
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.inference.row_propagation import (
    expected_counts,
    log_evidence_rows,
    posterior_rows,
)
from oracles.small_networks import (
    joint_table,
    make_network,
    onto,
    random_codes,
    random_likelihoods,
    random_network,
)
from property.for_all import for_all
from systems import need
from timing import check_interrupted

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 8)


@for_all(seed=seeds, n_variables=sizes, few=20, many=60)
def test_posteriors_equal_those_of_the_whole_joint(seed, n_variables) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_variables)
    likelihoods = random_likelihoods(rng, network.domain.cards)
    joint = joint_table(network, likelihoods)
    tree = JunctionTree.compile(network)
    answer = tree.propagate(likelihoods)
    assert tree.log_evidence(likelihoods) == answer.log_evidence
    if joint.sum() == 0:
        assert answer.log_evidence == -np.inf
        with pytest.raises(ValueError, match="impossible"):
            answer.marginal(0)
        return
    assert answer.log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-11)
    joint /= joint.sum()
    for node in range(n_variables):
        family = network.cpds[node].family
        assert answer.marginal(node) == pytest.approx(onto(joint, [node]), abs=1e-12)
        assert answer.family(node) == pytest.approx(onto(joint, family), abs=1e-12)


@for_all(seed=seeds, n_variables=sizes, few=20, many=60)
def test_posteriors_of_cliques_equal_those_of_the_whole_joint(
    seed, n_variables
) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_variables)
    likelihoods = random_likelihoods(rng, network.domain.cards)
    joint = joint_table(network, likelihoods)
    tree = JunctionTree.compile(network)
    found = tree.clique_posteriors(likelihoods)
    total = joint.sum() or 1.0
    for clique, table in zip(tree.cliques, found, strict=True):
        assert table == pytest.approx(onto(joint, clique) / total, abs=1e-12)


@for_all(seed=seeds, n_variables=sizes, few=20, many=60)
def test_most_probable_states_equal_those_of_the_whole_joint(seed, n_variables) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_variables)
    likelihoods = random_likelihoods(rng, network.domain.cards)
    joint = joint_table(network, likelihoods)
    states, log_most = JunctionTree.compile(network).most_probable(likelihoods)
    if joint.max() == 0:
        assert log_most == -np.inf
    else:
        assert joint[tuple(states)] == pytest.approx(joint.max(), rel=1e-12)
        assert log_most == pytest.approx(np.log(joint.max()), abs=1e-11)


def test_equally_probable_states_go_to_the_lowest() -> None:
    uniform = np.full((3, 3), 1 / 3)
    network = make_network([3, 3, 3], [[2], [], [1]], [uniform, uniform[0], uniform])
    states, _ = JunctionTree.compile(network).most_probable({1: np.array([0, 2.0, 2])})
    assert states.tolist() == [0, 1, 0]


def test_a_chain_of_two_thousand_nodes_does_not_underflow() -> None:
    n = 2000
    step = np.array([[0.9, 0.1], [0.2, 0.8]])
    tables = [np.array([0.5, 0.5])] + [step] * (n - 1)
    network = make_network([2] * n, [[], *([i] for i in range(n - 1))], tables)
    hard = {v: np.array([0.0, 1.0]) if v % 2 else np.array([1.0, 0]) for v in range(n)}
    tree = JunctionTree.compile(network)
    expected = np.log(0.5) + n // 2 * np.log(0.1) + (n // 2 - 1) * np.log(0.2)
    assert tree.log_evidence(hard) == pytest.approx(expected, rel=1e-12)
    soft = {v: vector + 0.1 for v, vector in hard.items()}
    forward = np.log(0.5) + np.log(soft[0])
    for v in range(1, n):
        forward = np.logaddexp.reduce(forward[:, None] + np.log(step), axis=0)
        forward += np.log(soft[v])
    answer = tree.propagate(soft)
    assert answer.log_evidence == pytest.approx(np.logaddexp(*forward), rel=1e-12)
    last = np.exp(forward - np.logaddexp(*forward))
    assert answer.marginal(n - 1) == pytest.approx(last, abs=1e-12)


@pytest.mark.parametrize("n", [100, 102, 103])
def test_evidence_that_nearly_excludes_what_remains_gives_posteriors(n) -> None:
    # With each feature state 1 of the parent grows a thousand times less likely.
    # The last feature but one rules state 0 out; the last is not observed.
    tables = [np.array([[0.0, 1.0], [0.999, 0.001]])] * n
    tables += [np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.3, 0.7], [0.6, 0.4]])]
    parents = [*([n + 2] for _ in range(n + 2)), []]
    network = make_network([2] * (n + 3), parents, [*tables, np.ones(2) / 2])
    evidence = dict.fromkeys(range(n + 1), np.array([0.0, 1.0]))
    answer = JunctionTree.compile(network).propagate(evidence)
    expected = n * np.log(0.001) + 2 * np.log(0.5)
    assert answer.log_evidence == pytest.approx(expected, rel=1e-9)
    assert answer.marginal(n + 2) == pytest.approx([0.0, 1.0], abs=1e-9)
    assert answer.marginal(n + 1) == pytest.approx([0.6, 0.4], abs=1e-9)


def test_rows_off_by_rounding_are_normalised() -> None:
    tables = [np.array([0.3, 0.700003]), np.array([[0.2, 0.8], [0.49999, 0.5]])]
    tree = JunctionTree.compile(make_network([2, 2], [[], [0]], tables))
    answer = tree.propagate({})
    assert answer.log_evidence == pytest.approx(0.0, abs=1e-15)
    assert answer.marginal(0) == pytest.approx(tables[0] / tables[0].sum(), abs=1e-15)
    assert answer.marginal(1).sum() == pytest.approx(1.0, abs=1e-15)


def test_a_table_over_the_limit_is_refused_by_name() -> None:
    parents = [[], [], [0, 1]]
    tables = [np.ones(4) / 4, np.ones(4) / 4, np.ones((4, 4, 4)) / 4]
    network = make_network([4, 4, 4], parents, tables)
    with pytest.raises(ValueError, match=r"64 cells over v0, v1, v2.*=63"):
        JunctionTree.compile(network, max_table_cells=63)
    assert JunctionTree.compile(network, max_table_cells=64).cliques == ((0, 1, 2),)


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (np.ones(3), "v0.*shape .3,.*2 states"),
        (np.array([1.0, -1.0]), "not negative"),
        (np.array([1.0, np.nan]), "finite"),
    ],
)
def test_likelihoods_that_do_not_fit_are_refused(vector, message) -> None:
    tree = JunctionTree.compile(make_network([2], [[]], [np.ones(2) / 2]))
    with pytest.raises(ValueError, match=message):
        tree.propagate({0: vector})


def wide_network(rng):
    """Rows of tables and messages that are longer than a sum's running parts."""
    cards, parents = [7, 9, 2, 5, 6], [[], [0], [0, 1], [1], [1, 3]]
    tables = []
    for child, above in enumerate(parents):
        table = rng.random([*(cards[p] for p in above), cards[child]])
        tables.append(table / table.sum(axis=-1, keepdims=True))
    return make_network(cards, parents, tables)


def all_answers(network, likelihoods, codes) -> list[np.ndarray]:
    tree = JunctionTree.compile(network)
    answer = tree.propagate(likelihoods)
    found = [answer.log_evidence, tree.log_evidence(likelihoods)]
    if answer.log_evidence > -np.inf:
        for node in range(len(network.domain)):
            found += [answer.marginal(node), answer.family(node)]
    counts, log_evidence = expected_counts(tree, codes)
    found += [*counts, log_evidence, log_evidence_rows(tree, codes)]
    found += [*tree.most_probable(likelihoods), *posterior_rows(tree, codes, 0)]
    return [np.asarray(array) for array in found]


def random_answers(seed) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    network = random_network(rng, seed % 9 + 1) if seed % 3 else wide_network(rng)
    cards = network.domain.cards
    codes = random_codes(rng, cards, 5, 0.4, rng.random(5))
    return all_answers(network, random_likelihoods(rng, cards), codes)


@for_all(seed=seeds, n_variables=sizes, few=15, many=30)
def test_a_state_says_what_its_likelihood_vector_says(seed, n_variables) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_variables)
    tree, cards = JunctionTree.compile(network), network.domain.cards
    states = {v: int(rng.integers(cards[v])) for v in range(0, n_variables, 2)}
    soft = {v: rng.random(cards[v]) for v in range(1, n_variables, 2)}
    likelihoods = {v: np.eye(cards[v])[state] for v, state in states.items()}
    by_state = tree.propagate({**states, **soft})
    by_vector = tree.propagate({**likelihoods, **soft})
    assert by_state.log_evidence == by_vector.log_evidence
    if by_state.log_evidence > -np.inf:
        for v in range(n_variables):
            assert np.array_equal(by_state.marginal(v), by_vector.marginal(v))


@pytest.mark.parametrize("state", [2, -1, np.int64(7)])
def test_a_state_that_does_not_exist_is_refused(state) -> None:
    tree = JunctionTree.compile(make_network([2], [[]], [np.ones(2) / 2]))
    with pytest.raises(ValueError, match=f"v0.*the state {state}; give a state from 0"):
        tree.propagate({0: state})


@for_all(seed=seeds, n_variables=sizes, few=15, many=30)
def test_wanted_marginals_are_those_among_all(seed, n_variables) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_variables)
    likelihoods = random_likelihoods(rng, network.domain.cards)
    tree = JunctionTree.compile(network)
    wanted = rng.permutation(n_variables)[: rng.integers(n_variables + 1)].tolist()
    whole, some = tree.propagate(likelihoods), tree.propagate(likelihoods, wanted)
    assert some.log_evidence == whole.log_evidence
    if whole.log_evidence == -np.inf:
        return
    for v in range(n_variables):
        if v in wanted:
            assert some.marginal(v) == pytest.approx(whole.marginal(v), abs=1e-14)
        else:
            with pytest.raises(ValueError, match="not asked for"):
                some.marginal(v)


def test_marginals_cannot_be_written() -> None:
    tree = JunctionTree.compile(make_network([2], [[]], [np.ones(2) / 2]))
    with pytest.raises(ValueError, match="read-only"):
        tree.propagate({}).marginal(0)[0] = 1.0


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))]
)
def test_copies_of_a_tree_that_was_asked_answer_alike(copied) -> None:
    rng = np.random.default_rng(0)
    network = random_network(rng, 8, zeros=0.0)
    tree = JunctionTree.compile(network)
    evidence = {0: 0, 3: rng.random(network.domain.cards[3])}
    before = tree.propagate(evidence)
    other = copied(tree)
    for answer in (other.propagate(evidence), copied(before)):
        assert answer.log_evidence == before.log_evidence
        for v in range(8):
            assert np.array_equal(answer.marginal(v), before.marginal(v))
            assert np.array_equal(answer.family(v), before.family(v))


def test_threads_share_a_tree() -> None:
    rng = np.random.default_rng(5)
    network = random_network(rng, 12, zeros=0.0)
    tree = JunctionTree.compile(network)
    cards = network.domain.cards
    questions = [random_likelihoods(rng, cards) for _ in range(200)]

    def answer(likelihoods):
        found = tree.propagate(likelihoods)
        marginals = [found.marginal(v) for v in range(12) if found.log_evidence > -1e9]
        states, log_most = tree.most_probable(likelihoods)
        return np.concatenate([*marginals, states, [log_most, found.log_evidence]])

    alone = list(map(answer, questions))
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(answer, questions * 5))
    for one, other in zip(alone * 5, together, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.slow
def test_a_tree_goes_on_answering_in_a_forked_process() -> None:
    need("fork")
    code = (
        "import os\n"
        "import numpy as np\n"
        "from bayleaf.models.bayesian_network import BayesianNetwork\n"
        "from bayleaf.inference.junction_tree import JunctionTree\n"
        "network = BayesianNetwork.from_tables({'a': 'xy'}, {'a': [0.3, 0.7]})\n"
        "tree = JunctionTree.compile(network)\n"
        "before = tree.propagate({}).marginal(0)\n"
        "child = os.fork()\n"
        "for _ in range(3):\n"
        "    assert np.array_equal(tree.propagate({}).marginal(0), before)\n"
        "del tree\n"
        "if child:\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
    )
    folder = str(Path(bayleaf.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": folder}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


@pytest.mark.usefixtures("ctrl_c")
def test_rows_can_be_interrupted() -> None:
    rng = np.random.default_rng(0)
    network = wide_network(rng)
    tree = JunctionTree.compile(network)
    codes = random_codes(rng, network.domain.cards, 10**6, 0.9)
    some = codes.rows(slice(0, 10))
    before = log_evidence_rows(tree, some)
    check_interrupted(lambda: log_evidence_rows(tree, codes), 0.02)
    assert np.array_equal(log_evidence_rows(tree, some), before)


@pytest.mark.slow
@pytest.mark.usefixtures("ctrl_c")
def test_a_large_clique_can_be_interrupted() -> None:
    n, card = 8, 7
    table = np.full([card] * n, 1 / card)
    parents = [[] for _ in range(n - 1)]
    tables = [table[(0,) * (n - 1)]] * (n - 1)
    network = make_network([card] * n, [*parents, list(range(n - 1))], [*tables, table])
    tree = JunctionTree.compile(network)
    tree.compiled()
    soft = {v: np.arange(1.0, card + 1) for v in range(n)}
    ask = partial(list, (tree.most_probable(soft) for _ in range(30)))
    check_interrupted(ask, 0.02)
