"""What importing the package loads, and how quickly it answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.csv as pa_csv
import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.datasets import load_heart

HEAVY = ("sklearn", "pandas", "matplotlib")


def loaded_after(code: str) -> set[str]:
    """Top-level modules loaded once some code has run in a fresh interpreter."""
    script = f"{code}\nimport sys\nprint(*{{m.split('.')[0] for m in sys.modules}})"
    result = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    return set(result.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("module", HEAVY)
def test_importing_the_package_does_not_load(module: str) -> None:
    assert module not in loaded_after("import bayleaf")


def test_reading_a_model_file_loads_no_scikit_learn() -> None:
    assert "sklearn" not in loaded_after("import bayleaf.io, bayleaf.cli.coding")


@pytest.mark.parametrize(
    "words",
    [
        ["predict", "{model}", "{table}", "-o", "{folder}/out.csv"],
        ["predict", "{model}", "{table}", "-o", "{folder}/out.parquet"],
        ["explain", "{model}", "{table}", "--row", "1"],
        ["query", "{model}"],
        ["inspect", "{model}"],
    ],
    ids=lambda words: words[0],
)
def test_a_command_on_a_model_file_loads_no_library_it_can_do_without(
    words: list[str], tmp_path: Path
) -> None:
    table = load_heart()
    places = {
        "model": str(tmp_path / "model.json"),
        "table": str(tmp_path / "table.csv"),
    }
    pa_csv.write_csv(table.X, places["table"])
    NaiveBayesClassifier().fit(table.X, table.y).save(places["model"])
    words = [word.format(folder=tmp_path, **places) for word in words]
    loaded = loaded_after(f"from bayleaf.cli import main\nassert main({words!r}) == 0")
    assert loaded.isdisjoint({"sklearn", "scipy", "pandas", "matplotlib"})


def test_every_public_name_can_be_imported() -> None:
    import bayleaf

    for name in bayleaf.__all__:
        assert getattr(bayleaf, name) is not None


def test_an_unknown_name_raises_attribute_error() -> None:
    import bayleaf

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = bayleaf.nothing
