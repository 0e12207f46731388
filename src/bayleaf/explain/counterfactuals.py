"""What would have to change in a row for the model to choose another class."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from sys import float_info
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain, Variable
from bayleaf.data.partial_values import Rows, open_states
from bayleaf.explain.certificates.changed_row import (
    BudgetSpentError,
    ChangedRow,
    SetSearch,
    changes_cell,
    changes_list,
    changes_text,
    check_counts,
    check_lists,
)
from bayleaf.explain.row_probability import JOINT, MARGINALS, has_joint
from bayleaf.explain.subject import is_absent, row_of
from bayleaf.inference.states import find_variable, known_state
from bayleaf.models.predictor import ModelLike, Predictor, predictor_inside
from bayleaf.progress import Work
from bayleaf.results.document import Document, Items, Table
from bayleaf.results.result import Record, Result
from bayleaf.typing import ByName, JSONObject, RowLike
from bayleaf.wording import brief, counted, format_number, name_list, quoted

# Sets of changes that are looked at by default, and tables looked up for them at most.
_MIN_SETS, _MAX_SETS, _MAX_TABLES = 2_000, 100_000, 200_000_000
# Sets of changes that a notebook shows.
_LINES = 20

Direction = Literal["up", "down"]
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
# Cost, size, negative log probability of the changed row, and changes of a set.
_Ranked = tuple[float, int, float, list[int]]


@dataclass(frozen=True)
class Counterfactual(Record, keys={"prediction": "class"}):
    """A changed row that the model puts into another class.

    Parameters
    ----------
    changes : dict from name to (str, str)
        Old and new state of each changed feature, in column order; numbers as the
        intervals that the model knows.
    prediction : object
        The class chosen for the changed row.
    probabilities : dict from str to float
        P(class | changed row) by the text of the class.
    log_probability : float
        Log probability (nats) of the changed row's features, by
        `Counterfactuals.basis`.
    cost : float
        What the changes cost together; their number where no costs were given.
    """

    changes: dict[str | int, tuple[str, str]]
    prediction: Hashable
    probabilities: dict[str, float]
    log_probability: float
    cost: float

    def to_dict(self) -> JSONObject:
        """The counterfactual as plain values, ready for JSON."""
        return {**super().to_dict(), "changes": changes_list(self.changes)}

    def __repr__(self) -> str:
        return brief(self, self)

    def __str__(self) -> str:
        changes = changes_text(self.changes)
        probability = self.probabilities[str(self.prediction)]
        return f"{changes}: {self.prediction} with probability {probability:.3f}"


@dataclass(frozen=True)
class Counterfactuals(
    Result, keys={"prediction": "class", "items": "counterfactuals", "priced": None}
):
    """The smallest or cheapest changes that make a model choose another class.

    Parameters
    ----------
    prediction : object
        The class chosen for the row as it is.
    target : object or None
        The class asked for; None for any other than `prediction`.
    items : tuple of Counterfactual
        Cheapest first, which is fewest changes first where no costs were given; among
        equally many the most probable changed row first. None of them would do with a
        part of its changes.
    max_changes : int
        Largest number of changed features that was tried.
    basis : str
        By what distribution changed rows were put in order.
    exact : bool
        Whether all other sets of as many changes were tried or ruled out; otherwise the
        search ended at its budget, and there may be cheaper ones.
    priced : bool
        Whether costs were given.
    """

    prediction: Hashable
    target: Hashable
    items: tuple[Counterfactual, ...]
    max_changes: int
    basis: str
    exact: bool
    priced: bool

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Counterfactual]:
        return iter(self.items)

    def __getitem__(self, index: int) -> Counterfactual:
        return self.items[index]

    def document(self) -> Document:
        """Each set of changes as a sentence."""
        if not self.items:
            return Document(f"no way to {self._wanted}: {self._nothing}")
        first = "cheapest first" if self.priced else "most probable row first"
        notes = [f"(rows ranked by {self.basis})"] * (self.basis != JOINT)
        notes += [f"({self._open})"] * (not self.exact)
        items = [f"{item}{self._price(item)}" for item in self.items]
        rows = [
            (
                changes_cell(item.changes),
                str(item.prediction),
                f"{item.probabilities[str(item.prediction)]:.3f}",
                *[format_number(item.cost)] * self.priced,
            )
            for item in self.items
        ]
        heads = ["if", "then", "probability", *["cost"] * self.priced]
        table = Table(heads, rows, n_words=2, max_rows=_LINES)
        title = f"what would make it {self._wanted}, {first}"
        return Document(title, [*notes, Items(items, table=table)])

    @property
    def _wanted(self) -> str:
        """The class to reach, for a reader."""
        return "another class" if self.target is None else str(self.target)

    @property
    def _nothing(self) -> str:
        """The absence of a way, and how far was looked."""
        within = counted(self.max_changes, "change")
        if self.exact:
            return f"none within {within}"
        return f"none found within {within}; the search ended at its budget"

    @property
    def _open(self) -> str:
        """That there may be better ones."""
        better = "cheaper" if self.priced else "smaller"
        return f"the search ended at its budget; there may be {better} changes"

    def _price(self, item: Counterfactual) -> str:
        """What changes cost, where costs were given."""
        return f", at a cost of {format_number(item.cost)}" if self.priced else ""

    def __repr__(self) -> str:
        found = f"{counted(len(self), 'way')} from {self.prediction} to {self._wanted}"
        return brief(self, found, *self.items[:1])


def counterfactuals(
    model: ModelLike,
    row: RowLike | Rows,
    *,
    n: int = 5,
    max_changes: int = 3,
    immutable: Iterable[str | int] = (),
    allowed: ByName[Collection[Hashable]] | None = None,
    direction: ByName[Direction] | None = None,
    cost: ByName[float] | None = None,
    cost_per_step: Iterable[str | int] = (),
    target: Hashable = None,
    budget: int | None = None,
) -> Counterfactuals:
    """Find the smallest or cheapest changes of a row that change its class.

    All sets of one change are tried, then all of two and so on, but for those that
    cost too much and those that bounds rule out, so that nothing is missed within the
    budget. A set that holds a smaller one which does already is left out. Missing
    values stay missing; a cell that names a group of a hierarchy changes to states
    outside the group, in steps from the nearest state inside.

    Parameters
    ----------
    model : classifier or Predictor
        The fitted model, with its calibration and loss.
    row : mapping, series, list or one-row table
        The row.
    n : int, default=5
        Most counterfactuals to return.
    max_changes : int, default=3
        Most features that may change at once.
    immutable : iterable of names, default=()
        Features that stay as they are.
    allowed : mapping from name to collection of states, optional
        States that a feature may change to; features that are not named may take any.
    direction : mapping from name to {"up", "down"}, optional
        Features of numbers, or of ordered categories, that may only rise or only fall.
    cost : mapping from name to float, optional
        What it costs to change a feature, whatever its new state; 1 for features that
        are not named. Costs of a set of changes add up.
    cost_per_step : iterable of names, default=()
        Features of numbers, or of ordered categories, whose cost counts for each
        state, an interval of numbers for instance, that they move by.
    target : label, optional
        The class to reach; by default any other than the one predicted.
    budget : int, optional
        Sets of changes that are looked at; beyond them the best of those is returned,
        or what a greedy search finds where none of those does, and
        `Counterfactuals.exact` is False. By default 100 000, and fewer for averages
        of large networks, so that a row takes about a second at most.

    Returns
    -------
    Counterfactuals

    Raises
    ------
    ValueError
        If there is no such feature, state or class, the row has the target already, a
        direction or steps are asked of a feature without order, or a cost is not a
        finite number above 0.
    TypeError
        If `allowed`, `direction` or `cost` is not a mapping.

    Notes
    -----
    Wachter, Mittelstadt and Russell (2018) define counterfactual explanations.
    """
    predictor = predictor_inside(model)
    own = row_of(model, row)
    check_counts(n=n, max_changes=max_changes)
    if budget is None:
        budget = _default_budget(predictor)
    check_counts(budget=budget)
    check_lists(immutable=immutable, cost_per_step=cost_per_step)
    _check_mappings(allowed=allowed, direction=direction, cost=cost)
    by_step = tuple(cost_per_step)
    domain = predictor.encoder.domain
    states = _new_states(domain, own, immutable, allowed or {}, direction or {})
    changed = ChangedRow.of(predictor, own, states)
    costs = _costs(changed, cost or {}, by_step)
    goal = None if target is None else _target(predictor, target, changed.chosen)
    search = partial(_cheapest_sets, goal=goal, n=n, max_changes=max_changes)
    sets, exact = search(changed, costs, budget=budget)
    candidates = None if sets or exact else changed.greedy(goal)
    if candidates is not None:
        # The budget ended before any set did: those near greedy ones, without the
        # changes that are not needed.
        order = np.argsort(-changed.log_probabilities(candidates), kind="stable")[:n]
        changes = np.unique(candidates[order])
        part = replace(
            changed, features=changed.features[changes], states=changed.states[changes]
        )
        sets = [
            changes[chosen]
            for chosen in search(part, costs[changes], budget=_MIN_SETS)[0]
        ]
    return Counterfactuals(
        predictor.classes[changed.chosen],
        target,
        tuple(_described(changed, own, costs) for own in sets),
        max_changes,
        JOINT if has_joint(predictor.model) else MARGINALS,
        exact,
        bool(cost or by_step),
    )


def _check_mappings(**mappings: Any) -> None:
    """Raise TypeError if a parameter is not a mapping from features."""
    for name, given in mappings.items():
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(
                f"{name} must map features to what holds for them, as a dict does, got "
                f"a {type(given).__name__}"
            )


def _new_states(
    domain: Domain,
    row: Rows,
    immutable: Iterable[str | int],
    allowed: ByName[Collection[Hashable]],
    direction: ByName[Direction],
) -> dict[int, set[int]]:
    """The states to which each feature of a row may change."""
    fixed = {find_variable(domain, name) for name in immutable}
    limited = {find_variable(domain, name): own for name, own in allowed.items()}
    one_way = {find_variable(domain, name): way for name, way in direction.items()}
    states = {}
    for feature, variable in enumerate(domain):
        order = _order(variable, one_way[feature]) if feature in one_way else None
        if feature in fixed or is_absent(row, domain, feature)[0]:
            continue
        may = set(range(variable.n_known_states))
        if feature in limited:
            may &= {known_state(variable, state) for state in limited[feature]}
        if order is not None:
            highest = max(order[state] for state in open_states(row, 0, feature))
            may = {state for state in may if order[state] > highest}
        states[feature] = may
    return states


def _costs(
    row: ChangedRow, cost: ByName[float], cost_per_step: Iterable[str | int]
) -> Floats:
    """What each single change costs: by default 1, for each step if `cost_per_step`."""
    domain = row.predictor.encoder.domain
    prices = np.ones(len(domain))
    for name, price in cost.items():
        prices[find_variable(domain, name)] = _price(name, price)
    found = prices[row.features]
    for name in cost_per_step:
        feature = find_variable(domain, name)
        places = np.argsort(np.argsort(_places(domain[feature], "counted by steps")))
        those = row.features == feature
        if those.any():
            own = places[list(open_states(row.row, 0, feature))]
            steps = np.abs(places[row.states[those], None] - own)
            found[those] *= steps.min(axis=1)
    return found


def _price(name: str | int, price: object) -> float:
    """The cost of changing a feature, if it is one."""
    is_number = isinstance(price, Real) and not isinstance(price, bool | np.bool_)
    if not is_number or not 0.0 < price <= float_info.max:  # type: ignore[operator]
        raise ValueError(
            f"the cost of feature {quoted(name)} must be a finite number above 0, got "
            f"{quoted(price)}; features that cannot change belong in immutable"
        )
    return float(price)  # type: ignore[arg-type]


def _order(variable: Variable, way: str) -> list[float]:
    """Places of the states, larger in the direction that is allowed."""
    if way not in ("up", "down"):
        raise ValueError(
            f"the direction of feature {quoted(variable.name)} must be 'up' or 'down', "
            f"got {quoted(way)}"
        )
    sign = 1.0 if way == "up" else -1.0
    return [sign * place for place in _places(variable, f"moved {way}")]


def _places(variable: Variable, asked: str) -> list[float]:
    """A number for each state, larger further up; refused if there is no order."""
    known = variable.known_states
    if variable.kind == "numeric":
        return [float(place) for place in range(len(known))]
    if all(isinstance(s, int | float | np.number) for s in known):
        return [float(state) for state in known]  # type: ignore[arg-type]
    raise ValueError(
        f"feature {quoted(variable.name)} has no order, so that it cannot be {asked}; "
        "name the states that it may take in allowed"
    )


def _default_budget(predictor: Predictor) -> int:
    """Sets of changes that are looked at within about a second."""
    sharing = predictor.model.sharing
    n_tables = 1 if sharing is None else sharing.parents.size + 1
    return min(_MAX_SETS, max(_MIN_SETS, _MAX_TABLES // n_tables))


def _cheapest_sets(
    row: ChangedRow,
    costs: Floats,
    *,
    goal: int | None,
    n: int,
    max_changes: int,
    budget: int,
) -> tuple[list[Indices], bool]:
    """Find the n cheapest sets (size,) that do, and whether all others were covered.

    Sets that do lead to the class `goal`, by default to any other than the chosen one.

    Cheapest first; among equally cheap sets those with fewer changes, then those that
    lead to a more probable row; then in column order.
    """
    if not len(row.features) or len(row.predictor.classes) < 2:
        return [], True
    search, best = SetSearch(row, budget, costs), list[_Ranked]()
    is_exact, work = True, Work()
    try:
        for block in search.blocks(max_changes):
            work.say(f"looking at sets of {counted(block.shape[1], 'change')}")
            flips = row.flipped(block) if goal is None else row.classes(block) == goal
            sets = np.sort(block[flips], axis=1)
            best = sorted([*best, *_ranked(row, costs, sets, best)])[:n]
            if len(best) == n:
                search.limit = best[-1][0]
    except BudgetSpentError:
        is_exact = False
    return [np.array(changes, np.intp) for *_, changes in best], is_exact


def _ranked(
    row: ChangedRow, costs: Floats, sets: Indices, best: Sequence[_Ranked]
) -> list[_Ranked]:
    """Sets of one size with what they are sorted by, without those that contain others.

    A smaller set that is not among the best costs as much at least, so nothing that
    contains it is among the best either.
    """
    size = sets.shape[1]
    smaller = [{*changes} for *_, changes in best if len(changes) < size]
    if smaller:
        candidates = [{*changes} for changes in sets.tolist()]
        is_new = [not any(each <= own for each in smaller) for own in candidates]
        sets = sets[np.array(is_new, dtype=np.bool_)]
    # Equal costs add up to equal sums whatever changes they belong to.
    prices = np.sort(costs[sets], axis=1).sum(axis=1).tolist()
    logs = (-row.log_probabilities(sets)).tolist() if len(sets) else []
    return list(zip(prices, [size] * len(sets), logs, sets.tolist()))


def _target(predictor: Predictor, target: Any, chosen: int) -> int:
    """Position of the class to reach."""
    labels: list[Any] = predictor.classes.tolist()
    if target not in labels:
        raise ValueError(
            f"target must be one of the classes {name_list(labels)}, got "
            f"{quoted(target)}"
        )
    if labels.index(target) == chosen:
        raise ValueError(
            f"the row is predicted as {quoted(target)} already; name another"
        )
    return labels.index(target)


def _described(row: ChangedRow, changes: Indices, costs: Floats) -> Counterfactual:
    """A set of changes with names, classes and probabilities."""
    predictor, sets = row.predictor, changes[None, :]
    labels = [str(label) for label in predictor.classes.tolist()]
    return Counterfactual(
        row.named(changes),
        predictor.classes[row.classes(sets)[0]],
        dict(zip(labels, row.proba(sets)[0].tolist(), strict=True)),
        float(row.log_probabilities(sets)[0]),
        float(np.sort(costs[changes]).sum()),
    )
