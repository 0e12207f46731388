"""How posteriors are estimated: by which method, how closely, with what seed."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any, Literal, get_args

from bayleaf.wording import name_list, quoted

Method = Literal["exact", "auto", "approximate"]


class ApproximationWarning(UserWarning):
    """An estimate is less sure than was asked for, or its errors cannot be trusted."""


@dataclass(frozen=True)
class Sampling:
    """Sampling options as of `Inference.query`; ValueError if one is out of range."""

    method: Method
    tolerance: float  # standard error at which samples end
    max_samples: int  # at which they end in any case
    random_state: Any

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            methods = name_list([quoted(method) for method in get_args(Method)])
            raise ValueError(
                f"method must be one of {methods}, got {quoted(self.method)}"
            )
        is_number = isinstance(self.tolerance, numbers.Real)
        if not is_number or not 0 < self.tolerance < math.inf:
            raise ValueError(
                f"tolerance must be a number above 0, got {quoted(self.tolerance)}; it "
                "is the largest standard error of a probability"
            )
        whole = isinstance(self.max_samples, numbers.Integral)
        if not whole or isinstance(self.max_samples, bool) or self.max_samples < 1:
            raise ValueError(
                "max_samples must be an integer of at least 1, got "
                f"{quoted(self.max_samples)}"
            )
