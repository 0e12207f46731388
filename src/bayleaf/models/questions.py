"""What a network can be asked, by the names of its variables and states."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

    from bayleaf.models.bayesian_network import BayesianNetwork
    from bayleaf.models.posteriors import Posteriors
    from bayleaf.models.queries import Inference
    from bayleaf.models.sensitivity import Sensitivity

Name = str | int
Evidence = Mapping[Any, Any] | None
Unknown = Literal["error", "missing"]


class Questions:
    """Questions that every network answers, each in one line by `Inference`.

    Evidence is a mapping from names of variables to what is known of them: a state, a
    number for a variable with cut points, a list or set of states of which one holds,
    ``Not(state)``, a node of the value hierarchy, or likelihoods (an array, or a
    mapping from states to numbers).
    """

    @cached_property
    def inference(self) -> Inference:
        """The network's compiled form, made when first asked for and then kept."""
        # Loaded late, because questions are answered by what knows networks.
        from bayleaf.models.queries import Inference

        return Inference(cast("BayesianNetwork", self))

    def compile(self, max_table_cells: int = 20_000_000) -> Inference:
        """Compile the network anew with another limit, and keep that for all questions.

        Parameters
        ----------
        max_table_cells : int, default=20_000_000
            Largest table that inference may build; eight bytes a cell.
        """
        from bayleaf.models.queries import Inference

        found = Inference(
            cast("BayesianNetwork", self), max_table_cells=max_table_cells
        )
        # Where cached_property keeps its value.
        self.__dict__["inference"] = found
        return found

    def query(
        self, evidence: Evidence = None, targets: Iterable[Any] | Any = None
    ) -> Posteriors:
        """Posterior of every target (all variables by default); `Inference.query`."""
        return self.inference.query(evidence, targets)

    def probability_of_evidence(self, evidence: Evidence) -> float:
        """P(evidence); 0 if it is impossible."""
        return self.inference.probability_of_evidence(evidence)

    def log_probability_of_evidence(self, evidence: Evidence) -> float:
        """Natural logarithm of P(evidence); minus infinity if it is impossible."""
        return self.inference.log_probability_of_evidence(evidence)

    def most_probable_explanation(
        self, evidence: Evidence = None
    ) -> tuple[dict[Name, Hashable], float]:
        """Most probable state of all variables together, and its log-probability."""
        return self.inference.most_probable_explanation(evidence)

    def conflict(self, evidence: Evidence) -> float:
        """Logarithm (nats) of the product of all P(item) over P(evidence).

        Positive where the items speak against each other (Kjaerulff and Madsen 2013,
        chapter 11).
        """
        return self.inference.conflict(evidence)

    def conflict_by_item(self, evidence: Evidence) -> dict[Name, float]:
        """How far each item of evidence is in conflict with the others, in nats."""
        return self.inference.conflict_by_item(evidence)

    def value_of_information(
        self,
        target: Any,
        evidence: Evidence = None,
        candidates: Iterable[Any] | None = None,
    ) -> dict[Name, float]:
        """Expected fall of the target's entropy (nats) by candidate, largest first."""
        return self.inference.value_of_information(target, evidence, candidates)

    def sensitivity(
        self,
        target: Mapping[Any, Any],
        node: Any,
        state: Any,
        given: Evidence = None,
        evidence: Evidence = None,
    ) -> Sensitivity:
        """How a posterior depends on one table entry; see `Inference.sensitivity`."""
        return self.inference.sensitivity(target, node, state, given, evidence)

    def posterior_table(
        self,
        table: Any,
        target: Any,
        *,
        unknown: Unknown = "error",
        ignore: Collection[Any] = (),
        n_jobs: int | None = None,
    ) -> NDArray[np.float64]:
        """Posterior of a variable in every row of a table.

        Shape (n_rows, n_states of the target); see `Inference.posterior_table`.
        """
        return self.inference.posterior_table(
            table, target, unknown=unknown, ignore=ignore, n_jobs=n_jobs
        )

    def log_likelihood_rows(
        self,
        table: Any,
        *,
        unknown: Unknown = "error",
        ignore: Collection[Any] = (),
        n_jobs: int | None = None,
    ) -> NDArray[np.float64]:
        """Logarithm of each row's probability (nats), missing cells summed out."""
        return self.inference.log_likelihood_rows(
            table, unknown=unknown, ignore=ignore, n_jobs=n_jobs
        )

    def log_likelihood(
        self,
        table: Any,
        weights: Any = None,
        *,
        unknown: Unknown = "error",
        ignore: Collection[Any] = (),
        n_jobs: int | None = None,
    ) -> float:
        """Weighted log-likelihood (nats) of a table, missing cells summed out."""
        return self.inference.log_likelihood(
            table, weights, unknown=unknown, ignore=ignore, n_jobs=n_jobs
        )

    def sample(
        self, n: int, evidence: Evidence = None, random_state: Any = None
    ) -> pa.Table:
        """Draw rows, given evidence if there is any, as a pyarrow table."""
        return self.inference.sample(n, evidence, random_state)
