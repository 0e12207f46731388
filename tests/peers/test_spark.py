"""The recipe for Spark gives the models of all rows, from partitions of them."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from bayleaf import CountFile, KDBClassifier, NaiveBayesClassifier, TANClassifier
from bayleaf.datasets import load_heart
from conftest import give_up
from readme.fenced_blocks import code_blocks_of

PAGE = Path(__file__).parents[2] / "docs" / "scale" / "spark.md"
BLOCKS = [block for _, block in code_blocks_of(PAGE.read_text("utf-8"))]
COUNTED = [NaiveBayesClassifier, TANClassifier, KDBClassifier]


class _GivenCuts:
    """A discretiser that knows the cut points, by the numbers of each column."""

    def __init__(self, cuts: dict[bytes, tuple[float, ...]]) -> None:
        self.cuts = cuts

    def cut_points(self, values: Any, *rest: Any) -> tuple[float, ...]:
        return self.cuts[np.asarray(values, float).tobytes()]


def pooled(kind: Any, first: Any, table: pa.Table) -> Any:
    """A model fitted in memory to all rows, at the cut points of another one."""
    cuts = {}
    for variable in first.encoder_.domain:
        if variable.kind == "numeric":
            numbers = table.column(str(variable.name)).to_numpy().astype(float)
            cuts[numbers.tobytes()] = variable.cut_points
    model = kind()
    model._chosen_discretizer = lambda rng: _GivenCuts(cuts)
    model.fit(table.drop_columns(["disease"]), table.column("disease"))
    assert len(cuts) == 5
    return model


def check_models(first: Any, counts: CountFile, table: pa.Table) -> None:
    """Raise unless models of the counts are those of the rows, bit for bit."""
    for kind in COUNTED:
        found, expected = kind.from_counts(counts), pooled(kind, first, table)
        assert found.model_.arcs == expected.model_.arcs
        assert found.log_likelihood_ == expected.log_likelihood_
        for one, other in zip(found.network_.cpds, expected.network_.cpds, strict=True):
            np.testing.assert_array_equal(one.probabilities, other.probabilities)


def run_recipe(folder: Path) -> None:
    """Run the page's blocks in a folder, and hold their models to those of all rows."""
    os.chdir(folder)
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    recipe: dict[str, Any] = {"__name__": "__main__"}
    for block in BLOCKS:
        exec(compile(block, PAGE.name, "exec"), recipe)
    table = load_heart().frame
    # The sample is other rows than the table.
    assert recipe["first"].counts_.weight < 200
    assert recipe["counts"] == recipe["first"].count(table)
    check_models(recipe["first"], recipe["counts"], table)


@pytest.mark.slow
@pytest.mark.long
def test_models_of_counts_from_spark_equal_fits_to_all_rows(tmp_path: Path) -> None:
    if importlib.util.find_spec("pyspark") is None:
        give_up("pyspark is not installed")
    if shutil.which("java") is None:
        give_up("Spark needs the program java")
    # Java knows one working folder a process, which another test may have set.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
        alone.submit(run_recipe, tmp_path).result()


@pytest.mark.parametrize("n_rows", [7, 300])
def test_the_recipes_functions_add_up_partitions(tmp_path: Path, n_rows: int) -> None:
    definitions = next(block for block in BLOCKS if "def counted" in block)
    table = load_heart().frame
    pa_parquet.write_table(table.slice(0, 90), tmp_path / "0.parquet")
    first = TANClassifier().fit(tmp_path / "0.parquet", target="disease")
    recipe: dict[str, Any] = {"first": first, "CountFile": CountFile}
    exec(definitions.partition("sums = ")[0], recipe)
    empty = table.schema.empty_table().to_batches()
    sent = [
        batch
        for begin in range(0, table.num_rows, 100)
        for batch in recipe["counted"](
            [*empty, *table.slice(begin, 100).to_batches(max_chunksize=n_rows)]
        )
    ]
    assert len(sent) == 3
    assert not list(recipe["counted"](empty)) + list(recipe["merged"]([]))
    (sums,) = recipe["merged"](sent)
    check_models(first, CountFile.from_bytes(sums["counts"][0].as_py()), table)
