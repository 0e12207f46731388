"""Arrays of a model file: inside the JSON, or in an ``.npz`` file beside it.

Inside, an array is the flat list of its numbers; beside, ``{"array": i}`` stands for
entry ``a<i>`` of the second file, whose SHA-256 the first one holds, so that two files
that do not belong together are noticed.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.fields import Fields, ModelFileError

# Models with more numbers than this keep them in a second file.
MAX_INLINE = 1_000_000
Array = NDArray[np.float64] | NDArray[np.uint16]
_HEADER_ALLOWANCE = 4096


def archive_path(path: Path) -> Path:
    """Where the arrays of a large model lie: beside its file, with one suffix more."""
    return path.with_name(path.name + ".npz")


@dataclass
class ArrayWriter:
    """Collects the arrays of a document and puts them where they belong."""

    collected: list[tuple[dict[str, Any], Array]] = field(default_factory=list)

    def add(self, array: Array) -> dict[str, Any]:
        """What stands for an array of float64 or uint16 in the document."""
        stand_in = {"array": len(self.collected)}
        if array.dtype != np.uint16:
            array = np.asarray(array, dtype=np.float64)
        self.collected.append((stand_in, array))
        return stand_in

    def archive(self) -> bytes | None:
        """Content of the second file if the arrays are large, else None."""
        if sum(array.size for _, array in self.collected) <= MAX_INLINE:
            return None
        content = io.BytesIO()
        named: Any = {f"a{i}": array for i, (_, array) in enumerate(self.collected)}
        np.savez_compressed(content, allow_pickle=False, **named)
        return content.getvalue()

    def inlined(self, value: Any) -> Any:
        """A document with each array's numbers in place of what stands for it."""
        if isinstance(value, dict):
            if set(value) == {"array"}:
                return self.collected[value["array"]][1].ravel().tolist()
            return {key: self.inlined(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.inlined(item) for item in value]
        return value


@dataclass(frozen=True)
class ArrayReader:
    """Gives the arrays of a document back, once their shape is right.

    Parameters
    ----------
    archive : Path, optional
        The second file, if there is one.
    max_bytes : int, default=0
        Largest array that is read from it.
    """

    archive: Path | None = None
    max_bytes: int = 0

    @classmethod
    def beside(cls, path: Path, document: Fields, max_bytes: int) -> ArrayReader:
        """A reader for a document read from `path`; checks the second file.

        Raises
        ------
        ModelFileError
            If the second file is missing, too large, or another model's.
        """
        if document.values.get("arrays_sha256") is None:
            return cls()
        expected = document.text("arrays_sha256")
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
        if hashlib.sha256(archive.read_bytes()).hexdigest() != expected:
            raise ModelFileError(
                f"{archive.name} does not belong to model file {path.name}, or was "
                "changed; save the model again"
            )
        return cls(archive, max_bytes)

    def get(self, value: Any, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
        """The array of floats that a value of the document stands for.

        Raises
        ------
        ModelFileError
            If it has another shape or holds something that is no finite number.
        """
        array: NDArray[np.float64] = self._read(value, shape, what, np.float64)
        if not np.isfinite(array).all():
            raise ModelFileError(f"{what} holds something that is no finite number")
        return array

    def get_codes(
        self, value: Any, shape: tuple[int, ...], what: str
    ) -> NDArray[np.uint16]:
        """The array of codes that a value of the document stands for; as `get`."""
        array: NDArray[np.uint16] = self._read(value, shape, what, np.uint16)
        return array

    def _read(
        self, value: Any, shape: tuple[int, ...], what: str, kind: type[np.generic]
    ) -> Any:
        """One array, wherever it lies."""
        if isinstance(value, dict) and self.archive is not None:
            index = value.get("array")
            return self._from_archive(self.archive, index, shape, what, kind)
        if isinstance(value, list):
            return _from_list(value, shape, what, kind)
        raise ModelFileError(f"{what} should be a list of numbers")

    def _from_archive(
        self,
        path: Path,
        index: Any,
        shape: tuple[int, ...],
        what: str,
        kind: type[np.generic],
    ) -> NDArray[Any]:
        """One array of the second file."""
        try:
            with zipfile.ZipFile(path) as archive:
                entry = archive.getinfo(f"a{index}.npy")
                n_bytes = prod(shape) * np.dtype(kind).itemsize
                largest = min(n_bytes + _HEADER_ALLOWANCE, self.max_bytes)
                if entry.file_size > largest:
                    raise ModelFileError(f"{what} is larger than its shape allows")
                with archive.open(entry) as stream:
                    return _from_npy(stream, shape, what, kind)
        except ModelFileError:
            raise
        except Exception as error:
            # A damaged archive makes its readers raise errors of a dozen types.
            raise ModelFileError(
                f"the second file {path.name} is damaged: {what} is unreadable"
            ) from error


def _from_npy(
    stream: IO[bytes], shape: tuple[int, ...], what: str, kind: type[np.generic]
) -> NDArray[Any]:
    """An array in NumPy's format; its declared shape is checked before it is read."""
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ModelFileError(f"{what} is in an unknown format")
    found, fortran_order, dtype = np.lib.format.read_array_header_1_0(stream)
    if found != shape or fortran_order or dtype != kind:
        raise ModelFileError(f"{what} should have shape {shape}, not {found}")
    n_bytes = prod(shape) * dtype.itemsize
    content = stream.read(n_bytes)
    if len(content) != n_bytes:
        raise ModelFileError(f"{what} is cut short")
    return np.frombuffer(content, dtype=dtype).reshape(shape)


def _from_list(
    values: list[Any], shape: tuple[int, ...], what: str, kind: type[np.generic]
) -> NDArray[Any]:
    """An array from a flat list of numbers."""
    if len(values) != prod(shape):
        raise ModelFileError(
            f"{what} should hold {prod(shape)} numbers for its shape {shape}, "
            f"but holds {len(values)}"
        )
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ModelFileError(f"{what} holds something that is no number")
        if kind is np.uint16 and not (type(value) is int and 0 <= value < 1 << 16):
            raise ModelFileError(f"{what} holds {value!r}, which is no code")
    return np.array(values, dtype=kind).reshape(shape)
