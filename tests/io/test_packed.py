"""Packed files are read and written whatever format stands inside."""

from __future__ import annotations

import bz2
import gzip
from itertools import product
from pathlib import Path

import pytest

from bayleaf import load
from bayleaf.datasets import load_network
from bayleaf.io import ModelFileError, packed, read_network, write_network
from bayleaf.io.conversion import convert_file
from bayleaf.io.registry import FORMATS
from offenders import check_each
from oracles.hard_networks import assert_same_network

UNPACK = {".gz": gzip.decompress, ".bz2": bz2.decompress}


def test_a_packed_file_holds_what_the_plain_one_holds(tmp_path: Path) -> None:
    def check(case: tuple[str, str]) -> None:
        packing, suffix = case
        network = load_network("asia")
        plain, whole = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}{packing}"
        write_network(network, plain)
        write_network(network, whole)
        assert UNPACK[packing](whole.read_bytes()) == plain.read_bytes()
        assert_same_network(network, read_network(whole))

    check_each(
        product(UNPACK, [suffix for suffix in FORMATS if suffix != ".dsl"]), check
    )


@pytest.mark.parametrize("packing", UNPACK)
def test_the_same_network_gives_the_same_bytes(tmp_path: Path, packing: str) -> None:
    network = load_network("asia")
    for name in ("first", "second"):
        write_network(network, tmp_path / f"{name}.bif{packing}")
    first, second = (tmp_path / f"{n}.bif{packing}" for n in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()


def test_suffixes_in_capitals_are_known(tmp_path: Path) -> None:
    write_network(load_network("asia"), tmp_path / "A.BIF.GZ")
    assert len(read_network(tmp_path / "A.BIF.GZ").domain) == 8


@pytest.mark.parametrize("packing", UNPACK)
def test_a_damaged_or_cut_file_gives_one_sentence(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"a.bif{packing}"
    write_network(load_network("asia"), path)
    content = path.read_bytes()
    flipped = content[:40] + bytes([content[40] ^ 255]) + content[41:]
    for bad in (content[:50], content[:-1], b"no archive", b"", flipped):
        path.write_bytes(bad)
        with pytest.raises(ModelFileError) as caught:
            read_network(path)
        assert str(caught.value).startswith(path.name)
        assert "\n" not in str(caught.value)


def test_what_is_wrong_inside_names_the_packed_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bif.gz"
    path.write_bytes(gzip.compress(b"network x {\n}\nvariabel a {\n}\n"))
    with pytest.raises(ModelFileError, match=r"^a\.bif\.gz, line 3: expected"):
        read_network(path)


def test_a_bomb_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.bif.gz"
    path.write_bytes(gzip.compress(b" " * (1 << 25)))
    with pytest.raises(ModelFileError, match="unpacks to more than 16,777,216 bytes"):
        read_network(path)


def test_the_limit_counts_what_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.bif.gz"
    write_network(load_network("asia"), path)
    assert path.stat().st_size < 500
    with pytest.raises(ModelFileError, match="unpacks to more than 500 bytes"):
        read_network(path, max_bytes=500)


def test_a_caller_may_allow_what_packs_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.bif.gz"
    write_network(load_network("asia"), path)
    monkeypatch.setattr(packed, "_ALWAYS_ALLOWED", 10)
    monkeypatch.setattr(packed, "_MOST_TIMES", 1)
    with pytest.raises(ModelFileError, match="raise max_bytes"):
        read_network(path)
    assert len(read_network(path, max_bytes=10_000).domain) == 8


def test_a_missing_packed_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"cannot read .*a.bif.gz: there is no"):
        read_network(tmp_path / "a.bif.gz")
    (tmp_path / "b.bif.gz").mkdir()
    with pytest.raises(IsADirectoryError, match=r"cannot read .*b.bif.gz: it is a"):
        read_network(tmp_path / "b.bif.gz")


def test_a_failed_write_leaves_the_older_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bif.gz"
    path.write_bytes(b"older")
    with pytest.raises(ValueError, match="cells"):
        write_network(load_network("asia"), path, max_table_cells=1)
    assert path.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [path]


def test_files_are_converted_from_and_into_packed_ones(tmp_path: Path) -> None:
    write_network(load_network("asia"), tmp_path / "a.uai.gz")
    convert_file(tmp_path / "a.uai.gz", tmp_path / "b.net.bz2")
    assert_same_network(load_network("asia"), read_network(tmp_path / "b.net.bz2"))
    convert_file(tmp_path / "b.net.bz2", tmp_path / "c.dot.gz")
    assert gzip.decompress((tmp_path / "c.dot.gz").read_bytes()).startswith(b"digraph")


@pytest.mark.parametrize("name", ["a.uai.gz", "a.json.bz2"])
def test_whatever_is_packed_is_loaded(tmp_path: Path, name: str) -> None:
    load_network("asia").save(tmp_path / name)
    assert_same_network(load_network("asia"), load(tmp_path / name))
