"""How a table was read, as text that stands beside its codes or counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from bayleaf.data.column_reading import ColumnReading, EncoderRules
from bayleaf.data.domain import Domain
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.columns import Name
from bayleaf.io.native.documents import content_of_text, document_text
from bayleaf.io.native.model_file import label_type, labels_of_type
from bayleaf.wording import brief_fields

FORMAT = "bayleaf-table"


@dataclass(frozen=True, eq=False)
class TableReading:
    """What is known of a table's columns.

    Parameters
    ----------
    domain : Domain
        Its variables, a class last.
    rules : EncoderRules
        How columns are read.
    notes : tuple of (name, str)
        Remarks on columns.
    readings : tuple of ColumnReading
        What became of each column.
    label_type : str, optional
        NumPy's type of the class labels; None without a class.
    """

    domain: Domain
    rules: EncoderRules
    notes: tuple[tuple[Name, str], ...]
    readings: tuple[ColumnReading, ...]
    label_type: str | None

    __repr__ = brief_fields

    @classmethod
    def of(
        cls, encoder: TableEncoder, domain: Domain, classes: NDArray[Any] | None
    ) -> TableReading:
        """What an encoder and the labels of a class tell."""
        return cls(
            domain,
            encoder.rules,
            tuple(encoder.notes.items()),
            encoder.readings,
            None if classes is None else label_type(classes),
        )

    @property
    def encoder(self) -> TableEncoder:
        """What reads other tables in the same way."""
        variables = self.domain.variables
        if self.label_type is not None:
            variables = variables[:-1]
        return TableEncoder(
            Domain(variables), self.rules, dict(self.notes), self.readings
        )

    @property
    def classes(self) -> NDArray[Any] | None:
        """Labels of the class."""
        if self.label_type is None:
            return None
        labels: NDArray[Any] = labels_of_type(
            self.label_type, self.domain.variables[-1].states
        )
        return labels

    def to_text(self) -> str:
        """The document as text."""
        return document_text(FORMAT, self)

    @classmethod
    def from_text(cls, text: str, name: str) -> TableReading:
        """Read such a text; ModelFileError if it is none."""
        found: TableReading = content_of_text(text, name, {FORMAT: cls})
        return found
