"""``bayleaf check``: how each column of a table would be taken, without learning."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bayleaf.cli.display import print_file, print_json, recommend_regressor, text_width
from bayleaf.cli.model_options import REGRESSOR, ModelOptions
from bayleaf.cli.options import (
    USUAL_FORMAT,
    Drop,
    Flag,
    FormatOptions,
    Json,
    Table,
    Weight,
)

if TYPE_CHECKING:
    from bayleaf.cli.table_reading import EmptyTargets
    from bayleaf.data.column_table import ColumnFacts


def check(
    data: Table,
    *,
    target: str | None = None,
    drop: Drop = (),
    weight: Weight = None,
    form: FormatOptions = USUAL_FORMAT,
    options: ModelOptions | None = None,
    plan: Flag = False,
    json: Json = False,
) -> int:
    """Show how each column of a table is taken, before anything is learned.

    Example: `bayleaf check heart.csv --target disease`

    Parameters
    ----------
    target
        Column with the class; numbers are then cut as naive Bayes cuts them (averaged
        KDB, the default of fit, draws cut points of its own). Of a target of fractional
        numbers, they are cut as the regressor cuts them.
    plan
        Print how the texts of each column become values, in JSON that fit --plan takes.
    """
    from sklearn.utils.multiclass import type_of_target

    from bayleaf.classifiers.shared.parameters import encoder_rules
    from bayleaf.classifiers.shared.training import (
        TrainingTable,
        WeightedRows,
        class_variable,
    )
    from bayleaf.cli.table_reading import file_format, has_csv, training_table
    from bayleaf.data.column_table import ColumnTable
    from bayleaf.data.discretizers import resolve_discretizer
    from bayleaf.data.encoder_learning import Target, learn_encoder
    from bayleaf.data.files.csv_reading import called
    from bayleaf.data.files.file_facts import FileFacts
    from bayleaf.data.tables.frames import to_columns
    from bayleaf.wording import visible

    options = options or ModelOptions()
    known = None
    table, labels, weights, _, empty = training_table(
        data, target, drop=drop, weight=weight, form=form
    )
    empty.report()
    parts = to_columns(table)
    rows: Any
    if target is None:
        estimator = options.build_density()
        discretizer = resolve_discretizer(estimator.discretizer)
        rows = WeightedRows.of_table(parts, weights)
    elif type_of_target(labels.to_numpy()) == "continuous":
        estimator = options.build(REGRESSOR)
        discretizer = estimator._chosen_discretizer()
        rows = WeightedRows.of_table(parts, weights)
    else:
        estimator = options.build("nb")
        discretizer = resolve_discretizer(estimator.discretizer)
        rows = TrainingTable.from_arrays(parts, labels, weights)
        variable = class_variable(table, labels, rows.classes)
        known = Target(variable, rows.class_codes)
        recommend_regressor(rows.classes, target)
    estimator._plan = form.plan(None, is_csv=has_csv(data))
    rules = encoder_rules(estimator)
    encoder, _ = learn_encoder(rows.parts, known, rows.weights, discretizer, rules)
    columns = ColumnTable(encoder)
    classes = None if known is None else (rows.classes, rows.class_codes)
    facts_of_target = None if target is None else _target_facts(labels, classes, empty)
    described, note = file_format(table.schema)
    file = FileFacts.of_schema(table.schema)
    for sentence in file.sentences(called(data)):
        print(visible(f"bayleaf: {sentence}"), file=sys.stderr)
    if plan:
        print_file(encoder.plan.to_text())
    elif json:
        facts = {"n_rows": table.num_rows, "format": described, "note": note}
        values = {**facts, "file": file.to_dict(), **empty.to_dict()}
        if facts_of_target is not None:
            values["target"] = asdict(facts_of_target)
        print_json({**values, "columns": columns.to_dict()})
    else:
        kind = "" if file.kind == "CSV" else f" of {file.kind}"
        read_with = f", read with {described}" if described else ""
        print(f"{table.num_rows:,} rows{kind}{read_with}")
        if note:
            print(note)
        width = text_width()
        print("\n".join(columns.lines(width=width)))
        if facts_of_target is not None:
            lines = facts_of_target.lines(width, columns.name_width(width))
            print("\n".join(lines))
    return 0


def _target_facts(
    labels: Any, classes: tuple[Any, Any] | None, empty: EmptyTargets
) -> ColumnFacts:
    """How the target was read: its classes with their rows, or the range of numbers."""
    import numpy as np

    from bayleaf.data.column_table import ColumnFacts
    from bayleaf.wording import format_number

    n_distinct = labels.n_unique()
    if classes is None:
        low, high = (format_number(bound) for bound in (labels.min(), labels.max()))
        read_as, states = "target", [f"numbers from {low} to {high}"]
        changes = ("fractional numbers, for the regressor",)
    else:
        n_rows = np.bincount(classes[1], minlength=len(classes[0]))
        texts = (
            f"{label} ({n:,})" for label, n in zip(classes[0], n_rows, strict=True)
        )
        read_as, states = "class", [*texts]
        kinds = {type(label) for label in classes[0].tolist()}
        words = {str: "text", bool: "true or false"}
        named = dict.fromkeys(words.get(kind, "numbers") for kind in kinds)
        changes = (f"labels read as {' and '.join(named)}",)
    return ColumnFacts(
        labels.name, read_as, n_distinct, empty.n_empty, tuple(states), changes
    )
