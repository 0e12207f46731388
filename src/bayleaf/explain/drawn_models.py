"""Averages, mixtures and rows with sums: models whose tables are drawn one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.explain.dirichlet import log_dirichlet, log_gamma
from bayleaf.explain.drawn_networks import drawn_networks, drawn_prior
from bayleaf.models.class_model import ClassModel
from bayleaf.models.class_network import ClassNetwork
from bayleaf.models.evidence_rows import EvidenceRows
from bayleaf.models.hierarchical_mixture import HierarchicalMixtureModel
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.latent_class import LatentClassModel
from bayleaf.models.one_dependence import AveragedOneDependenceModel

Floats = NDArray[np.float64]
# Added to drawn weights of cells, which need no smoothing of their own.
_NO_SMOOTHING = 1e-300


def drawn_models(
    model: ClassModel,
    evidence: EvidenceRows,
    n_draws: int,
    rng: np.random.Generator,
) -> Iterator[ClassModel]:
    """The model with other tables, drawn anew each time."""
    if isinstance(model, ClassNetwork):
        yield from drawn_networks(model, evidence, n_draws, rng)  # type: ignore[misc]
        return
    for _ in range(n_draws):
        if isinstance(model, HierarchicalNaiveBayesModel):
            yield _drawn_hierarchical(model, evidence, rng)
        elif isinstance(model, AveragedOneDependenceModel):
            yield _drawn_one_dependence(model, evidence, rng)
        elif isinstance(model, LatentClassModel):
            yield _drawn_latent_class(model, evidence, rng)
        else:
            assert isinstance(model, HierarchicalMixtureModel)
            yield _drawn_mixture(model, evidence, rng)


def _single(
    probabilities: Floats, strengths: Floats, rng: np.random.Generator
) -> Floats:
    """One draw of some distributions."""
    return np.asarray(np.exp(log_dirichlet(probabilities, strengths, 1, rng)[0]))


def _prior(
    prior: Floats, evidence: EvidenceRows, table: int, rng: np.random.Generator
) -> Floats:
    """One draw of the class prior."""
    return np.asarray(np.exp(drawn_prior(prior, evidence, table, 1, rng)[0]))


def _drawn_hierarchical(
    model: HierarchicalNaiveBayesModel, evidence: EvidenceRows, rng: np.random.Generator
) -> ClassModel:
    """Tables of the class children, and cells of the latent variables."""
    tables = tuple(
        _single(np.asarray(table), evidence.strengths(position), rng)
        for position, table in enumerate(model.tables)
    )
    cells = tuple(
        np.exp(log_gamma(counts + model.cell_smoothing, 1, rng)[0])
        for counts in model.cell_counts
    )
    return replace(
        model,
        prior=_prior(model.prior, evidence, -1, rng),
        tables=tables,
        cell_counts=cells,
        cell_smoothing=_NO_SMOOTHING,
    )


def _drawn_one_dependence(
    model: AveragedOneDependenceModel, evidence: EvidenceRows, rng: np.random.Generator
) -> ClassModel:
    """Tables of super-parents and children, feature by feature."""
    parents = model.parent_probabilities.copy()
    children = model.child_probabilities.copy()
    ends = np.append(model.offsets, parents.shape[1])
    for feature, card in enumerate(model.domain.cards[:-1]):
        span = slice(int(ends[feature]), int(ends[feature]) + card)
        own = slice(int(ends[feature]), int(ends[feature + 1]))
        parents[:, span] = _single(
            parents[:, span], evidence.strengths(1)[feature], rng
        )
        drawn = _single(children[:, :, span], evidence.strengths(2)[feature], rng)
        # Neither a feature's own states nor missing ones have tables.
        drawn[:, own] = children[:, own, span]
        missing = ends[1:] - 1
        drawn[:, missing] = children[:, missing, span]
        children[:, :, span] = drawn
    return replace(
        model,
        prior=_prior(model.prior, evidence, 0, rng),
        parent_probabilities=parents,
        child_probabilities=children,
    )


def _drawn_latent_class(
    model: LatentClassModel, evidence: EvidenceRows, rng: np.random.Generator
) -> ClassModel:
    """Weights and tables of the components."""
    by_feature = evidence.strengths(2)
    return replace(
        model,
        prior=_prior(model.prior, evidence, 0, rng),
        weights=_single(model.weights, evidence.strengths(1), rng),
        tables=tuple(
            _single(table, by_feature[feature], rng)
            for feature, table in enumerate(model.tables)
        ),
    )


def _drawn_mixture(
    model: HierarchicalMixtureModel, evidence: EvidenceRows, rng: np.random.Generator
) -> ClassModel:
    """Tables of all gates and experts."""
    starts = []
    table = 0
    for banks in model.starts:
        drawn = []
        for bank in banks:
            strengths = evidence.strengths(table), evidence.strengths(table + 1)
            drawn.append(_drawn_bank(bank, *strengths, rng))
            table += 2
        starts.append(tuple(drawn))
    return replace(model, starts=tuple(starts))


def _drawn_bank(
    bank: NaiveBayesBank,
    of_nodes: Floats,
    of_outputs: Floats,
    rng: np.random.Generator,
) -> NaiveBayesBank:
    """A bank with drawn priors and tables."""
    entries = bank.log_table.copy()
    for feature in range(bank.n_features):
        span = slice(*bank.offsets[feature : feature + 2])
        table = np.moveaxis(np.exp(entries[span]), 0, 2)
        total = table.sum(axis=2)
        logs = log_dirichlet(table / total[..., None], of_outputs[feature], 1, rng)[0]
        # Rows that miss a feature make its entries sum to less than one.
        entries[span] = np.moveaxis(logs + np.log(total)[..., None], 2, 0)
    prior = np.exp(bank.log_prior)
    prior /= prior.sum(axis=1, keepdims=True)
    return replace(
        bank,
        log_prior=log_dirichlet(prior, of_nodes, 1, rng)[0],
        log_table=entries,
    )
