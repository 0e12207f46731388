"""Hierarchical naive Bayes on the data sets of Langseth and Nielsen (2006).

The committed figures are those that the paper's protocol gave; some are run again here.
The paper prints averages of 82.91 (naive Bayes), 83.97 (TAN) and 85.52 (HNB).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import HNBClassifier
from bayleaf.data.tables.frames import to_columns
from bayleaf.datasets import load_heart
from bayleaf.reproduction import langseth2006
from bayleaf.reproduction.cells import CellStore, Results
from bayleaf.reproduction.paper_tables import Sources
from bayleaf.reproduction.protocols import Verdict
from bayleaf.search.latents.latent_search import collapse_states
from offenders import check_each

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results" / "langseth2006.csv"
SEARCHES = ("algorithm3", "top_pairs", "hill_climbing", "significance")
# Averages over the 22 sets that the specification measured, in percent.
AVERAGES = {
    "NB": 82.8,
    "HNB algorithm3": 84.4,
    "HNB top_pairs": 84.9,
    "HNB top_pairs, expected_kl": 85.2,
    "HNB hill_climbing": 85.1,
    "HNB significance": 84.75,
}


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    """The committed figures."""
    return pd.read_csv(RESULTS)


def test_averages_over_the_sets_are_those_expected(results: pd.DataFrame) -> None:
    def check(model: str) -> None:
        cells = results.query("model == @model and seed < 5")
        assert set(cells["seed"]) == set(range(5))
        means = cells.groupby("set")["accuracy"].mean()
        assert len(means) == 22
        assert means.mean() == pytest.approx(AVERAGES[model], abs=0.4)

    check_each(AVERAGES, check)


def test_chess_is_learned_by_expected_kl(results: pd.DataFrame) -> None:
    chess = results[results["set"] == "chess"]
    ours = chess[chess["model"] == "HNB top_pairs, expected_kl"]
    assert len(ours) == 10
    assert ours["accuracy"].mean() >= 95.0


@pytest.mark.few(8)
@pytest.mark.slow
@pytest.mark.parametrize("model", AVERAGES)
@pytest.mark.parametrize("name", ["heart", "vote", "hepatitis", "postop"])
def test_the_committed_figures_are_reproduced(
    results: pd.DataFrame, data_folder: Path, name: str, model: str
) -> None:
    wanted = {"set": name, "model": model, "seed": 1}
    (cell,) = [cell for cell in langseth2006.cells() if cell.fits(wanted)]
    found = langseth2006.run(cell, Sources(data_folder))["accuracy"]
    row = results.query("set == @name and model == @model and seed == 1")
    assert found == pytest.approx(row["accuracy"].item(), abs=1e-3)


def test_no_printed_figure_is_left_out() -> None:
    cells = langseth2006.cells()
    finished = CellStore(ROOT / "nowhere", RESULTS).read(cells)
    found = langseth2006.comparisons(Results(finished[cell] for cell in cells))
    assert len(found) == 6 * 23
    worse = [one.labels for one in found if one.verdict == Verdict.WORSE]
    # With exact ranking Algorithm 3 stops early there.
    assert worse == [("chess", "HNB algorithm3")]
    assert Verdict.NOT_RUN not in {one.verdict for one in found}


@pytest.mark.parametrize("search", SEARCHES)
def test_monks_1_is_learned_without_error(data_folder: Path, search: str) -> None:
    train, test = (_monks(data_folder, 1, part) for part in ("train", "test"))

    def check(seed: int) -> None:
        model = HNBClassifier(search=search, random_state=seed).fit(*train)
        assert (model.predict(test[0]) == test[1]).all()
        (report,) = [r for r in model.latents_ if r.children == ("a1", "a2")]
        assert [str(rule) for rule in report.states[0].rules] == ["a1 = a2"]
        # Six cells of a few rows each differ by chance: they make one state, or two.
        assert len(report.states) in (2, 3)

    check_each(range(10), check)


def test_the_training_rows_of_monks_1_are_too_few_for_two_states(
    data_folder: Path,
) -> None:
    frame, y = _monks(data_folder, 1, "train")
    values = [sorted(frame[name].unique()) for name in ("a1", "a2")]
    counts = np.zeros((2, 3, 3))
    for a1, a2, own in zip(frame["a1"], frame["a2"], y == "1", strict=True):
        counts[int(own), values[0].index(a1), values[1].index(a2)] += 1
    partition = collapse_states(counts).states
    assert len(np.unique(partition)) == 3
    assert len(set(np.diag(partition))) == 1
    unlike = [s for s in range(3) if s != partition[0, 0]]
    one, other = (counts[:, partition == state].sum(axis=1) for state in unlike)

    def spread(n: np.ndarray) -> float:
        return float((n * np.log(n)).sum() - n.sum() * np.log(n.sum()))

    # What merging the two states of a1 unlike a2 would gain is a loss; on all 432 rows
    # of the problem, where both have the same share of the class, it is none.
    gain = np.log(len(y)) + spread(one + other) - spread(one) - spread(other)
    assert gain == pytest.approx(-0.24, abs=0.01)


@pytest.mark.parametrize("search", SEARCHES)
def test_monks_3_has_the_paper_s_accuracy(data_folder: Path, search: str) -> None:
    train, test = (_monks(data_folder, 3, part) for part in ("train", "test"))
    model = HNBClassifier(search=search, random_state=0).fit(*train)
    assert 100 * (model.predict(test[0]) == test[1]).mean() == pytest.approx(
        97.22, abs=0.01
    )


def test_the_heart_table_has_the_concept_of_the_paper() -> None:
    table = load_heart()
    model = HNBClassifier(
        search="significance", significance_level=0.001, random_state=0
    )
    model.fit(table.X, table.y)
    angina = {"chest_pain", "exercise_induced_angina"}
    (report,) = [r for r in model.latents_ if set(r.children) == angina]
    found = {
        str(state.rules[0]): state.class_probabilities[1] for state in report.states
    }
    typical = "chest_pain = asymptomatic"
    expected = {
        "chest_pain != asymptomatic": 0.21,
        f"{typical} and exercise_induced_angina = no": 0.53,
        f"{typical} and exercise_induced_angina = yes": 0.86,
    }
    assert found == pytest.approx(expected, abs=0.01)


@pytest.mark.few(7)
@pytest.mark.slow
@pytest.mark.parametrize("search", ["significance", "top_pairs"])
@pytest.mark.parametrize(
    "name",
    [
        "heart",
        "vote",
        "chess",
        "vehicle",
        "australian",
        "crx",
        "glass",
        "breast",
        "soybean-large",
        "cleve",
    ],
)
def test_printed_rules_reproduce_every_latent_value(
    data_folder: Path, name: str, search: str
) -> None:
    table = langseth2006.load(Sources(data_folder), langseth2006.TABLES.get(name, name))
    nominal = [name for name in table.X.column_names if name not in table.numeric]
    model = HNBClassifier(
        search=search,
        missing="state",
        categorical_features=nominal,
        random_state=0,
    ).fit(table.X, table.y)
    assert model.latents_
    codes = model.encoder_.transform(to_columns(table.X)).codes
    nodes = model.tree_.node_codes(codes)
    for report in model.latents_:
        told = np.array(
            [[rule.holds(nodes) for rule in s.rules] for s in report.states],
            dtype=object,
        )
        holds = np.array([np.any(list(rules), axis=0) for rules in told])
        assert (holds.sum(axis=0) == 1).all()
        np.testing.assert_array_equal(holds.argmax(axis=0), nodes[report.node])


@pytest.mark.parametrize("search", SEARCHES)
def test_hepatitis_with_its_holes_is_learned_in_every_search(
    data_folder: Path, search: str
) -> None:
    frame = pd.read_csv(data_folder / "small" / "hepatitis.csv")
    y = frame.pop("class").astype(str)
    assert len(frame) == 155
    assert frame.isna().any(axis=None)
    model = HNBClassifier(search=search, missing="marginalize", random_state=0).fit(
        frame, y
    )
    proba = model.predict_proba(frame)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)
    assert (model.predict(frame) == y).mean() > 0.85


def _monks(folder: Path, problem: int, part: str) -> tuple[pd.DataFrame, Any]:
    """Features and class of one part of a monks problem."""
    path = folder / "small" / f"monks-{problem}.{part}.csv"
    frame = pd.read_csv(path, dtype=str)
    return frame.drop(columns="class"), frame["class"].to_numpy()
