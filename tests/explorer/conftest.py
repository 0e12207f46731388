"""Pages opened in a real browser, where there is one."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest


@pytest.fixture
def axe_script() -> str:
    """The source of axe, which looks for barriers in a page."""
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        reason = "install the extra 'browser' (axe) to look for barriers"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8")
