"""A team of native threads does each part once, carries errors and has no races."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "src" / "native"


@pytest.mark.few("address,undefined")
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
    # Threads that a program's end overtakes are no fault here.
    flags = {**os.environ, "TSAN_OPTIONS": "report_thread_leaks=0"}
    for words in ([program], [program, "end"]):
        result = subprocess.run(
            words, capture_output=True, text=True, timeout=120, env=flags
        )
        assert (result.stdout, result.stderr) == ("right\n", "")
        assert result.returncode == 0
