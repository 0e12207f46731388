"""Compile and link the native core for other platforms, with PyPI's ziglang.

    python tools/platforms/cross_compile.py [--quick] [TARGET ...]

Libraries of all levels of a TARGET (all, if none is named) go to build/platforms; with
--quick nothing is optimised or linked: it shows whether all sources compile. Every
target but mingw uses libc++, as macOS does, most of them a late one.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "platforms"


class Target(NamedTuple):
    """A platform: its names in CMake, and a compiler."""

    system: str
    processor: str
    compiler: str


# What CMake would learn from trial programs. Linking one takes longer than compiling
# all sources: zig compiles the platform's own libraries first.
_UNTRIED = [
    "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
    "-DCMAKE_CXX_COMPILER_ID_RUN=ON",
    "-DCMAKE_CXX_COMPILER_ID=Clang",
    "-DCMAKE_CXX_COMPILER_VERSION=20",
    "-DCMAKE_CXX_STANDARD_COMPUTED_DEFAULT=17",
    "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON",
]


def _zig(triple: str) -> str:
    # Without a processor named, zig would choose the instructions of this one.
    return f"'{sys.executable}' -m ziglang c++ -target {triple} -mcpu=baseline"


TARGETS = {
    # The least glibc is that of the wheels, manylinux_2_28.
    "aarch64-linux-gnu": Target("Linux", "aarch64", _zig("aarch64-linux-gnu.2.28")),
    "aarch64-macos": Target("Darwin", "arm64", _zig("aarch64-macos.11.0")),
    "x86_64-linux-gnu": Target("Linux", "x86_64", _zig("x86_64-linux-gnu.2.28")),
    "x86_64-linux-musl": Target("Linux", "x86_64", _zig("x86_64-linux-musl")),
    "x86_64-windows-gnu": Target("Windows", "AMD64", _zig("x86_64-windows-gnu")),
    "x86_64-mingw": Target("Windows", "AMD64", "x86_64-w64-mingw32-g++-posix"),
    # The library of Xcode 15, which lacks parts of C++20.
    "x86_64-libc++16": Target("Linux", "x86_64", "clang++-16 -stdlib=libc++"),
}


def build(name: str, quick: bool) -> None:
    """Build a target's libraries, or only objects; CalledProcessError if that fails."""
    target, folder = TARGETS[name], BUILD / name
    # Settings of an earlier build, such as another compiler, would stay.
    (folder / "CMakeCache.txt").unlink(missing_ok=True)
    # CMake calls a compiler without its arguments now and then.
    folder.mkdir(parents=True, exist_ok=True)
    compiler = folder / "compiler"
    compiler.write_text(f'#!/bin/sh\nexec {target.compiler} "$@"\n', newline="\n")
    compiler.chmod(0o755)
    configure = [
        *["cmake", "-G", "Ninja", "-S", str(ROOT / "src/native"), "-B", str(folder)],
        "-DBAYLEAF_LEVELS=all",
        f"-DCMAKE_CXX_COMPILER={compiler}",
        f"-DCMAKE_SYSTEM_NAME={target.system}",
        f"-DCMAKE_SYSTEM_PROCESSOR={target.processor}",
        f"-DCMAKE_BUILD_TYPE={'Debug' if quick else 'Release'}",
        # A tool of macOS's that nothing here needs, but CMake insists on.
        f"-DCMAKE_INSTALL_NAME_TOOL={shutil.which('true')}",
        *(_UNTRIED if quick else []),
    ]
    subprocess.run(configure, check=True)
    ninja = ["ninja", "-C", str(folder)]
    if quick:
        listed = subprocess.check_output([*ninja, "-t", "targets", "all"], text=True)
        names = [line.split(":")[0] for line in listed.splitlines()]
        ninja += [name for name in names if name.endswith((".o", ".obj"))]
    subprocess.run(ninja, check=True)


def main() -> int:
    """Build the targets named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    arguments = parser.parse_args()
    unknown = set(arguments.targets) - set(TARGETS)
    if unknown:
        parser.error(f"{unknown} is none of {', '.join(TARGETS)}")
    for name in arguments.targets or TARGETS:
        build(name, arguments.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
