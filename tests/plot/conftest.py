"""Without matplotlib there is nothing to draw on."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True, scope="session")
def matplotlib() -> Any:
    """Skip all pictures where the extra plot is not installed."""
    return pytest.importorskip(
        "matplotlib", reason="pictures need matplotlib, the extra plot"
    )
