"""The arrows of the house: each package imports only what stands before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "bayleaf"
# Packages on one line stand beside each other and do not import one another.
ORDER = [
    ("wording", "native"),
    ("data", "graph"),
    ("counts",),
    ("cpds",),
    ("scores",),
    ("search",),
    ("inference",),
    ("models",),
    ("latent",),
    ("io",),
    ("classifiers",),
    ("density",),
    ("evaluation",),
    ("explain",),
    ("plot",),
    ("report",),
    ("explorer",),
    ("datasets",),
    ("reproduction",),
    # The public names reach everywhere, so only the command line may use them.
    ("__init__",),
    ("cli",),
    ("__main__",),
]
# Packages in which files still import each other in circles.
WITH_CIRCLES = {"classifiers", "cli", "density", "evaluation", "models"}
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
SHARED_CLASSIFIER_MODULES = {
    "base",
    "incremental",
    "leave_one_out",
    "mixture_parameters",
    "mixture_progress",
    "parameters",
    "saving",
    "structure_parameters",
    "table_estimator",
    "training",
}


def names_imported(node: ast.AST, package: list[str]) -> Iterator[str]:
    """Full dotted names that one statement or call imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package[: len(package) - node.level + 1] if node.level else []
        module = ".".join([*above, node.module] if node.module else above)
        yield from (f"{module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and node.args:
        called = getattr(node.func, "attr", getattr(node.func, "id", None))
        name = getattr(node.args[0], "value", None)
        if called in {"import_module", "__import__"} and isinstance(name, str):
            yield name


def imported_modules(path: Path, source: Path) -> list[str]:
    """Names of the package that a file imports, anywhere in it, in order."""
    package = ["bayleaf", *path.relative_to(source).parent.parts]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {name for node in ast.walk(tree) for name in names_imported(node, package)}
    return sorted(name for name in names if name.split(".")[0] == "bayleaf")


def package_of(name: str) -> str:
    """The package that a full name belongs to; public names belong to the root."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in RANK else "__init__"


def arrows_back(source: Path) -> list[str]:
    """Imports that point from a package to one that stands after it, or beside it."""
    wrong = []
    for path in sorted(source.rglob("*.py")):
        own = path.relative_to(source).parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        if own not in RANK:
            wrong.append(f"{path.name}: package {own} has no place in the order")
            continue
        for name in imported_modules(path, source):
            other = package_of(name)
            if other != own and RANK[other] >= RANK[own]:
                wrong.append(f"{own}/{path.name} imports {name}")
    return wrong


def sideways_imports(source: Path) -> list[str]:
    """Imports of one classifier, or of the list of them all, in another's file."""
    wrong = []
    for path in sorted((source / "classifiers").glob("*.py")):
        if path.stem in SHARED_CLASSIFIER_MODULES | {"__init__"}:
            continue
        for name in imported_modules(path, source):
            _, package, *inside = [*name.split("."), "", ""]
            if package == "classifiers" and inside[0] not in SHARED_CLASSIFIER_MODULES:
                wrong.append(f"{path.name} imports {name}")
    return wrong


def circle(source: Path, package: str) -> list[str]:
    """Modules of one package that import each other in a circle; none if there is none.

    Imports inside functions count, and so do those for types alone.
    """
    modules = {}
    for path in (source / package).rglob("*.py"):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(["bayleaf", *parts]).removesuffix(".__init__")
        modules[name] = path
    graph = TopologicalSorter[str]()
    for name, path in sorted(modules.items()):
        for found in imported_modules(path, source):
            other = found if found in modules else found.rpartition(".")[0]
            if other in modules and other != name:
                graph.add(name, other)
    try:
        graph.prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def write(source: Path, place: str, code: str) -> None:
    """Put one file into a small tree of packages."""
    (source / place).parent.mkdir()
    (source / place).write_text(code, encoding="utf-8")


def test_no_package_imports_one_that_stands_after_it() -> None:
    assert arrows_back(SOURCE) == []


@pytest.mark.parametrize(
    "package", sorted(set(RANK) - {"wording", "__init__", "__main__"} - WITH_CIRCLES)
)
def test_no_files_import_each_other_in_a_circle(package: str) -> None:
    assert circle(SOURCE, package) == []


def test_a_circle_of_files_is_found(tmp_path: Path) -> None:
    write(tmp_path, "counts/first.py", "def f():\n    from bayleaf.counts import last")
    (tmp_path / "counts" / "last.py").write_text("from .first import f", "utf-8")
    assert set(circle(tmp_path, "counts")) == {
        "bayleaf.counts.first",
        "bayleaf.counts.last",
    }


def test_classifiers_do_not_import_each_other() -> None:
    assert (SOURCE / "classifiers" / "kdb.py").exists()
    assert sideways_imports(SOURCE) == []


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import bayleaf.classifiers.kdb", "bayleaf.classifiers.kdb"),
        ("from bayleaf.cli import main", "bayleaf.cli.main"),
        ("def f():\n    from bayleaf.io import fields", "bayleaf.io.fields"),
        ("from ..classifiers import base", "bayleaf.classifiers.base"),
        ("from .. import models", "bayleaf.models"),
        ("from bayleaf import TANClassifier", "bayleaf.TANClassifier"),
        ("import bayleaf", "bayleaf"),
        ("importlib.import_module('bayleaf.cli')", "bayleaf.cli"),
        ("__import__('bayleaf.search')", "bayleaf.search"),
    ],
)
def test_an_arrow_back_is_found(tmp_path: Path, code: str, name: str) -> None:
    write(tmp_path, "counts/kernels.py", code)
    assert arrows_back(tmp_path) == [f"counts/kernels.py imports {name}"]


@pytest.mark.parametrize(
    "code",
    ["from bayleaf.data import codes", "from . import planes", "import numpy.linalg"],
)
def test_an_arrow_forward_is_allowed(tmp_path: Path, code: str) -> None:
    write(tmp_path, "counts/kernels.py", code)
    assert arrows_back(tmp_path) == []


def test_neighbours_may_not_import_each_other(tmp_path: Path) -> None:
    write(tmp_path, "graph/dag.py", "import bayleaf.data.domain\n")
    assert arrows_back(tmp_path) == ["graph/dag.py imports bayleaf.data.domain"]


def test_a_package_without_a_place_is_found(tmp_path: Path) -> None:
    write(tmp_path, "helpers/text.py", "")
    assert arrows_back(tmp_path) == [
        "text.py: package helpers has no place in the order"
    ]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("from .kdb import KDBClassifier", "bayleaf.classifiers.kdb.KDBClassifier"),
        (
            "from bayleaf.classifiers import CLASSIFIERS",
            "bayleaf.classifiers.CLASSIFIERS",
        ),
        ("import bayleaf.classifiers", "bayleaf.classifiers"),
    ],
)
def test_a_classifier_that_imports_another_is_found(
    tmp_path: Path, code: str, name: str
) -> None:
    write(tmp_path, "classifiers/tan.py", code)
    assert sideways_imports(tmp_path) == [f"tan.py imports {name}"]


def test_a_classifier_may_import_the_base(tmp_path: Path) -> None:
    write(tmp_path, "classifiers/tan.py", "from .base import BayesianClassifier")
    assert sideways_imports(tmp_path) == []
