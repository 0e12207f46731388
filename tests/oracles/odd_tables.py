"""Odd names, labels and tables, and which programs refuse them in which words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from bayleaf import TANClassifier

N_ROWS = 60
DATABASES = ("duckdb", "sqlite", "postgres")


@dataclass(frozen=True)
class OddCase:
    """A table, and the part of the sentence with which a program refuses it."""

    names: Sequence[str] = ("a", "b")
    values: Sequence[Any] = ("x", "y")
    labels: Sequence[Any] = ("p", "q", "r")
    table: Sequence[str] = ("t",)
    # Cells are declared as categories, not learned as the numbers that they are.
    is_declared: bool = True
    refused: Mapping[str, str] = field(default_factory=dict)


def databases(sentence: str, *others: str) -> dict[str, str]:
    """The same sentence of all databases, and of other programs."""
    return dict.fromkeys((*DATABASES, *others), sentence)


SURROGATE = "a lone surrogate, which"
ZERO = "a zero byte, which"
SCRIPT = "that JavaScript cannot tell apart"
ONE_TYPE = "a column of a database has one type"
XML = "XML cannot hold"
TYPED = {"duckdb": ONE_TYPE, "postgres": ONE_TYPE}

CASES = {
    "a class named as the number of another": OddCase(labels=("2", "A", "a")),
    "numbers of classes twice": OddCase(labels=("2", "2_2", "A", "B", "a", "b")),
    "labels that are output columns": OddCase(
        labels=("prediction", "PREDICTION", "Prediction_2")
    ),
    "long labels": OddCase(labels=("l" * 90 + "1", "l" * 90 + "2", "2")),
    "integers of 54 bits": OddCase(
        labels=(2**53, 2**53 + 1), refused={"javascript": SCRIPT}
    ),
    "a single integer of 54 bits": OddCase(
        labels=(5, 2**53 + 1), refused={"javascript": "9007199254740993 and integers"}
    ),
    "integers of 64 bits without a sign": OddCase(
        labels=(2**63, 2**63 + 1),
        refused={
            **databases("exceeds the integers of SQL"),
            "onnx": "exceeds the integers of ONNX",
            "javascript": SCRIPT,
        },
    ),
    "1 and '1'": OddCase(
        labels=(1, "1"),
        refused={
            **TYPED,
            "javascript": f"{SCRIPT}: 1 and '1'",
            "onnx": "labels 1 and '1' are one text in ONNX",
            "pmml": "are the same once written as text",
        },
    ),
    "1.0 and '1'": OddCase(
        labels=(1.0, "1"), refused={**TYPED, "javascript": f"{SCRIPT}: 1.0 and '1'"}
    ),
    "1e21 and '1e+21'": OddCase(
        labels=(1e21, "1e+21"),
        refused={
            **TYPED,
            "javascript": SCRIPT,
            "onnx": "are one text in ONNX",
            "pmml": "are the same once written as text",
        },
    ),
    "True and 'true'": OddCase(
        labels=(True, "true"),
        refused={
            **TYPED,
            "javascript": f"{SCRIPT}: True and 'true'",
            "pmml": "are the same once written as text",
        },
    ),
    "a zero byte in a label": OddCase(
        labels=("p\0", "p", "q"),
        refused={**databases(f"a class label holds {ZERO}", "onnx"), "pmml": XML},
    ),
    "a lone surrogate in a label": OddCase(
        labels=("p\ud800", "q"),
        refused={**databases(f"a class label holds {SURROGATE}", "onnx"), "pmml": XML},
    ),
    "1 and '1' as cells": OddCase(
        values=(1, "1"),
        refused={
            **databases(ONE_TYPE),
            "onnx": "neither all text nor all",
            "pmml": "are the same once written as text",
        },
    ),
    "True and 'true' as cells": OddCase(
        values=(True, "true"),
        refused={
            **databases(ONE_TYPE),
            "onnx": "neither all text nor all",
            "pmml": "are the same once written as text",
        },
    ),
    "integers of 54 bits as cells": OddCase(
        values=(2**53, 2**53 + 1, 2**53 + 2),
        refused={"javascript": SCRIPT, "onnx": "neither all text nor all"},
    ),
    "integers of 54 bits as numbers": OddCase(
        values=(1, 2, 2**53, 2**53 + 1, 2**53 + 2),
        is_declared=False,
        refused={"javascript": SCRIPT, "onnx": "neither all text nor all"},
    ),
    "a zero byte in a cell": OddCase(
        values=("x\0", "x"),
        refused={**databases(f"holds a text with {ZERO}", "onnx"), "pmml": XML},
    ),
    "a lone surrogate in a cell": OddCase(
        values=("x\udfff", "x"),
        refused={**databases(f"holds a text with {SURROGATE}", "onnx"), "pmml": XML},
    ),
    "a zero byte in a name": OddCase(
        names=("a\0", "b"),
        refused={**databases(f"a column's name holds {ZERO}", "onnx"), "pmml": XML},
    ),
    "a lone surrogate in a name": OddCase(
        names=("a\ud800", "b"),
        refused={
            **databases(f"a column's name holds {SURROGATE}", "onnx"),
            "pmml": XML,
        },
    ),
    "a column without a name": OddCase(
        names=("", "b"),
        refused={
            **dict.fromkeys(("duckdb", "postgres"), "has no column with the name ''"),
            "onnx": "a column without a name can be no input",
        },
    ),
    "names in two cases": OddCase(
        names=("a", "A"),
        refused=dict.fromkeys(("duckdb", "sqlite"), "'A' and 'a' are one column in"),
    ),
    "names in two cases of another script": OddCase(names=("é", "É")),
    "names with a long common part": OddCase(
        names=("n" * 63 + "1", "n" * 63 + "2"),
        refused={"postgres": "are one column in postgres"},
    ),
    "names of columns that databases add": OddCase(
        names=("rowid", "oid"),
        refused=dict.fromkeys(("duckdb", "sqlite"), "adds to tables by itself"),
    ),
    "names of the query's columns": OddCase(names=("c0", "s_0", "i0", "source", "k")),
    "names of results": OddCase(
        names=("prediction", "probability_p", "label"),
        refused={"pmml": "are the same once written as text"},
    ),
    "names of functions of a row": OddCase(names=("count", "concat", "num_nulls")),
    "names of a module": OddCase(names=("constructor", "__proto__", "label", "1")),
    "punctuation": OddCase(
        names=('q"uote', "dot.ted", "`b`", "ünï code", " blank ", "select"),
        labels=('q"uote', "it's", "\\", "", "ünï\n"),
        table=('q"uote.dot `b` ünï',),
    ),
}
TABLES = {
    f"a table {' '.join(table)}": OddCase(table=table)
    for table in [
        *((f"s{number}",) for number in (1, 2, 4)),
        ("S3",),
        ("main", "s4"),
        ("s4_2",),
        ("source",),
        ("j0",),
        ("select",),
        ("täble",),
        ("c0",),
    ]
}


@cache
def fitted(case: str, kind: Any = TANClassifier) -> tuple[Any, pd.DataFrame]:
    """A classifier fitted to a table of a case, and its rows with missing cells."""
    own = (CASES | TABLES)[case]
    rng = np.random.default_rng(5)
    y = rng.integers(len(own.labels), size=N_ROWS)
    y[: len(own.labels)] = range(len(own.labels))
    shape = (N_ROWS, len(own.names))
    codes = np.where(rng.random(shape) < 0.5, y[:, None], rng.integers(9, size=shape))
    values, labels = np.array(own.values, object), np.array(own.labels, object)
    if {type(label) for label in own.labels} == {int}:
        labels = np.array(own.labels)
    cells = values[codes % len(values)]
    names = pd.Index(own.names, dtype=object)
    X = pd.DataFrame(cells, columns=names, dtype=object)
    if not own.is_declared:
        X = X.infer_objects()
    declared = list(own.names) if own.is_declared else None
    model = kind(categorical_features=declared).fit(X, labels[y])
    return model, X[:20]
