"""Suffixes in upper case, as some programs of Windows write them."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest

from bayleaf.datasets import load_heart


@pytest.mark.parametrize("suffix", [".TSV", ".CSV.GZ", ".PARQUET"])
def test_tables_in_upper_case_are_fitted_and_predicted(
    run: Callable[..., Any],
    heart_files: Callable[..., Path],
    tmp_path: Path,
    suffix: str,
) -> None:
    model, table = heart_files("--model", "nb"), tmp_path / f"HEART{suffix}"
    if suffix == ".PARQUET":
        pa_parquet.write_table(load_heart().frame, table)
    elif suffix == ".TSV":
        options = pa_csv.WriteOptions(delimiter="\t")
        pa_csv.write_csv(load_heart().frame, table, options)
    else:
        with heart_files().open("rb") as plain, gzip.open(table, "wb") as packed:
            shutil.copyfileobj(plain, packed)
    words = ("--target", "disease", "--model", "nb", "-o")
    expected = json.loads(model.read_text())["model"]
    for name, options in (("1.json", ()), ("2.json", ("--memory", "1GB"))):
        assert run("fit", table, *options, *words, tmp_path / name).code == 0
        assert json.loads((tmp_path / name).read_text())["model"] == expected
    scored = [tmp_path / "plain.csv", tmp_path / "SCORED.CSV"]
    for source, target in zip((heart_files(), table), scored, strict=True):
        assert run("predict", model, source, "-o", target).code == 0
    sign = "\t" if suffix == ".TSV" else ","
    again = pa_csv.read_csv(
        scored[1], parse_options=pa_csv.ParseOptions(delimiter=sign)
    )
    assert pa_csv.read_csv(scored[0]).equals(again)
    (tmp_path / "parts").mkdir()
    table.rename(tmp_path / "parts" / table.name)
    folder = tmp_path / "scored"
    assert run("predict", model, tmp_path / "parts", "-o", folder).code == 0
    assert (folder / "HEART.parquet").exists()


def test_counts_in_upper_case_are_counts(
    run: Callable[..., Any], heart_files: Callable[..., Path], tmp_path: Path
) -> None:
    model, counts = heart_files("--model", "nb"), tmp_path / "HEART.COUNTS"
    done = run("counts", heart_files(), "--like", model, "-o", counts)
    assert done.code == 0
    assert run("counts", counts, counts, "-o", tmp_path / "2.counts").code == 0
