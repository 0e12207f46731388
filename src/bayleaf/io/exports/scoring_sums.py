"""Classifiers that are sums of tables as PMML's regression, for scoring engines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from bayleaf.data.domain import Domain, Variable
from bayleaf.io.atomic import write_export
from bayleaf.io.exports.feature_cells import FeatureCells, feature_cells
from bayleaf.io.exports.writers import predictor_of
from bayleaf.io.formats import pmml
from bayleaf.io.formats.pmml import derived_field, state_text, xml_lines
from bayleaf.io.formats.xml_elements import xml_text
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.term_values import tabulated
from bayleaf.scoring.terms import Floats, Look, SumOut, Term, program_of
from bayleaf.wording import quoted

# Coefficients above which a document is not written.
_MAX_COEFFICIENTS = 1_000_000
# Features, and what their joint states add to each class, (*cards, n_classes).
Table = tuple[tuple[int, ...], Floats]


def write_pmml(model: Any, path: str | Path) -> None:
    """Write a classifier as PMML 4.4, which scoring engines read.

    Naive Bayes is a NaiveBayesModel; under a temperature or with ordered categories,
    and for models whose terms are tables, the document is a RegressionModel with a term
    for each joint state of a table. Under a temperature partial cases have no result: a
    row with a missing cell in a column that had none in training, or with a value not
    seen in training.

    Parameters
    ----------
    model : estimator, Predictor, SavedModel or path
        A fitted classifier, its file, or what `read_model` gives.
    path : str or Path
        An older file is replaced only when all is written.

    Raises
    ------
    ValueError
        If the terms of the model are not tables, it has a loss matrix, or names that
        PMML cannot hold.
    OSError
        If the file cannot be written.
    """
    predictor = predictor_of(model)
    is_naive_bayes = _is_naive_bayes(predictor)
    lines = (pmml.naive_bayes_lines if is_naive_bayes else _document)(predictor)
    write_export(path, "\n".join(lines) + "\n")


def _is_naive_bayes(predictor: Predictor) -> bool:
    """Whether PMML's naive Bayes can express the model."""
    model, domain = predictor.model, predictor.model.domain
    return (
        bool(model.cpds)
        and len(model.cpds) == len(domain)
        and not any(model.feature_parents(i) for i in range(len(domain) - 1))
        and not model.cpds[-1].parents
        and predictor.temperature == 1.0
        and predictor.loss is None
        and all(v.categories is None for v in domain)
        and all(reading.form != "date" for reading in predictor.encoder.readings)
    )


def _document(predictor: Predictor) -> Iterator[str]:
    """Lines of the whole file."""
    columns = feature_cells(predictor.encoder)
    if predictor.temperature != 1.0:
        # How much terms count depends on which features are known.
        columns = tuple(cells.known_only() for cells in columns)
    if any(cells.part is not None for cells in columns):
        raise ValueError(
            "PMML's dates have no parts such as months; give parts as columns of their "
            "own"
        )
    target = predictor.model.domain[-1]
    intercept, tables = _tables(predictor)
    _check_names(predictor.model.domain, columns, len(tables))
    attributes = {
        "modelName": "sum of terms",
        "functionName": "classification",
        "normalizationMethod": "softmax",
    }
    inside = chain(
        xml_lines("MiningSchema", {}, _mining_fields(columns, target.name)),
        xml_lines("Output", {}, pmml.output_fields(target)),
        xml_lines("LocalTransformations", {}, _derived_fields(columns, tables)),
        _regression_tables(predictor, intercept, tables),
    )
    yield from pmml.document(
        "sum of terms",
        len(columns) + 1,
        _data_fields(columns, target),
        xml_lines("RegressionModel", attributes, inside),
    )


# ---- the sum


def _tables(predictor: Predictor) -> tuple[Floats, list[Table]]:
    """Scores as an intercept (n_classes,) and tables; ValueError if they are not."""
    program = program_of(predictor.model)
    if predictor.loss is not None:
        raise ValueError(
            "PMML's regression predicts the most probable class, but this model has a "
            "loss matrix; fit without loss"
        )
    if program.sharing is not None:
        raise _refusal()
    options, intercept = [np.arange(card) for card in program.cards], program.base
    tables, left = list[Table](), _MAX_COEFFICIENTS
    for look in chain.from_iterable(map(_looks, program.terms)):
        if not look.features:
            intercept = intercept + look.rows[0]
            continue
        table = tabulated(look, options, len(intercept), left)
        if table is None:
            raise ValueError(
                f"as PMML this model has more than {_MAX_COEFFICIENTS:,} coefficients; "
                "fit with fewer parents"
            )
        left -= table[1].size
        tables.append(table)
    if not all(np.isfinite(own).all() for own in (intercept, *(t for _, t in tables))):
        raise ValueError(
            "PMML's regression has no term for a probability of zero, which this model "
            "holds; fit with smoothing, or write it to .onnx"
        )
    return intercept, tables


def _looks(term: Term) -> list[Look]:
    """The tables that a term is: one per feature in naive Bayes."""
    if isinstance(term, Look):
        return [term]
    if not isinstance(term, SumOut):
        raise _refusal()
    label, looks = len(term.cards) - 1, []
    for factor in term.factors:
        if {*factor.variables} - {factor.child, label}:
            raise _refusal()
        nats = term.weight * factor.logs
        if factor.child == label:
            looks.append(Look.constant(nats))
        elif label in factor.variables:
            looks.append(Look.of_states(factor.child, len(nats.T), nats.T))
    return looks


def _refusal() -> ValueError:
    return ValueError(
        "PMML holds naive Bayes, and models whose terms are tables alone; write this "
        "model to .onnx instead"
    )


# ---- fields


def _check_names(
    domain: Domain, columns: Sequence[FeatureCells], n_tables: int
) -> None:
    """Raise unless PMML can hold and distinguish all names and values."""
    made = [_code_name(variable.name) for variable in domain.variables[:-1]]
    made += [f"{name} if known" for name in made]
    made += [f"term {number}" for number in range(n_tables)]
    for variable in domain:
        if variable.categories is None:
            where = f"variable {quoted(variable.name)} has states"
            pmml.check_texts(pmml.state_texts(variable), where)
    pmml.check_fields(domain, made)
    for cells in columns:
        where = f"column {quoted(cells.column)} has values"
        pmml.check_texts([state_text(value) for value in cells.codes], where)


def _code_name(name: object) -> str:
    """The field that holds the code of a feature's state."""
    return f"state of {name}"


def _is_text(cells: FeatureCells) -> bool:
    """Whether a column's cells are text, or booleans."""
    return cells.kind == "values" and any(
        isinstance(value, str | bool | np.bool_) for value in cells.codes
    )


def _data_fields(columns: Sequence[FeatureCells], target: Variable) -> Iterator[str]:
    """Lines that describe the columns; values are listed where others are refused."""
    for cells in columns:
        kind, is_text = "double", _is_text(cells)
        if is_text:
            has_text = any(isinstance(value, str) for value in cells.codes)
            kind = "string" if has_text else "boolean"
        attributes = {
            "name": str(cells.column),
            "optype": "categorical" if is_text else "continuous",
            "dataType": kind,
        }
        listed = None
        if cells.kind == "values":
            # Values of training; numbers as intervals of one number each.
            listed = chain.from_iterable(
                xml_lines("Value", {"value": text}) if is_text else _single_number(text)
                for text in map(state_text, cells.codes)
            )
        yield from xml_lines("DataField", attributes, listed)
    yield from pmml.data_field(target)


def _single_number(text: str) -> Iterator[str]:
    """An interval of one number."""
    margins = {"leftMargin": text, "rightMargin": text}
    yield from xml_lines("Interval", {"closure": "closedClosed", **margins})


def _mining_fields(columns: Sequence[FeatureCells], target: object) -> Iterator[str]:
    """Lines that say which cells are refused."""
    for cells in columns:
        attributes = {"name": str(cells.column), "usageType": "active"}
        if cells.missing is None:
            attributes["missingValueTreatment"] = "returnInvalid"
        if cells.kind == "values":
            invalid = "returnInvalid" if cells.unknown is None else "asIs"
            attributes["invalidValueTreatment"] = invalid
        yield from xml_lines("MiningField", attributes)
    yield from xml_lines("MiningField", {"name": str(target), "usageType": "target"})


def _derived_fields(
    columns: Sequence[FeatureCells], tables: Sequence[Table]
) -> Iterator[str]:
    """Lines that make codes of cells, and joint states of codes."""
    for cells in columns:
        name = _code_name(cells.column)
        known = f"{name} if known"
        yield from derived_field(known, _coded(cells))
        reference = {"field": known}
        if cells.missing is not None and cells.missing != cells.variable.n_states:
            reference["mapMissingTo"] = str(cells.missing)
        yield from derived_field(name, xml_lines("FieldRef", reference))
    for number, (features, _) in enumerate(tables):
        fields = [
            "".join(xml_lines("FieldRef", {"field": _code_name(columns[f].column)}))
            for f in features
        ]
        joined = '<Constant dataType="string">,</Constant>'.join(fields)
        apply = xml_lines("Apply", {"function": "concat"}, iter([joined]))
        inside = iter(fields) if len(fields) == 1 else apply
        yield from derived_field(f"term {number}", inside)


def _coded(cells: FeatureCells) -> Iterator[str]:
    """Lines that turn a cell into the code of its state."""
    attributes = {}
    if cells.unknown is not None and cells.unknown != cells.variable.n_states:
        attributes["defaultValue"] = str(cells.unknown)
    if _is_text(cells):
        texts = ((xml_text(state_text(v)), code) for v, code in cells.codes.items())
        rows = (f"<row><value>{v}</value><code>{c}</code></row>" for v, c in texts)
        pair = {"field": str(cells.column), "column": "value"}
        inside = chain(
            xml_lines("FieldColumnPair", pair), xml_lines("InlineTable", {}, rows)
        )
        attributes |= {"outputColumn": "code", "dataType": "string"}
        yield from xml_lines("MapValues", attributes, inside)
        return
    attributes |= {"field": str(cells.column), "dataType": "string"}
    if cells.kind == "values":
        bins: Iterator[str] = chain.from_iterable(
            xml_lines(
                "DiscretizeBin",
                {"binValue": str(code)},
                _single_number(repr(float(value))),  # type: ignore[arg-type]
            )
            for value, code in cells.codes.items()
        )
    else:
        names = [str(code) for code in range(len(cells.cut_points) + 1)]
        bins = pmml.interval_bins(cells.cut_points, names)
    yield from xml_lines("Discretize", attributes, bins)


def _regression_tables(
    predictor: Predictor, intercept: Floats, tables: Sequence[Table]
) -> Iterator[str]:
    """Lines with the intercept and the terms of each class."""
    temperature, shift = predictor.temperature, predictor.prior_shift
    for place, text in enumerate(pmml.state_texts(predictor.model.domain[-1])):
        nats = float(intercept[place] / temperature)
        nats += 0.0 if shift is None else float(shift[place])
        attributes = {"intercept": repr(nats), "targetCategory": text}
        terms = chain.from_iterable(
            xml_lines(
                "CategoricalPredictor",
                {
                    "name": f"term {number}",
                    "value": ",".join(map(str, states)),
                    "coefficient": repr(float(table[(*states, place)] / temperature)),
                },
            )
            for number, (_, table) in enumerate(tables)
            for states in np.ndindex(table.shape[:-1])
        )
        yield from xml_lines("RegressionTable", attributes, terms)
