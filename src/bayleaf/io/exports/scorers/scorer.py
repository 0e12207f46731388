"""A scorer in the language that the suffix of its file names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayleaf.io.exports.registry import export_model

_SUFFIXES = (".py", ".js", ".mjs")


def write_scorer(model: Any, path: str | Path) -> None:
    """Write a classifier as one file that scores and explains rows by itself.

    A ``.py`` file needs Python 3.8 and no package, and is a command too, which scores
    CSV on standard input; a ``.js`` or ``.mjs`` file is an ES module without imports,
    for browsers and node. Both offer ``predict(row)``, ``predict_proba(row)`` and
    ``explain(row, against)`` for one row of raw values, and answer as the classifier
    does: missing cells are summed out, values unknown in training, temperature, class
    prior and loss count as they do there.

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
        truth value, or (in JavaScript) labels or states could not be told apart or
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
    if suffix not in _SUFFIXES:
        raise ValueError(
            f"a scorer is a file of {', '.join(_SUFFIXES)}, got {Path(path).name}"
        )
    export_model(model, path)
