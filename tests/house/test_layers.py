"""The arrows of the house: each file imports only what stands before it.

That holds between packages and, where an order is written down, inside them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from house.import_walk import SOURCE, imported_modules

# Packages on one line stand beside each other and do not import one another.
ORDER = [
    ("version", "wording", "native", "dispatch", "files", "estimator_bases", "typing"),
    ("progress",),
    ("layout",),
    ("pictures",),
    ("results",),
    ("data", "graph"),
    ("counts",),
    ("streams",),
    ("cpds",),
    ("scores",),
    ("search",),
    ("inference",),
    ("scoring",),
    ("models",),
    ("decisions",),
    ("describe",),
    ("latent",),
    ("io",),
    ("classifiers",),
    ("density", "regression"),
    ("modelling",),
    ("predictions",),
    ("loading",),
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
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
# Inside a package: what stands in its folder, in the order in which one may import the
# other. REST is every file that is not named; these may import one another.
REST = "*"
INSIDE: dict[str, list[tuple[str, ...]]] = {
    "data": [
        ("interruptible", "value_hierarchy", "memory"),
        ("interval_numbers",),
        ("domain",),
        ("codes",),
        ("tables",),
        ("class_labels",),
        ("fitted_hierarchies",),
        ("partial_values",),
        ("dates", "date_texts", "unknown_cells"),
        ("text_forms",),
        ("reading_plan",),
        ("files",),
        ("column_reading",),
        ("table_encoder",),
        ("encoder_learning",),
        ("cut_points",),
        (REST,),
    ],
    "streams": [
        (REST,),
        ("dask_partitions", "partition_summaries"),
        ("partition_learning",),
    ],
    "search": [
        ("constraints",),
        ("structure",),
        ("climb",),
        ("hierarchy_learning",),
        ("table_families",),
        ("trees",),
        ("feature_orders",),
        ("left_out",),
        ("latents",),
        (REST,),
    ],
    "inference": [
        ("plain_rules",),
        ("states", "log_sums", "table_algebra", "graph_results"),
        ("causal_graph",),
        ("factorisation",),
        ("evidence", "posteriors", "family_decomposition", "factors"),
        ("junction_tree",),
        ("network_trees",),
        ("set_evidence",),
        ("row_propagation",),
        ("events",),
        ("encoded_rows", "sensitivity"),
        ("sampling", "imputation"),
        ("approximate",),
        ("exact_query",),
        (REST,),
        ("interventions",),
    ],
    "models": [
        ("texts", "wrappers"),
        ("graph_objects", "structure_results"),
        ("network_structure", "conditional_table"),
        ("fit_stamp",),
        ("page_model",),
        ("bayesian_network",),
        ("latent_rules",),
        ("support",),
        ("class_model",),
        ("explanation",),
        ("predictor",),
        ("networks",),
        (REST,),
    ],
    "report": [("summary_form",), (REST,), ("summarize",), ("page",)],
    "explain": [
        ("row_probability", "subject"),
        ("certificates",),
        (REST,),
    ],
    "io": [
        ("atomic", "bounded", "errors"),
        ("packed",),
        ("native",),
        ("formats",),
        ("exports",),
        (REST,),
    ],
    "evaluation": [(REST,), ("groups",), ("audits",)],
    # Classifiers stand beside each other; `sideways_imports` looks at them.
    "classifiers": [("shared",), (REST,)],
    "cli": [
        ("console",),
        ("display",),
        ("options",),
        ("table_reading",),
        (REST,),
        ("commands",),
        ("app",),
    ],
}


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


def places_inside(package: Path) -> dict[str, int]:
    """Rank of what stands in a package's folder; itself, it stands after all."""
    order = INSIDE.get(package.name, [(REST,)])
    ranks = {name: rank for rank, names in enumerate(order) for name in names}
    files = {path.stem: ranks[REST] for path in package.glob("*.py")}
    return files | ranks | {"__init__": len(order)}


def arrows_back_inside(source: Path) -> list[str]:
    """Imports inside packages that point to what stands later in their order."""
    wrong = []
    for package in sorted(path for path in source.iterdir() if path.is_dir()):
        rank = places_inside(package)
        for path in sorted(package.rglob("*.py")):
            place = path.relative_to(source)
            own = place.parts[1].removesuffix(".py")
            if own not in rank:
                wrong.append(f"{place}: {package.name}/{own} has no place in the order")
                continue
            for name in imported_modules(path, source):
                _, other_package, other, *_ = [*name.split("."), "", ""]
                # A package that is imported whole is left to the test of circles.
                if other_package != package.name or not other:
                    continue
                other = other if other in rank else "__init__"
                beside = rank[other] == rank[own] != rank[REST]
                if other != own and (rank[other] > rank[own] or beside):
                    wrong.append(f"{place} imports {name}")
    return wrong


def sideways_imports(source: Path) -> list[str]:
    """Imports of one classifier, or of the list of them all, in another's file."""
    wrong = []
    for path in sorted((source / "classifiers").glob("*.py")):
        if path.stem == "__init__":
            continue
        for name in imported_modules(path, source):
            _, package, *inside = [*name.split("."), "", ""]
            if package == "classifiers" and inside[0] != "shared":
                wrong.append(f"{path.name} imports {name}")
    return wrong


def write(source: Path, place: str, code: str) -> None:
    """Put one file into a small tree of packages."""
    (source / place).parent.mkdir(parents=True)
    (source / place).write_text(code, encoding="utf-8")


def test_no_package_imports_one_that_stands_after_it() -> None:
    wrong = arrows_back(SOURCE)
    assert not wrong, "\n".join(wrong)


def test_inside_a_package_nothing_imports_what_stands_after_it() -> None:
    wrong = arrows_back_inside(SOURCE)
    assert not wrong, "\n".join(wrong)


def test_what_has_a_place_inside_a_package_exists() -> None:
    named = {(p, n) for p, o in INSIDE.items() for names in o for n in names}
    missing = [
        f"{package}/{name}"
        for package, name in sorted(named)
        if name != REST
        and not (SOURCE / package / name).is_dir()
        and not (SOURCE / package / f"{name}.py").is_file()
    ]
    assert missing == []


def test_classifiers_do_not_import_each_other() -> None:
    assert (SOURCE / "classifiers" / "kdb.py").exists()
    wrong = sideways_imports(SOURCE)
    assert not wrong, "\n".join(wrong)


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
    write(tmp_path, "classifiers/tan.py", "from .shared.training import Learned")
    assert sideways_imports(tmp_path) == []


@pytest.mark.parametrize(
    ("place", "code", "name"),
    [
        (
            "search/trees/growing.py",
            "from bayleaf.search.latents import pair_tests",
            "bayleaf.search.latents.pair_tests",
        ),
        (
            "search/trees/growing.py",
            "import bayleaf.search.tree_climbing",
            "bayleaf.search.tree_climbing",
        ),
        (
            "search/structure.py",
            "from bayleaf.search import Selection",
            "bayleaf.search.Selection",
        ),
        (
            "data/value_hierarchy.py",
            "import bayleaf.data.interruptible",
            "bayleaf.data.interruptible",
        ),
        ("graph/dag.py", "from bayleaf.graph import DAG", "bayleaf.graph.DAG"),
    ],
)
def test_an_arrow_back_inside_a_package_is_found(
    tmp_path: Path, place: str, code: str, name: str
) -> None:
    write(tmp_path, place, code)
    (tmp_path / "search").mkdir(exist_ok=True)
    (tmp_path / "search" / "tree_climbing.py").touch()
    assert arrows_back_inside(tmp_path) == [f"{place} imports {name}"]


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("search/latents/pair_tests.py", "from bayleaf.search.trees import growing"),
        ("search/latents/pair_tests.py", "from bayleaf.search.latents import moves"),
        ("graph/dag.py", "from bayleaf.graph import dag"),
    ],
)
def test_an_arrow_forward_inside_a_package_is_allowed(
    tmp_path: Path, place: str, code: str
) -> None:
    write(tmp_path, place, code)
    assert arrows_back_inside(tmp_path) == []


def test_a_folder_without_a_place_inside_its_package_is_found(tmp_path: Path) -> None:
    write(tmp_path, "search/more/text.py", "")
    assert arrows_back_inside(tmp_path) == [
        "search/more/text.py: search/more has no place in the order"
    ]
