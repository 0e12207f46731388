"""Network files are read and written by their suffix."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.io import ModelFileError, read_network, write_network
from bayleaf.io.conversion import _WRITE_ONLY
from bayleaf.io.registry import FORMATS, GRAPHS
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each

MEMBERS = {suffix: dir(import_module(module)) for suffix, module in FORMATS.items()}
READ = [suffix for suffix in FORMATS if "read" in MEMBERS[suffix]]
# DSL files are read alone.
WRITTEN = [suffix for suffix in READ if "write" in MEMBERS[suffix]]


@pytest.fixture
def coin() -> BayesianNetwork:
    """One variable with two states."""
    domain = Domain((Variable("coin", ("heads", "tails")),))
    cpd = TableCPD((0,), np.array([0.1, 0.9]))
    return BayesianNetwork(domain, DAG(((),)), (cpd,))


def test_a_network_is_written_and_read_by_its_suffix(
    coin: BayesianNetwork, tmp_path: Path
) -> None:
    def check(case: tuple[str, object]) -> None:
        suffix, change = case
        path = tmp_path / f"coin{suffix.upper() if change is str.upper else suffix}"
        write_network(coin, path)
        back = read_network(str(path))
        assert back.domain == coin.domain
        np.testing.assert_array_equal(back.cpds[0].probabilities, [0.1, 0.9])

    check_each(product(WRITTEN, [str.lower, str.upper]), check)


def test_an_unknown_suffix_lists_those_that_are_known(
    coin: BayesianNetwork, tmp_path: Path
) -> None:
    def check(name: str) -> None:
        with pytest.raises(ValueError, match=r"no suffix of a network format; .*\.bif"):
            read_network(tmp_path / name)
        with pytest.raises(ValueError, match=r"no suffix of a network format; .*\.bif"):
            write_network(coin, tmp_path / name)

    check_each(["coin", "coin.txt", "coin.gz", "coin.bif.zip", ".bif"], check)


def test_limits_reach_the_format(coin: BayesianNetwork, tmp_path: Path) -> None:
    def check(suffix: str) -> None:
        path = tmp_path / f"coin{suffix}"
        if suffix == ".json":
            write_network(coin, path, max_table_cells=1)
        else:
            with pytest.raises(ValueError, match="'coin' would have 2 cells"):
                write_network(coin, path, max_table_cells=1)
        write_network(coin, path, max_table_cells=2)
        assert read_network(path, max_bytes=10_000).domain == coin.domain
        with pytest.raises(ModelFileError, match=r"larger|bytes"):
            read_network(path, max_bytes=10)

    check_each(WRITTEN, check)


def test_a_format_that_is_only_read_names_the_one_to_write(
    coin: BayesianNetwork, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"a\.dsl can only be read; write \.xdsl"):
        write_network(coin, tmp_path / "a.dsl")


def test_formats_in_one_direction_name_what_else_to_do(
    coin: BayesianNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMATS, ".flow", "bayleaf.io.formats.mermaid")
    write_network(coin, tmp_path / "coin.flow")
    with pytest.raises(
        ValueError, match=r"coin\.flow can only be written; read a file"
    ):
        read_network(tmp_path / "coin.flow")
    monkeypatch.setitem(FORMATS, ".old", "bayleaf.io.formats.lexer")
    with pytest.raises(ValueError, match=r"coin\.old can only be read; write \.json"):
        write_network(coin, tmp_path / "coin.old")


def test_the_table_of_formats_lists_every_suffix() -> None:
    page = Path(__file__).parents[2] / "docs" / "networks" / "files.md"
    rows = [line for line in page.read_text("utf-8").split("\n") if line[:2] == "| "]

    def check(suffix: str) -> None:
        assert any(f"`{suffix}`" in row for row in rows), f"add {suffix} to {page.name}"

    check_each([*FORMATS, *GRAPHS, *_WRITE_ONLY], check)


def test_a_file_that_is_missing_raises_the_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_network(tmp_path / "nothing.bif")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    def check(suffix: str) -> None:
        path = tmp_path / f"empty{suffix}"
        path.write_text(" \n")
        with pytest.raises(ModelFileError, match=rf"empty\{suffix}"):
            read_network(path)

    check_each(READ, check)


@pytest.mark.slow
def test_reading_a_network_loads_neither_pandas_nor_scikit_learn(
    coin: BayesianNetwork, tmp_path: Path
) -> None:
    write_network(coin, tmp_path / "a.bif")
    code = (
        "import sys; from bayleaf.io import read_network, write_network; "
        "n = read_network(sys.argv[1]); write_network(n, sys.argv[1][:-3] + 'net'); "
        "print(*sorted({'sklearn', 'pandas'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.bif")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert result.stdout.strip() == ""
