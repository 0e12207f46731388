"""Type checkers see every public name, and find misspelt methods and arguments."""

from __future__ import annotations

import ast
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_overloads

import pytest

import bayleaf
from readme.fenced_blocks import blocks_of

_PACKAGE = Path(bayleaf.__file__).parent

_CORRECT = """
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import bayleaf
from bayleaf import AveragedKDBRegressor, BayesianNetworkEstimator, MDLPDiscretizer
from bayleaf import BayesianNetwork, BayesianNetworkImputer, KDBClassifier
from bayleaf import NaiveBayesClassifier

def complete(
    network: BayesianNetwork,
    imputer: BayesianNetworkImputer,
    numbers: NDArray[np.float64],
) -> None:
    columns = {"rain": ["no", None]}
    assert_type(network.impute(columns), dict[str, list[str | None]])
    drawn = network.impute(columns, "sample", n_imputations=2)
    assert_type(drawn, list[dict[str, list[str | None]]])
    assert_type(imputer.transform([["no", None]]), NDArray[Any])
    assert_type(imputer.transform(numbers), NDArray[np.float64])

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

def predict(model: KDBClassifier, regressor: AveragedKDBRegressor, X: Any) -> None:
    assert_type(model.predict(X), NDArray[Any])
    assert_type(model.predict_proba(X), NDArray[np.float64])
    assert_type(regressor.predict(X), NDArray[np.float64])
    labels, notes = model.predict(X, return_notes=True)
    assert_type(labels, NDArray[Any])
    assert_type(notes[0][0]["note"], Any)

def draw(states: dict[str, list[str]], tables: dict[str, list[float]]) -> None:
    assert_type(BayesianNetwork.from_tables(states, tables), BayesianNetwork)
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
# Names of other libraries that pages use, and that have no types.
_UNTYPED = (
    *("pandas", "pyarrow", "pyarrow/csv", "pyarrow/parquet", "dask", "dask/dataframe"),
    *("distributed", "pyspark", "pyspark/sql", "matplotlib/axes", "matplotlib/pyplot"),
    "matplotlib/figure",
    *("sklearn/datasets", "sklearn/ensemble", "sklearn/model_selection", "scorer"),
)
_ANY = """from typing import Any
class Axes(Any): ...
class Figure(Any): ...
def __getattr__(name: str) -> Any: ...
"""
# What blocks of one page share, and values that a page only shows.
_OF_PAGES = (
    *("ConstantRedefinition", "DuplicateImport", "IncompleteStub"),
    *("MissingModuleSource", "UnusedExpression", "UnusedImport"),
)
# What has no type of its own, and why.
_ANY_RETURNED = {
    "fit_transform": "scikit-learn's, whatever `transform` returns",
    "get_metadata_routing": "scikit-learn's",
    **dict.fromkeys(
        [f"NetworkStructure.{name}" for name in ("fit", "score", "test_independences")],
        "the result's class is in a layer above",
    ),
    "to_onnx": "onnx may not be installed, and its types are those of protobuf",
}
_FIRST = _CORRECT.count("\n") + 3


@pytest.fixture
def use(tmp_path: Path) -> Path:
    """A program that uses the library, with the planted errors from `_FIRST` on."""
    lines = "\n".join(f"    {line}" for line in _PLANTED)
    path = tmp_path / "use.py"
    code = f"{_CORRECT}\ndef planted(X: Any, y: Any) -> None:\n{lines}\n"
    path.write_text(code, encoding="utf-8")
    return path


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


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Functions that `bayleaf` exports, and methods and properties of its classes."""
    for name in bayleaf._PUBLIC:
        kind = getattr(bayleaf, name)
        if not inspect.isclass(kind):
            yield name, kind
            continue
        for base in kind.__mro__:
            own = vars(base) if base.__module__.startswith("bayleaf") else {}
            for member, value in own.items():
                if member.startswith("_"):
                    continue
                function = getattr(value, "fget", getattr(value, "__func__", value))
                if inspect.isfunction(function):
                    yield f"{name}.{member}", inspect.unwrap(function)


def test_public_functions_return_no_bare_any() -> None:
    untyped = {
        name
        for name, function in public_functions()
        for typed in get_overloads(function) or [function]
        if typed.__annotations__.get("return", "Any") == "Any"
    }
    wrong = {
        name
        for name in untyped
        if _ANY_RETURNED.keys().isdisjoint((name, name.rpartition(".")[2]))
    }
    assert not wrong


def test_seeds_of_public_functions_have_a_type() -> None:
    untyped = [
        name
        for name, function in public_functions()
        if function.__annotations__.get("random_state") == "Any"
    ]
    assert untyped == []


@pytest.mark.slow
@pytest.mark.long
def test_mypy_finds_planted_errors_and_no_others(use: Path) -> None:
    pytest.importorskip("mypy")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "use.py"],
        cwd=use.parent,
        env={**os.environ, "MYPYPATH": str(_PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in checked.stdout.splitlines() if ": error: " in line]
    planted = [(f"use.py:{_FIRST + n}:", k) for n, k in enumerate(_PLANTED.values())]
    assert [(e.split(" ")[0], e[e.rindex("[") + 1 : -1]) for e in errors] == planted, (
        checked.stdout
    )


@pytest.mark.slow
def test_pyright_finds_planted_errors_and_no_others(use: Path) -> None:
    errors = pyright_errors(use.parent)
    lines = {error["range"]["start"]["line"] + 1 for error in errors}
    assert lines == set(range(_FIRST, _FIRST + len(_PLANTED))), errors


@pytest.mark.slow
def test_pyright_knows_the_type_of_every_name_on_the_pages(tmp_path: Path) -> None:
    root = Path(__file__).parents[1]
    for page in (root / "README.md", *sorted(root.glob("docs/**/*.md"))):
        blocks = blocks_of(page.read_text(encoding="utf-8"))
        code = [block for language, block in blocks if language == "python"]
        name = "_".join(page.relative_to(root).with_suffix("").parts)
        (tmp_path / f"{name}.py").write_text("\n".join(code), encoding="utf-8")
    # The pages use these names, and not what they stand for.
    for name in _UNTYPED:
        is_package = any(other.startswith(f"{name}/") for other in _UNTYPED)
        path = tmp_path / "typings" / (f"{name}/__init__" if is_package else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".pyi").write_text(_ANY, encoding="utf-8")
    ignored = {f"report{rule}": False for rule in _OF_PAGES}
    found = pyright_errors(tmp_path, stubPath="typings", **ignored)
    shown = [(e["file"], e["range"]["start"]["line"], e["message"]) for e in found]
    assert shown == []


def pyright_errors(folder: Path, **settings: object) -> list[dict[str, Any]]:
    """What basedpyright reports of the files of a folder, in strict mode."""
    pytest.importorskip("basedpyright", reason="needs basedpyright")
    places = {"typeCheckingMode": "strict", "extraPaths": [str(_PACKAGE.parent)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(places | settings), "utf-8")
    program = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable]
    checked = subprocess.run(
        [*program, "--outputjson"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    errors: list[dict[str, Any]] = json.loads(checked.stdout)["generalDiagnostics"]
    return errors
