"""Files of regressors in which something is wrong: refused in a sentence, or sound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayleaf
from bayleaf.explorer import explorer_html
from bayleaf.io import ModelFileError
from oracles.documents import changed, leaves
from oracles.small_tables import small_table

SAMPLE = Path(__file__).with_name("samples") / "regressor.json"
MUTANTS = (None, [], {}, "text", -1, 2.5, 10**400, float("nan"))


def load_or_refuse(path: Path, table: Any) -> bool:
    """Whether a file is read; then all that can be asked of it is answered."""
    try:
        model = bayleaf.load(path)
    except ModelFileError as error:
        sentence = str(error)
        assert "\n" not in sentence
        assert 10 < len(sentence) < 400
        return False
    str(model.summary())
    try:
        quantiles = model.predict_quantiles(table)
    except (ValueError, TypeError):
        # The encoder may ask for other columns or values now.
        return True
    assert np.isfinite(quantiles).all()
    assert (np.diff(quantiles, axis=1) >= 0).all()
    for one in model.explain(table):
        total = one.baseline + sum(term.contribution for term in one.terms)
        assert total == pytest.approx(one.expectation, rel=1e-9, abs=1e-9)
    explorer_html(model)
    return True


def test_a_value_of_another_type_anywhere_is_refused_or_harmless(
    tmp_path: Path,
) -> None:
    X, _ = small_table(3, 40, missing=0.2)
    document = json.loads(SAMPLE.read_text(encoding="utf-8"))
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert load_or_refuse(path, X[:4])
    n_read = 0
    for place in leaves(document):
        for mutant in MUTANTS:
            other = changed(document, place, lambda _, new=mutant: new)
            path.write_text(json.dumps(other), encoding="utf-8")
            n_read += load_or_refuse(path, X[:4])
    assert n_read > 0


def test_a_field_left_out_anywhere_is_refused_or_harmless(tmp_path: Path) -> None:
    X, _ = small_table(3, 40, missing=0.2)
    document = json.loads(SAMPLE.read_text(encoding="utf-8"))
    path = tmp_path / "model.json"
    for place in leaves(document):
        if isinstance(place[-1], str):
            other = json.loads(SAMPLE.read_text(encoding="utf-8"))
            inner = other
            for key in place[:-1]:
                inner = inner[key]
            del inner[place[-1]]
            path.write_text(json.dumps(other), encoding="utf-8")
            load_or_refuse(path, X[:4])
