"""Naive Bayes for scoring engines: PMML 4.4, written only.

A PMML scorer multiplies the count of a class with count[x, class] / sum of
count[., class] for every field that is not missing (Data Mining Group, PMML 4.4,
"Naive Bayes Models"). The counts written here are shares of one row: P(class) for a
class and P(class) P(x | class) for a pair, so that scorers that divide by the count of
the class and those that divide by the sum of the pairs find the same probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.column_reading import EncoderRules
from bayleaf.data.domain import Domain, Variable
from bayleaf.io.formats.xml_elements import xml_attributes, xml_holds
from bayleaf.models.class_model import ClassModel
from bayleaf.models.predictor import Predictor
from bayleaf.wording import name_list

NAMESPACE = "http://www.dmg.org/PMML-4_4"
# Stands for missing cells where training counted them as a state.
_MISSING = "missing"


def naive_bayes_lines(predictor: Predictor) -> Iterator[str]:
    """Lines of a whole file; ValueError if PMML cannot hold a name.

    Missing values are left out by the scorer as they are here, or replaced where
    training counted them as a state. Values unknown in training become missing if the
    encoder says so. A probability of zero stays zero: the threshold is 0.
    """
    attributes = {
        "modelName": "naive Bayes",
        "functionName": "classification",
        "threshold": "0",
    }
    domain = predictor.model.domain
    _check_names(domain)
    return document(
        "naive Bayes",
        len(domain),
        chain.from_iterable(map(data_field, domain)),
        xml_lines("NaiveBayesModel", attributes, _model(predictor)),
    )


def _check_names(domain: Domain) -> None:
    """Raise unless PMML can hold and tell apart all names and values."""
    numeric = [variable for variable in domain if variable.kind == "numeric"]
    made = {_interval_name(v) for v in numeric} | {_input_name(v) for v in numeric}
    for variable in domain:
        where = f"variable {variable.name!r} has states"
        check_texts(state_texts(variable), where)
    check_fields(domain, sorted(made))


def check_fields(domain: Domain, made: Sequence[str]) -> None:
    """Raise unless names of columns, results and other fields differ."""
    names = [*map(str, domain.names), *_output_names(domain[-1]), *made]
    check_texts(names, "the table has columns")


def check_texts(texts: list[str], where: str) -> None:
    """Raise unless texts differ and XML can hold them."""
    lost = [repr(text) for text in texts if not xml_holds(text)]
    twice = sorted({repr(text) for text in texts if texts.count(text) > 1})
    if lost or twice:
        what = "XML cannot hold" if lost else "are the same once written as text"
        which = name_list(lost or twice)
        raise ValueError(f"{where} that {what}: {which}; rename them")


def state_texts(variable: Variable) -> list[str]:
    """States of a variable as PMML writes them."""
    return [state_text(state) for state in variable.states]


def _input_name(variable: Variable) -> str:
    """The field that holds a feature's states."""
    if variable.kind != "numeric":
        return str(variable.name)
    if variable.has_missing_state:
        return f"interval or missing of {variable.name}"
    return _interval_name(variable)


def _interval_name(variable: Variable) -> str:
    """The field that holds the intervals of a numeric feature."""
    return f"interval of {variable.name}"


def state_text(state: object) -> str:
    """A state as PMML writes it."""
    if state is None:
        return _MISSING
    if isinstance(state, bool | np.bool_):
        return "true" if state else "false"
    if isinstance(state, float):
        return repr(float(state))
    return str(state)


def data_type(variable: Variable) -> str:
    """PMML's type for the values of a variable's column."""
    if variable.kind == "numeric":
        return "double"
    states = variable.known_states
    # A replacement for missing cells is text, so the other values are too.
    if variable.has_missing_state or not states:
        return "string"
    if all(isinstance(state, bool | np.bool_) for state in states):
        return "boolean"
    numbers = int | float | np.integer | np.floating
    if any(isinstance(s, bool) or not isinstance(s, numbers) for s in states):
        return "string"
    whole = all(isinstance(state, int | np.integer) for state in states)
    return "integer" if whole else "double"


def xml_lines(
    name: str, attributes: dict[str, str], inside: Iterator[str] | None = None
) -> Iterator[str]:
    """Lines of an element."""
    opened = f"<{name}{xml_attributes(attributes)}"
    if inside is None:
        yield f"{opened}/>"
        return
    yield f"{opened}>"
    yield from (f"  {line}" for line in inside)
    yield f"</{name}>"


def document(
    description: str, n_fields: int, fields: Iterator[str], model: Iterator[str]
) -> Iterator[str]:
    """Lines of a whole file, of those of its columns and of its model."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    application = xml_lines("Application", {"name": "bayleaf"})
    content = chain(
        xml_lines("Header", {"description": description}, application),
        xml_lines("DataDictionary", {"numberOfFields": str(n_fields)}, fields),
        model,
    )
    yield from xml_lines("PMML", {"xmlns": NAMESPACE, "version": "4.4"}, content)


def data_field(variable: Variable) -> Iterator[str]:
    """Lines that describe the column of a variable."""
    numeric = variable.kind == "numeric"
    attributes = {
        "name": str(variable.name),
        "optype": "continuous" if numeric else "categorical",
        "dataType": data_type(variable),
    }
    labels = [] if numeric else state_texts(variable)
    values = (line for label in labels for line in xml_lines("Value", {"value": label}))
    yield from xml_lines("DataField", attributes, values if labels else None)


def derived_field(name: str, inside: Iterator[str]) -> Iterator[str]:
    """Lines of a field that is made of others."""
    attributes = {"name": name, "optype": "categorical", "dataType": "string"}
    yield from xml_lines("DerivedField", attributes, inside)


def _model(predictor: Predictor) -> Iterator[str]:
    """Lines inside the model."""
    model = predictor.model
    prior = np.array(model.class_prior)
    if predictor.prior_shift is not None:
        prior = prior * np.exp(predictor.prior_shift)
        prior /= prior.sum()
    domain, rules = model.domain, predictor.encoder.rules
    yield from xml_lines("MiningSchema", {}, _mining_fields(domain, rules))
    yield from xml_lines("Output", {}, output_fields(domain[-1]))
    if any(variable.kind == "numeric" for variable in domain):
        yield from xml_lines("LocalTransformations", {}, _transformations(domain))
    yield from xml_lines("BayesInputs", {}, _inputs(model, prior))
    output = {"fieldName": str(domain[-1].name)}
    counts = xml_lines("TargetValueCounts", {}, _counts(domain[-1], prior))
    yield from xml_lines("BayesOutput", output, counts)


def _mining_fields(domain: Domain, rules: EncoderRules) -> Iterator[str]:
    """Lines that say how cells are read."""
    for variable in domain.variables[:-1]:
        attributes = {"name": str(variable.name), "usageType": "active"}
        if rules.missing == "error":
            attributes["missingValueTreatment"] = "returnInvalid"
        elif variable.has_missing_state and variable.kind == "nominal":
            attributes["missingValueReplacement"] = _MISSING
            attributes["missingValueTreatment"] = "asValue"
        open_to_all = rules.unknown == "missing"
        if variable.kind == "nominal":
            treatment = "asMissing" if open_to_all else "returnInvalid"
            attributes["invalidValueTreatment"] = treatment
        yield from xml_lines("MiningField", attributes)
    yield from xml_lines(
        "MiningField", {"name": str(domain[-1].name), "usageType": "target"}
    )


def _output_names(target: Variable) -> list[str]:
    """Names of the fields that hold the class and the probability of each."""
    return [
        f"predicted_{target.name}",
        *(f"probability_{label}" for label in state_texts(target)),
    ]


def output_fields(target: Variable) -> Iterator[str]:
    """Lines that name the results."""
    predicted_name, *names = _output_names(target)
    common = {"optype": "categorical", "dataType": data_type(target)}
    predicted = {"name": predicted_name, **common}
    yield from xml_lines("OutputField", {**predicted, "feature": "predictedValue"})
    for name, label in zip(names, state_texts(target), strict=True):
        attributes = {
            "name": name,
            "optype": "continuous",
            "dataType": "double",
            "feature": "probability",
            "value": label,
        }
        yield from xml_lines("OutputField", attributes)


def _inputs(model: ClassModel, prior: NDArray[np.float64]) -> Iterator[str]:
    """Lines with the tables of all features."""
    target = model.domain[-1]
    for variable, cpd in zip(model.domain.variables[:-1], model.cpds):
        shape = (target.n_states, variable.n_states)
        table = np.broadcast_to(cpd.probabilities, shape)
        # A class that never occurs has no share to split; any counts will do.
        weight = np.where(prior > 0, prior, 1.0)
        shares = table * weight[:, None]
        attributes = {"fieldName": _input_name(variable)}
        inside = _feature(variable, target, shares)
        yield from xml_lines("BayesInput", attributes, inside)


def _feature(
    variable: Variable, target: Variable, shares: NDArray[np.float64]
) -> Iterator[str]:
    """Lines with the counts of one feature."""
    for code, label in enumerate(state_texts(variable)):
        counts = xml_lines("TargetValueCounts", {}, _counts(target, shares[:, code]))
        yield from xml_lines("PairCounts", {"value": label}, counts)


def _transformations(domain: Domain) -> Iterator[str]:
    """Lines that turn the numbers of each numeric column into interval labels."""
    for variable in domain.variables[:-1]:
        if variable.kind != "numeric":
            continue
        interval = _interval_name(variable)
        yield from derived_field(interval, _intervals(variable))
        if variable.has_missing_state:
            # Discretize can map missing cells too, but not every scorer heeds that.
            reference = {"field": interval, "mapMissingTo": _MISSING}
            missing = xml_lines("FieldRef", reference)
            yield from derived_field(_input_name(variable), missing)


def _intervals(variable: Variable) -> Iterator[str]:
    """Lines that turn numbers into interval labels, and name all labels."""
    source = {"field": str(variable.name)}
    yield from xml_lines(
        "Discretize", source, interval_bins(variable.cut_points, state_texts(variable))
    )
    # Scorers check labels against this list.
    for label in state_texts(variable):
        yield from xml_lines("Value", {"value": label})


def interval_bins(cut_points: Sequence[float], texts: Sequence[str]) -> Iterator[str]:
    """Lines with the intervals between cut points, closed on the right."""
    cuts, labels = [repr(float(cut)) for cut in cut_points], list(texts)
    if not cuts:
        # An interval needs a margin, so all numbers are two intervals of one name.
        cuts, labels = ["0.0"], [labels[0], labels[0]]
    for i, label in enumerate(labels[: len(cuts) + 1]):
        interval = {"closure": "openClosed" if i < len(cuts) else "openOpen"}
        if i > 0:
            interval["leftMargin"] = cuts[i - 1]
        if i < len(cuts):
            interval["rightMargin"] = cuts[i]
        margins = xml_lines("Interval", interval)
        yield from xml_lines("DiscretizeBin", {"binValue": label}, margins)


def _counts(target: Variable, shares: NDArray[np.float64]) -> Iterator[str]:
    """Lines with a number for each class."""
    for label, share in zip(state_texts(target), shares.tolist(), strict=True):
        yield from xml_lines("TargetValueCount", {"value": label, "count": repr(share)})
