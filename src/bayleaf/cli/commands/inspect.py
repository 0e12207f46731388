"""``bayleaf inspect``: what a model file holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayleaf.cli.display import print_file, print_json, show
from bayleaf.cli.options import (
    USUAL_FORMAT,
    Flag,
    FormatOptions,
    Json,
    ModelFile,
    Source,
    refuse_options,
)
from bayleaf.wording import name_list, near_names, quoted, visible

if TYPE_CHECKING:
    from bayleaf.models.class_model import ClassModel
    from bayleaf.models.predictor import Predictor


def inspect(
    model: ModelFile,
    *,
    table: str | None = None,
    shape: str | None = None,
    rules: Flag = False,
    hierarchy: str | None = None,
    structure: Literal["text", "dot"] | None = None,
    importance: Source | None = None,
    target: str | None = None,
    form: FormatOptions = USUAL_FORMAT,
    json: Json = False,
) -> int:
    """Show a model: its summary, a table, shape, rules, hierarchy, arcs, importance.

    Example: `bayleaf inspect heart.json --table chest_pain`

    Parameters
    ----------
    table
        Variable whose probability table is shown; of a density model, its tree or
        the groups of its table as well.
    shape
        Feature whose contribution to each class is shown, state by state (auto).
    rules
        Show the states of the latent variables as rules over features (hnb).
    hierarchy
        Variable whose value hierarchy is shown; of network files, too.
    structure
        Show the arcs, as text or in Graphviz' DOT language.
    importance
        CSV or Parquet file of rows with their class: how much worse these are
        predicted when a feature is unknown.
    target
        Its column with the class; by default the one the model was learned with.
    """
    from bayleaf.loading import load_estimator, read_model_or_network

    of_classifiers = {"--shape": shape, "--rules": rules, "--importance": importance}
    saved: Any = read_model_or_network(model)
    kind = getattr(saved, "kind", "network")
    if kind == "regressor":
        regressor: Any = load_estimator(model)
        others = {"--hierarchy": hierarchy, "--structure": structure}
        refuse_options(
            {"--table": table, **of_classifiers, **others, "--target": target}
        )
        show(regressor.summary(), as_json=json)
    elif hierarchy is not None:
        _show_hierarchy(model, hierarchy, as_json=json)
    elif kind in {"density", "network"}:
        for name, value in of_classifiers.items():
            if value:
                what = "networks" if kind == "network" else "density models"
                raise ValueError(f"{name} belongs to classifiers, not {what}")
        _show_network(
            saved if kind == "network" else load_estimator(model),
            table,
            structure,
            as_json=json,
        )
    else:
        if target is not None and importance is None:
            raise ValueError("--target belongs to --importance; give both")
        if importance is not None:
            _show_importance(saved.predictor, importance, target, form, as_json=json)
        else:
            _show_classifier(saved, table, shape, rules, structure, as_json=json)
    return 0


def _show_network(
    model: Any, table: str | None, structure: str | None, *, as_json: bool
) -> None:
    """Print a network or density model: its summary, one distribution, or its arcs."""
    from bayleaf.describe.local_structure_text import describe_distribution
    from bayleaf.io.formats.dot import to_dot

    is_fitted = hasattr(model, "network_")
    network = model.network_ if is_fitted else model
    if table is not None:
        names = {str(name): name for name in network.domain.names}
        text = describe_distribution(network, _named("variable", table, names))
        if as_json:
            print_json({"text": text})
        else:
            print(text)
    elif structure == "dot":
        print_file(to_dot(network))
    elif structure is not None:
        print(network)
    elif is_fitted:
        show(model.summary(), as_json=as_json)
    elif as_json:
        variables = [
            {
                "name": variable.name,
                "states": list(variable.states),
                "parents": [network.domain.names[parent] for parent in cpd.parents],
            }
            for variable, cpd in zip(network.domain, network.cpds, strict=True)
        ]
        print_json({"variables": variables, "n_free_parameters": network.n_parameters})
    else:
        print(network)


def _show_hierarchy(model: Path, name: str, *, as_json: bool) -> None:
    """Print the groups of a variable's states, as an indented tree."""
    from bayleaf.io import read_network

    variables = {str(v.name): v for v in read_network(model).domain}
    tree = _named("variable", name, variables).hierarchy
    if tree is None:
        having = [text for text, known in variables.items() if known.hierarchy]
        raise ValueError(
            f"variable {quoted(name)} has no value hierarchy; those that have one: "
            f"{name_list(having) or 'none'}"
        )
    if as_json:
        print_json(tree.to_nested())
    else:
        print(tree)


def _show_importance(
    predictor: Predictor,
    source: str,
    target: str | None,
    form: FormatOptions,
    *,
    as_json: bool,
) -> None:
    """Print what each feature is worth in predicting the rows of a table."""
    from bayleaf.cli.table_reading import encode_batch, known_table
    from bayleaf.data.text_forms import labels_by_text
    from bayleaf.explain import importance

    domain = predictor.model.domain
    name = target or str(domain[-1].name)
    table = known_table(source, form, domain, predictor.encoder, name)
    if name not in table.column_names:
        raise ValueError(
            f"{source} has no column {quoted(name)} with the class; name it with "
            f"--target ({near_names(name, table.column_names)})"
        )
    batch = table.combine_chunks().to_batches()[0]
    encoded = encode_batch(predictor.encoder, batch, source, form=form)
    known = labels_by_text(predictor.classes.tolist())
    labels = [known.get(str(value), value) for value in table.column(name).to_pylist()]
    show(importance(predictor, encoded.rows, labels), as_json=as_json)


def _show_classifier(
    saved: Any,
    table: str | None,
    shape: str | None,
    rules: bool,
    structure: str | None,
    *,
    as_json: bool,
) -> None:
    """Print a classifier's summary or a part of it: what was asked for first."""
    from bayleaf.describe.drawing import structure_dot, structure_text
    from bayleaf.describe.fitted_summary import summarize
    from bayleaf.models.latent_rules import rules_text

    predictor, model = saved.predictor, saved.predictor.model
    if table is not None:
        _show_table(model, table, as_json=as_json)
    elif shape is not None:
        features = {str(known): i for i, known in enumerate(model.domain.names[:-1])}
        feature = _named("feature", shape, features)
        classes = tuple(predictor.classes.tolist())
        show(model.feature_shape(feature, classes), as_json=as_json)
    elif rules:
        reports = model.latent_reports
        if reports is None:
            raise ValueError(
                "--rules needs latent variables that are rules, which the hnb model "
                "has with any --search but bic"
            )
        if as_json:
            print_json([report.to_dict() for report in reports])
        else:
            print(rules_text(reports, model.domain[-1]))
    elif structure is not None:
        if as_json:
            raise ValueError(
                "--structure prints text; leave out --json, which lists the arcs "
                "without it"
            )
        if structure == "dot":
            print_file(structure_dot(model))
        else:
            print(structure_text(model))
    else:
        name, total = saved.estimator, saved.log_likelihood
        summary = summarize(name, predictor, total, {}, saved.fitted)
        show(summary, as_json=as_json)


def _show_table(model: ClassModel, name: str, *, as_json: bool) -> None:
    """Print the probability table of one variable."""
    from rich.table import Table

    from bayleaf.cli.console import ShownConsole
    from bayleaf.describe.drawing import table_rows

    header, rows = table_rows(model, name)
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
        return
    shown = Table()
    for column in header:
        # A name is broken over lines, not cut off, where the terminal is narrow.
        shown.add_column(visible(column), overflow="fold")
    for row in rows:
        shown.add_row(
            *(f"{c:.4f}" if isinstance(c, float) else visible(c) for c in row)
        )
    ShownConsole().print(shown)


def _named(kind: str, name: str, known: Mapping[str, Any]) -> Any:
    """What a name stands for; ValueError with names close to it if it is unknown."""
    if name not in known:
        raise ValueError(
            f"there is no {kind} {quoted(name)}; {near_names(name, known)}"
        )
    return known[name]
