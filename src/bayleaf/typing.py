"""Types of what the library takes and returns, for annotations in other programs.

They are structural: a class has such a type if it has its methods, whatever library it
is of. Importing this module loads no other.

Examples
--------
>>> from bayleaf.typing import ColumnLike, TableLike
>>> def first_label(X: TableLike, y: ColumnLike) -> object: ...
"""

from __future__ import annotations

import os
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Protocol,
    SupportsFloat,
    SupportsIndex,
    TypeAlias,
    TypedDict,
    TypeVar,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Item = TypeVar("_Item")
_Item_co = TypeVar("_Item_co", covariant=True)
_Key_co = TypeVar("_Key_co", covariant=True)

# A name of a column or variable.
Name: TypeAlias = str | int


class MappingLike(Protocol[_Key_co, _Item_co]):
    """A dict or other mapping; its keys may be of a narrower type."""

    def __getitem__(self, key: Any, /) -> _Item_co: ...
    def __iter__(self) -> Iterator[_Key_co]: ...
    def __len__(self) -> int: ...
    def keys(self) -> Collection[_Key_co]:
        """Return the keys."""

    def items(self) -> Collection[tuple[_Key_co, _Item_co]]:
        """Return the pairs of keys and values."""
        ...

    def get(self, key: Any, /) -> _Item_co | None:
        """Return the value of a key, None where there is none."""
        ...


# A mapping by names of columns or variables, and one by states or class labels.
ByName: TypeAlias = MappingLike[Name, _Item]
ByLabel: TypeAlias = MappingLike[Hashable, _Item]


class ListLike(Protocol[_Item_co]):
    """A list, tuple or other sequence that is not a text."""

    # Texts only take texts here.
    def __contains__(self, value: object, /) -> bool: ...
    def __getitem__(self, index: SupportsIndex, /) -> _Item_co: ...
    def __iter__(self) -> Iterator[_Item_co]: ...
    def __len__(self) -> int: ...
    def index(self, value: Any, /) -> int:
        """Return the first position of an item."""
        ...


class SupportsArray(Protocol):
    """An array of NumPy, a series, or what becomes an array otherwise."""

    def __array__(self) -> NDArray[Any]: ...


class FrameLike(Protocol):
    """A data frame, lazy frame or relation, by the rules of narwhals."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""

    def join(self, *args: Any, **kwargs: Any) -> Any:
        """Join the rows of another frame."""


class ArrowStream(Protocol):
    """A table, reader or frame that hands over batches of Arrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object: ...


class ArrowBatch(Protocol):
    """A batch of Arrow."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


class ArrowDataset(Protocol):
    """A dataset of Arrow, over files that are read when they are needed."""

    def to_table(self, *args: Any, **kwargs: Any) -> Any:
        """Read all rows."""


class DirectedGraph(Protocol):
    """A graph of networkx or igraph, or of what is built on them."""

    def is_directed(self) -> bool:
        """Return whether arcs have a direction."""
        ...


class CausalLearnGraph(Protocol):
    """A graph of causal-learn."""

    def get_graph_edges(self) -> Any:
        """Return the arcs."""


class CausalLearnResult(Protocol):
    """What a search of causal-learn returns, with its graph."""

    G: Any


class SparseMatrix(Protocol):
    """A sparse matrix of SciPy."""

    def toarray(self) -> Any:
        """Return it as an array."""


class PgmpyModel(Protocol):
    """A Bayesian network of pgmpy."""

    def get_cpds(self, node: Any = None) -> Any:
        """Return the tables."""


class PyAgrumModel(Protocol):
    """A Bayesian network of pyAgrum."""

    def cpt(self, *args: Any) -> Any:
        """Return the table of a variable."""


class NamedRow(Protocol):
    """A row of a frame, such as a Series of pandas, by the names of its columns."""

    @property
    def ndim(self) -> int:
        """Number of dimensions, 1."""

    def to_dict(self) -> dict[Any, Any]:
        """Return the cells by name."""


class Estimator(Protocol):
    """An estimator, a pipeline or a search of scikit-learn's kind."""

    def get_params(self, deep: bool = True) -> Mapping[str, Any]:
        """Return the parameters by name."""


class Splitter(Protocol):
    """A splitter of scikit-learn's kind, which deals rows to training and tests."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]:
        """Yield pairs of the numbers of training rows and of test rows."""
        ...


class Note(TypedDict):
    """Note on a cell that was not taken as it is.

    "missing", "unknown", "not in training", or another value, as "nearest 8".
    """

    column: Name
    cell: Hashable
    note: str


# Notes on the cells of each row.
RowNotes: TypeAlias = list[list[Note]]
# One value per row, such as class labels.
ColumnLike: TypeAlias = SupportsArray | ListLike[Hashable]
# Numbers, such as the weights of rows.
NumbersLike: TypeAlias = SupportsArray | ListLike[SupportsFloat]
# A matrix of numbers.
MatrixLike: TypeAlias = SupportsArray | ListLike[NumbersLike]
# A table in memory: a frame, an array, a list of rows or dicts, or a dict of columns.
TableLike: TypeAlias = (
    FrameLike
    | SupportsArray
    | ArrowStream
    | ArrowBatch
    | ListLike[ListLike[object] | SupportsArray | ByName[object]]
    | ByName[ColumnLike]
)
# What is read in batches: also a path or glob, several paths, a dataset of Arrow.
BatchesLike: TypeAlias = (
    TableLike | str | os.PathLike[str] | ListLike[os.PathLike[str]] | ArrowDataset
)
# Rows to be predicted: also a single one by name, a dataset of Arrow, JSON as text.
RowsLike: TypeAlias = TableLike | ByName[object] | ArrowDataset | str | bytes
# One row: by name, or its cells in the order of columns.
RowLike: TypeAlias = ByName[object] | NamedRow | ListLike[object] | TableLike
# A graph of another library.
GraphLike: TypeAlias = (
    DirectedGraph | CausalLearnGraph | CausalLearnResult | SparseMatrix
)
# Evidence or an event: an expression, or what is known of each variable by name.
EventLike: TypeAlias = str | ByName[object] | NamedRow
EvidenceLike: TypeAlias = EventLike | Sequence[EventLike]
# Costs of predicting one class (row, or first key) where another is true.
LossLike: TypeAlias = ByLabel[ByLabel[float]] | MatrixLike
# What JSON may contain, and an object of it.
if TYPE_CHECKING:
    JSON: TypeAlias = (
        bool | int | float | str | Sequence["JSON"] | Mapping[str, "JSON"] | None
    )
else:
    # Annotations of other modules are evaluated where its name is not known.
    JSON = bool | int | float | str | Sequence[object] | Mapping[str, object] | None
JSONObject: TypeAlias = dict[str, JSON]

__all__ = [
    "ArrowBatch",
    "ArrowDataset",
    "ArrowStream",
    "BatchesLike",
    "ByLabel",
    "ByName",
    "CausalLearnGraph",
    "CausalLearnResult",
    "ColumnLike",
    "DirectedGraph",
    "Estimator",
    "EventLike",
    "EvidenceLike",
    "FrameLike",
    "GraphLike",
    "JSON",
    "JSONObject",
    "ListLike",
    "LossLike",
    "MappingLike",
    "MatrixLike",
    "Name",
    "NamedRow",
    "Note",
    "NumbersLike",
    "PgmpyModel",
    "PyAgrumModel",
    "RowLike",
    "RowNotes",
    "RowsLike",
    "SparseMatrix",
    "Splitter",
    "SupportsArray",
    "TableLike",
]
