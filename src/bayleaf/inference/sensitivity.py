"""How a posterior depends on one entry of one table."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.local_structure import distribution_at
from bayleaf.data.domain import Domain
from bayleaf.inference.events.events import named_states
from bayleaf.inference.evidence import Evidence, Likelihood
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.junction_tree import Propagation
from bayleaf.inference.network_trees import NetworkTrees, Part
from bayleaf.inference.states import find_variable, indicator, known_state
from bayleaf.results.document import Document, Table
from bayleaf.results.result import Result
from bayleaf.wording import brief, format_number, name_list, quoted

Floats = NDArray[np.float64]
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Entry:
    """One entry of a variable's table."""

    node: int
    parents: tuple[int, ...]  # in the order of the table's axes
    row: tuple[int, ...]  # state of each parent
    state: int  # of the node


@dataclass(frozen=True)
class Sensitivity(Result):
    """P(target | evidence) as a function of one table entry x.

    The posterior is ``(alpha * x + beta) / (gamma * x + delta)`` where the other
    entries of the row change in proportion. The constants are scaled so that the
    denominator is 1 at the present entry.

    Parameters
    ----------
    alpha, beta, gamma, delta : float
        The constants.
    entry : float
        The present entry.

    Examples
    --------
    >>> s = Sensitivity(alpha=0.5, beta=0.0, gamma=0.0, delta=1.0, entry=0.4)
    >>> s.value, s.derivative, s(0.6)
    (0.2, 0.5, 0.3)
    """

    alpha: float
    beta: float
    gamma: float
    delta: float
    entry: float

    @property
    def value(self) -> float:
        """The present posterior."""
        return self(self.entry)

    @property
    def derivative(self) -> float:
        """Slope of the posterior at the present entry."""
        below = self.gamma * self.entry + self.delta
        return (self.alpha * self.delta - self.beta * self.gamma) / below**2

    def __call__(self, x: float) -> float:
        """Posterior if the entry were `x`.

        Raises
        ------
        ValueError
            If `x` is no probability, or the evidence is impossible with it.
        """
        if not isinstance(x, numbers.Real) or not 0.0 <= x <= 1.0:
            raise ValueError(f"a table entry must be between 0 and 1, got {quoted(x)}")
        below = self.gamma * x + self.delta
        if below <= 0.0:
            raise ValueError(
                f"the evidence has probability 0 if the entry is {format_number(x)}"
            )
        return (self.alpha * x + self.beta) / below

    def document(self) -> Document:
        """The function, its value and its slope."""
        numbers = {
            "entry x": self.entry,
            "posterior": self.value,
            "slope": self.derivative,
        }
        rows = [(name, format_number(number)) for name, number in numbers.items()]
        return Document("", [Table(("", ""), rows, str(self).splitlines()[0])])

    def __repr__(self) -> str:
        return brief(
            self,
            f"posterior {format_number(self.value)}",
            f"entry {format_number(self.entry)}",
            f"slope {format_number(self.derivative)}",
        )

    def __str__(self) -> str:
        alpha, beta, gamma, delta = (
            # What rounding leaves of a zero; the denominator is about 1.
            format_number(constant if abs(constant) > _ROUNDING else 0.0)
            for constant in (self.alpha, self.beta, self.gamma, self.delta)
        )
        return (
            f"P(target | evidence) = ({alpha} x + {beta}) / ({gamma} x + {delta})\n"
            f"at x = {format_number(self.entry)}: {format_number(self.value)}, "
            f"slope {format_number(self.derivative)}"
        )


def read_target(domain: Domain, target: Any) -> tuple[int, int]:
    """The variable and the state that a target such as ``{"ill": "yes"}`` means.

    ValueError if it is not one state of one variable, or does not exist.
    """
    target = named_states(domain, target)
    if not isinstance(target, Mapping) or len(target) != 1:
        raise ValueError(
            "target must name one variable and one state of it, such as "
            f"{{'cancer': 'yes'}}; got {quoted(target)}"
        )
    name, value = next(iter(target.items()))
    position = find_variable(domain, name)
    return position, known_state(domain[position], value)


def read_entry(network: Factorisation, node: Any, state: Any, given: Any) -> Entry:
    """The entry of a table that names of a variable, its state and its parents' mean.

    TypeError if `given` is not a mapping; ValueError if a variable or state does not
    exist, or `given` does not contain one state for each parent.
    """
    domain = network.domain
    child = find_variable(domain, node)
    parents = network.dag.parents[child]
    given = named_states(domain, given)
    if not isinstance(given, Mapping):
        raise TypeError(
            "given must be a mapping from names of parents to their states, got "
            f"{type(given).__name__}"
        )
    states = {
        position: known_state(domain[position], value)
        for name, value in given.items()
        for position in [find_variable(domain, name)]
    }
    if states.keys() != set(parents):
        names = name_list([domain[parent].name for parent in parents])
        raise ValueError(
            f"given must hold one state for each parent of {quoted(domain[child].name)}"
            + (f": {names}" if parents else ", which has none")
        )
    row = tuple(states[parent] for parent in parents)
    return Entry(child, parents, row, known_state(domain[child], state))


def sensitivity(
    trees: NetworkTrees, target: int, state: int, entry: Entry, evidence: Evidence
) -> Sensitivity:
    """Find the constants of a posterior as a function of one table entry.

    Two propagations give P(family, evidence) and P(family, target, evidence). Each cell
    of the row in question divided by its table entry is the coefficient of that entry
    (Darwiche 2003, "A differential approach to inference in Bayesian networks", section
    3); the other entries of the row keep their proportions as the entry changes, and
    share what is left evenly if all of them are 0. Kjaerulff and van der Gaag (2000),
    Making sensitivity analysis computationally efficient, UAI-00, 317-325.

    ImpossibleEvidenceError if P(evidence) is zero; ValueError if the node has only one
    state, so that its entry cannot change.
    """
    variable = trees.domain[entry.node]
    if variable.n_states == 1:
        raise ValueError(
            f"variable {quoted(variable.name)} has one state only, so that no entry of "
            "its table can change"
        )
    if np.isneginf(trees.log_probability(evidence)):
        raise trees.impossible(evidence)
    given = distribution_at(trees.network.cpds[entry.node], entry.row)
    row = given / given.sum()
    x = float(row[entry.state])
    weights = row
    if x in (0.0, 1.0):
        # A cell over an entry of 0 has lost its coefficient; an even row keeps all.
        weights = np.full(len(row), 1.0 / len(row))
        network = _with_row(trees.network, entry, weights, trees.max_table_cells)
        trees = NetworkTrees(network, max_table_cells=trees.max_table_cells)
    part = trees.part(evidence, [target, *trees.network.dag.families[entry.node]])
    likelihoods = evidence.likelihoods
    log_scale = part.log_probability(evidence)
    event = indicator(trees.domain[target].n_states, state)
    joint = {**likelihoods, target: event * likelihoods.get(target, 1.0)}
    cells = _Cells(part, evidence.hard, entry, log_scale)
    gamma, delta = _line(*cells.under(likelihoods), weights, row, entry.state)
    alpha, beta = _line(*cells.under(joint), weights, row, entry.state)
    now = gamma * x + delta
    return Sensitivity(alpha / now, beta / now, gamma / now, delta / now, x)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Reads the cells of one row of a family off propagations."""

    part: Part
    hard: dict[int, int]
    entry: Entry
    log_scale: float

    def under(self, likelihoods: dict[int, Likelihood]) -> tuple[Floats, float]:
        """The row's cells of P(family, likelihoods), and the sum of all others.

        Both are divided by the exponential of `log_scale`.
        """
        n_states = self.part.network.cpds[self._place].cards[-1]
        propagation = self._propagated(likelihoods)
        if propagation is None:
            return np.zeros(n_states), 0.0
        scale = float(np.exp(propagation.log_evidence - self.log_scale))
        if self.part.tree.is_apart(self._place):
            return self._from_row(likelihoods, scale)
        family = np.array(propagation.family(self._place)) * scale
        index = self._index()
        if index is None:
            return np.zeros(n_states), float(family.sum())
        cells = family[index].copy()
        family[index] = 0.0
        return cells, float(family.sum())

    def _from_row(
        self, likelihoods: dict[int, Likelihood], total: float
    ) -> tuple[Floats, float]:
        """The same from a propagation of the row, where no clique holds the family.

        The cells of P(family, likelihoods) sum to `total`.
        """
        given = dict(likelihoods)
        domain = self.part.network.domain
        for parent, state in zip(self.entry.parents, self.entry.row, strict=True):
            n_states = domain[self.part.positions[parent]].n_states
            given[parent] = indicator(n_states, state) * given.get(parent, 1.0)
        n_states = self.part.network.cpds[self._place].cards[-1]
        propagation = self._propagated(given)
        if propagation is None:
            return np.zeros(n_states), total
        share = float(np.exp(propagation.log_evidence - self.log_scale))
        return propagation.marginal(self._place) * share, max(total - share, 0.0)

    def _propagated(self, likelihoods: dict[int, Likelihood]) -> Propagation | None:
        """A propagation; None if the evidence is impossible."""
        if not all(likelihood.any() for likelihood in likelihoods.values()):
            return None
        propagation = self.part.propagate(likelihoods)
        return None if np.isneginf(propagation.log_evidence) else propagation

    @property
    def _place(self) -> int:
        """Index of the node in the part."""
        return self.part.positions[self.entry.node]

    def _index(self) -> tuple[int, ...] | None:
        """Where the row lies in the part's table; None if evidence rules it out."""
        cut = len(self.part.network.cpds[self._place].parents) < len(self.entry.row)
        if not cut:
            return self.entry.row
        pairs = list(zip(self.entry.parents, self.entry.row, strict=True))
        if any(self.hard.get(parent, state) != state for parent, state in pairs):
            return None
        return tuple(state for parent, state in pairs if parent not in self.hard)


def _line(
    cells: Floats, others: float, weights: Floats, row: Floats, state: int
) -> tuple[float, float]:
    """Slope and intercept in the entry of a sum over a family's cells."""
    coefficients = np.divide(
        cells, weights, out=np.zeros_like(cells), where=weights > 0
    )
    shares = row.copy()
    shares[state] = 0.0
    if not shares.any():
        shares[:] = 1.0
        shares[state] = 0.0
    shares /= shares.sum()
    rest = float(shares @ coefficients)
    return float(coefficients[state]) - rest, rest + others


def _with_row(
    network: Factorisation, entry: Entry, row: Floats, limit: int
) -> Factorisation:
    """The network with another row in one table."""
    cpd = network.cpds[entry.node]
    if prod(cpd.cards) > limit:
        raise ValueError(
            "changing an entry of 0 or 1 needs the full table of variable "
            f"{quoted(network.domain[entry.node].name)}, whose {prod(cpd.cards):.3g} "
            f"cells are more than max_table_cells={limit}; raise it, or take another "
            "entry"
        )
    table = np.array(cpd.probabilities)
    table[entry.row] = row
    cpds = list(network.cpds)
    cpds[entry.node] = TableCPD(cpd.family, table)
    return replace(network, cpds=tuple(cpds))
