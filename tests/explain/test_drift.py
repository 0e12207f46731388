"""Rows of today against a model: level, power, and what is said of them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from scipy.stats import chi2, kstest

from bayleaf import (
    AveragedKDBClassifier,
    BayesianNetwork,
    BayesianNetworkEstimator,
    HNBClassifier,
    Inference,
    KDBClassifier,
    TANClassifier,
)
from bayleaf.datasets import load_heart
from bayleaf.explain import drift
from bayleaf.explain.deviation import deviation_of
from bayleaf.plot import drift as drawn

DAYS = 200


@pytest.fixture(scope="module")
def model() -> KDBClassifier:
    """Eight nominal variables that depend on one another."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 2000)
    columns, before = {}, label
    for j in range(7):
        kept = rng.random(2000) < 0.6
        values = np.where(kept, (before + label) % 3, rng.integers(0, 3, 2000))
        columns[f"x{j}"] = np.array(["a", "b", "c"])[values]
        before = values
    table = pa.table({name: pa.array(own) for name, own in columns.items()})
    target = pa.chunked_array([np.array(["no", "yes"])[label]])
    return KDBClassifier(k=2).fit(table, target)


def day(network: BayesianNetwork, n_rows: int, seed: int) -> pa.Table:
    """Rows drawn from a network."""
    return Inference(network).sample(n_rows, random_state=seed)


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [60, 1500])
def test_p_values_of_the_models_own_rows_are_uniform(
    model: KDBClassifier, n_rows: int
) -> None:
    found: dict[Any, list[float]] = {}
    for seed in range(DAYS):
        told = drift(model, day(model.network_, n_rows, seed), random_state=seed)
        for one in told.variables:
            found.setdefault(one.name, []).append(one.deviation.p_value)
        for family in told.families:
            found.setdefault((family.child,), []).append(family.deviation.p_value)
    worst = {name: kstest(values, "uniform").pvalue for name, values in found.items()}
    assert len(found) == 8 + 7
    # The least of fifteen such probabilities is below this once in seven hundred runs.
    assert min(worst.values()) > 1e-4, worst


@pytest.mark.slow
def test_a_changed_family_comes_first(model: KDBClassifier) -> None:
    network, first, n_days = model.network_, 0, DAYS
    rng = np.random.default_rng(1)
    for seed in range(n_days):
        place = int(rng.integers(len(network.domain) - 1))
        changed = _changed(network, place, rng)
        told = drift(model, day(changed, 1500, seed), random_state=seed)
        first += told.ranked_families()[0].child == network.domain[place].name
    assert first >= 0.95 * n_days


def _changed(network: BayesianNetwork, place: int, rng: Any) -> BayesianNetwork:
    """The network with other distributions of one variable."""
    table = network.cpds[place].probabilities
    other = rng.dirichlet(np.ones(table.shape[-1]), table.shape[:-1])
    mixed = 0.7 * table + 0.3 * other
    tables = {
        variable.name: cpd.probabilities
        for variable, cpd in zip(network.domain, network.cpds, strict=True)
    }
    tables[network.domain[place].name] = mixed
    cpds = [
        type(cpd)(cpd.family, tables[network.domain[cpd.family[-1]].name])
        for cpd in network.cpds
    ]
    return BayesianNetwork(network.domain, network.dag, tuple(cpds))


def test_counts_equal_those_of_the_rows(model: KDBClassifier) -> None:
    table = day(model.network_, 900, 3)
    told = drift(model, table)
    assert told.rows == 900
    for one in told.variables:
        cells = table.column(str(one.name)).to_pylist()
        states = model.network_.domain[model.network_.domain.index(one.name)].states
        counts = np.array([cells.count(str(state)) for state in states], dtype=float)
        np.testing.assert_allclose(one.found, counts / 900)
        means = np.array(one.expected) * 900
        g2 = 2 * (counts * np.log(counts / means)).sum()
        assert one.deviation.g2 == pytest.approx(g2)
        assert one.deviation.p_value == pytest.approx(chi2.sf(g2, len(states) - 1))
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
    assert "bits" in drawn(told).get_xlabel()


def test_unknown_and_missing_cells_are_told(model: KDBClassifier) -> None:
    frame = day(model.network_, 300, 1).to_pandas().astype(object)
    frame.loc[:19, "x1"] = "new"
    frame.loc[20:49, "x1"] = None
    told = {one.name: one for one in drift(model, frame).variables}["x1"]
    assert told.unknown == 20
    assert told.missing == pytest.approx(50 / 300)
    assert told.deviation.rows == 250


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
    assert told._repr_html_().count("bits, p") == len(told.variables)
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
