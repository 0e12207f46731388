"""Functions of the native core, declared by signatures in the order of C.

    scale = native("bl_scale(in x f8[n, k], out y f8[n], n, k, real by, flag k > 9)")

`in` arrays are read and `out` arrays written, both aligned and C-contiguous; `strided`
ones are read in any layout. Axes are names, which the first array that has them binds,
``n + 1`` as the first axis, or expressions. ``f8|f4`` is the second type where an array
has it, the first otherwise. `codes` passes the blocks and slots of n_rows, see
`bayleaf.data.codes.Codes`, and `handle` the address of an object. After `int`, `real`,
`flag` and `address` a name is a parameter; anything else is an expression over them and
axes, an int if nothing precedes it. ``k = expression`` binds a name beforehand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

from bayleaf.native import arrays
from bayleaf.native.library import FLAG, INTEGER, POINTER, REAL, Function

_KINDS: dict[str, type] = {
    **{"int": INTEGER, "real": REAL, "flag": FLAG},
    **{"address": POINTER, "handle": POINTER},
}
_CHECKS = {"in": "readable", "out": "writable", "strided": "strided"}
_TYPES = ("B1", "U1", "U2", "U4", "U8", "I4", "I8", "F4", "F8")
# What generated functions use, and the names of the module that declares them.
_TOOLS: dict[str, Any] = {
    **{name.lower(): getattr(arrays, name) for name in _TYPES},
    **{name: getattr(arrays, name) for name in _CHECKS.values()},
}
# A block without variables may have any number of rows.
_CODES = """
readable(narrow, u1, (len(narrow), n_rows) if len(narrow) else narrow.shape),
len(narrow), readable(wide, u2, (len(wide), n_rows) if len(wide) else wide.shape),
len(wide), readable(slots, i8, (len(slots),)), len(slots)"""
_ARRAY = re.compile(r"(in|out|strided) ([\w.]+) (\w+)(?:\|(\w+))?\[(.*)\]")


def native(signature: str, order: str = "") -> Callable[..., None]:
    """The function of a signature, with its parameters in another order if given."""
    name, _, inside = " ".join(signature.split()).partition("(")
    items = _items(inside.removesuffix(")"))
    kinds: list[type] = []
    parameters: list[str] = []
    sizes: list[str] = []
    values: list[str] = []
    bound = {item.removeprefix("int ") for item in items if item.startswith("int ")}
    for item in items:
        kind, _, value = item.partition(" ")
        if match := _ARRAY.fullmatch(item):
            mode, array, dtype, other, axes = match.groups()
            parameters.append(array.partition(".")[0])
            sizes += _sizes(array, _items(axes), bound)
            if other:
                dtype = f"{other} if {array}.dtype == {other} else {dtype}"
            values.append(f"{_CHECKS[mode]}({array}, {dtype}, ({axes},))")
            kinds.append(POINTER)
        elif item == "codes":
            parameters += ["narrow", "wide", "slots"]
            values.append(_CODES)
            kinds += [POINTER, INTEGER] * 3
        elif kind in _KINDS:
            parameters += [value] if value.isidentifier() else []
            values.append(f"{value}.address" if kind == "handle" else value)
            kinds.append(_KINDS[kind])
        elif " = " in item:
            sizes.append(item)
            bound.update(re.findall(r"\w+", item.partition(" = ")[0]))
        else:
            values.append(item)
            kinds.append(INTEGER)
    core = Function(name, *kinds)
    if values == parameters:
        return core
    own = name.removeprefix("bl_")
    order = order or ", ".join(dict.fromkeys(parameters))
    lines = [f"def make(core, {', '.join(_TOOLS)}):", f" def {own}({order}):"]
    lines += [f"  {line}" for line in sizes]
    lines += [f"  core({', '.join(values)})", f" return {own}"]
    made: dict[str, Any] = {}
    module = sys._getframe(1).f_globals
    exec(compile("\n".join(lines), f"<{name}>", "exec"), module, made)
    function: Callable[..., None] = made["make"](core, *_TOOLS.values())
    function.__qualname__, function.__doc__ = own, signature
    return function


def _items(text: str) -> list[str]:
    """The parts of a text between commas that are not inside brackets."""
    items, depth = [""], 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        if char == "," and not depth:
            items.append("")
        else:
            items[-1] += char
    return [item.strip() for item in items]


def _sizes(array: str, axes: list[str], bound: set[str]) -> list[str]:
    """The statement that takes sizes from an array's shape, unless all are bound."""
    first = axes[0].removesuffix(" + 1")
    names = [n if n.isidentifier() and n not in bound else "_" for n in axes]
    names[0] = "_" if first in bound or not first.isidentifier() else first
    new = [name for name in names if name != "_"]
    bound.update(new)
    if new == [first]:
        # The check finds other numbers of axes, and an array of no bounds.
        size = f"len({array})" if first == axes[0] else f"(len({array}) or 1) - 1"
        return [f"{first} = {size}"]
    return [f"{', '.join(names)} = {array}.shape"] if new else []
