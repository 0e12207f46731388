"""Questions to a network in the names of its variables and states."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.random_state import random_generator
from bayleaf.inference.approximate.posterior_queries import KnownOf, PosteriorQueries
from bayleaf.inference.completion.imputation import Imputation
from bayleaf.inference.conflict import conflict, conflict_by_item
from bayleaf.inference.events.questions import Questions
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.parts import NetworkTrees
from bayleaf.inference.rows import (
    Unknown,
    log_likelihood_rows,
    posterior_table,
    read_rows,
    read_weights,
)
from bayleaf.inference.sampling.sample import decode, sample
from bayleaf.inference.sensitivity import (
    Sensitivity,
    read_entry,
    read_event,
    sensitivity,
)
from bayleaf.inference.states import find_variable
from bayleaf.inference.value_of_information import value_of_information
from bayleaf.wording import brief

Name = str | int


class Inference(PosteriorQueries, Questions, Imputation):
    """Answers questions to a network, exactly, and keeps what it compiled for them.

    Evidence is a mapping from names of variables to what is known of them: a state, a
    number for a variable with cut points, a list or set of states of which one holds,
    ``Not(state)``, a node of the value hierarchy, or likelihoods (an array, or a
    mapping from states to numbers); or a text such as ``"age > 50 and sex = male"``.
    A `BayesianNetwork` answers the same questions itself; an inference of its own has
    a limit of its own.

    Parameters
    ----------
    network : Factorisation
        The network.
    max_table_cells : int, default=20_000_000
        Largest table that inference may build; eight bytes a cell.

    Raises
    ------
    ValueError
        If the network has no variables, or the limit is no integer of at least 1.
    """

    def __init__(
        self, network: Factorisation, *, max_table_cells: int = 20_000_000
    ) -> None:
        self._trees = NetworkTrees(network, max_table_cells=max_table_cells)

    def probability_of_evidence(self, evidence: KnownOf) -> float:
        """P(evidence); 0 if it is impossible."""
        return float(np.exp(self.log_probability_of_evidence(evidence)))

    def log_probability_of_evidence(self, evidence: KnownOf) -> float:
        """Natural logarithm of P(evidence); minus infinity if it is impossible.

        Where it is refused, ``query(evidence, (), method="auto").log_evidence``
        estimates it.
        """
        known = self._read(evidence)
        return self._trees.log_probability(known) + known.log_scale

    def most_probable_explanation(
        self, evidence: KnownOf = None
    ) -> tuple[dict[Name, Hashable], float]:
        """Find the most probable joint state, ties going to the lowest states.

        Returns
        -------
        states : dict from name to state
            All variables.
        log_probability : float
            ln P(states, evidence) in nats.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.
        """
        known = self._read(evidence)
        part = self._trees.part(known)
        codes, log_probability = part.tree.most_probable(part.inside(known.findings))
        if log_probability == -math.inf:
            raise self._trees.impossible(known)
        domain = self._trees.domain
        states = {
            variable.name: variable.states[int(code)]
            for variable, code in zip(domain, codes, strict=True)
        }
        return states, float(log_probability) + known.log_scale

    def conflict(self, evidence: KnownOf) -> float:
        """Measure conflict in evidence in nats; see `bayleaf.inference.conflict`."""
        return conflict(self._trees, self._read(evidence))

    def conflict_by_item(self, evidence: KnownOf) -> dict[Name, float]:
        """Measure how far each item is in conflict with the others, in nats."""
        by_item = conflict_by_item(self._trees, self._read(evidence))
        names = self._trees.domain.names
        ranked = sorted(by_item.items(), key=lambda pair: -pair[1])
        return {names[variable]: value for variable, value in ranked}

    def value_of_information(
        self,
        target: Any,
        evidence: KnownOf = None,
        candidates: Iterable[Any] | None = None,
    ) -> dict[Name, float]:
        """Rank variables by how much observing them is expected to tell of a target.

        Parameters
        ----------
        target : name
            The variable in question.
        evidence : mapping, optional
            What is known already.
        candidates : iterable of names, optional
            Variables that could be observed; by default all whose state is open.

        Returns
        -------
        dict from name to float
            Expected reduction of the target's entropy in nats, the largest first.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.
        """
        known = self._read(evidence)
        position = find_variable(self._trees.domain, target)
        if candidates is None:
            closed = {position, *known.hard}
            everything = range(len(self._trees.domain))
            chosen: Sequence[int] = [v for v in everything if v not in closed]
        else:
            chosen = self._targets(candidates)
        values = value_of_information(self._trees, position, known, chosen)
        names = self._trees.domain.names
        order = np.argsort(-values, kind="stable")
        return {names[chosen[place]]: float(values[place]) for place in order}

    def sensitivity(
        self,
        target: Mapping[Any, Any],
        node: Any,
        state: Any,
        given: Mapping[Any, Any] | None = None,
        evidence: KnownOf = None,
    ) -> Sensitivity:
        """Find how a posterior depends on one table entry.

        Parameters
        ----------
        target : mapping of one name to one state
            The event whose posterior is asked for, such as ``{"cancer": "yes"}``.
        node : name
            The variable whose table is changed.
        state : state
            The state of `node` whose probability is changed.
        given : mapping from name to state, optional
            The state of every parent of `node`.
        evidence : mapping, optional
            What is known.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.
        ValueError
            If the target is not one state of one variable, a parent is missing or
            extra, or `node` has only one state.
        """
        network = self._trees.network
        event = read_event(network.domain, target)
        entry = read_entry(network, node, state, given or {})
        return sensitivity(self._trees, *event, entry, self._read(evidence))

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

        Parameters
        ----------
        table : data frame, mapping, array, list of rows or Codes
            See `read_rows`; missing cells and absent columns are summed out.
        target : name
            The variable in question; its own cells, if there are any, count for
            nothing.
        unknown : {"error", "missing"}, default="error"
            Whether a value that is no state is refused or taken as missing.
        ignore : collection of names
            Columns to leave out.
        n_jobs : int, optional
            Number of threads, in scikit-learn's meaning.

        Returns
        -------
        ndarray of shape (n_rows, n_states of the target)
            Probabilities.

        Raises
        ------
        ImpossibleEvidenceError
            If a row has probability zero, naming the first.
        ValueError
            If a column is no variable or a value no state.
        """
        position = find_variable(self._trees.domain, target)
        rows = read_rows(self._trees.domain, table, unknown=unknown, ignore=ignore)
        return posterior_table(self._trees, rows, position, n_jobs)

    def log_likelihood_rows(
        self,
        table: Any,
        *,
        unknown: Unknown = "error",
        ignore: Collection[Any] = (),
        n_jobs: int | None = None,
    ) -> NDArray[np.float64]:
        """Natural logarithm of each row's probability, missing values summed out."""
        rows = read_rows(self._trees.domain, table, unknown=unknown, ignore=ignore)
        return log_likelihood_rows(self._trees, rows, n_jobs)

    def log_likelihood(
        self,
        table: Any,
        weights: Any = None,
        *,
        unknown: Unknown = "error",
        ignore: Collection[Any] = (),
        n_jobs: int | None = None,
    ) -> float:
        """Weighted sum of the rows' log-likelihoods in nats.

        Raises
        ------
        ValueError
            If weights are not one finite number of at least 0 a row.
        """
        each = self.log_likelihood_rows(
            table, unknown=unknown, ignore=ignore, n_jobs=n_jobs
        )
        if weights is None:
            return float(each.sum())
        factors = read_weights(weights, len(each), "weights")
        counted = factors > 0
        return float(factors[counted] @ each[counted])

    def sample_codes(
        self, n: int, evidence: KnownOf = None, random_state: Any = None
    ) -> Codes:
        """Draw rows as codes; see `sample`."""
        return sample(self._trees, n, self._read(evidence), random_state)

    def sample(
        self,
        n: int,
        evidence: KnownOf = None,
        random_state: Any = None,
        *,
        numbers: bool = False,
    ) -> pa.Table:
        """Draw rows from the joint distribution given evidence, exactly.

        Parameters
        ----------
        n : int
            Number of rows.
        evidence : mapping, optional
            What is known of every row.
        random_state : None, int, Generator or RandomState
            Seed; the same one gives the same rows.
        numbers : bool, default=False
            Draw numbers, as training rows had them, for intervals.

        Returns
        -------
        pyarrow.Table
            One column a variable; ``.to_pandas()`` makes a data frame.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.
        """
        rng = random_generator(random_state)
        codes = self.sample_codes(n, evidence, rng)
        return decode(self._trees.domain, codes, rng if numbers else None)

    def __repr__(self) -> str:
        return brief(self, repr(self._trees.network))
