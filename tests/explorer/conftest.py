"""Pages opened in a real browser, where there is one."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Opener = Callable[..., Any]


@pytest.fixture
def axe_script() -> str:
    """The source of axe, which looks for barriers in a page."""
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        reason = "install the extra 'browser' (axe) to look for barriers"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Opener]:
    """Open HTML as a file; whatever the console says, or a request, fails the test."""
    complaints: list[str] = []
    contexts = []

    def opened(html: str, fragment: str = "", **options: Any) -> Any:
        path = tmp_path / f"page{len(contexts)}.html"
        path.write_text(html, encoding="utf-8", errors="replace")
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))

        def check(request: Any) -> None:
            if request.url.split("#")[0] != path.as_uri():
                complaints.append(f"asked for {request.url}")

        page.on("request", check)
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector("html[data-ready]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
