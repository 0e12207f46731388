"""What an import loads, and that an installation which cannot be written to works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import bayleaf

_HEAVY = ("sklearn", "pandas", "polars", "matplotlib", "scipy", "pyarrow")

# An editable installation would be found before PYTHONPATH.
_AS_INSTALLED = """
import sys

sys.meta_path[:] = [
    finder
    for finder in sys.meta_path
    if not type(finder).__module__.startswith("_editable")
]
"""

_FITS = """
import numpy as np
from bayleaf.classifiers import CLASSIFIERS

rng = np.random.default_rng(0)
X = rng.integers(3, size=(3_000, 8))
y = (X[:, 0] + rng.integers(2, size=3_000)) % 3
numbers = X + rng.random(X.shape)
for kind in CLASSIFIERS.values():
    for table in (X, numbers):
        model = kind(random_state=0).fit(table, y)
        sums = model.predict_proba(table).sum(axis=0)
        print(kind.__name__, model.log_likelihood_, sums)
"""


def _run(code: str, package_folder: Path, **environment: str) -> str:
    """Standard output of a fresh interpreter that finds the package in a folder."""
    finished = subprocess.run(
        [sys.executable, "-c", _AS_INSTALLED + code],
        env={**os.environ, "PYTHONPATH": str(package_folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def _source_folder() -> Path:
    return Path(bayleaf.__file__).parent.parent


def _loaded_after(code: str) -> set[str]:
    tell = f"\nimport sys\nprint(*(name for name in {_HEAVY!r} if name in sys.modules))"
    return set(_run(code + tell, _source_folder()).split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert _loaded_after("import bayleaf") == set()


def test_listing_the_public_names_loads_nothing_heavy() -> None:
    assert _loaded_after("import bayleaf\ndir(bayleaf)") == set()


def test_the_package_that_was_asked_for_is_the_one_that_runs(tmp_path: Path) -> None:
    other = tmp_path / "bayleaf"
    other.mkdir()
    (other / "__init__.py").write_text("place = 'elsewhere'")
    assert _run("import bayleaf; print(bayleaf.place)", tmp_path) == "elsewhere\n"


@pytest.mark.slow
def test_fitting_and_explaining_loads_nothing_that_they_do_not_use() -> None:
    code = (
        "from bayleaf.classifiers import CLASSIFIERS\n"
        "for name in CLASSIFIERS:\n"
        "    kind = CLASSIFIERS[name]\n"
        "    model = kind().fit([['p', 'x'], ['q', 'y']] * 5, [0, 1] * 5)\n"
        "    model.explain([['p', None]])\n"
        "    model.predict([['p', 'y']])\n"
    )
    # Newer editions of scikit-learn import pandas by themselves.
    theirs = _loaded_after("import sklearn.base")
    assert (_loaded_after(code) - theirs) & {"matplotlib", "polars", "pandas"} == set()


def test_no_requirement_compiles_at_run_time() -> None:
    required = metadata.requires("bayleaf") or []
    names = {re.split(r"[^\w-]", line)[0] for line in required}
    assert "numpy" in names
    assert names.isdisjoint({"numba", "llvmlite", "cython", "cffi", "jax", "torch"})


def test_every_public_name_is_there() -> None:
    for name in bayleaf.__all__:
        assert getattr(bayleaf, name) is not None
        assert name in dir(bayleaf)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Bayesleaf'"):
        _ = bayleaf.Bayesleaf


@pytest.mark.slow
def test_an_installation_that_cannot_be_written_to_works(tmp_path: Path) -> None:
    package = tmp_path / "site" / "bayleaf"
    shutil.copytree(
        Path(bayleaf.__file__).parent,
        package,
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    # Files where folders of byte code would go refuse writing even to root.
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("")
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    before = sorted(tmp_path.rglob("*"))
    environment = {
        "XDG_CACHE_HOME": str(blocked),
        "HOME": str(blocked),
    }
    found = _run(_FITS, package.parent, **environment)
    assert sorted(tmp_path.rglob("*")) == before
    assert found == _run(_FITS, _source_folder())
    assert found.count("Classifier") >= 8
