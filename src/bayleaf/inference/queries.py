"""Questions to a network in the names of its variables and states."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.partial_values import PartialCodes
from bayleaf.data.random_state import RandomState, random_generator
from bayleaf.data.tables.frames import Library
from bayleaf.data.tables.frames import as_frame as in_library
from bayleaf.inference.approximate.importance_sampling import (
    OFFER,
    Method,
    Sampling,
    estimated,
)
from bayleaf.inference.causal_graph import Name
from bayleaf.inference.encoded_rows import Unknown, read_rows, read_weights
from bayleaf.inference.events.events import (
    Event,
    Known,
    OneOf,
    read_event,
    read_known,
    read_single,
)
from bayleaf.inference.events.expectations import (
    ExpectedLoss,
    ExpectedNumber,
    LossTable,
    expected_loss,
)
from bayleaf.inference.events.joint_posterior import JointPosterior
from bayleaf.inference.evidence import Evidence
from bayleaf.inference.exact_query import Query
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.imputation import (
    Filling,
    How,
    Impossible,
    Imputation,
    read_table,
)
from bayleaf.inference.junction_tree import TooWideError
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.posteriors import Posterior, Posteriors, QueriedGraph
from bayleaf.inference.probability_evidence import with_likelihoods
from bayleaf.inference.row_propagation import log_likelihood_rows, posterior_table
from bayleaf.inference.sampling import decode, sample
from bayleaf.inference.sensitivity import (
    Sensitivity,
    read_entry,
    read_target,
    sensitivity,
)
from bayleaf.inference.set_evidence import with_set_evidence
from bayleaf.inference.states import find_variable, find_variables
from bayleaf.results.document import Document, Table
from bayleaf.results.html import html_of
from bayleaf.results.result_lists import RankedNumbers
from bayleaf.typing import (
    ByLabel,
    EventLike,
    EvidenceLike,
    LossLike,
    NumbersLike,
    RowsLike,
)
from bayleaf.wording import brief, plain, quoted, shown_name, stated, visible

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Floats = NDArray[np.float64]
Frame = TypeVar("Frame")


class MostProbableStates(NamedTuple):
    """The most probable joint state of some or all variables.

    Parameters
    ----------
    states : dict from name to state
        The state of each variable.
    log_probability : float
        ln P(states | what is known), in nats.
    log_evidence : float, default=0.0
        ln P(what is known), in nats.
    """

    states: dict[Name, Hashable]
    log_probability: float
    log_evidence: float = 0.0

    @property
    def probability(self) -> float:
        """P(states | what is known)."""
        return math.exp(self.log_probability)

    def _repr_html_(self) -> str:
        rows = [(shown_name(k), visible(str(v))) for k, v in self.states.items()]
        exponent = self.log_probability / math.log(10.0)
        # Joint states of many variables are less probable than the smallest number.
        number = f"{self.probability:.3g}" if exponent > -300 else f"10^{exponent:.0f}"
        title = f"Probability {number}, all together"
        return html_of(Document("", [Table(("", ""), rows, title, n_words=2)]))


def _check_no_targets(domain: Domain, evidence: Any) -> None:
    """Raise ValueError if names of variables alone are given as evidence."""
    listed = [evidence] if isinstance(evidence, str) else evidence
    if not isinstance(listed, list | tuple | set) or not listed:
        return
    if all(isinstance(name, str | int) and name in domain.names for name in listed):
        name = next(iter(listed))
        state = domain[domain.index(name)].label(0)
        raise ValueError(
            f"evidence needs =, such as {quoted(stated(shown_name(name), state))}; did "
            f"you mean targets={quoted(evidence)}?"
        )


class Inference:
    """Answers questions to a network, exactly, and keeps what it compiled for them.

    Evidence is a mapping from names of variables to what is known of them: a state, a
    number for a variable with cut points, a list or set of states of which one holds,
    ``Not(state)``, a node of the value hierarchy, likelihoods (an array, or a
    mapping from states to numbers), or `Probabilities`; a row of a frame of pandas; or
    a text such as ``"age > 50 and sex = male"``. A `BayesianNetwork` answers the same
    questions itself; an inference of its own has a limit of its own.

    What is ``given`` to questions about several variables together is a mapping, as
    everywhere, or an expression such as
    ``"age > 50 and (sex = male or not smoker = yes)"``, or a list of both, all of
    which hold. See `bayleaf.BayesianNetwork.probability` for expressions.

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
        evidence: EvidenceLike | None = None,
        targets: Iterable[Name] | Name | None = None,
        *,
        method: Method = "exact",
        tolerance: float = 0.005,
        max_samples: int = 200_000,
        random_state: RandomState = None,
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
        domain = self._trees.domain
        _check_no_targets(domain, evidence)
        known = Known(self._read(evidence))
        everything = range(len(domain))
        wanted = everything if targets is None else find_variables(domain, targets)
        query = Query(self._trees, known, wanted)
        sampling = Sampling(method, tolerance, max_samples, random_state)
        answers = self._answers(query, sampling)
        arcs = tuple(self._trees.network.dag.arcs)
        given = frozenset(query.evidence.findings)
        answers.graph = QueriedGraph(domain.names, arcs, given)
        return answers

    def _answers(self, query: Query, sampling: Sampling) -> Posteriors:
        """Exact posteriors, or, where these are refused or not asked for, estimates."""
        if sampling.method != "approximate":
            try:
                return query.posteriors()
            except TooWideError as error:
                if sampling.method == "exact":
                    raise TooWideError(f"{error}; {OFFER}") from None
        return estimated(self._trees, query.evidence, query.targets, sampling)

    def _read(self, evidence: EvidenceLike | None) -> Evidence:
        """What is known of each variable by itself."""
        known = Known(read_single(self._trees.domain, evidence))
        return with_likelihoods(self._trees, known).evidence

    def _known(self, given: EvidenceLike | None) -> Known:
        """What is known of variables, by themselves or together."""
        return with_likelihoods(self._trees, read_known(self._trees.domain, given))

    def _about(self, targets: Any, given: EvidenceLike | None) -> Query:
        """A query about at least one variable under any condition."""
        wanted = find_variables(self._trees.domain, targets)
        if not wanted:
            raise ValueError("name at least one variable to ask about")
        return Query(self._trees, self._known(given), wanted)

    def _about_event(
        self, event: EventLike, given: EvidenceLike | None
    ) -> tuple[Query, Event]:
        """A condition to ask about, and an event."""
        known = self._known(given)
        return Query(self._trees, known), read_event(self._trees.domain, event)

    def probability_of_evidence(self, evidence: EvidenceLike | None) -> float:
        """P(evidence); 0 if it is impossible."""
        return float(np.exp(self.log_probability_of_evidence(evidence)))

    def log_probability_of_evidence(self, evidence: EvidenceLike | None) -> float:
        """Natural logarithm of P(evidence); minus infinity if it is impossible.

        Where it is refused, ``query(evidence, (), method="auto").log_evidence``
        estimates it.
        """
        known = self._read(evidence)
        return self._trees.log_probability(known) + known.log_scale

    def joint(
        self, targets: Iterable[Name] | Name, given: EvidenceLike | None = None
    ) -> JointPosterior:
        """Find the joint posterior of several variables.

        Parameters
        ----------
        targets : iterable of names
            The variables, in the order of the answer's axes.
        given : mapping, str, or list of these, optional
            What is known.

        Returns
        -------
        JointPosterior
            A table with names; numbers do not depend on the order of the targets.

        Raises
        ------
        ImpossibleEvidenceError
            If what is known has probability zero.
        ValueError
            If a name, state or expression is wrong, or a table would be too large.
        """
        query = self._about(targets, given)
        table, log_total = query.joint()
        variables = tuple(self._trees.domain[v] for v in query.targets)
        return JointPosterior(variables, table, log_total)

    def probability(self, event: EventLike, given: EvidenceLike | None = None) -> float:
        """Find the probability of an event.

        Parameters
        ----------
        event : str or mapping
            An expression: conditions such as ``disease = present``, ``age > 50``,
            ``age between 30 and 50``, ``30 < age <= 50``, ``age = 30..50``,
            ``sex != male``, ``stage in {1, 2}``, joined by ``and``, ``or``, ``not``
            and parentheses. Names and states stand in quotes or backticks if they hold
            blanks, signs or keywords. A state is given by name, by a number that lies
            in its interval, or by a node of the value hierarchy; ``missing`` is one
            where missing cells are a state. ``not`` and ``!=`` leave all other states,
            that one too. A bound inside an interval counts the whole interval, as in
            evidence, and a warning names the cut points. A mapping from names to
            states is an event all of whose items hold.
        given : mapping, str, or list of these, optional
            What is known.

        Returns
        -------
        float
            P(event | given).

        Raises
        ------
        ImpossibleEvidenceError
            If what is known has probability zero.
        ValueError
            If a name, state or expression is wrong, naming its place; or a table would
            be too large.

        Notes
        -----
        Conditions on single variables that are joined by ``and`` are entered as
        evidence. For all else, each condition, conjunction and disjunction is a
        variable of two states that follows from its parts, so that an event over many
        variables needs no table over all of them.

        Examples
        --------
        >>> from bayleaf import BayesianNetwork
        >>> network = BayesianNetwork.from_tables(
        ...     states={"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     parents={"wet": ["rain"]},
        ...     tables={"rain": [0.75, 0.25], "wet": [[0.5, 0.5], [0.0, 1.0]]},
        ... )
        >>> network.probability("rain = yes or wet = no")
        0.625
        """
        query, happens = self._about_event(event, given)
        if isinstance(happens, OneOf) and not query.known.events:
            posterior = replace(query, targets=[happens.variable]).posterior()
            return min(1.0, float(posterior[sorted(happens.codes)].sum()))
        return math.exp(query.log_probability(happens, str(event)))

    def log_probability(
        self, event: EventLike, given: EvidenceLike | None = None
    ) -> float:
        """Natural logarithm of P(event | given), however small; see `probability`."""
        query, happens = self._about_event(event, given)
        return query.log_probability(happens, str(event))

    def most_probable(
        self, targets: Iterable[Name] | Name, given: EvidenceLike | None = None
    ) -> MostProbableStates:
        """Find the most probable joint state of some variables, others summed out.

        This is a maximum a posteriori question: the states may differ from those of
        `most_probable_explanation`, which is about all variables together.

        Parameters
        ----------
        targets : iterable of names
            The variables.
        given : mapping, str, or list of these, optional
            What is known.

        Returns
        -------
        MostProbableStates
            Among equally probable states, the network's first variables have their
            lowest ones; beyond 65 536 joint states ties are broken one variable
            after another.

        Raises
        ------
        ImpossibleEvidenceError
            If what is known has probability zero.
        ValueError
            If a name, state or expression is wrong, or a table would be too large once
            the other variables are summed out.

        References
        ----------
        Park & Darwiche 2004, "Complexity results and approximation strategies for MAP
        explanations", section 2 (elimination with a constrained order).
        """
        return MostProbableStates(*self._about(targets, given).most_probable())

    def expected(self, name: Name, given: EvidenceLike | None = None) -> ExpectedNumber:
        """Find the expected number of a variable.

        Parameters
        ----------
        name : name
            A variable whose states are numbers, or intervals of them.
        given : mapping, str, or list of these, optional
            What is known.

        Returns
        -------
        ExpectedNumber
            With `mean`, `standard_deviation` and `quantiles`.

        Raises
        ------
        ImpossibleEvidenceError
            If what is known has probability zero.
        ValueError
            If states are no numbers, or the numbers inside intervals are not known.
        """
        domain = self._trees.domain
        position = find_variable(domain, name)
        query = Query(self._trees, self._known(given), [position])
        return ExpectedNumber.of(Posterior(domain[position], query.posterior()))

    def expected_loss(
        self,
        target: Name,
        loss: LossLike | ByLabel[float],
        given: EvidenceLike | None = None,
        *,
        observe: Iterable[Name] | Name = (),
    ) -> ExpectedLoss:
        """Weigh decisions by what they are expected to cost.

        Parameters
        ----------
        target : name
            The variable that the costs depend on.
        loss : mapping of mapping, data frame, or array-like
            Rows are decisions (or predicted states), columns true states, as in the
            classifiers' `loss`; below 0 for gains. States that a mapping leaves out
            cost 0. The rows of a square array are named after the states.
        given : mapping, str, or list of these, optional
            What is known.
        observe : iterable of names, optional
            Variables whose observation before the decision is valued.

        Returns
        -------
        ExpectedLoss
            Expected loss of each decision, the best one, the expected value of
            perfect information, and that of each observation.

        Raises
        ------
        ImpossibleEvidenceError
            If what is known has probability zero.
        ValueError
            If a name or state does not exist, or a cost is no finite number.
        """
        domain = self._trees.domain
        position = find_variable(domain, target)
        table = LossTable.read(domain[position], loss)
        query = Query(self._trees, self._known(given), [position])
        posterior = query.posterior()
        joints = {}
        for other in find_variables(domain, observe):
            joint = np.diag(posterior)
            if other != position:
                joint, _ = replace(query, targets=[position, other]).joint()
            joints[domain[other].name] = joint
        return expected_loss(domain[position], table, posterior, joints)

    def most_probable_explanation(
        self, evidence: EvidenceLike | None = None
    ) -> MostProbableStates:
        """Find the most probable joint state, ties going to the lowest states.

        Returns
        -------
        MostProbableStates
            Of all variables, as `most_probable` returns it.

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
        log_known = Query(self._trees, Known(known)).log_known(by_elimination=False)
        log_states = float(log_probability) + known.log_scale - log_known
        return MostProbableStates(states, min(0.0, log_states), log_known)

    def conflict(self, evidence: EvidenceLike | None) -> float:
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
        query = Query(self._trees, Known(self._read(evidence)))
        together = query.log_evidence()
        return sum(query.log_alone().values()) - together

    def conflict_by_item(self, evidence: EvidenceLike | None) -> dict[Name, float]:
        """Measure how far each item is in conflict with the others, in nats.

        It is ln P(e_i) P(all others) / P(e): above 0, the item would be less surprising
        without the others.
        """
        known = self._read(evidence)
        query = Query(self._trees, Known(known))
        together, alone = query.log_evidence(), query.log_alone()
        by_item = {}
        for item in known.items:
            others = known.only(other for other in known.items if other is not item)
            log_others = self._trees.log_probability(others)
            by_item[item.about.name] = alone[item.variable] + log_others - together
        return dict(sorted(by_item.items(), key=lambda pair: -pair[1]))

    def value_of_information(
        self,
        target: Name,
        evidence: EvidenceLike | None = None,
        candidates: Iterable[Name] | None = None,
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
            chosen = find_variables(self._trees.domain, candidates)
        values = Query(self._trees, Known(known), chosen).information_on(position)
        names = self._trees.domain.names
        ranked = sorted(chosen, key=lambda v: -values[v])
        title = f"What observing each reveals on average about {plain(target)}, in bits"
        return RankedNumbers({names[v]: float(values[v]) for v in ranked}, title)

    def sensitivity(
        self,
        target: EventLike,
        node: Name,
        state: Hashable,
        given: EventLike | None = None,
        evidence: EvidenceLike | None = None,
    ) -> Sensitivity:
        """Find how a posterior depends on one table entry.

        Parameters
        ----------
        target : mapping of one name to one state, or str
            The event whose posterior is asked for, such as ``{"cancer": "yes"}`` or
            ``"cancer = yes"``.
        node : name
            The variable whose table is changed.
        state : state
            The state of `node` whose probability is changed.
        given : mapping from name to state, or str, optional
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
        event = read_target(network.domain, target)
        entry = read_entry(network, node, state, {} if given is None else given)
        return sensitivity(self._trees, *event, entry, self._read(evidence))

    def posterior_table(
        self,
        table: RowsLike | Codes,
        target: Name,
        *,
        unknown: Unknown = "error",
        ignore: Collection[Name] = (),
        n_jobs: int | None = None,
    ) -> Floats:
        """Posterior of a variable in every row of a table.

        Parameters
        ----------
        table : data frame, mapping, array, list of rows or Codes
            See `read_rows`; missing cells and absent columns are summed out. A cell
            that names a group of the variable's hierarchy is one of its states.
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
        if isinstance(rows, PartialCodes):
            rows = rows.without(position)
        return posterior_table(*with_set_evidence(self._trees, rows), position, n_jobs)

    def log_likelihood_rows(
        self,
        table: RowsLike | Codes,
        *,
        unknown: Unknown = "error",
        ignore: Collection[Name] = (),
        n_jobs: int | None = None,
    ) -> Floats:
        """Natural logarithm of each row's probability, missing values summed out."""
        rows = read_rows(self._trees.domain, table, unknown=unknown, ignore=ignore)
        return log_likelihood_rows(*with_set_evidence(self._trees, rows), n_jobs)

    def log_likelihood(
        self,
        table: RowsLike | Codes,
        weights: NumbersLike | None = None,
        *,
        unknown: Unknown = "error",
        ignore: Collection[Name] = (),
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

    @overload
    def impute(
        self,
        table: Frame,
        how: How = "most_probable",
        *,
        n_imputations: None = None,
        random_state: RandomState = None,
        unknown: Unknown = "error",
        impossible: Impossible = "error",
        add_columns: bool = False,
        n_jobs: int | None = None,
    ) -> Frame: ...
    @overload
    def impute(
        self,
        table: Frame,
        how: How = "most_probable",
        *,
        n_imputations: int,
        random_state: RandomState = None,
        unknown: Unknown = "error",
        impossible: Impossible = "error",
        add_columns: bool = False,
        n_jobs: int | None = None,
    ) -> list[Frame]: ...
    def impute(
        self,
        table: Any,
        how: How = "most_probable",
        *,
        n_imputations: int | None = None,
        random_state: RandomState = None,
        unknown: Unknown = "error",
        impossible: Impossible = "error",
        add_columns: bool = False,
        n_jobs: int | None = None,
    ) -> Any:
        """Fill in the missing cells of a table, given what each row holds.

        The table comes back as the kind of table that it is, with its columns in their
        order, its types and its names of rows. A cell that names a group of a value
        hierarchy gets one of the values of the group; other cells that hold something
        are not touched, nor are columns that are no variables.

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
        tables = Imputation(self._trees, read, filling).tables(table)
        return tables[0] if n_imputations is None else tables

    def sample_codes(
        self,
        n: int,
        evidence: EvidenceLike | None = None,
        random_state: RandomState = None,
    ) -> Codes:
        """Draw rows as codes; see `sample`."""
        return sample(self._trees, n, self._read(evidence), random_state)

    @overload
    def sample(
        self,
        n: int,
        evidence: EvidenceLike | None = None,
        random_state: RandomState = None,
        *,
        numbers: bool = False,
        as_frame: Literal["arrow"] = "arrow",
    ) -> pa.Table: ...
    @overload
    def sample(
        self,
        n: int,
        evidence: EvidenceLike | None = None,
        random_state: RandomState = None,
        *,
        numbers: bool = False,
        as_frame: Literal["pandas"],
    ) -> pd.DataFrame: ...
    @overload
    def sample(
        self,
        n: int,
        evidence: EvidenceLike | None = None,
        random_state: RandomState = None,
        *,
        numbers: bool = False,
        as_frame: Literal["polars"],
    ) -> pl.DataFrame: ...
    def sample(
        self,
        n: int,
        evidence: EvidenceLike | None = None,
        random_state: RandomState = None,
        *,
        numbers: bool = False,
        as_frame: Library = "arrow",
    ) -> pa.Table | pd.DataFrame | pl.DataFrame:
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
        as_frame : {"arrow", "pandas", "polars"}, default="arrow"
            Library of the table.

        Returns
        -------
        pyarrow.Table, or data frame of pandas or polars
            One column a variable.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.
        """
        rng = random_generator(random_state)
        codes = self.sample_codes(n, evidence, rng)
        table = decode(self._trees.domain, codes, rng if numbers else None)
        frame: pa.Table | pd.DataFrame | pl.DataFrame = in_library(table, as_frame)
        return frame

    def __repr__(self) -> str:
        return brief(self, repr(self._trees.network))
