"""Families whose full tables no machine holds are asked like any other."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.cpds.distribution import GroupedTableCPD, TableCPD
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.inference.queries import Inference
from bayleaf.inference.row_propagation import expected_counts
from bayleaf.latent.network_parameters import learn_parameters
from bayleaf.models.bayesian_network import BayesianNetwork

N_PARENTS = 60
CARD = 3


def chain(n_parents: int) -> Leaf | Split:
    """The first parent that is in state 0 decides; if none is, the last leaf."""
    node: Leaf | Split = Leaf(np.array([0.5, 0.5]))
    for parent in reversed(range(n_parents)):
        share = (parent + 1) / (n_parents + 2)
        here = Leaf(np.array([share, 1 - share]))
        node = Split(parent, ((0,), (1, 2)), (here, node))
    return node


def wide_network(kind: str) -> BayesianNetwork:
    """Independent parents of one child."""
    cards = (*[CARD] * N_PARENTS, 2)
    family = tuple(range(N_PARENTS + 1))
    if kind == "tree":
        cpd = TreeCPD(family, cards, chain(N_PARENTS))
    else:
        groups = (((0, 2), (1,)), ((2,), (0, 1)), *[((0, 1, 2),)] * (N_PARENTS - 2))
        table = np.array([[0.1, 0.9], [0.3, 0.7], [0.6, 0.4], [0.8, 0.2]])
        shape = (2, 2, *[1] * (N_PARENTS - 2), 2)
        cpd = GroupedTableCPD(family, cards, groups, table.reshape(shape))
    row = np.array([0.2, 0.3, 0.5])
    parents = [TableCPD((v,), row) for v in range(N_PARENTS)]
    states = [tuple(range(card)) for card in cards]
    domain = Domain(tuple(Variable(f"v{v}", s) for v, s in enumerate(states)))
    dag = DAG((*[()] * N_PARENTS, family[:-1]))
    return BayesianNetwork(domain, dag, (*parents, cpd))


def probability_of_zero(kind: str) -> float:
    """P(child = 0), by hand."""
    if kind == "grouped":
        one, two = 0.7, 0.5
        rows = [0.1 * one * two, 0.3 * one * (1 - two), 0.6 * (1 - one) * two]
        return sum(rows) + 0.8 * (1 - one) * (1 - two)
    shares = [(v + 1) / (N_PARENTS + 2) for v in range(N_PARENTS)]
    decided = [0.8**v * 0.2 * share for v, share in enumerate(shares)]
    return sum(decided) + 0.8**N_PARENTS * 0.5


@pytest.mark.parametrize("kind", ["tree", "grouped"])
def test_posteriors_with_sixty_parents_are_those_by_hand(kind: str) -> None:
    inference = Inference(wide_network(kind))
    child = f"v{N_PARENTS}"
    zero = probability_of_zero(kind)
    found = inference.query({}, child)[child].probabilities
    assert found[0] == pytest.approx(zero, abs=1e-13)
    # Bayes' rule with the first parent's states.
    given = [inference.query({"v0": state}, child)[child] for state in range(CARD)]
    likelihood = np.array([float(row.probabilities[0]) for row in given])
    expected = likelihood * [0.2, 0.3, 0.5] / zero
    posterior = inference.query({child: 0}, "v0")["v0"].probabilities
    assert posterior == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("kind", ["tree", "grouped"])
def test_rows_are_drawn_with_sixty_parents(kind: str) -> None:
    inference = Inference(wide_network(kind))
    child = f"v{N_PARENTS}"
    rows = inference.sample_codes(5000, random_state=0)
    share = float((rows.column(N_PARENTS) == 0).mean())
    assert share == pytest.approx(probability_of_zero(kind), abs=0.03)
    rows = inference.sample_codes(5000, {child: 0}, random_state=0)
    expected = inference.query({child: 0}, "v0")["v0"].probabilities
    shares = np.bincount(rows.column(0), minlength=CARD) / 5000
    assert shares == pytest.approx(expected, abs=0.03)
    assert (rows.column(N_PARENTS) == 0).all()


def test_sensitivity_needs_no_full_table() -> None:
    inference = Inference(wide_network("tree"))
    child = f"v{N_PARENTS}"
    given = {f"v{v}": 1 for v in range(N_PARENTS)}
    found = inference.sensitivity({child: 0}, child, 0, given)
    # One configuration alone changes with the entry.
    assert found.derivative == pytest.approx(0.3**N_PARENTS, rel=1e-9)
    assert found.value == pytest.approx(probability_of_zero("tree"), abs=1e-13)


def test_a_question_for_the_full_table_is_refused_in_one_sentence() -> None:
    network = wide_network("tree")
    tree = JunctionTree.compile(network)
    with pytest.raises(ValueError, match="exact inference needs a table of"):
        tree.propagate({}).family(N_PARENTS)
    holes = [np.array([card]) for card in network.domain.cards]
    rows = Codes.from_columns(holes, network.domain.cards)
    with pytest.raises(ValueError, match="max_table_cells"):
        expected_counts(tree, rows)


def test_the_error_names_the_parents_that_auxiliary_variables_follow() -> None:
    network = wide_network("tree")
    with pytest.raises(ValueError, match="max_table_cells=50") as caught:
        JunctionTree.compile(network, max_table_cells=50)
    assert "'v0'" in str(caught.value) or "v0" in str(caught.value)


def test_expectation_maximisation_learns_a_tree_taken_apart() -> None:
    n_parents = 7
    cards = (*[CARD] * n_parents, 2)
    family = tuple(range(n_parents + 1))
    cpd = TreeCPD(family, cards, chain(n_parents))
    row = np.array([0.2, 0.3, 0.5])
    domain = Domain(
        tuple(Variable(f"v{v}", tuple(range(card))) for v, card in enumerate(cards))
    )
    parents = tuple(TableCPD((v,), row) for v in range(n_parents))
    dag = DAG((*[()] * n_parents, family[:-1]))
    network = BayesianNetwork(domain, dag, (*parents, cpd))
    rng = np.random.default_rng(0)
    columns = [rng.integers(card, size=200) for card in cards]
    for column, card in zip(columns, cards, strict=True):
        column[rng.random(200) < 0.2] = card
    rows = Codes.from_columns(columns, cards)
    expected = learn_parameters(network, rows, tol=1e-8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayleaf.inference.family_decomposition.FEW_CELLS", 0)
        assert JunctionTree.compile(network).is_apart(n_parents)
        found = learn_parameters(network, rows, tol=1e-8)
    assert found.objectives == pytest.approx(expected.objectives, abs=1e-9)
    learned = found.network.cpds[n_parents].probabilities
    assert learned == pytest.approx(
        expected.network.cpds[n_parents].probabilities, abs=1e-12
    )
