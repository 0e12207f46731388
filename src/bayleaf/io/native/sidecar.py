"""Arrays of a model file: inside the JSON, or in an ``.npz`` file beside it.

Inside, an array is the flat list of its numbers; beside, ``{"array": i}`` stands for
entry ``a<i>`` of the second file, whose SHA-256 the first one holds, so that two files
that do not belong together are noticed.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.errors import ModelFileError

# Models with more numbers than this keep them in a second file.
MAX_INLINE = 1_000_000
Array = NDArray[np.float64] | NDArray[np.uint16] | NDArray[np.int64]
Shape = tuple[int, ...]
_HEADER_ALLOWANCE = 4096


def archive_path(path: Path) -> Path:
    """Where the arrays of a large model lie: beside its file, with one suffix more."""
    return path.with_name(path.name + ".npz")


def archive_of(arrays: Sequence[Array]) -> bytes | None:
    """Content of the second file if the arrays are large, else None."""
    if sum(array.size for array in arrays) <= MAX_INLINE:
        return None
    content = io.BytesIO()
    named: Any = {f"a{i}": array for i, array in enumerate(arrays)}
    np.savez_compressed(content, allow_pickle=False, **named)
    return content.getvalue()


def stand_ins(*, beside: bool) -> Callable[[Any], Any]:
    """A function that tells what stands for one array after the other.

    Inside the document that is the list of its numbers, for more axes than one in an
    object that tells the shape; for an array beside it, the shape and its number.
    """
    places = itertools.count()

    def stand_in(array: Any) -> Any:
        if not isinstance(array, np.ndarray):
            raise TypeError(
                f"a {type(array).__name__} has no place in a model file: {array!r}"
            )
        if beside:
            return {"shape": array.shape, "array": next(places)}
        if array.ndim == 1:
            return array.tolist()
        return {"shape": array.shape, "numbers": array.ravel().tolist()}

    return stand_in


@dataclass(frozen=True)
class ArrayReader:
    """Gives the arrays of a document back, once their shape is right.

    Parameters
    ----------
    archive : ZipFile, optional
        The second file, if there is one.
    taken : set of str
        The arrays read so far. None is read twice, so that a small file cannot ask
        for much memory.
    """

    archive: zipfile.ZipFile | None = None
    taken: set[str] = field(default_factory=set)

    @classmethod
    def beside(cls, path: Path, expected: Any, max_bytes: int) -> ArrayReader:
        """A reader for a document read from `path`; checks the second file.

        Parameters
        ----------
        path : Path
            The first file.
        expected : object
            What that holds as SHA-256 of the second one; None without a second one.
        max_bytes : int
            Larger files are refused.

        Raises
        ------
        ModelFileError
            If the second file is missing, too large, or another model's.
        """
        if expected is None:
            return cls()
        archive = archive_path(path)
        if not archive.is_file():
            raise ModelFileError(
                f"model file {path.name} lacks its second file {archive.name}; "
                "keep both together"
            )
        if archive.stat().st_size > max_bytes:
            raise ModelFileError(
                f"{archive.name} is larger than {max_bytes} bytes; raise max_bytes if "
                "you trust it"
            )
        content = archive.read_bytes()
        if hashlib.sha256(content).hexdigest() != expected:
            raise ModelFileError(
                f"{archive.name} does not belong to model file {path.name}, or was "
                "changed; save the model again"
            )
        try:
            arrays = zipfile.ZipFile(io.BytesIO(content))
        except Exception as error:
            raise ModelFileError(
                f"the second file {archive.name} is damaged"
            ) from error
        if sum(entry.file_size for entry in arrays.infolist()) > max_bytes:
            raise ModelFileError(
                f"{archive.name} holds more than {max_bytes} bytes; raise max_bytes if "
                "you trust it"
            )
        return cls(arrays)

    def get(
        self, value: Any, shape: Shape | None, what: str, *, whole: bool
    ) -> NDArray[Any]:
        """The array that a value of the document stands for.

        Parameters
        ----------
        value : list of numbers or dict
            The numbers, or where they are.
        shape : tuple of int, optional
            What the array is to be like; without it, one axis, or as it was written.
        what : str
            What it is, for messages.
        whole : bool
            Whether it holds whole numbers.

        Raises
        ------
        ModelFileError
            If it has another shape or holds something that is no finite number.
        """
        if isinstance(value, dict) and self.archive is not None:
            array = self._from_archive(self.archive, value.get("array"), shape, what)
            if (array.dtype.kind == "f") == whole:
                raise ModelFileError(f"{what} has the type {array.dtype}")
        elif isinstance(value, list):
            array = _from_list(
                value, (len(value),) if shape is None else shape, what, whole
            )
        else:
            raise ModelFileError(f"{what} should be a list of numbers")
        if not whole and not np.isfinite(array).all():
            raise ModelFileError(f"{what} holds something that is no finite number")
        return array

    def _from_archive(
        self, archive: zipfile.ZipFile, index: Any, shape: Shape | None, what: str
    ) -> NDArray[Any]:
        """One array of the second file."""
        name = f"a{index}.npy"
        if name in self.taken:
            raise ModelFileError(f"{what} is the same array as another value")
        self.taken.add(name)
        try:
            entry = archive.getinfo(name)
            if (
                shape is not None
                and entry.file_size > 8 * prod(shape) + _HEADER_ALLOWANCE
            ):
                raise ModelFileError(f"{what} is larger than its shape allows")
            with archive.open(entry) as stream:
                return _from_npy(stream, shape, what)
        except ModelFileError:
            raise
        except Exception as error:
            # A damaged archive makes its readers raise errors of a dozen types.
            raise ModelFileError(
                f"the second file is damaged: {what} is unreadable"
            ) from error


def _from_npy(stream: IO[bytes], shape: Shape | None, what: str) -> NDArray[Any]:
    """An array in NumPy's format; its declared shape is checked before it is read."""
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ModelFileError(f"{what} is in an unknown format")
    found, fortran_order, dtype = np.lib.format.read_array_header_1_0(stream)
    known = dtype in (np.float64, np.uint16, np.int64)
    if found != (found if shape is None else shape) or fortran_order or not known:
        raise ModelFileError(f"{what} should have shape {shape}, not {found}")
    n_bytes = prod(found) * dtype.itemsize
    content = stream.read(n_bytes)
    if len(content) != n_bytes:
        raise ModelFileError(f"{what} is cut short")
    return np.frombuffer(content, dtype=dtype).reshape(found)


def _from_list(values: list[Any], shape: Shape, what: str, whole: bool) -> NDArray[Any]:
    """An array from a flat list of numbers."""
    if len(values) != prod(shape):
        raise ModelFileError(
            f"{what} should hold {prod(shape)} numbers for its shape {shape}, "
            f"but holds {len(values)}"
        )
    if not set(map(type, values)) <= ({int} if whole else {int, float}):
        raise ModelFileError(
            f"{what} holds something that is no {'whole ' if whole else ''}number"
        )
    return np.array(values, dtype=np.int64 if whole else np.float64).reshape(shape)
