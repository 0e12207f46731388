"""Rows of today against a model: level, power, and what is said of them."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from scipy.stats import chi2, kstest
from sklearn.base import clone

from bayleaf import (
    AveragedKDBClassifier,
    BayesianNetwork,
    BayesianNetworkEstimator,
    HNBClassifier,
    Inference,
    KDBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.cpds.distribution import TableCPD
from bayleaf.datasets import load_heart
from bayleaf.explain import drift
from bayleaf.explain.deviation import Deviation, deviation_between, deviation_of
from bayleaf.plot import drift as drawn

DAYS = 200


def dependent(
    n_features: int, n_states: int, falling: float
) -> tuple[pa.Table, pa.ChunkedArray]:
    """Features that depend on one another, and the class.

    Where they do not, each state has so many times the probability of the one before.
    """
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 4000)
    shares = falling ** np.arange(n_states)
    columns, before = {}, label
    for j in range(n_features):
        kept = rng.random(4000) < 0.6
        drawn = rng.choice(n_states, 4000, p=shares / shares.sum())
        values = np.where(kept, (before + label) % n_states, drawn)
        columns[f"x{j}"] = pa.array(np.array([*"abcdefgh"])[values])
        before = values
    return pa.table(columns), pa.chunked_array([np.array(["no", "yes"])[label]])


CLASSIFIERS = {
    "nb": NaiveBayesClassifier(),
    "tan": TANClassifier(),
    "kdb": KDBClassifier(k=2),
}
KINDS = [*CLASSIFIERS, "density"]


@cache
def learned(
    kind: str, n_features: int = 7, n_states: int = 3, falling: float = 1.0
) -> Any:
    """A model of such a table."""
    features, label = dependent(n_features, n_states, falling)
    if kind == "density":
        table = features.append_column("class", label)
        return BayesianNetworkEstimator(random_state=0).fit(table)
    return clone(CLASSIFIERS[kind]).fit(features, label)


@pytest.fixture(scope="module")
def model() -> KDBClassifier:
    """Eight nominal variables that depend on one another."""
    return learned("kdb")


def day(network: BayesianNetwork, n_rows: int, seed: int) -> pa.Table:
    """Rows drawn from a network."""
    return Inference(network).sample(n_rows, random_state=seed)


def p_values_of_days(model: Any, n_rows: int) -> dict[Any, list[Deviation]]:
    """Each variable and each family on days whose rows are drawn from the model."""
    found: dict[Any, list[Deviation]] = {}
    for seed in range(DAYS):
        told = drift(
            model,
            day(model.network_, n_rows, seed),
            random_state=seed,
            against="model",
        )
        for one in told.variables:
            found.setdefault(one.name, []).append(one.deviation)
        for family in told.families:
            found.setdefault((family.child,), []).append(family.deviation)
    return found


def least_uniform(p_values: list[list[float]]) -> float:
    """The least probability, by Kolmogorov and Smirnov, that values are uniform."""
    return min(float(kstest(values, "uniform").pvalue) for values in p_values)


@pytest.mark.few("density-50")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "n_rows"),
    [
        pytest.param(
            kind,
            n_rows,
            # Small days are drawn, large ones looked up, whatever learned the network.
            marks=[pytest.mark.long]
            * ((kind, n_rows) not in {("kdb", 50), ("density", 50), ("tan", 50_000)}),
        )
        for kind in KINDS
        for n_rows in (50, 500, 50_000)
    ],
)
def test_p_values_of_the_models_own_rows_are_uniform(kind: str, n_rows: int) -> None:
    # Small days have families in most of whose cells less than one row is expected.
    large = n_rows > 10_000
    model = learned(kind) if large else learned(kind, 4, 5, 0.4)
    found = p_values_of_days(model, n_rows)
    families = [len(f) > 1 for f in model.network_.dag.families]
    assert len(found) == len(families) + sum(families)
    values = [[one.p_value for one in days] for days in found.values()]
    # The least of fifteen such probabilities is below this once in seven hundred runs.
    assert least_uniform(values) > 1e-4
    if kind == "kdb" and not large:
        # A test that could not fail would say the same of the limit distribution.
        looked_up = [
            [float(chi2.sf(one.g2, one.degrees)) for one in days]
            for days in found.values()
        ]
        assert least_uniform(looked_up) < 1e-4


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "n_rows"), [((120, 10), 1), ((60, 10), 60), ((90, 4), 2), ((1, 2), 9)]
)
def test_p_values_of_sparse_tables_are_uniform(
    shape: tuple[int, int], n_rows: int
) -> None:
    rng = np.random.default_rng(3)
    expected = rng.dirichlet(np.ones(shape[1]), shape[0])
    if n_rows == 60:
        # Six rows a cell look enough, but six hundred cells shift the sum.
        expected[:] = 1.0 / shape[1]
    days = []
    for _ in range(40):
        counts = rng.multinomial(n_rows, expected).astype(float)
        days.append(deviation_of(counts, expected, rng))
    assert least_uniform([[one.p_value for one in days]]) > 0.01
    assert least_uniform([[chi2.sf(one.g2, one.degrees) for one in days]]) < 0.05


def test_p_values_beyond_all_draws_go_on_falling() -> None:
    rng = np.random.default_rng(0)
    expected = np.full((1, 4), 0.25)
    twelve, twenty = (
        deviation_of(np.array([[n, 0.0, 0.0, 0.0]]), expected, rng) for n in (12, 19)
    )
    # In truth 4^-11 and 4^-18.
    assert 1e-9 < twelve.p_value < 1e-5
    assert twenty.p_value < 1e-3 * twelve.p_value


def test_fractional_weights_keep_the_level() -> None:
    rng = np.random.default_rng(0)
    expected = rng.dirichlet(np.ones(4), 6)
    values = [
        deviation_of(rng.multinomial(12, expected) * 1.001, expected, rng).p_value
        for _ in range(100)
    ]
    assert least_uniform([values]) > 0.01


@pytest.mark.few(3)
@pytest.mark.slow
@pytest.mark.parametrize(("n_rows", "share"), [(50, 1.0), (500, 0.5), (50_000, 0.1)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_family_comes_first(kind: str, n_rows: int, share: float) -> None:
    model = learned(kind)
    network, first, n_days = model.network_, 0, DAYS // 10
    rng = np.random.default_rng(1)
    for seed in range(n_days):
        place = int(rng.choice([i for i, p in enumerate(network.dag.parents) if p]))
        changed = _changed(network, place, share, rng)
        told = drift(model, day(changed, n_rows, seed), random_state=seed)
        first += told.ranked_families()[0].child == network.domain[place].name
    assert first >= 0.95 * n_days


def _changed(
    network: BayesianNetwork, place: int, share: float, rng: Any
) -> BayesianNetwork:
    """The network with other distributions of one variable in a share of rows."""
    cpds = list(network.cpds)
    table = cpds[place].probabilities
    other = rng.dirichlet(np.ones(table.shape[-1]), table.shape[:-1])
    mixed = (1.0 - share) * table + share * other
    cpds[place] = TableCPD(cpds[place].family, mixed)
    return BayesianNetwork(network.domain, network.dag, tuple(cpds))


def test_counts_equal_those_of_the_rows(model: KDBClassifier) -> None:
    table = day(model.network_, 900, 3)
    told = drift(model, table, against="model")
    assert told.rows == 900
    for one in told.variables:
        cells = table.column(str(one.name)).to_pylist()
        states = model.network_.domain[model.network_.domain.index(one.name)].states
        counts = np.array([cells.count(str(state)) for state in states], dtype=float)
        np.testing.assert_allclose(one.found, counts / 900)
        means = np.array(one.expected) * 900
        g2 = 2 * (counts * np.log(counts / means)).sum()
        assert one.deviation.g2 == pytest.approx(g2)
        if len(states) > 2:
            looked_up = chi2.sf(g2, len(states) - 1)
            assert one.deviation.p_value == pytest.approx(looked_up)
        assert one.deviation.bits == pytest.approx(g2 / 1800 / math.log(2))


def test_the_arc_that_changed_is_named(model: KDBClassifier) -> None:
    network = model.network_
    place = next(i for i, p in enumerate(network.dag.parents) if len(p) == 3)
    family = network.cpds[place].family
    # Another parent's state now means what the next one meant.
    axis = 1
    table = np.roll(network.cpds[place].probabilities, 1, axis=axis)
    cpds = list(network.cpds)
    cpds[place] = type(cpds[place])(family, table)
    changed = BayesianNetwork(network.domain, network.dag, tuple(cpds))
    told = drift(model, day(changed, 4000, 0)).ranked_families()[0]
    assert told.child == network.domain[place].name
    assert told.changed_arc == network.domain[family[axis]].name
    assert told.deviation.p_value < 1e-6


def test_batches_files_and_frames_say_the_same(
    model: KDBClassifier, tmp_path: Path
) -> None:
    table = day(model.network_, 500, 1)
    pa_parquet.write_table(table, tmp_path / "t.parquet")
    expected = drift(model, table).to_dict()
    for other in (
        table.to_pandas(),
        tmp_path / "t.parquet",
        table.to_reader(max_chunksize=9),
    ):
        assert drift(model, other).to_dict() == expected


def test_without_the_class_features_are_compared(model: KDBClassifier) -> None:
    table = day(model.network_, 300, 1).drop_columns(["class"])
    told = drift(model, table)
    assert len(told.variables) == 7
    assert not told.families
    assert "no column 'class'" in told.remark
    # Bars of what may be chance are as short as their bits.
    widths = re.findall(r"<i [^>]*width:([\d.]+)%", told._repr_html_())
    bits = [100 * one.deviation.bits for one in told.ranked_variables()]
    assert [float(width) for width in widths] == pytest.approx(bits, abs=0.006)
    assert "bits" in drawn(told).get_xlabel()


def test_unknown_and_missing_cells_are_told(model: KDBClassifier) -> None:
    frame = day(model.network_, 300, 1).to_pandas().astype(object)
    frame.loc[:19, "x1"] = "new"
    frame.loc[20:49, "x1"] = None
    told = {one.name: one for one in drift(model, frame).variables}["x1"]
    assert told.unknown == 20
    assert told.missing == pytest.approx(50 / 300)
    assert told.deviation.rows == 250


def test_days_of_one_row_or_of_unknown_values_alone_say_little(
    model: KDBClassifier,
) -> None:
    frame = day(model.network_, 30, 1).to_pandas().astype(object)
    one = drift(model, frame.head(1))
    assert one.rows == 1
    assert all(0 < v.deviation.p_value <= 1 for v in one.variables)
    unknown = frame.assign(**{f"x{j}": "new" for j in range(7)}, **{"class": "maybe"})
    told = drift(model, unknown)
    for variable in told.variables:
        assert (variable.missing, variable.deviation.p_value) == (1.0, 1.0)
        assert variable.unknown == (30 if variable.name != "class" else 0)
    assert {family.deviation.rows for family in told.families} == {0.0}
    assert "30 rows" in told.to_text()


def test_tables_that_cannot_be_compared_are_refused(model: KDBClassifier) -> None:
    table = day(model.network_, 30, 1)
    weights = [np.zeros(30), np.full(30, -1.0), np.full(30, np.nan)]
    for wrong, said in zip(weights, ("no rows", "holds -1", "holds nan"), strict=True):
        weighted = table.append_column("w", pa.array(wrong))
        with pytest.raises(ValueError, match=said):
            drift(model, weighted, sample_weight="w")
    with pytest.raises(ValueError, match="no column 'v'"):
        drift(model, table, sample_weight="v")
    with pytest.raises(ValueError, match="no rows"):
        drift(model, table.slice(0, 0))
    with pytest.raises(ValueError, match="lacks x0, x1"):
        drift(model, table.drop_columns(["x0", "x1"]))


def test_states_that_the_model_rules_out_are_infinitely_far() -> None:
    found = deviation_of(
        np.array([[3.0, 1.0]]), np.array([[1.0, 0.0]]), np.random.default_rng(0)
    )
    assert (found.p_value, found.g2) == (0.0, math.inf)
    assert found.to_dict()["g2"] is None


def test_weights_count(model: KDBClassifier) -> None:
    table = day(model.network_, 200, 1)
    weighted = table.append_column("w", pa.array(np.full(200, 2.0)))
    twice = drift(model, pa.concat_tables([table, table])).to_dict()
    assert drift(model, weighted, sample_weight="w").to_dict() == twice


def test_numbers_latents_and_densities_are_compared() -> None:
    heart = load_heart()
    frame = heart.X.to_pandas().assign(**{"class": np.asarray(heart.y)})
    for model in (TANClassifier(), HNBClassifier(random_state=0)):
        fitted = model.fit(heart.X, heart.y)
        told = drift(fitted, frame)
        names = {variable.name for variable in fitted.model_.domain}
        assert {one.name for one in told.variables} == names
    density = BayesianNetworkEstimator(random_state=0).fit(heart.X)
    told = drift(density, heart.X)
    assert len(told.variables) == heart.X.shape[1]
    assert max(one.deviation.bits for one in told.variables) < 0.02


def test_training_rows_do_not_drift_where_smoothing_moves_marginals() -> None:
    rng = np.random.default_rng(0)
    city, late = rng.zipf(1.3, 5000) % 90, rng.poisson(0.4, 5000)
    y = np.where(rng.random(5000) < 0.1 + 0.1 * (late > 1), "yes", "no")
    table = pa.table({"city": [f"c{i}" for i in city], "late": late})
    model = TANClassifier(required_edges=[("city", "late")]).fit(table, y)
    rows = table.append_column("class", pa.array(y))
    found = drift(model, rows)
    assert min(one.deviation.p_value for one in found.variables) > 0.99
    by_model = {v.name: v for v in drift(model, rows, against="model").variables}
    assert by_model["late"].deviation.p_value < 1e-9
    with pytest.raises(ValueError, match="against must be 'training' or 'model'"):
        drift(model, rows, against="rows")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("n_training", "n_rows"), [(60, 20), (5000, 2000), (400, 4000)]
)
def test_p_values_of_other_rows_of_the_source_are_uniform(
    n_training: int, n_rows: int
) -> None:
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(5) * 3.0)
    values = [
        deviation_between(
            rng.multinomial(n_rows, shares).astype(float),
            rng.multinomial(n_training, shares).astype(float),
            rng,
        ).p_value
        for _ in range(100)
    ]
    assert least_uniform([values]) > 1e-3


def test_another_source_differs_from_the_training_rows() -> None:
    rng = np.random.default_rng(2)
    found = deviation_between(np.array([30.0, 5.0]), np.array([10.0, 40.0]), rng)
    assert found.p_value < 1e-4
    assert deviation_between(np.zeros(2), np.array([1.0, 2.0]), rng).rows == 0


def test_several_networks_are_refused() -> None:
    heart = load_heart()
    model = AveragedKDBClassifier(n_networks=2, random_state=0).fit(heart.X, heart.y)
    with pytest.raises(TypeError, match="one network"):
        drift(model, heart.X)
    tan = TANClassifier().fit(heart.X, heart.y)
    with pytest.raises(ValueError, match="the table lacks sex"):
        drift(tan, heart.X.drop("sex"))


def test_the_picture_names_the_first(model: KDBClassifier) -> None:
    told = drift(model, day(model.network_, 300, 1))
    ax = drawn(told, limit=3)
    assert len(ax.patches) == 3
    first = told.ranked_families()[0].child
    assert ax.get_yticklabels()[0].get_text() == first
    assert f"p = {told.ranked_families()[0].deviation.p_value:.2g}" in [
        text.get_text() for text in ax.texts
    ]
    with pytest.raises(ValueError, match="at least 1"):
        drawn(told, limit=0)
    with pytest.raises(TypeError, match="must be what"):
        drawn({})  # type: ignore[arg-type]
    n_bars = told._repr_html_().count("<i class=")
    assert n_bars == len(told.variables) + len(told.families)
    assert f"most {told.ranked_variables()[0].name}" in repr(told)


def test_the_command_tells_the_same(
    model: KDBClassifier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from bayleaf.cli import main

    model.save(tmp_path / "m.json")
    table = day(model.network_, 400, 2)
    pa_parquet.write_table(table, tmp_path / "t.parquet")
    words = ["drift", str(tmp_path / "m.json"), str(tmp_path / "t.parquet")]
    assert main([*words, "--json", "--picture", str(tmp_path / "d.png")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads(json.dumps(drift(model, table).to_dict()))
    assert (tmp_path / "d.png").stat().st_size > 1000
    assert main(words) == 0
    assert "400 rows against the model" in capsys.readouterr().out
