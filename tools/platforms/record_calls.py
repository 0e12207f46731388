"""Record calls of the native core here, to be repeated on other platforms.

    python tools/platforms/record_calls.py FOLDER

Every native function that tests/native/cases describes is called with random valid
arguments. FOLDER gets `calls.bin` (the arguments, and what memory held before and
after) and `repeat_calls.c`, a program that loads a library, repeats the calls, and
compares. No Python is needed there, so that a Windows library can be tried with wine.
"""

from __future__ import annotations

import ctypes
import importlib
import struct
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bayleaf.native import library
from bayleaf.native.library import FLAG, INTEGER, POINTER, REAL, Function

sys.path[:0] = [str(Path(__file__).parents[2] / "tests")]
from native.test_hostile_calls import CASES  # noqa: E402

N_SEEDS = 12
# How deep objects are searched for the arrays behind addresses.
DEPTH = 4
HANDLE = b"h"
C_TYPES = {POINTER: "void*", INTEGER: "int64_t", FLAG: "_Bool", REAL: "double"}
MEMBERS = {POINTER: "pointer", INTEGER: "integer", FLAG: "integer", REAL: "real"}


class Region:
    """Memory behind an address: an array of NumPy or Python, or an object of ctypes."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        if isinstance(owner, np.ndarray):
            self.low, high = np.lib.array_utils.byte_bounds(owner)
            self.size = high - self.low
            self.kind = b"f" if owner.dtype == np.float64 else b"x"
        elif isinstance(owner, array):
            self.low, n_items = owner.buffer_info()
            self.size = n_items * owner.itemsize
            self.kind = b"f" if owner.typecode == "d" else b"x"
        else:
            self.low, self.size = ctypes.addressof(owner), ctypes.sizeof(owner)
            self.kind = HANDLE if isinstance(owner, POINTER) else b"x"

    def content(self) -> bytes:
        """Return what the memory holds now."""
        return ctypes.string_at(self.low, self.size)

    def pointers(self) -> list[tuple[int, int]]:
        """List the offsets and values of the addresses that a structure holds."""
        if not isinstance(self.owner, ctypes.Structure):
            return []
        kind = type(self.owner)
        return [
            (getattr(kind, name).offset, getattr(self.owner, name))
            for name, field in kind._fields_
            if field is POINTER and getattr(self.owner, name)
        ]


class Recorder:
    """Writes down each call of `Function`, with the memory that it reads and writes."""

    def __init__(self) -> None:
        self.calls: list[bytes] = []
        self.functions: dict[str, tuple[type, ...]] = {}
        self.left_out: set[str] = set()
        self._handles: list[int] = []
        self._call = Function.__call__

    def __enter__(self) -> Recorder:
        def recording(function: Function, *arguments: Any) -> None:
            self._record(function, arguments)

        Function.__call__ = recording  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        Function.__call__ = self._call  # type: ignore[method-assign]

    def _record(self, function: Function, arguments: tuple[Any, ...]) -> None:
        """Call a function; write the call down if all its addresses are understood."""
        name, kinds = function._name, function._kinds
        known = list(_regions())
        used: list[Region] = []
        slots = [
            self._slot(argument, kind, known, used)
            for argument, kind in zip(arguments, kinds, strict=True)
        ]
        for region in used:  # grows while structures lead to more
            for offset, address in region.pointers():
                slots.append(self._slot(address, POINTER, known, used, offset, region))
        before = [region.content() for region in used]
        self._call(function, *arguments)
        if None in slots:
            self.left_out.add(name)
            return
        made = [region for region in used if region.kind == HANDLE]
        self._handles += [region.owner.value for region in made]
        self.functions.setdefault(name, kinds)
        index = list(self.functions).index(name)
        parts = [struct.pack("<4q", index, len(used), len(slots), len(kinds))]
        parts += [slot for slot in slots if slot is not None]
        for region, content in zip(used, before, strict=True):
            parts.append(struct.pack("<cxxxxxxxq", region.kind, region.size))
            parts += [content, region.content()]
        self.calls.append(b"".join(parts))

    def _slot(
        self,
        value: Any,
        kind: type,
        known: list[Region],
        used: list[Region],
        offset: int = 0,
        holder: Region | None = None,
    ) -> bytes | None:
        """Encode an argument, or an address in a structure; None for one unknown."""
        where = used.index(holder) if holder is not None else -1
        if kind is REAL:
            return struct.pack("<cxxxxxxxdqqq", b"d", value, 0, where, offset)
        if kind is not POINTER or not value:
            tag = b"i" if kind is not POINTER else b"n"
            return struct.pack("<cxxxxxxxqqqq", tag, value or 0, 0, where, offset)
        fitting = [r for r in known if r.low <= value < r.low + max(r.size, 1)]
        if not fitting:
            if value not in self._handles:
                return None
            # Of those made at an address, the last: the others are gone.
            number = len(self._handles) - 1 - self._handles[::-1].index(value)
            return struct.pack("<cxxxxxxxqqqq", HANDLE, number, 0, where, offset)
        # The largest: a view's base rather than the view.
        region = max(fitting, key=lambda r: r.size)
        same = [r for r in used if (r.low, r.size) == (region.low, region.size)]
        if same:
            region = same[0]
        else:
            used.append(region)
        number = used.index(region)
        return struct.pack(
            "<cxxxxxxxqqqq", b"r", number, value - region.low, where, offset
        )


def _regions() -> Iterator[Region]:
    """Find the arrays and objects of ctypes that the wrapper of a call can reach."""
    frame = sys._getframe(3)
    for _ in range(3):
        yield from _reachable(list(frame.f_locals.values()), DEPTH)
        if frame.f_back is None:
            return
        frame = frame.f_back


def _reachable(value: Any, depth: int) -> Iterator[Region]:
    if isinstance(value, np.ndarray):
        if value.dtype != object:
            yield Region(value)
    elif isinstance(value, (array, ctypes._SimpleCData, ctypes.Structure)):
        yield Region(value)
    elif depth and isinstance(value, (list, tuple)):
        for item in value:
            yield from _reachable(item, depth - 1)
    elif depth and type(value).__module__.startswith("bayleaf."):
        names = [*getattr(value, "__dict__", ()), *getattr(value, "__slots__", ())]
        for name in names:
            yield from _reachable(getattr(value, name, None), depth - 1)


def _program(functions: dict[str, tuple[type, ...]]) -> str:
    """Write the part of the program that calls functions by their signatures."""
    lines = ["static const char* const names[] = {"]
    lines += [f'    "{name}",' for name in functions]
    lines += ["};", "", "static int32_t call(int64_t index, void* at, Argument* a) {"]
    lines += ["    switch (index) {"]
    for index, kinds in enumerate(functions.values()):
        types = ", ".join(C_TYPES[kind] for kind in kinds)
        values = ", ".join(f"a[{k}].{MEMBERS[kind]}" for k, kind in enumerate(kinds))
        lines.append(f"    case {index}: return ((int32_t (*)({types}))at)({values});")
    lines += ["    }", "    return -1;", "}", ""]
    return "\n".join(lines)


def main(folder: Path) -> None:
    """Record the calls."""
    folder.mkdir(parents=True, exist_ok=True)
    with Recorder() as recorder:
        for module, name, case in CASES:
            for seed in range(N_SEEDS):
                target: Any = importlib.import_module(f"bayleaf.native.{module}")
                arguments = case(np.random.default_rng(seed))
                for part in name.split("."):
                    target = getattr(target, part)
                target(*arguments)
    head = struct.pack("<q", len(recorder.calls))
    (folder / "calls.bin").write_bytes(head + b"".join(recorder.calls))
    template = Path(__file__).with_name("repeat_calls.c").read_text("utf-8")
    program = template.replace("/* functions */", _program(recorder.functions))
    (folder / "repeat_calls.c").write_text(program, "utf-8", newline="\n")
    missing = sorted(recorder.left_out - set(recorder.functions))
    print(
        f"recorded {len(recorder.calls)} calls of {len(recorder.functions)} functions "
        f"on {library.level()}"
        + (f"; left out: {', '.join(missing)}" if missing else "")
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
