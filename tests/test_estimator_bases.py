"""Type checkers see every public name, and find misspelt methods and arguments."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bayleaf

_PACKAGE = Path(bayleaf.__file__).parent

_CORRECT = """
from pathlib import Path
from typing import Any, assert_type

import bayleaf
from bayleaf import AveragedKDBRegressor, BayesianNetworkEstimator, MDLPDiscretizer
from bayleaf import BayesianNetworkImputer, KDBClassifier, NaiveBayesClassifier

def check(X: Any, y: Any) -> None:
    assert_type(NaiveBayesClassifier().fit(X, y), NaiveBayesClassifier)
    assert_type(NaiveBayesClassifier().partial_fit(X, y), NaiveBayesClassifier)
    assert_type(KDBClassifier(k=2, smoothing="m_estimate").fit(X, y), KDBClassifier)
    assert_type(AveragedKDBRegressor(trees=False).fit(X, y), AveragedKDBRegressor)
    estimator = BayesianNetworkEstimator(n_restarts=1, n_jobs=2)
    assert_type(estimator.set_params(verbose=1).fit(X), BayesianNetworkEstimator)
    assert_type(BayesianNetworkImputer().fit(X), BayesianNetworkImputer)
    assert_type(MDLPDiscretizer().fit(X, y), MDLPDiscretizer)
    assert_type(KDBClassifier().fit(X, y).score(X, y), float)
    bayleaf.write_network(bayleaf.read_network(Path("a.bif")), "b.bif")
"""
_PLANTED = {
    "bayleaf.TanClassifier": "attr-defined",
    "bayleaf.TANClassifier().fitt(X, y)": "attr-defined",
    "bayleaf.TANClassifier(smothing='laplace')": "call-arg",
    "bayleaf.KDBClassifier(required_edge=())": "call-arg",
    "bayleaf.KDBClassifier(max_k='2')": "arg-type",
    "bayleaf.KDBClassifier().fit(X, y, tarket='a')": "call-arg",
    "bayleaf.NaiveBayesClassifier().partial_fit(X, classs=y)": "call-arg",
    "bayleaf.AveragedKDBRegressor().predict_intervals(X)": "attr-defined",
    "bayleaf.BayesianNetworkEstimator().fit(X, n_jobs=2)": "call-arg",
    "bayleaf.BayesianNetworkImputer(howw='mean')": "call-arg",
    "bayleaf.MDLPDiscretizer().fit(X).cut_point_": "attr-defined",
    "bayleaf.read_network('a.bif', maxbytes=1)": "call-arg",
}


def test_type_checkers_get_the_public_names_that_are_loaded_when_first_used() -> None:
    tree = ast.parse((_PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = (n for n in tree.body if isinstance(n, ast.If))
    exported = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }
    packages = dict.fromkeys(bayleaf._PACKAGES, "bayleaf")
    assert exported == bayleaf._PUBLIC | packages


@pytest.mark.slow
@pytest.mark.long
def test_mypy_finds_planted_errors_and_no_others(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    first = _CORRECT.count("\n") + 3
    lines = [f"    {line}" for line in _PLANTED]
    code = f"{_CORRECT}\ndef planted(X: Any, y: Any) -> None:\n" + "\n".join(lines)
    (tmp_path / "use.py").write_text(code, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "use.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(_PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in checked.stdout.splitlines() if ": error: " in line]
    planted = [(f"use.py:{first + n}:", k) for n, k in enumerate(_PLANTED.values())]
    assert [(e.split(" ")[0], e[e.rindex("[") + 1 : -1]) for e in errors] == planted, (
        checked.stdout
    )
