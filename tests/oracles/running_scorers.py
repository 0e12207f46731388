"""Scorers that run: a Python file as a module, an ES module in node."""

from __future__ import annotations

import datetime
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bayleaf import write_scorer
from bayleaf.io.exports.scorers.scorer import python_scorer
from bayleaf.io.exports.writers import predictor_of
from bayleaf.models.explanation import Explanation
from conftest import give_up

# Digits that all must share with Python.
CLOSE = 1e-12
_ASKING = """\
import { readFileSync } from "node:fs";
import { predict, predict_proba, explain } from "./scorer.mjs";
const attempt = (row, against) => {
  try {
    const why = explain(row, against);
    return { predict: predict(row), proba: predict_proba(row), why };
  } catch (error) {
    return { error: error.message };
  }
};
const { rows, against } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(rows.map((row) => attempt(row, against))));
"""
Row = dict[str, Any]


def python_answers(model: Any, rows: list[Row], against: Any = None) -> list[Row]:
    """What the Python file says of rows: label, probabilities, explanation or error."""
    scorer: Row = {"__name__": "scorer"}
    exec(compile(python_scorer(predictor_of(model)), "scorer.py", "exec"), scorer)
    return [_answer(scorer, row, against) for row in rows]


def _answer(scorer: Row, row: Row, against: Any) -> Row:
    """What a Python scorer says of one row."""
    try:
        label, proba = scorer["predict"](row), scorer["predict_proba"](row)
        why = scorer["explain"](row, against)
        return {"predict": label, "proba": proba, "why": why}
    except ValueError as error:
        return {"error": str(error)}


def node() -> str:
    """The program that runs ES modules."""
    found = shutil.which("node")
    if found is None:
        give_up("install the program node to test scorers in JavaScript")
    assert found is not None
    return found


def node_answers(
    model: Any, rows: list[Row], folder: Path, against: Any = None
) -> list[Row]:
    """The same of the ES module, in a node that finds nothing else."""
    program = node()
    write_scorer(model, folder / "scorer.mjs")
    (folder / "asking.mjs").write_text(_ASKING, encoding="utf-8")
    done = subprocess.run(
        ["env", "-i", program, folder / "asking.mjs"],
        input=json.dumps({"rows": rows, "against": against}, default=_for_node),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[Row] = json.loads(done.stdout)
    return found


def _for_node(value: Any) -> Any:
    """Times as texts, and spans of time as milliseconds."""
    if isinstance(value, datetime.timedelta):
        return value / datetime.timedelta(milliseconds=1)
    return value.isoformat()


def check_answers(model: Any, table: pa.Table, answers: list[Row]) -> None:
    """Answers are those of the model: labels, probabilities, terms and their words."""
    labels = [str(label) for label in model.predict(table)]
    told = model.explain(table)
    assert [str(one["predict"]) for one in answers] == labels
    # An object of JavaScript has keys that are integers first.
    by_name = [{str(name): p for name, p in one["proba"].items()} for one in answers]
    names = [str(label) for label in model.classes_]
    assert all(sorted(own) == sorted(names) for own in by_name)
    proba = [[own[name] for name in names] for own in by_name]
    np.testing.assert_allclose(proba, model.predict_proba(table), rtol=0, atol=CLOSE)
    for one, other in zip(answers, told, strict=True):
        check_explanation(one["why"], other)


def check_explanation(found: Row, expected: Explanation) -> None:
    """An explanation has the numbers and words of the library's."""
    ours = expected.to_dict()
    for name in ("class", "against"):
        assert str(found[name]) == str(ours[name])
    numbers = ("probability", "against_probability", "log_odds", "prior")
    for name in numbers:
        assert abs(found[name] - ours[name]) <= CLOSE
    total = found["prior"] + sum(term["contribution"] for term in found["terms"])
    assert abs(total - found["log_odds"]) <= CLOSE
    for term, own in zip(found["terms"], ours["terms"], strict=True):
        assert abs(term["contribution"] - own["contribution"]) <= CLOSE
        assert (str(term["feature"]), term["value"], term["given"]) == (
            str(own["feature"]),
            own["value"],
            {str(name): state for name, state in own["given"].items()},
        )
