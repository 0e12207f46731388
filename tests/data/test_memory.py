"""Work that would not fit into memory is refused before it begins, with figures."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest

from bayleaf import (
    AveragedKDBClassifier,
    KDBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.data import memory
from bayleaf.data.memory import size_in_bytes


def test_little_is_tried_without_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 1.0)
    memory.check_memory(1e6, "a small table", "drop columns")


@pytest.mark.parametrize(
    ("needed", "free", "told"),
    [
        (3 * 2**30, 2**30, "about 3.0 GiB of memory, but 1.0 GiB are free; drop"),
        (200 * 2**20, 2**20, "about 200 MiB of memory, but 1 MiB are free; drop"),
    ],
)
def test_much_is_refused_with_figures(
    needed: float, free: float, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: free)
    with pytest.raises(ValueError, match="^a table would take " + told):
        memory.check_memory(needed, "a table", "drop columns")


def test_nothing_is_refused_where_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    memory.check_memory(1e18, "a table", "drop columns")


@pytest.mark.parametrize("first", [True, False])
def test_containers_are_asked(
    first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path if first else tmp_path / "memory"
    folder.mkdir(exist_ok=True)
    names = ("memory.max", "memory.current") if first else (
        "memory.limit_in_bytes", "memory.usage_in_bytes",
    )  # fmt: skip
    idle = "inactive_file" if first else "total_inactive_file"
    (folder / names[0]).write_text("1000\n")
    (folder / names[1]).write_text("700\n")
    (folder / "memory.stat").write_text(f"anon 600\n{idle} 100\n")
    monkeypatch.setattr(memory, "_CONTROL_FOLDER", tmp_path)
    assert memory.free_bytes() == 400.0
    (folder / names[0]).write_text("max\n")
    assert memory.free_bytes() != 400.0


def test_the_system_and_a_limit_of_address_space_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(memory, "_CONTROL_FOLDER", tmp_path)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=9))
    assert memory.free_bytes() == 9.0
    used = psutil.Process().memory_info().vms
    monkeypatch.setattr(resource, "getrlimit", lambda _: (used + 1, used + 1))
    # What this process holds may change between the two looks.
    assert memory.free_bytes() <= 9.0
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=0))
    monkeypatch.setattr(resource, "getrlimit", lambda _: (used + 2**40, -1))
    assert memory.free_bytes() == pytest.approx(2**40, rel=0.1)


def test_without_limits_of_address_space_the_system_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_CONTROL_FOLDER", tmp_path)
    monkeypatch.setattr(sys, "platform", "win32")
    free = memory.free_bytes()
    assert free is not None
    assert 0 < free <= psutil.virtual_memory().total

    def is_denied() -> None:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil, "virtual_memory", is_denied)
    assert memory.free_bytes() is None


def test_fits_tell_what_they_would_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_WORTH_A_LOOK", 0)
    rng = np.random.default_rng(0)
    X, y = rng.integers(9, size=(500, 6)).astype(str), rng.integers(2, size=500)
    monkeypatch.setattr(memory, "free_bytes", lambda: 3000.0)
    with pytest.raises(ValueError, match="the codes of 500 rows and 6 columns would"):
        NaiveBayesClassifier().fit(X, y)
    monkeypatch.setattr(memory, "free_bytes", lambda: 5000.0)
    assert NaiveBayesClassifier().fit(X, y).score(X, y) > 0.5
    with pytest.raises(ValueError, match=r"tables of .* are free; use few"):
        TANClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"tables of .* are free; use few"):
        KDBClassifier(k=2).fit(X, y)


LARGE = """
import resource
import numpy as np
import bayleaf
rng = np.random.default_rng(0)
values = np.array([f"v{i}" for i in range(1250)], dtype=object)
X = values[rng.integers(1250, size=(5_000, 6))]
y = rng.integers(3, size=5_000)
model = getattr(bayleaf, KIND)(max_states=1250, **PARAMETERS)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = used + (1 << 29)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    model.fit(X, y).predict_proba(X[:100])
except ValueError as error:
    print("refused:", error)
else:
    print("fitted")
"""


@pytest.mark.few("NaiveBayesClassifier-parameters0-fitted")
@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="needs a limit of address space"
)
@pytest.mark.parametrize(
    ("kind", "parameters", "end"),
    [
        ("NaiveBayesClassifier", {}, "fitted"),
        ("TANClassifier", {}, "refused: the tables of"),
        pytest.param(
            "KDBClassifier",
            {"k": 1},
            "refused: the tables of",
            marks=pytest.mark.long,
        ),
        ("KDBClassifier", {"k": 2}, "refused: the table of feature"),
        ("AODEClassifier", {}, "refused: averaging 6 networks"),
        pytest.param("A2DEClassifier", {}, "refused: ", marks=pytest.mark.long),
        pytest.param(
            "AveragedKDBClassifier",
            {"n_networks": 4, "max_parents": 1},
            "",
            marks=pytest.mark.long,
        ),
        ("LatentClassNBClassifier", {"n_restarts": 1, "n_components": 2}, ""),
    ],
)
def test_no_fit_ends_in_a_memory_error(
    kind: str, parameters: dict[str, object], end: str
) -> None:
    program = LARGE.replace("KIND", repr(kind)).replace("PARAMETERS", repr(parameters))
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(end)


def test_sizes_are_read_in_decimal_and_binary_units() -> None:
    found = [
        size_in_bytes(size, "memory")
        for size in ("2GB", "1.5 kB", "1KiB", "512", " 3 m ", 7, "1TiB")
    ]
    assert found == [2 * 10**9, 1500, 1024, 512, 3 * 10**6, 7, 2**40]


@pytest.mark.parametrize("size", ["", "much", "-1", "0", 0, -5, True, "1PB"])
def test_what_is_not_a_size_is_refused(size: Any) -> None:
    with pytest.raises(ValueError, match="memory must be a size such as 2GB, got"):
        size_in_bytes(size, "memory")


def test_a_fit_without_memory_names_its_parameters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any) -> None:
        np.empty(1 << 60, dtype=np.uint8)

    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    kinds = (AveragedKDBClassifier, "max_model_size, .*memory"), (TANClassifier, "mem")
    for kind, names in kinds:
        monkeypatch.setattr(kind, "_learn", refuse)
        with pytest.raises(MemoryError) as caught:
            kind().fit(X, y)
        assert re.fullmatch(
            f"fit of {kind.__name__} needs more memory than this process may take; "
            rf"(lower|pass a limit as) {names}.*, or take fewer rows or columns",
            str(caught.value),
        )


def test_a_prediction_without_memory_asks_for_fewer_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    model = NaiveBayesClassifier().fit(X, y)

    def refuse(*_: Any) -> None:
        raise MemoryError("the native core could not get the memory it needs")

    monkeypatch.setattr(type(model.model_), "class_log_scores", refuse)
    for method in (model.predict, model.predict_proba, model.explain):
        with pytest.raises(MemoryError, match=r"memory .*; pass fewer rows at a time$"):
            method(X)
