"""How probable each class is in each group under a model itself, without any rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.evaluation.operating_points import class_names
from bayleaf.models.class_model import ClassModel
from bayleaf.results.result import Record
from bayleaf.typing import JSONObject

Floats = NDArray[np.float64]
# Larger tables of features are not asked for.
MOST_CELLS = 100_000


@dataclass(frozen=True)
class GroupProbability(Record, keys={"label": "group"}):
    """What a model holds of one group.

    Parameters
    ----------
    label : tuple of str
        The state of each group variable.
    probability : float
        P(group).
    classes : tuple of float
        P(class | group), in the order of the classes: what is predicted where nothing
        else is known, and the mean of the predicted probabilities in the group if rows
        follow a model that is a joint distribution.
    """

    label: tuple[str, ...]
    probability: float
    classes: tuple[float, ...]


@dataclass(frozen=True)
class ModelParity(Record):
    """Probabilities of the classes by group under a model, all else summed out.

    Parameters
    ----------
    columns : tuple of str
        The group variables.
    classes : tuple of str
        The classes.
    groups : tuple of GroupProbability
        One a joint state of the group variables.
    """

    columns: tuple[str, ...]
    classes: tuple[str, ...]
    groups: tuple[GroupProbability, ...]

    def gap(self, place: int) -> float:
        """Largest less least probability of a class over the groups."""
        values = [group.classes[place] for group in self.groups]
        return max(values) - min(values)

    def ratio(self, place: int) -> float | None:
        """Least by largest probability of a class over the groups."""
        values = [group.classes[place] for group in self.groups]
        return min(values) / max(values) if max(values) > 0 else None

    def to_dict(self) -> JSONObject:
        """The fields as plain values, gap and ratio of each class included."""
        places = range(len(self.classes))
        return super().to_dict() | {
            "gaps": [self.gap(place) for place in places],
            "ratios": [self.ratio(place) for place in places],
        }


def model_parity(
    model: ClassModel, features: tuple[int, ...], classes: tuple[str, ...]
) -> ModelParity | None:
    """P(class | joint state of features); None without a joint distribution."""
    table = class_table(model, features)
    if table is None:
        return None
    domain = model.domain
    labels = [
        class_names([domain[f].label(code) for code in range(domain[f].n_states)])
        for f in features
    ]
    groups = [
        GroupProbability(label, float(cell.sum()), tuple((cell / cell.sum()).tolist()))
        for label, cell in zip(
            itertools.product(*labels), table.reshape(-1, table.shape[-1]), strict=True
        )
        if cell.sum() > 0
    ]
    columns = tuple(str(domain[f].name) for f in features)
    return ModelParity(columns, classes, tuple(groups))


def class_table(model: ClassModel, features: Sequence[int]) -> Floats | None:
    """P(features, class), other features summed out, (n_states, ..., n_classes).

    Probabilities are not calibrated. None if too large, or for several features of a
    model without a joint distribution; of one, it has predictions given it alone.
    """
    cards = model.domain.cards[:-1]
    shape = [cards[feature] for feature in features]
    marginals = model.feature_marginals
    if np.prod(shape) > MOST_CELLS or (marginals is not None and len(features) != 1):
        return None
    combinations = np.array(list(itertools.product(*map(range, shape))), dtype=np.intp)
    columns = [np.full(len(combinations), card) for card in cards]
    for place, feature in enumerate(features):
        columns[feature] = combinations[:, place]
    table = np.exp(model.class_log_scores(Codes.from_columns(columns, cards)))
    if marginals is not None:
        table *= (marginals[features[0]] / table.sum(axis=1))[:, None]
    return np.asarray((table / table.sum()).reshape(*shape, -1))
