"""Classifiers that are sums of terms as PMML's regression, for scoring engines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain
from bayleaf.io.atomic import write_text
from bayleaf.io.exports.cells import FeatureCells, feature_cells
from bayleaf.io.exports.registry import predictor_of
from bayleaf.io.exports.score_sum import ScoreSum, score_sum
from bayleaf.io.formats import pmml
from bayleaf.io.formats.pmml import state_text, xml_lines
from bayleaf.io.formats.xml.writing import xml_text
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.terms import Look
from bayleaf.wording import quoted


def write_pmml(model: Any, path: str | Path) -> None:
    """Write a classifier as PMML 4.4, which scoring engines read.

    Parameters
    ----------
    model : fitted classifier, Predictor, SavedModel, str or Path
        The classifier, or the path of its model file.
    path : str or Path
        Where to; an older file is replaced only when all is written.

    Raises
    ------
    ValueError
        If the model is no sum of look-ups, predicts under a loss matrix, or has names
        that PMML cannot hold.
    TypeError
        If `model` is no classifier.
    OSError
        If the file cannot be written.

    Notes
    -----
    Naive Bayes is a NaiveBayesModel; under a temperature or with ordered categories,
    and for all other models, the document is a RegressionModel with a term for each
    joint state of a feature and its parents. Missing cells of features without
    children are left out, which is exact; where other cells are missing and would have
    to be summed out, the engine gives no result.
    """
    predictor = predictor_of(model)
    if _is_naive_bayes(predictor):
        pmml.write_pmml(predictor, path)
        return
    write_text(path, "\n".join(_document(predictor)) + "\n")


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
    every = feature_cells(predictor.encoder)
    if any(cells.part is not None for cells in every):
        raise ValueError(
            "PMML's dates have no parts such as months; give parts as columns of their "
            "own"
        )
    found = score_sum(predictor)
    domain = predictor.model.domain
    fields = _Fields(every, found.tables)
    _check_names(domain, found, fields)
    for cells in every:
        where = f"column {quoted(cells.column)} has values"
        pmml.check_texts([state_text(value) for value in cells.codes], where)
    yield '<?xml version="1.0" encoding="UTF-8"?>'

    def content() -> Iterator[str]:
        application = xml_lines("Application", {"name": "bayleaf"})
        yield from xml_lines("Header", {"description": "sum of terms"}, application)
        size = {"numberOfFields": str(len(domain))}
        yield from xml_lines("DataDictionary", size, _data_fields(every, domain))
        attributes = {
            "modelName": "sum of terms",
            "functionName": "classification",
            "normalizationMethod": "softmax",
        }
        inside = _model(predictor, every, found, fields)
        yield from xml_lines("RegressionModel", attributes, inside)

    root = {"xmlns": pmml.NAMESPACE, "version": "4.4"}
    yield from xml_lines("PMML", root, content())


class _Fields:
    """Fields with the states of features in the codings of tables.

    Parameters
    ----------
    every : sequence of FeatureCells
        The columns.
    tables : sequence of Look
        The tables.
    """

    def __init__(self, every: Sequence[FeatureCells], tables: Sequence[Look]) -> None:
        self._every = every
        # Name, and state of each code that has one.
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

    def _field(self, feature: int, states: NDArray[np.int64], absent: int) -> str:
        """The field of a feature's states; that of its codes where they are equal."""
        name = _code_name(self._every[feature].column)
        if np.array_equal(states, np.arange(len(states))):
            return name
        key = feature, states.tobytes()
        if key not in self.made:
            rows = [(str(c), s) for c, s in enumerate(states.tolist()) if s != absent]
            self.made[key] = f"{name} in coding {len(self.made)}", rows
        return self.made[key][0]

    def lines(self) -> Iterator[str]:
        """Lines of the fields."""
        for (feature, _), (name, rows) in self.made.items():
            source = _code_name(self._every[feature].column)
            yield from xml_lines(
                "DerivedField", _derived(name), _mapped(source, rows, {})
            )


def _texts(table: Look) -> list[str]:
    """Joint states as text, with a 1 at the end where a table has a gate."""
    end = [] if table.gate is None else [1]
    return [",".join(map(str, [*states, *end])) for states in table.states.tolist()]


def _check_names(domain: Domain, found: ScoreSum, fields: _Fields) -> None:
    """Raise unless PMML can hold and tell apart all names and values."""
    made = [_code_name(domain[v].name) for v in range(len(domain) - 1)]
    made += [f"{_code_name(domain[v].name)} if known" for v in range(len(domain) - 1)]
    made += [name for name, _ in fields.made.values()]
    made += [f"term {number}" for number in range(len(found.tables))]
    for variable in domain:
        if variable.categories is None:
            where = f"variable {quoted(variable.name)} has states"
            pmml.check_texts(pmml.state_texts(variable), where)
    pmml.check_fields(domain, made)


def _code_name(name: object) -> str:
    """The field that holds the code of a feature's state."""
    return f"state of {name}"


def _is_text(cells: FeatureCells) -> bool:
    """Whether a column's cells are text, or truth values."""
    return cells.kind == "values" and any(
        isinstance(value, str | bool | np.bool_) for value in cells.codes
    )


def _data_type(cells: FeatureCells) -> str:
    """PMML's type of a column."""
    if not _is_text(cells):
        return "double"
    return "boolean" if all(not isinstance(v, str) for v in cells.codes) else "string"


def _data_fields(every: Sequence[FeatureCells], domain: Domain) -> Iterator[str]:
    """Lines that describe the columns; values are listed where others are refused."""
    for cells in every:
        kind = "categorical" if _is_text(cells) else "continuous"
        attributes = {
            "name": str(cells.column),
            "optype": kind,
            "dataType": _data_type(cells),
        }
        listed = _known_values(cells) if cells.kind == "values" else None
        yield from xml_lines("DataField", attributes, listed)
    target = domain[-1]
    attributes = {
        "name": str(target.name),
        "optype": "categorical",
        "dataType": pmml.data_type(target),
    }
    texts = pmml.state_texts(target)
    values = [line for text in texts for line in xml_lines("Value", {"value": text})]
    yield from xml_lines("DataField", attributes, iter(values))


def _known_values(cells: FeatureCells) -> Iterator[str]:
    """Lines with the values of training; numbers as intervals of one number each."""
    for value in cells.codes:
        text = state_text(value)
        if _is_text(cells):
            yield from xml_lines("Value", {"value": text})
        else:
            margins = {"leftMargin": text, "rightMargin": text}
            yield from xml_lines("Interval", {"closure": "closedClosed", **margins})


def _model(
    predictor: Predictor,
    every: Sequence[FeatureCells],
    found: ScoreSum,
    fields: _Fields,
) -> Iterator[str]:
    """Lines inside the model."""
    target = predictor.model.domain[-1]
    yield from xml_lines("MiningSchema", {}, _mining_fields(every, target.name, found))
    yield from xml_lines("Output", {}, pmml.output_fields(target))
    made = _derived_fields(every, fields)
    yield from xml_lines("LocalTransformations", {}, made)
    shift = predictor.prior_shift
    for place, text in enumerate(pmml.state_texts(target)):
        nats = float(found.intercept[place] / predictor.temperature)
        nats += 0.0 if shift is None else float(shift[place])
        attributes = {"intercept": repr(nats), "targetCategory": text}
        terms = _coefficients(found, place, predictor.temperature)
        yield from xml_lines("RegressionTable", attributes, terms)


def _mining_fields(
    every: Sequence[FeatureCells], target: object, found: ScoreSum
) -> Iterator[str]:
    """Lines that say which cells are refused."""
    for feature, cells in enumerate(every):
        n_states, is_inner = cells.variable.n_states, feature in found.inner
        refuses = {None, n_states} if is_inner else {None}
        attributes = {"name": str(cells.column), "usageType": "active"}
        if cells.missing in refuses:
            attributes["missingValueTreatment"] = "returnInvalid"
        invalid = "returnInvalid" if cells.unknown in refuses else "asIs"
        if cells.kind == "values":
            attributes["invalidValueTreatment"] = invalid
        yield from xml_lines("MiningField", attributes)
    yield from xml_lines("MiningField", {"name": str(target), "usageType": "target"})


def _derived_fields(every: Sequence[FeatureCells], fields: _Fields) -> Iterator[str]:
    """Lines that make codes of cells, and joint states of codes."""
    for cells in every:
        name = _code_name(cells.column)
        known = f"{name} if known"
        yield from xml_lines("DerivedField", _derived(known), _coded(cells))
        reference = {"field": known}
        if cells.missing is not None and not cells.marginalizes:
            reference["mapMissingTo"] = str(cells.missing)
        inside = xml_lines("FieldRef", reference)
        yield from xml_lines("DerivedField", _derived(name), inside)
    yield from fields.lines()
    for number, names in enumerate(fields.of_tables):
        inside = _joined(names)
        yield from xml_lines("DerivedField", _derived(f"term {number}"), inside)


def _joined(names: Sequence[str]) -> Iterator[str]:
    """Lines of an expression for joint states."""
    if len(names) == 1:
        yield from xml_lines("FieldRef", {"field": names[0]})
        return

    def parts() -> Iterator[str]:
        for place, name in enumerate(names):
            if place:
                yield '<Constant dataType="string">,</Constant>'
            yield from xml_lines("FieldRef", {"field": name})

    yield from xml_lines("Apply", {"function": "concat"}, parts())


def _mapped(
    source: str, rows: Sequence[tuple[str, int]], more: Mapping[str, str]
) -> Iterator[str]:
    """Lines that turn values of a field into codes."""

    def table() -> Iterator[str]:
        pair = {"field": source, "column": "value"}
        yield from xml_lines("FieldColumnPair", pair)
        yield from xml_lines("InlineTable", {}, _rows(rows))

    attributes = {**more, "outputColumn": "code", "dataType": "string"}
    yield from xml_lines("MapValues", attributes, table())


def _derived(name: str) -> dict[str, str]:
    """Attributes of a field that is made of others."""
    return {"name": name, "optype": "categorical", "dataType": "string"}


def _coded(cells: FeatureCells) -> Iterator[str]:
    """Lines that turn a cell into the code of its state."""
    unknown = cells.unknown
    attributes = {}
    if unknown is not None and unknown != cells.variable.n_states:
        attributes["defaultValue"] = str(unknown)
    if _is_text(cells):
        rows = [(state_text(value), code) for value, code in cells.codes.items()]
        yield from _mapped(str(cells.column), rows, attributes)
        return
    attributes |= {"field": str(cells.column), "dataType": "string"}
    yield from xml_lines("Discretize", attributes, _bins(cells))


def _rows(rows: Sequence[tuple[str, int]]) -> Iterator[str]:
    """Lines of a table of values and their codes."""
    for text, code in rows:
        value = xml_text(text)
        yield f"<row><value>{value}</value><code>{code}</code></row>"


def _bins(cells: FeatureCells) -> Iterator[str]:
    """Lines with intervals of numbers, or with single numbers."""
    if cells.kind == "values":
        for value, code in cells.codes.items():
            margin = repr(float(value))  # type: ignore[arg-type]
            one = {
                "closure": "closedClosed",
                "leftMargin": margin,
                "rightMargin": margin,
            }
            inside = xml_lines("Interval", one)
            yield from xml_lines("DiscretizeBin", {"binValue": str(code)}, inside)
        return
    yield from pmml.interval_bins(
        cells.cut_points, [str(code) for code in range(len(cells.cut_points) + 1)]
    )


def _coefficients(found: ScoreSum, place: int, temperature: float) -> Iterator[str]:
    """Lines with the terms of one class."""
    for number, table in enumerate(found.tables):
        for state, row in zip(_texts(table), table.rows, strict=True):
            attributes = {
                "name": f"term {number}",
                "value": state,
                "coefficient": repr(float(row[place] / temperature)),
            }
            yield from xml_lines("CategoricalPredictor", attributes)
