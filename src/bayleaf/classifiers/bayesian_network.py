"""A Bayesian network learned without regard to the class, as a classifier."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.parameters import AUTO
from bayleaf.classifiers.shared.structure_parameters import (
    StructureParameters,
    structure_options,
)
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.source import CountSource
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.random_state import RandomState
from bayleaf.data.shuffled_rows import merged_rows
from bayleaf.describe.local_structure_text import describe_distribution
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.row_propagation import log_likelihood_of_rows
from bayleaf.latent.structure_learning import (
    LearnedStructure,
    StructureOptions,
    learn_structure,
)
from bayleaf.models.networks.network_model import NetworkPosteriorModel
from bayleaf.models.networks.structured_network import network_from_structures
from bayleaf.search.left_out.temperature import best_temperature

# Folds that calibration holds out in turn.
_N_FOLDS = 5


class BayesianNetworkClassifier(StructureParameters, BayesianClassifier):
    """Bayesian network over features and class, whichever arcs describe them best.

    The class is a variable like any other: the search that `BayesianNetworkEstimator`
    makes may give it parents. Predictions are its exact posterior.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None, default=None
        Source of the restarts' randomness.
    **shared
        The parameters of the search (`local_structure`, `abstraction`, `local_score`,
        `hierarchies`, `refine_hierarchies`, `linkage`, `linkage_arity`, `n_restarts`,
        `table_search`, `tree_search`, `merge_leaves`, `penalty_weight`, `max_parents`,
        `required_edges`, `forbidden_edges`, `tiers`, `arc_prior`, `time_limit`,
        `cache_size`), which `BayesianNetworkEstimator` describes, and those that the
        classifiers share, see `BayesianClassifier`; `smoothing` takes any rule but
        "auto".

    Attributes
    ----------
    score_ : float
        The local score of the whole network, larger is better.
    trace_ : tuple of Move
        The moves of the best search, each with its gain.

    References
    ----------
    desJardins, M., Rathod, P., Getoor, L. (2008). Learning structured Bayesian
    networks: combining abstraction hierarchies and tree-structured conditional
    probability tables. Computational Intelligence 24, 1-22.
    """

    random_state: RandomState = None

    def _check(self) -> None:
        if isinstance(self.smoothing, str) and self.smoothing == AUTO:
            raise ValueError(
                "smoothing='auto' leaves single rows out of tables with the class as "
                "a parent, but here the class may have parents; name a rule, such as "
                "'laplace'"
            )

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        options = structure_options(self, domain, self.smoothing_)
        learned = learn_structure(counts, self._sets, domain, options)
        self.score_, self.trace_ = learned.found.score, learned.found.trace
        cells = self.max_table_cells
        model = NetworkPosteriorModel(learned.network, cells)
        if (given := self._given_prior) is not None:
            model = model.with_class_prior(given)
        if self.calibration is not None:
            # The class may be a parent or a child, so whole folds are held out.
            self._learned_temperature = _held_out_temperature(
                counts.rows(), learned, model, options
            )
        trees = NetworkTrees(learned.network, max_table_cells=cells)
        total = log_likelihood_of_rows(trees, counts, self.n_jobs, self._sets)
        return Learned(model, total)

    @property
    def edges_(self) -> list[tuple[str | int, str | int]]:
        """All arcs as (parent, child) names, those of the class included."""
        check_is_fitted(self, "model_")
        return self.network_.edges

    def describe(self, name: str | int) -> str:
        """One variable's distribution: a table, or an indented tree of conditions."""
        return describe_distribution(self.network_, name)


def _held_out_temperature(
    codes: Codes,
    learned: LearnedStructure,
    model: NetworkPosteriorModel,
    options: StructureOptions,
) -> float:
    """The temperature that suits folds of distinct rows, held out in turn.

    Structure and cut points stay those of all rows. Equal rows share a fold.
    """
    rows, _ = merged_rows(codes)
    if rows.n_rows < 2:
        return 1.0
    shuffled = np.random.default_rng(options.seed).permutation(rows.n_rows)
    folds = np.empty(rows.n_rows, dtype=np.intp)
    folds[shuffled] = np.arange(rows.n_rows) % _N_FOLDS
    scores = np.empty((rows.n_rows, rows.cards[-1]))
    for fold in range(min(_N_FOLDS, rows.n_rows)):
        held_out = folds == fold
        network = network_from_structures(
            learned.network.domain,
            learned.found.dag,
            learned.found.cpd_structures,
            rows.rows(~held_out),
            options.smoothing,
        )
        features = rows.rows(held_out).without_last()
        scores[held_out] = replace(model, network=network).class_log_scores(features)
    own = rows.column(rows.n_variables - 1).astype(np.intp)
    return best_temperature(scores, own, rows.weights)
