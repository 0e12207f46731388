"""Naive Bayes as PMML: a scorer after the standard's formula agrees with us."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import NaiveBayesClassifier, TANClassifier
from bayleaf.io.exports.scoring_sums import write_pmml
from bayleaf.io.formats.pmml import NAMESPACE
from bayleaf.io.native.model_file import read_model
from bayleaf.models.networks.network_model import NetworkModel

CLASSES = ["a b", 'c "&"']


def table(n_rows: int = 80) -> tuple[pd.DataFrame, list[str]]:
    """Columns of every kind with missing cells, and names that need escapes."""
    rng = np.random.default_rng(4)
    y = rng.integers(2, size=n_rows)
    words = np.array(["<=2", 'été & "q"', "x\ny"], dtype=object)
    shown = np.where(rng.random(n_rows) < 0.6, y, rng.integers(3, size=n_rows))
    frame = pd.DataFrame(
        {
            "te xt": pd.Series(words[shown], dtype=object),
            "real": y * 2.0 + rng.normal(size=n_rows),
            "whole": pd.array(rng.integers(3, size=n_rows) + y, dtype="Int64"),
            "flag": rng.random(n_rows) < 0.3 + 0.4 * y,
            "noise": rng.normal(size=n_rows),
        }
    )
    frame.loc[[1, 5], "te xt"] = None
    frame.loc[[2, 5], "real"] = np.nan
    frame.loc[3, "noise"] = np.nan
    return frame, np.array(CLASSES)[y].tolist()


def written(tmp_path: Path, classifier: Any) -> Path:
    """The PMML file of a fitted classifier."""
    classifier.save(tmp_path / "model.json")
    path = tmp_path / "model.pmml"
    write_pmml(read_model(tmp_path / "model.json"), path)
    return path


class Scorer:
    """The standard's formula for naive Bayes over the elements of a file."""

    def __init__(self, path: Path) -> None:
        self.root = ElementTree.parse(path).getroot()
        self.mining = {field.get("name"): field for field in self.find("MiningField")}
        self.types = {f.get("name"): f.get("dataType") for f in self.find("DataField")}
        self.made = {f.get("name"): f for f in self.find("DerivedField")}
        self.allowed = {
            field.get("name"): {value.get("value") for value in field}
            for field in self.find("DataField")
        }

    def find(self, tag: str, inside: Any = None) -> list[Any]:
        """All elements with a tag."""
        root = self.root if inside is None else inside
        return list(root.iter(f"{{{NAMESPACE}}}{tag}"))

    def value(self, name: str, row: dict[str, Any]) -> str | None:
        """The text that a field holds in a row, or None for missing."""
        if name not in self.made:
            return self.raw(name, row)
        field = self.made[name]
        for reference in self.find("FieldRef", field):
            found = self.value(reference.get("field"), row)
            return reference.get("mapMissingTo") if found is None else found
        (discretize,) = self.find("Discretize", field)
        raw = self.raw(discretize.get("field"), row)
        if raw is None:
            return None
        for interval_bin in self.find("DiscretizeBin", discretize):
            (interval,) = interval_bin
            low = float(interval.get("leftMargin", "-inf"))
            high = float(interval.get("rightMargin", "inf"))
            closed = interval.get("closure") == "openClosed"
            if low < float(raw) < high or (closed and float(raw) == high):
                return str(interval_bin.get("binValue"))
        return None

    def raw(self, name: str, row: dict[str, Any]) -> str | None:
        """A cell as text, after the mining schema had its say."""
        field, cell = self.mining[name], row[name]
        if cell is None or cell != cell or cell is pd.NA:
            return field.get("missingValueReplacement")
        text = str(cell).lower() if self.types[name] == "boolean" else str(cell)
        if self.allowed[name] and text not in self.allowed[name]:
            assert field.get("invalidValueTreatment") == "asMissing"
            return field.get("missingValueReplacement")
        return text

    def counts(self, element: Any) -> dict[str, float]:
        """Counts of the classes inside an element."""
        return {
            count.get("value"): float(count.get("count"))
            for count in self.find("TargetValueCount", element)
        }

    def posterior(self, row: dict[str, Any]) -> list[float]:
        """Posterior of each class."""
        (output,) = self.find("BayesOutput")
        scores = self.counts(output)
        for bayes_input in self.find("BayesInput"):
            value = self.value(bayes_input.get("fieldName"), row)
            if value is None:
                continue
            pairs = {
                pair.get("value"): self.counts(pair)
                for pair in self.find("PairCounts", bayes_input)
            }
            for label in scores:
                total = math.fsum(counts[label] for counts in pairs.values())
                scores[label] *= pairs[value][label] / total
        whole = math.fsum(scores.values())
        return [scores[label] / whole for label in CLASSES]


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as dicts by column."""
    return [dict(zip(frame.columns, row)) for row in frame.itertuples(index=False)]


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_a_scorer_finds_our_posteriors(tmp_path: Path, missing: str) -> None:
    frame, y = table()
    classifier = NaiveBayesClassifier(missing=missing).fit(frame, y)
    scorer = Scorer(written(tmp_path, classifier))
    frame.loc[4, "te xt"] = "never seen"
    found = [scorer.posterior(row) for row in rows_of(frame)]
    np.testing.assert_allclose(found, classifier.predict_proba(frame), rtol=1e-12)


def test_values_on_a_cut_point_belong_to_the_interval_below(tmp_path: Path) -> None:
    frame, y = table()
    classifier = NaiveBayesClassifier().fit(frame, y)
    (cut, *_) = classifier.encoder_.domain[1].cut_points
    scorer = Scorer(written(tmp_path, classifier))
    frame = frame.head(3).assign(real=[cut, np.nextafter(cut, 9), np.nextafter(cut, 0)])
    found = np.array([scorer.posterior(row) for row in rows_of(frame)])
    np.testing.assert_allclose(found, classifier.predict_proba(frame), rtol=1e-12)


def test_zeros_stay_zeros(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": ["p", "p", "q", "r"]})
    y = [CLASSES[0], CLASSES[0], CLASSES[0], CLASSES[1]]
    NaiveBayesClassifier().fit(frame, y).save(tmp_path / "model.json")
    predictor = read_model(tmp_path / "model.json").predictor
    table = np.array([[2 / 3, 1 / 3, 0.0], [0.0, 0.0, 1.0]])
    network = predictor.model.network.with_table(0, table)
    path = tmp_path / "model.pmml"
    write_pmml(replace(predictor, model=NetworkModel(network)), path)
    assert Scorer(path).posterior({"x": "r"}) == [0.0, 1.0]
    (model,) = Scorer(path).find("NaiveBayesModel")
    assert model.get("threshold") == "0"


def test_counts_of_a_pair_add_up_to_that_of_the_class(tmp_path: Path) -> None:
    frame, y = table()
    scorer = Scorer(written(tmp_path, NaiveBayesClassifier().fit(frame, y)))
    (output,) = scorer.find("BayesOutput")
    for bayes_input in scorer.find("BayesInput"):
        pairs = [scorer.counts(pair) for pair in scorer.find("PairCounts", bayes_input)]
        sums = {label: sum(counts[label] for counts in pairs) for label in CLASSES}
        assert sums == pytest.approx(scorer.counts(output), rel=1e-12)


def test_cells_that_training_refused_are_refused(tmp_path: Path) -> None:
    frame, y = table()
    rules = {"missing": "error", "unknown": "error"}
    classifier = NaiveBayesClassifier(**rules).fit(frame[["flag"]], y)
    field = Scorer(written(tmp_path, classifier)).mining["flag"]
    assert field.get("missingValueTreatment") == "returnInvalid"
    assert field.get("invalidValueTreatment") == "returnInvalid"


def test_a_deployment_prior_is_written(tmp_path: Path) -> None:
    frame, y = table()
    classifier = NaiveBayesClassifier().fit(frame, y).with_class_prior([0.9, 0.1])
    scorer = Scorer(written(tmp_path, classifier))
    (output,) = scorer.find("BayesOutput")
    assert list(scorer.counts(output).values()) == pytest.approx([0.9, 0.1])


def test_a_network_with_arcs_between_features_is_refused(tmp_path: Path) -> None:
    frame, y = table()
    classifier = TANClassifier().fit(frame[["te xt", "flag"]], y)
    with pytest.raises(ValueError, match="terms are tables alone"):
        written(tmp_path, classifier)
    assert not (tmp_path / "model.pmml").exists()


def test_what_pmml_has_no_words_for_is_refused(tmp_path: Path) -> None:
    frame, y = table()
    costly = NaiveBayesClassifier(loss=[[0.0, 1.0], [5.0, 0.0]]).fit(frame, y)
    with pytest.raises(ValueError, match="loss matrix; fit without loss"):
        written(tmp_path, costly)
    broken = pd.DataFrame({"x": ["a\x01", "b"] * 40})
    with pytest.raises(ValueError, match=r"XML cannot hold: 'a\\x01'; rename"):
        written(tmp_path, NaiveBayesClassifier().fit(broken, y))
    alike = pd.DataFrame({"x": ["missing", None] * 40})
    with pytest.raises(ValueError, match="same once written as text: 'missing'"):
        written(tmp_path, NaiveBayesClassifier(missing="state").fit(alike, y))
