"""Rows of CSV files in blocks, as Arrow would cut them, and programs that end early."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from bayleaf.data.files import csv_reading
from bayleaf.data.files.csv_reading import end_of_rows, read_csv, read_csv_batches
from bayleaf.data.files.file_facts import FileFacts
from bayleaf.data.files.file_format import FileFormat

# Reads a block and comes to its end, with a reader that nobody has closed or will.
_ENDING = """
import sys, time
from bayleaf.data.files import csv_reading
from bayleaf.data.files.file_format import FileFormat
csv_reading.BLOCK_BYTES = 1 << 12
read = csv_reading._Chunks.read
def slow(self, size=-1):
    time.sleep(0.02)
    return read(self, size)
csv_reading._Chunks.read = slow
batches = csv_reading.read_csv_batches(sys.argv[1], FileFormat())
next(batches)
kept = [batches] if sys.argv[2] == "kept" else None
del batches
"""


def _parsed(content: bytes) -> list[tuple[str, ...]]:
    """Rows of two columns of text."""
    table = pa_csv.read_csv(
        pa.BufferReader(b"a,b\n" + content),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(
            column_types={"a": pa.string(), "b": pa.string()}
        ),
    )
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_a_block_ends_where_arrow_ends_a_row() -> None:
    rng = random.Random(0)
    cells = ['x"y', '""', '"a\nb"', '"a""\n"', 'x""', '"q"r"s', '5" b', "u", '"\r\n,"']
    for _ in range(500):
        rows = [f"{rng.choice(cells)},{rng.choice(cells)}" for _ in range(4)]
        content = ("\n".join(rows) + "\n").encode()
        cut = content[: rng.randrange(1, len(content) + 1)]
        end = end_of_rows(cut, ",")
        whole = [len("\n".join(rows[:n]).encode()) + 1 for n in range(1, 5)]
        assert end == max((n for n in whole if n <= len(cut)), default=0), cut
        assert _parsed(content[:end]) + _parsed(content[end:]) == _parsed(content)


def test_batches_have_the_rows_of_the_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayleaf.data.files.csv_reading.BLOCK_BYTES", 64)
    rows = [f'{i},5" x' if i % 3 else f'"{i}\n""",' for i in range(200)]
    path = tmp_path / "quotes.csv"
    path.write_text("a,b\n" + "\n".join(rows))
    batches = list(read_csv_batches(str(path), FileFormat()))
    assert len(batches) > 10
    found = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    assert found == _parsed("\n".join(rows).encode())


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["kept", "dropped"])
def test_a_program_may_end_while_a_file_is_being_read(
    tmp_path: Path, reader: str
) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "1,2\n" * 30_000)
    done = subprocess.run(
        [sys.executable, "-c", _ENDING, path, reader], capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("late", "decimal"), [("7;x", "."), ("1,5;x", ","), ("7;1,5", ","), ("7;1.5", ".")]
)
def test_the_decimal_sign_is_found_out_from_all_rows(
    tmp_path: Path, late: str, decimal: str
) -> None:
    path = tmp_path / "a.csv"
    early = "1,250;2,375\n3;4\n" * 1000
    path.write_text(f"a;b\n{early}{late}\n" + "5;6\n" * 5)
    schema = read_csv(str(path), FileFormat()).schema
    assert FileFacts.of_schema(schema).decimal == decimal
    rows = "1,5;2,250,000\n" * 1500
    path.write_text(f"a;b\n{rows}")  # its columns disagree
    assert FileFacts.of_schema(read_csv(str(path), FileFormat()).schema).decimal == "."


@pytest.mark.parametrize(
    ("late", "decimal"), [("4,5", ","), ("1,234,567", "."), ("1.5", ".")]
)
def test_later_rows_refute_the_decimal_commas_of_the_first(
    tmp_path: Path, late: str, decimal: str
) -> None:
    path = tmp_path / "t.csv"
    # The last row is beyond the bytes by which the first rows are looked at.
    path.write_text("a;b\n" + "1,5;7\n" * 20_000 + f"{late};8\n")
    table = read_csv(str(path), FileFormat())
    assert FileFacts.of_schema(table.schema).decimal == decimal
    assert pa.types.is_string(table.schema.field("b").type) == (decimal == ",")


def test_decimal_commas_of_the_first_rows_spare_a_second_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "1,5;7\n" * 20_000)
    sizes = []
    parsed = csv_reading._parsed

    def counted(content: bytes, *rest: Any, **options: Any) -> pa.Table:
        sizes.append(len(content))
        return parsed(content, *rest, **options)

    monkeypatch.setattr(csv_reading, "_parsed", counted)
    read_csv(str(path), FileFormat())
    assert sum(sizes) < 2 * path.stat().st_size


@pytest.mark.parametrize("others", ["01.02.2020", "1.2.3", "1.234"])
def test_points_of_dates_and_thousands_do_not_refute_decimal_commas(
    tmp_path: Path, others: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + f"1,5;{others}\n" * 20_000)
    table = read_csv(str(path), FileFormat())
    assert FileFacts.of_schema(table.schema).decimal == ","
    assert table.column("b").to_pylist()[-1] == others
