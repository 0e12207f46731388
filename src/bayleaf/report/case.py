"""A model and a table, and the parts that reports on all models share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain, masked_domain
from bayleaf.data.partial_values import available_codes
from bayleaf.evaluation.privacy import Privacy
from bayleaf.evaluation.table_rows import model_columns
from bayleaf.models.page_model import PageModel
from bayleaf.report.column_facts import (
    column_parts,
    column_values,
    published_parts,
    quality_notes,
    reading_values,
)
from bayleaf.report.learned_structure import structure_values
from bayleaf.wording import near_names

Values = dict[str, Any]

HELD_OUT_BASIS = (
    "The model itself, scored on the rows of this table, which were declared as held "
    "out. If they include training rows, these scores are too optimistic."
)


@dataclass(frozen=True)
class Options:
    """What `summarize` is asked for."""

    by: Sequence[str]
    held_out: bool
    loss: Any
    positive: Any
    n_folds: int
    random_state: int
    weights: NDArray[np.float64] | None = None  # of rows, all above zero

    def described(self, basis: str, unweighted: str) -> str:
        """How scores came about, and which figures do not weigh rows."""
        if self.weights is None:
            return basis
        return f"{basis} Fits and scores weigh rows; {unweighted} count rows alike."


class Case(ABC):
    """A model, a table read by it, and their summary; one subclass per task.

    ValueError if the table lacks a column, or options do not suit the task.
    """

    kind: ClassVar[str]
    # The target column in words, for an error.
    contains: ClassVar[str] = ""

    def __init__(
        self,
        model: Any,
        page: PageModel,
        frame: Any,
        target: str | int | None,
        privacy: Privacy,
        options: Options,
    ) -> None:
        self.model, self.frame, self.options = model, frame, options
        self.source: Any = page.model
        self.scorer: Any = page.scorer
        self.encoder = page.encoder
        self.requested_target = target
        self.target = self._target(target) if page.has_target else None
        features: Domain = self.source.domain
        names: Sequence[Any] = features.names
        if self.encoder is not None:
            features, names = self.encoder.domain, self.encoder.column_names
        without = frame.drop(self.target) if page.has_target else frame
        self.X, self.read = model_columns(without, model, names)
        known: set[str | int | None] = {*self.read}
        if self.encoder is not None:
            # Identifiers were in the table of training, too.
            forms = zip(self.read, self.encoder.readings, strict=True)
            known = {name for name, reading in forms if reading.form != "left_out"}
        self.n_columns = len(known)
        if page.has_target:
            known.add(self.target)
        self.left_out = [str(name) for name in frame.columns if name not in known]
        self.read_target()
        assert page.read is not None
        encoded = page.read(self.X)
        self.rows, self.codes = encoded.rows, available_codes(encoded.rows)
        columns = [self.codes.column(i) for i in range(self.codes.n_variables)]
        self.privacy = privacy.of_table([*columns, *self.other_columns(privacy)])
        parts = column_parts(self.codes, features, encoded.unknown)
        self.parts = published_parts(parts, self.privacy)
        # Under the names that may be shown.
        self.features = masked_domain(
            features, [*map(self.privacy.unnamed, parts, self.parts)]
        )
        self.columns = column_values(
            self.parts,
            self.features,
            features,
            {} if self.encoder is None else self.encoder.notes,
            self.privacy,
        )

    def _target(self, target: str | int | None) -> str | int:
        """The target column, by default that of training."""
        name: str | int = self.source.domain[-1].name if target is None else target
        names = self.frame.columns
        if name not in names:
            raise ValueError(
                f"the table has no target column {str(name)!r}; name the one with the "
                f"{self.contains} as target; {near_names(str(name), names)}"
            )
        return name

    def read_target(self) -> None:
        """Keep what is to be predicted of each row."""
        return

    def other_columns(self, privacy: Privacy) -> Sequence[NDArray[np.integer[Any]]]:
        """Codes of columns by which rounded numbers differ, other than features."""
        del privacy
        return []

    @property
    def n_rows(self) -> int:
        """Number of rows as it may be shown."""
        return int(self.parts[0].sum())

    @property
    def shown_domain(self) -> Domain:
        """All variables of the model under the names that may be shown."""
        return self.features

    @property
    def remarks(self) -> Sequence[str]:
        """What the model adds on its structure."""
        return getattr(self.source, "remarks", ())

    @abstractmethod
    def model_values(self) -> Values:
        """Name and size of the model."""

    @abstractmethod
    def scored_values(self) -> Values:
        """Quality on held-out rows, and all that is computed from them."""

    def values(self) -> Values:
        """Everything, section by section."""
        privacy = self.privacy
        return {
            "kind": self.kind,
            "model": self.model_values(),
            "data": {
                "n_rows": self.n_rows,
                "n_columns": self.n_columns,
                "left_out": self.left_out,
            },
            "structure": structure_values(
                self.source, self.shown_domain, self.remarks, privacy
            ),
            "columns": self.columns,
            "reading": reading_values(self.encoder, privacy),
            **self.scored_values(),
            "notes": quality_notes(self.columns, self.n_rows, self.left_out, privacy),
        }
