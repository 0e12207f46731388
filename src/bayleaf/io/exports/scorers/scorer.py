"""A classifier as one file that scores rows by itself, in Python or JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path

from bayleaf.io.atomic import write_export
from bayleaf.io.exports.packing import script_json
from bayleaf.io.exports.runtime import runtime_scripts
from bayleaf.io.exports.scorers.classifier_content import readers_of, scorer_content
from bayleaf.io.exports.writers import predictor_of
from bayleaf.io.native.model_file import SavedModel
from bayleaf.models.predictor import ModelLike, Predictor

# Larger models are compressed: a person would not read their numbers anyway.
_PLAIN_CHARACTERS = 100_000
_WIDTH = 4000
# Names that lines import from the standard library, and names that lines define.
_IMPORT = re.compile(r"^(?:from (?!bayleaf)(\S+) )?import ([\w, ]+)$", re.M)
# Empty lines between definitions; constants that follow each other are one.
_BETWEEN = re.compile(r"\n\n\n|\n\n(?=[A-Z_#])")
_DEFINED = re.compile(r"^(?:(?:def|class) )?(\w+)(?:\(|:| = )", re.M)
# The files of packages that a Python file takes definitions of.
_PROGRAM = (
    ("bayleaf.inference", "plain_rules.py"),
    ("bayleaf.io.exports.scorers.program", "engine.py"),
    ("bayleaf.data.tables", "date_parts.py"),
    ("bayleaf.io.exports.scorers.program", "cell_values.py"),
    ("bayleaf.io.exports.scorers.program", "row_scorer.py"),
)
# A function of a script, with the comment above it.
_FUNCTION = re.compile(r"^/\*\* [^/]*\*/\nfunction (\w+)\(.*?^}\n\n?", re.M | re.S)

_PYTHON_HEAD = '''\
"""Scores rows by a classifier, with nothing but the standard library of Python 3.8.

Written by bayleaf. In another program:

    import {module}
    {module}.predict({{"column": value, ...}})           # a label
    {module}.predict_proba({{"column": value, ...}})     # {{label: probability}}
    {module}.explain({{"column": value, ...}})           # terms that add up, in nats
    {module}.notes({{"column": value, ...}})             # notes on its cells

On the command line, for CSV with column names in its first line:

    python {file} < rows.csv > scored.csv
    python {file} --notes < rows.csv > scored.csv   # notes on the cells, too
    python {file} --explain < rows.csv      # a text for each row
"""
'''
_PYTHON_TAIL = '''\
_MODEL = (
{model}
)
_SCORER = Scorer(read_document(_MODEL), [{kinds}], [{readers}])


def predict(row: Mapping[Any, Any]) -> Any:
    """The label of a row, given as a dict of columns and values.

    Values are numbers, booleans, dates, or texts as those of training; None and
    NaN stand for missing ones. ValueError says in a sentence what cannot be used.
    """
    return _SCORER.predict(row)


def predict_proba(row: Mapping[Any, Any]) -> dict[Any, float]:
    """The probability of each label."""
    return _SCORER.predict_proba(row)


def explain(row: Mapping[Any, Any], against: Any = None) -> dict[str, Any]:
    """The log-odds of the label predicted, as a prior and a term for each feature.

    They are against the label given, else against the runner-up; in nats.
    """
    return _SCORER.explanation(_SCORER.codes(row), against)


def notes(row: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """Cells not taken as they are: missing, unknown, nearest 8, not in training."""
    return _SCORER.notes(row)


if __name__ == "__main__":
    sys.exit(main(_SCORER, sys.argv, __doc__))
'''


_SCRIPT_HEAD = """\
// Scores rows by a classifier, in browsers and in node, without any other file.
// Written by bayleaf. In another module:
//
//   import { predict, predict_proba, explain, notes } from "./scorer.js";
//   predict({ column: value, ... });        // a label
//   predict_proba({ column: value, ... });  // { label: probability }
//   explain({ column: value, ... });        // terms that add up, in nats
//   notes({ column: value, ... });          // notes on its cells
"""
_SCRIPT_TAIL = """\
const SCORER = new Scorer(await readDocument(MODEL), {{ {kinds} }}, {{ {readers} }});

/**
 * The label of a row, given as an object of columns and values: numbers, booleans,
 * dates (as Date), or texts as those of training; null, undefined and NaN stand for
 * missing ones. An Error says in a sentence what cannot be used.
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

/** Cells not taken as they are: missing, unknown, nearest 8, not in training. */
export function notes(row) {{
  return SCORER.notes(row);
}}
"""


def write_scorer(model: ModelLike | SavedModel | str | Path, path: str | Path) -> None:
    """Write a classifier as one file that scores and explains rows by itself.

    A ``.py`` file needs Python 3.8 and no package, and is a command too, which scores
    CSV on standard input; a ``.js`` or ``.mjs`` file is an ES module without imports,
    for browsers and node. Both offer ``predict(row)``, ``predict_proba(row)``,
    ``explain(row, against)`` and ``notes(row)`` for one row of raw values, and answer
    as the classifier does: missing cells are summed out, values unknown in training,
    temperature, class prior and loss count as they do there. Notes are those of
    ``predict(rows, return_notes=True)``.

    Parameters
    ----------
    model : fitted classifier, Predictor, SavedModel, str or Path
        The classifier, or the model file of one.
    path : str or Path
        Where to; its suffix names the language. An older file is replaced only when
        all is written.

    Raises
    ------
    ValueError
        If the suffix is another one, a label or state is neither text, number nor
        boolean, or (in JavaScript) labels or states could not be told apart or
        networks are too large.
    TypeError
        If `model` is no classifier.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayleaf import NaiveBayesClassifier, write_scorer
    >>> fitted = NaiveBayesClassifier().fit([["a"], ["b"]] * 9, [0, 1] * 9)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scorer.py"
    ...     write_scorer(fitted, path)
    ...     text = path.read_text()
    >>> "def predict(row" in text
    True
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".py", ".js", ".mjs"):
        raise ValueError(f"a scorer is a file of .py, .js, .mjs, got {Path(path).name}")
    predictor = predictor_of(model)
    if suffix == ".py":
        write_export(path, python_scorer(predictor, Path(path).name))
    else:
        write_export(path, script_scorer(predictor))


def python_scorer(predictor: Predictor, name: str = "scorer.py") -> str:
    """The text of a Python file; its name stands in the usage that it tells."""
    content, kinds = scorer_content(predictor)
    text = script_json(content, plain_characters=_PLAIN_CHARACTERS, ascii_only=True)
    file = name if name.isascii() and name.isprintable() else "scorer.py"
    file = file.translate({ord(sign): "_" for sign in '"\\{}'})
    module = Path(file).stem
    module = module if module.isidentifier() else "scorer"
    # String literals, one a line, that together are the text.
    pieces = [text[k : k + _WIDTH] for k in range(0, len(text), _WIDTH)]
    literals = "\n".join(f"    {piece!r}" for piece in pieces)
    readers = readers_of(content)
    tail = _PYTHON_TAIL.format(
        model=literals, kinds=", ".join(kinds), readers=", ".join(readers)
    )
    head = _PYTHON_HEAD.format(file=file, module=module)
    imports, bodies = _program(
        [*kinds, *readers, "main", "read_document", "Any", "Mapping", "sys"]
    )
    lines = [head, "from __future__ import annotations", "", *imports, "", ""]
    return "\n".join([*lines, "\n\n\n".join([*bodies, tail])])


def script_scorer(predictor: Predictor) -> str:
    """The text of an ES module."""
    content, kinds = scorer_content(predictor, is_script=True)
    folder = files("bayleaf.io.exports.scorers").joinpath("script")
    readers = readers_of(content)
    own = [folder.joinpath(name) for name in ("cells.js", "scoring.js")]
    parts = runtime_scripts([*kinds, *readers])
    parts += [script.read_text(encoding="utf-8") for script in own]
    program = _without_unused("\n".join(parts))
    model = script_json(content, plain_characters=_PLAIN_CHARACTERS, ascii_only=True)
    # The JSON is a text, so that a key of it is never taken for syntax.
    text = script_json(model, plain_characters=len(model) * 9)
    tail = _SCRIPT_TAIL.format(kinds=", ".join(kinds), readers=", ".join(readers))
    return "\n".join([_SCRIPT_HEAD, program, f"const MODEL = {text};\n", tail])


def _program(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """The imports and the definitions that some names of the program need, in order."""
    imports, definitions = _definitions()
    needed, left = set[str](), [*names]
    while left:
        if (name := left.pop()) not in needed:
            needed.add(name)
            left += definitions.get(name, ("", ()))[1]
    parts = dict.fromkeys(t for name, (t, _) in definitions.items() if name in needed)
    by_start: dict[str, list[str]] = {}
    for name in sorted(needed & {*imports}):
        by_start.setdefault(imports[name], []).append(name)
    lines = [f"{start}import {', '.join(by_start[start])}" for start in by_start]
    return sorted(lines), [*parts]


def _without_unused(script: str) -> str:
    """A script without functions that nothing else in it names."""
    for found in re.finditer(_FUNCTION, script):
        if len(re.findall(rf"\b{found[1]}\b", script)) == 1:
            return _without_unused(script.replace(found[0], ""))
    return script


@cache
def _definitions() -> tuple[dict[str, str], dict[str, tuple[str, set[str]]]]:
    """Modules of imported names; texts that define names, with the words in them."""
    imports: dict[str, str] = {}
    definitions: dict[str, tuple[str, set[str]]] = {}
    for package, file in _PROGRAM:
        source = files(package).joinpath(file).read_text(encoding="utf-8")
        for module, own in re.findall(_IMPORT, source):
            start = f"from {module} " if module else ""
            imports |= dict.fromkeys(own.split(", "), start)
        for part in re.split(_BETWEEN, source):
            found = part.strip(), {*re.findall(r"\w+", part)}
            definitions |= dict.fromkeys(re.findall(_DEFINED, part), found)
    return imports, definitions
