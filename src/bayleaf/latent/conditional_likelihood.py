"""Parameters that make the training classes, not the rows, most probable."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bayleaf.counts.table_counts import RowCounts
from bayleaf.counts.threads import one_thread_of_linear_algebra
from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.shuffled_rows import merged_rows
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.inference.row_propagation import expected_counts
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import log_normalize
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.wording import brief_fields

Table = NDArray[np.float64]

# Probabilities below this are told from zero by nothing.
_SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class ConditionalFit:
    """A network whose tables were fitted to the classes, and how that went.

    Parameters
    ----------
    network : BayesianNetwork
        The network with the new tables; its structure is unchanged.
    before, after : float
        Conditional log-likelihood (nats) of the training classes under the generative
        tables and under the new ones; the latter is never lower.
    n_iter : int
        Number of steps made.
    """

    network: BayesianNetwork
    before: float
    after: float
    n_iter: int

    __repr__ = brief_fields


def fit_conditionally(
    network: BayesianNetwork,
    codes: Codes,
    *,
    pull: float = 1.0,
    fixed: Collection[int] = (),
    max_iter: int = 200,
    n_jobs: int | None = None,
    max_table_cells: int = 20_000_000,
) -> ConditionalFit:
    """Raise the conditional log-likelihood of the classes over a network's tables.

    Maximises sum ln P(class | features) - pull / 2 * ||w - w0||², where w are the
    logarithms of the tables' entries, normalised within each distribution, and w0 those
    of the generative estimates that the network comes with. The network consists of
    tables, its last variable, the class, has no parents and no missing cells; tables of
    the variables in `fixed` stay as they are. `max_table_cells` limits the tables that
    summing out missing features builds.

    Langseth and Nielsen (2006), sections 6.1 and 7, name the aim; Greiner, Su, Shen and
    Zhou (2005) derive the gradient: expected family counts once the class is known less
    those when it is not. Steps are those of L-BFGS (Byrd, Lu, Nocedal and Zhu 1995).
    """
    task = _ConditionalTask(network, codes, pull, fixed, n_jobs, max_table_cells)
    before = task.conditional_log_likelihood(network)
    with one_thread_of_linear_algebra():
        found = minimize(
            task.loss_and_gradient,
            task.start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": max_iter},
        )
    fitted = task.network_of(found.x)
    after = task.conditional_log_likelihood(fitted)
    if not after > before:
        # Tables that need not sum to one can beat every network near them.
        return ConditionalFit(network, before, before, int(found.nit))
    return ConditionalFit(fitted, before, after, int(found.nit))


class _ConditionalTask:
    """Rows, start and bookkeeping of one fit; all tables lie in one flat vector."""

    def __init__(
        self,
        network: BayesianNetwork,
        codes: Codes,
        pull: float,
        fixed: Collection[int],
        n_jobs: int | None,
        max_table_cells: int,
    ) -> None:
        self.network = network
        self._pull = pull
        self._n_jobs = n_jobs
        self._max_table_cells = max_table_cells
        self._class_index = len(network.domain) - 1
        self._learned = [v for v in range(len(network.domain)) if v not in fixed]
        tables = [network.cpds[node].probabilities for node in self._learned]
        self._bounds = np.cumsum([0, *(table.size for table in tables)])
        self.start = np.concatenate(
            [np.log(np.maximum(table, _SMALLEST)).ravel() for table in tables]
        )
        # Equal rows as one make weights exact and the order of rows unimportant.
        self._codes = codes = merged_rows(codes)[0]
        self._features = codes.without_last()
        self._classes = codes.column(self._class_index).astype(np.intp)
        self._n_classes = network.domain.cards[-1]
        self._split_rows()

    def _split_rows(self) -> None:
        """Part the rows that miss a feature with children from those that do not."""
        children = self.network.dag.children()
        inner = np.zeros(self._codes.n_rows, dtype=bool)
        for variable in range(self._class_index):
            if children[variable]:
                inner |= self._codes.missing(variable)
        self._simple, self._inner = np.flatnonzero(~inner), np.flatnonzero(inner)
        # All rows with the first class, then all with the second, and so on.
        copies = self._codes.rows(np.tile(self._simple, self._n_classes))
        classes = np.repeat(np.arange(self._n_classes), len(self._simple))
        self._copies = _with_class(copies, classes)
        families = self.network.dag.families
        self._families = [families[node] for node in self._learned]
        simple = RowCounts(self._codes.rows(self._simple), self._n_jobs)
        self._known = simple.family_counts(self._families)

    def network_of(self, flat: Table) -> BayesianNetwork:
        """The network whose learned tables have these logarithms, normalised."""
        cpds = list(self.network.cpds)
        for place, node in enumerate(self._learned):
            cpd = cpds[node]
            part = flat[self._bounds[place] : self._bounds[place + 1]]
            logs = part.reshape(cpd.cards)
            shifted = np.exp(logs - logs.max(axis=-1, keepdims=True))
            table = shifted / shifted.sum(axis=-1, keepdims=True)
            cpds[node] = TableCPD(cpd.family, table)
        return replace(self.network, cpds=tuple(cpds))

    def conditional_log_likelihood(self, network: BayesianNetwork) -> float:
        """Weighted sum of ln P(class | features) over the rows (nats)."""
        return float(np.dot(self._codes.weights, self._own(self._posteriors(network))))

    def loss_and_gradient(self, flat: Table) -> tuple[float, Table]:
        """What is minimised, and its derivatives by the flat vector."""
        network = self.network_of(flat)
        log_posteriors = self._posteriors(network)
        fit = float(np.dot(self._codes.weights, self._own(log_posteriors)))
        away = flat - self.start
        loss = self._pull / 2.0 * float(away @ away) - fit
        gradient = self._pull * away
        for place, counts in enumerate(self._excess_counts(network, log_posteriors)):
            table = network.cpds[self._learned[place]].probabilities
            pulled = counts - table * counts.sum(axis=-1, keepdims=True)
            gradient[self._bounds[place] : self._bounds[place + 1]] -= pulled.ravel()
        return loss, gradient

    def _posteriors(self, network: BayesianNetwork) -> Table:
        """Log posterior of each class, shape (n_rows, n_classes)."""
        model = NetworkModel(network, self._max_table_cells)
        return log_normalize(model.class_log_scores(self._features))

    def _own(self, log_posteriors: Table) -> Table:
        """Of each row, that of its own class."""
        own: Table = log_posteriors[np.arange(len(log_posteriors)), self._classes]
        return own

    def _excess_counts(
        self, network: BayesianNetwork, log_posteriors: Table
    ) -> list[Table]:
        """Expected family counts with the class known, less those without."""
        weights = self._codes.weights[self._simple, None]
        shares = np.exp(log_posteriors[self._simple]) * weights
        copies = replace(self._copies, weights=shares.T.ravel(), unit_weights=False)
        blind = RowCounts(copies, self._n_jobs).family_counts(self._families)
        excess = [known - part for known, part in zip(self._known, blind, strict=True)]
        if len(self._inner):
            rows = self._codes.rows(self._inner)
            hidden = _with_class(rows, np.full(rows.n_rows, self._n_classes))
            tree = JunctionTree.compile(network, max_table_cells=self._max_table_cells)
            seen, _ = expected_counts(tree, rows, self._n_jobs or 1)
            unseen, _ = expected_counts(tree, hidden, self._n_jobs or 1)
            for place, node in enumerate(self._learned):
                excess[place] += seen[node] - unseen[node]
        return excess


def _with_class(codes: Codes, classes: NDArray[np.intp]) -> Codes:
    """The same rows with other classes."""
    return codes.without_last().with_column(classes, codes.cards[-1], codes.weights)
