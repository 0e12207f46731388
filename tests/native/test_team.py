"""A team of native threads does each part once, carries errors and has no races."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "src" / "native"


@pytest.mark.slow
@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_a_team_works_under_sanitizers(sanitizer: str, tmp_path: Path) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler is on PATH")
    program = tmp_path / "team_driver"
    sources = [HERE / "team_driver.cpp", NATIVE / "support" / "team.cpp"]
    options = ["-std=c++20", "-O1", "-g", "-pthread", f"-fsanitize={sanitizer}"]
    subprocess.run(
        [compiler, *options, f"-I{NATIVE}", *sources, "-o", program], check=True
    )
    result = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert result.stderr == ""
    assert result.stdout == "right\n"
