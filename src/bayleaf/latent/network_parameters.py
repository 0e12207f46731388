"""Parameters of a given network from incomplete rows, by expectation maximisation."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.table_counts import RowCounts
from bayleaf.cpds.distribution import CPD, GroupedTableCPD, TableCPD
from bayleaf.cpds.local_structure import with_distributions
from bayleaf.cpds.tree_cpd import TreeCPD
from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import Rows
from bayleaf.data.random_state import random_generator
from bayleaf.data.shuffled_rows import merged_rows
from bayleaf.inference.encoded_rows import read_rows, read_weights
from bayleaf.inference.log_sums import log_of
from bayleaf.inference.missing_parts import ExpectedFamilies, MissingParts
from bayleaf.inference.set_evidence import with_set_families
from bayleaf.inference.states import check_integer
from bayleaf.latent.expectation_maximisation import (
    EMOptions,
    Progress,
    best_climb,
    tables_of,
    warn_of_limit,
)
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.network_structure import Name
from bayleaf.results.result import Shown
from bayleaf.typing import TableLike
from bayleaf.wording import brief_fields, name_list, quoted

Table = NDArray[np.float64]
Estimate = Callable[[Table, Table], Table]
CPDs = tuple[CPD, ...]

# Differences that rounding leaves.
_EQUAL = 1e-12
# Starts where variables are latent, and the steps after which the best alone goes on.
_STARTS = 10
_TRIAL_STEPS = 10


@dataclass(frozen=True, eq=False)
class LearnedParameters(Shown, nats=("log_likelihood", "objectives")):
    """A network with learned parameters, and how learning went.

    Parameters
    ----------
    network : BayesianNetwork
        The network; the tables that were learned carry their new experience: that
        before plus the expected number of rows of each parent configuration, less the
        share of information on its distribution that missing cells take.
    log_likelihood : float
        Of the rows, in nats.
    objectives : tuple of float
        What rose at every step, from the start on: the log-likelihood plus the
        logarithm of the prior that experience counts stand for (nats).
    converged : bool
        Whether learning ended by `tol`, or because all rows were complete.
    expected_counts : tuple of ndarray
        Expected rows in each cell of each family under the network, shaped like its
        tables.
    """

    network: BayesianNetwork
    log_likelihood: float
    objectives: tuple[float, ...]
    converged: bool
    expected_counts: tuple[Table, ...]

    __repr__ = brief_fields

    @property
    def n_iter(self) -> int:
        """Number of steps made."""
        return len(self.objectives) - 1


def learn_parameters(
    network: BayesianNetwork,
    table: TableLike | Rows,
    *,
    sample_weight: Sequence[float] | Table | None = None,
    start: BayesianNetwork | None = None,
    tol: float = 1e-7,
    max_iter: int = 500,
    n_restarts: int | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LearnedParameters:
    """Learn the parameters of a network whose structure is given.

    Which distributions are learned follows HUGIN's rule: tables with experience
    counts (`BayesianNetwork.with_experience`) are, all else stays as it is; where no
    table has any, all tables and trees are learned as if their experience were zero.
    A table's experience is the weight of its present distributions as a prior.

    Parameters
    ----------
    network : BayesianNetwork
        Structure, start and prior.
    table : data frame, mapping of name to column, or Codes
        Rows, cells may be missing or name groups of a variable's hierarchy; a variable
        without a column is latent.
    sample_weight : array-like of shape (n_rows,), optional
        Weight of each row.
    start : BayesianNetwork, optional
        Distributions to start from instead of those of `network`, of the same form.
    tol : float, default=1e-7
        Learning ends when two steps in a row each change the objective by at most `tol`
        nats per row (by weight) and no learned probability by more than `tol`, those of
        a state and its parents' states together.
    max_iter : int, default=500
        Maximum number of steps of a start.
    n_restarts : int, optional
        Number of starts, the first from the network's own distributions (or `start`)
        and the others from random ones; the best end is kept. By default 1, so that
        states keep their meaning, but where those distributions do not separate the
        states of a latent variable (without a value in any row), 10 random ones, of
        which the better half goes on after 10 and 30 steps, and the best after 90.
    random_state : int, Generator, RandomState or None, default=None
        Source of the random starts.
    n_jobs : int, optional
        Number of threads, in scikit-learn's meaning.
    progress : callable, optional
        Called with the step's number and the objective after each step.

    Returns
    -------
    LearnedParameters

    Raises
    ------
    ValueError
        If a parameter is out of range, weights do not fit, or a row is impossible
        under the distributions that are not learned or the start.

    Warns
    -----
    RuntimeWarning
        If `max_iter` ended learning, or there is one start, and it does not separate
        the states of a latent variable: no step leaves such a saddle point.

    Notes
    -----
    Dempster, Laird and Rubin (1977); Lauritzen (1995) for networks; experience counts
    as in Spiegelhalter and Lauritzen (1990); all steps but the first two are those of a
    quasi-Newton method (Jamshidian and Jennrich 1997). Families without missing cells
    are counted once, and equal parts of rows expected once. With complete rows the
    result is that of counting, bit for bit. A parent configuration that no row contains
    keeps its distribution.
    """
    _check(tol, max_iter, n_restarts)
    generator = random_generator(random_state)
    task = _Task(network, read_rows(network.domain, table), sample_weight, n_jobs)
    first = network if start is None else _started(network, start)
    draw = partial(task.random_start, generator)
    starts: list[Callable[[], Table]] = [lambda: task.cells_of(first.cpds)]
    n_trial_steps = None
    if n_restarts is not None:
        starts += [draw] * (n_restarts - 1)
    elif stalled_latents(first, task.unseen, task.learned):
        starts, n_trial_steps = [draw] * _STARTS, _TRIAL_STEPS
    if n_restarts == 1:
        warn_of_saddle_point(first, task.unseen, task.learned)
    options = EMOptions(len(starts), 1 if task.is_complete else max_iter, tol)
    best = best_climb(
        task, starts, options, progress=progress, n_trial_steps=n_trial_steps
    )
    converged = best.converged or task.is_complete
    warn_of_limit(converged, max_iter)
    return LearnedParameters(
        task.with_experience(best.parameters, best.expected),
        best.log_likelihood,
        best.objectives,
        converged,
        tuple(task.by_node(best.expected)),
    )


def _check(tol: float, max_iter: int, n_restarts: int | None) -> None:
    """Raise unless the parameters make sense."""
    is_number = isinstance(tol, numbers.Real)
    if not (is_number and math.isfinite(tol) and tol >= 0):
        raise ValueError(f"tol must be a number of at least 0, got {quoted(tol)}")
    check_integer("max_iter", max_iter)
    if n_restarts is not None:
        check_integer("n_restarts", n_restarts)


def _started(network: BayesianNetwork, start: BayesianNetwork) -> BayesianNetwork:
    """The network with the distributions of another wherever it learns."""
    if start.domain.cards != network.domain.cards or start.dag != network.dag:
        raise ValueError(
            "start has other variables, states or parents than the network; give a "
            "network of the same form"
        )
    learned = _learned_nodes(network)
    both = list(zip(network.cpds, start.cpds, strict=True))
    cpds = [own[node in learned] for node, own in enumerate(both)]
    for node in sorted(learned):
        shapes, given = ([t.shape for t in distributions(cpd)] for cpd in both[node])
        if shapes != given:
            name = quoted(network.domain[node].name)
            raise ValueError(
                f"start has other distributions of {name} than the network; give both "
                "the same tables or trees"
            )
    return replace(network, cpds=tuple(cpds))


def weighted_codes(
    codes: Codes, sample_weight: Sequence[float] | Table | None
) -> Codes:
    """The rows that count, with their weights."""
    if sample_weight is not None:
        weights = read_weights(sample_weight, codes.n_rows, "sample_weight")
        codes = replace(codes, weights=weights, unit_weights=False)
    codes = codes.rows(codes.weights > 0)
    if not codes.n_rows:
        raise ValueError("there are no rows with a positive weight to learn from")
    return codes


class _Task:
    """Rows and prior: what every start and step has in common.

    Parameters are the cells of all distributions, one after another, so that a step
    takes a few operations on arrays however many variables there are.
    """

    def __init__(
        self,
        network: BayesianNetwork,
        read: Rows,
        sample_weight: Sequence[float] | Table | None,
        n_jobs: int | None,
    ) -> None:
        codes, set_families, self._set_tables = with_set_families(read)
        codes = weighted_codes(codes, sample_weight)
        self.network = network
        self.n_jobs = n_jobs
        self.learned = _learned_nodes(network)
        self.total_weight = float(codes.weights.sum())
        self.priors = {n: _pseudo_counts(network.cpds[n]) for n in sorted(self.learned)}
        related = {v for node in self.learned for v in network.dag.families[node]}
        self.unseen = {
            v for v in range(len(network.domain)) if codes.missing(v).all()
        } - {v for v, _ in set_families}
        self.latent = {v for v in related & self.unseen if codes.cards[v] > 1}
        self._expected: ExpectedFamilies | None = None
        missing = np.zeros(codes.n_rows, dtype=bool)
        for variable in range(codes.n_variables):
            missing |= codes.missing(variable)
        families = network.dag.families
        rows, self._kinds = merged_rows(codes)
        if missing.any():
            factors = [*families, *set_families]
            parts = MissingParts.of_rows(rows, factors)
            self._expected = ExpectedFamilies(parts, codes.cards, factors)
        # Families without missing cells count alike under all parameters.
        source = RowCounts(rows, n_jobs, has_class=False)
        counted = source.family_counts(families)
        self._counted = flat_tables(counted)
        self._prior = flat_tables(
            [
                self.priors.get(n, np.zeros(cpd.cards))
                for n, cpd in enumerate(network.cpds)
            ]
        )
        self._lay_out()
        for node in set(range(len(families))) - self.learned:
            seen = counted[node] > 0
            impossible = seen & (network.cpds[node].probabilities == 0)
            if impossible.any():
                cells = np.array([rows.column(v) for v in families[node]])
                state = np.argwhere(impossible)[0]
                first = int(np.argmax((cells == state[:, None]).all(axis=0)))
                raise ValueError(
                    f"row {self._kinds[first]} is impossible under the distributions "
                    "that are not learned; give those experience counts, or correct "
                    "the row"
                )

    @property
    def is_complete(self) -> bool:
        """Whether no cell of the rows is missing."""
        return self._expected is None

    def _lay_out(self) -> None:
        """Number the cells of all distributions, and find them in families' tables.

        Learned distributions with as many states each are rows of one array.
        """
        n_cells, tables = 0, list[Table]()
        by_states: dict[int, list[NDArray[np.intp]]] = {}
        for node, cpd in enumerate(self.network.cpds):
            numbered = []
            for table in distributions(cpd):
                indices = np.arange(n_cells, n_cells + table.size).reshape(table.shape)
                n_cells += table.size
                numbered.append(indices)
                if node in self.learned:
                    rows = indices.reshape(-1, table.shape[-1])
                    by_states.setdefault(table.shape[-1], []).append(rows)
            numbers = [indices.astype(np.float64) for indices in numbered]
            tables.append(with_distributions(cpd, numbers).probabilities)
        self._n_cells, self._positions = n_cells, flat_tables(tables).astype(np.intp)
        self._rows = [np.concatenate(rows) for rows in by_states.values()]

    def cells_of(self, cpds: CPDs) -> Table:
        """Cells of the distributions of CPDs, one after another."""
        return flat_tables([table for cpd in cpds for table in distributions(cpd)])

    def expect(self, cells: Table) -> tuple[Table, float]:
        """Expected counts of all families, and the log-likelihood of the rows."""
        flat = cells[self._positions]
        log_likelihood = log_product(self._counted, log_of(flat))
        if self._expected is None:
            return self._counted, log_likelihood
        tables = np.concatenate([flat, self._set_tables])
        expected, logs = self._expected.under(tables, self.n_jobs or 1)
        parts = self._expected.parts
        if np.isneginf(logs).any():
            row = self._kinds[parts.rows[np.argmin(logs)]]
            raise ValueError(
                f"row {row} is impossible under the network's distributions; start "
                "from ones without zeros, or correct the row"
            )
        log_likelihood += float(np.dot(parts.weights, logs))
        return self._counted + expected[: len(flat)], log_likelihood

    def by_node(self, flat: Table) -> list[Table]:
        """Tables of all families, one after another, in their shapes."""
        return tables_of(flat, [cpd.cards for cpd in self.network.cpds])

    def log_prior(self, cells: Table) -> float:
        """Logarithm of the prior density of distributions, up to a constant (nats)."""
        return log_product(self._prior, log_of(cells[self._positions]))

    def totals(self, counts: Table) -> list[Table]:
        """Expected counts and prior of the learned distributions, by their states."""
        pooled = np.bincount(self._positions, counts + self._prior, self._n_cells)
        return [pooled[rows].astype(np.float64) for rows in self._rows]

    def fitted(self, present: Table, totals: Sequence[Table]) -> Table:
        """The distributions, in proportion to counts where they are learned."""
        cells = present.copy()
        for rows, table in zip(self._rows, totals, strict=True):
            cells[rows] = shares(table, present[rows])
        return cells

    def probabilities(self, cells: Table) -> list[Table]:
        """Learned distributions, by their states."""
        return [cells[rows] for rows in self._rows]

    def with_experience(self, cells: Table, expected: Table) -> BayesianNetwork:
        """The network whose learned tables carry prior and effective experience.

        The expected rows of a parent configuration count for the share of information
        on its distribution that missing cells leave (Louis 1982; by tables alone).
        """
        cpds, counts = list(self.network.cpds), self.by_node(expected)
        lost = [np.zeros(table.shape) for table in counts]
        if self._expected is not None:
            flat = cells[self._positions]
            with_sets = np.concatenate([flat, self._set_tables])
            variances = self._expected.variances_under(with_sets, self.n_jobs or 1)
            lost = self.by_node(variances[: len(flat)])
        shapes = [table.shape for cpd in cpds for table in distributions(cpd)]
        learned = iter(tables_of(cells, shapes))
        for node, before in enumerate(self.network.cpds):
            fitted = [next(learned) for _ in distributions(before)]
            if node not in self.learned:
                continue
            cpd = cpds[node] = with_distributions(before, fitted)
            if isinstance(cpd, TableCPD) and isinstance(before, TableCPD):
                gained = counts[node].sum(axis=-1)
                p = cpd.probabilities
                spread = (p * (1.0 - p)).sum(axis=-1)
                missing = lost[node].sum(axis=-1)
                gained -= np.divide(
                    missing, spread, out=np.zeros_like(gained), where=spread > 0
                )
                gained = np.maximum(gained, 0.0)
                start = 0.0 if before.experience is None else before.experience
                cpds[node] = replace(cpd, experience=start + gained)
        return replace(self.network, cpds=tuple(cpds))

    def random_start(self, generator: np.random.Generator) -> Table:
        """Uniformly random distributions wherever the network learns.

        Where variables are latent, only they and their children are random: others
        start from the rows that have all of the family, and one row spread evenly.
        """
        cpds, counted = list(self.network.cpds), self.by_node(self._counted)
        for node in sorted(self.learned):
            cpd = cpds[node]
            drawn = generator.standard_exponential(cpd.cards)
            if self.latent and self.latent.isdisjoint(cpd.family):
                drawn = counted[node] + self.priors[node] + 1.0 / cpd.cards[-1]
            cpds[node] = fitted_distribution(cpd, drawn, shares)
        return self.cells_of(tuple(cpds))


def _learned_nodes(network: BayesianNetwork) -> set[int]:
    """Nodes whose distributions are learned."""
    experienced = {
        node
        for node, cpd in enumerate(network.cpds)
        if isinstance(cpd, TableCPD) and cpd.experience is not None
    }
    adaptable = {
        node
        for node, cpd in enumerate(network.cpds)
        if isinstance(cpd, TableCPD | GroupedTableCPD | TreeCPD)
    }
    return experienced or adaptable


def flat_tables(tables: Sequence[Table]) -> Table:
    """Cells of tables, one after another."""
    return np.concatenate([np.ravel(table) for table in tables])


def _pseudo_counts(cpd: CPD) -> Table:
    """What experience and present distributions count as, shaped like the table."""
    if not isinstance(cpd, TableCPD) or cpd.experience is None:
        return np.zeros(cpd.cards)
    table = cpd.probabilities / cpd.probabilities.sum(axis=-1, keepdims=True)
    return np.asarray(table * cpd.experience[..., None])


def log_product(counts: Table, log_table: Table) -> float:
    """Sum of counts times logarithms, where there are counts (nats)."""
    seen = counts > 0
    return float(np.dot(counts[seen], log_table[seen]))


def fitted_distribution(cpd: CPD, counts: Table, estimate: Estimate) -> CPD:
    """Estimate a distribution of the same form from counts (*parent cards, child card).

    `estimate` takes counts and the present distributions.
    """
    pairs = zip(pooled_counts(cpd, counts), distributions(cpd), strict=True)
    return with_distributions(cpd, [estimate(*pair) for pair in pairs])


def distributions(cpd: CPD) -> list[Table]:
    """The table of a CPD, or each leaf of a tree once."""
    if isinstance(cpd, TreeCPD):
        leaves = {id(leaf): leaf for leaf, _ in cpd.leaves()}
        return [leaf.probabilities for leaf in leaves.values()]
    return [cpd.table if isinstance(cpd, GroupedTableCPD) else cpd.probabilities]


def pooled_counts(cpd: CPD, counts: Table) -> list[Table]:
    """Counts (*parent cards, child card) of each of the `distributions`.

    A leaf that is in several places pools what leads to any of them.
    """
    if isinstance(cpd, TreeCPD):
        pooled: dict[int, Table] = {}
        for leaf, context in cpd.leaves():
            where = np.ix_(*(context[parent] for parent in cpd.parents))
            found = counts[where] if cpd.parents else counts
            total = found.reshape(-1, cpd.cards[-1]).sum(axis=0)
            pooled[id(leaf)] = pooled.get(id(leaf), 0.0) + total
        return list(pooled.values())
    if isinstance(cpd, GroupedTableCPD):
        for axis, groups in enumerate(cpd.groups):
            along = np.moveaxis(counts, axis, 0)
            sums = [along[list(group)].sum(axis=0) for group in groups]
            counts = np.moveaxis(np.array(sums), 0, axis)
    return [counts]


def shares(counts: Table, present: Table) -> Table:
    """Shares along the last axis; the present ones where there is no count."""
    totals = counts.sum(axis=-1, keepdims=True)
    if totals.all():
        return np.asarray(counts / totals)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), present)


def stalled_latents(
    network: BayesianNetwork, unseen: Collection[int], learned: Collection[int]
) -> list[Name]:
    """Latent variables whose states no step of expectation maximisation separates.

    Where the distributions of all children are the same in every state of a variable
    that no row shows, its posterior is its prior in every row, so expected counts leave
    the children's distributions alike: a saddle point. `unseen` are the variables
    without a value in any row, `learned` those whose distributions are learned.
    """
    children = network.dag.children()
    return [
        variable.name
        for node, variable in enumerate(network.domain)
        if variable.n_states > 1
        and any(child in learned for child in children[node])
        and node in unseen
        and all(_is_blind(network, child, node) for child in children[node])
    ]


def _is_blind(network: BayesianNetwork, child: int, parent: int) -> bool:
    """Whether a child's distributions are the same in all states of a parent."""
    cpd = network.cpds[child]
    axis = cpd.parents.index(parent)
    table = cpd.probabilities
    first = np.take(table, [0], axis=axis)
    return bool((np.abs(table - first) <= _EQUAL).all())


def warn_of_saddle_point(
    network: BayesianNetwork, unseen: Collection[int], learned: Collection[int]
) -> None:
    """Warn where a start is a saddle point; the RuntimeWarning names the variables."""
    stalled = stalled_latents(network, unseen, learned)
    if stalled:
        warnings.warn(
            f"the start does not tell the states of the latent {name_list(stalled)} "
            "apart, so no step of expectation maximisation will; give the children "
            "different distributions in each state, or raise n_restarts",
            RuntimeWarning,
            stacklevel=3,
        )


def with_random_tables(
    network: BayesianNetwork, latent: Collection[int], generator: np.random.Generator
) -> BayesianNetwork:
    """The network with random tables of some variables and of their children."""
    cpds = list(network.cpds)
    for node, cpd in enumerate(cpds):
        if isinstance(cpd, TableCPD) and not set(cpd.family).isdisjoint(latent):
            drawn = generator.standard_exponential(cpd.cards)
            drawn /= drawn.sum(axis=-1, keepdims=True)
            cpds[node] = replace(cpd, probabilities=drawn)
    return replace(network, cpds=tuple(cpds))
