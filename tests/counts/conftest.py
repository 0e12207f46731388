"""The engines that count, each made to answer every question."""

from __future__ import annotations

from collections.abc import Callable

import pytest

ENGINES = ("numpy", "planes", "keys")


def choose_engine(engine: str, patch: pytest.MonkeyPatch) -> None:
    """Let one engine count all tables, however small or large."""
    from bayleaf.counts import information, pair_counting, table_counts

    limit = 10**12 if engine == "numpy" else -1
    for name in ("_SMALL_KEY_WORK", "_SMALL_INDICATORS", "_SMALL_PRODUCTS"):
        patch.setattr(table_counts, name, limit)
    patch.setattr(information, "_SMALL_CELLS", limit)
    states = 0 if engine == "keys" else 40
    patch.setattr(pair_counting, "MAX_PLANE_STATES", states)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each engine in turn."""
    choose_engine(request.param, monkeypatch)
    return str(request.param)


@pytest.fixture
def use_engine(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Switch to an engine by name."""
    return lambda engine: choose_engine(engine, monkeypatch)


@pytest.fixture
def eager_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start threads for however little work."""
    from bayleaf.counts import information, keys, pair_counting, planes

    for module in (information, keys, pair_counting, planes):
        monkeypatch.setattr(module, "worthwhile", lambda threads, work, least: threads)
