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

    `categorical_features` are names, positions or a mask of nominal columns of numbers;
    by default integer columns of at most ten distinct values are nominal. "marginalize"
    leaves missing cells open. An identifier is a nominal column of which more than 90 %
    of at least 30 present values are distinct. An empty order is that of the values
    themselves.
    """

    categorical_features: tuple[Name | bool, ...] | None = None
    missing: Literal["marginalize", "state", "error"] = "marginalize"
    unknown: Literal["missing", "error"] = "missing"  # of values that training lacks
    max_states: int = 1000  # of a nominal column
    identifiers: Literal["drop", "keep", "error"] = "drop"
    rare: Literal["group", "error"] = "group"  # values beyond max_states share a state
    dates: Literal["expand", "error"] = "expand"  # to parts; durations to numbers
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
