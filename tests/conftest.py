"""Tables and frames that many tests use."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

# Two processes run tests on two cores: threads of linear algebra would only wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Files of equal fits are equal but for the date of the fit.
os.environ.setdefault("SOURCE_DATE_EPOCH", "1767225600")

import attrs
import cyclopts
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest
from cyclopts.argument import Argument

from covering import spread

BACKENDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without collecting garbage, and never search modules for it.

    The search visits all objects of all libraries again and again: a third of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Leave all but a few cases of the tests that are marked so to the long tests.

    What is long is slow too, whichever of the marks it has.
    """
    tests = defaultdict(list)
    for item in items:
        if item.get_closest_marker("few") and not item.get_closest_marker("long"):
            tests[item.parent, item.originalname].append(item)
    for cases in tests.values():
        wanted = cases[0].get_closest_marker("few").args
        # Quick cases among slow ones are kept.
        slow = [case for case in cases if case.get_closest_marker("slow")]
        cases = slow or cases
        if isinstance(wanted[0], int):
            settings = [case.callspec.indices for case in cases]
            kept = [cases[place] for place in spread(settings, *wanted)]
        else:
            kept = [case for case in cases if case.callspec.id in wanted] or cases
        for case in cases:
            if case not in kept:
                case.add_marker(pytest.mark.long)
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _parameters_are_read_once() -> Iterator[None]:
    """Read a command's parameters once for all calls in a process.

    That takes longer than most commands. What parsing leaves in them is undone.
    """
    read: dict[tuple[int, bool], Any] = {}
    assemble = cyclopts.App.assemble_argument_collection
    names = [field.name for field in attrs.fields(Argument)]

    def assembled(app: cyclopts.App, *, parse_docstring: bool = False) -> Any:
        default, key = app.app_stack.default_parameter, (id(app), parse_docstring)
        if key not in read or read[key][1] != default:
            found = assemble(app, parse_docstring=parse_docstring)
            states = [[getattr(one, name) for name in names] for one in found]
            states = [[_copied(value) for value in state] for state in states]
            read[key] = app, default, found, states
        *_, found, states = read[key]
        for one, state in zip(found, states, strict=True):
            for name, value in zip(names, state, strict=True):
                object.__setattr__(one, name, _copied(value))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cyclopts.App, "assemble_argument_collection", assembled)
        yield


def _copied(value: Any) -> Any:
    """A list that may grow as one of its own; other values as they are."""
    return value.copy() if type(value) is list else value


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder with the published tables; tests that need it skip without it."""
    folder = os.environ.get("BAYLEAF_DATA")
    if not folder:
        pytest.skip("set BAYLEAF_DATA to the folder with the published tables")
    return Path(folder)


@pytest.fixture(scope="session")
def load_table(data_folder: Path) -> Callable[[str], pa.Table]:
    """Read a published table by name; empty cells are missing."""

    def load(name: str) -> pa.Table:
        parquet = data_folder / "scale" / f"{name}.parquet"
        if parquet.exists():
            return pa_parquet.read_table(parquet)
        options = pa_csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
        return pa_csv.read_csv(
            data_folder / "small" / f"{name}.csv", convert_options=options
        )

    return load


@pytest.fixture(params=BACKENDS)
def make_frame(request: pytest.FixtureRequest) -> Callable[[dict[str, Any]], Any]:
    """Build a data frame of each kind from a dict of columns."""
    return BACKENDS[request.param]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, also where it is ignored, as under nohup.

    Other threads press it by `_thread.interrupt_main`, because os.kill would end the
    process on Windows.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def give_up(reason: str) -> None:
    """Skip the test; where everything must be tested, fail it."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, driven by Playwright.

    The headless shell opens a page in a third of the processor time.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        give_up("install the group 'browser' (Playwright) to test in a browser")
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if chromium is None:
        give_up("install the program chromium to test in a browser")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
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
