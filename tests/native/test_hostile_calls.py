"""Random calls of every native function: refused in a sentence, or harmless."""

from __future__ import annotations

import importlib.util
import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import bayleaf.native

Arguments = tuple[Any, ...]
Case = Callable[[np.random.Generator], Arguments]

N_CALLS = int(os.environ.get("HOSTILE_CALLS", "400"))
FOLDER = Path(__file__).with_name("cases")
# What every module of kernels is built on.
PLUMBING = {"arrays", "library", "signatures"}
DTYPES = ("u1", "u2", "i4", "i8", "u8", "f4", "f8", "?", ">i8", ">f8", "O", "c16", "S3")


def _module_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"native_cases_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _modules() -> list[str]:
    """Modules of kernels, as ``counts`` or ``search.weights``."""
    paths = {
        path.relative_to(folder).with_suffix("")
        for folder in bayleaf.native.__path__
        for path in Path(folder).rglob("*.py")
    }
    return sorted(
        ".".join(path.parts)
        for path in paths
        if path.name not in PLUMBING and not path.name.startswith("_")
    )


def _cases() -> Iterator[tuple[str, str, Case]]:
    for name in _modules():
        path = FOLDER.joinpath(*name.split(".")).with_suffix(".py")
        for function, case in _module_file(path).CASES.items():
            yield name, function, case


CASES = list(_cases())


def _called(module: str, function: str, arguments: Arguments) -> Any:
    """Call a function, or a method ``Class.method`` whose object comes first."""
    target: Any = importlib.import_module(f"bayleaf.native.{module}")
    for part in function.split("."):
        target = getattr(target, part)
    return target(*arguments)


def _misaligned(array: NDArray[Any]) -> NDArray[Any]:
    bytes_ = np.zeros(array.nbytes + 1, dtype=np.uint8)
    crooked = bytes_[1:].view(array.dtype).reshape(array.shape)
    crooked[...] = array
    return crooked


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    copy = array.copy()
    copy.setflags(write=False)
    return copy


def _resized(array: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """One axis longer, shorter or empty, filled with what was there."""
    if array.ndim == 0:
        return array[None]
    axis = int(rng.integers(array.ndim))
    length = array.shape[axis]
    wanted = int(rng.choice([0, max(length - 1, 0), length + 1, 2 * length + 1]))
    if length == 0:
        shape = list(array.shape)
        shape[axis] = wanted
        return np.zeros(shape, dtype=array.dtype)
    return np.ascontiguousarray(np.take(array, np.arange(wanted) % length, axis=axis))


def _strided(array: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    if array.ndim == 0:
        return array
    kind = rng.integers(4)
    if kind == 0:
        return np.asfortranarray(array)
    if kind == 1:
        return np.repeat(array, 2, axis=0)[::2]
    if kind == 2:
        return np.ascontiguousarray(array[::-1])[::-1]
    return np.broadcast_to(array[:1], array.shape)


def _hostile(array: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    kind = rng.integers(7)
    if kind == 0:
        dtype = np.dtype(str(rng.choice(DTYPES)))
        with np.errstate(all="ignore"):
            return array.astype(dtype)
    if kind == 1:
        return _misaligned(array)
    if kind == 2:
        return _read_only(array)
    if kind == 3:
        return _strided(array, rng)
    if kind == 4:
        return array[None] if rng.integers(2) else array.ravel()
    return _resized(array, rng)


@pytest.mark.parametrize(
    ("module", "function", "case"), CASES, ids=[f"{m}.{f}" for m, f, _ in CASES]
)
def test_a_valid_call_is_taken(module: str, function: str, case: Case) -> None:
    for seed in range(5):
        _called(module, function, case(np.random.default_rng(seed)))


def test_hostile_arrays_are_refused_or_harmless() -> None:
    rng = np.random.default_rng(0)
    n_refused = 0
    for _ in range(N_CALLS):
        module, function, case = CASES[int(rng.integers(len(CASES)))]
        arguments = list(case(rng))
        arrays = [
            place
            for place, value in enumerate(arguments)
            if isinstance(value, np.ndarray)
        ]
        if not arrays:
            continue
        place = int(rng.choice(arrays))
        arguments[place] = _hostile(arguments[place], rng)
        try:
            _called(module, function, tuple(arguments))
        except (TypeError, ValueError):
            n_refused += 1
    assert n_refused > N_CALLS / 3


@pytest.mark.parametrize("name", _modules())
def test_every_native_function_has_a_valid_call(name: str) -> None:
    module = importlib.import_module(f"bayleaf.native.{name}")
    public = {
        function
        for function, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not function.startswith("_")
    }
    covered = {function for where, function, _ in CASES if where == name}
    assert public <= covered
