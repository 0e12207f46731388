"""How columns are read: what is nominal, and what missing and unknown cells become."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayleaf.data.tables.columns import Name
from bayleaf.wording import name_list, quoted

MISSING_RULES = ("marginalize", "state", "error")
UNKNOWN_RULES = ("missing", "error")
IDENTIFIER_RULES = ("drop", "keep", "error")
RARE_RULES = ("group", "error")
DATE_RULES = ("expand", "error")


@dataclass(frozen=True)
class EncoderRules:
    """How columns are read.

    Parameters
    ----------
    categorical_features : sequence of str, int or bool, optional
        Columns of numbers that are nominal, by name, position or mask; every other
        column of numbers is then numeric. By default integer columns with at most
        ten distinct values are nominal.
    missing : {"marginalize", "state", "error"}, default="marginalize"
        Whether missing cells are left open, count as a state, or are refused.
    unknown : {"missing", "error"}, default="missing"
        What becomes of values that training did not contain.
    max_states : int, default=1000
        Largest number of states of a nominal column.
    identifiers : {"drop", "keep", "error"}, default="drop"
        Whether a nominal column of which more than 90 % of at least 30 present values
        are distinct is left out, kept, or refused.
    rare : {"group", "error"}, default="group"
        Whether the rarest values beyond `max_states` share a state, or are refused.
    dates : {"expand", "error"}, default="expand"
        Whether dates become their parts, and durations numbers, or are refused.
    ordered_features : tuple of (name, tuple of values)
        Columns of ordered categories and their order; an empty one means that of the
        values themselves.
    """

    categorical_features: tuple[Name | bool, ...] | None = None
    missing: Literal["marginalize", "state", "error"] = "marginalize"
    unknown: Literal["missing", "error"] = "missing"
    max_states: int = 1000
    identifiers: Literal["drop", "keep", "error"] = "drop"
    rare: Literal["group", "error"] = "group"
    dates: Literal["expand", "error"] = "expand"
    ordered_features: tuple[tuple[Name, tuple[Hashable, ...]], ...] = ()

    def __post_init__(self) -> None:
        if self.max_states < 1:
            raise ValueError(f"max_states must be at least 1, got {self.max_states}")

    def order_of(self, name: Name) -> tuple[Hashable, ...] | None:
        """The order declared for a column's categories; None where there is none."""
        return dict(self.ordered_features).get(name)

    def nominal_names(self, names: Sequence[Name]) -> frozenset[Name] | None:
        """Names of the columns declared nominal; None where nothing is declared."""
        declared = self.categorical_features
        if declared is None:
            return None
        if declared and all(isinstance(item, bool | np.bool_) for item in declared):
            if len(declared) != len(names):
                raise ValueError(
                    f"categorical_features is a mask of {len(declared)} entries for "
                    f"{len(names)} columns; give one entry a column"
                )
            return frozenset(n for n, flag in zip(names, declared, strict=True) if flag)
        return frozenset(_named(item, names) for item in declared)


def _named(item: Name, names: Sequence[Name]) -> Name:
    """The column that an entry of `categorical_features` means."""
    if item in names:
        return item
    if isinstance(item, int | np.integer) and 0 <= item < len(names):
        return names[int(item)]
    raise ValueError(
        f"categorical_features names {quoted(item)}, but the columns are "
        f"{name_list(names)}"
    )
