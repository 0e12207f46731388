"""What a fitted density model is asked: probabilities of rows, samples, its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from bayleaf.classifiers.shared.edge_parameters import edge_remarks
from bayleaf.classifiers.shared.parameters import check_count
from bayleaf.classifiers.shared.structure_parameters import SETTINGS
from bayleaf.classifiers.shared.table_estimator import TableEstimator
from bayleaf.data.fitted_hierarchies import resolve_hierarchies
from bayleaf.data.table_encoder import EncodedTable, TableEncoder
from bayleaf.data.tables.frames import to_columns
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.density.encoding import read_table
from bayleaf.density.summary import DensitySummary
from bayleaf.describe.local_structure_text import describe_distribution
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.row_propagation import log_densities
from bayleaf.io.native.model_file import SavedModel
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.networks.structured_network import n_distributions
from bayleaf.models.page_model import DENSITY, PageModel
from bayleaf.scores.local_scores import resolve_score
from bayleaf.search.structure import Move

if TYPE_CHECKING:
    import pyarrow as pa

Name = str | int


class FittedNetwork(
    DensityMixin,  # type: ignore[misc]
    TableEstimator,
):
    """What can be asked once a density model is fitted."""

    local_structure: str
    abstraction: str | None
    local_score: Any
    encoder_: TableEncoder
    network_: BayesianNetwork
    hierarchies_: dict[Name, ValueHierarchy]
    score_: float
    log_likelihood_: float
    trace_: tuple[Move, ...]
    # What was learned from a sample of the rows; empty where all were looked at.
    _sample_note: str = ""

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log probability (nats) of what each row holds, shape (n_rows,).

        Missing cells are summed out exactly. A cell that names a node of the column's
        hierarchy stands for any of the states below it.
        """
        check_is_fitted(self, "network_")
        parts = self._parts_as_fitted(X)
        encoded, partial = read_table(parts, self.encoder_, self.hierarchies_)
        self._last_unknown = encoded.unknown
        trees = NetworkTrees(self.network_, max_table_cells=self.max_table_cells)
        return log_densities(trees, encoded.codes, self.n_jobs, partial)

    def score(self, X: Any, y: Any = None) -> float:
        """Log-likelihood (nats) of a table: the sum of `score_samples`."""
        return float(np.sum(self.score_samples(X)))

    def sample(
        self, n_samples: int = 1, random_state: Any = None, *, numbers: bool = False
    ) -> pa.Table:
        """Draw rows from the learned distribution, as a pyarrow.Table.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, RandomState, Generator or None, default=None
            Seed; the same one gives the same rows.
        numbers : bool, default=False
            Draw numbers, as training rows had them, for intervals.
        """
        check_is_fitted(self, "network_")
        check_count("n_samples", n_samples, 1)
        rows: pa.Table = self.network_.sample(
            int(n_samples), None, random_state, numbers=numbers
        )
        return rows

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
            local_score=resolve_score(self.local_score).name,
            score=self.score_,
            log_likelihood=self.log_likelihood_,
            edges=tuple(self.edges_),
            notes=tuple(self.encoder_.notes.items()),
            unknown=tuple(self._last_unknown.items()),
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
            **others,
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
        )

    def _encode(self, X: Any) -> EncodedTable:
        """Encode a table; cells that name a node of a hierarchy are missing."""
        return read_table(to_columns(X), self.encoder_, self.hierarchies_)[0]

    def _restore(self, saved: Any) -> None:
        """Take over what `_record` gave; the trace of moves is not kept in files."""
        super()._restore(saved)
        self.network_ = saved.model
        self.score_ = saved.score
        if self.local_score == "mdl":
            self.mdl_ = -saved.score
        self.log_likelihood_ = saved.log_likelihood
        self.trace_ = ()
        self._sample_note = saved.sample or ""
        names = self.encoder_.domain.names
        self.hierarchies_ = resolve_hierarchies(self.hierarchies, names)
