"""Models that two workers learn are those of one process, even when a worker dies."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from sklearn.base import clone

from bayleaf import (
    A2DEClassifier,
    AODEClassifier,
    AveragedKDBClassifier,
    HNBClassifier,
    KDBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.streams import partition_learning
from oracles.batched_tables import in_memory, same_file, the_table

dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.slow

# Ends a process that cannot put it off; so does SIGTERM on Windows.
AT_ONCE = getattr(signal, "SIGKILL", signal.SIGTERM)
ENDS = (0, 7, 7, 200, 450, 800)
LEARNERS = [
    NaiveBayesClassifier(),
    TANClassifier(),
    KDBClassifier(k=2),
    AODEClassifier(),
    pytest.param(A2DEClassifier(), marks=pytest.mark.long),
    HNBClassifier(random_state=0, search="significance"),
    AveragedKDBClassifier(n_networks=3, random_state=0),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers, each a process of one thread, on this machine alone."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            host="127.0.0.1",
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes lie in several pieces."""
    monkeypatch.setattr(partition_learning, "PIECE_ROWS", 150)


def weighted_table() -> tuple[pa.Table, Any]:
    """A table with missing cells and whole weights."""
    weights = np.random.default_rng(4).integers(0, 4, 800)
    return the_table().append_column("w", pa.array(weights)), weights


def in_files(table: pa.Table, folder: Path) -> Path:
    """A folder of Parquet files of uneven size, one of them empty."""
    folder.mkdir()
    for place, first in enumerate(ENDS[:-1]):
        piece = table.slice(first, ENDS[place + 1] - first)
        pa_parquet.write_table(piece, folder / f"{place}.parquet", row_group_size=180)
    return folder


@pytest.mark.few(2)
@pytest.mark.parametrize("estimator", LEARNERS, ids=repr)
def test_two_workers_give_the_model_of_the_table(
    estimator: Any, client: Any, tmp_path: Path
) -> None:
    table, weights = weighted_table()
    files = in_files(table, tmp_path / "parts")
    frame = dd.read_parquet([str(path) for path in sorted(files.iterdir())])
    expected = in_memory(estimator, table.drop_columns(["w"]), weights)
    what = {"target": "label", "sample_weight": "w"}
    streamed = clone(estimator).fit(files, **what)
    same_file(expected, streamed, tmp_path)
    for source in (files, frame):
        found = clone(estimator).fit(source, client=client, **what)
        same_file(expected, found, tmp_path)
    strange = table.drop_columns(["label", "w"])
    place = strange.schema.get_field_index("text")
    strange = strange.set_column(place, "text", pa.array(["never met", None] * 400))
    np.testing.assert_array_equal(
        found.predict_proba(strange), expected.predict_proba(strange)
    )


def test_the_current_client_is_used_and_an_address_will_do(
    client: Any, tmp_path: Path
) -> None:
    table = the_table()
    expected = in_memory(TANClassifier(), table)
    files = in_files(table, tmp_path / "parts")
    address = client.scheduler.address
    found = TANClassifier().fit(files, target="label", client=address)
    same_file(expected, found, tmp_path)
    frame = dd.read_parquet([str(path) for path in sorted(files.iterdir())])
    with client.as_current():
        found = TANClassifier().fit(frame, target="label")
    same_file(expected, found, tmp_path)


@pytest.mark.parametrize("at", [3, pytest.param(7, marks=pytest.mark.long)])
def test_a_worker_that_dies_in_the_middle_changes_nothing(
    at: int, client: Any, tmp_path: Path
) -> None:
    table = the_table()
    files = in_files(table, tmp_path / "parts")
    calls, dead = tmp_path / "calls", tmp_path / "dead"
    calls.mkdir()

    # Four partitions hold rows; they are read for the summary, then for the codes.
    def die_once(part: Any) -> Any:
        if len(part) and len(list(calls.iterdir())) + 1 >= at and not dead.exists():
            dead.touch()
            os.kill(os.getpid(), AT_ONCE)
        if len(part):
            (calls / f"{os.getpid()} {time.monotonic_ns()}").touch()
        return part

    frame = dd.read_parquet([str(path) for path in sorted(files.iterdir())])
    dying = frame.map_partitions(die_once, meta=frame._meta)
    found = KDBClassifier(k=2).fit(dying, target="label", client=client)
    assert dead.exists()
    same_file(in_memory(KDBClassifier(k=2), table), found, tmp_path)


@pytest.mark.long
def test_codes_that_a_dead_worker_held_are_made_again(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = the_table()
    files = in_files(table, tmp_path / "parts")
    expected = in_memory(TANClassifier(), table)
    counted = partition_learning.CodePieces
    killed: list[str] = []

    def pieces(tasks: Any, kept: list[Any], *rest: Any) -> Any:
        futures = distributed.client.futures_of(kept)
        with client.as_current():
            distributed.wait(futures)
        holding = {w for ws in client.who_has(futures).values() for w in ws}
        process = client.run(os.getpid)[min(holding)]
        os.kill(process, AT_ONCE)
        killed.append(min(holding))
        return counted(tasks, kept, *rest)

    monkeypatch.setattr(partition_learning, "CodePieces", pieces)
    found = TANClassifier().fit(files, target="label", client=client)
    assert len(killed) == 1
    same_file(expected, found, tmp_path)


def test_workers_read_no_csv(client: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,label\na,p\nb,q\n")
    with pytest.raises(ValueError, match=r"workers read Parquet files, but .*t\.csv"):
        TANClassifier().fit(tmp_path / "t.csv", target="label", client=client)
    with pytest.raises(TypeError, match="leave out client="):
        TANClassifier().fit(the_table(), target="label", client=client)


def test_what_a_worker_cannot_read_is_said(client: Any, tmp_path: Path) -> None:
    files = in_files(the_table(), tmp_path / "parts")
    said = r"in partition \d, the target 'text' has missing"
    with pytest.raises(ValueError, match=said):
        TANClassifier().fit(files, target="text", client=client)
