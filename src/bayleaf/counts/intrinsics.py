"""Instructions that kernels need and numba has no name for.

Everything is written with vectors of 512 bits, which LLVM cuts to what the processor
has; the one instruction that only some processors know is asked for by `HAS_COMPRESS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

LANES = 8
# A state that no plane stands for: fills the gap at the end of a class.
NO_STATE = 255

_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_BYTES = ir.VectorType(_I8, 64)
_WORDS = ir.VectorType(_I64, LANES)
_COUNTS = ir.VectorType(_I32, LANES)

Codegen = Callable[[Any, Any, Any, Sequence[Any]], Any]


def _instruction(function: Callable[..., tuple[Any, Codegen]]) -> Any:
    """Make an intrinsic that is called like a function, without the typing context."""
    return intrinsic(function)


def target_has(feature: str) -> bool:
    """Tell whether numba compiles for a processor with this LLVM feature."""
    _, _, features = cpu_target.target_context.codegen().magic_tuple()
    return f"+{feature}" in features.split(",")


HAS_COMPRESS = target_has("avx512vbmi2")


def _pointer(builder: Any, array: Any, offset: Any, to: ir.Type) -> Any:
    """Point to the element `offset` of a contiguous array, as another type."""
    return builder.bitcast(builder.gep(array.data, [offset]), to.as_pointer())


def _declared(module: Any, kind: ir.FunctionType, name: str) -> Any:
    """Find or declare a function in a module that is being built."""
    return module.globals.get(name) or ir.Function(module, kind, name)


def _repeated(builder: Any, value: Any, vector: Any) -> Any:
    """Build a vector with the same value in every lane."""
    first = builder.insert_element(
        ir.Constant(vector, ir.Undefined), value, ir.Constant(_I32, 0)
    )
    everywhere = ir.Constant(ir.VectorType(_I32, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, first, everywhere)


@_instruction
def equal_mask(
    typingctx: Any, codes: Any, start: Any, state: Any
) -> tuple[Any, Codegen]:
    """Set bit i where ``codes[start + i] == state``, for 64 bytes."""
    signature = types.uint64(codes, types.int64, types.uint8)

    def codegen(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
        array = context.make_array(sig.args[0])(context, builder, args[0])
        values = builder.load(_pointer(builder, array, args[1], _BYTES), align=1)
        wanted = _repeated(builder, args[2], _BYTES)
        return builder.bitcast(builder.icmp_unsigned("==", values, wanted), _I64)

    return signature, codegen


@_instruction
def compress(
    typingctx: Any, codes: Any, start: Any, mask: Any, kept: Any, place: Any
) -> tuple[Any, Codegen]:
    """Write those of 64 bytes that `mask` names to ``kept[place:]``, without gaps.

    Only where `HAS_COMPRESS`. What is left of the 64 bytes becomes `NO_STATE`.
    """
    signature = types.void(codes, types.int64, types.uint64, kept, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
        source = context.make_array(sig.args[0])(context, builder, args[0])
        target = context.make_array(sig.args[3])(context, builder, args[3])
        values = builder.load(_pointer(builder, source, args[1], _BYTES), align=1)
        flags = ir.VectorType(ir.IntType(1), 64)
        function = _declared(
            builder.module,
            ir.FunctionType(_BYTES, [_BYTES, _BYTES, flags]),
            "llvm.x86.avx512.mask.compress.v64i8",
        )
        rest = ir.Constant(_BYTES, [NO_STATE] * 64)
        chosen = builder.call(function, [values, rest, builder.bitcast(args[2], flags)])
        builder.store(chosen, _pointer(builder, target, args[4], _BYTES), align=1)
        return context.get_dummy_value()

    return signature, codegen


@_instruction
def bit_count(typingctx: Any, word: Any) -> tuple[Any, Codegen]:
    """Count the bits set in a word."""

    def codegen(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@_instruction
def lowest_bit(typingctx: Any, word: Any) -> tuple[Any, Codegen]:
    """Find the lowest bit set in a word that is not zero."""

    def codegen(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


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


@_instruction
def add_product(
    typingctx: Any, left: Any, right: Any, counts: Any
) -> tuple[Any, Codegen]:
    """Add to `counts` (8, 8) the rows that planes of two panels have in common.

    `left` and `right` are runs (n_words, 8) of two panels, n_words > 0. Eight vectors
    of sums stay in registers: each takes one word of the left panel, repeated, against
    a row of the right one, so that no sum over lanes is needed at the end.
    """
    signature = types.void(left, right, counts)

    def codegen(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(sig.args, args, strict=True)
        ]
        n_words = builder.extract_value(arrays[0].shape, 0)
        row_bytes = builder.extract_value(arrays[2].strides, 0)
        sums = _product_loop(builder, arrays[0], arrays[1], n_words)
        base = builder.bitcast(arrays[2].data, _I8.as_pointer())
        for k, vector in enumerate(sums):
            row = builder.gep(base, [builder.mul(row_bytes, ir.Constant(_I64, k))])
            row = builder.bitcast(row, _COUNTS.as_pointer())
            more = builder.trunc(vector, _COUNTS)
            before = builder.load(row, align=4)
            builder.store(builder.add(before, more), row, align=4)
        return context.get_dummy_value()

    return signature, codegen


def _product_loop(builder: Any, left: Any, right: Any, n_words: Any) -> list[Any]:
    """Emit the loop over words; returns the eight vectors of sums."""
    popcount = _declared(
        builder.module, ir.FunctionType(_WORDS, [_WORDS]), f"llvm.ctpop.v{LANES}i64"
    )
    entry = builder.block
    loop, done = builder.append_basic_block("words"), builder.append_basic_block("done")
    builder.branch(loop)
    builder.position_at_end(loop)
    word = builder.phi(_I64)
    word.add_incoming(ir.Constant(_I64, 0), entry)
    sums = [builder.phi(_WORDS) for _ in range(LANES)]
    offset = builder.mul(word, ir.Constant(_I64, LANES))
    row = builder.load(_pointer(builder, right, offset, _WORDS), align=8)
    grown = []
    for k, before in enumerate(sums):
        place = builder.add(offset, ir.Constant(_I64, k))
        single = builder.load(builder.gep(left.data, [place]))
        common = builder.and_(row, _repeated(builder, single, _WORDS))
        grown.append(builder.add(before, builder.call(popcount, [common])))
    following = builder.add(word, ir.Constant(_I64, 1))
    word.add_incoming(following, loop)
    for before, after in zip(sums, grown, strict=True):
        before.add_incoming(ir.Constant(_WORDS, [0] * LANES), entry)
        before.add_incoming(after, loop)
    builder.cbranch(builder.icmp_signed("<", following, n_words), loop, done)
    builder.position_at_end(done)
    return grown
