"""Instructions that threads need and numba has no name for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_I64 = ir.IntType(64)

Codegen = Callable[[Any, Any, Any, Sequence[Any]], Any]


def _instruction(function: Callable[..., tuple[Any, Codegen]]) -> Any:
    """Make an intrinsic that is called like a function, without the typing context."""
    return intrinsic(function)


def _pointer(builder: Any, array: Any, offset: Any, to: ir.Type) -> Any:
    """Point to the element `offset` of a contiguous array, as another type."""
    return builder.bitcast(builder.gep(array.data, [offset]), to.as_pointer())


@_instruction
def load_acquired(typingctx: Any, values: Any, place: Any) -> tuple[Any, Codegen]:
    """Read a whole number that another thread may just have stored.

    Whatever that thread wrote before `store_released` is seen afterwards.
    """

    def codegen(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
        array = context.make_array(sig.args[0])(context, builder, args[0])
        pointer = _pointer(builder, array, args[1], _I64)
        return builder.load_atomic(pointer, "acquire", align=8)

    return types.int64(values, types.int64), codegen


@_instruction
def store_released(
    typingctx: Any, values: Any, place: Any, value: Any
) -> tuple[Any, Codegen]:
    """Store a whole number for another thread, see `load_acquired`."""

    def codegen(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
        array = context.make_array(sig.args[0])(context, builder, args[0])
        pointer = _pointer(builder, array, args[1], _I64)
        builder.store_atomic(args[2], pointer, "release", align=8)
        return context.get_dummy_value()

    return types.void(values, types.int64, types.int64), codegen
