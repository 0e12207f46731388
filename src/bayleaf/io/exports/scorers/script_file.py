"""A classifier as one ES module that imports nothing, for node and browsers."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from bayleaf.io.atomic import write_text
from bayleaf.io.exports.registry import predictor_of
from bayleaf.io.exports.scorers.python_file import PLAIN_CHARACTERS
from bayleaf.io.exports.scorers.shipped_content import shipped_content
from bayleaf.io.exports.shipped.engines import engine_script
from bayleaf.io.exports.shipped.packing import script_json
from bayleaf.models.predictor import Predictor

# Scripts that each kind of model needs, in the order in which they build on another.
_NETWORK = ("junction_tree.js", "network_engine.js")
_SCRIPTS: dict[str, tuple[str, ...]] = {
    "network": _NETWORK,
    "networks": _NETWORK,
    "one_dependence": ("average_engine.js", "one_dependence_engine.js"),
    "averaged": ("number_terms.js", "average_engine.js", "averaged_engine.js"),
    "mixture": ("average_engine.js", "mixture_engine.js"),
    "hybrid": (*_NETWORK, "number_terms.js", "average_engine.js", "hybrid_engine.js"),
}
_ENGINES = {
    "network": "NetworkEngine",
    "networks": "NetworksEngine",
    "one_dependence": "OneDependenceEngine",
    "averaged": "AveragedEngine",
    "mixture": "MixtureEngine",
    "hybrid": "HybridEngine",
}

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
const SCORER = new Scorer(await readDocument(MODEL), {engine});

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
    content = shipped_content(predictor)
    kind = content["kind"]
    names = ("arithmetic.js", "evidence_sets.js", *_SCRIPTS[kind])
    parts = [engine_script(name) for name in names]
    folder = files("bayleaf.io.exports.scorers").joinpath("script")
    own = [folder.joinpath(name) for name in ("cells.js", "scoring.js")]
    parts += [script.read_text(encoding="utf-8") for script in own]
    model = script_json(content, plain_characters=PLAIN_CHARACTERS, ascii_only=True)
    # The JSON is a text, so that a key of it is never taken for syntax.
    parts.append(
        f"const MODEL = {script_json(model, plain_characters=len(model) * 9)};\n"
    )
    return "\n".join([_HEAD, *parts, _TAIL.format(engine=_ENGINES[kind])])
