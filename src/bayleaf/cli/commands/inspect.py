"""``bayleaf inspect``: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from bayleaf.cli.options import Source
from bayleaf.cli.showing.found import print_file, print_json, tell
from bayleaf.wording import name_list, near_names, quoted, visible

if TYPE_CHECKING:
    from bayleaf.models.class_model import ClassModel
    from bayleaf.models.predictor import Predictor


def inspect(
    model: Path,
    *,
    table: str | None = None,
    shape: str | None = None,
    rules: Annotated[bool, Parameter(negative="")] = False,
    hierarchy: str | None = None,
    structure: Literal["text", "dot"] | None = None,
    importance: Source | None = None,
    target: str | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Show a model: its summary, a table, shape, rules, hierarchy, arcs, importance.

    Example: `bayleaf inspect heart.json --table chest_pain`

    Parameters
    ----------
    model
        Model file.
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
    json
        Print JSON.
    """
    from bayleaf.cli.regression.fitted import print_summary, refuse_options
    from bayleaf.describe.drawing import structure_dot, structure_text
    from bayleaf.describe.summary import summarize
    from bayleaf.io import read_model
    from bayleaf.io.native.density import is_density
    from bayleaf.io.native.regression import is_regression

    if is_regression(model):
        refuse_options(
            {
                "--table": table,
                "--shape": shape,
                "--rules": rules,
                "--hierarchy": hierarchy,
                "--structure": structure,
                "--importance": importance,
                "--target": target,
            }
        )
        print_summary(model, as_json=json)
        return 0
    if hierarchy is not None:
        return _show_hierarchy(model, hierarchy, as_json=json)
    if is_density(model):
        for name, value in (
            ("--shape", shape),
            ("--rules", rules),
            ("--importance", importance),
        ):
            if value:
                raise ValueError(f"{name} belongs to classifiers, not density models")
        return _show_density(model, table, structure, as_json=json)
    saved = read_model(model)
    class_model = saved.predictor.model
    if importance is not None:
        return _show_importance(saved.predictor, importance, target, as_json=json)
    if target is not None:
        raise ValueError("--target belongs to --importance; give both")
    if table is not None:
        return _show_table(class_model, table, as_json=json)
    if shape is not None:
        return _show_shape(saved.predictor, shape, as_json=json)
    if rules:
        return _show_rules(class_model, as_json=json)
    if structure is not None and json:
        raise ValueError(
            "--structure prints text; leave out --json, which lists the arcs without it"
        )
    if structure is not None:
        if structure == "dot":
            print_file(structure_dot(class_model))
        else:
            print(structure_text(class_model))
        return 0
    summary = summarize(saved.classifier, saved.predictor, saved.log_likelihood, {})
    if json:
        print_json(summary.to_dict())
    else:
        print(summary)
    return 0


def _show_density(
    path: Path, table: str | None, structure: str | None, *, as_json: bool
) -> int:
    """Print a density model: its summary, one distribution, or its arcs."""
    from bayleaf.io.formats.dot import to_dot
    from bayleaf.loading import load_density

    estimator = load_density(path)
    network = estimator.network_
    if table is not None:
        names = {str(name): name for name in network.domain.names}
        if table not in names:
            raise ValueError(
                f"there is no variable {quoted(table)}; {near_names(table, names)}"
            )
        text = estimator.describe(names[table])
        if as_json:
            print_json({"text": text})
        else:
            print(text)
    elif structure is not None:
        if structure == "dot":
            print_file(to_dot(network))
        else:
            print(network)
    elif as_json:
        print_json(estimator.summary().to_dict())
    else:
        print(estimator.summary())
    return 0


def _show_hierarchy(model: Path, name: str, *, as_json: bool) -> int:
    """Print the groups of a variable's states, as an indented tree."""
    from bayleaf.cli.networks import open_network

    variables = {
        str(variable.name): variable for variable in open_network(model).domain
    }
    if name not in variables:
        raise ValueError(
            f"there is no variable {quoted(name)}; {near_names(name, variables)}"
        )
    tree = variables[name].hierarchy
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
    return 0


def _show_importance(
    predictor: Predictor, source: str, target: str | None, *, as_json: bool
) -> int:
    """Print what each feature is worth in predicting the rows of a table."""
    from bayleaf.cli.coding import encode_batch
    from bayleaf.cli.tables import read_table
    from bayleaf.explain import importance

    table = read_table(source)
    name = target or str(predictor.model.domain[-1].name)
    if name not in table.column_names:
        raise ValueError(
            f"{source} has no column {quoted(name)} with the class; name it with "
            f"--target ({near_names(name, table.column_names)})"
        )
    batch = table.combine_chunks().to_batches()[0]
    encoded = encode_batch(predictor, batch, source, lines=range(1, len(batch) + 1))
    spelled = {str(label): label for label in predictor.classes.tolist()}
    spelled |= {str(s).lower(): s for s in spelled.values() if isinstance(s, bool)}
    labels = [
        spelled.get(str(value), value) for value in table.column(name).to_pylist()
    ]
    found = importance(predictor, encoded.codes, labels)
    tell(found, as_json)
    return 0


def _show_rules(model: ClassModel, *, as_json: bool) -> int:
    """Print what the states of the latent variables mean."""
    from bayleaf.models.latents.latent_reports import rules_text

    reports = model.latent_reports
    if reports is None:
        raise ValueError("--rules belongs to the hnb model, which has latent variables")
    if as_json:
        print_json([report.to_dict() for report in reports])
    else:
        print(rules_text(reports, model.domain[-1]))
    return 0


def _show_shape(predictor: Predictor, name: str, *, as_json: bool) -> int:
    """Print what the states of one feature say of the classes."""
    model = predictor.model
    by_text = {str(known): i for i, known in enumerate(model.domain.names[:-1])}
    if name not in by_text:
        raise ValueError(
            f"there is no feature {quoted(name)}; {near_names(name, by_text)}"
        )
    found = model.feature_shape(by_text[name], tuple(predictor.classes.tolist()))
    tell(found, as_json)
    return 0


def _show_table(model: ClassModel, name: str, *, as_json: bool) -> int:
    """Print the probability table of one variable."""
    from rich.table import Table

    from bayleaf.cli.showing.console import ShownConsole
    from bayleaf.describe.drawing import table_rows

    header, rows = table_rows(model, name)
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
        return 0
    shown = Table()
    for column in header:
        # A name is broken over lines, not cut off, where the terminal is narrow.
        shown.add_column(visible(column), overflow="fold")
    for row in rows:
        shown.add_row(
            *(f"{c:.4f}" if isinstance(c, float) else visible(c) for c in row)
        )
    ShownConsole().print(shown)
    return 0
