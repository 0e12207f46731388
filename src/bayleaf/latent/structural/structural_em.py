"""Networks from incomplete rows: exact expectation maximisation, of arcs too."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np

from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.smoothing import dirichlet_rows
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.partial_values import PartialValues
from bayleaf.latent.completed_rows import CompletedRows
from bayleaf.latent.em import learn_parameters
from bayleaf.latent.structure_learning import (
    LearnedStructure,
    largest_log_likelihood,
    learn_from_counts,
    row_counts,
)
from bayleaf.latent.structure_search import StructureOptions
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.progress import Work
from bayleaf.search.structure import LEAST_GAIN, Deadline

# When expectation maximisation stands still.
_TOLERANCE = 1e-6
_LEAST_SECONDS = 1e-9


@dataclass(frozen=True, eq=False)
class ExpectedStructure:
    """A network learned by expectation maximisation, and the course of its score."""

    learned: LearnedStructure
    scores: tuple[float, ...]  # observed, of the first network and its successors


def learn_by_expectation(
    codes: Codes, domain: Domain, options: StructureOptions, *, edges: bool
) -> ExpectedStructure:
    """Search for a network of tables, and fit it to all observed cells.

    Friedman (1998), "The Bayesian structural EM algorithm": expected counts under the
    present network, weights of the completed rows, drive a search; its result is
    fitted, exactly, by expectation maximisation on a junction tree. A network replaces
    the present one if its observed score is larger: the log-likelihood of what the rows
    contain, and what the structure scores (see `learn_structure`).

    Without `edges`, the search is made once, with each family counted in the rows that
    contain all of it. Distributions are tables without abstraction. ValueError if the
    smoothing rule is not a prior that ignores counts.
    """
    dirichlet_rows(options.smoothing)
    options.constraints.check(domain)
    deadline = Deadline.after(options.constraints.time_limit)
    work = Work()
    work.say("search in the cells at hand")
    found = learn_from_counts(row_counts(codes, options), domain, options)
    best = _fitted(found, codes, codes, options)
    scores = [best.observed_score]
    incomplete = any(codes.missing(v).any() for v in range(codes.n_variables))
    if not edges or not incomplete:
        return ExpectedStructure(best, tuple(scores))
    rows = CompletedRows.of_rows(codes, PartialValues.none(), options.seed)
    # Unfitted at first, as a fitted network agrees too well with its own structure.
    present: BayesianNetwork = found.network
    tried = {found.found.dag}
    while not deadline.has_passed:
        work.say(f"search {len(tried) + 1} with expected counts")
        expected, _ = rows.weighted(present, options.n_jobs)
        found = learn_from_counts(
            row_counts(expected.codes, options), domain, _in_time(options, deadline)
        )
        is_first, present = present is not best.network, best.network
        if found.found.dag not in tried:
            tried.add(found.found.dag)
            fitted = _fitted(found, expected.codes, codes, options)
            least = max(LEAST_GAIN, _TOLERANCE * abs(best.observed_score))
            if fitted.observed_score > best.observed_score + least:
                best, present = fitted, fitted.network
                scores.append(best.observed_score)
                continue
        if not is_first:
            break
    return ExpectedStructure(best, tuple(scores))


def _fitted(
    learned: LearnedStructure, counted: Codes, rows: Codes, options: StructureOptions
) -> LearnedStructure:
    """A network with its tables and its observed score.

    `learned` has the structure and the tables to start from; `counted` is what the
    search saw of `rows`.
    """
    weight = dirichlet_rows(options.smoothing)
    tables = []
    for family in learned.network.dag.families:
        shape = tuple(rows.cards[member] for member in family)
        experience = np.full(shape[:-1], weight(shape[-1]))
        tables.append(TableCPD(family, np.full(shape, 1 / shape[-1]), experience))
    domain, dag = learned.network.domain, learned.network.dag
    prior = BayesianNetwork(domain, dag, tuple(tables))
    start = learned.network
    expanded = [TableCPD(cpd.family, cpd.probabilities) for cpd in learned.network.cpds]
    start = replace(start, cpds=tuple(expanded))
    found = learn_parameters(
        prior, rows, start=start, tol=_TOLERANCE, n_jobs=options.n_jobs
    )
    in_unit = 1 / math.log(2) if options.score.unit == "bits" else 1.0
    largest = math.fsum(
        largest_log_likelihood(structure, counted)
        for structure in learned.found.cpd_structures
    )
    score = learned.found.score + in_unit * (found.log_likelihood - largest)
    return LearnedStructure(found.network, learned.found, score, found.log_likelihood)


def _in_time(options: StructureOptions, deadline: Deadline) -> StructureOptions:
    """The options with the time that is left."""
    if deadline.at is None:
        return options
    left = max(deadline.at - time.monotonic(), _LEAST_SECONDS)
    limited = replace(options.constraints, time_limit=left)
    return replace(options, constraints=limited)
