"""Expected numbers, and decisions by expected loss."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Variable
from bayleaf.data.state_numbers import number_deviation
from bayleaf.inference.posteriors import Posterior
from bayleaf.inference.states import known_state
from bayleaf.results.document import Document, Table
from bayleaf.results.result import Result
from bayleaf.wording import brief, format_number, plain, quoted, shown_name, visible

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExpectedNumber(Result):
    """What number to expect of a variable; ``float`` gives the mean.

    Parameters
    ----------
    posterior : Posterior
        The distribution over the variable's states.
    mean : float
        Expected value; inside an interval the mean of its training numbers.
    standard_deviation : float
        Between and inside intervals, there as the quantiles of the training numbers
        have it.
    """

    posterior: Posterior
    mean: float
    standard_deviation: float

    @classmethod
    def of(cls, posterior: Posterior) -> ExpectedNumber:
        """The expectation under a posterior.

        Raises
        ------
        ValueError
            If states are no numbers, or the numbers inside intervals are not known.
        """
        deviation = number_deviation(posterior.variable, posterior.probabilities)
        return cls(posterior, posterior.mean(), deviation)

    def quantiles(self, shares: Any = (0.05, 0.5, 0.95)) -> Floats:
        """Numbers below which some shares of the distribution lie."""
        return self.posterior.quantiles(shares)

    def document(self) -> Document:
        """The mean, the spread, and the distribution as bars."""
        bars = [(0.0, p) for p in self.posterior.probabilities.tolist()]
        rows = [(k, f"{v:.4f}") for k, v in self.posterior.to_dict().items()]
        table = Table(
            ("", ""), rows, shown_name(self.posterior.variable.name), bars=bars
        )
        return Document("", [str(self), table])

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        low, middle, high = map(format_number, self.quantiles())
        return (
            f"{shown_name(self.posterior.variable.name)}: mean "
            f"{format_number(self.mean)}, standard deviation "
            f"{format_number(self.standard_deviation)}, median {middle}, "
            f"90 % between {low} and {high}"
        )

    def __repr__(self) -> str:
        return brief(self, str(self))


@dataclass(frozen=True, eq=False)
class LossTable:
    """What each decision costs in each state of a variable."""

    decisions: tuple[Hashable, ...]
    costs: Floats  # (n_decisions, n_states), below 0 for gains

    @classmethod
    def read(cls, variable: Variable, loss: Any) -> LossTable:
        """Read decisions (rows) by states (columns); states left out cost 0.

        A frame's index has the decisions. The rows of a square array are named after
        the states, those of another are numbered. ValueError if there is no decision, a
        state does not exist, or a cost is not finite.
        """
        if hasattr(loss, "columns") and hasattr(loss, "index"):
            loss = {
                decision: dict(zip(loss.columns, row, strict=True))
                for decision, row in zip(loss.index, np.asarray(loss), strict=True)
            }
        if isinstance(loss, Mapping):
            decisions = tuple(loss)
            rows = [_row(variable, decision, loss[decision]) for decision in decisions]
            costs = np.array(rows).reshape(len(decisions), variable.n_states)
        else:
            costs = _numbers(loss)
            if costs.ndim != 2 or costs.shape[1] != variable.n_states:
                raise ValueError(
                    f"loss must have a row for each decision and a column for each of "
                    f"the {variable.n_states} states of variable "
                    f"{quoted(variable.name)}, got shape {costs.shape}"
                )
            is_square = len(costs) == variable.n_states
            decisions = variable.states if is_square else tuple(range(len(costs)))
        if not decisions:
            raise ValueError("loss must hold at least one decision")
        if not np.isfinite(costs).all():
            raise ValueError("loss must hold finite numbers only")
        return cls(decisions, costs)


@dataclass(frozen=True, eq=False)
class ExpectedLoss(Result):
    """Expected loss of each decision, and which is best.

    Parameters
    ----------
    target : str or int
        Name of the variable that the losses depend on.
    decisions : tuple of hashable
        What may be decided.
    losses : ndarray of shape (n_decisions,), dtype float64
        Expected loss of each.
    perfect_information : float
        Expected value of perfect information: by how much the expected loss falls if
        the target's state is known before deciding.
    observing : dict from name to float
        By how much it falls if a variable is observed before deciding, the largest
        first.
    """

    target: str | int
    decisions: tuple[Hashable, ...]
    losses: Floats
    perfect_information: float
    observing: dict[str | int, float] = field(default_factory=dict)

    @property
    def best(self) -> Hashable:
        """The decision of least expected loss, the first of those that tie."""
        return self.decisions[int(np.argmin(self.losses))]

    @property
    def least(self) -> float:
        """The expected loss of the best decision."""
        return float(self.losses.min())

    def document(self) -> Document:
        """Losses of decisions as bars, and what observing saves."""
        saved = {self.target: self.perfect_information, **self.observing}
        parts = [
            Table(
                ("", ""),
                [(shown_name(key), format_number(v)) for key, v in values.items()],
                title,
                bars=[(0.0, v) for v in values.values()],
            )
            for title, values in (
                ("expected loss of each decision", self.to_dict()),
                ("saved by knowing it before", saved),
            )
        ]
        return Document(f"best: {visible(str(self.best))}", parts)

    # Decisions need not be text.
    def to_dict(self) -> dict[Hashable, float]:  # type: ignore[override]
        """Expected loss by decision."""
        return dict(zip(self.decisions, self.losses.tolist(), strict=True))

    def __str__(self) -> str:
        rows = [(shown_name(d), format_number(v)) for d, v in self.to_dict().items()]
        rows += [
            ("knowing " + shown_name(self.target), _fall(self.perfect_information))
        ]
        rows += [
            ("observing " + shown_name(name), _fall(value))
            for name, value in self.observing.items()
        ]
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:<{width}}  {value}" for name, value in rows]
        best = visible(str(self.best))
        return "\n".join([*lines, f"best: {best}"])

    def __repr__(self) -> str:
        loss = format_number(self.least)
        return brief(self, f"best {plain(self.best, 60)}, expected loss {loss}")


def expected_loss(
    target: Variable,
    table: LossTable,
    posterior: Floats,
    joints: Mapping[str | int, Floats],
) -> ExpectedLoss:
    """Weigh decisions by a posterior (n_states,).

    `joints` (n_states, card) are of the target and what could be observed. Howard 1966,
    "Information value theory".
    """
    losses = table.costs @ posterior
    best = int(losses.argmin())

    def fall(costs: Floats) -> Floats:
        """What is saved in each state, exactly 0 where the decision stays."""
        return np.asarray(costs[best] - costs.min(axis=0))

    falls = {
        name: float(fall(table.costs @ joint).sum()) for name, joint in joints.items()
    }
    ranked = dict(sorted(falls.items(), key=lambda pair: -pair[1]))
    perfect = float(fall(table.costs) @ posterior)
    return ExpectedLoss(target.name, table.decisions, losses, perfect, ranked)


def _row(variable: Variable, decision: Hashable, costs: Any) -> Floats:
    """Costs of one decision in the order of the states."""
    if not isinstance(costs, Mapping):
        raise TypeError(
            "loss must hold, by decision, a mapping from state to cost, got "
            f"{quoted(costs)} for {quoted(decision)}"
        )
    row = np.zeros(variable.n_states)
    codes = [known_state(variable, state) for state in costs]
    if len(set(codes)) < len(codes):
        raise ValueError(f"loss names a state twice for decision {quoted(decision)}")
    row[codes] = _numbers(list(costs.values()))
    return row


def _numbers(values: Any) -> Floats:
    """Costs as an array of numbers."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"loss must hold numbers, got {quoted(values)}") from error


def _fall(value: float) -> str:
    """By how much something lowers the expected loss."""
    return f"lowers it by {format_number(value)}"
