"""Settings of estimators as options, their panels in --help, and estimators from them.

``model_options.json`` lists the options with their types, models and help. It is made
from signatures and docstrings of the estimators by `make options`, so that a command
line is read without them.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import make_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from bayleaf.cli.options import unquoted
from bayleaf.wording import near_names, quoted, split_names

_LISTED = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
# Parameter, type, help and models of each option, by its name with underscores.
OPTIONS: dict[str, dict[str, Any]] = _LISTED["options"]
MODELS: tuple[str, ...] = tuple(_LISTED["classifiers"])
# Tables of the others grow with the cube of the number of features.
EVALUATED = tuple(model for model in MODELS if model != "a2de")
# The model of a numeric target, and the one without a target.
REGRESSOR, DENSITY = "regressor", "--density"
# Models of a command that takes several.
Models = Annotated[
    tuple[str, ...], Parameter(name=["--model", "--models"], negative="")
]
_TYPES = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "strs": tuple[str, ...],
    "int or auto": int | Literal["auto"],
    "float or auto": float | Literal["auto"],
}
# Both learn networks without a class in their middle, by the same search.
_NETWORKS = ("network", DENSITY)
_EVERY_MODEL = "every model"
# Cyclopts asks a panel for its place when it prints help, without the words.
_asked_for: ContextVar[tuple[str, ...]] = ContextVar("_asked_for", default=())


def put_first(words: Sequence[str]) -> None:
    """Let the panels of the models that a command line names come first in its help."""
    models = [DENSITY] if DENSITY in words else []
    for place, word in enumerate(words):
        option, joined, value = word.partition("=")
        if option in ("--model", "--models"):
            named = [value] if joined else words[place + 1 : place + 2]
            models += split_names(named, ())
    _asked_for.set(tuple(models))


def model_names(texts: Sequence[str]) -> list[str]:
    """Names of models, in texts where commas may join several.

    ValueError if one is empty or comes twice.
    """
    names = split_names(texts, ())
    for name in names:
        if not name:
            raise ValueError(
                "--model must be names joined by commas, such as nb,tan, got "
                f"{quoted(','.join(texts))}"
            )
        if names.count(name) > 1:
            raise ValueError(
                f"--model names {quoted(name)} twice; name each model once"
            )
    return names


def _place(panel: Group) -> tuple[int, str]:
    """The sort key of a panel: models asked for, what all models have, other models."""
    models = panel.name.removeprefix("Settings of ")
    if set(models.split(", ")) & set(_asked_for.get()):
        return 1, models
    return (2 if models == _EVERY_MODEL else 3), models


def _field(option: str) -> tuple[str, Any, Any]:
    """An option as a field of a dataclass: its name, its type with help, its default.

    It is in a panel for each of its models, or in that of every model.
    """
    listed = OPTIONS[option]
    panels = [_EVERY_MODEL]
    if len(listed["models"]) < len(MODELS):
        names = (
            ", ".join(_NETWORKS) if model in _NETWORKS else model
            for model in listed["models"]
        )
        panels = list(dict.fromkeys(names))
    parameter = Parameter(
        help=listed["help"],
        group=[Group(f"Settings of {panel}", sort_key=_place) for panel in panels],
        negative="" if listed["type"] == "strs" else None,
    )
    if option == "seed":
        return option, Annotated[int, parameter], 0
    return option, Annotated[_TYPES[listed["type"]] | None, parameter], None


class _Estimators:
    """Estimators with the settings that the fields of a subclass contain."""

    seed: int

    def build(self, model: str, *, shared_only: bool = False) -> Any:
        """The estimator of a name in `MODELS`, or the regressor, with these settings.

        `shared_only` leaves out those that the model lacks instead of refusing them.
        """
        from bayleaf.classifiers import CLASSIFIERS

        if model == REGRESSOR:
            from bayleaf.regression.averaged_kdb_regressor import AveragedKDBRegressor

            return AveragedKDBRegressor(**self._parameters(model, "the regressor"))
        if model not in CLASSIFIERS:
            known = [*CLASSIFIERS, REGRESSOR]
            raise ValueError(
                f"--model must be one of {', '.join(known)}, got "
                f"{quoted(model)}; {near_names(model, known)}"
            )
        return CLASSIFIERS[model](
            **self._parameters(model, f"the {model} model", shared_only)
        )

    def build_density(self) -> Any:
        """The density estimator with these settings."""
        from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator

        return BayesianNetworkEstimator(**self._parameters(DENSITY, DENSITY))

    def build_all(self, models: Sequence[str]) -> dict[str, Any]:
        """The estimators of model names, each with the settings that it has.

        ValueError if a name is unknown, or none of the models has a given setting.
        """
        built = {name: self.build(name, shared_only=len(models) > 1) for name in models}
        for option in self._values():
            if not set(OPTIONS[option]["models"]) & set(models):
                raise _not_a_setting(option, ", ".join(models))
        return built

    def _parameters(
        self, model: str, name: str, shared_only: bool = False
    ) -> dict[str, Any]:
        """Parameters of a model's estimator, once all settings are its own."""
        parameters = {}
        for option, value in self._values().items():
            if model in OPTIONS[option]["models"]:
                parameters[OPTIONS[option]["parameter"]] = value
            elif not shared_only:
                raise _not_a_setting(option, name)
        return parameters

    def _values(self) -> dict[str, Any]:
        """The settings that were given, read from their texts, by option."""
        values = {option: getattr(self, option) for option in OPTIONS}
        values = {o: value for o, value in values.items() if value not in (None, ())}
        if {"alpha", "smoothing"} <= set(values):
            raise ValueError("give --alpha or --smoothing, not both")
        for option, read in _READERS.items():
            if option in values:
                values[option] = read(values[option])
        return values


if TYPE_CHECKING:
    ModelOptions = _Estimators
else:
    ModelOptions = Parameter(name="*")(
        make_dataclass(
            "ModelOptions",
            [_field(option) for option in OPTIONS],
            bases=(_Estimators,),
            # Cyclopts does not expand classes of the standard library.
            namespace={"__module__": __name__},
            frozen=True,
        )
    )


def _not_a_setting(option: str, models: str) -> ValueError:
    """The error of an option that models lack; it names those that have it."""
    name, having = option.replace("_", "-"), ", ".join(OPTIONS[option]["models"])
    return ValueError(f"--{name} is no setting of {models}; it belongs to {having}")


def _lidstone(alpha: float) -> Any:
    """The smoothing that adds a pseudo-count."""
    from bayleaf.cpds.smoothing import Lidstone

    return Lidstone(alpha)


def _model_size(text: str) -> int:
    """A number of bytes from text such as 50MB."""
    from bayleaf.data.memory import size_in_bytes

    return size_in_bytes(text, "--max-model-size")


def _orders(texts: Sequence[str]) -> dict[str, list[Any] | str]:
    """Orders of categories from texts such as size=S<M<L, or size alone.

    An order of texts is taken apart by its column's values, which may contain ``<``,
    unless they are in quotes.
    """
    from bayleaf.data.text_forms import read_numbers

    orders: dict[str, list[Any] | str] = {}
    for text in texts:
        name, given, order = text.partition("=")
        (parts,) = csv.reader([order], delimiter="<", skipinitialspace=True)
        parts = [part.strip() for part in parts]
        is_quoted = '"' in order
        if given and (len(parts) < 2 or not order.strip("< ")):
            raise ValueError(
                "--ordered should have the form column=least<next<greatest, got "
                f"{quoted(text)}"
            )
        numbers = read_numbers(parts) if all(parts) else None
        levels = parts if is_quoted else order
        orders[unquoted(name)] = (levels if numbers is None else list(numbers)) or []
    return orders


def _edges(option: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Arcs from texts such as age->income."""
    edges = []
    for text in texts:
        parent, arrow, child = text.partition("->")
        if not (arrow and parent.strip() and child.strip()):
            raise ValueError(
                f"{option} should have the form parent->child, got {quoted(text)}"
            )
        edges.append((unquoted(parent), unquoted(child)))
    return edges


def _beliefs(texts: Sequence[str]) -> dict[tuple[str, str], float]:
    """Prior probabilities of arcs from texts such as age->income=0.9."""
    from bayleaf.data.text_forms import read_numbers

    beliefs: dict[tuple[str, str], float] = {}
    for text in texts:
        edge, _, belief = text.rpartition("=")
        numbers = read_numbers([belief])
        if not edge or numbers is None:
            raise ValueError(
                "--arc-prior should have the form parent->child=probability, got "
                f"{quoted(text)}"
            )
        beliefs[_edges("--arc-prior", [edge])[0]] = float(numbers[0])
    return beliefs


def _directions(text: str) -> dict[str, int]:
    """Directions of monotone features from text such as age=+,income=-."""
    signs = {"+": 1, "+1": 1, "-": -1, "-1": -1}
    directions: dict[str, int] = {}
    for part in text.split(","):
        name, _, direction = part.rpartition("=")
        if not name.strip() or unquoted(direction) not in signs:
            raise ValueError(
                "--monotone should have the form column=+ or column=-, several with "
                f"commas between them, got {quoted(text)}"
            )
        directions[unquoted(name)] = signs[unquoted(direction)]
    return directions


def _name_lists(option: str, order: str, text: str) -> list[list[str]]:
    """Lists from text such as age,sex;smoking, or from a file of such lines or JSON."""
    path = Path(text)
    if not path.is_file():
        return _names_of_lines(option, order, text.split(";"), text)
    content = path.read_text(encoding="utf-8-sig")
    if not content.lstrip().startswith("["):
        return _names_of_lines(option, order, content.splitlines(), path.name)
    try:
        lists = json.loads(content)
    except ValueError as error:
        raise ValueError(f"file {quoted(path.name)} holds no JSON: {error}") from None
    if not all(isinstance(names, list) for names in lists):
        raise ValueError(
            f"file {quoted(path.name)} should hold a list of lists of column names"
        )
    return [[str(name) for name in names] for names in lists]


def _names_of_lines(
    option: str, order: str, lines: Sequence[str], source: str
) -> list[list[str]]:
    """A list per line, names separated by commas; blank lines are left out."""
    lists = [
        [name.strip() for name in line.split(",")] for line in lines if line.strip()
    ]
    if not lists or not all(name for names in lists for name in names):
        raise ValueError(
            f"{option} should have the form name,name;name{order}, or name a file of "
            f"such lines, got {quoted(source)}"
        )
    return lists


def _architecture(text: str) -> tuple[int, ...] | str:
    """An architecture from text such as 2-2; a lone word is left to the estimator."""
    widths = text.split("-")
    if not any(character.isdigit() for character in text):
        return text
    if not all(width.isascii() and width.isdigit() for width in widths):
        raise ValueError(
            "--architecture must be numbers of children joined by hyphens, such as "
            f"2-2, got {quoted(text)}"
        )
    return tuple(map(int, widths))


# How the texts of options with a form of their own are read.
_READERS: dict[str, Callable[[Any], Any]] = {
    "alpha": _lidstone,
    "architecture": _architecture,
    "arc_prior": _beliefs,
    "categorical": list,
    "forbidden_edges": partial(_edges, "--forbidden-edges"),
    "max_model_size": _model_size,
    "monotone": _directions,
    "ordered": _orders,
    "required_edges": partial(_edges, "--required-edges"),
    "tiers": partial(_name_lists, "--tiers", ", the earliest first"),
    "latents": partial(_name_lists, "--latents", ""),
    "required_joins": partial(_name_lists, "--required-joins", ""),
    "forbidden_joins": partial(_name_lists, "--forbidden-joins", ""),
}
