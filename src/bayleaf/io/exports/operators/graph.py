"""A graph of operators that grows node by node."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

# Widely supported: runtimes of 2022 and later.
OPSET = 17
ML_OPSET = 3
ML_DOMAIN = "ai.onnx.ml"


def onnx_library() -> Any:
    """The library onnx, or one sentence that names it."""
    try:
        import onnx
    except ImportError:
        raise ImportError(
            "graphs of operators need the library onnx; install it with "
            'pip install "bayleaf[onnx]"'
        ) from None
    return onnx


class Graph:
    """Nodes and constants by the names of their results, which differ from those taken.

    Operators take names; other inputs become constants.
    """

    def __init__(self, taken: Collection[str]) -> None:
        self._onnx = onnx_library()
        names = map("bayleaf_{}".format, count())
        self._names = (name for name in names if name not in taken)
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: ArrayLike) -> str:
        """A tensor of numbers, booleans or texts; equal ones occur once."""
        array = np.asarray(value)
        if array.dtype.kind == "i":
            array = array.astype(np.int64)
        is_text = array.dtype.kind == "O"
        content = repr(array.tolist()).encode() if is_text else array.tobytes()
        key = array.dtype.str, array.shape, content
        if key not in self._known:
            self._known[key] = next(self._names)
            make = self._onnx.numpy_helper.from_array
            self.constants.append(make(array, self._known[key]))
        return self._known[key]

    def add(
        self,
        operator: str,
        *inputs: str | ArrayLike,
        output: str = "",
        **attributes: Any,
    ) -> str:
        """Add a node and return the name of its result."""
        name = output or next(self._names)
        names = [
            each if isinstance(each, str) else self.constant(each) for each in inputs
        ]
        make = self._onnx.helper.make_node
        self.nodes.append(make(operator, names, [name], **attributes))
        return name

    def cast(self, value: str, kind: str) -> str:
        """A tensor as "DOUBLE" or "INT64"."""
        return self.add("Cast", value, to=getattr(self._onnx.TensorProto, kind))

    def joined(self, operator: str, values: Sequence[str]) -> str:
        """The sum ("Add") or disjunction ("Or") of tensors, of at least one."""
        total, *rest = values
        for value in rest:
            total = self.add(operator, total, value)
        return total

    def log_sum_exp(self, values: str, axis: int) -> str:
        """Logarithm of the sum of exponentials along an axis, which is kept."""
        highest = self.add("ReduceMax", values, axes=[axis], keepdims=1)
        # Without it minus infinity less itself is no number.
        finite = self.add("Max", highest, np.array(-1e300))
        powers = self.add("Exp", self.add("Sub", values, finite))
        total = self.add("ReduceSum", powers, [axis], keepdims=1)
        return self.add("Add", self.add("Log", total), finite)
