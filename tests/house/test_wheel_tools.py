"""Wheels are checked for what they lack and for what a system lacks."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_libraries_that_come_with_a_compiler_are_foreign_to_the_system() -> None:
    compilers = [
        *("MSVCP140.dll", "VCRUNTIME140.dll", "VCRUNTIME140_1.dll", "VCOMP140.DLL"),
        *("libstdc++-6.dll", "libgcc_s_seh-1.dll", "libwinpthread-1.dll"),
        *("libstdc++.so.6", "libgcc_s.so.1", "libc.musl-x86_64.so.1"),
        *("@rpath/libc++.1.dylib", "/opt/homebrew/lib/libomp.dylib"),
    ]
    system = [
        *("KERNEL32.dll", "msvcrt.dll", "api-ms-win-crt-heap-l1-1-0.dll"),
        *("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"),
        *("/usr/lib/libc++.1.dylib", "/usr/lib/libSystem.B.dylib"),
    ]
    assert _tool("check_wheels").foreign([*system, *compilers]) == compilers


@pytest.mark.parametrize(
    ("platform", "missing"),
    [
        ("win_amd64", ["avx2", "avx512", "detection"]),
        ("manylinux_2_28_x86_64", ["avx2", "avx512", "detection"]),
        ("macosx_11_0_arm64", ["detection"]),
    ],
)
def test_a_wheel_needs_every_level_of_its_processor(
    platform: str, missing: list[str]
) -> None:
    files = ["bayleaf/native/library.py", "bayleaf/native/core_baseline.dll"]
    wheel = f"bayleaf-1.0-py3-none-{platform}.whl"
    assert _tool("check_wheels").missing_levels(wheel, files) == missing


def test_faults_name_the_library_and_the_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = _tool("check_wheels")
    # Here a library's content is the names of what it loads.
    monkeypatch.setattr(tool, "loaded_libraries", lambda text: text.decode().split())
    path = tmp_path / "bayleaf-1.0-cp311-cp311-macosx_11_0_arm64.whl"
    with ZipFile(path, "w") as wheel:
        wheel.writestr("bayleaf/native/core_baseline.dylib", "/usr/lib/libc++.1.dylib")
        wheel.writestr("bayleaf.libs/helper.so.1", "libc.so.6 libgomp.so.1")
        wheel.writestr("bayleaf/native/library.py", "libgomp.so.1")
    assert [fault.replace(path.name, "WHEEL") for fault in tool.faults(path)] == [
        "WHEEL is not for every version of Python (py3-none)",
        "WHEEL lacks the library core_detection",
        "bayleaf.libs/helper.so.1 in WHEEL loads libgomp.so.1, which the system lacks: "
        "link it statically",
    ]


def test_the_oldest_and_the_newest_python_are_those_of_the_classifiers() -> None:
    names = ["Programming Language :: Python :: 3"]
    names += [f"Programming Language :: Python :: 3.{n}" for n in (11, 9, 10)]
    assert _tool("check_requirements").pythons({"classifiers": names}) == [
        "3.9",
        "3.11",
    ]


def test_extras_without_wheels_are_named_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = _tool("check_requirements")

    def missing(system: str, python: str, *extras: str) -> str | None:
        return "no wheel" if "onnx" in extras or python == "3.9" else None

    monkeypatch.setattr(tool, "missing_wheels", missing)
    extras = ["plot", "onnx"]
    assert tool.reasons("macOS ARM", "3.11", extras) == {"onnx": "no wheel"}
    assert tool.reasons("macOS ARM", "3.11", ["plot"]) == {}
    assert tool.reasons("macOS ARM", "3.9", extras) == {"": "no wheel"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_can_be_read_and_name_files_that_exist(path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads workflows")
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    commands = [
        *(step.get("run", "") for job in jobs.values() for step in job["steps"]),
        *PYPROJECT["tool"]["cibuildwheel"]["test-command"],
    ]
    named = re.findall(r"\b(?:tools|tests)/[\w/.]+", "\n".join(commands))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
