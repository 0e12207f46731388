"""Inputs of a graph, one a column, and the codes of their cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayleaf.io.exports.cells import FeatureCells
from bayleaf.io.exports.characters import check_characters
from bayleaf.io.exports.operators.graph import ML_DOMAIN, Graph
from bayleaf.wording import name_list, quoted


@dataclass(frozen=True)
class GraphInput:
    """One input of shape (n_rows, 1).

    Parameters
    ----------
    name : str
        The column's name; with a dot and the part for dates.
    is_text : bool
        Whether it takes strings, and not doubles.
    cells : FeatureCells
        How its cells become codes.
    """

    name: str
    is_text: bool
    cells: FeatureCells


def graph_inputs(every: Sequence[FeatureCells]) -> tuple[GraphInput, ...]:
    """The inputs of all features, in the model's order.

    Raises
    ------
    ValueError
        If names are the same once they are text or empty, or a column mixes values
        that no tensor holds together.
    """
    found = tuple(_input(cells) for cells in every)
    names = [one.name for one in found]
    check_characters(names, "a column's name holds", "ONNX")
    if "" in names:
        raise ValueError("a column without a name can be no input; rename it")
    if twice := sorted({quoted(name) for name in names if names.count(name) > 1}):
        raise ValueError(
            f"columns whose names are the same as text can be no inputs: "
            f"{name_list(twice)}; rename them"
        )
    return found


def _input(cells: FeatureCells) -> GraphInput:
    """The input of one feature."""
    name = str(cells.column)
    if cells.part is not None:
        name = f"{name}.{cells.part}"
    if cells.kind == "intervals":
        return GraphInput(name, False, cells)
    texts = [value for value in cells.codes if isinstance(value, str)]
    check_characters(texts, f"column {quoted(name)} holds a text with", "ONNX")
    if len(texts) == len(cells.codes):
        return GraphInput(name, bool(texts) or cells.part is None, cells)
    try:
        exact = not texts and all(float(v) == v for v in cells.codes)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
        raise ValueError(
            f"column {quoted(name)} holds values that are neither all text nor all "
            "numbers that a double holds exactly; train with them as text"
        )
    return GraphInput(name, False, cells)


def write_codes(graph: Graph, one: GraphInput) -> tuple[str, str | None]:
    """The codes of an input's cells and, if it has any, whether they are refused.

    Returns
    -------
    codes : str
        Whole numbers of shape (n_rows,).
    refused : str or None
        Truth values of shape (n_rows,); codes of refused cells are those of cells that
        are summed out.
    """
    cells = one.cells
    flat = graph.add("Squeeze", one.name, [1])
    refused_code = cells.n_codes
    missing = refused_code if cells.missing is None else cells.missing
    unknown = refused_code if cells.unknown is None else cells.unknown
    if one.is_text:
        codes = _text_codes(graph, flat, cells, missing, unknown)
    else:
        codes = _number_codes(graph, flat, cells, missing, unknown)
    if refused_code not in (missing, unknown):
        return codes, None
    refused = graph.add("Equal", codes, np.array(refused_code))
    last = np.array(cells.variable.n_states)
    return graph.add("Where", refused, last, codes), refused


def _text_codes(
    graph: Graph, values: str, cells: FeatureCells, missing: int, unknown: int
) -> str:
    """Codes of text; the empty one is a missing cell unless it is a value."""
    codes = {"": missing, **{str(value): code for value, code in cells.codes.items()}}
    return graph.add(
        "LabelEncoder",
        values,
        domain=ML_DOMAIN,
        keys_strings=[text.encode() for text in codes],
        values_int64s=list(codes.values()),
        default_int64=unknown,
    )


def _number_codes(
    graph: Graph, values: str, cells: FeatureCells, missing: int, unknown: int
) -> str:
    """Codes of numbers: how many cut points are below, or that of an equal value."""
    column = graph.add("Unsqueeze", values, [1])
    if cells.kind == "intervals":
        cuts = np.array(cells.cut_points, dtype=np.float64).reshape(1, -1)
        below = graph.cast(graph.add("Greater", column, cuts), "INT64")
        codes = graph.add("ReduceSum", below, [1], keepdims=0)
    else:
        keys = np.array([float(v) for v in cells.codes])  # type: ignore[arg-type]
        is_own = graph.cast(graph.add("Equal", column, keys.reshape(1, -1)), "INT64")
        # Of equal values there is one at most.
        steps = np.array([code - unknown for code in cells.codes.values()], dtype=int)
        step = graph.add("Mul", is_own, steps.reshape(1, -1))
        moved = graph.add("ReduceSum", step, [1], keepdims=0)
        codes = graph.add("Add", moved, np.array(unknown))
    return graph.add("Where", graph.add("IsNaN", values), np.array(missing), codes)
