"""Arrays of a model file: inside the JSON, or in an ``.npz`` file beside it."""

from __future__ import annotations

import zipfile
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.atomic import replacing
from bayleaf.io.fields import Fields, ModelFileError

# Models with more numbers than this keep them in a second file.
MAX_INLINE = 1_000_000
_HEADER_ALLOWANCE = 4096


class Arrays:
    """The arrays that belong to one document.

    While writing, `add` collects arrays and gives what stands for them in the JSON;
    while reading, `get` gives them back once their shape is right.
    """

    def __init__(self) -> None:
        self._collected: list[NDArray[np.float64]] = []
        self._archive: Path | None = None
        self._max_bytes = 0

    def add(self, array: NDArray[np.float64]) -> list[Any]:
        """What stands for an array in the document: filled in when it is written."""
        self._collected.append(np.asarray(array, dtype=np.float64))
        placeholder: list[Any] = [len(self._collected) - 1]
        self._placeholders = [*getattr(self, "_placeholders", []), placeholder]
        return placeholder

    def write_beside(self, path: Path, document: dict[str, Any]) -> None:
        """Put the arrays into the document or, if large, into a second file."""
        document["arrays"] = None
        placeholders: list[list[Any]] = getattr(self, "_placeholders", [])
        if sum(array.size for array in self._collected) <= MAX_INLINE:
            for placeholder, array in zip(placeholders, self._collected, strict=True):
                placeholder[:] = array.ravel().tolist()
            return
        archive = path.with_name(path.name + ".npz")
        document["arrays"] = archive.name
        with replacing(archive) as temporary, temporary.open("wb") as stream:
            named = {f"a{i}": array for i, array in enumerate(self._collected)}
            np.savez_compressed(stream, allow_pickle=False, **named)  # type: ignore[arg-type]

    @classmethod
    def beside(cls, path: Path, document: Fields, max_bytes: int) -> Arrays:
        """The arrays of a document that was read from `path`."""
        arrays = cls()
        name = document.values.get("arrays")
        if name is None:
            return arrays
        if name != path.name + ".npz":
            raise ModelFileError(
                f"model file {path.name} points to arrays in {str(name)[:80]!r}; they "
                f"belong into {path.name}.npz beside it"
            )
        arrays._archive = path.with_name(name)
        arrays._max_bytes = max_bytes
        if not arrays._archive.is_file():
            raise ModelFileError(
                f"model file {path.name} lacks its second file {name}; keep both"
            )
        return arrays

    def get(self, value: Any, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
        """The array that a value of the document stands for.

        Raises
        ------
        ModelFileError
            If it has another shape or holds something that is no finite number.
        """
        if not isinstance(value, list):
            raise ModelFileError(f"{what} should be a list of numbers")
        if self._archive is not None and len(value) == 1 and prod(shape) != 1:
            array = self._from_archive(value[0], shape, what)
        else:
            array = _from_list(value, shape, what)
        if not np.isfinite(array).all():
            raise ModelFileError(f"{what} holds something that is no finite number")
        return array

    def _from_archive(
        self, index: Any, shape: tuple[int, ...], what: str
    ) -> NDArray[np.float64]:
        """One array of the second file, its declared size checked before it is read."""
        assert self._archive is not None
        try:
            with zipfile.ZipFile(self._archive) as archive:
                entry = archive.getinfo(f"a{int(index)}.npy")
                expected = prod(shape) * 8 + _HEADER_ALLOWANCE
                if entry.file_size > min(expected, self._max_bytes):
                    raise ModelFileError(
                        f"{what} is larger than its shape {shape} allows"
                    )
                with archive.open(entry) as stream:
                    array: NDArray[Any] = np.lib.format.read_array(
                        stream, allow_pickle=False
                    )
        except (zipfile.BadZipFile, KeyError, OSError, EOFError) as error:
            raise ModelFileError(
                f"the second file {self._archive.name} is damaged: {what} is unreadable"
            ) from error
        if array.shape != shape or array.dtype != np.float64:
            raise ModelFileError(f"{what} should have shape {shape}, not {array.shape}")
        return array


def _from_list(
    values: list[Any], shape: tuple[int, ...], what: str
) -> NDArray[np.float64]:
    """An array from a flat or nested list of numbers."""
    if values and isinstance(values[0], list):
        values = [
            item for row in values for item in (row if isinstance(row, list) else [row])
        ]
    if len(values) != prod(shape):
        raise ModelFileError(
            f"{what} should hold {prod(shape)} numbers for its shape {shape}, "
            f"but holds {len(values)}"
        )
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ModelFileError(f"{what} holds something that is no number")
    return np.array(values, dtype=np.float64).reshape(shape)
