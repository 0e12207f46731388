"""How many training rows stand behind the table cells that a row uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.explain.drawn_average import family_counts
from bayleaf.explain.drawn_networks import touched
from bayleaf.models.averaged_kdb import AveragedKDBModel
from bayleaf.models.class_model import ClassModel
from bayleaf.models.class_network import ClassNetwork
from bayleaf.models.evidence_rows import EvidenceRows
from bayleaf.models.hierarchical_mixture import (
    HierarchicalMixtureModel,
    node_path,
    path_name,
)
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.latent_class import LatentClassModel
from bayleaf.models.latent_rules import latent_names
from bayleaf.models.one_dependence import AveragedOneDependenceModel
from bayleaf.wording import brief, stated

Floats = NDArray[np.float64]
Given = tuple[tuple[str | int, str], ...]

# Rows below which a distribution is told to rest on little.
FEW_ROWS = 5.0


@dataclass(frozen=True)
class CellEvidence:
    """The training rows behind one distribution that a row uses.

    Parameters
    ----------
    feature : str or int
        Whose distribution it is.
    value : str
        Its state in the row.
    given : tuple of (str or int, str)
        What the distribution is conditioned on, the class included.
    rows : float
        Weight of the training rows behind the distribution, before smoothing.
    """

    feature: str | int
    value: str
    given: Given
    rows: float

    @property
    def is_rare(self) -> bool:
        """Whether fewer than five rows stand behind it."""
        return self.rows < FEW_ROWS

    def to_dict(self) -> dict[str, Any]:
        """The evidence as plain values, ready for JSON."""
        return {
            "feature": self.feature,
            "value": self.value,
            "given": {str(name): state for name, state in self.given},
            "rows": self.rows,
            "rare": self.is_rare,
        }

    def __repr__(self) -> str:
        return brief(self, self)

    def __str__(self) -> str:
        given = ", ".join(stated(name, state) for name, state in self.given)
        condition = f" given {given}" if given else ""
        rows = "1 row" if self.rows == 1 else f"{self.rows:.4g} rows"
        return f"{stated(self.feature, self.value)}{condition}: {rows}"


def cells_behind(
    model: ClassModel,
    evidence: EvidenceRows,
    codes: Codes,
    classes: NDArray[np.intp],
) -> list[tuple[CellEvidence, ...]]:
    """Evidence behind the cells that rows use under some classes.

    Parameters
    ----------
    model : ClassModel
        The model.
    evidence : EvidenceRows
        Its training rows.
    codes : Codes
        Features of the rows.
    classes : ndarray of shape (n_rows, n_shown)
        Classes of which is told in each row.

    Returns
    -------
    list of tuple of CellEvidence
        By feature, then class. Where several tables know of a feature: for averages
        the one with the fewest rows, for mixtures that of the component or expert to
        which the row most likely belongs.
    """
    teller = _Teller(model, codes)
    found: list[list[CellEvidence]] = [[] for _ in range(codes.n_rows)]
    for feature, given, rows in _tables(model, evidence, codes):
        for row, label in np.ndindex(classes.shape):
            chosen = int(classes[row, label])
            weight = float(rows[row, chosen])
            if np.isfinite(weight):
                cell = teller.cell(feature, row, chosen, given(row, chosen), weight)
                found[row].append(cell)
    return [tuple(cells) for cells in found]


@dataclass(frozen=True, eq=False)
class _Teller:
    """Names and states of cells."""

    model: ClassModel
    codes: Codes

    def fact(self, variable: int, row: int) -> tuple[str | int, str]:
        """Name and state of a feature in a row."""
        known = self.model.domain[variable]
        return known.name, known.label(int(self.codes.column(variable)[row]))

    def label(self, chosen: int) -> tuple[str | int, str]:
        """Name and state of the class."""
        variable = self.model.domain[-1]
        return variable.name, variable.label(chosen)

    def cell(
        self, feature: Any, row: int, chosen: int, given: Given, rows: float
    ) -> CellEvidence:
        """One cell; a feature may be a name and states by row instead of a number."""
        if isinstance(feature, tuple):
            name, states = feature
            value = states[row]
        elif feature == len(self.model.domain) - 1:
            name, value = self.label(chosen)
        else:
            name, value = self.fact(feature, row)
        return CellEvidence(name, value, given, rows)


Told = tuple[Any, Any, Floats]


def _tables(model: ClassModel, evidence: EvidenceRows, codes: Codes) -> Iterator[Told]:
    """For each feature: itself, what it is given, and rows by row and class.

    Weights are infinite where nothing is to be told.
    """
    teller = _Teller(model, codes)
    if isinstance(model, ClassNetwork):
        yield from _network_tables(model, evidence, teller)
    elif isinstance(model, HierarchicalNaiveBayesModel):
        yield from _hierarchical_tables(model, evidence, teller)
    else:
        rows, given = _averaged_rows(model, evidence, teller)
        for feature in range(codes.n_variables):
            hidden = codes.missing(feature)[:, None]
            yield feature, given(feature), np.where(hidden, np.inf, rows[feature])


def _network_tables(
    model: ClassNetwork, evidence: EvidenceRows, teller: _Teller
) -> Iterator[Told]:
    """Families that know of the class, with their parents."""
    class_index = len(model.domain) - 1
    for position, cpd in enumerate(model.network.cpds):
        if cpd.family == (class_index,) or class_index not in cpd.family:
            continue
        places, states = touched(cpd, teller.codes, model.domain.cards[-1])
        used = (places >= 0) & (states < cpd.cards[-1])
        counted = evidence.rows[position].ravel()[places]

        def given(row: int, chosen: int, parents: Sequence[int] = cpd.parents) -> Given:
            return tuple(
                teller.label(chosen) if p == class_index else teller.fact(p, row)
                for p in parents
            )

        yield cpd.child, given, np.where(used, counted, np.inf)


def _hierarchical_tables(
    model: HierarchicalNaiveBayesModel, evidence: EvidenceRows, teller: _Teller
) -> Iterator[Told]:
    """Class children, latent ones by their name."""
    columns = model.tree.node_codes(teller.codes)
    names = latent_names(model.domain, model.tree)
    for position, node in enumerate(model.tree.class_children):
        if node not in model.used_children:
            continue
        known = columns[node] < model.tree.cards[node]
        rows = np.where(known[:, None], evidence.rows[position], np.inf)
        feature: Any = node
        if node >= model.tree.n_features:
            states = [str(int(state) + 1) for state in columns[node]]
            feature = (names[node - model.tree.n_features], states)
        yield feature, lambda row, chosen: (teller.label(chosen),), rows


def _averaged_rows(
    model: ClassModel, evidence: EvidenceRows, teller: _Teller
) -> tuple[Floats, Any]:
    """Rows by feature, row and class for averages and mixtures, and what is given."""
    if isinstance(model, AveragedOneDependenceModel):
        return _one_dependence_rows(model, evidence, teller)
    if isinstance(model, LatentClassModel):
        return _component_rows(model, evidence, teller)
    if isinstance(model, HierarchicalMixtureModel):
        return _expert_rows(model, evidence, teller)
    assert isinstance(model, AveragedKDBModel)
    codes = teller.codes
    found = np.full((codes.n_variables, codes.n_rows, model.n_classes), np.inf)
    for network in model.networks:
        states = network.states(codes)
        for feature in np.flatnonzero(model.weights.sum(axis=1)).tolist():
            family = network.families[feature]
            levels = list(family_counts(model, family, states))
            deepest = int(np.flatnonzero(model.weights[feature])[-1])
            strength = levels[deepest].strength
            rows = levels[deepest].parents - strength
            known = levels[deepest].known[:, None]
            rows = np.where(known, rows, np.inf)
            found[feature] = np.minimum(found[feature], rows)
    return found, lambda _: lambda __, chosen: (teller.label(chosen),)


def _one_dependence_rows(
    model: AveragedOneDependenceModel, evidence: EvidenceRows, teller: _Teller
) -> tuple[Floats, Any]:
    """Rows behind each child's table under the super-parent with the fewest."""
    codes = teller.codes
    shape = (codes.n_variables, codes.n_rows, len(model.prior))
    found = np.broadcast_to(evidence.rows[1][:, None], shape).copy()
    fewest = np.full(shape, -1)
    for parent in range(codes.n_variables):
        positions = codes.column(parent).astype(np.intp) + int(model.offsets[parent])
        usable = model.usable[positions] & ~codes.missing(parent)
        for child in range(codes.n_variables):
            if child == parent:
                continue
            rows = evidence.rows[2][child][:, positions].T
            less = usable[:, None] & ((rows < found[child]) | (fewest[child] < 0))
            found[child] = np.where(less, rows, found[child])
            fewest[child] = np.where(less, parent, fewest[child])

    def given(feature: int) -> Any:
        def of_cell(row: int, chosen: int) -> Given:
            parent = int(fewest[feature, row, chosen])
            label = teller.label(chosen)
            return (label,) if parent < 0 else (label, teller.fact(parent, row))

        return of_cell

    return found, given


def _component_rows(
    model: LatentClassModel, evidence: EvidenceRows, teller: _Teller
) -> tuple[Floats, Any]:
    """Rows behind the tables of each class's most probable component."""
    likely = np.argmax(model.component_posteriors(teller.codes), axis=2)
    classes = np.arange(len(model.prior))
    found = evidence.rows[2][:, classes, likely]

    def of_cell(row: int, chosen: int) -> Given:
        component = ("component", str(int(likely[row, chosen]) + 1))
        return (teller.label(chosen), component)

    return found, lambda _: of_cell


def _expert_rows(
    model: HierarchicalMixtureModel, evidence: EvidenceRows, teller: _Teller
) -> tuple[Floats, Any]:
    """Rows behind the tables of the expert that the gates trust most."""
    weights = model.gate_weights(teller.codes)
    n_starts, n_rows, n_experts = weights.shape
    flat = np.moveaxis(weights, 1, 0).reshape(n_rows, -1).argmax(axis=1)
    starts, nodes = np.divmod(flat, n_experts)
    n_banks = len(model.starts[0])
    last = [evidence.rows[2 * n_banks * (start + 1) - 1] for start in range(n_starts)]
    tables = np.stack(last)
    found = np.moveaxis(tables[starts, :, nodes], 0, 1)

    def of_cell(row: int, chosen: int) -> Given:
        path = node_path(model.architecture, n_banks - 1, int(nodes[row]))
        return (teller.label(chosen), ("expert", path_name(path)))

    return found, lambda _: of_cell
