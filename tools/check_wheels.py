"""Check that wheels have every level of the core, and what its libraries load.

python tools/check_wheels.py wheelhouse/*.whl

A library may load libraries of the operating system alone, none that only a compiler
or its redistributable installs (MSVCP140.dll, libstdc++.so.6). Libraries outside
wheels, of any system, may be named as well. lief reads them; the dependency group
"wheels" installs it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from zipfile import ZipFile

# glibc, which every manylinux wheel needs; Windows 10 and later; macOS.
SYSTEM = re.compile(
    r"(lib(c|m|dl|rt|pthread)|ld-linux[\w-]*)\.so\.\d+"
    r"|(kernel32|ntdll|advapi32|msvcrt|ucrtbase|api-ms-win-[\w-]+)\.dll"
    r"|/usr/lib/.+|/System/Library/.+",
    re.IGNORECASE,
)
LIBRARY = re.compile(r"(?:.*/)?(?:core_(\w+)|[^/]+)\.(so|dll|dylib)(\.[\d.]+)?")


def foreign(libraries: Iterable[str]) -> list[str]:
    """Libraries that the operating system does not provide."""
    return [name for name in libraries if not SYSTEM.fullmatch(name)]


def missing_levels(wheel: str, files: Iterable[str]) -> list[str]:
    """Levels of the native core that a wheel lacks, by its name and its files."""
    wanted = {"detection", "baseline"}
    if re.search(r"x86_64|amd64", wheel):
        wanted |= {"avx2", "avx512"}
    found = [LIBRARY.fullmatch(file) for file in files]
    return sorted(wanted - {match[1] for match in found if match})


def loaded_libraries(library: bytes) -> list[str]:
    """Names of the libraries that a library of any system loads."""
    import lief

    lief.logging.disable()
    binary = lief.parse(library)
    if isinstance(binary, lief.PE.Binary):
        return [*binary.libraries, *(one.name for one in binary.delay_imports)]
    if isinstance(binary, lief.MachO.Binary):
        # The first entry may be the name of the library itself.
        own = lief.MachO.LoadCommand.TYPE.ID_DYLIB
        return [one.name for one in binary.libraries if one.command != own]
    if isinstance(binary, lief.ELF.Binary):
        return [str(name) for name in binary.libraries]
    raise ValueError("it is not a library of Linux, Windows or macOS")


def faults(path: Path) -> Iterator[str]:
    """Sentences on what is wrong with a wheel or a library."""
    if path.suffix != ".whl":
        libraries = {path.name: path.read_bytes()}
    else:
        with ZipFile(path) as wheel:
            files = wheel.namelist()
            libraries = {
                f"{file} in {path.name}": wheel.read(file)
                for file in files
                if LIBRARY.fullmatch(file)
            }
        if "-py3-none-" not in path.name:
            yield f"{path.name} is not for every version of Python (py3-none)"
        for level in missing_levels(path.name, files):
            yield f"{path.name} lacks the library core_{level}"
    for name, content in libraries.items():
        try:
            loaded = loaded_libraries(content)
        except ValueError as error:
            yield f"{name} cannot be checked: {error}"
            continue
        print(f"{name} loads {', '.join(loaded) or 'nothing'}")
        for library in foreign(loaded):
            yield f"{name} loads {library}, which the system lacks: link it statically"


def main() -> None:
    """Print what each library loads; exit with 1 and the faults if there are any."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="+", type=Path, metavar="WHEEL")
    try:
        found = [fault for path in parser.parse_args().paths for fault in faults(path)]
    except OSError as error:
        raise SystemExit(str(error)) from None
    if found:
        raise SystemExit("\n".join(found))


if __name__ == "__main__":
    main()
