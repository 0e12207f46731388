"""Sums of terms in PMML, read as the standard says, are the classifiers' posteriors."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import (
    AODEClassifier,
    AveragedKDBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.io.conversion import convert_file
from bayleaf.io.exports.scoring_sums import write_pmml
from bayleaf.io.formats.pmml import NAMESPACE
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.partial_cases import known_cells
from oracles.hostile_tables import hostile_columns
from oracles.pairs import PairsClassifier

CLASSES = np.array(["p q", "r", 's <"&">'])


def table(n_rows: int, seed: int) -> tuple[pd.DataFrame, Any]:
    """Hostile columns, and classes with hostile names."""
    frame, y = hostile_columns(n_rows, seed)
    return frame, CLASSES[y]


class Engine:
    """The standard's rules for the elements that a document of sums has."""

    def __init__(self, path: Path) -> None:
        self.root = ElementTree.parse(path).getroot()
        self.made = {field.get("name"): field[0] for field in self.all("DerivedField")}
        self.types = {f.get("name"): f.get("dataType") for f in self.all("DataField")}
        self.mining = {field.get("name"): field for field in self.all("MiningField")}
        self.values = {
            # Intervals hold one number each.
            field.get("name"): {
                one.get("value") or float(one.get("leftMargin")) for one in field
            }
            for field in self.all("DataField")
        }

    def all(self, tag: str, inside: Any = None) -> list[Any]:
        root = self.root if inside is None else inside
        return list(root.iter(f"{{{NAMESPACE}}}{tag}"))

    def posterior(self, row: dict[str, Any]) -> list[float] | None:
        """Posterior of each class; None for a row that is refused."""
        known: dict[str, Any] = {}
        for name, value in row.items():
            field, is_missing = self.mining[name], pd.isna(value)
            text = str(value).lower() if self.types[name] == "boolean" else value
            if is_missing and field.get("missingValueTreatment") == "returnInvalid":
                return None
            is_listed = not self.values[name] or text in self.values[name]
            refuses = field.get("invalidValueTreatment") == "returnInvalid"
            if refuses and not is_missing and not is_listed:
                return None
            known[name] = None if is_missing else text
        scores = [self.score(one, known) for one in self.all("RegressionTable")]
        powers = np.exp(np.array(scores) - max(scores))
        return list(powers / powers.sum())

    def score(self, one: Any, known: dict[str, Any]) -> float:
        total = float(one.get("intercept"))
        for term in one:
            if self.value(term.get("name"), known) == term.get("value"):
                total += float(term.get("coefficient"))
        return total

    def value(self, name: str, known: dict[str, Any]) -> Any:
        """What a field holds, computed once a row."""
        if name not in known:
            known[name] = self.computed(self.made[name], known)
        return known[name]

    def computed(self, element: Any, known: dict[str, Any]) -> Any:
        kind = element.tag.split("}")[1]
        if kind == "Constant":
            return element.text
        if kind == "FieldRef":
            found = self.value(element.get("field"), known)
            return element.get("mapMissingTo") if found is None else found
        if kind == "Apply":
            assert element.get("function") == "concat"
            parts = [self.computed(part, known) for part in element]
            return None if None in parts else "".join(parts)
        if kind == "MapValues":
            (pair,) = self.all("FieldColumnPair", element)
            found = self.value(pair.get("field"), known)
            rows = {r[0].text: r[1].text for r in self.all("row", element)}
            unknown = element.get("defaultValue")
            return None if found is None else rows.get(found, unknown)
        assert kind == "Discretize"
        return self.interval(element, self.value(element.get("field"), known))

    def interval(self, element: Any, number: Any) -> Any:
        if number is None:
            return None
        for one in self.all("DiscretizeBin", element):
            (margins,) = one
            low = float(margins.get("leftMargin", "-inf"))
            high = float(margins.get("rightMargin", "inf"))
            closure = margins.get("closure")
            is_right = closure.endswith("Closed") and float(number) == high
            is_left = closure.startswith("closed") and float(number) == low
            if low < float(number) < high or is_right or is_left:
                return one.get("binValue")
        return element.get("defaultValue")


def found(path: Path, frame: pd.DataFrame) -> list[list[float] | None]:
    """Posteriors of all rows."""
    engine = Engine(path)
    return [engine.posterior(row) for row in frame.to_dict("records")]


@pytest.mark.parametrize(
    "classifier",
    [NaiveBayesClassifier(calibration="leave_one_out"), PairsClassifier()],
    ids=lambda classifier: type(classifier).__name__,
)
def test_sums_are_the_posteriors_of_complete_rows(
    tmp_path: Path, classifier: Any
) -> None:
    classifier.fit(*table(200, 4))
    write_pmml(classifier, tmp_path / "model.pmml")
    other = table(12, 9)[0]
    expected = classifier.predict_proba(other)
    np.testing.assert_allclose(
        found(tmp_path / "model.pmml", other), expected, atol=1e-12
    )


def test_missing_cells_add_nothing(tmp_path: Path) -> None:
    frame, y = table(200, 4)
    classifier = PairsClassifier().fit(frame, y)
    write_pmml(classifier, tmp_path / "model.pmml")
    for name in frame.columns:
        row = frame[:1].copy()
        row[name] = pd.Series([None], dtype=frame[name].dtype)
        (own,) = found(tmp_path / "model.pmml", row)
        np.testing.assert_allclose([own], classifier.predict_proba(row), atol=1e-12)


def check_whole_rows(predictor: Predictor, path: Path, rows: pd.DataFrame) -> None:
    """Check that rows have the posteriors of here if they know all features."""
    codes, answers = predictor.encode(rows), found(path, rows)
    known = known_cells(codes, codes.n_variables).all(axis=1).tolist()
    assert 0 < sum(known) < len(rows)
    for answer, expected, is_known in zip(
        answers, predictor.proba(codes).tolist(), known, strict=True
    ):
        assert answer == (pytest.approx(expected, abs=1e-12) if is_known else None)


@pytest.mark.parametrize("classifier", [NaiveBayesClassifier(), PairsClassifier()])
def test_partial_cases_under_a_temperature_are_refused(
    tmp_path: Path, classifier: Any
) -> None:
    frame, y = table(200, 4)
    predictor = replace(classifier.fit(frame, y)._predictor(), temperature=3.0)
    write_pmml(predictor, tmp_path / "model.pmml")
    other = table(12, 9)[0]
    for place, name in enumerate(other.columns):
        other[name] = other[name].mask(other.index == place)
    other["select"] = other["select"].mask(other.index == 11, "never")
    check_whole_rows(predictor, tmp_path / "model.pmml", other)


def test_temperature_and_prior_shift_are_heeded(tmp_path: Path) -> None:
    frame, y = table(200, 4)
    fitted = NaiveBayesClassifier().fit(frame, y)._predictor()
    shift = np.array([0.5, -0.25, 0.0])
    predictor = replace(fitted, temperature=3.0, prior_shift=shift)
    write_pmml(predictor, tmp_path / "model.pmml")
    other = frame[:9]
    expected = predictor.proba(predictor.encode(other))
    np.testing.assert_allclose(
        found(tmp_path / "model.pmml", other), expected, atol=1e-12
    )


@pytest.mark.parametrize(
    "classifier",
    [AODEClassifier(), TANClassifier(), AveragedKDBClassifier(n_networks=2)],
    ids=lambda classifier: type(classifier).__name__,
)
def test_other_models_are_refused_in_a_sentence(
    tmp_path: Path, classifier: Any
) -> None:
    classifier.fit(*table(100, 4))
    with pytest.raises(ValueError, match=r"terms are tables alone; write .* \.onnx"):
        write_pmml(classifier, tmp_path / "model.pmml")
    assert not (tmp_path / "model.pmml").exists()


def test_a_loss_matrix_is_refused(tmp_path: Path) -> None:
    fitted = PairsClassifier().fit(*table(100, 4))._predictor()
    with pytest.raises(ValueError, match="loss matrix"):
        write_pmml(replace(fitted, loss=np.eye(3)), tmp_path / "model.pmml")


def test_a_model_file_is_converted(tmp_path: Path) -> None:
    model = NaiveBayesClassifier(calibration="leave_one_out").fit(*table(100, 4))
    model.save(tmp_path / "model.json")
    convert_file(tmp_path / "model.json", tmp_path / "model.pmml")
    assert Engine(tmp_path / "model.pmml").all("RegressionModel")
