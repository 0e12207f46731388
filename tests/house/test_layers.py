"""The arrows of the house: each package imports only what stands before it."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "bayleaf"
# Packages on one line stand beside each other and do not import one another.
ORDER = [
    ("wording", "compiled"),
    ("data", "graph"),
    ("counts",),
    ("cpds",),
    ("scores",),
    ("search",),
    ("models",),
    ("latent",),
    ("io",),
    ("classifiers", "density"),
    ("evaluation",),
    ("explain",),
    ("plot",),
    ("report",),
    ("explorer",),
    ("datasets",),
    ("cli",),
    ("__main__",),
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
SHARED_CLASSIFIER_MODULES = {"base", "incremental", "parameters", "saving", "training"}


def imported_modules(path: Path) -> set[str]:
    """Full names of the package's modules that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
            names.add(node.module)
    return {name for name in names if name.startswith("bayleaf.")}


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
        for name in sorted(imported_modules(path)):
            other = name.split(".")[1]
            later = RANK.get(other, -1) > RANK[own]
            beside = other != own and RANK.get(other) == RANK[own]
            if later or beside:
                wrong.append(f"{own}/{path.name} imports {name}")
    return wrong


def test_no_package_imports_one_that_stands_after_it() -> None:
    assert arrows_back(SOURCE) == []


def test_an_arrow_back_is_found(tmp_path: Path) -> None:
    (tmp_path / "counts").mkdir()
    (tmp_path / "counts" / "kernels.py").write_text(
        "def count():\n    from bayleaf.classifiers import CLASSIFIERS\n"
    )
    assert arrows_back(tmp_path) == [
        "counts/kernels.py imports bayleaf.classifiers",
        "counts/kernels.py imports bayleaf.classifiers.CLASSIFIERS",
    ]


def test_neighbours_may_not_import_each_other(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "dag.py").write_text("import bayleaf.data.domain\n")
    assert arrows_back(tmp_path) == ["graph/dag.py imports bayleaf.data.domain"]


def test_classifiers_do_not_import_each_other() -> None:
    folder = SOURCE / "classifiers"
    methods = {
        path.stem
        for path in folder.glob("*.py")
        if path.stem not in SHARED_CLASSIFIER_MODULES | {"__init__"}
    }
    assert methods
    for method in methods:
        others = {f"bayleaf.classifiers.{other}" for other in methods - {method}}
        assert not imported_modules(folder / f"{method}.py") & others
