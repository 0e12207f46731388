"""Classifiers as graphs in the Open Neural Network Exchange's format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayleaf.io.atomic import replacing
from bayleaf.io.exports.cells import feature_cells
from bayleaf.io.exports.characters import (
    check_characters,
    check_integers,
    equal_pair,
)
from bayleaf.io.exports.operators.graph import (
    ML_DOMAIN,
    ML_OPSET,
    OPSET,
    Graph,
    onnx_library,
)
from bayleaf.io.exports.operators.inputs import GraphInput, graph_inputs, write_codes
from bayleaf.io.exports.operators.terms import TermOperators
from bayleaf.io.exports.registry import predictor_of
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.terms import program_of
from bayleaf.version import __version__
from bayleaf.wording import quoted

# Results of the graph; columns with these names put the model's name before them.
LABEL, PROBABILITIES = "label", "probabilities"
_IR_VERSION = 8


def write_onnx(model: Any, path: str | Path) -> None:
    """Write a classifier as an ONNX file; see `to_onnx`.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    data = to_onnx(model).SerializeToString()
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def to_onnx(model: Any) -> Any:
    """Return a classifier as an ONNX graph, which onnxruntime and others run.

    Parameters
    ----------
    model : fitted classifier, Predictor, SavedModel, str or Path
        The classifier, or the path of its model file.

    Returns
    -------
    onnx.ModelProto
        One input of shape (n_rows, 1) for each column, of strings, or of doubles where
        the column holds numbers or truth values (0 and 1); an empty string and NaN are
        missing cells. A date has one input for each of its parts, such as
        ``when.month``. Outputs are ``label`` of shape (n_rows,), whole numbers where
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
    inputs = graph_inputs(feature_cells(predictor.encoder))
    names = [one.name for one in inputs]
    outputs = [_free(name, names) for name in (LABEL, PROBABILITIES)]
    graph = Graph({*names, *outputs})
    codes, refused = [], []
    for one in inputs:
        own, is_refused = write_codes(graph, one)
        codes.append(own)
        refused += [] if is_refused is None else [is_refused]
    graph.zeros_like(codes[0])
    scores = _scores(graph, predictor, inputs, codes)
    _write_results(graph, predictor, scores, refused, outputs)
    return _assembled(graph, predictor, inputs, outputs)


def _free(name: str, taken: Sequence[str]) -> str:
    """A name of a result that no column has."""
    while name in taken:
        name = f"bayleaf_{name}"
    return name


def _scores(
    graph: Graph,
    predictor: Predictor,
    inputs: Sequence[GraphInput],
    codes: Sequence[str],
) -> str:
    """Log scores of the classes, (n_rows, n_classes)."""
    may_miss = [
        one.cells.variable.n_states in (one.cells.missing, one.cells.unknown)
        or None in (one.cells.missing, one.cells.unknown)
        for one in inputs
    ]
    domain = predictor.model.domain
    program = program_of(predictor.model)
    return TermOperators(
        graph, codes, list(map(str, domain.names[:-1])), may_miss
    ).scores(program)


def _write_results(
    graph: Graph,
    predictor: Predictor,
    scores: str,
    refused: Sequence[str],
    outputs: Sequence[str],
) -> None:
    """Add the nodes of probabilities and labels."""
    if predictor.temperature != 1.0:
        scores = graph.add("Div", scores, np.array(predictor.temperature))
    if predictor.prior_shift is not None:
        scores = graph.add("Add", scores, predictor.prior_shift)
    if refused:
        column = graph.add("Unsqueeze", graph.any_of(refused), [1])
        scores = graph.add("Where", column, np.array(np.nan), scores)
    highest = graph.add("ReduceMax", scores, axes=[1], keepdims=1)
    powers = graph.add("Exp", graph.add("Sub", scores, highest))
    total = graph.add("ReduceSum", powers, [1], keepdims=1)
    proba = graph.add("Div", powers, total, to=outputs[1])
    if predictor.loss is None:
        chosen = graph.add("ArgMax", proba, axis=1, keepdims=0)
    else:
        costs = graph.add("MatMul", proba, np.ascontiguousarray(predictor.loss.T))
        chosen = graph.add("ArgMin", costs, axis=1, keepdims=0)
    classes = _classes(predictor)
    is_number = classes.dtype.kind == "i"
    none = np.iinfo(np.int64).min if is_number else ""
    # Where there is no probability, there is no class either.
    is_none = graph.add("Squeeze", graph.add("IsNaN", total), [1])
    place = graph.add("Where", is_none, np.array(len(classes)), chosen)
    labels = np.array([*classes.tolist(), none], dtype=classes.dtype)
    graph.add("Gather", labels, place, axis=0, to=outputs[0])


def _classes(predictor: Predictor) -> Any:
    """Labels as whole numbers where they are, or else as text."""
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
    inputs: Sequence[GraphInput],
    outputs: Sequence[str],
) -> Any:
    """The checked model of a graph's nodes."""
    onnx = onnx_library()
    kinds, info = onnx.TensorProto, onnx.helper.make_tensor_value_info
    classes = _classes(predictor)
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
