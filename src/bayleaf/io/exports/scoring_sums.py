"""Classifiers that are sums of terms as PMML's regression, for scoring engines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from bayleaf.scoring.fusing import fused, tables_of
from bayleaf.scoring.terms import (
    Counts,
    Density,
    Floats,
    Look,
    ScoringProgram,
    SumOut,
    Tree,
    Whole,
    joint_states,
    program_of,
)
from bayleaf.wording import name_list, quoted

# Coefficients above which a document is not written.
_MAX_COEFFICIENTS = 1_000_000
_SCOPE = (
    "PMML holds models whose score is a sum of table look-ups: naive Bayes, TAN, KDB, "
    "networks without latent variables, and averaged KDB of tables alone"
)
_WORDS = {Density: "numbers as regressions", Tree: "class trees"}


def write_pmml(model: Any, path: str | Path) -> None:
    """Write a classifier as PMML 4.4, which scoring engines read.

    Naive Bayes is a NaiveBayesModel; under a temperature or with ordered categories,
    and for all other models, the document is a RegressionModel with a term for each
    joint state of a feature and its parents. Rows whose missing cells would have to be
    summed out have no result; under a temperature, and for averaged KDB, neither has
    any partial case: a row with a missing cell in a column that had none in training,
    or with a value not seen in training. ValueError if the model is not a sum of
    look-ups, has a loss matrix, or names that PMML cannot hold.
    """
    predictor = predictor_of(model)
    if _is_naive_bayes(predictor):
        pmml.write_pmml(predictor, path)
        return
    write_export(path, "\n".join(_document(predictor)) + "\n")


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
    if predictor.model.sharing is not None or predictor.temperature != 1.0:
        # What terms count depends on which features are known.
        columns = tuple(cells.known_only() for cells in columns)
    if any(cells.part is not None for cells in columns):
        raise ValueError(
            "PMML's dates have no parts such as months; give parts as columns of their "
            "own"
        )
    total = _score_sum(predictor)
    target = predictor.model.domain[-1]
    fields = _Fields(columns, total.tables)
    _check_names(predictor.model.domain, columns, fields)
    attributes = {
        "modelName": "sum of terms",
        "functionName": "classification",
        "normalizationMethod": "softmax",
    }
    inside = chain(
        xml_lines("MiningSchema", {}, _mining_fields(columns, target.name, total)),
        xml_lines("Output", {}, pmml.output_fields(target)),
        xml_lines("LocalTransformations", {}, _derived_fields(columns, fields)),
        _regression_tables(predictor, total),
    )
    yield from pmml.document(
        "sum of terms",
        len(columns) + 1,
        _data_fields(columns, target),
        xml_lines("RegressionModel", attributes, inside),
    )


# ---- the sum


@dataclass(frozen=True, eq=False)
class _ScoreSum:
    """Scores of classes as a sum."""

    intercept: Floats  # Nats of all rows.
    tables: Sequence[Look]  # What joint states add.
    inner: set[int]  # Features whose missing cells would have to be summed out.


def _score_sum(predictor: Predictor) -> _ScoreSum:
    """Scores of a model as a sum of tables; ValueError if they are none."""
    if predictor.loss is not None:
        raise ValueError(
            "PMML's regression predicts the most probable class, but this model has a "
            "loss matrix; fit without loss"
        )
    program = program_of(predictor.model)
    intercept, tables = program.base, list(tables_of(program.terms))
    inner, n_variables = set[int](), len(program.cards) + 1
    for term in program.terms:
        # A network that is the only term and has no latent variables is a sum.
        is_alone = len(program.terms) == 1
        if isinstance(term, SumOut) and is_alone and len(term.cards) == n_variables:
            constant, tables, inner = _tables_of_network(term)
            intercept = intercept + constant
        elif not isinstance(term, Look | Counts):
            raise _refusal(program)
    nats = [intercept, *(table.rows for table in tables)]
    if not all(np.isfinite(own).all() for own in nats):
        raise ValueError(
            "PMML's regression has no term for a probability of zero, which this model "
            "holds; fit with smoothing, or write it to .onnx"
        )
    tables = fused(tables, by_owner=False)
    size = sum(table.rows.size for table in tables)
    if size > _MAX_COEFFICIENTS:
        raise ValueError(
            f"as PMML this model has {size:,} coefficients, more than "
            f"{_MAX_COEFFICIENTS:,}; fit with fewer parents or networks"
        )
    return _ScoreSum(intercept, tables, inner)


def _tables_of_network(term: SumOut) -> tuple[Floats, list[Look], set[int]]:
    """The prior, tables of the factors that contain the class, and inner features."""
    label = len(term.cards) - 1
    prior, tables, inner = np.zeros(term.cards[label]), [], set()
    for factor in term.factors:
        inner |= set(factor.variables[:-1]) - {label}
        if label not in factor.variables:
            continue
        logs = np.moveaxis(factor.logs, factor.variables.index(label), -1)
        features = tuple(v for v in factor.variables if v != label)
        if not features:
            prior = prior + logs
            continue
        maps = tuple(np.arange(term.cards[v] + 1) for v in features)
        rows = logs.reshape(-1, len(prior))
        states = joint_states(np.arange(len(rows)), logs.shape[:-1])
        tables.append(Look(factor.child, features, maps, states, rows))
    return prior, tables, inner


def _refusal(program: ScoringProgram) -> ValueError:
    """Name the terms that are not tables, and the remedy."""
    if len(program.terms) == 1 and isinstance(program.terms[0], SumOut):
        return ValueError(
            f"{_SCOPE}; this one has latent variables; write it to .onnx instead"
        )
    words = {_WORDS[type(t)] for t in program.terms if type(t) in _WORDS}
    if words and any(isinstance(term, Counts) for term in program.terms):
        return ValueError(
            f"{_SCOPE}; this average holds {name_list(sorted(words))} too; fit with "
            "linear_families=False and class_trees=False"
        )
    return ValueError(f"{_SCOPE}; write this model to .onnx instead")


# ---- fields


class _Fields:
    """Fields with the states of features in the codings of tables."""

    def __init__(self, columns: Sequence[FeatureCells], tables: Sequence[Look]) -> None:
        self._columns = columns
        # Name of each coding of a feature, and state of each code that has one.
        self.made: dict[tuple[int, bytes], tuple[str, list[tuple[str, int]]]] = {}
        self.of_tables = [self._of_table(table) for table in tables]

    def _of_table(self, table: Look) -> list[str]:
        """Fields whose values, joined, are the keys of a table."""
        names = [
            self._field(feature, states, states[-1])
            for feature, states in zip(table.features, table.maps, strict=True)
        ]
        if table.gate is not None:
            names.append(self._field(table.owner, table.gate.astype(np.int64), 0))
        return names

    def _field(self, feature: int, states: Whole, absent: int) -> str:
        """The field of a feature's states; that of its codes where they are equal."""
        name = _code_name(self._columns[feature].column)
        if np.array_equal(states, np.arange(len(states))):
            return name
        key = feature, states.tobytes()
        if key not in self.made:
            rows = [(str(c), s) for c, s in enumerate(states.tolist()) if s != absent]
            self.made[key] = f"{name} in coding {len(self.made)}", rows
        return self.made[key][0]

    def lines(self) -> Iterator[str]:
        """Lines of the fields of codings, then of those of tables."""
        for (feature, _), (name, rows) in self.made.items():
            source = _code_name(self._columns[feature].column)
            yield from derived_field(name, _mapped(source, rows, {}))
        for number, names in enumerate(self.of_tables):
            references = [[*xml_lines("FieldRef", {"field": name})] for name in names]
            comma = ['<Constant dataType="string">,</Constant>']
            inside = iter(sum((comma + own for own in references[1:]), references[0]))
            if len(names) > 1:
                inside = xml_lines("Apply", {"function": "concat"}, inside)
            yield from derived_field(f"term {number}", inside)


def _check_names(
    domain: Domain, columns: Sequence[FeatureCells], fields: _Fields
) -> None:
    """Raise unless PMML can hold and distinguish all names and values."""
    made = [_code_name(variable.name) for variable in domain.variables[:-1]]
    made += [f"{name} if known" for name in made]
    made += [name for name, _ in fields.made.values()]
    made += [f"term {number}" for number in range(len(fields.of_tables))]
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


def _mining_fields(
    columns: Sequence[FeatureCells], target: object, total: _ScoreSum
) -> Iterator[str]:
    """Lines that say which cells are refused."""
    for feature, cells in enumerate(columns):
        is_inner = feature in total.inner
        refuses = {None, cells.variable.n_states} if is_inner else {None}
        attributes = {"name": str(cells.column), "usageType": "active"}
        if cells.missing in refuses:
            attributes["missingValueTreatment"] = "returnInvalid"
        if cells.kind == "values":
            invalid = "returnInvalid" if cells.unknown in refuses else "asIs"
            attributes["invalidValueTreatment"] = invalid
        yield from xml_lines("MiningField", attributes)
    yield from xml_lines("MiningField", {"name": str(target), "usageType": "target"})


def _derived_fields(columns: Sequence[FeatureCells], fields: _Fields) -> Iterator[str]:
    """Lines that make codes of cells, and joint states of codes."""
    for cells in columns:
        name = _code_name(cells.column)
        known = f"{name} if known"
        yield from derived_field(known, _coded(cells))
        reference = {"field": known}
        if cells.missing is not None and cells.missing != cells.variable.n_states:
            reference["mapMissingTo"] = str(cells.missing)
        yield from derived_field(name, xml_lines("FieldRef", reference))
    yield from fields.lines()


def _mapped(
    source: str, codes: Iterable[tuple[str, int]], more: Mapping[str, str]
) -> Iterator[str]:
    """Lines that turn values of a field into codes."""
    rows = (
        f"<row><value>{xml_text(text)}</value><code>{code}</code></row>"
        for text, code in codes
    )
    attributes = {**more, "outputColumn": "code", "dataType": "string"}
    inside = chain(
        xml_lines("FieldColumnPair", {"field": source, "column": "value"}),
        xml_lines("InlineTable", {}, rows),
    )
    yield from xml_lines("MapValues", attributes, inside)


def _coded(cells: FeatureCells) -> Iterator[str]:
    """Lines that turn a cell into the code of its state."""
    attributes = {}
    if cells.unknown is not None and cells.unknown != cells.variable.n_states:
        attributes["defaultValue"] = str(cells.unknown)
    if _is_text(cells):
        codes = ((state_text(value), code) for value, code in cells.codes.items())
        yield from _mapped(str(cells.column), codes, attributes)
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


def _regression_tables(predictor: Predictor, total: _ScoreSum) -> Iterator[str]:
    """Lines with the intercept and the terms of each class."""
    temperature, shift = predictor.temperature, predictor.prior_shift
    for place, text in enumerate(pmml.state_texts(predictor.model.domain[-1])):
        nats = float(total.intercept[place] / temperature)
        nats += 0.0 if shift is None else float(shift[place])
        attributes = {"intercept": repr(nats), "targetCategory": text}
        terms = _coefficients(total, place, temperature)
        yield from xml_lines("RegressionTable", attributes, terms)


def _coefficients(total: _ScoreSum, place: int, temperature: float) -> Iterator[str]:
    """Lines with the terms of one class."""
    for number, table in enumerate(total.tables):
        # The last field of a table with a gate is the gate, which is open.
        end = [] if table.gate is None else [1]
        for states, row in zip(table.states.tolist(), table.rows, strict=True):
            attributes = {
                "name": f"term {number}",
                "value": ",".join(map(str, [*states, *end])),
                "coefficient": repr(float(row[place] / temperature)),
            }
            yield from xml_lines("CategoricalPredictor", attributes)
