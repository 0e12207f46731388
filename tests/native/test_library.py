from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bayleaf
from bayleaf.cli import main
from bayleaf.native import library
from bayleaf.native.arrays import F8, I8, readable, strided, writable
from bayleaf.native.data import offset_codes

SOURCE = Path(bayleaf.__file__).parent.parent


def _run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_level_in_use_is_a_usable_one() -> None:
    usable = library.usable_levels()
    assert library.level() in [*usable, os.environ.get("BAYLEAF_SIMD")]
    assert set(usable) <= set(library.supported_levels())


def test_an_instruction_set_that_does_not_exist_is_refused_in_a_sentence() -> None:
    code = "from bayleaf.native.library import level; level()"
    finished = _run(code, BAYLEAF_SIMD="mmx")
    assert finished.returncode == 1
    last = finished.stderr.strip().splitlines()[-1]
    assert "BAYLEAF_SIMD must name an instruction set that is installed" in last
    assert "got 'mmx'" in last


def test_hidden_levels_are_not_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAYLEAF_MAX_SIMD", "baseline")
    assert library.supported_levels() == ("baseline",)
    monkeypatch.setenv("BAYLEAF_MAX_SIMD", "sse9")
    with pytest.raises(
        library.NativeCoreError, match="BAYLEAF_MAX_SIMD must be one of"
    ):
        library.supported_levels()


def test_a_core_that_was_built_for_another_processor_names_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("BAYLEAF_SIMD", raising=False)
    monkeypatch.setenv("BAYLEAF_MAX_SIMD", "baseline")
    installed = library._path
    monkeypatch.setattr(
        library, "_path", lambda name: None if name == "baseline" else installed(name)
    )
    with pytest.raises(library.NativeCoreError, match="build all levels with"):
        library._chosen_level()


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (
            "libomp.so.5: cannot open shared object file: No such file or directory",
            None,
            "this system lacks libomp.so.5; install what has it",
        ),
        (
            "Error loading shared library libc++.so.1: No such file (needed by {path})",
            None,
            "this system lacks libc++.so.1; install what has it",
        ),
        (
            "dlopen({path}, 6): Library not loaded: @rpath/libc++.1.dylib\n  "
            "Referenced from: {path}",
            None,
            "this system lacks @rpath/libc++.1.dylib; install what has it",
        ),
        (
            "Could not find module '{path}' (or one of its dependencies).",
            126,
            "this system lacks MSVCP140.dll and vcruntime140_1.DLL; install vc_redist "
            "of Microsoft",
        ),
        (
            "[WinError 193] %1 is not a valid Win32 application",
            193,
            "it was built for another machine ([WinError 193] %1 is not a valid Win32 "
            "application); reinstall bayleaf",
        ),
        (
            "{path}: wrong ELF class: ELFCLASS32",
            None,
            "it was built for another machine ({path}: wrong ELF class: ELFCLASS32); "
            "reinstall bayleaf",
        ),
        (
            "{path}: failed to map segment from shared object",
            None,
            "{path}: failed to map segment from shared object; reinstall bayleaf",
        ),
        (
            "{path}: cannot open shared object file: Permission denied",
            None,
            "{path}: cannot open shared object file: Permission denied; reinstall "
            "bayleaf",
        ),
    ],
)
def test_a_core_that_cannot_be_loaded_names_the_reason(
    words: str,
    code: int | None,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "core_detection.dll"
    path.write_bytes(
        b"\0KERNEL32.dll\0MSVCP140.dll\0core_detection.dll\0vcruntime140_1.DLL\0"
        b"KERNEL32.dll\0"
    )

    def load(name: str) -> None:
        if name == "KERNEL32.dll":
            return
        error = OSError(words.format(path=path))
        error.winerror = code
        raise error

    monkeypatch.setattr(library, "_path", lambda _: path)
    monkeypatch.setattr(library.ctypes, "CDLL", load)
    with pytest.raises(library.NativeCoreError) as error:
        library._open("detection")
    assert str(error.value) == (
        f"bayleaf's native core {str(path)!r} cannot be loaded: "
        f"{reason.format(path=path)}"
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="changes an ELF file")
@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"\0libc.so.6\0", b"\0lib0.so.6\0", "this system lacks lib0.so.6; install"),
        (b"\x7fELF", b"\x7fELK", "it was built for another machine"),
    ],
)
def test_a_library_that_was_changed_names_the_reason(
    old: bytes, new: bytes, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = library._path(library.usable_levels()[-1])
    assert installed is not None
    content = installed.read_bytes()
    assert old in content
    path = tmp_path / "core_changed.so"
    path.write_bytes(content.replace(old, new))
    monkeypatch.setattr(library, "_path", lambda _: path)
    with pytest.raises(library.NativeCoreError, match=f"cannot be loaded: {reason}"):
        library._open("changed")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="changes an ELF file")
def test_a_library_of_another_processor_is_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = library._path("detection")
    assert installed is not None
    content = bytearray(installed.read_bytes())
    # The machine of an ELF file: 243 is RISC-V.
    content[18:20] = (243).to_bytes(2, sys.byteorder)
    path = tmp_path / "core_changed.so"
    path.write_bytes(content)
    monkeypatch.setattr(library, "_path", lambda _: path)
    with pytest.raises(library.NativeCoreError, match="built for another machine"):
        library._open("changed")


def test_the_verbose_version_names_the_level(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--version", "--verbose"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"bayleaf {bayleaf.__version__}"
    usable = ", ".join(library.usable_levels())
    assert lines[1] == f"native core: {library.level()} (of {usable})"


def test_an_array_is_checked_before_its_address_is_given() -> None:
    good = np.zeros((2, 3))
    assert readable(good, F8, (2, 3)) == good.ctypes.data
    assert writable(good, F8, (2, 3)) == good.ctypes.data
    with pytest.raises(
        TypeError, match="an array of int64 is needed here, got float64"
    ):
        readable(good, I8, (2, 3))
    with pytest.raises(TypeError, match="got >f8"):
        readable(good.astype(">f8"), F8, (2, 3))
    with pytest.raises(
        ValueError, match=r"shape \(3, 2\) is needed here, got \(2, 3\)"
    ):
        readable(good, F8, (3, 2))
    with pytest.raises(ValueError, match="C-contiguous"):
        readable(np.zeros((3, 2)).T, F8, (2, 3))
    bytes_ = np.zeros(good.nbytes + 1, dtype=np.uint8)
    crooked = bytes_[1:].view(np.float64).reshape(2, 3)
    with pytest.raises(ValueError, match="aligned"):
        readable(crooked, F8, (2, 3))
    good.setflags(write=False)
    readable(good, F8, (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        writable(good, F8, (2, 3))


def test_strides_are_counted_in_items() -> None:
    whole = np.arange(24).reshape(4, 6)
    part = whole[::2, ::-3]
    assert strided(part, I8, (2, 2)) == whole[0, 5:].ctypes.data
    codes, seen = np.empty((2, 2), np.uint8), np.zeros((2, 256), np.bool_)
    offset_codes(part, np.array([5, 2]), codes, seen, np.ones(2, np.bool_))
    assert codes.tolist() == [[0, 12], [0, 12]]
    records = np.zeros(4, dtype=[("byte", "u1"), ("number", "<f8")])
    with pytest.raises(ValueError, match="aligned"):
        strided(records["number"], F8, (4,))
    with pytest.raises(ValueError, match=r"shape \(2, 3\) is needed"):
        strided(part, I8, (2, 3))
