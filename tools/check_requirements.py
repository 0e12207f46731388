"""Check that the requirements have wheels on every supported system and Python.

python tools/check_requirements.py

The requirements of pyproject.toml, alone and with each extra, are resolved for the
oldest and the newest Python, and nothing is built. uv resolves them, because it reads
markers such as sys_platform for the system in question; the dependency group "wheels"
installs it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
# Names of uv for the systems that .github/workflows/wheels.yml builds for.
SYSTEMS = {
    "Linux x86-64": "x86_64-manylinux_2_28",
    "Linux ARM": "aarch64-manylinux_2_28",
    "Windows x86-64": "x86_64-pc-windows-msvc",
    "macOS x86-64": "x86_64-apple-darwin",
    "macOS ARM": "aarch64-apple-darwin",
}
OLDEST_MACOS = "12.0"


def pythons(project: dict[str, Any]) -> list[str]:
    """The oldest and the newest Python that the classifiers name."""
    found = re.findall(r":: (3\.\d+)$", "\n".join(project["classifiers"]), re.MULTILINE)
    found.sort(key=lambda version: int(version[2:]))
    return [found[0], found[-1]]


def missing_wheels(system: str, python: str, *extras: str) -> str | None:
    """Resolve the requirements; why wheels alone do not suffice, None if they do."""
    options = ["--quiet", "--no-build", "--python-version", python]
    options += ["--python-platform", SYSTEMS[system]]
    options += [f"--extra={extra}" for extra in extras]
    done = subprocess.run(
        [sys.executable, "-m", "uv", "pip", "compile", *options, str(PROJECT)],
        env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr.strip() if done.returncode else None


def reasons(system: str, python: str, extras: Sequence[str]) -> dict[str, str]:
    """Why extras lack wheels, or "" where bayleaf does without any of them."""
    # Versions that suffice for all extras together suffice for each.
    if missing_wheels(system, python, *extras) is None:
        return {}
    if reason := missing_wheels(system, python):
        return {"": reason}
    alone = {extra: missing_wheels(system, python, extra) for extra in extras}
    return {extra: reason for extra, reason in alone.items() if reason is not None}


def main() -> None:
    """Print a table; exit with 1 and the reasons if anything has no wheel."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    versions, extras = pythons(project), list(project["optional-dependencies"])
    targets = list(product(SYSTEMS, versions))
    with ThreadPoolExecutor(4) as pool:
        tasks = [pool.submit(reasons, *target, extras) for target in targets]
        found = dict(zip(targets, [task.result() for task in tasks]))
    print(f"wheels for Python {' / '.join(versions)}, macOS {OLDEST_MACOS} or later")
    print(f"{'':8}", *(f"{system:>14}" for system in SYSTEMS))
    for extra in ["", *extras]:
        row = [
            " / ".join(
                "no" if {"", extra} & found[name, v].keys() else "yes" for v in versions
            )
            for name in SYSTEMS
        ]
        print(f"{extra or '-':8}", *(f"{cell:>14}" for cell in row))
    failed = [
        f"{extra or 'bayleaf'} on {system} with Python {python}: {reason}"
        for (system, python), of_target in found.items()
        for extra, reason in of_target.items()
    ]
    if failed:
        raise SystemExit("\n".join(failed))


if __name__ == "__main__":
    main()
