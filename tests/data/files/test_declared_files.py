"""A kind of files that declare their columns needs a class and a line."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import bayleaf
from bayleaf.cli.options import FormatOptions
from bayleaf.cli.table_reading import read_table
from bayleaf.cli.table_writing import writing
from bayleaf.data.files.declared_files import DECLARED, DeclaredKind

TEXT = "wet:state windy:state\nyes no\nno ?\n" + "yes yes\nno no\n" * 5


class BlankedFile:
    """Names in the first line, blanks between cells, a question mark for none."""

    n_above = 0

    def __init__(self, lines: Iterable[str], source: str) -> None:
        self._lines = iter(lines)
        first = next(self._lines, "").split()
        if not first:
            raise ValueError(f"{source} names no columns; add a line of names")
        self.names = self.categories = tuple(n.removesuffix(":state") for n in first)

    def csv_lines(self) -> Iterator[str]:
        """The rows."""
        for line in self._lines:
            yield ",".join("" if c == "?" else c for c in line.split()) + "\n"


@pytest.fixture(autouse=True)
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind is one of those that are known."""
    kind = DeclaredKind("a blanked file", BlankedFile)
    monkeypatch.setitem(DECLARED, ".blanked", kind)


def test_its_files_are_read_in_python_and_by_commands(tmp_path: Path) -> None:
    path = tmp_path / "rain.blanked"
    path.write_text(TEXT)
    table = read_table(str(path), FormatOptions())
    assert table.column_names == ["wet", "windy"]
    assert table["windy"].to_pylist()[:3] == ["no", None, "yes"]
    (tmp_path / "rain.blanked.gz").write_bytes(gzip.compress(TEXT.encode()))
    for file in (path, tmp_path / "rain.blanked.gz"):
        fitted = bayleaf.NaiveBayesClassifier().fit(file, target="wet")
        assert fitted.feature_names_in_.tolist() == ["windy"]
        assert fitted.predict([{"windy": "yes"}, {"windy": "no"}]).tolist() == [
            "yes",
            "no",
        ]


def test_its_errors_name_the_file_and_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "rain.blanked"
    path.write_text("\n")
    with pytest.raises(ValueError, match=r"rain\.blanked names no columns"):
        read_table(str(path), FormatOptions())
    path.write_text(TEXT)
    form = FormatOptions(no_header=True)
    with pytest.raises(ValueError, match="is a blanked file, which names its columns"):
        read_table(str(path), form)


def test_tables_are_not_written_under_its_suffix(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match="written as CSV or Parquet"),
        writing(str(tmp_path / "out.blanked")),
    ):
        pass
