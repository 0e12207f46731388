"""The two ways of counting, each made to answer every question."""

from __future__ import annotations

from collections.abc import Callable

import pytest

ENGINES = ("planes", "keys")


def choose_engine(engine: str, patch: pytest.MonkeyPatch) -> None:
    """Count all tables in one way, however small or large."""
    from bayleaf.counts import table_counts

    states = 0 if engine == "keys" else 40
    patch.setattr(table_counts, "max_plane_states", lambda n_rows: states)
    patch.setattr(table_counts, "_LEAST_PACKED", 1)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way of counting in turn."""
    choose_engine(request.param, monkeypatch)
    return str(request.param)


@pytest.fixture
def use_engine(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Switch to a way of counting by its name."""
    return lambda engine: choose_engine(engine, monkeypatch)


@pytest.fixture
def eager_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start threads for however little work."""
    from bayleaf.counts import information, keys, planes, table_counts

    for module in (information, keys, planes, table_counts):
        monkeypatch.setattr(module, "worthwhile", lambda threads, work, least: threads)
