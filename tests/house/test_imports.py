"""What importing the package and running commands on model files load."""

from __future__ import annotations

import json
import subprocess
import sys

import pyarrow.csv as pa_csv
import pytest

from bayleaf import NaiveBayesClassifier, TANClassifier
from bayleaf.datasets import load_heart
from offenders import check_each

# Commands that must not wait for libraries that they can do without.
COMMANDS = [
    "predict {nb} {table} -o {folder}/out.csv",
    "predict {nb} {table} -o {folder}/out.parquet",
    "predict {tan} {frame} -o {folder}/tan.csv",
    "explain {nb} {table} --row 1",
    "query {nb}",
    "inspect {nb}",
]
PACKAGE, READING = "import bayleaf", "import bayleaf.io, bayleaf.cli.table_reading"
# Print the top-level modules that are loaded after each piece of code.
SCRIPT = """
import json, sys
for code in json.loads(sys.argv[1]):
    exec(code)
    names = {name.split(".")[0] for name in sys.modules}
    print("loaded", json.dumps([code, sorted(names)]))
"""


def code_of(command: str, places: dict[str, str]) -> str:
    """Give code that runs a command, which must succeed."""
    words = command.format(**places).split()
    return f"from bayleaf.cli import main\nassert main({words!r}) == 0"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Two models and the heart table, with its target and without."""
    folder, heart = tmp_path_factory.mktemp("imports"), load_heart()
    names = {"nb": "nb.json", "tan": "tan.json", "table": "X.csv", "frame": "all.csv"}
    found = {name: str(folder / file) for name, file in names.items()}
    pa_csv.write_csv(heart.X, found["table"])
    pa_csv.write_csv(heart.frame, found["frame"])
    NaiveBayesClassifier().fit(heart.X, heart.y).save(found["nb"])
    TANClassifier().fit(heart.X, heart.y).save(found["tan"])
    return found | {"folder": str(folder)}


@pytest.fixture(scope="module")
def loaded(places: dict[str, str]) -> dict[str, set[str]]:
    """Modules of a new interpreter after each piece of code, one after the other."""
    pieces = [PACKAGE, READING, *(code_of(command, places) for command in COMMANDS)]
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(pieces)],
        check=True,
        capture_output=True,
        text=True,
    )
    lines = [line for line in result.stdout.splitlines() if line.startswith("loaded ")]
    found = [json.loads(line.removeprefix("loaded ")) for line in lines]
    assert [code for code, _ in found] == pieces
    return {code: set(names) for code, names in found}


@pytest.mark.slow
def test_importing_the_package_loads_no_large_library(
    loaded: dict[str, set[str]],
) -> None:
    assert loaded[PACKAGE].isdisjoint({"sklearn", "pandas", "matplotlib"})


@pytest.mark.slow
def test_reading_a_model_file_loads_no_scikit_learn(
    loaded: dict[str, set[str]],
) -> None:
    assert "sklearn" not in loaded[READING]


@pytest.mark.slow
def test_a_command_on_a_model_file_loads_no_library_it_can_do_without(
    loaded: dict[str, set[str]], places: dict[str, str]
) -> None:
    large = {"sklearn", "scipy", "pandas", "matplotlib"}

    def check(command: str) -> None:
        assert not large & loaded[code_of(command, places)]

    check_each(COMMANDS, check)


def test_every_public_name_can_be_imported() -> None:
    import bayleaf

    for name in bayleaf.__all__:
        assert getattr(bayleaf, name) is not None


def test_an_unknown_name_raises_attribute_error() -> None:
    import bayleaf

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = bayleaf.nothing
