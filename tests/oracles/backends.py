"""Everything that a classifier can be exported to, and what it answers there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayleaf import to_onnx, to_sql
from bayleaf.explorer import explorer_html
from bayleaf.scoring.partial_cases import known_cells
from oracles.databases import cells
from oracles.onnx_runs import run_onnx
from oracles.running_scorers import node_answers, python_answers

_PAGE = """evidences => evidences.map((evidence) => {
  const { session } = window.bayleaf;
  session.replace(evidence.map((mask) => mask && Uint8Array.from(mask)));
  const { logs } = session.answer();
  return { logs: Array.from(logs), label: session.decision(logs),
    why: session.explanation() };
})"""


@dataclass(frozen=True)
class Reason:
    """Terms of the log-odds, by name of the feature; those not listed are unknown."""

    prior: float
    terms: dict[str, float]
    log_odds: float


@dataclass(frozen=True)
class Answers:
    """What a backend finds in some rows."""

    labels: list[Any]
    proba: NDArray[np.float64]
    reasons: Sequence[Reason] = ()


def whole_rows(model: Any, rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether rows know all features."""
    codes = model._predictor().encode(rows)
    return known_cells(codes, codes.n_variables).all(axis=1)


def of_database(run: Callable[..., pd.DataFrame], dialect: str) -> Any:
    """What a query finds."""

    def answers(model: Any, rows: pd.DataFrame, folder: Path) -> Answers:
        ranks = range(1, rows.shape[1] + 1)
        query = to_sql(
            model, dialect=dialect, id_columns=["row number"], explain=len(ranks)
        )
        table = rows.assign(**{"row number": np.arange(len(rows))})
        found = run(query, table).sort_values("row number")
        reasons = [
            Reason(
                row["prior"],
                {row[f"feature_{k}"]: row[f"contribution_{k}"] for k in ranks},
                row["log_odds"],
            )
            for row in found.to_dict("records")
        ]
        n, first = len(model.classes_), list(found.columns).index("prediction") + 1
        proba = found.iloc[:, first : first + n].to_numpy(float)
        return Answers(found["prediction"].tolist(), proba, reasons)

    return answers


def of_onnx(model: Any, rows: pd.DataFrame, folder: Path) -> Answers:
    """What a graph of operators finds."""
    labels, proba = run_onnx(to_onnx(model), rows)
    return Answers(labels.tolist(), proba)


def of_python(model: Any, rows: pd.DataFrame, folder: Path) -> Answers:
    """What a Python file finds."""
    return _scored(model, python_answers(model, _dicts(rows)), lambda label: label)


def of_javascript(model: Any, rows: pd.DataFrame, folder: Path) -> Answers:
    """What an ES module finds."""
    return _scored(model, node_answers(model, _dicts(rows), folder), str)


def of_page(open_page: Callable[[str], Any]) -> Any:
    """What the explorer finds of the states of rows."""

    def answers(model: Any, rows: pd.DataFrame, folder: Path) -> Answers:
        predictor = model._predictor()
        codes = predictor.encode(rows)
        cards = predictor.model.domain.cards
        page = open_page(explorer_html(model))
        n_variables = page.evaluate("window.bayleaf.session.evidence.length")
        evidences: list[list[Any]] = [[None] * n_variables for _ in rows.index]
        for feature, card in enumerate(cards[:-1]):
            for evidence, code in zip(evidences, codes.column(feature).tolist()):
                if code < card:
                    evidence[feature] = np.eye(card, dtype=int)[code].tolist()
        found = page.evaluate(_PAGE, evidences)
        names = [str(name) for name in predictor.model.domain.names[:-1]]
        reasons = [
            Reason(
                why["prior"],
                dict(zip(names, why["terms"][: len(names)], strict=True)),
                why["logOdds"],
            )
            for why in (one["why"] for one in found)
        ]
        labels = [model.classes_[one["label"]] for one in found]
        return Answers(labels, np.exp([one["logs"] for one in found]), reasons)

    return answers


def _dicts(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as scorers take them, None for missing cells."""
    return [dict(zip(rows.columns, row, strict=True)) for row in cells(rows)]


def _scored(model: Any, found: list[Any], key: Callable[[Any], Any]) -> Answers:
    """The answers of a scorer."""
    proba = [[one["proba"][key(label)] for label in model.classes_] for one in found]
    reasons = [
        Reason(
            why["prior"],
            {term["feature"]: term["contribution"] for term in why["terms"]},
            why["log_odds"],
        )
        for why in (one["why"] for one in found)
    ]
    return Answers([one["predict"] for one in found], np.array(proba), reasons)
