"""What an import loads, and that an installation which cannot be written to works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bayleaf

_HEAVY = ("sklearn", "numba", "pandas", "polars", "matplotlib", "scipy", "pyarrow")

_LARGE_FITS = """
import numpy as np
from bayleaf.classifiers import CLASSIFIERS

rng = np.random.default_rng(0)
X = rng.integers(3, size=(60_000, 8))
y = (X[:, 0] + rng.integers(2, size=60_000)) % 3
numbers = X + rng.random(X.shape)
for kind in CLASSIFIERS.values():
    for table in (X, numbers):
        model = kind().fit(table, y)
        sums = model.predict_proba(table).sum(axis=0)
        print(kind.__name__, model.log_likelihood_, sums)
"""


def _run(code: str, package_folder: Path, **environment: str) -> str:
    """Standard output of a fresh interpreter that finds the package in a folder."""
    finished = subprocess.run(
        [sys.executable, "-c", code],
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


@pytest.mark.slow
def test_a_small_fit_loads_neither_numba_nor_matplotlib() -> None:
    code = (
        "from bayleaf.classifiers import CLASSIFIERS\n"
        "for name in CLASSIFIERS:\n"
        "    kind = CLASSIFIERS[name]\n"
        "    model = kind().fit([['p', 'x'], ['q', 'y']] * 5, [0, 1] * 5)\n"
        "    model.explain([['p', None]])\n"
        "    model.predict([['p', 'y']])\n"
    )
    assert _loaded_after(code) & {"numba", "matplotlib", "polars"} == set()


@pytest.mark.slow
def test_a_small_fit_with_a_missing_cell_loads_no_numba() -> None:
    code = (
        "from bayleaf.classifiers import CLASSIFIERS, HNBClassifier\n"
        "X = [['p', None], ['q', 'y']] + [['p', 'x'], ['q', 'y']] * 4\n"
        "kinds = [kind() for kind in CLASSIFIERS.values()]\n"
        "for model in [*kinds, HNBClassifier(parameters='conditional')]:\n"
        "    model.fit(X, [0, 1] * 5)\n"
        "    model.explain([['p', None]])\n"
        "    model.predict([['p', 'y']])\n"
        "    model.predict([[None, 'y']])\n"
    )
    assert "numba" not in _loaded_after(code)


@pytest.mark.slow
def test_no_search_for_latent_variables_in_a_small_table_loads_numba() -> None:
    code = (
        "from bayleaf.classifiers import HNBClassifier\n"
        "from bayleaf.classifiers.hnb import SEARCHES\n"
        "X = [['p', 'x', 'u'], ['q', 'y', 'u'], ['p', 'y', 'v'], ['q', 'x', 'v']] * 9\n"
        "y = [0, 0, 1, 1] * 9\n"
        "for search in SEARCHES:\n"
        "    for selection in (None, 'forward'):\n"
        "        model = HNBClassifier(\n"
        "            search=search,\n"
        "            wrapper_score='log_loss',\n"
        "            feature_selection=selection,\n"
        "        ).fit(X, y)\n"
        "        assert len(model.latents_) == 1\n"
        "        print(model, model.rules(), model.summary(), model.edges_)\n"
        "        model.predict_proba(X)\n"
        "        model.explain([['p', None, 'v']])\n"
        "holes = [['p', None, 'u'], *X[1:]]\n"
        "for estimation in ('counting', 'auto'):\n"
        "    HNBClassifier(estimation=estimation).fit(holes, y).predict(holes)\n"
    )
    assert "numba" not in _loaded_after(code)


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
    # Files where folders of compiled code would go refuse writing even to root.
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("")
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    before = sorted(tmp_path.rglob("*"))
    environment = {
        "NUMBA_CACHE_DIR": str(blocked),
        "XDG_CACHE_HOME": str(blocked),
        "HOME": str(blocked),
    }
    found = _run(_LARGE_FITS, package.parent, **environment)
    assert sorted(tmp_path.rglob("*")) == before
    assert found == _run(_LARGE_FITS, _source_folder())
    assert found.count("Classifier") >= 8
