"""Killing a command that writes loses no file and leaves no half one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_a_killed_command_leaves_a_whole_file() -> None:
    program = Path(__file__).with_name("kill_program.py")
    done = subprocess.run(
        [sys.executable, str(program), "26"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "'killed'" in done.stdout
