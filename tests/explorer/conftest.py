"""Pages opened in a real browser, where there is one."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def open_page(open_page: Callable[..., Any]) -> Callable[..., Any]:
    """Open HTML as a file, with the map in view."""

    def opened(*given: Any, view: str = "map", **options: Any) -> Any:
        page = open_page(*given, **options)
        tab = page.locator(f"#tab-{view}")
        if tab.is_visible():
            tab.click()
        return page

    return opened


@pytest.fixture
def open_cockpit(open_page: Callable[..., Any]) -> Callable[..., Any]:
    """Open the page of a classifier, which begins with the cockpit."""
    return lambda *given, **options: open_page(*given, view="cockpit", **options)


@pytest.fixture
def axe_script() -> str:
    """The source of axe, which looks for barriers in a page."""
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        reason = "install the extra 'browser' (axe) to look for barriers"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8")
