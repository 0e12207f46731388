"""Databases that run queries over a data frame: DuckDB, SQLite and PostgreSQL."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest


@contextlib.contextmanager
def joined_above(n_entries: float) -> Iterator[None]:
    """Queries join tables of more entries than this; others are conditions."""
    with pytest.MonkeyPatch.context() as patch:
        for limit in ("look_ups._MAX_CASES", "term_scores._FEW_ENTRIES"):
            patch.setattr(f"bayleaf.io.exports.sql.{limit}", n_entries)
        yield


def run_duckdb(query: str, frame: Any, table: str = "t") -> pd.DataFrame:
    """What DuckDB answers on a data frame or table of Arrow."""
    import duckdb

    with duckdb.connect() as connection:
        connection.register("given", frame)
        name = quoted(table)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        return connection.execute(query).df()


def run_sqlite(query: str, frame: pd.DataFrame, table: str = "t") -> pd.DataFrame:
    """What SQLite answers."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        names = ", ".join(quoted(name) for name in frame.columns)
        connection.execute(f"CREATE TABLE {quoted(table)} ({names})")
        marks = ", ".join("?" * len(frame.columns))
        connection.executemany(
            f"INSERT INTO {quoted(table)} VALUES ({marks})", cells(frame)
        )
        return pd.read_sql(query, connection)


class Postgres:
    """A server of its own on a socket of its own, and a connection to it."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __call__(
        self, query: str, frame: pd.DataFrame, table: str = "t"
    ) -> pd.DataFrame:
        """What PostgreSQL answers."""
        cursor = self._connection.cursor()
        kinds = {"f": "DOUBLE PRECISION", "i": "BIGINT", "b": "BOOLEAN"}
        names = ", ".join(
            f"{quoted(name)} {kinds.get(kind.kind, 'TEXT')}"
            for name, kind in frame.dtypes.items()
        )
        cursor.execute(f"DROP TABLE IF EXISTS {quoted(table)}".encode())
        cursor.execute(f"CREATE TABLE {quoted(table)} ({names})".encode())
        with cursor.copy(f"COPY {quoted(table)} FROM STDIN".encode()) as copy:
            for row in cells(frame):
                copy.write_row(row)
        # As a note at the head of large queries advises.
        cursor.execute(
            b"SET jit = off" if "SET jit = off" in query else b"SET jit = on"
        )
        cursor.execute(query.encode())
        found = [column.name for column in cursor.description]
        return pd.DataFrame(cursor.fetchall(), columns=found)


@contextlib.contextmanager
def postgres() -> Iterator[Postgres | str]:
    """A server, or why there is none."""
    programs = _programs()
    if programs is None:
        yield "PostgreSQL is not installed"
        return
    try:
        import psycopg
    except ImportError:
        yield "psycopg is not installed"
        return
    if not hasattr(os, "geteuid"):
        yield "the server is started by other means on this system"
        return
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if user is not None:
        shutil.chown(folder, user)
    data = folder / "data"
    try:
        init = [programs / "initdb", "-D", data, "-E", "UTF8", "--locale=C"]
        init += ["-U", "tester", "-A", "trust", "--no-sync"]
        subprocess.run(init, check=True, capture_output=True, user=user, cwd=folder)
        command = [programs / "postgres", "-D", data, "-k", folder, "-F"]
        command += ["-c", "listen_addresses="]
        server = subprocess.Popen(
            command,
            user=user,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            connection = _connected(psycopg, folder, server)
            with contextlib.closing(connection):
                yield Postgres(connection)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path | None:
    """Where the server's programs are."""
    found = shutil.which("initdb")
    if found is not None and shutil.which("postgres"):
        return Path(found).parent
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return places[-1].parent if places else None


def _connected(psycopg: Any, folder: Path, server: subprocess.Popen[bytes]) -> Any:
    """A connection to a server, once it has started."""
    for _ in range(200):
        try:
            return psycopg.connect(
                host=str(folder), user="tester", dbname="postgres", autocommit=True
            )
        except psycopg.OperationalError:
            assert server.poll() is None, "the server has ended"
            time.sleep(0.05)
    raise AssertionError("the server did not start")


def cells(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Rows of plain values, None where a cell is missing."""
    plain = frame.astype(object).where(frame.notna(), None)
    return list(plain.itertuples(index=False, name=None))


def quoted(name: object) -> str:
    """A name as an identifier of SQL."""
    return '"' + str(name).replace('"', '""') + '"'
