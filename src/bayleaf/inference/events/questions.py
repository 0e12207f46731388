"""Questions about several variables together: joints, events, decisions."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayleaf.inference.events.events import (
    ALWAYS,
    NEVER,
    Known,
    OneOf,
    read_event,
    read_known,
)
from bayleaf.inference.events.expectations import (
    ExpectedLoss,
    ExpectedNumber,
    LossTable,
    expected_loss,
)
from bayleaf.inference.events.joint_posterior import JointPosterior
from bayleaf.inference.events.table_products import Floats, RelevantPart
from bayleaf.inference.evidence import ImpossibleEvidenceError
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.posteriors import Posterior
from bayleaf.inference.states import find_variable

Name = str | int
Event = str | Mapping[Any, Any]
Given = Event | Sequence[Event] | None


class Questions:
    """Answers about several variables together, exactly.

    What is known is a mapping, as everywhere, or an expression such as
    ``"age > 50 and (sex = male or not smoker = yes)"``, or a list of both, all of
    which hold. See `bayleaf.BayesianNetwork.probability` for expressions.
    """

    _trees: NetworkTrees

    def joint(
        self, targets: Iterable[Name] | Name, given: Given = None
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
        wanted = self._several(targets)
        known = read_known(self._trees.domain, given)
        table, log_total = self._joint(wanted, known)
        variables = tuple(self._trees.domain[v] for v in wanted)
        return JointPosterior(variables, table, log_total)

    def probability(self, event: Event, given: Given = None) -> float:
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
        known, found = self._read_both(event, given)
        if isinstance(found, OneOf) and not known.events:
            posterior = self._posterior(found.variable, known)
            return min(1.0, float(posterior[sorted(found.codes)].sum()))
        return math.exp(self._log_probability(known, found, event))

    def log_probability(self, event: Event, given: Given = None) -> float:
        """Natural logarithm of P(event | given), however small; see `probability`."""
        return self._log_probability(*self._read_both(event, given), event)

    def most_probable(
        self, targets: Iterable[Name] | Name, given: Given = None
    ) -> tuple[dict[Name, Hashable], float]:
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
        states : dict from name to state
            Among equally probable ones, the network's first variables have their
            lowest states; beyond 65 536 joint states ties are broken one variable
            after another.
        probability : float
            P(states | given).

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
        wanted = self._several(targets)
        known = read_known(self._trees.domain, given)
        part = RelevantPart.of(self._trees, wanted, known)
        codes, log_most = part.most_probable(wanted)
        if not codes:
            raise known.impossible(self._trees)
        domain = self._trees.domain
        states = {domain[v].name: domain[v].states[codes[v]] for v in wanted}
        return states, min(
            1.0, math.exp(log_most - self._log_given(known, eliminated=True))
        )

    def expected(self, name: Name, given: Given = None) -> ExpectedNumber:
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
        position = find_variable(self._trees.domain, name)
        known = read_known(self._trees.domain, given)
        posterior = self._posterior(position, known)
        return ExpectedNumber.of(Posterior(self._trees.domain[position], posterior))

    def expected_loss(
        self,
        target: Name,
        loss: Any,
        given: Given = None,
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
        known = read_known(domain, given)
        posterior = self._posterior(position, known)
        joints = {}
        names = [observe] if isinstance(observe, str | int) else observe
        for other in (find_variable(domain, name) for name in names):
            joint = np.diag(posterior)
            if other != position:
                joint, _ = self._joint([position, other], known)
            joints[domain[other].name] = joint
        return expected_loss(domain[position], table, posterior, joints)

    def _joint(self, wanted: Sequence[int], known: Known) -> tuple[Floats, float]:
        """Joint posterior, axes in the order given, and ln P(what is known)."""
        part = RelevantPart.of(self._trees, wanted, known)
        table, log_scale = part.joint(wanted)
        total = float(table.sum())
        if not total > 0:
            raise known.impossible(self._trees)
        order = [sorted(wanted).index(v) for v in wanted]
        return (table / total).transpose(order), log_scale + math.log(total)

    def _posterior(self, position: int, known: Known) -> Floats:
        """Posterior of one variable."""
        if known.events:
            return self._joint([position], known)[0]
        [(_, part)] = self._trees.parts(known.evidence, [position])
        propagation = part.propagate(known.evidence.findings, [position])
        if propagation.log_evidence == -math.inf:
            raise known.impossible(self._trees)
        return propagation.marginal(part.positions[position])

    def _read_both(self, event: Event, given: Given) -> tuple[Known, Any]:
        """What is known, and the event in question."""
        domain = self._trees.domain
        return read_known(domain, given), read_event(domain, event)

    def _log_probability(self, known: Known, event: Any, said: Event) -> float:
        """Logarithm of P(event | what is known)."""
        both = None
        if event != NEVER:
            with contextlib.suppress(ImpossibleEvidenceError):
                both = known.also(event, str(said))
        # An event over several variables asks for no more than the part that matters;
        # compiling the whole network would take longer than the answer.
        eliminated = bool(known.events) or (both is not None and bool(both.events))
        log_given = self._log_given(known, eliminated=eliminated)
        if log_given == -math.inf:
            raise known.impossible(self._trees)
        if event == ALWAYS:
            return 0.0
        if both is None:
            return -math.inf
        return min(0.0, self._log_given(both, eliminated=eliminated) - log_given)

    def _log_given(self, known: Known, *, eliminated: bool) -> float:
        """Logarithm of P(what is known), minus infinity if it is impossible."""
        if not known.events and not known.evidence.items:
            return 0.0
        if eliminated:
            return RelevantPart.of(self._trees, (), known).log_probability
        log_found = self._trees.log_probability(known.evidence)
        return log_found + known.evidence.log_scale

    def _several(self, names: Any) -> list[int]:
        """Positions of variables, each once."""
        domain = self._trees.domain
        if isinstance(names, str | int):
            names = [names]
        if not isinstance(names, Iterable):
            raise TypeError(
                f"variables must be several names, got {type(names).__name__}"
            )
        found = list(dict.fromkeys(find_variable(domain, name) for name in names))
        if not found:
            raise ValueError("name at least one variable to ask about")
        return found
