"""Arrays of a model file: inside its JSON, or beside that in one zip archive.

In JSON an array is the flat list of its numbers; in a file that is an archive,
``{"array": i}`` stands for the entry ``a<i>.npy``, and the document is an entry too.
"""

from __future__ import annotations

import io
import itertools
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.errors import ModelFileError

# Models with more numbers than this are archives.
MAX_INLINE = 100_000
# Larger files are not read unless a caller says so.
MAX_BYTES = 1 << 30
# What a file may take of memory: so many bytes, or so many times its own.
_READERS_OWN, _EXPANSION = 1 << 27, 4
# Of a value of JSON, about, and of an empty list or object.
_VALUE_BYTES, _CONTAINER_BYTES = 40, 64
Array = NDArray[np.float64] | NDArray[np.uint16] | NDArray[np.int64] | NDArray[np.uint8]
Shape = tuple[int, ...]
_HEADER_ALLOWANCE = 4096
_DOCUMENT = "model.json"
# Of compression: higher ones take three times as long for some hundredths less.
_LEVEL = 1
# Bytes of packed numbers hardly repeat: without a search for it, most files become
# smaller in half the time. So many bytes show what suits an entry.
_STRATEGIES = zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE
_SAMPLE = 1 << 16
# How entries are opened for writing, which in archives are always bytes.
_BYTES: Literal["w"] = "w"


def archive_of(text: str, arrays: Sequence[Array]) -> bytes:
    """A document and its arrays as one archive."""
    content = _zipped(text, arrays, zipfile.ZIP_DEFLATED)
    unpacked = sum(array.nbytes for array in arrays) + len(text)
    if unpacked > most_unpacked(len(content)):
        # As large as it unpacks to, but read without question.
        content = _zipped(text, arrays, zipfile.ZIP_STORED)
    return content


def _zipped(text: str, arrays: Sequence[Array], method: int) -> bytes:
    """The archive, its arrays by a method of compression."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for place, array in enumerate(arrays):
            entry = io.BytesIO()
            np.lib.format.write_array(entry, array, (1, 0), allow_pickle=False)
            _add(archive, f"a{place}.npy", entry.getbuffer(), method)
        _add(archive, _DOCUMENT, text.encode("utf-8"), zipfile.ZIP_DEFLATED)
    return content.getvalue()


def _add(
    archive: zipfile.ZipFile, name: str, content: bytes | memoryview, method: int
) -> None:
    """Add an entry, by the strategy that makes its beginning smallest."""
    # Without the time of day, so that the same model makes the same file.
    info = zipfile.ZipInfo(name)
    info.compress_type, info.file_size = method, len(content)
    with archive.open(info, _BYTES) as entry:
        if method == zipfile.ZIP_DEFLATED:
            sample = content[:_SAMPLE]
            sizes = [len(_compressed(sample, strategy)) for strategy in _STRATEGIES]
            best = _STRATEGIES[sizes.index(min(sizes))]
            # zipfile has no parameter for it; elsewhere, files are larger.
            entry._compressor = _compressor(best)  # type: ignore[attr-defined]
        entry.write(content)


def _compressor(strategy: int) -> zlib._Compress:
    """What compresses the content of an entry."""
    return zlib.compressobj(_LEVEL, wbits=-zlib.MAX_WBITS, strategy=strategy)


def _compressed(content: bytes | memoryview, strategy: int) -> bytes:
    """Some content, compressed."""
    compressor = _compressor(strategy)
    return compressor.compress(content) + compressor.flush()


def most_unpacked(n_bytes: int) -> int:
    """What a file of some size may unpack to, so that a small one takes no memory."""
    return max(_READERS_OWN, _EXPANSION * n_bytes)


def opened(content: bytes, what: str, max_bytes: int) -> zipfile.ZipFile:
    """The archive with this content; `what` is its name in messages.

    ModelFileError if the content is not an archive, or unpacks to more than `max_bytes`
    or `most_unpacked`.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except Exception as error:
        # A damaged archive makes its readers raise errors of a dozen types.
        raise ModelFileError(f"{what} is no bayleaf model file, or damaged") from error
    unpacked = sum(entry.file_size for entry in archive.infolist())
    most = max_bytes
    if max_bytes <= MAX_BYTES:
        most = min(max_bytes, most_unpacked(len(content)))
    if unpacked > most:
        raise ModelFileError(
            f"{what} has {len(content)} bytes and unpacks to {unpacked}, more than "
            f"{most}; raise max_bytes above {MAX_BYTES} if you trust it"
        )
    return archive


def check_text(content: bytes, what: str, max_bytes: int) -> None:
    """Refuse JSON of many small values, which take far more memory than the text.

    ModelFileError if they may take more than `most_unpacked`.
    """
    n_containers = content.count(b"[") + content.count(b"{")
    n_values = content.count(b",") + content.count(b":")
    needed = _CONTAINER_BYTES * n_containers + _VALUE_BYTES * n_values
    if max_bytes <= MAX_BYTES and needed > most_unpacked(len(content)):
        raise ModelFileError(
            f"{what} holds {n_containers + n_values} values, which take too much "
            f"memory; raise max_bytes above {MAX_BYTES} if you trust it"
        )


def document_in(archive: zipfile.ZipFile, what: str) -> bytes:
    """The document in an archive; ModelFileError if it is missing or damaged."""
    try:
        return archive.read(_DOCUMENT)
    except Exception as error:
        raise ModelFileError(
            f"{what} is no bayleaf model file, or damaged: it has no {_DOCUMENT}"
        ) from error


def stand_ins(*, archived: bool) -> Callable[[Any], Any]:
    """A function that tells what stands for one array after the other.

    Inside the document that is the list of its numbers, for more axes than one in an
    object that tells the shape; for an array in an archive, its shape and number.
    """
    places = itertools.count()

    def stand_in(array: Any) -> Any:
        if not isinstance(array, np.ndarray):
            raise TypeError(
                f"a {type(array).__name__} has no place in a model file: {array!r}"
            )
        if archived:
            return {"shape": array.shape, "array": next(places)}
        if array.ndim == 1:
            return array.tolist()
        return {"shape": array.shape, "numbers": array.ravel().tolist()}

    return stand_in


@dataclass(frozen=True)
class ArrayReader:
    """Returns the arrays of a document, once their shape is right.

    Arrays of an archive are read once only (`taken`), so that a small file cannot
    request much memory.
    """

    archive: zipfile.ZipFile | None = None
    taken: set[str] = field(default_factory=set)

    def get(self, value: Any, shape: Shape, what: str, *, whole: bool) -> NDArray[Any]:
        """The array that a value of the document describes: numbers, or where they are.

        `whole` for integers.
        ModelFileError if the shape or type differs or a number is not finite.
        """
        if isinstance(value, dict) and self.archive is not None:
            array = self._from_archive(self.archive, value.get("array"), shape, what)
            if (array.dtype.kind == "f") == whole:
                raise ModelFileError(f"{what} has the type {array.dtype}")
        elif isinstance(value, list):
            array = _from_list(value, shape, what, whole)
        else:
            raise ModelFileError(f"{what} should be a list of numbers")
        if not whole and not np.isfinite(array).all():
            raise ModelFileError(f"{what} holds something that is no finite number")
        return array

    def _from_archive(
        self, archive: zipfile.ZipFile, index: Any, shape: Shape, what: str
    ) -> NDArray[Any]:
        """One array of the archive."""
        name = f"a{index}.npy"
        if name in self.taken:
            raise ModelFileError(f"{what} is the same array as another value")
        self.taken.add(name)
        try:
            entry = archive.getinfo(name)
            size = entry.file_size - _HEADER_ALLOWANCE
            if size > 8 * prod(shape):
                raise ModelFileError(f"{what} is larger than its shape allows")
            with archive.open(entry) as stream:
                return _from_npy(stream, shape, what)
        except ModelFileError:
            raise
        except Exception as error:
            raise ModelFileError(
                f"the archive is damaged: {what} is unreadable"
            ) from error


def _from_npy(stream: IO[bytes], shape: Shape, what: str) -> NDArray[Any]:
    """An array in NumPy's format; its declared shape is checked before it is read."""
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ModelFileError(f"{what} is in an unknown format")
    found, fortran_order, dtype = np.lib.format.read_array_header_1_0(stream)
    known = dtype in (np.float64, np.uint8, np.uint16, np.int64)
    if found != shape or fortran_order or not known:
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
