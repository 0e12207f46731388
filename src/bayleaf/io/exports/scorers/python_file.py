"""A classifier as one file of Python that needs nothing but the standard library."""

from __future__ import annotations

import ast
from importlib.resources import files
from pathlib import Path

from bayleaf.io.atomic import write_text
from bayleaf.io.exports.registry import predictor_of
from bayleaf.io.exports.runtime.packing import script_json
from bayleaf.io.exports.scorers.content import scorer_content
from bayleaf.io.exports.scorers.program_content import program_content
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.terms import program_of

# Modules that run each kind of term.
_MODULES = {
    "Look": "tables",
    "Counts": "counts",
    "Density": "densities",
    "Tree": "trees",
    "SumOut": "sums_out",
    "Bank": "banks",
    "LogSum": "members",
}
# Larger models are compressed: a person would not read their numbers anyway.
PLAIN_CHARACTERS = 100_000
_WIDTH = 4000

_HEAD = '''\
"""Scores rows by a classifier, with nothing but the standard library of Python 3.8.

Written by bayleaf. In another program:

    import {module}
    {module}.predict({{"column": value, ...}})           # a label
    {module}.predict_proba({{"column": value, ...}})     # {{label: probability}}
    {module}.explain({{"column": value, ...}})           # terms that add up, in nats

On the command line, for CSV with column names in its first line:

    python {file} < rows.csv > scored.csv
    python {file} --explain < rows.csv      # a text for each row
"""
'''
_TAIL = '''\
_MODEL = (
{model}
)
_SCORER = Scorer(read_document(_MODEL), [{kinds}])


def predict(row: Mapping[Any, Any]) -> Any:
    """The label of a row, given as a dict of columns and values.

    Values are text, numbers, truth values, dates (as such, or as ISO text); None and
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
    return _SCORER.explain(row, against)


if __name__ == "__main__":
    sys.exit(main(_SCORER, sys.argv, __doc__))
'''


def write_python_scorer(predictor: Predictor, path: str | Path) -> None:
    """Write a classifier as a Python file that scores rows by itself.

    Parameters
    ----------
    predictor : fitted classifier, Predictor, SavedModel, str or Path
        The classifier, or the model file of one.
    path : str or Path
        Where to; an older file is replaced only when all is written.

    Raises
    ------
    ValueError
        If the file cannot hold labels or states, or networks are too large.
    OSError
        If the file cannot be written.
    """
    write_text(path, python_scorer(predictor_of(predictor), Path(path).name), "ascii")


def python_scorer(predictor: Predictor, name: str = "scorer.py") -> str:
    """The text of such a file; its name stands in the usage that it tells."""
    model = predictor.model
    terms = program_of(model)
    program, found = program_content(terms)
    kinds = [kind for kind in _MODULES if kind in found]
    parts = [_MODULES[kind] for kind in kinds]
    modules = ("arithmetic", "cells", "engine", *parts, "scoring", "command")
    imports: set[str] = set()
    bodies = [_body(module, imports) for module in modules]
    content = {**scorer_content(predictor), "program": program}
    text = script_json(content, plain_characters=PLAIN_CHARACTERS, ascii_only=True)
    file = name if name.isascii() and name.isprintable() else "scorer.py"
    file = file.translate({ord(sign): "_" for sign in '"\\{}'})
    module = Path(file).stem
    head = _HEAD.format(file=file, module=module if module.isidentifier() else "scorer")
    plain = sorted(line for line in imports if line.startswith("import "))
    chosen = sorted(line for line in imports if not line.startswith("import "))
    lines = ["from __future__ import annotations", "", *plain, *chosen]
    tail = _TAIL.format(model=_literal(text), kinds=", ".join(kinds))
    return "\n".join([head, *lines, "", "", "\n\n\n".join([*bodies, tail])])


def _body(module: str, imports: set[str]) -> str:
    """A module without its docstring and imports, which go into the set."""
    folder = files("bayleaf.io.exports.scorers").joinpath("program")
    source = folder.joinpath(f"{module}.py").read_text(encoding="utf-8")
    # Nothing but constants follows the imports before the first two empty lines.
    head, _, rest = source.partition("\n\n\n")
    kept, tree = head.splitlines(), ast.parse(head)
    for place, node in enumerate(tree.body):
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        if not is_import and place:
            continue
        for line in range(node.lineno - 1, node.end_lineno or node.lineno):
            kept[line] = ""
        own = isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            ("bayleaf", "__future__")
        )
        if is_import and not own:
            imports.add(ast.unparse(node))
    return "\n".join([*kept, "", "", rest]).strip()


def _literal(text: str) -> str:
    """ASCII text as string literals, one a line, that together are the text."""
    pieces = [text[k : k + _WIDTH] for k in range(0, len(text), _WIDTH)]
    return "\n".join(f"    {piece!r}" for piece in pieces)
