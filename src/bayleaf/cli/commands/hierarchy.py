"""``bayleaf hierarchy``: value hierarchies learned from a table, or checked."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import App

from bayleaf.cli.display import BAD_INPUT, print_json, print_json_text
from bayleaf.cli.options import (
    USUAL_FORMAT,
    Drop,
    FormatOptions,
    Json,
    Strings,
    Table,
    TableOutput,
    Weight,
)
from bayleaf.wording import name_list, quoted, shown_name, visible

if TYPE_CHECKING:
    from bayleaf.cli.table_reading import TrainingColumns
    from bayleaf.data.domain import Variable
    from bayleaf.data.tables.columns import PlainColumn
    from bayleaf.data.value_hierarchy import ValueHierarchy

# Larger numbers of cuts are told as powers of two.
_MANY_CUTS = 1_000_000

hierarchy = App(
    name="hierarchy",
    help="""Learn or check value hierarchies, which name groups of a column's values.

    Example: `bayleaf hierarchy learn heart.csv --drop disease -o hierarchies.json`
    """,
)


@hierarchy.command
def learn(
    data: Table,
    *,
    output: TableOutput = "-",
    column: Strings = (),
    drop: Drop = (),
    weight: Weight = None,
    form: FormatOptions = USUAL_FORMAT,
    linkage: Literal["information", "hamming"] = "information",
    linkage_arity: Literal["binary", "multiway"] = "binary",
    discretizer: Literal[
        "equal_frequency", "equal_width", "standard_deviation"
    ] = "equal_frequency",
) -> int:
    """Learn which values of a column say the same of the other columns.

    Example: `bayleaf hierarchy learn heart.csv --drop disease -o hierarchies.json`

    Parameters
    ----------
    output
        File of hierarchies to write; - for standard output.
    column
        Column whose hierarchy is wanted; may be repeated. By default all with more
        than two values.
    linkage
        Join values that lose least information on the other columns, or those whose
        most frequent values of the other columns differ least.
    linkage_arity
        Join two groups in each step, or all that are about as close.
    discretizer
        How columns of numbers are cut.
    """
    from bayleaf.cli.table_reading import training_table
    from bayleaf.data.fitted_hierarchies import hierarchies_text
    from bayleaf.io.atomic import check_writable, write_text

    if output != "-":
        check_writable(output)
    table = training_table(data, None, drop=drop, weight=weight, form=form)
    trees = _learned(table, weight, column, linkage, linkage_arity, discretizer)
    text = hierarchies_text(trees)
    if output == "-":
        print_json_text(text.removesuffix("\n"))
    else:
        write_text(output, text)
    return 0


@hierarchy.command
def check(
    hierarchies: Path,
    data: Table,
    *,
    form: FormatOptions = USUAL_FORMAT,
    json: Json = False,
) -> int:
    """Check whether value hierarchies fit the columns of a table.

    Example: `bayleaf hierarchy check hierarchies.json heart.csv`

    Parameters
    ----------
    hierarchies
        File of hierarchies: an object with {root: what is below it} for each column.
    """
    from bayleaf.cli.table_reading import read_table
    from bayleaf.data.fitted_hierarchies import resolve_hierarchies
    from bayleaf.data.tables.frames import plain_columns

    parts = plain_columns(read_table(data, form))
    columns = {one.name: one for one in parts}
    trees = resolve_hierarchies(hierarchies, columns)
    reports = [_report(columns[name], tree) for name, tree in trees.items()]
    if json:
        print_json(reports)
    else:
        for report in reports:
            print("\n".join(_lines(report)))
    return BAD_INPUT if any("error" in report for report in reports) else 0


def _learned(
    table: TrainingColumns,
    weight: str | None,
    wanted: tuple[str, ...],
    linkage: Any,
    linkage_arity: Any,
    discretizer: str,
) -> dict[str | int, ValueHierarchy]:
    """The hierarchies of the wanted columns, from the rows that count."""
    import numpy as np

    from bayleaf.counts.table_counts import RowCounts
    from bayleaf.data.column_reading import EncoderRules
    from bayleaf.data.discretizers import resolve_discretizer
    from bayleaf.data.encoder_learning import learn_encoder
    from bayleaf.data.tables.columns import select_rows
    from bayleaf.data.tables.frames import to_columns
    from bayleaf.search.hierarchy_learning import learn_hierarchies
    from bayleaf.wording import near_names

    features = table.features
    weights = np.ones(features.num_rows) if table.weights is None else table.weights
    if not (weights >= 0).all() or not np.isfinite(weights).all() or not weights.any():
        raise ValueError(
            f"the weight column {quoted(weight)} must hold finite numbers >= 0, not "
            "all zero"
        )
    parts = select_rows(to_columns(features), weights > 0)
    assert isinstance(parts, list)
    names = [str(part.name) for part in parts]
    for name in wanted:
        if name not in names:
            raise ValueError(
                f"there is no column {quoted(name)}; {near_names(name, names)}"
            )
    rules, cuts = EncoderRules(), resolve_discretizer(discretizer)
    encoder, codes = learn_encoder(parts, None, weights[weights > 0], cuts, rules)
    counts = RowCounts(codes, has_class=False)
    trees = learn_hierarchies(counts, encoder.domain, linkage, linkage_arity)
    return {
        variable.name: tree
        for variable, tree in zip(encoder.domain, trees, strict=True)
        if (variable.name in wanted if wanted else variable.n_states > 2)
    }


def _report(column: PlainColumn, tree: ValueHierarchy) -> dict[str, Any]:
    """What there is to say of one column and its hierarchy."""
    from bayleaf.data.fitted_hierarchies import fit_hierarchy, leaf_states
    from bayleaf.data.value_hierarchy import n_cuts

    groups = set(tree.inner_nodes)
    cells = _cells(column)
    try:
        variable = _variable(column, [v for v in cells if v not in groups], tree)
        with warnings.catch_warnings():
            # What is left out is told in the report.
            warnings.simplefilter("ignore")
            fitted = fit_hierarchy(tree, variable)
    except ValueError as error:
        return {"column": column.name, "error": str(error)}
    meant = leaf_states(tree, variable)
    return {
        "column": column.name,
        "states": len(fitted.states),
        "groups": len(fitted.inner_nodes),
        "cuts": n_cuts(fitted),
        "left_out": [s for s in variable.states if s not in set(meant.values())],
        "not_in_table": [leaf for leaf in tree.states if leaf not in meant],
        "cells_naming_groups": sum(cells[v] for v in cells if v in groups),
    }


def _cells(column: PlainColumn) -> dict[Any, int]:
    """How often each value occurs in a column."""
    import numpy as np

    values = column.distinct()
    present = values.indices[values.indices >= 0]
    counts = np.bincount(present, minlength=len(values.values))
    return {
        value: int(count)
        for value, count in zip(values.values, counts, strict=True)
        if count
    }


def _variable(column: PlainColumn, values: list[Any], tree: ValueHierarchy) -> Variable:
    """The variable that a column becomes beside its hierarchy."""
    from bayleaf.data.class_labels import sorted_positions
    from bayleaf.data.domain import Variable, numeric_variable
    from bayleaf.data.fitted_hierarchies import has_range_leaves, range_cut_points

    if not any(isinstance(value, str | bool) for value in values) and (
        has_range_leaves(tree)
    ):
        return numeric_variable(column.name, range_cut_points(tree))
    states = tuple(values[i] for i in sorted_positions(values))
    return Variable(column.name, states)


def _lines(report: dict[str, Any]) -> list[str]:
    """A report as a person reads it."""
    name = shown_name(report["column"])
    if "error" in report:
        return [f"{name}: does not fit", f"  {visible(report['error'])}"]
    cuts = report["cuts"]
    told = f"{cuts}" if cuts <= _MANY_CUTS else f"about 2^{cuts.bit_length() - 1}"
    lines = [
        f"{name}: states: {report['states']}, groups: {report['groups']}, cuts: {told}"
    ]
    if report["left_out"]:
        lines.append(f"  right below the root: {name_list(report['left_out'])}")
    if report["not_in_table"]:
        lines.append(f"  not in the table: {name_list(report['not_in_table'])}")
    if report["cells_naming_groups"]:
        lines.append(f"  cells that name groups: {report['cells_naming_groups']}")
    return lines
