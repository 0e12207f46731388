"""Type checkers see every public name, and find misspelt methods and arguments."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import pkgutil
import re
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
from bayleaf.typing import JSONObject

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
    assert_type(notes[0][0]["note"], str)

def draw(states: dict[str, list[str]], tables: dict[str, list[float]]) -> None:
    network = assert_type(BayesianNetwork.from_tables(states, tables), BayesianNetwork)
    structure = bayleaf.NetworkStructure.from_edges([("rain", "wet")])
    structure = structure.from_edges({"wet": ["rain"]}).from_edges(network)
    n_rejected = structure.test_independences({"rain": ["no"]}).n_rejected
    assert_type(n_rejected, int)
    assert_type(structure.score({"rain": ["no"]}).total, float)
    structure = structure.with_states({"rain": ["no"]})
    assert_type(structure.fit({"rain": ["no"]}, prior=network), BayesianNetwork)
    network.query({"rain": "no", "wet": {"yes": 0.3, "no": 1}}, "rain")
    network.query("rain = no")
    network.probability({"rain": ["no", "yes"]}, given=["wet = yes", {"sun": 1}])

def pass_tables(
    model: KDBClassifier,
    rows: list[tuple[str, int]],
    records: list[dict[str, str | None]],
    columns: dict[str, list[str]],
    numbers: NDArray[np.float64],
    labels: NDArray[np.str_],
    texts: list[str],
) -> None:
    model.fit(numbers, labels, numbers).fit(rows, texts, [1, 2.5])
    model.fit(records, texts, "weight").fit(columns, target="class")
    model.fit({"a": [1, 2], "b": ["x", None]}, ("p", "q"), range(2))
    model.fit({"a": numbers, "b": texts}, texts).fit("a.csv").fit(Path("a.csv"))
    model.predict({"city": "Rome", "rooms": 3})
    model.predict([{"city": "Rome"}, {"rooms": 3}])
    model.predict('{"city": "Rome"}')
    model.with_class_prior({"p": 0.5, "q": 0.5}).with_class_prior([0.5, 0.5])
    KDBClassifier(loss={"p": {"q": 1}, "q": {"p": 2.5}}, class_prior={1: 1.0})
    assert_type(bayleaf.datasets.load_heart().name, str)
    document = bayleaf.explain.importance(model).to_dict()
    assert_type(document, JSONObject)
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
    "bayleaf.KDBClassifier().fit(3, y)": "arg-type",
    "bayleaf.KDBClassifier().fit(X, 'y')": "arg-type",
    "bayleaf.KDBClassifier().fit(X, y, 2.5)": "arg-type",
    "bayleaf.KDBClassifier().fit(X, y, ('heavy', 'light'))": "arg-type",
    "bayleaf.KDBClassifier().score(X, y, 'weight')": "arg-type",
    "bayleaf.KDBClassifier().partial_fit(X, y, sample_weight='w')": "arg-type",
    "bayleaf.KDBClassifier().predict_log_proba(3)": "arg-type",
    "bayleaf.KDBClassifier(loss={'a': 1})": "dict-item",
    "bayleaf.AveragedKDBRegressor().fit('a.csv', y)": "arg-type",
    "bayleaf.BayesianNetworkEstimator().score_samples(None)": "arg-type",
    "bayleaf.BayesianNetworkImputer().fit(3)": "arg-type",
    "bayleaf.NetworkStructure.from_edges(3)": "arg-type",
    "bayleaf.NetworkStructure.from_edges('a -> b').score(3)": "arg-type",
    "bayleaf.NetworkStructure.from_edges('a -> b').fit(X, prior=3)": "arg-type",
    "bayleaf.NetworkStructure.from_edges('a -> b').fit(X).misspelt": "attr-defined",
    "bayleaf.NetworkStructure.from_edges('a -> b').plot(axes=X)": "call-arg",
    "bayleaf.read_network('a.bif').query(3)": "arg-type",
    "bayleaf.read_network('a.bif').log_likelihood(X, 'w')": "arg-type",
    "bayleaf.evaluation.compare(3, y)": "arg-type",
    "bayleaf.evaluation.compare_tables({}, n_fold=3)": "call-arg",
    "bayleaf.explain.importance(3)": "arg-type",
    "bayleaf.explain.counterfactuals(X, 3)": "arg-type",
    "bayleaf.report.write_report(X, X, 'a.html', minimum=3)": "call-arg",
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
# Arrays whose type is known when they are made, as that of labels.
_UNKNOWN_DTYPE = re.compile(r"\b(NDArray|np\.integer)\[Any\]")


@pytest.fixture
def use(tmp_path: Path) -> Path:
    """A program that uses the library, and below that the planted errors."""
    planted = [line for line, kind in planted_lines()]
    path = tmp_path / "use.py"
    path.write_text(f"{_CORRECT}\n" + "\n".join(planted) + "\n", encoding="utf-8")
    return path


def planted_lines() -> list[tuple[str, str]]:
    """Lines of the program, each with the kind of its error; empty where it has none.

    Each public class, of results and of estimators, is asked for an attribute that it
    lacks.
    """
    public = public_names()
    classes = [name for name, value in public.items() if inspect.isclass(value)]
    modules = sorted({name.rpartition(".")[0] for name in classes} - {"bayleaf"})
    return [
        *((f"import {module}", "") for module in modules),
        ("def planted(X: Any, y: Any) -> None:", ""),
        *((f"    {line}", kind) for line, kind in _PLANTED.items()),
        *(
            (f"def of_{n}(result: {name}{of}) -> None: result.misspelt", "attr-defined")
            for n, name in enumerate(classes)
            for of in ["[Any]" * bool(getattr(public[name], "__parameters__", ()))]
        ),
    ]


def expected_errors() -> dict[int, str]:
    """The kind of error by line of the program."""
    lines = enumerate(planted_lines(), start=_CORRECT.count("\n") + 2)
    return {number: kind for number, (line, kind) in lines if kind}


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


def public_names() -> dict[str, Any]:
    """Classes and functions of `bayleaf` and its packages, by their full names."""
    modules = pkgutil.walk_packages(bayleaf.__path__, "bayleaf.")
    packages = {"bayleaf", *(module.name for module in modules if module.ispkg)}
    names = {}
    for package in sorted(packages - {"bayleaf.reproduction"}):
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isroutine(value) or inspect.isclass(value):
                names[f"{package}.{name}"] = value
    return names


def annotations_of(function: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    """The parameters of a function, or of its overloads, and what it returns."""
    function = inspect.unwrap(function)
    for typed in get_overloads(function) or [function]:
        for name in inspect.signature(typed).parameters:
            if name not in ("self", "cls"):
                yield name, str(typed.__annotations__.get(name, "Any"))
        yield "return", str(typed.__annotations__.get("return", "Any"))


def public_annotations() -> Iterator[tuple[str, str]]:
    """Where each annotation of a public name is, and the annotation."""
    for full, public in public_names().items():
        if not inspect.isclass(public):
            yield from ((f"{full}.{n}", text) for n, text in annotations_of(public))
            continue
        for base in public.__mro__:
            if not base.__module__.startswith("bayleaf"):
                continue
            for name, annotation in vars(base).get("__annotations__", {}).items():
                if not name.startswith("_"):
                    yield f"{full}.{name}", str(annotation)
            for member, value in vars(base).items():
                if member.startswith("_") and member != "__call__":
                    continue
                for attribute in ("fget", "__func__", "func", "fn"):
                    value = getattr(value, attribute, value)
                if inspect.isfunction(value):
                    for name, text in annotations_of(value):
                        yield f"{full}.{member}.{name}", text


def test_no_public_annotation_is_any() -> None:
    untyped = {
        where
        for where, text in public_annotations()
        if re.search(r"\bAny\b", _UNKNOWN_DTYPE.sub("", text))
    }
    assert untyped == set()


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
    planted = [(f"use.py:{n}:", kind) for n, kind in expected_errors().items()]
    assert [(e.split(" ")[0], e[e.rindex("[") + 1 : -1]) for e in errors] == planted, (
        checked.stdout
    )


@pytest.mark.slow
@pytest.mark.long
def test_pyright_finds_planted_errors_and_no_others(use: Path) -> None:
    errors = pyright_errors(use.parent)
    lines = {error["range"]["start"]["line"] + 1 for error in errors}
    assert lines == set(expected_errors()), errors


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
