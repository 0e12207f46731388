"""Models of every kind, and what Python says of them under evidence."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import bayleaf
from bayleaf import ValueHierarchy
from bayleaf.data.codes import Codes
from bayleaf.inference.evidence import ImpossibleEvidenceError
from bayleaf.io import read_network, write_network
from bayleaf.models.averaged_networks_model import AveragedNetworksModel
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.explanation import Explanation
from bayleaf.models.predictor import Predictor

ROWS = 160
Mask = NDArray[np.uint8]


def table(seed: int = 0, n_features: int = 6) -> tuple[pa.Table, list[str]]:
    """Text and numbers with holes, and a class of three that leans on all of them."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, ROWS)
    columns: dict[str, list[Any]] = {}
    for i in range(n_features):
        noise = rng.random(ROWS) < 0.45
        code = np.where(noise, rng.integers(0, 3, ROWS), (label + i) % 3)
        if i == 2:
            values: list[Any] = [float(c) + float(rng.normal(0, 0.3)) for c in code]
        else:
            values = [f"s{c}" for c in code]
        holes = rng.random(ROWS) < 0.05
        columns[f"x{i}"] = [
            None if hole else value for hole, value in zip(holes, values, strict=True)
        ]
    return pa.table(columns), [f"class {c}" for c in label]


def table_of_numbers() -> tuple[pa.Table, list[str]]:
    """Numbers that lean on one another within classes, with holes, and a name."""
    rng = np.random.default_rng(1)
    label = rng.integers(0, 3, 1500)
    common = rng.normal(size=1500) * (1.0 + label)
    numbers = {
        f"number {i}": common * (i - 2.5) + rng.normal(size=1500) + 0.3 * label
        for i in range(5)
    }
    holes = {name: rng.random(1500) < 0.05 for name in numbers}
    columns = {name: pa.array(own, mask=holes[name]) for name, own in numbers.items()}
    columns["name"] = pa.array([f"s{c}" for c in rng.integers(0, 3, 1500)])
    return pa.table(columns), [f"class {c}" for c in label]


def table_of_conjunctions() -> tuple[pa.Table, list[str]]:
    """Two classes by a sum of numbers, a third by conjunctions, with holes."""
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(5, 1500))
    name = rng.integers(3, size=1500)
    first, second, *rest = numbers
    holds = (name == 1) & (first > 0)
    holds |= (second > 0.5) & (first < -0.3) & (name != 0)
    pull = 1.2 * (rest[0] + rest[1]) + rng.logistic(size=1500)
    label = np.where(holds, 2, np.where(pull > 0, 1, 0))
    columns = {
        f"number {i}": pa.array(own, mask=rng.random(1500) < 0.05)
        for i, own in enumerate(numbers)
    }
    columns["name"] = pa.array([f"s{c}" for c in name])
    return pa.table(columns), [f"class {c}" for c in label]


@dataclass(frozen=True)
class Case:
    """A model to explore, with the oracle for its class and its variables."""

    name: str
    model: Any
    network: BayesianNetwork | None
    predictor: Predictor | None = None

    @property
    def networks(self) -> list[BayesianNetwork]:
        """The network, or those whose joint distributions are averaged."""
        if self.network is not None:
            return [self.network]
        kind = self.predictor and self.predictor.model
        if not isinstance(kind, AveragedNetworksModel):
            return []
        return [member.network for member in kind.networks]

    @property
    def cards(self) -> list[int]:
        """Number of states of all variables of the page."""
        if self.network is not None:
            return list(self.network.domain.cards)
        assert self.predictor is not None
        return list(self.predictor.model.domain.cards)

    @property
    def n_features(self) -> int:
        """Variables that stand for columns of a table, the class left out."""
        if self.predictor is None:
            return len(self.cards)
        return len(self.predictor.model.domain) - 1

    def codes(self, states: Mapping[int, int]) -> Codes:
        """One row of which some states are known."""
        assert self.predictor is not None
        cards = self.predictor.model.domain.cards[:-1]
        columns = [np.array([states.get(i, card)]) for i, card in enumerate(cards)]
        return Codes.from_columns(columns, cards)

    def class_proba(self, states: Mapping[int, int]) -> NDArray[np.float64]:
        """P(class | states of features), as `predict_proba` gives it."""
        assert self.predictor is not None
        return self.predictor.proba(self.codes(states))[0]

    def explanation(self, states: Mapping[int, int]) -> Explanation:
        """Why the class is predicted."""
        assert self.predictor is not None
        return self.predictor.explain(self.codes(states))[0]

    def random_masks(self, seed: int) -> dict[int, Mask]:
        """Evidence on about half of the variables, single states and several."""
        rng = np.random.default_rng(seed)
        masks = {}
        # A model that is no single network knows single states of features alone.
        n_open = len(self.cards) if self.networks else self.n_features
        has_class = self.predictor is not None
        for variable in range(n_open):
            is_class = has_class and variable == len(self.cards) - 1
            if rng.random() < (0.9 if is_class else 0.5):
                continue
            card = self.cards[variable]
            several = bool(self.networks) and rng.random() < 0.4
            mask = (rng.random(card) < (0.6 if several else 0.0)).astype(np.uint8)
            mask[rng.integers(card)] = 1
            masks[variable] = mask
        return masks

    def posteriors(self, masks: Mapping[int, Mask]) -> list[NDArray[np.float64]] | None:
        """Posterior of every variable of the network; None for impossible evidence."""
        if self.network is None:
            return self._mean_posteriors(masks)
        names = self.network.domain.names
        known = {names[v]: mask.astype(np.float64) for v, mask in masks.items()}
        given = getattr(getattr(self.model, "model_", None), "given_prior", None)
        if given is not None:
            own = self.network.query()[names[-1]].probabilities
            known[names[-1]] = known.get(names[-1], 1.0) * given / own
        try:
            found = self.network.query(known)
        except ImpossibleEvidenceError:
            return None
        return [np.asarray(found[name].probabilities) for name in names]

    def _mean_posteriors(self, masks: Mapping[int, Mask]) -> list[NDArray[np.float64]]:
        """Posteriors from the whole table of the mean of all networks."""
        variables = range(len(self.cards))
        joint = np.zeros(self.cards)
        for network in self.networks:
            tables = [(cpd.probabilities, list(cpd.family)) for cpd in network.cpds]
            joint += np.einsum(*itertools.chain(*tables), [*variables])
        for variable, mask in masks.items():
            joint *= np.expand_dims(mask, [v for v in variables if v != variable])
        joint /= joint.sum()
        return [
            joint.sum(axis=tuple(v for v in variables if v != u)) for u in variables
        ]


def classifiers() -> dict[str, Callable[[], Any]]:
    """Classifiers of every kind, unfitted, by name."""
    calibrated = {"calibration": "leave_one_out"}
    return {
        "naive Bayes": lambda: bayleaf.NaiveBayesClassifier(**calibrated),
        "TAN": lambda: bayleaf.TANClassifier(class_prior=[0.6, 0.3, 0.1], **calibrated),
        "KDB": lambda: bayleaf.KDBClassifier(k=2, loss=LOSS, **calibrated),
        "AODE": lambda: bayleaf.AODEClassifier(),
        "A2DE": lambda: bayleaf.A2DEClassifier(**calibrated),
        "averaged KDB": lambda: bayleaf.AveragedKDBClassifier(
            n_networks=3, random_state=0
        ),
        "HNB": lambda: bayleaf.HNBClassifier(random_state=0),
        "mixture": lambda: bayleaf.HierarchicalMixtureNBClassifier(
            architecture=(2, 2), random_state=0
        ),
        "latent class": lambda: bayleaf.LatentClassNBClassifier(
            n_components=2, random_state=0
        ),
        "network classifier": lambda: bayleaf.BayesianNetworkClassifier(
            local_structure="tree", random_state=0
        ),
        "network classifier under another prior": lambda: (
            bayleaf.BayesianNetworkClassifier(
                class_prior=[0.7, 0.2, 0.1], random_state=0
            )
        ),
        "averaged KDB of numbers": lambda: bayleaf.AveragedKDBClassifier(
            n_networks=2, max_parents=1, random_state=0
        ),
        "averaged KDB of conjunctions": lambda: bayleaf.AveragedKDBClassifier(
            n_networks=2, max_parents=0, linear_families=False, random_state=0
        ),
        "TAN of numbers": lambda: bayleaf.TANClassifier(
            numeric="gaussian", **calibrated
        ),
        "KDB with a number": lambda: bayleaf.KDBClassifier(k=2, numeric="gaussian"),
        "weighted KDB of numbers": lambda: bayleaf.KDBClassifier(
            numeric="gaussian", numeric_weights="leave_one_out", k="auto"
        ),
        "averaged KDB with missing states": lambda: bayleaf.AveragedKDBClassifier(
            n_networks=2,
            max_parents=1,
            calibration=None,
            class_prior=[0.2, 0.2, 0.6],
            missing="state",
            random_state=0,
        ),
    }


LOSS = [[0.0, 1.0, 1.0], [5.0, 0.0, 1.0], [1.0, 9.0, 0.0]]


def classifier_case(name: str) -> Case:
    """A fitted classifier of one kind."""
    tables = {"numbers": table_of_numbers, "conjunctions": table_of_conjunctions}
    X, y = tables.get(name.split()[-1], table)()
    fitted = classifiers()[name]().fit(X, y)
    network = None
    with contextlib.suppress(AttributeError):
        network = fitted.network_
    return Case(name, fitted, network, fitted._predictor())


def density_case() -> Case:
    """A density model whose distributions are trees over values with hierarchies."""
    X, y = table()
    columns = X.append_column("y", [y])
    hierarchy = ValueHierarchy.from_nested(
        {"any": {"low": ["s0", "s1"], "high": ["s2"]}}
    )
    fitted = bayleaf.BayesianNetworkEstimator(
        local_structure="tree",
        abstraction="given",
        hierarchies={"x0": hierarchy, "x1": hierarchy},
        random_state=0,
    ).fit(columns)
    return Case("density", fitted, fitted.network_)


def file_case(folder: Path) -> Case:
    """A network read from a file in the BIF format: loops, zeros, and a lone node."""
    rng = np.random.default_rng(5)
    cards = [2, 3, 2, 4, 3, 2]
    parents: list[list[int]] = [[], [0], [0], [1, 2], [3, 0], []]
    names = [f"node{i}" for i in range(len(cards))]
    tables = {}
    for i, above in enumerate(parents):
        shape = [*(cards[p] for p in above), cards[i]]
        values = rng.dirichlet(np.ones(cards[i]), size=shape[:-1])
        if i == 3:
            values[..., 0] = 0.0
            values /= values.sum(axis=-1, keepdims=True)
        tables[names[i]] = values
    network = BayesianNetwork.from_tables(
        states={n: [f"a{s}" for s in range(c)] for n, c in zip(names, cards)},
        parents={n: [names[p] for p in above] for n, above in zip(names, parents)},
        tables=tables,
    )
    path = folder / "network.bif"
    write_network(network, path)
    read = read_network(path)
    return Case("file", read, read)
