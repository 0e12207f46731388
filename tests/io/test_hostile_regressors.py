"""Files of regressors in which something is wrong: refused in a sentence, or sound."""

from __future__ import annotations

import copy
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayleaf
from bayleaf.explorer import explorer_html, suggested_cases
from bayleaf.io import ModelFileError
from oracles.documents import changed, leaves
from oracles.small_tables import small_table

SAMPLE = Path(__file__).with_name("samples") / "regressor.json"
MUTANTS = (None, [], {}, "text", -1, 2.5, 10**400, float("nan"))


def load_or_refuse(path: Path, table: Any, has_page: bool = True) -> bool:
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
    if has_page:
        explorer_html(model)
    return True


def check_mutants(path: Path, n_each: int, step: int) -> int:
    """Check other values at every so many places; give the number of files read."""
    X, _ = small_table(3, 40, missing=0.2)
    document = json.loads(SAMPLE.read_text(encoding="utf-8"))
    mutants = itertools.cycle(MUTANTS)
    n_read = 0
    for place in list(leaves(document))[::step]:
        for mutant in itertools.islice(mutants, n_each):
            other = changed(document, place, lambda _, new=mutant: new)
            path.write_text(json.dumps(other), encoding="utf-8")
            n_read += load_or_refuse(path, X[:4], n_read % n_each == 0)
        # No mutant is always given to the same kind of place.
        next(mutants)
    return n_read


def test_the_sample_is_sound() -> None:
    X, _ = small_table(3, 40, missing=0.2)
    assert load_or_refuse(SAMPLE, X[:4])


def test_a_value_of_another_type_is_refused_or_harmless(tmp_path: Path) -> None:
    assert check_mutants(tmp_path / "model.json", 1, 13) > 0


def test_left_out_answers_of_a_number_have_its_interval(tmp_path: Path) -> None:
    document = json.loads(SAMPLE.read_text(encoding="utf-8"))
    path, rows = tmp_path / "model.json", small_table(3, 40)[0].assign(target=1.0)
    for figures in ([0.5, 0.5], [1.0, 2.0, 0.0], [1.0, 0.0, 2.0]):
        answers = {"shape": [1, len(figures)], "numbers": figures}
        kept = {"digest": "0", "rows": [999], "answers": answers}
        path.write_text(json.dumps({**document, "left_out_answers": kept}), "utf-8")
        if figures != [1.0, 0.0, 2.0]:
            with pytest.raises(ModelFileError, match="left_out_answers"):
                bayleaf.load(path)
    # The digest is another table's.
    assert {case["seen"] for case in suggested_cases(bayleaf.load(path), rows)} == {
        None
    }


@pytest.mark.slow
@pytest.mark.long
def test_a_value_of_another_type_anywhere_is_refused_or_harmless(
    tmp_path: Path,
) -> None:
    assert check_mutants(tmp_path / "model.json", 2, 1) > 0


@pytest.mark.slow
@pytest.mark.long
def test_every_value_of_another_type_anywhere_is_refused_or_harmless(
    tmp_path: Path,
) -> None:
    X, _ = small_table(3, 40, missing=0.2)
    document = json.loads(SAMPLE.read_text(encoding="utf-8"))
    path = tmp_path / "model.json"
    for place, mutant in itertools.product(leaves(document), MUTANTS):
        other = changed(document, place, lambda _, new=mutant: new)
        path.write_text(json.dumps(other), encoding="utf-8")
        load_or_refuse(path, X[:4])


def check_without(path: Path, step: int) -> None:
    """Check files without a field, for every so many fields."""
    X, _ = small_table(3, 40, missing=0.2)
    document = json.loads(SAMPLE.read_text(encoding="utf-8"))
    places = [place for place in leaves(document) if isinstance(place[-1], str)]
    for place in places[::step]:
        other = copy.deepcopy(document)
        inner = other
        for key in place[:-1]:
            inner = inner[key]
        del inner[place[-1]]
        path.write_text(json.dumps(other), encoding="utf-8")
        load_or_refuse(path, X[:4], step == 1)


def test_a_field_left_out_is_refused_or_harmless(tmp_path: Path) -> None:
    check_without(tmp_path / "model.json", 5)


@pytest.mark.slow
def test_a_field_left_out_anywhere_is_refused_or_harmless(tmp_path: Path) -> None:
    check_without(tmp_path / "model.json", 1)
