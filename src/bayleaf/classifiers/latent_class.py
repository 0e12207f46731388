"""Naive Bayes with components within each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast, overload

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.parameters import AUTO, check_count, check_threshold
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.source import CountSource
from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.smoothing import FixedDistribution, Smoothing
from bayleaf.data.domain import Domain
from bayleaf.data.other_values import split_other_values
from bayleaf.data.partial_values import single_states
from bayleaf.data.random_state import RandomState
from bayleaf.data.tables.frames import Library
from bayleaf.data.unknown_cells import warn_of
from bayleaf.io.native.model_file import SavedModel
from bayleaf.latent.expectation_maximisation import EMOptions, warn_of_limit
from bayleaf.latent.latent_class_em import (
    HeldOut,
    choose_size,
    held_out_scores,
    learn_latent_class,
)
from bayleaf.models.latent_class_model import LatentClassModel
from bayleaf.search.left_out.temperature import best_temperature
from bayleaf.typing import RowsLike
from bayleaf.wording import quoted

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class LatentClassNBClassifier(BayesianClassifier):
    """Naive Bayes in which every class is a mixture of components.

    The joint distribution P(component) P(class | component) times the product of
    P(feature | class, component) is learned by expectation maximisation. It classifies,
    tells how likely rows are (`score_samples`) and draws new ones (`sample`).

    Parameters
    ----------
    n_components : int or "auto", default=8
        Components of each class; one is naive Bayes. "auto" doubles their number
        until the log-loss of held-out training rows falls no more.
    max_components : int, default=32
        Most components that "auto" tries.
    n_restarts : int, default=3
        Random starts; the best end by the training objective is kept.
    max_iter : int, default=500
        Maximum number of steps from each start.
    tol : float, default=1e-5
        Steps end once two in a row each change the objective by at most `tol` nats per
        row (by weight) and no probability of a state, component and class together by
        more than `tol`.
    score_folds : int, default=5
        Folds of distinct rows that are held out in turn where "auto" chooses the
        number of components, and for calibration.
    smoothing : str or Smoothing, default="laplace"
        Rule for the tables. EM climbs the likelihood times the prior over tables for
        which the rule stands; under "maximum_likelihood" and rules of your own it
        climbs with one prior row a table, and the rule makes the final tables.
    random_state : int, RandomState, Generator or None, default=None
        Source of starts and folds.
    **shared
        The other parameters that the classifiers share, see `BayesianClassifier`.

    Attributes
    ----------
    n_components_ : int
        Components of each class.
    em_fit_ : LatentClassFit
        How EM went: objectives, steps, convergence.
    n_iter_ : int
        Steps of EM from the start that was kept.
    size_trace_ : tuple of SizeStep
        Numbers of components that "auto" tried, with their held-out log-loss.

    References
    ----------
    Dempster, A. P., Laird, N. M., Rubin, D. B. (1977). Maximum likelihood from
    incomplete data via the EM algorithm. Journal of the Royal Statistical Society B
    39, 1-38.
    """

    n_components: int | str = 8
    max_components: int = 32
    n_restarts: int = 3
    max_iter: int = 500
    tol: float = 1e-5
    score_folds: int = 5
    smoothing: str | Smoothing = "laplace"
    random_state: RandomState = None

    def _record(self, **others: Any) -> SavedModel:
        return super()._record(rows=self._n_training_rows, **others)

    def _restore(self, saved: Any) -> None:
        super()._restore(saved)
        self._n_training_rows: float | None = saved.rows

    def _check(self) -> None:
        if self.n_components != AUTO:
            check_count("n_components", self.n_components, 1, or_else=AUTO)
        check_count("max_components", self.max_components, 1)
        check_count("n_restarts", self.n_restarts, 1)
        check_count("max_iter", self.max_iter, 1)
        check_threshold("tol", self.tol, none_too=False)
        check_count("score_folds", self.score_folds, 2)
        if isinstance(self.smoothing, str) and self.smoothing == AUTO:
            raise ValueError(
                "smoothing='auto' leaves single rows out of counts, but components "
                "belong to no row for certain; name a rule, such as Lidstone(0.3)"
            )

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        given = self._given_prior
        held_out = HeldOut(
            self.score_folds,
            int(rng.integers(1 << 63)),
            self.smoothing_,
            self.smoothing_ if given is None else FixedDistribution(given),
            EMOptions(self.n_restarts, self.max_iter, self.tol),
            self.max_components,
            counts.n_jobs,
        )
        self._n_training_rows = float(counts.class_counts().sum())
        n_components = self._chosen_size(counts, domain, held_out)
        self._check_table_sizes(domain, n_components)
        self.em_fit_ = fit = learn_latent_class(
            counts.rows(),
            n_components,
            self.smoothing_,
            held_out.options,
            [held_out.seed, n_components, self.score_folds],
            counts.n_jobs,
        )
        self.n_iter_ = fit.n_iter
        warn_of_limit(fit.converged, self.max_iter)
        if self.calibration is not None:
            # A row's components depend on all rows, so whole folds are held out.
            scores = held_out_scores(counts.rows(), domain, held_out, n_components)
            self._learned_temperature = best_temperature(
                scores.log_scores, scores.own, scores.weights
            )
        prior = np.array(held_out.prior_rule.estimate(counts.class_counts()))
        class_table = TableCPD((counts.class_index,), prior)
        log_likelihood = class_table.log_likelihood(counts.class_counts())
        model = LatentClassModel(domain, prior, fit.weights, fit.tables)
        return Learned(model, log_likelihood + fit.log_likelihood)

    def _chosen_size(
        self, counts: CountSource, domain: Domain, held_out: HeldOut
    ) -> int:
        """Components of each class: given, or those that predict held-out rows best."""
        self.__dict__.pop("size_trace_", None)
        if self.n_components != AUTO:
            return int(self.n_components)
        choice = choose_size(counts.rows(), domain, held_out)
        self.size_trace_ = choice.steps
        return choice.n_components

    def _check_table_sizes(self, domain: Domain, n_components: int) -> None:
        """Raise before learning if a feature's table would be too large."""
        *features, class_variable = domain.variables
        for feature in features:
            cells = class_variable.n_states * n_components * feature.n_states
            if cells > self.max_table_cells:
                raise ValueError(
                    f"the table of feature {quoted(feature.name)} with {n_components} "
                    f"components would have {cells:.3g} cells, more than "
                    f"max_table_cells={self.max_table_cells}; use fewer components or "
                    "coarser columns"
                )

    # ---- the model as a density

    def score_samples(self, X: RowsLike) -> NDArray[np.float64]:
        """Log probability (nats) of each row's observed features, shape (n_rows,).

        Classes, components and missing cells are summed out; no temperature is
        applied. In a nominal feature of K states, values not seen in the N training
        rows have the probability 1 / (N + K + 1) together, and those seen the rest.
        """
        encoded = self._encode(X)
        log_mass = np.zeros(encoded.rows.n_rows)
        # Files of earlier versions have no number of rows.
        if self._n_training_rows is not None:
            encoded, log_mass = split_other_values(
                encoded, self.encoder_, self._n_training_rows, impossible=False
            )
        warn_of(encoded.unknown_cells.values())
        codes = single_states(encoded.rows)
        return self._mixture.log_evidence(codes) + log_mass

    @overload
    def sample(
        self,
        n_samples: int = 1,
        random_state: RandomState = None,
        *,
        numbers: bool = False,
        as_frame: Literal["arrow"] = "arrow",
    ) -> tuple[pa.Table, pa.ChunkedArray]: ...
    @overload
    def sample(
        self,
        n_samples: int = 1,
        random_state: RandomState = None,
        *,
        numbers: bool = False,
        as_frame: Literal["pandas"],
    ) -> tuple[pd.DataFrame, pd.Series]: ...
    @overload
    def sample(
        self,
        n_samples: int = 1,
        random_state: RandomState = None,
        *,
        numbers: bool = False,
        as_frame: Literal["polars"],
    ) -> tuple[pl.DataFrame, pl.Series]: ...
    def sample(
        self,
        n_samples: int = 1,
        random_state: RandomState = None,
        *,
        numbers: bool = False,
        as_frame: Library = "arrow",
    ) -> Any:
        """Draw rows from the learned distribution.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, RandomState, Generator or None, default=None
            Seed; the same one gives the same rows.
        numbers : bool, default=False
            Draw numbers, as training rows had them, for intervals.
        as_frame : {"arrow", "pandas", "polars"}, default="arrow"
            Library of the table.

        Returns
        -------
        X : pyarrow.Table, or data frame of pandas or polars
            One column a feature.
        y : pyarrow.ChunkedArray, or series of pandas or polars
            The class of each row.
        """
        table = self.network_.sample(
            n_samples, None, random_state, numbers=numbers, as_frame=as_frame
        )
        *features, target = (str(name) for name in self._mixture.domain.names)
        frame = nw.from_native(table, eager_only=True)
        return frame.select(features).to_native(), frame.get_column(target).to_native()

    def component_proba(self, X: RowsLike) -> NDArray[np.float64]:
        """P(component | class, row) for every class.

        Returns
        -------
        ndarray of shape (n_rows, n_classes, n_components)
            Components in the order of the summary, the heaviest of each class first.
        """
        codes = self._codes_as_fitted(X)
        return self._mixture.component_posteriors(codes)

    # ---- looking at the result

    @property
    def n_components_(self) -> int:
        """Components of each class."""
        return self._mixture.n_components

    @property
    def edges_(self) -> list[tuple[str | int, str | int]]:
        """Arcs of the network as (parent, child) names, the component's included."""
        return self.network_.edges

    def components(self) -> str:
        """The components of each class, for a reader.

        Each has its share of the class's rows and the states that mark it most, with
        their probability in the component and in the class.
        """
        return "\n".join(self._mixture.remarks) or "one component: naive Bayes"

    def __str__(self) -> str:
        return self.components() if hasattr(self, "model_") else super().__str__()

    @property
    def _mixture(self) -> LatentClassModel:
        """The fitted model."""
        check_is_fitted(self, "model_")
        return cast(LatentClassModel, self.model_)
