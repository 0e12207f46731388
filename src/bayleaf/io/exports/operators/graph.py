"""A graph of operators that grows node by node."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    """Nodes and constants, each known by the name of its result.

    Parameters
    ----------
    taken : collection of str
        Names that inputs and outputs have.
    """

    def __init__(self, taken: Collection[str]) -> None:
        self._onnx = onnx_library()
        self._taken = set(taken)
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._count = 0
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.row_zeros = ""

    def fresh(self) -> str:
        """A name that nothing has."""
        while (name := f"bayleaf_{self._count}") in self._taken:
            self._count += 1
        self._count += 1
        return name

    def constant(self, value: ArrayLike) -> str:
        """A tensor of doubles, whole numbers, truth values or text."""
        array = np.asarray(value)
        if array.dtype.kind in "UO":
            texts = [str(text).encode() for text in array.ravel().tolist()]
            kind = self._onnx.TensorProto.STRING
            make = self._onnx.helper.make_tensor
            return self._keep(make(self.fresh(), kind, array.shape, texts))
        if array.dtype.kind in "iu":
            array = array.astype(np.int64)
        return self._once(array)

    def small_constant(self, array: NDArray[np.unsignedinteger[Any]]) -> str:
        """A tensor of whole numbers of one, two or four bytes, as they are."""
        return self._once(array)

    def _once(self, array: NDArray[Any]) -> str:
        """A tensor; equal ones are held once."""
        key = array.dtype.str, array.shape, array.tobytes()
        if key not in self._known:
            tensor = self._onnx.numpy_helper.from_array(array, self.fresh())
            self._known[key] = self._keep(tensor)
        return self._known[key]

    def _keep(self, tensor: Any) -> str:
        self.constants.append(tensor)
        return str(tensor.name)

    def add(
        self, operator: str, *inputs: str | ArrayLike, to: str = "", **attributes: Any
    ) -> str:
        """Add a node; inputs that are no names become constants."""
        name = to or self.fresh()
        names = [
            each if isinstance(each, str) else self.constant(each) for each in inputs
        ]
        make = self._onnx.helper.make_node
        self.nodes.append(make(operator, names, [name], **attributes))
        return name

    def cast(self, value: str, kind: str) -> str:
        """A tensor as "DOUBLE", "INT64" or "BOOL"."""
        name = self.fresh()
        target = getattr(self._onnx.TensorProto, kind)
        make = self._onnx.helper.make_node
        self.nodes.append(make("Cast", [value], [name], to=target))
        return name

    def zeros_like(self, codes: str) -> None:
        """Keep a column of zeros, one a row, as `row_zeros`."""
        column = self.add("Unsqueeze", codes, [1])
        self.row_zeros = self.cast(self.add("Mul", column, np.array(0)), "DOUBLE")

    def sum(self, terms: Sequence[str]) -> str:
        """The sum of tensors, of at least one."""
        found = terms[0]
        for term in terms[1:]:
            found = self.add("Add", found, term)
        return found

    def look_up(self, table: NDArray[Any], places: str) -> str:
        """Rows of a table by their places, (n_rows, ...)."""
        return self.add("Gather", table, places, axis=0)

    def log_sum_exp(self, values: str, axis: int) -> str:
        """Logarithm of the sum of exponentials along an axis."""
        highest = self.add("ReduceMax", values, axes=[axis], keepdims=1)
        # Without it minus infinity less itself is no number.
        finite = self.add("Max", highest, np.array(-1e300))
        powers = self.add("Exp", self.add("Sub", values, finite))
        total = self.add("ReduceSum", powers, [axis], keepdims=1)
        found = self.add("Add", self.add("Log", total), finite)
        return self.add("Squeeze", found, [axis])

    def any_of(self, truths: Sequence[str]) -> str:
        """Whether one of several truth values holds, row by row."""
        found = truths[0]
        for truth in truths[1:]:
            found = self.add("Or", found, truth)
        return found
