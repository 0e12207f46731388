"""Bayesian networks with tables or trees, as density models for scikit-learn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from bayleaf.classifiers.shared.callbacks import with_callbacks
from bayleaf.classifiers.shared.edge_parameters import edge_remarks
from bayleaf.classifiers.shared.parameters import check_count, encoder_rules
from bayleaf.classifiers.shared.structure_parameters import (
    SETTINGS,
    StructureParameters,
    check_expectation,
    structure_options,
)
from bayleaf.classifiers.shared.table_estimator import TableEstimator
from bayleaf.classifiers.shared.training import WeightedRows, split_target_and_weights
from bayleaf.counts.source import MOST_ROWS, CountSource
from bayleaf.counts.table_counts import RowCounts, RowFacts
from bayleaf.cpds.smoothing import resolve_smoothing
from bayleaf.data.code_store import CodeStore
from bayleaf.data.codes import Codes
from bayleaf.data.column_reading import MISSING_RULES, UNKNOWN_RULES
from bayleaf.data.column_table import ColumnTable
from bayleaf.data.discretizers import resolve_discretizer
from bayleaf.data.encoder_learning import Discretizer, learn_rows
from bayleaf.data.incomplete_rows import DROP
from bayleaf.data.memory import size_in_bytes
from bayleaf.data.other_values import OUTCOMES, split_other_values
from bayleaf.data.partial_values import PartialValues, available_codes, sets_in
from bayleaf.data.random_state import RandomState
from bayleaf.data.reading_plan import PlanLike, resolve_plan
from bayleaf.data.table_encoder import EncodedTable
from bayleaf.data.tables.columns import iterate_names
from bayleaf.data.tables.frames import Library, to_columns, whole_table
from bayleaf.data.unknown_cells import warn_of
from bayleaf.density.arc_strength import ArcStrength, bootstrapped_arcs
from bayleaf.describe.fitted_summary import MAX_ITEMS, FittedSummary
from bayleaf.describe.local_structure_text import describe_distribution
from bayleaf.estimator_bases import DensityMixin
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.row_propagation import log_densities, log_likelihood_of_rows
from bayleaf.io.native.model_file import SavedModel
from bayleaf.latent.structure_learning import (
    LearnedStructure,
    learn_by_expectation,
    learn_structure,
)
from bayleaf.models.fit_stamp import FitStamp
from bayleaf.models.networks.structured_network import n_distributions
from bayleaf.models.page_model import DENSITY, PageModel
from bayleaf.results.document import Items, Part
from bayleaf.scores.local_scores import LOCAL_SCORES, Unit, resolve_score
from bayleaf.streams.streamed import is_streamed
from bayleaf.typing import BatchesLike, NumbersLike, RowsLike
from bayleaf.wording import brief, brief_names, counted

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Name = str | int


class BayesianNetworkEstimator(StructureParameters, DensityMixin, TableEstimator):
    """Bayesian network over all columns, learned from data as a density model.

    Distributions are tables or trees, over the columns' values or over groups of them
    that value hierarchies name. Local structure and abstraction together are the nine
    settings of desJardins, Rathod and Getoor (2008): FLAT, ABS-E, ABS-G, ABS-L1,
    ABS-Lf for tables, TCPT, TABS-E, TABS-G, TABS-L for trees.

    Parameters
    ----------
    local_structure : {"table", "tree"}, default="table"
        Form of the distributions.
    abstraction : {"given", "global", "local", "local_refreshed", \
            "local_refreshed_if_better"}, optional
        Where value hierarchies come from: `hierarchies`, learned for each column, for
        each arc, or for each arc again whenever the child's parents change (tables
        only), always taken or only if the score rises. By default there are none.
    local_score : str or LocalScore, default="mdl"
        "mdl", "bic", "aic", "bdeu" or "k2".
    hierarchies : path, or mapping of column to ValueHierarchy or mapping, optional
        Hierarchies by column. Columns without one are flat with
        ``abstraction="given"``; with another abstraction theirs are learned. Cells may
        name groups in every setting.
    linkage : {"information", "hamming"}, default="information"
        How learned hierarchies join values: those that lose least information on the
        other columns, or those whose most frequent rows differ least (the paper's).
    linkage_arity : {"binary", "multiway"}, default="binary"
        Whether two values are joined at a time, or all that are about as close.
    refine_hierarchies : bool, default=False
        Whether members of groups in `hierarchies` that are more than two are joined as
        learned hierarchies join values; needs an abstraction that learns.
    n_restarts : int, default=2
        Searches, the first of them deterministic; the best one counts.
    table_search : {"tabu", "greedy"}, default="tabu"
        Whether further searches over tables walk on from optima, and from the best one
        so far, or only climb from random starts, as in the paper.
    tree_search : {"regrowing", "incremental", "batch"}, default="regrowing"
        Whether trees grow split by split, then as wholes, or again for other parents.
    merge_leaves : bool, default=False
        Merge leaves of the trees that were found while the score rises.
    penalty_weight : float, default=1.0
        Weight of the model's bits in "mdl".
    max_parents : int, optional
        Most parents of a variable.
    required_edges, forbidden_edges : sequence of (parent, child), default=()
        Names of columns that must, or must not, be joined by an arc.
    tiers : sequence of sequence of str or int, default=()
        Groups of columns, the earliest first: no arc leads from a later group to an
        earlier one. Columns that none of them names are free.
    arc_prior : mapping of (parent, child) to float, optional
        How probable arcs are thought to be, above 0 and below 1; the logarithm of their
        odds against no arc is added to the score, in its unit. What a pair's beliefs
        leave of 1 is shared out equally among the arc the other way and no arc, unless
        named: .9 for one direction leaves .05 for each, and 1/3 changes nothing.
    time_limit : float, optional
        Seconds after which the search stops, with a warning.
    cache_size : int, default=200_000
        Most scores of families that a search over tables remembers.
    smoothing : str or Smoothing, default="laplace"
        From counts to probabilities.
    discretizer : str or discretiser, default="equal_frequency"
        Finds the cut points of numeric columns; by default there are five intervals.
    categorical_features : list of str, int or bool, optional
        Columns of numbers that are nominal; all others are then numeric. By default
        columns of integers with at most ten distinct values are nominal.
    missing : str, default="marginalize"
        Missing cells are summed out, over completions of their rows while learning
        ("marginalize"); are summed out exactly, by expectation maximisation on a
        junction tree ("em", tables without abstraction only); count as a state of
        their own ("state"); leave their rows out of learning ("drop"); or are refused
        ("error").
    structural : {"edges"}, optional
        With ``missing="em"``: whether arcs are searched for again with expected counts
        under the network, until its score on what the rows hold rises no more (Friedman
        1998), or once only, each family counted in the rows that hold all of it.
    unknown : {"other", "impossible", "missing", "error"}, default="other"
        How densities handle values not seen in training: in a nominal column of K
        states such values have the probability 1 / (N + K + 1) together, N the weight
        of the training rows, and the cells of all others are multiplied by the rest;
        rows with them are impossible (minus infinity), or take them as missing, with a
        warning each; or they are refused.
    max_states : int, default=1000
        Largest number of states of a nominal column.
    identifiers : {"drop", "keep", "error"}, default="drop"
        For nominal columns in which almost all values are distinct.
    rare : {"group", "error"}, default="group"
        For the rarest values beyond `max_states`.
    dates : {"expand", "error"}, default="expand"
        Whether dates become their parts, and durations numbers.
    ordered_features : dict or list, optional
        Columns of ordered categories; by column their order, the least first, as a
        list or a text such as ``"S<M<L"``.
    weight_scale : {"counts", "mean_one"}, default="counts"
        Whether weights count rows, or get a mean of one, as boosting needs.
    max_table_cells : int, default=20_000_000
        Largest table of counts, and of an intermediate result of inference.
    random_state : int, RandomState, Generator or None, default=None
        Source of the restarts' randomness.
    n_jobs : int, default=None
        Threads; -1 means all cores. The model does not depend on it.
    verbose : int, default=0
        Above zero, the stages of fitting are told on standard error; above one, every
        move of the search with its score.

    Attributes
    ----------
    network_ : BayesianNetwork
        What was learned; it answers queries.
    edges_ : list of (parent, child)
        All arcs.
    n_parameters_ : int
        States times distributions, summed over variables: the paper's count.
    n_free_parameters_ : int
        Number of free parameters.
    n_table_parameters_ : int
        What `n_parameters_` would be if each distribution were a full table over the
        same arcs; over `n_parameters_` it is the compression ratio.
    score_ : float
        The local score of the whole network, larger is better.
    mdl_ : float
        Description length in bits, less the log odds of `arc_prior`; only where
        `local_score` is "mdl".
    log_likelihood_ : float
        Log-likelihood (nats) of the training rows.
    em_scores_ : tuple of float
        Score on what the rows hold, of the first network and of each that took its
        place; only where `missing` is "em".
    trace_ : tuple of Move
        The moves of the best search, each with its gain.
    hierarchies_ : dict of column to ValueHierarchy
        The hierarchies that were given.
    encoder_ : TableEncoder
        Domain of the columns and the rules by which they are read.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, where all of them are strings.

    References
    ----------
    Friedman, N. (1998). The Bayesian structural EM algorithm. UAI-98, 129-138.

    desJardins, M., Rathod, P., Getoor, L. (2008). Learning structured Bayesian
    networks: combining abstraction hierarchies and tree-structured conditional
    probability tables. Computational Intelligence 24, 1-22.

    Castelo, R., Siebes, A. (2000). Priors on network structures. Biasing the search for
    Bayesian networks. International Journal of Approximate Reasoning 24, 39-57.

    Examples
    --------
    >>> from bayleaf import BayesianNetworkEstimator
    >>> rows = [["wet", "rain"], ["dry", "sun"]] * 20
    >>> model = BayesianNetworkEstimator(random_state=0).fit(rows)
    >>> len(model.edges_)
    1
    """

    # How a table is read is no metadata that others could pass on.
    __metadata_request__fit: ClassVar = dict.fromkeys(
        ("store", "max_rows_in_memory", "client", "memory"), UNUSED
    )
    _missing_rules = (*MISSING_RULES, DROP, "em")
    _unknown_rules = (*UNKNOWN_RULES, *OUTCOMES)
    # What was learned from a sample of the rows; empty where all were looked at.
    _sample_note: str = ""

    discretizer: str | Discretizer = "equal_frequency"
    structural: str | None = None
    random_state: RandomState = None
    unknown: str = "other"

    @with_callbacks
    def fit(
        self,
        X: BatchesLike | CodeStore,
        y: object = None,
        sample_weight: NumbersLike | str | None = None,
        *,
        store: str | Path | None = None,
        max_rows_in_memory: int = MOST_ROWS,
        client: object = None,
        memory: int | str | None = None,
        plan: PlanLike = None,
    ) -> Self:
        """Learn from a table, in memory or batch by batch.

        Parameters
        ----------
        X : data frame, ndarray or list of rows, shape (n_rows, n_features)
            Text, numbers, booleans; missing cells as the table marks them. Or what
            yields batches and may be larger than memory: a Parquet or CSV path, glob or
            folder, a dataset or reader of pyarrow, a LazyFrame of polars, a relation of
            DuckDB, anything with ``__arrow_c_stream__``, an opened `CodeStore`.
        y : None
            Not looked at; scikit-learn's tools pass it.
        sample_weight : array-like of shape (n_rows,) or name of a column, optional
            Weights >= 0. Weight 0 equals a removed row, weight 2 a repeated one.
        store : path, optional
            Of a table in batches: the file that keeps its codes, for other fits.
        max_rows_in_memory : int, default=1_000_000
            Of a table in batches: tables are learned from counts of all rows; trees,
            and networks of rows that lack cells, from a sample of so many rows at most,
            drawn at random, which `summary` says.
        client : distributed.Client or its address, optional
            Its workers read Parquet files, by path; without one, a data frame of Dask
            is read by the current client's workers, or by threads.
        memory : int or str, optional
            Of a table in batches: about how many bytes learning may take, such as
            "2GB"; bounds the rows in the place of `max_rows_in_memory`.
        plan : ReadingPlan, dict or path, optional
            How the texts of columns become values; by default all cells of a column
            decide. Tools such as cross-validation learn it once from the whole table
            and pass it to every fit.

        Returns
        -------
        BayesianNetworkEstimator
            The fitted estimator itself.

        Raises
        ------
        ValueError, TypeError
            If a parameter or a column cannot be used; the sentence names it and the
            remedy.
        OSError
            If a table cannot be read, or its codes cannot be written.
        """
        n_bytes = None if memory is None else size_in_bytes(memory, "memory")
        self._plan = resolve_plan(plan)
        with self._callback_context(X, y, sample_weight):
            if client is not None or is_streamed(X):
                from bayleaf.classifiers.shared.stored_tables import Reading
                from bayleaf.density.batches import fit_batches

                reading = Reading(None, store, max_rows_in_memory, sample_weight)
                fit_batches(self, X, reading._replace(client=client, memory=n_bytes))
            else:
                X, _, sample_weight = split_target_and_weights(
                    X, None, sample_weight, None, self._mixed_columns()
                )
                self._fit(X, sample_weight)
        return self

    def _fit(self, X: Any, sample_weight: Any) -> None:
        """Encode the table, search, fill the tables."""
        self._check_parameters()
        sample_weight, dropped = self._complete_row_weights(X, sample_weight)
        with self._stage("encoding the table"):
            codes, partial = self._encoded(X, sample_weight)
        self._note_dropped_rows(dropped)
        self._learn(self._count(codes), partial)

    def _count(self, codes: Codes) -> RowCounts:
        """Counts of codes in memory."""
        return RowCounts(
            codes, self.n_jobs, has_class=False, max_table_cells=self.max_table_cells
        )

    def _learn(self, counts: CountSource, partial: PartialValues) -> None:
        """Search in the rows that are counted, fill the tables, keep what was found."""
        with self._stage("learning the network"):
            domain = self.encoder_.domain
            options = structure_options(self, domain, resolve_smoothing(self.smoothing))
            self.__dict__.pop("em_scores_", None)
            if self.missing == "em" and RowFacts.of(counts).lacks_cells:
                by_steps = learn_by_expectation(
                    counts.rows(), domain, options, edges=self.structural == "edges"
                )
                learned, self.em_scores_ = by_steps.learned, by_steps.scores
            else:
                learned = learn_structure(counts, partial, domain, options)
                if self.missing == "em":
                    self.em_scores_ = (learned.observed_score,)
        self._adopt(learned, counts, partial)

    def _check(self) -> None:
        check_expectation(self)

    def _encoded(self, X: Any, sample_weight: Any) -> tuple[Codes, PartialValues]:
        """Learn how columns are read; the table's codes, and its sets of states."""
        X = whole_table(X)
        parts = to_columns(X)
        validate_data(self, X, reset=True, skip_check_array=True)
        hierarchies = self._given_hierarchies(iterate_names(parts))
        rows = WeightedRows.of_table(parts, sample_weight, self.weight_scale)
        self.encoder_, codes, partial = learn_rows(
            rows.parts,
            None,
            rows.weights,
            resolve_discretizer(self.discretizer),
            encoder_rules(self),
            hierarchies,
        )
        return codes, partial

    def _adopt(
        self, learned: LearnedStructure, counts: CountSource, partial: PartialValues
    ) -> None:
        """Keep what was learned."""
        found = learned.found
        self._last_unknown = {}
        self._fit_stamp = FitStamp.now()
        self._sample_note = ""
        self.network_ = learned.network
        self.score_ = found.score
        self.trace_ = found.trace
        self.__dict__.pop("mdl_", None)
        if resolve_score(self.local_score).name == "mdl":
            self.mdl_ = -found.score
        self.log_likelihood_ = learned.log_likelihood
        self._n_training_rows = RowFacts.of(counts).total_weight
        if RowFacts.of(counts).lacks_cells:
            # What the search went by may rest on completions that were drawn.
            trees = NetworkTrees(self.network_, max_table_cells=self.max_table_cells)
            self.log_likelihood_ = log_likelihood_of_rows(
                trees, counts, self.n_jobs, partial
            )

    def arc_strength(
        self,
        X: RowsLike,
        n_bootstraps: int = 100,
        sample_weight: NumbersLike | None = None,
    ) -> ArcStrength:
        """Learn networks from bootstrap samples of a table and count their arcs.

        Samples are drawn with the estimator's `random_state`; it stays as it is.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            The training rows.
        n_bootstraps : int, default=100
            Number of networks.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows: how probable each is to be drawn.

        Returns
        -------
        ArcStrength
            Frequency and direction of each arc; `averaged_network` makes a graph.
        """
        check_count("n_bootstraps", n_bootstraps, 1)
        return bootstrapped_arcs(self, X, n_bootstraps, sample_weight)

    def score_samples(self, X: RowsLike) -> NDArray[np.float64]:
        """Log probability (nats) of what each row holds, shape (n_rows,).

        Missing cells are summed out exactly. A cell that names a node of the column's
        hierarchy stands for any of the states below it. Values not seen in training
        are handled as `unknown` describes, with a warning.
        """
        encoded, log_mass = self._known_cells(X)
        self._last_unknown = encoded.unknown_cells
        warn_of(encoded.unknown_cells.values())
        trees = NetworkTrees(self.network_, max_table_cells=self.max_table_cells)
        codes, sets = available_codes(encoded.rows), sets_in(encoded.rows)
        return log_mass + log_densities(trees, codes, self.n_jobs, sets)

    def _known_cells(self, X: Any) -> tuple[EncodedTable, NDArray[np.float64]]:
        """A table without its cells of values not seen in training.

        With the log-probability (n_rows,), nats, by which rows differ as `unknown`
        describes.
        """
        check_is_fitted(self, "network_")
        parts = self._parts_as_fitted(X)
        encoded = self.encoder_.transform(parts)
        log_mass = np.zeros(encoded.rows.n_rows)
        if self.unknown in OUTCOMES:
            encoded, log_mass = split_other_values(
                encoded,
                self.encoder_,
                self._n_training_rows,
                impossible=self.unknown == "impossible",
            )
        return encoded, log_mass

    def score(self, X: RowsLike, y: object = None) -> float:
        """Log-likelihood (nats) of a table: the sum of `score_samples`."""
        return float(np.sum(self.score_samples(X)))

    @overload
    def sample(
        self,
        n_samples: int = 1,
        random_state: RandomState = None,
        *,
        numbers: bool = False,
        as_frame: Literal["arrow"] = "arrow",
    ) -> pa.Table: ...
    @overload
    def sample(
        self,
        n_samples: int = 1,
        random_state: RandomState = None,
        *,
        numbers: bool = False,
        as_frame: Literal["pandas"],
    ) -> pd.DataFrame: ...
    @overload
    def sample(
        self,
        n_samples: int = 1,
        random_state: RandomState = None,
        *,
        numbers: bool = False,
        as_frame: Literal["polars"],
    ) -> pl.DataFrame: ...
    def sample(
        self,
        n_samples: int = 1,
        random_state: RandomState = None,
        *,
        numbers: bool = False,
        as_frame: Library = "arrow",
    ) -> pa.Table | pd.DataFrame | pl.DataFrame:
        """Draw rows from the learned distribution, as a table.

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
        """
        check_is_fitted(self, "network_")
        check_count("n_samples", n_samples, 1)
        return self.network_.sample(
            int(n_samples), None, random_state, numbers=numbers, as_frame=as_frame
        )

    def _page_model(self) -> PageModel:
        check_is_fitted(self, "network_")
        return PageModel(
            name=type(self).__name__,
            task=DENSITY,
            model=self.network_,
            scorer=self.network_,
            encoder=self.encoder_,
            read=self._encode,
            fitted=self._fit_stamp,
            rows=self._n_training_rows,
        )

    @property
    def setting_(self) -> str:
        """Name of the setting in the paper, such as TABS-L."""
        return SETTINGS[self.local_structure, self.abstraction]

    @property
    def edges_(self) -> list[tuple[Name, Name]]:
        """All arcs as (parent, child) names."""
        check_is_fitted(self, "network_")
        return self.network_.edges

    @property
    def n_parameters_(self) -> int:
        """States times distributions, summed over variables."""
        check_is_fitted(self, "network_")
        return self.n_free_parameters_ + sum(map(n_distributions, self.network_.cpds))

    @property
    def n_table_parameters_(self) -> int:
        """States times parents' joint states, summed over variables."""
        check_is_fitted(self, "network_")
        return sum(math.prod(cpd.cards) for cpd in self.network_.cpds)

    @property
    def n_free_parameters_(self) -> int:
        """Number of free parameters."""
        check_is_fitted(self, "network_")
        return self.network_.n_parameters

    def describe(self, name: Name) -> str:
        """One variable's distribution: a table, or an indented tree of conditions."""
        check_is_fitted(self, "network_")
        return describe_distribution(self.network_, name)

    def summary(self) -> DensitySummary:
        """Variables, arcs, parameters, score, log-likelihood, remarks."""
        check_is_fitted(self, "network_")
        return DensitySummary(
            model=type(self).__name__,
            setting=self.setting_,
            n_variables=len(self.encoder_.domain),
            n_edges=len(self.edges_),
            n_parameters=self.n_parameters_,
            n_free_parameters=self.n_free_parameters_,
            n_table_parameters=self.n_table_parameters_,
            local_score=resolve_score(self.local_score).name,
            unit=resolve_score(self.local_score).unit,
            score=self.score_,
            log_likelihood=self.log_likelihood_,
            edges=tuple(self.edges_),
            notes=tuple(self.encoder_.notes.items()),
            unknown=tuple(self._n_unknown.items()),
            columns=self.columns_,
            sample=self._sample_note,
            remarks=tuple(edge_remarks(self)),
            fitted=self._fit_stamp,
        )

    def _record(self, **others: Any) -> SavedModel:
        return SavedModel.of(
            self.encoder_,
            self.network_.domain,
            None,
            model=self.network_,
            score=self.score_,
            log_likelihood=self.log_likelihood_,
            sample=self._sample_note or None,
            rows=self._n_training_rows,
            **others,
        )

    def _restore(self, saved: Any) -> None:
        """Take over what `_record` gave; the trace of moves is not kept in files."""
        super()._restore(saved)
        self.network_ = saved.model
        self.score_ = saved.score
        if resolve_score(self.local_score).name == "mdl":
            self.mdl_ = -saved.score
        self.log_likelihood_ = saved.log_likelihood
        self._n_training_rows = saved.rows or 0.0
        self.trace_ = ()
        self._sample_note = saved.sample or ""


@dataclass(frozen=True)
class DensitySummary(FittedSummary):
    """Facts on a fitted density model.

    Parameters
    ----------
    model : str
        Name of the estimator.
    setting : str
        Name of its setting in desJardins, Rathod and Getoor (2008).
    n_variables : int
        Number of variables.
    n_edges : int
        Number of arcs.
    n_parameters : int
        States times distributions, as the paper counts.
    n_free_parameters : int
        Number of free parameters.
    n_table_parameters : int
        `n_parameters` of full tables over the same arcs.
    local_score : str
        Name of the score that the search made large.
    unit : {"bits", "nats"}
        What it is measured in.
    score : float
        What it came to.
    log_likelihood : float
        Log-likelihood (nats) of the training rows.
    edges : tuple of (parent, child)
        All arcs.
    notes : tuple of (name, str)
        Columns that were read in a way that a reader should know.
    unknown : tuple of (name, int)
        Cells of the last table scored whose values training did not contain.
    columns : ColumnTable, optional
        How the columns of the training table were taken.
    sample : str, default=""
        What was learned from a sample of the rows; empty where all were looked at.
    remarks : tuple of str
        Arcs that the search had to use or leave out.
    fitted : FitStamp, optional
        Date of the fit and version of the library.
    """

    model: str
    setting: str
    n_variables: int
    n_edges: int
    n_parameters: int
    n_free_parameters: int
    n_table_parameters: int
    local_score: str
    unit: Unit
    score: float
    log_likelihood: float
    edges: tuple[tuple[Name, Name], ...]
    notes: tuple[tuple[Name, str], ...]
    unknown: tuple[tuple[Name, int], ...]
    columns: ColumnTable | None = None
    sample: str = ""
    remarks: tuple[str, ...] = ()
    fitted: FitStamp | None = None

    def facts(self) -> list[tuple[str, str]]:
        """Setting, sizes and scores."""
        bits = self.log_likelihood / math.log(2.0)
        # The library's own are abbreviations, but for "BDeu".
        name = self.local_score
        if name in LOCAL_SCORES:
            name = {"bdeu": "BDeu"}.get(name, name.upper())
        score = self.score / (1.0 if self.unit == "bits" else math.log(2.0))
        facts = [
            ("setting", self.setting),
            ("variables", str(self.n_variables)),
            ("arcs", str(self.n_edges)),
            ("parameters", f"{self.n_parameters} ({self.n_free_parameters} free)"),
            *self._compression(),
            (f"{name} score", f"{score:.8g} bits"),
            ("log-likelihood", f"{bits:.8g} bits (training rows)"),
        ]
        if self.sample:
            facts.append(("rows", self.sample))
        if self.fitted is not None:
            facts.append(("fitted", str(self.fitted)))
        return facts

    def _compression(self) -> list[tuple[str, str]]:
        """The size of full tables over the same arcs, where it differs."""
        if self.n_table_parameters == self.n_parameters:
            return []
        ratio = self.n_table_parameters / self.n_parameters
        full = f"{self.n_table_parameters} parameters, {ratio:.3g} times as many"
        return [("as full tables", full)]

    def lists(self) -> list[Part]:
        """Remarks and arcs."""
        arcs = [f"{parent} -> {child}" for parent, child in self.edges]
        return [Items(self.remarks, "remarks"), Items(arcs, "arcs", MAX_ITEMS)]

    def __repr__(self) -> str:
        arcs = brief_names([f"{parent} -> {child}" for parent, child in self.edges])
        return brief(
            self,
            f"{self.model}, setting {self.setting}",
            counted(self.n_variables, "variable"),
            f"{counted(self.n_edges, 'arc')} ({arcs})",
            f"log-likelihood {self.log_likelihood / math.log(2.0):.8g} bits",
        )
