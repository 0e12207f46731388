"""What is alike for most kinds of class model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource, Family
from bayleaf.cpds.distribution import CPD
from bayleaf.data.codes import Codes
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel
from bayleaf.models.rules.latent_rules import LatentReport
from bayleaf.models.support.cells import UsedCells
from bayleaf.models.support.network_terms import sum_out
from bayleaf.models.support.support_counts import SupportCounts, TableSize
from bayleaf.models.texts.feature_shape import (
    FeatureShape,
    feature_shape,
    states_alone,
)
from bayleaf.models.texts.html_summary import NotebookModel
from bayleaf.models.texts.picture import CLASS, FEATURE, LATENT, USED, PicturedGraph
from bayleaf.scoring.partial_cases import Sharing
from bayleaf.scoring.terms import Term
from bayleaf.wording import quoted

Floats = NDArray[np.float64]

# Said of a classifier whose model has no network, unless the model says why.
AVERAGES_NETWORKS = (
    "averages several networks and so is no Bayesian network; it has no network_"
)


class ModelKind(NotebookModel):
    """Base of class models; `ClassModel` says what each member means.

    A kind that is a Bayesian network has it as its attribute ``network``: the features
    in the model's order, then any latent variables, the class last. That is what a
    picture shows then, and what the explorer computes with. A kind without tables that
    rows stand behind has no credible intervals.
    """

    # Where the tables are of a kind whose variables have none of their own.
    _TABLES_ARE: ClassVar[str] = "has no table of its own"
    # What is said of a model without a network that is no average of some.
    why_no_network: ClassVar[str | None] = None

    def __getstate__(self) -> dict[str, Any]:
        # Derived tables are made anew, so that a pickled model stays small.
        model: Any = self
        return {field.name: getattr(model, field.name) for field in fields(model)}

    # ---- what it is

    @property
    def arc_weights(self) -> Mapping[tuple[int, int], float]:
        """None."""
        return {}

    @property
    def remarks(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def cpds(self: ClassModel) -> Sequence[CPD]:
        """Those of the network, unless it has latent variables."""
        network = _network(self)
        plain = network is not None and len(network.domain) == len(self.domain)
        return network.cpds if network is not None and plain else ()

    @property
    def left_out_families(self) -> Sequence[Family] | None:
        """None: rows are left out in folds."""
        return None

    @property
    def feature_marginals(self) -> Sequence[Floats] | None:
        """None: class scores are joint probabilities."""
        return None

    @property
    def latent_reports(self) -> Sequence[LatentReport] | None:
        """None."""
        return None

    @property
    def picture(self: ClassModel) -> PicturedGraph:
        """Nodes and arcs of the network if there is one, else the model's own."""
        network, n_features = _network(self), len(self.domain) - 1
        domain = self.domain if network is None else network.domain
        arcs = self.arcs if network is None else list(network.dag.arcs)
        n_latents = len(domain) - 1 - n_features
        return PicturedGraph(
            domain.names,
            (FEATURE,) * n_features + (LATENT,) * n_latents + (CLASS,),
            tuple((*arc, self.arc_weights.get(arc)) for arc in arcs),
            weights=USED if self.arc_weights else "",
        )

    @property
    def terms(self: ClassModel) -> tuple[Term, ...]:
        """Those of the network."""
        network = _network(self)
        if network is None:
            raise TypeError(
                f"a {type(self).__name__} has no network and defines no terms"
            )
        return (sum_out(network, network.dag.order),)

    @property
    def sharing(self) -> Sharing | None:
        """None: missing features are summed out, or left out."""
        return None

    def table(self: ClassModel, variable: int) -> tuple[Sequence[int], Floats]:
        """That of the network; the class prior for the class."""
        if cpds := self.cpds:
            return cpds[variable].parents, cpds[variable].probabilities
        if variable == len(self.domain) - 1:
            return (), self.class_prior
        place = type(self)._TABLES_ARE  # type: ignore[attr-defined]
        raise ValueError(f"{quoted(self.domain[variable].name)} {place}")

    def feature_shape(
        self: ClassModel, feature: int, classes: tuple[Any, ...]
    ) -> FeatureShape:
        """What the states say where nothing else is known."""
        alone = states_alone(self.class_log_scores, self.domain, feature)
        return feature_shape(self.domain[feature], alone, np.array([]), classes)

    # ---- what stands behind it

    @property
    def table_sizes(self) -> Sequence[TableSize]:
        """None."""
        return ()

    def count_rows(self, source: CountSource) -> Iterable[Floats]:
        """None."""
        return ()

    def n_training_rows(self, support: SupportCounts) -> float:
        """Least weight of the training rows behind any table."""
        return min((float(rows.sum()) for rows in support.rows), default=0.0)

    def drawn(self, support: SupportCounts, rng: np.random.Generator) -> Self:
        """Raise ValueError: there are no tables to draw."""
        raise ValueError(
            f"a {type(self).__name__} knows no rows behind its tables, and so no "
            "credible intervals"
        )

    def drawn_log_scores(
        self,
        codes: Codes,
        support: SupportCounts,
        n_draws: int,
        rng: np.random.Generator,
    ) -> Floats:
        """Class log scores of one drawn copy after the other."""
        model: Any = self
        scores = np.empty((n_draws, codes.n_rows, model.domain.cards[-1]))
        for draw in range(n_draws):
            scores[draw] = model.drawn(support, rng).class_log_scores(codes)
        return scores

    def used_cells(self, codes: Codes, support: SupportCounts) -> Iterator[UsedCells]:
        """None."""
        return iter(())


def _network(model: Any) -> BayesianNetwork | None:
    """The network of a model that is one."""
    network: BayesianNetwork | None = getattr(model, "network", None)
    return network
