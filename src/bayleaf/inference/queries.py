"""Questions to a network in the names of its variables and states."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.random_state import random_generator
from bayleaf.inference.approximate.estimated_posteriors import Method, Sampling
from bayleaf.inference.approximate.importance_sampling import OFFER, estimated
from bayleaf.inference.encoded_rows import (
    Unknown,
    log_likelihood_rows,
    posterior_table,
    read_rows,
    read_weights,
)
from bayleaf.inference.events.events import read_single
from bayleaf.inference.events.questions import Questions
from bayleaf.inference.evidence import Evidence
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.imputation import (
    Filling,
    How,
    Impossible,
    filled_tables,
    read_table,
)
from bayleaf.inference.junction_tree import Propagation, TooWideError
from bayleaf.inference.network_trees import NetworkTrees, Part
from bayleaf.inference.posteriors import Answers, Posteriors
from bayleaf.inference.sampling import decode, sample
from bayleaf.inference.sensitivity import (
    Sensitivity,
    read_entry,
    read_event,
    sensitivity,
)
from bayleaf.inference.states import find_variable
from bayleaf.wording import brief

Floats = NDArray[np.float64]

Name = str | int
# A mapping, or an expression that says something of each variable by itself.
KnownOf = Mapping[Any, Any] | str | Sequence[Any] | None
# Variables, the part of the network that was asked for them, and what it found.
_Answer = tuple[Sequence[int], Part, Propagation]


class Inference(Questions):
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

    def query(
        self,
        evidence: KnownOf = None,
        targets: Iterable[Any] | Any = None,
        *,
        method: Method = "exact",
        tolerance: float = 0.005,
        max_samples: int = 200_000,
        random_state: Any = None,
    ) -> Posteriors:
        """Find the posterior distribution of every target.

        Parameters
        ----------
        evidence : mapping, optional
            What is known.
        targets : name or iterable of names, optional
            The variables in question; all by default.
        method : {"exact", "auto", "approximate"}, default="exact"
            Whether posteriors are computed or estimated from weighted samples; "auto"
            estimates them where exact answers need too large a table.
        tolerance : float, default=0.005
            Samples are drawn until no state's probability has a larger standard error.
        max_samples : int, default=200_000
            They end here even so, with an `ApproximationWarning`.
        random_state : None, int, Generator or RandomState
            Seed of the samples; the same one gives the same estimates.

        Returns
        -------
        Posteriors
            Estimates are `EstimatedPosteriors`, with standard errors.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero, naming items that conflict.
        TooWideError
            If `method` is "exact" and a table would be too large even for the part of
            the network that matters to one target.
        ValueError
            If a variable or state does not exist, an option is none, or no sample
            agrees with the evidence.
        """
        known = self._read(evidence)
        wanted = self._targets(targets)
        sampling = Sampling(method, tolerance, max_samples, random_state)
        if method == "approximate":
            return estimated(self._trees, known, wanted, sampling)
        try:
            return self._exact(known, wanted)
        except TooWideError as error:
            if method == "auto":
                return estimated(self._trees, known, wanted, sampling)
            raise TooWideError(f"{error}; {OFFER}") from None

    def _exact(self, known: Evidence, wanted: Sequence[int]) -> Posteriors:
        """Exact posteriors."""
        findings, log_evidence = known.findings, 0.0
        found: list[_Answer] = []
        for group, part in self._trees.parts(known, wanted):
            propagation = part.propagate(findings, group)
            log_evidence = propagation.log_evidence
            if log_evidence == -math.inf:
                raise self._trees.impossible(known)
            found.append((group, part, propagation))
        return Posteriors(
            Answers(self._trees.domain, wanted, partial(_marginal, found)),
            log_evidence + known.log_scale,
        )

    def _read(self, evidence: KnownOf) -> Evidence:
        """Evidence over the network's variables."""
        return read_single(self._trees.domain, evidence)

    def _targets(self, targets: Any) -> Sequence[int]:
        """Positions of the named variables, each once; all if None."""
        domain = self._trees.domain
        if targets is None:
            return range(len(domain))
        names = [targets] if isinstance(targets, str | int) else targets
        if not isinstance(names, Iterable):
            raise TypeError(
                "variables must be a name or several names, got "
                f"{type(targets).__name__}"
            )
        return list(dict.fromkeys(find_variable(domain, name) for name in names))

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
        """Measure conflict in evidence, in nats: ln of the product of P(e_i) over P(e).

        Above 0, the items are rarer together than if they were independent, which may
        mean a wrong item or a case that the network does not cover.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.

        References
        ----------
        Jensen, Chamberlain, Nordahl and Jensen (1991), Analysis in HUGIN of data
        conflict, UAI-90, 519-528.
        """
        known = self._read(evidence)
        together = _checked_log_probability(self._trees, known)
        return sum(_log_alone(self._trees, known).values()) - together

    def conflict_by_item(self, evidence: KnownOf) -> dict[Name, float]:
        """Measure how far each item is in conflict with the others, in nats.

        It is ln P(e_i) P(all others) / P(e): above 0, the item would be less surprising
        without the others.
        """
        known = self._read(evidence)
        together = _checked_log_probability(self._trees, known)
        alone = _log_alone(self._trees, known)
        by_item = {}
        for item in known.items:
            others = known.only(other for other in known.items if other is not item)
            log_others = self._trees.log_probability(others)
            by_item[item.about.name] = alone[item.variable] + log_others - together
        return dict(sorted(by_item.items(), key=lambda pair: -pair[1]))

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
        values: dict[int, float] = {}
        for group, part in self._trees.parts(known, chosen, [position]):
            values |= _information_values(self._trees, part, position, known, group)
        names = self._trees.domain.names
        ranked = sorted(chosen, key=lambda v: -values[v])
        return {names[v]: float(values[v]) for v in ranked}

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
    ) -> Floats:
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
    ) -> Floats:
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

    def impute(
        self,
        table: Any,
        how: How = "most_probable",
        *,
        n_imputations: int | None = None,
        random_state: Any = None,
        unknown: Unknown = "error",
        impossible: Impossible = "error",
        add_columns: bool = False,
        n_jobs: int | None = None,
    ) -> Any:
        """Fill in the missing cells of a table, given what each row holds.

        The table comes back as the kind of table that it is, with its columns in their
        order, its types and its names of rows. Cells that hold something are not
        touched, nor are columns that are no variables.

        Parameters
        ----------
        table : data frame, mapping from name to column, array or list of rows
            Of pandas, polars, Arrow or NumPy. Columns are found by name, in any order;
            arrays and lists of rows have all variables in order.
        how : {"most_probable", "marginal", "mean", "sample"}, default="most_probable"
            The most probable completion of the row as a whole; each cell's own most
            probable state; the same, but for numbers their expected value; or a
            draw from the joint posterior of the row's missing cells.
        n_imputations : int, optional
            With ``how="sample"``: draw so many tables, independently, for multiple
            imputation.
        random_state : None, int, Generator or RandomState
            Seed; the same one gives the same cells, whatever `n_jobs`. A generator
            moves on, so that a table imputed part by part is the same, too.
        unknown : {"error", "missing"}, default="error"
            Whether a value that is no state is refused, or says nothing about its row;
            it is kept.
        impossible : {"error", "missing"}, default="error"
            Whether a row of probability zero is refused, or left as it is.
        add_columns : bool, default=False
            Whether variables that the table lacks are added as columns at the end.
        n_jobs : int, optional
            Number of threads, in scikit-learn's meaning.

        Returns
        -------
        table, or list of tables if `n_imputations` is given
            Copies.

        Raises
        ------
        ImpossibleEvidenceError
            If a row with missing cells has probability zero, naming the first.
        ValueError
            If no column is a variable, a value is no state, the numbers inside
            intervals are not known, or missing is a state of its own.
        TypeError
            If a column's type has no place for what is filled in.

        Notes
        -----
        An interval becomes a number: the mean of the training numbers in it, or one
        drawn from their quantiles. With ``how="most_probable"``, variables that the
        table lacks are summed out if none of its columns descends from them; others
        take their most probable states together with the row's cells.
        References: Dawid (1992), "Applications of a general propagation algorithm for
        probabilistic expert systems"; Rubin (1987), "Multiple imputation for
        nonresponse in surveys".

        Examples
        --------
        >>> from bayleaf import BayesianNetwork
        >>> network = BayesianNetwork.from_tables(
        ...     states={"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     parents={"wet": ["rain"]},
        ...     tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]},
        ... )
        >>> network.impute({"rain": [None, "no"], "wet": ["yes", None]})
        {'rain': ['yes', 'no'], 'wet': ['yes', 'no']}
        """
        filling = Filling(how, n_imputations, random_state, impossible, n_jobs)
        read = read_table(self._trees, table, unknown, add_columns=add_columns)
        tables = filled_tables(self._trees, table, read, filling)
        return tables[0] if n_imputations is None else tables

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


def _marginal(found: Sequence[_Answer], variable: int) -> Floats:
    """The marginal of a variable that some part was asked for."""
    part, propagation = next(
        (part, propagation) for group, part, propagation in found if variable in group
    )
    return propagation.marginal(part.positions[variable])


def _checked_log_probability(trees: NetworkTrees, evidence: Evidence) -> float:
    """Natural logarithm of P(evidence); raises if that is impossible."""
    log_probability = trees.log_probability(evidence)
    if np.isneginf(log_probability):
        raise trees.impossible(evidence)
    return log_probability


def _log_alone(trees: NetworkTrees, evidence: Evidence) -> dict[int, float]:
    """Natural logarithm of each item's own probability without any of the others."""
    likelihoods = evidence.likelihoods
    alone = {}
    for group, part in trees.parts(evidence.only(()), list(likelihoods)):
        prior, places = part.propagate({}), part.positions
        for variable in group:
            probability = prior.marginal(places[variable]) @ likelihoods[variable]
            alone[variable] = float(np.log(probability))
    return alone


def _information_values(
    trees: NetworkTrees,
    part: Part,
    target: int,
    evidence: Evidence,
    candidates: Sequence[int],
) -> dict[int, float]:
    """I(target; candidate | evidence) in nats by candidate, at least 0.

    One propagation for each possible state of the target gives P(candidate | state) for
    all candidates at once. ImpossibleEvidenceError if P(evidence) is zero.
    """
    places = part.positions
    likelihoods = evidence.likelihoods
    overall = part.propagate(likelihoods)
    if np.isneginf(overall.log_evidence):
        raise trees.impossible(evidence)
    marginals = {v: overall.marginal(places[v]) for v in candidates}
    probabilities = overall.marginal(places[target])
    values = dict.fromkeys(candidates, 0.0)
    for state in np.flatnonzero(probabilities):
        one_hot = np.zeros(len(probabilities))
        one_hot[state] = 1.0
        given = part.propagate({**likelihoods, target: one_hot})
        for v in candidates:
            told = _divergence(given.marginal(places[v]), marginals[v])
            values[v] += probabilities[state] * told
    return {v: max(value, 0.0) for v, value in values.items()}


def _divergence(conditional: Floats, marginal: Floats) -> float:
    """Kullback-Leibler divergence in nats of a conditional from its marginal."""
    seen = conditional > 0
    ratios = conditional[seen] / marginal[seen]
    return float((conditional[seen] * np.log(ratios)).sum())
