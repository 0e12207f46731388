"""The three tables that come with the library; see README.md in this folder."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, overload

import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from bayleaf.data.fitted_hierarchies import read_hierarchies
from bayleaf.data.tables.frames import as_frame as in_library
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.datasets.table import Table

LICENCE = (
    "Creative Commons Attribution 4.0 International (UCI Machine Learning Repository)"
)

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from bayleaf.datasets.table import Frame


class _Loader(Protocol):
    """What a function that loads a table returns, by the library of the table."""

    @overload
    def __call__(
        self,
        *,
        return_X_y: Literal[False] = False,
        as_frame: Literal["arrow"] = "arrow",
    ) -> Table[pa.Table]: ...
    @overload
    def __call__(
        self, *, return_X_y: Literal[True], as_frame: Literal["arrow"] = "arrow"
    ) -> tuple[pa.Table, NDArray[Any]]: ...
    @overload
    def __call__(
        self, *, return_X_y: Literal[False] = False, as_frame: Literal["pandas"]
    ) -> Table[pd.DataFrame]: ...
    @overload
    def __call__(
        self, *, return_X_y: Literal[True], as_frame: Literal["pandas"]
    ) -> tuple[pd.DataFrame, NDArray[Any]]: ...
    @overload
    def __call__(
        self, *, return_X_y: Literal[False] = False, as_frame: Literal["polars"]
    ) -> Table[pl.DataFrame]: ...
    @overload
    def __call__(
        self, *, return_X_y: Literal[True], as_frame: Literal["polars"]
    ) -> tuple[pl.DataFrame, NDArray[Any]]: ...


def _loader(function: Callable[..., Any]) -> _Loader:
    """Give a function the types of `_Loader`."""
    return cast(_Loader, function)


@_loader
def load_heart(
    *, return_X_y: bool = False, as_frame: str = "arrow"
) -> Table[Frame] | tuple[Frame, NDArray[Any]]:
    """Load the Statlog heart disease table: 270 patients, 13 features.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the features and the labels alone.
    as_frame : {"arrow", "pandas", "polars"}, default="arrow"
        Library of the table.

    Returns
    -------
    Table, or (table of features, ndarray)
        The target is `disease`: absent (150) or present (120).

    Examples
    --------
    >>> from bayleaf.datasets import load_heart
    >>> load_heart().frame.num_rows
    270
    """
    table = Table(
        "heart",
        _read("heart", as_frame),
        "270 patients, 13 clinical findings, and whether heart disease is present.",
        "Statlog (Heart). UCI Machine Learning Repository.",
        LICENCE,
    )
    return (table.X, table.y) if return_X_y else table


@_loader
def load_mushroom(
    *, return_X_y: bool = False, as_frame: str = "arrow"
) -> Table[Frame] | tuple[Frame, NDArray[Any]]:
    """Load the mushroom table: the 5 644 complete descriptions, 22 features.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the features and the labels alone.
    as_frame : {"arrow", "pandas", "polars"}, default="arrow"
        Library of the table.

    Returns
    -------
    Table, or (table of features, ndarray)
        The target is `edibility`: edible (3 488) or poisonous (2 156). The table has
        `hierarchies` of six columns, an example for ``abstraction="given"``.
    """
    table = Table(
        "mushroom",
        _read("mushroom", as_frame),
        "5 644 descriptions of gilled mushrooms from 23 species; those of the original "
        "8 124 whose stalk root is unknown are not in it.",
        "Schlimmer, J. (1987). Mushroom. UCI Machine Learning Repository.",
        LICENCE,
        _hierarchies("mushroom"),
    )
    return (table.X, table.y) if return_X_y else table


@_loader
def load_vote(
    *, return_X_y: bool = False, as_frame: str = "arrow"
) -> Table[Frame] | tuple[Frame, NDArray[Any]]:
    """Load the congressional voting table: 232 members who voted on all 16 questions.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the features and the labels alone.
    as_frame : {"arrow", "pandas", "polars"}, default="arrow"
        Library of the table.

    Returns
    -------
    Table, or (table of features, ndarray)
        The target is `party`: democrat (124) or republican (108).
    """
    table = Table(
        "vote",
        _read("vote", as_frame),
        "Votes of 232 members of the U.S. House of Representatives in 1984 on 16 "
        "questions; the other 203 of the original 435 lack at least one vote.",
        "Congressional Voting Records (1987). UCI Machine Learning Repository.",
        LICENCE,
    )
    return (table.X, table.y) if return_X_y else table


def _hierarchies(name: str) -> dict[str, ValueHierarchy]:
    """The value hierarchies of a shipped table."""
    file = files("bayleaf.datasets") / "tables" / f"{name}.hierarchies.json"
    with as_file(file) as path:
        return read_hierarchies(path)


def _read(name: str, library: str) -> Any:
    """A shipped table, as a data frame of a library."""
    packed = (files("bayleaf.datasets") / "tables" / f"{name}.csv.gz").read_bytes()
    # "none" is an odor, so only the empty cell would be missing, and there is none.
    options = pa_csv.ConvertOptions(null_values=[], strings_can_be_null=False)
    table = pa_csv.read_csv(
        io.BytesIO(gzip.decompress(packed)), convert_options=options
    )
    return in_library(table, library)
