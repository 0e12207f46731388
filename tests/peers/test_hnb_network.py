"""Other libraries find the posteriors of a latent tree in its network's files."""

from __future__ import annotations

import itertools
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.io import write_network
from bayleaf.io.formats.safe_names import SafeNames
from bayleaf.models.class_model import log_normalize
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from oracles.random_latent_models import random_model, random_partition, random_tree
from property.networks import codes_of

# Peers warn about their own inner workings.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
SUFFIXES = (".net", ".bif", ".bifxml")
DOMAIN = Domain(
    (
        Variable("chest pain", ("none", "mild", "a & b")),
        Variable("angina", ("no", "yes")),
        numeric_variable("age", [40.0, 54.5]),
        Variable("L1", ("no", "yes")),
        Variable("sick", ("absent", "present")),
    )
)
CARDS = DOMAIN.cards[:-1]
Row = list[int | None]


def nested_model() -> HierarchicalNaiveBayesModel:
    """A latent below another, both collapsed."""
    rng = np.random.default_rng(1)
    tree = LatentTree(CARDS).join(0, 1, np.array([[0, 0], [0, 0], [1, 2]]))
    tree = tree.join(2, 4, random_partition(rng, (3, 3), 4))
    return random_model(rng, tree, 2, DOMAIN)


def product_model() -> HierarchicalNaiveBayesModel:
    """A latent that collapses nothing, and one with a single state."""
    tree = LatentTree(CARDS).join(0, 1, np.arange(6).reshape(3, 2))
    tree = tree.join(2, 3, np.zeros((3, 2), dtype=int))
    return random_model(np.random.default_rng(2), tree, 2, DOMAIN)


def drawn_model() -> HierarchicalNaiveBayesModel:
    """A tree as it is drawn."""
    rng = np.random.default_rng(5)
    return random_model(rng, random_tree(rng, CARDS, 2), 2, DOMAIN)


MODELS = {"nested": nested_model, "product": product_model, "drawn": drawn_model}


def some_rows() -> list[Row]:
    """Every tenth row over the features, holes included."""
    choices = [[*range(card), None] for card in CARDS]
    rows: list[Row] = [list(row) for row in itertools.product(*choices)]
    return rows[::10]


def posteriors(model: HierarchicalNaiveBayesModel) -> np.ndarray:
    """Posteriors of the flat view."""
    return np.exp(log_normalize(model.class_log_scores(codes_of(some_rows(), CARDS))))


class Spelled:
    """Names and states of a network as a file spells them.

    XML holds them as they are; the other formats need identifiers.
    """

    def __init__(self, domain: Domain, suffix: str) -> None:
        safe = SafeNames.for_network(domain)
        in_xml = suffix == ".bifxml"
        self.names = [str(v.name) for v in domain] if in_xml else list(safe.variables)
        self.states = [v.states for v in domain] if in_xml else list(safe.states)

    def evidence(self, row: Row) -> dict[str, Any]:
        """A row's observed cells."""
        return {
            self.names[feature]: self.states[feature][code]
            for feature, code in enumerate(row)
            if code is not None
        }


@pytest.fixture
def gum() -> Any:
    """The package pyAgrum."""
    return pytest.importorskip("pyagrum")


@pytest.fixture
def pgmpy() -> Any:
    """The package pgmpy, its readers and its inference loaded."""
    pytest.importorskip("pgmpy.readwrite")
    pytest.importorskip("pgmpy.inference")
    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    return pytest.importorskip("pgmpy")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", MODELS)
def test_pyagrum_finds_the_posteriors_of_the_flat_view(
    gum: Any, tmp_path: Path, name: str, suffix: str
) -> None:
    model = MODELS[name]()
    path = tmp_path / f"hnb{suffix}"
    write_network(model.network, path)
    spelled = Spelled(model.network.domain, suffix)
    engine = gum.LazyPropagation(gum.loadBN(str(path)))
    for row, expected in zip(some_rows(), posteriors(model), strict=True):
        engine.setEvidence(spelled.evidence(row))
        found = engine.posterior(spelled.names[-1]).toarray()
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.few(3)
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", MODELS)
def test_pgmpy_finds_the_posteriors_of_the_flat_view(
    pgmpy: Any, tmp_path: Path, name: str, suffix: str
) -> None:
    model = MODELS[name]()
    path = tmp_path / f"hnb{suffix}"
    write_network(model.network, path)
    spelled = Spelled(model.network.domain, suffix)
    kind = {".bifxml": "XMLBIF"}.get(suffix, suffix[1:].upper())
    reader = getattr(pgmpy.readwrite, f"{kind}Reader")(str(path))
    engine = pgmpy.inference.VariableElimination(reader.get_model())
    for row, expected in zip(some_rows(), posteriors(model), strict=True):
        target, evidence = spelled.names[-1], spelled.evidence(row)
        found = engine.query([target], evidence, show_progress=False)
        order = list(found.state_names[target])
        states = [order.index(state) for state in spelled.states[-1]]
        np.testing.assert_allclose(found.values[states], expected, atol=1e-6)
