"""A classifier as one ES module that imports nothing, for node and browsers."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from bayleaf.io.atomic import write_text
from bayleaf.io.exports.registry import predictor_of
from bayleaf.io.exports.runtime.packing import script_json
from bayleaf.io.exports.runtime.scripts import runtime_scripts
from bayleaf.io.exports.scorers.python_file import PLAIN_CHARACTERS
from bayleaf.io.exports.scorers.script_content import script_content
from bayleaf.models.predictor import Predictor

_HEAD = """\
// Scores rows by a classifier, in browsers and in node, without any other file.
// Written by bayleaf. In another module:
//
//   import { predict, predict_proba, explain } from "./scorer.js";
//   predict({ column: value, ... });        // a label
//   predict_proba({ column: value, ... });  // { label: probability }
//   explain({ column: value, ... });        // terms that add up, in nats
"""
_TAIL = """\
const SCORER = new Scorer(await readDocument(MODEL), {{ {kinds} }});

/**
 * The label of a row, given as an object of columns and values: text, numbers, truth
 * values, dates (as Date, or as ISO text); null, undefined and NaN stand for missing
 * ones. An Error says in a sentence what cannot be used.
 */
export function predict(row) {{
  return SCORER.predict(row);
}}

/** The probability of each label. */
export function predict_proba(row) {{
  return SCORER.predictProba(row);
}}

/**
 * The log-odds of the label predicted, as a prior and a term for each feature: against
 * the label given, else against the runner-up; in nats.
 */
export function explain(row, against) {{
  return SCORER.explain(row, against);
}}
"""


def write_script_scorer(predictor: Predictor, path: str | Path) -> None:
    """Write a classifier as an ES module that scores rows by itself.

    Parameters
    ----------
    predictor : fitted classifier, Predictor, SavedModel, str or Path
        The classifier, or the model file of one.
    path : str or Path
        Where to; an older file is replaced only when all is written.

    Raises
    ------
    ValueError
        If the module cannot hold labels or states or tell them apart, or networks are
        too large.
    OSError
        If the file cannot be written.
    """
    write_text(path, script_scorer(predictor_of(predictor)))


def script_scorer(predictor: Predictor) -> str:
    """The text of such a module."""
    content, kinds = script_content(predictor)
    parts = runtime_scripts(kinds)
    folder = files("bayleaf.io.exports.scorers").joinpath("script")
    own = [folder.joinpath(name) for name in ("cells.js", "scoring.js")]
    parts += [script.read_text(encoding="utf-8") for script in own]
    model = script_json(content, plain_characters=PLAIN_CHARACTERS, ascii_only=True)
    # The JSON is a text, so that a key of it is never taken for syntax.
    parts.append(
        f"const MODEL = {script_json(model, plain_characters=len(model) * 9)};\n"
    )
    return "\n".join([_HEAD, *parts, _TAIL.format(kinds=", ".join(sorted(kinds)))])
