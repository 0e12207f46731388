"""Classifiers as graphs in the Open Neural Network Exchange's format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayleaf.io.atomic import replacing, report_size
from bayleaf.io.exports.characters import check_characters, check_integers, equal_pair
from bayleaf.io.exports.feature_cells import FeatureCells, feature_cells
from bayleaf.io.exports.onnx_operators import (
    ML_DOMAIN,
    ML_OPSET,
    OPSET,
    Graph,
    TermOperators,
    known_shares,
    onnx_library,
)
from bayleaf.io.exports.writers import predictor_of
from bayleaf.io.native.model_file import SavedModel
from bayleaf.models.predictor import ModelLike, Predictor
from bayleaf.scoring.terms import Floats, program_of
from bayleaf.version import __version__
from bayleaf.wording import name_list, quoted

if TYPE_CHECKING:
    import onnx

_IR_VERSION = 8


def write_onnx(model: Any, path: str | Path) -> None:
    """Write a classifier as an ONNX file; see `to_onnx`.

    OSError if it cannot be written.
    """
    data = to_onnx(model).SerializeToString()
    report_size(path, len(data))
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def to_onnx(model: ModelLike | SavedModel | str | Path) -> onnx.ModelProto:
    """Return a classifier as an ONNX graph, which onnxruntime and others run.

    Parameters
    ----------
    model : fitted classifier, Predictor, SavedModel, str or Path
        The classifier, or the path of its model file.

    Returns
    -------
    onnx.ModelProto
        One input of shape (n_rows, 1) for each column, of strings, or of doubles where
        the column holds numbers or booleans (0 and 1); an empty string and NaN are
        missing cells. A date has one input for each of its parts, such as
        ``when.month``. Outputs are ``label`` of shape (n_rows,), integers where
        the classes are, else strings, and ``probabilities`` of shape
        (n_rows, n_classes), doubles. Operators are those of opset 17 and ai.onnx.ml 3.

    Raises
    ------
    ValueError
        If columns can be no inputs, or summing out missing cells needs too large a
        table.
    TypeError
        If `model` is no classifier.
    ImportError
        If the library onnx is missing.

    Notes
    -----
    Missing cells are summed out exactly. A graph cannot refuse a row: where a cell is
    missing or unknown and the model refuses that, or the row is impossible in every
    class, probabilities are NaN, and the label is an empty string or the least whole
    number. Metadata hold the classes and the names of inputs as JSON.

    Examples
    --------
    >>> graph = to_onnx("heart.json")  # doctest: +SKIP
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    ... # doctest: +SKIP
    """
    predictor = predictor_of(model)
    cells, classes = feature_cells(predictor.encoder), _classes(predictor)
    inputs = _inputs(cells)
    names = [one.name for one in inputs]
    # Columns with these names put the library's name before them.
    outputs = [_free(name, names) for name in ("label", "probabilities")]
    graph = Graph({*names, *outputs})
    codes, refused = [], []
    for one, own in zip(inputs, cells, strict=True):
        code, is_refused = _codes(graph, one, own)
        codes.append(code)
        refused += [] if is_refused is None else [is_refused]
    may_miss = [
        not {None, own.variable.n_states}.isdisjoint((own.missing, own.unknown))
        for own in cells
    ]
    features = list(map(str, predictor.model.domain.names[:-1]))
    operators = TermOperators(graph, codes, features, may_miss)
    scores = operators.scores(program_of(predictor.model))
    scores = _calibrated(graph, predictor, scores, operators, cells)
    _write_results(graph, predictor, classes, scores, refused, outputs)
    return _assembled(graph, predictor, classes, inputs, outputs)


def _free(name: str, taken: Sequence[str]) -> str:
    """A name of a result that no column has."""
    while name in taken:
        name = f"bayleaf_{name}"
    return name


# ---- cells


class _Input(NamedTuple):
    """An input of shape (n_rows, 1): strings or doubles; dates have one per part."""

    name: str
    is_text: bool


def _inputs(cells: Sequence[FeatureCells]) -> list[_Input]:
    """The inputs of all features; ValueError if names or values are not distinct."""
    inputs = list(map(_input, cells))
    names = [one.name for one in inputs]
    check_characters(names, "a column's name holds", "ONNX")
    if "" in names:
        raise ValueError("a column without a name can be no input; rename it")
    if twice := sorted({quoted(name) for name in names if names.count(name) > 1}):
        raise ValueError(
            f"columns whose names are the same as text can be no inputs: "
            f"{name_list(twice)}; rename them"
        )
    return inputs


def _input(cells: FeatureCells) -> _Input:
    """The input of one feature."""
    name = str(cells.column) if cells.part is None else f"{cells.column}.{cells.part}"
    if cells.kind == "intervals":
        return _Input(name, False)
    texts = [value for value in cells.codes if isinstance(value, str)]
    check_characters(texts, f"column {quoted(name)} holds a text with", "ONNX")
    if len(texts) == len(cells.codes):
        return _Input(name, bool(texts) or cells.part is None)
    try:
        exact = not texts and all(float(v) == v for v in cells.codes)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
        raise ValueError(
            f"column {quoted(name)} holds values that are neither all text nor all "
            "numbers that a double holds exactly; train with them as text"
        )
    return _Input(name, False)


def _codes(graph: Graph, one: _Input, cells: FeatureCells) -> tuple[str, str | None]:
    """Codes of cells, (n_rows,), and whether they are refused, if any can be.

    Codes of refused cells are those of cells that are summed out.
    """
    values = graph.add("Squeeze", one.name, [1])
    refused = cells.n_codes
    missing = refused if cells.missing is None else cells.missing
    unknown = refused if cells.unknown is None else cells.unknown
    if one.is_text:
        # The empty text is a missing cell unless it is a value.
        by_text = {"": missing} | {str(v): code for v, code in cells.codes.items()}
        codes = graph.add(
            "LabelEncoder",
            values,
            domain=ML_DOMAIN,
            keys_strings=[text.encode() for text in by_text],
            values_int64s=list(by_text.values()),
            default_int64=unknown,
        )
    else:
        column = graph.add("Unsqueeze", values, [1])
        if cells.kind == "intervals":
            below = graph.add(
                "Greater", column, np.array([cells.cut_points], dtype=np.float64)
            )
            numbers = graph.cast(below, "INT64")
            known = graph.add("ReduceSum", numbers, [1], keepdims=0)
        else:
            # Of equal values there is one at most.
            keys = np.array([list(cells.codes)], dtype=np.float64)
            is_own = graph.cast(graph.add("Equal", column, keys), "INT64")
            steps = np.array([[code - unknown for code in cells.codes.values()]])
            moves = graph.add("Mul", is_own, steps.astype(np.int64))
            moved = graph.add("ReduceSum", moves, [1], keepdims=0)
            known = graph.add("Add", moved, unknown)
        codes = graph.add("Where", graph.add("IsNaN", values), missing, known)
    if refused not in (missing, unknown):
        return codes, None
    is_refused = graph.add("Equal", codes, refused)
    n_states = cells.variable.n_states
    return graph.add("Where", is_refused, n_states, codes), is_refused


# ---- results


def _calibrated(
    graph: Graph,
    predictor: Predictor,
    scores: str,
    operators: TermOperators,
    cells: Sequence[FeatureCells],
) -> str:
    """Scores under the temperature and the prior shift; see `Predictor.calibration`."""
    temperature, shift = predictor.temperature, predictor.prior_shift
    scale: str | float = temperature
    added: str | Floats | None = shift
    if temperature != 1.0 and any(cell.may_be_unknown for cell in cells):
        known = operators.known([cell.variable.n_states for cell in cells])
        _, share = known_shares(graph, predictor.strengths, known)
        rest = graph.add("Sub", 1.0, share)
        rate = graph.add("Add", share, graph.add("Mul", rest, scale))
        # Of rows that know all features it is the temperature, to the last bit.
        scale = graph.add("Div", scale, rate)
        if shift is not None:
            added = graph.add("Mul", share, shift)
    if temperature != 1.0:
        scores = graph.add("Div", scores, scale)
    return scores if added is None else graph.add("Add", scores, added)


def _write_results(
    graph: Graph,
    predictor: Predictor,
    classes: Any,
    scores: str,
    refused: Sequence[str],
    outputs: Sequence[str],
) -> None:
    """Add the nodes of probabilities and labels."""
    if refused:
        column = graph.add("Unsqueeze", graph.joined("Or", refused), [1])
        scores = graph.add("Where", column, np.nan, scores)
    highest = graph.add("ReduceMax", scores, axes=[1], keepdims=1)
    powers = graph.add("Exp", graph.add("Sub", scores, highest))
    total = graph.add("ReduceSum", powers, [1], keepdims=1)
    proba = graph.add("Div", powers, total, output=outputs[1])
    if predictor.loss is None:
        chosen = graph.add("ArgMax", proba, axis=1, keepdims=0)
    else:
        costs = graph.add("MatMul", proba, np.ascontiguousarray(predictor.loss.T))
        chosen = graph.add("ArgMin", costs, axis=1, keepdims=0)
    is_number = classes.dtype.kind == "i"
    none = np.iinfo(np.int64).min if is_number else ""
    # Where there is no probability, there is no class either.
    is_none = graph.add("Squeeze", graph.add("IsNaN", total), [1])
    place = graph.add("Where", is_none, len(classes), chosen)
    labels = np.array([*classes.tolist(), none], dtype=classes.dtype)
    graph.add("Gather", labels, place, output=outputs[0])


def _classes(predictor: Predictor) -> Any:
    """Labels as integers where they are, or else as text."""
    classes = predictor.classes.tolist()
    check_characters(classes, "a class label holds", "ONNX")
    if all(isinstance(label, int) for label in classes):
        check_integers(classes, "the class labels hold", "ONNX")
        return np.array([int(label) for label in classes], dtype=np.int64)
    pair = equal_pair(classes, str)
    if pair is not None:
        raise ValueError(
            f"the class labels {quoted(pair[0])} and {quoted(pair[1])} are one text in "
            "ONNX, where labels of several types are text; rename one and fit again"
        )
    return np.array([str(label) for label in classes], dtype=object)


def _assembled(
    graph: Graph,
    predictor: Predictor,
    classes: Any,
    inputs: Sequence[_Input],
    outputs: Sequence[str],
) -> Any:
    """The checked model of a graph's nodes."""
    onnx = onnx_library()
    kinds, info = onnx.TensorProto, onnx.helper.make_tensor_value_info
    given = [
        info(one.name, kinds.STRING if one.is_text else kinds.DOUBLE, ["n_rows", 1])
        for one in inputs
    ]
    label_kind = kinds.INT64 if classes.dtype.kind == "i" else kinds.STRING
    results = [
        info(outputs[0], label_kind, ["n_rows"]),
        info(outputs[1], kinds.DOUBLE, ["n_rows", len(classes)]),
    ]
    body = onnx.helper.make_graph(
        graph.nodes, "bayleaf", given, results, graph.constants
    )
    opsets = [
        onnx.helper.make_opsetid("", OPSET),
        onnx.helper.make_opsetid(ML_DOMAIN, ML_OPSET),
    ]
    model = onnx.helper.make_model(
        body,
        producer_name="bayleaf",
        producer_version=__version__,
        ir_version=_IR_VERSION,
        opset_imports=opsets,
    )
    facts = {
        "classes": json.dumps(classes.tolist()),
        "inputs": json.dumps([one.name for one in inputs]),
        "model": type(predictor.model).__name__,
    }
    onnx.helper.set_model_props(model, facts)
    onnx.checker.check_model(model)
    return model
