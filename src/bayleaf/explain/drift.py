"""Whether rows of today follow a model of yesterday, variable by variable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.explain.deviation import Deviation, deviation_between, deviation_of
from bayleaf.explain.subject import training_rows_by_state
from bayleaf.inference.queries import Inference
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.predictor import ModelLike, predictor_inside
from bayleaf.models.wrappers import model_inside
from bayleaf.results.document import Document, Part, Table
from bayleaf.results.result import Record, Result, plain_values
from bayleaf.typing import BatchesLike, JSONObject
from bayleaf.wording import brief, counted, name_list, quoted, shown_name

if TYPE_CHECKING:
    from bayleaf.explain.drift_counts import Encode, ObservedCounts
    from bayleaf.streams.batch_sources import ArrowSource

Floats = NDArray[np.float64]
Name = str | int

# Probability of calling rows changed that follow the model.
_LEVEL = 0.05
_HEADS = ("p", "G2", "df", "bits/row")


@dataclass(frozen=True)
class VariableDrift(Record):
    """How one variable's states are distributed today.

    Parameters
    ----------
    name : str or int
        The variable.
    deviation : Deviation
        From its distribution in the model.
    unknown : int
        Cells that hold values which training did not contain.
    missing : float
        Share of rows in which it is missing, such values included.
    expected, found : tuple of float
        Its distribution in the model and today.
    """

    name: Name
    deviation: Deviation
    unknown: int
    missing: float
    expected: tuple[float, ...]
    found: tuple[float, ...]

    def to_dict(self) -> JSONObject:
        """All of it as plain values, those of the deviation among them."""
        values: dict[str, Any] = super().to_dict()
        return {"name": values["name"], **values.pop("deviation"), **values}


@dataclass(frozen=True)
class FamilyDrift(Record):
    """How a variable depends on its parents today.

    Parameters
    ----------
    child : str or int
        The variable.
    parents : tuple of str or int
        Its parents.
    deviation : Deviation
        From its distribution given the parents in the model.
    arcs : tuple of (str or int, float)
        For each parent the part of the bits that only shows beside this parent: which
        arc has changed.
    """

    child: Name
    parents: tuple[Name, ...]
    deviation: Deviation
    arcs: tuple[tuple[Name, float], ...]

    @property
    def changed_arc(self) -> Name | None:
        """The parent whose arc changed most; None where the child has none."""
        return max(self.arcs, key=lambda arc: arc[1])[0] if self.arcs else None

    def to_dict(self) -> JSONObject:
        """All of it as plain values, those of the deviation among them."""
        values: dict[str, Any] = super().to_dict()
        arcs = [{"parent": parent, "bits": bits} for parent, bits in values["arcs"]]
        return {**values, **values.pop("deviation"), "arcs": arcs}


@dataclass(frozen=True)
class Drift(Result):
    """How far the rows of a table are from a model.

    Parameters
    ----------
    rows : float
        Weight of the rows.
    variables : tuple of VariableDrift
        In the model's order.
    families : tuple of FamilyDrift
        Those whose variables all stand in the table.
    remark : str
        What could not be compared, and why; empty where all was.
    """

    rows: float
    variables: tuple[VariableDrift, ...]
    families: tuple[FamilyDrift, ...]
    remark: str = ""

    def ranked_variables(self) -> tuple[VariableDrift, ...]:
        """The variables, those that changed most surprisingly first."""
        return tuple(sorted(self.variables, key=lambda one: one.deviation.rank))

    def ranked_families(self) -> tuple[FamilyDrift, ...]:
        """The families, those that changed most surprisingly first."""
        return tuple(sorted(self.families, key=lambda one: one.deviation.rank))

    def to_dict(self) -> JSONObject:
        """All of it as plain values, ready for JSON.

        Returns
        -------
        dict
            Variables and families as they are ranked.
        """
        return super().to_dict() | {
            "variables": plain_values(self.ranked_variables()),
            "families": plain_values(self.ranked_families()),
        }

    @property
    def verdict(self) -> str:
        """What has changed by more than chance explains, in a sentence.

        The p-values of all variables and families are compared with .05 by Holm's
        procedure, which bounds the probability of any false alarm.
        """
        changed = self._changed()
        variables = [c for c in changed if isinstance(c, VariableDrift)]
        counts = [
            f"{n} of {counted(len(all_of_kind), kind)}"
            for n, all_of_kind, kind in (
                (len(variables), self.variables, "variable"),
                (len(changed) - len(variables), self.families, "dependence"),
            )
            if n
        ]
        text = "nothing differs by more than chance explains"
        if changed:
            most = max(variables or changed, key=lambda change: change.deviation.bits)
            bits = f"{most.deviation.bits:.2g} bits per row"
            if math.isinf(most.deviation.bits):
                bits = "in a state that the model rules out"
            text = (
                f"{' and '.join(counts)} changed, most of all {_named(most)} ({bits})"
            )
        unknown = sum(variable.unknown for variable in self.variables)
        if unknown:
            text += f"; {counted(unknown, 'cell')} with values not seen in training"
        return f"{self.rows:g} rows against the model: {text}."

    def _changed(self) -> list[VariableDrift | FamilyDrift]:
        """What differs by Holm's procedure at the level .05."""
        changes: list[VariableDrift | FamilyDrift] = [*self.variables, *self.families]
        ranked = sorted(changes, key=lambda change: change.deviation.p_value)
        for number, change in enumerate(ranked):
            if change.deviation.p_value * (len(ranked) - number) > _LEVEL:
                return ranked[:number]
        return ranked

    def document(self) -> Document:
        """Variables and families as tables."""
        variables, families = self.ranked_variables(), self.ranked_families()
        # What is chance fills no bar.
        whole = None if self._changed() else 1.0
        parts: list[Part] = [
            Table(
                ("name", *_HEADS, "unknown"),
                [
                    (shown_name(v.name), *_figures(v.deviation), str(v.unknown))
                    for v in variables
                ],
                bars=[_bar(v.deviation) for v in variables],
                whole=whole,
            )
        ]
        if families:
            rows = [(_family(f), *_figures(f.deviation)) for f in families]
            bars = [_bar(f.deviation) for f in families]
            parts.append(Table(("family", *_HEADS), rows, bars=bars, whole=whole))
        if self.remark:
            parts.append(self.remark)
        return Document(self.verdict, parts)

    def __repr__(self) -> str:
        first = self.ranked_variables()[:1]
        most = [f"most {one.name} (p = {one.deviation.p_value:.3g})" for one in first]
        told = counted(len(self.variables), "variable")
        return brief(self, f"{self.rows:g} rows", told, *most)


def drift(
    model: ModelLike,
    table: BatchesLike | ArrowSource,
    *,
    sample_weight: str | None = None,
    random_state: int = 0,
    encode: Encode | None = None,
    against: Literal["training", "model"] = "training",
) -> Drift:
    """Compare the rows of a table with a model of other rows.

    Only counts of the table are taken; it may be larger than memory, and no row is
    kept.

    Parameters
    ----------
    model : classifier, density estimator or Predictor
        Fitted; its model is one Bayesian network.
    table : data frame, or what `fit` reads in batches
        Rows with the columns of training; with the class, if it is known.
    sample_weight : str, optional
        The column of row weights.
    random_state : int, default=0
        Of the draws by which p-values of tables with few rows a cell are found.
    encode : callable, optional
        Turns a batch, and the number of rows before it, into codes of the features; by
        default the model's encoder does.
    against : {"training", "model"}, default="training"
        What variables are compared with: the counts of the training rows, where a
        classifier has them (p-values are then uniform for other rows of the same
        source), or the model's own distributions, taken as exact.

    Returns
    -------
    Drift
        G² of each variable and of each family given its parents, p-values on the
        premise that rows follow the model, and what the difference takes in bits a row.

    Raises
    ------
    TypeError
        If the model is no single network.
    ValueError
        If a column is missing, there are no rows, or `against` is not one of these.

    Notes
    -----
    A family is compared given what its parents hold today, so that a change of the
    parents alone does not count. There, and for variables without counts of training
    rows, the model is taken as exact: with a large table small p-values may come from
    smoothing and from what training rows left open, and the bits show how much it
    matters.
    """
    # Reading tables in batches takes libraries that explaining rows does not.
    from bayleaf.explain.drift_counts import count_observed

    if against not in ("training", "model"):
        raise ValueError(
            f"against must be 'training' or 'model', got {quoted(against)}"
        )
    model = model_inside(model, same_columns=True, same_scores=False)
    network = _network_of(model)
    trained = _training_counts(model) if against == "training" else {}
    today = count_observed(model, network, table, sample_weight, encode)
    rng = np.random.default_rng(random_state)
    marginals = Inference(network).query()
    variables = []
    for place in today.variables:
        name = network.domain[place].name
        expected = np.asarray(marginals[name].probabilities)
        counts = today.counts[(place,)]
        deviation = deviation_of(counts[None], expected[None], rng)
        if name in trained and math.isfinite(deviation.g2):
            deviation = deviation_between(counts, trained[name], rng)
            expected = trained[name] / trained[name].sum()
        total = float(counts.sum())
        variables.append(
            VariableDrift(
                name,
                deviation,
                today.unknown.get(name, 0),
                1.0 - total / today.rows,
                tuple(expected.tolist()),
                tuple((counts / total if total else counts).tolist()),
            )
        )
    families = [
        _family_drift(network, family, today, rng)
        for family in today.families
        if len(family) > 1
    ]
    return Drift(today.rows, tuple(variables), tuple(families), today.remark)


def _training_counts(model: Any) -> dict[Name, Floats]:
    """Training rows with each state of a classifier's variables, where known."""
    known = training_rows_by_state(model)
    pairs = zip(predictor_inside(model).model.domain.names, known) if known else ()
    return {name: rows for name, rows in pairs if rows.sum() > 0}


def _family_drift(
    network: BayesianNetwork, family: Family, today: ObservedCounts, rng: Any
) -> FamilyDrift:
    """How a variable depends on its parents today."""
    counts = today.counts[family]
    cpd = network.cpds[family[-1]]
    expected = np.broadcast_to(np.exp(cpd.log_probabilities()), counts.shape)
    n_states = counts.shape[-1]
    whole = deviation_of(
        counts.reshape(-1, n_states), expected.reshape(-1, n_states), rng
    )
    names = network.domain.names
    arcs = []
    for axis, parent in enumerate(family[:-1]):
        arcs.append((names[parent], _bits_of_arc(counts, expected, axis, whole)))
    parents = tuple(names[parent] for parent in family[:-1])
    return FamilyDrift(names[family[-1]], parents, whole, tuple(arcs))


def _bits_of_arc(
    counts: Floats, expected: Floats, axis: int, whole: Deviation
) -> float:
    """The bits that are left over once a parent is summed out as it is met today."""
    if not whole.rows or not math.isfinite(whole.bits):
        return whole.bits
    totals = counts.sum(axis=-1, keepdims=True)
    means = (expected * totals).sum(axis=axis)
    summed = counts.sum(axis=axis)
    seen = summed > 0
    g2 = 2.0 * float((summed[seen] * np.log(summed[seen] / means[seen])).sum())
    return max(0.0, whole.bits - g2 / (2.0 * whole.rows * math.log(2.0)))


def _network_of(model: Any) -> BayesianNetwork:
    """The network of a fitted model."""
    own = getattr(model, "model", model)
    try:
        network = getattr(model, "network_", None) or getattr(own, "network", None)
    except AttributeError as error:
        raise TypeError(f"drift compares rows with one network: {error}") from error
    if not isinstance(network, BayesianNetwork):
        raise TypeError(
            "drift compares rows with one network, which "
            f"{quoted(type(model).__name__)} is not; use naive Bayes, TAN, KDB, HNB or "
            "a network"
        )
    return network


def _figures(deviation: Deviation) -> tuple[str, ...]:
    """A deviation's figures, as cells of a table."""
    numbers = (
        f"{deviation.p_value:.3g}",
        f"{deviation.g2:.2f}",
        f"{deviation.degrees}",
    )
    return (*numbers, f"{deviation.bits:.4f}")


def _bar(deviation: Deviation) -> tuple[float, float]:
    """The bar of a deviation; one of a state that is ruled out is infinite."""
    return 0.0, min(deviation.bits, 1e3)


def _named(change: VariableDrift | FamilyDrift) -> str:
    """A variable, or a family by its child and parents."""
    if isinstance(change, VariableDrift):
        return shown_name(change.name)
    parents = name_list([shown_name(parent) for parent in change.parents])
    return f"{shown_name(change.child)} given {parents}"


def _family(found: FamilyDrift) -> str:
    """A family and its arc that changed most."""
    child = shown_name(found.child)
    arc = found.changed_arc
    told = f"{child} given {name_list([str(p) for p in found.parents])}"
    few = len(found.parents) < 2 or arc is None
    return told if few else f"{told}; most by {shown_name(str(arc))}"
