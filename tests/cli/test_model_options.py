"""Options of models are those of the estimators; --help shows them by model."""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest
from cyclopts import Parameter

from bayleaf.classifiers import CLASSIFIERS
from bayleaf.cli import model_options
from bayleaf.cli.model_options import MODELS, REGRESSOR, ModelOptions
from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator
from bayleaf.regression.averaged_kdb_regressor import AveragedKDBRegressor
from offenders import check_each

PARAMETER_OF = {
    "categorical": "categorical_features",
    "ordered": "ordered_features",
    "seed": "random_state",
}
# An option of the command line alone.
SPELLED = {"alpha": "smoothing"}

# The command line must not wait for these before it has read its words.
LARGE = {"numpy", "pyarrow", "sklearn", "scipy", "narwhals", "pandas"}


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    path = Path(__file__).parents[2] / "tools" / "write_model_options.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_list_of_options_is_current(tool: ModuleType) -> None:
    listed = Path(model_options.__file__).with_suffix(".json").read_text("utf-8")
    assert json.loads(listed) == tool.model_options(), "run make options"


@pytest.mark.parametrize(
    ("types", "text", "shown"),
    [
        ("int, default=1", "Number of starts. Ten are better.", "Number of starts."),
        (
            '{"a", "b", "c"}, default="a"',
            'Whether rows count; only with ``numeric="gaussian"``.',
            "a, b or c: whether rows count; only with --numeric gaussian.",
        ),
        (
            "float",
            "At most `max_k`, worth ``exp(-p * 2)``.",
            "At most --max-k, worth `exp(-p * 2)`.",
        ),
    ],
)
def test_help_is_the_first_sentence_of_a_description(
    tool: ModuleType, types: str, text: str, shown: str
) -> None:
    assert tool.sentence(types, text) == shown


def test_help_needs_no_large_library() -> None:
    code = "import sys; from bayleaf.cli import main; main(['--help'])"
    code += "; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert "Commands" in done.stdout
    assert LARGE.isdisjoint(done.stderr.split())


@cache
def hints() -> dict[str, Any]:
    """The types of all settings, with their panels."""
    return get_type_hints(ModelOptions, include_extras=True)


def panels_of(setting: str) -> set[str]:
    """The models in whose panels a setting stands."""
    hint = hints()[setting]
    groups = [
        group
        for mark in hint.__metadata__
        if isinstance(mark, Parameter) and isinstance(mark.group, list | tuple)
        for group in mark.group
    ]
    names = [group.name.removeprefix("Settings of ") for group in groups]
    return {model for name in names for model in name.split(", ")}


def test_a_setting_is_in_the_panels_of_the_models_that_have_it() -> None:
    kinds = {
        **CLASSIFIERS,
        REGRESSOR: AveragedKDBRegressor,
        "--density": BayesianNetworkEstimator,
    }

    def check(setting: str) -> None:
        parameter = {**PARAMETER_OF, **SPELLED}.get(setting, setting)
        having = {
            name
            for name, kind in kinds.items()
            if parameter in inspect.signature(kind).parameters
        }
        if panels_of(setting) == {"every model"}:
            # Density models and the regressor have no use for some.
            assert len(having) >= len(kinds) - 2
        else:
            assert panels_of(setting) == having

    check_each([field.name for field in fields(ModelOptions)], check)


def titles(text: str) -> list[str]:
    """Panels of a help page, in their order."""
    return re.findall(r"╭─ (.*?) ─", text)


# Help pages take long to print.
QUICK = {("auto", False), ("network", False), (REGRESSOR, True)}


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("model", "joined"),
    [
        pytest.param(*case, marks=[] if case in QUICK else pytest.mark.slow)
        for case in product([*MODELS, REGRESSOR], [False, True])
    ],
)
def test_settings_of_the_model_asked_for_come_first(
    run: Callable[..., object], model: str, joined: bool
) -> None:
    words = [f"--model={model}"] if joined else ["--model", model]
    found = titles(run("fit", *words, "--help").out)  # type: ignore[attr-defined]
    assert found[0] == "Parameters"
    assert model in found[1].removeprefix("Settings of ").split(", ")
    assert found[2] == "Settings of every model"
    assert len(found) == len(set(found)) == len([*MODELS, REGRESSOR]) + 2


def test_settings_of_density_models_come_first(run: Callable[..., object]) -> None:
    found = titles(run("fit", "--density", "--help").out)  # type: ignore[attr-defined]
    assert found[1:3] == ["Settings of network, --density", "Settings of every model"]


def test_without_a_model_settings_of_every_model_come_first(
    run: Callable[..., object],
) -> None:
    # What one call asks for is forgotten by the next.
    assert run("check", "--density").code == 2  # type: ignore[attr-defined]
    found = titles(run("fit", "--help").out)  # type: ignore[attr-defined]
    assert found[:3] == ["Parameters", "Settings of every model", "Settings of a2de"]


def test_every_setting_is_shown(run: Callable[..., object]) -> None:
    shown = run("fit", "--help").out  # type: ignore[attr-defined]
    for field in fields(ModelOptions):
        assert f"--{field.name.replace('_', '-')} " in shown
