"""Settings of estimators as options of the command line.

    python tools/write_model_options.py src/bayleaf/cli/model_options.json

reads the signatures and docstrings of all estimators and writes what help pages and
parsing need, so that the command line starts without scikit-learn.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

from bayleaf.classifiers import CLASSIFIERS
from bayleaf.cpds.smoothing import SMOOTHINGS_BY_NAME
from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator
from bayleaf.regression.averaged_kdb_regressor import AveragedKDBRegressor

DENSITY, NETWORK = "--density", "network"
ESTIMATORS: dict[str, Any] = {
    **CLASSIFIERS,
    "regressor": AveragedKDBRegressor,
    DENSITY: BayesianNetworkEstimator,
}
# Parameters of so many estimators are settings of every model; one or two lack them.
_SHARED = len(ESTIMATORS) - 2
# Parameters that a command line has no form for, or seldom a use.
LEFT_OUT = {
    *("class_prior", "fit_prior", "loss", "max_table_cells", "verbose", "cache_size"),
    *("theta_unit", "weights", "linear_families", "correction", "class_trees", "trees"),
    *("max_rows", "n_bins", "expert", "structural"),
}
# Parameters that are written in a form of their own: name of the option, type, help.
OWN_FORMS = {
    "architecture": (
        "architecture",
        "str",
        "Children of the gates of each level, such as 4 or 2-2, or auto.",
    ),
    "arc_prior": (
        "arc_prior",
        "strs",
        "How probable an arc is thought to be, such as age->income=0.9; may be "
        "repeated.",
    ),
    "categorical_features": (
        "categorical",
        "strs",
        "Columns of numbers that are nominal; others are then numeric.",
    ),
    "class_weight": (
        "class_weight",
        "str",
        "balanced: weigh rows so that all classes have the same weight; the prior, and "
        "so the probabilities, shift with it.",
    ),
    "discretizer": (
        "discretizer",
        "str",
        "mdlp, standard_deviation, equal_frequency or equal_width: how cut points of "
        "numeric columns are found.",
    ),
    "forbidden_edges": (
        "forbidden_edges",
        "strs",
        "Arc that must not be there; may be repeated.",
    ),
    "hierarchies": ("hierarchies", "str", "File of value hierarchies."),
    "latents": (
        "latents",
        "str",
        "Latent variables made before the search, each by the columns below it, such "
        "as a,b;a,b,c, inner ones first, or a file with a line for each.",
    ),
    "required_joins": (
        "required_joins",
        "str",
        "Pairs of columns to be below one latent variable, such as a,b;c,d, or a file "
        "with a line for each.",
    ),
    "forbidden_joins": (
        "forbidden_joins",
        "str",
        "Pairs of columns that no latent variable may be above, such as a,b;c,d, or a "
        "file with a line for each.",
    ),
    "local_score": (
        "local_score",
        "str",
        "mdl, bic, aic, bdeu or k2: what the search makes large.",
    ),
    "max_model_size": (
        "max_model_size",
        "str",
        "Memory that all networks may take, such as 50MB; 134 MB by default.",
    ),
    "missing": (
        "missing",
        "str",
        "marginalize, state, drop or error: missing cells are summed out, are a state "
        "of their own, leave their rows out of training, or are refused; em for "
        "expectation maximisation (network, --density).",
    ),
    "monotone": (
        "monotone",
        "str",
        "Columns along which the second class gains or loses, such as age=+,income=-.",
    ),
    "n_jobs": ("n_jobs", "int", "Threads; -1 means all cores."),
    "ordered_features": (
        "ordered",
        "strs",
        "Column of ordered categories, such as size or size=S<M<L; may be repeated. "
        "Categories that contain < are found in the column, or written in quotes.",
    ),
    "random_state": ("seed", "int", "Seed of everything random."),
    "required_edges": (
        "required_edges",
        "strs",
        "Arc that must be there, such as age->income; may be repeated.",
    ),
    "search": (
        "search",
        "str",
        "top_pairs, algorithm3, hill_climbing, significance, bic or given: how latent "
        "variables are found.",
    ),
    "smoothing": (
        "smoothing",
        "str",
        f"{', '.join(SMOOTHINGS_BY_NAME)} or auto.",
    ),
    "tiers": (
        "tiers",
        "str",
        "Columns from the earliest to the latest, such as age,sex;smoking, or a file "
        "with a line for each tier, or a JSON list of lists. No arc leads to an "
        "earlier tier.",
    ),
}
# Options that write another parameter: that parameter, type, help.
SHORT_FORMS = {
    "alpha": (
        "smoothing",
        "float",
        "Pseudo-count added to each cell, in place of --smoothing.",
    )
}


def model_options() -> dict[str, Any]:
    """The names of all classifiers, and every option: parameter, models, type, help."""
    models: dict[str, list[str]] = {}
    for model, kind in ESTIMATORS.items():
        for name in inspect.signature(kind).parameters:
            if name not in LEFT_OUT:
                models.setdefault(name, []).append(model)
    options: dict[str, Any] = {}
    # Settings of single models come first, in the order of the signatures.
    for name in sorted(models, key=lambda name: min(len(models[name]), _SHARED)):
        for option, (parameter, kind, text) in SHORT_FORMS.items():
            if parameter == name:
                options[option] = entry(parameter, models[name], kind, text)
        if name in OWN_FORMS:
            option, kind, text = OWN_FORMS[name]
            options[option] = entry(name, models[name], kind, text)
        else:
            kind, text = type_of(name, models[name]), help_of(name, models[name])
            options[name] = entry(name, models[name], kind, text)
    return {"classifiers": list(CLASSIFIERS), "options": options}


def entry(parameter: str, models: list[str], kind: str, text: str) -> dict[str, Any]:
    """What the command line is given of one option."""
    return {"parameter": parameter, "type": kind, "help": text, "models": models}


def type_of(name: str, models: list[str]) -> str:
    """The type of an option: that of the parameter, and "auto" where it may be text."""
    notes = [
        str(inspect.signature(ESTIMATORS[model]).parameters[name].annotation)
        for model in models
    ]
    words = set(re.findall(r"\w+", " ".join(notes)))
    for kind in ("int", "float"):
        if kind in words:
            return f"{kind} or auto" if "str" in words else kind
    found = next((kind for kind in ("bool", "str") if kind in words), None)
    if found is None:
        raise ValueError(f"{name} needs an entry in OWN_FORMS or LEFT_OUT")
    return found


def help_of(name: str, models: list[str]) -> str:
    """The first sentence on a parameter, for each group of models that share it."""
    documented = {model: parameter_docs(ESTIMATORS[model]) for model in models}
    if {NETWORK, DENSITY} <= set(models):
        # The classifier's docstring refers to the other for what both have.
        documented[NETWORK] = documented[DENSITY] | documented[NETWORK]
    sharing: dict[str, list[str]] = {}
    for model in models:
        sharing.setdefault(sentence(*documented[model][name]), []).append(model)
    found = " ".join(
        text if len(sharing) == 1 else f"{text.removesuffix('.')} ({', '.join(of)})."
        for text, of in sharing.items()
    )
    if type_of(name, models).endswith("or auto") and "auto" not in found:
        found = f"auto or a number: {found[0].lower()}{found[1:]}"
    defaults = {
        inspect.signature(ESTIMATORS[model]).parameters[name].default
        for model in models
    }
    (default,) = defaults if len(defaults) == 1 else (None,)
    if isinstance(default, bool):
        return found.replace("False", f"--no-{name.replace('_', '-')}")
    return found if default is None else f"{found} [default: {default}]"


def sentence(types: str, text: str) -> str:
    """The first sentence of a description, after the choices that there are."""
    first = re.split(r"(?<=\.) (?=[A-Z\"])", text)[0]
    first = re.sub(r"``(\w+)=\"?(\w+)\"?``", as_option, first)
    first = re.sub(r"`(\w+)`(?!`)", as_option, first).replace("``", "`")
    choices = re.findall(r'"(\w+)"', types.partition("}")[0]) if "{" in types else []
    if not choices:
        return first
    listed = " or ".join(filter(None, [", ".join(choices[:-1]), choices[-1]]))
    return f"{listed}: {first[0].lower()}{first[1:]}"


def as_option(match: re.Match[str]) -> str:
    """A parameter as the option of its name, with its value if there is one."""
    name, *value = match.groups()
    return " ".join([f"--{name.replace('_', '-')}", *value])


def parameter_docs(kind: type) -> dict[str, tuple[str, str]]:
    """Types and descriptions of a class's parameters, inherited ones included."""
    docs: dict[str, tuple[str, str]] = {}
    for base in reversed(kind.__mro__):
        text = inspect.cleandoc(base.__dict__.get("__doc__") or "")
        _, _, section = text.partition("Parameters\n----------\n")
        section = re.split(r"\n\n\w[\w ]*\n---", section)[0]
        for item in re.split(r"\n(?=\S)", section):
            head, _, body = item.partition("\n")
            names, _, types = head.partition(" : ")
            for name in names.split(", "):
                docs[name] = types, " ".join(body.split())
    return docs


def main() -> None:
    """Write the file that is named."""
    listed = model_options()
    # A line per option keeps differences between versions readable.
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(option, ensure_ascii=False)}"
        for name, option in listed["options"].items()
    )
    classifiers = json.dumps(listed["classifiers"])
    text = f'{{"classifiers": {classifiers},\n"options": {{\n{lines}\n}}}}\n'
    Path(sys.argv[1]).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
