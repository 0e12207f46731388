"""Hand-drawn networks get the tables that counting by hand gives."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayleaf import (
    BayesianNetwork,
    BayesianNetworkEstimator,
    Dirichlet,
    Lidstone,
    MEstimate,
    Variable,
    learn_parameters,
    read_network,
)
from bayleaf.cpds import DeterministicCPD, TableCPD
from offenders import check_each

EDGES = [("a", "c"), ("b", "c")]
STATES = {"a": ["n", "y"], "b": [0, 1, 2], "c": ["high", "low"]}
STRUCTURE = BayesianNetwork.from_edges(EDGES, nodes=["a", "b", "c"])
GIVEN = STRUCTURE.with_states(STATES)
EXPERT = BayesianNetwork.from_tables(
    states=STATES,
    # The other order of parents.
    parents={"c": ["b", "a"]},
    tables={
        "a": [0.3, 0.7],
        "b": [0.2, 0.5, 0.3],
        "c": [[[0.9, 0.1], [0.6, 0.4]]] * 2 + [[[0.2, 0.8], [0.5, 0.5]]],
    },
)


def _frame(n_rows: int = 60, seed: int = 0, holes: float = 0.0) -> pd.DataFrame:
    """Rows of random states, some cells missing."""
    rng = np.random.default_rng(seed)
    columns = {
        name: pd.Series([states[i] for i in rng.integers(0, len(states), n_rows)])
        for name, states in STATES.items()
    }
    frame = pd.DataFrame(columns).astype(object)
    return frame.mask(rng.random(frame.shape) < holes)


def _counts(
    frame: pd.DataFrame, names: list[str], weights: Any = None
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Weight of the rows in each joint state that hold all of some variables."""
    shape = tuple(len(STATES[name]) for name in names)
    counts = np.zeros(shape)
    weights = np.ones(len(frame)) if weights is None else weights
    for cells, weight in zip(frame[names].to_numpy().tolist(), weights, strict=True):
        if all(pd.notna(cell) for cell in cells):
            where = [STATES[n].index(cell) for n, cell in zip(names, cells)]  # type: ignore[attr-defined]
            counts[tuple(where)] += weight
    return counts


def _tables(network: BayesianNetwork) -> list[Any]:
    return [cpd.probabilities for cpd in network.cpds]


def _assert_same(one: BayesianNetwork, other: BayesianNetwork) -> None:
    assert one.domain == other.domain
    for left, right in zip(_tables(one), _tables(other), strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_tables_equal_counting_by_hand(holes: float, alpha: float) -> None:
    frame = _frame(holes=holes)
    network = STRUCTURE.fit(frame, smoothing=Lidstone(alpha))
    for names in (["a"], ["b"], ["a", "b", "c"]):
        counts = _counts(frame, names) + alpha
        expected = counts / counts.sum(axis=-1, keepdims=True)
        cpd = network.cpd(names[-1])
        np.testing.assert_allclose(cpd.probabilities, expected, atol=1e-15)
        np.testing.assert_allclose(cpd.experience, counts.sum(axis=-1))  # type: ignore[attr-defined]


def test_weights_count_rows() -> None:
    frame = _frame()
    weights = np.random.default_rng(3).integers(0, 4, len(frame))
    repeated = frame.loc[frame.index.repeat(weights)]
    weighted = GIVEN.fit(frame, sample_weight=weights)
    _assert_same(weighted, GIVEN.fit(repeated))


def test_a_row_of_weight_zero_gives_no_state_and_no_cut_point() -> None:
    frame = pd.DataFrame({"x": [*np.linspace(0, 1, 40), 99.0], "y": ["a"] * 40 + ["b"]})
    weights = np.r_[np.ones(40), 0.0]
    structure = BayesianNetwork.from_edges([("x", "y")])
    weighted = structure.fit(frame, sample_weight=weights)
    _assert_same(weighted, structure.fit(frame[:40]))


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: pl.from_pandas(frame.astype({"b": int})),
        lambda frame: pa.Table.from_pandas(frame.astype({"b": int})),
        lambda frame: {name: frame[name].tolist() for name in frame},
        lambda frame: frame.to_numpy(),
        lambda frame: frame.to_numpy().tolist(),
        lambda frame: frame[["c", "a", "b"]],
    ],
    ids=["polars", "arrow", "mapping", "array", "rows", "other order"],
)
def test_any_table_gives_the_same_network(convert: Any) -> None:
    frame = _frame()
    _assert_same(STRUCTURE.fit(convert(frame)), STRUCTURE.fit(frame))


def test_columns_that_are_no_variable_are_ignored_with_a_note() -> None:
    frame = _frame()
    network = STRUCTURE.fit(frame.assign(extra=1, name="x"))
    _assert_same(network, STRUCTURE.fit(frame))
    assert "ignored 2 columns of the table: extra, name" in network.notes
    assert "extra" in network._repr_html_()


def test_a_variable_without_a_column_is_refused_by_name() -> None:
    frame = _frame().rename(columns={"c": "cc"})
    with pytest.raises(ValueError, match=r"'c' has no column.*cc.*latent="):
        STRUCTURE.fit(frame)


def test_given_states_are_kept_whether_they_occur_or_not() -> None:
    frame = _frame()
    structure = STRUCTURE.with_states({"b": [3, 2, 1, 0]})
    network = structure.fit(frame)
    assert network.domain[1].states == (3, 2, 1, 0)
    again = structure.fit(frame, states={"a": ["y", "n", "unsure"]})
    assert again.domain[0].states == ("y", "n", "unsure")


def test_a_value_that_is_no_given_state_is_refused_or_missing() -> None:
    frame = _frame()
    frame.loc[0, "a"] = "maybe"
    with pytest.raises(ValueError, match=r"column 'a'.*maybe"):
        GIVEN.fit(frame)
    blank = frame.copy()
    blank.loc[0, "a"] = None
    _assert_same(GIVEN.fit(frame, unknown="missing"), GIVEN.fit(blank))


def test_given_cut_points_are_kept_and_learn_their_numbers() -> None:
    ages = [20.0, 25.0, 40.0, 63.5, 70.0]
    frame = pd.DataFrame({"age": ages, "ill": ["n", "n", "y", "y", "y"]})
    structure = BayesianNetwork.from_edges(
        [("age", "ill")], states={"age": Variable.numeric("age", cuts=[30, 50])}
    )
    network = structure.fit(frame)
    assert network.domain[0].cut_points == (30.0, 50.0)
    posterior = network.query({"age": 63.5})["ill"]
    assert posterior.probabilities[1] == pytest.approx(3 / 4)
    drawn = network.sample(50, {"ill": "y"}, random_state=0, numbers=True)
    assert all(20 <= age <= 70 for age in drawn["age"].to_pylist())


def test_numeric_columns_are_cut_as_the_discretizer_says() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.random(200), "y": rng.choice(["a", "b"], 200)})
    structure = BayesianNetwork.from_edges([("x", "y")])
    assert structure.fit(frame).domain[0].n_states == 5
    wide = structure.fit(frame, discretizer="equal_width").domain[0]
    assert np.ptp(np.diff(wide.cut_points)) < 1e-12


def test_missing_cells_become_a_state_or_are_refused() -> None:
    frame = _frame(holes=0.2)
    network = STRUCTURE.fit(frame, missing="state")
    assert all(variable.states[-1] is None for variable in network.domain)
    with pytest.raises(ValueError, match="missing cells"):
        STRUCTURE.fit(frame, missing="error")
    with pytest.raises(ValueError, match="missing cells"):
        GIVEN.fit(frame, missing="error")
    with pytest.raises(ValueError, match="put None last among its states"):
        GIVEN.fit(frame, missing="state")
    kept = network.fit(frame, missing="state")
    _assert_same(kept, network)


@pytest.mark.parametrize("smoothing", [Lidstone(1.0), Dirichlet(2.0)])
def test_expectation_maximisation_equals_learn_parameters(smoothing: Any) -> None:
    frame = _frame(holes=0.2)
    fitted = GIVEN.fit(frame, missing="em", smoothing=smoothing, tol=1e-9)
    rows = {
        n: 2.0 if isinstance(smoothing, Dirichlet) else float(len(s))
        for n, s in STATES.items()
    }
    uniform = [
        TableCPD(cpd.family, np.full(cpd.cards, 1 / cpd.cards[-1]))
        for cpd in fitted.cpds
    ]
    start = replace(fitted, cpds=tuple(uniform)).with_experience(rows)
    _assert_same(fitted, learn_parameters(start, frame, tol=1e-9).network)
    assert any("expectation maximisation took" in note for note in fitted.notes)


def test_a_fit_notes_that_counts_of_latent_tables_make_narrow_intervals() -> None:
    frame = _frame(holes=0.2)
    name = GIVEN.names[0]
    seen = GIVEN.fit(frame, missing="em")
    assert not any("too narrow" in note for note in seen.notes)
    hidden = GIVEN.fit(
        frame.drop(columns=name), missing="em", latent=[name], random_state=0
    )
    expected = f"tables of the latent {name} and of what it acts on"
    assert any(note.startswith(expected) for note in hidden.notes)


def test_without_smoothing_a_network_starts_from_its_own_tables() -> None:
    frame = _frame(holes=0.2)
    fitted = EXPERT.fit(frame, missing="em", smoothing="maximum_likelihood")
    _assert_same(fitted, learn_parameters(EXPERT, frame).network)


def test_with_complete_rows_expectation_maximisation_equals_counting() -> None:
    frame = _frame()
    by_steps = GIVEN.fit(frame, missing="em")
    for one, other in zip(_tables(by_steps), _tables(GIVEN.fit(frame)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-15)


def test_smoothing_that_looks_at_counts_is_refused_by_expectation_maximisation() -> (
    None
):
    with pytest.raises(ValueError, match="prior of its own"):
        GIVEN.fit(_frame(), missing="em", smoothing=MEstimate())


@pytest.mark.parametrize("strength", [0.0, 10.0])
@pytest.mark.parametrize("missing", ["marginalize", "em"])
def test_an_experts_tables_count_as_rows(strength: float, missing: str) -> None:
    frame = _frame()
    network = STRUCTURE.fit(frame, prior=EXPERT, strength=strength, missing=missing)
    prior = EXPERT.cpd("c").probabilities.transpose(1, 0, 2)
    counts = _counts(frame, ["a", "b", "c"]) + strength * prior
    expected = counts / counts.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(network.cpd("c").probabilities, expected, atol=1e-12)


def test_an_expert_of_great_strength_is_not_moved() -> None:
    network = STRUCTURE.fit(_frame(), prior=EXPERT, strength=1e12)
    np.testing.assert_allclose(network.cpd("a").probabilities, [0.3, 0.7], atol=1e-9)


def test_experience_is_the_default_strength_and_the_last_fit_a_prior() -> None:
    frame, more = _frame(seed=1), _frame(seed=2)
    first = GIVEN.fit(frame)
    both = GIVEN.fit(pd.concat([frame, more]))
    second = GIVEN.fit(more, prior=first)
    for one, other in zip(_tables(second), _tables(both), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_strengths_may_differ_by_variable() -> None:
    frame = _frame()
    network = STRUCTURE.fit(frame, prior=EXPERT, strength={"a": 5, "b": 0, "c": 0})
    counts = _counts(frame, ["a"]) + 5 * np.array([0.3, 0.7])
    np.testing.assert_allclose(
        network.cpd("a").probabilities, counts / counts.sum(), atol=1e-15
    )


def test_a_prior_of_other_form_or_without_strength_is_refused() -> None:
    with pytest.raises(ValueError, match="Give strength="):
        STRUCTURE.fit(_frame(), prior=EXPERT)
    with pytest.raises(ValueError, match="give prior= as well"):
        STRUCTURE.fit(_frame(), strength=1.0)
    other = BayesianNetwork.from_edges([("a", "c")], nodes=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"'c' has the parents b, a in prior=, but a"):
        other.fit(_frame(), prior=EXPERT, strength=1.0)
    turned = STRUCTURE.with_states({"a": ["y", "n"]})
    with pytest.raises(ValueError, match="'a' has other states"):
        turned.fit(_frame(), prior=EXPERT, strength=1.0)
    with pytest.raises(TypeError, match="prior must be a BayesianNetwork"):
        STRUCTURE.fit(_frame(), prior="expert")


@pytest.mark.parametrize("missing", ["marginalize", "em"])
def test_kept_tables_stay_and_the_others_are_learned(missing: str) -> None:
    frame = _frame()
    whole = EXPERT.fit(frame, missing=missing)
    part = EXPERT.fit(frame, keep=["a", "b"], missing=missing)
    same = EXPERT.fit(frame, learn="c", missing=missing)
    for name in ("a", "b"):
        assert part.cpd(name).probabilities.tolist() == (
            EXPERT.cpd(name).probabilities.tolist()
        )
    np.testing.assert_array_equal(
        part.cpd("c").probabilities, whole.cpd("c").probabilities
    )
    _assert_same(part, same)


def test_a_table_that_is_kept_needs_no_column() -> None:
    frame = _frame()
    part = EXPERT.fit(frame[["a"]], learn="a")
    counts = _counts(frame, ["a"]) + 1
    np.testing.assert_allclose(part.cpd("a").probabilities, counts / counts.sum())


def test_learn_and_keep_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="give one of them"):
        EXPERT.fit(_frame(), learn="a", keep="b")
    with pytest.raises(ValueError, match="no table to learn"):
        EXPERT.fit(_frame(), keep=["a", "b", "c"])
    with pytest.raises(ValueError, match="no such variable"):
        EXPERT.fit(_frame(), keep="d")


def test_the_domain_of_a_network_is_kept() -> None:
    frame = _frame()[lambda rows: rows["b"] != 2]
    assert EXPERT.fit(frame).domain == EXPERT.domain


def test_trees_keep_their_form_and_value_maps_stay() -> None:
    frame = _frame(200)
    frame["c"] = np.where(frame["a"] == "y", "high", "low")
    model = BayesianNetworkEstimator(local_structure="tree", random_state=0).fit(frame)
    other = frame.sample(100, random_state=0)
    refitted = model.network_.fit(other)
    assert list(map(type, refitted.cpds)) == list(map(type, model.network_.cpds))
    again = model.network_.fit(frame)
    for one, two in zip(_tables(again), _tables(model.network_), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-12)
    copied = DeterministicCPD((1, 0, 2), 2, np.array([[0, 1], [1, 0], [1, 1]]))
    fixed = replace(EXPERT, cpds=(*EXPERT.cpds[:2], copied))
    assert fixed.fit(frame).cpds[2] is copied


def _mixture(n_rows: int) -> pd.DataFrame:
    """Three answers that a hidden kind decides."""
    rng = np.random.default_rng(5)
    kind = rng.random(n_rows) < 0.4
    share = np.where(kind, 0.9, 0.15)
    return pd.DataFrame(
        {f"x{i}": np.where(rng.random(n_rows) < share, "y", "n") for i in range(4)}
    )


KINDS = BayesianNetwork.from_edges([("kind", f"x{i}") for i in range(4)])


def test_latent_variables_are_found_without_a_column() -> None:
    frame = _mixture(3000)
    network = KINDS.fit(frame, missing="em", latent={"kind": 2}, random_state=0)
    assert network.domain[0].states == ("state 1", "state 2")
    found = np.sort(network.cpd("kind").probabilities)
    np.testing.assert_allclose(found, [0.4, 0.6], atol=0.05)
    shares = np.sort(network.cpd("x0").probabilities[:, 1])
    np.testing.assert_allclose(shares, [0.15, 0.9], atol=0.05)


def test_latent_fits_are_the_same_for_the_same_seed() -> None:
    frame, options = _mixture(300), {"missing": "em", "latent": {"kind": ["u", "v"]}}
    one = KINDS.fit(frame, random_state=3, n_jobs=1, **options)
    _assert_same(one, KINDS.fit(frame, random_state=3, n_jobs=2, **options))


def test_more_starts_never_end_lower() -> None:
    frame, options = _mixture(300), {"missing": "em", "latent": {"kind": 3}}
    # The starts of fewer are among those of more.
    ends = [
        KINDS.fit(
            frame,
            random_state=1,
            smoothing="maximum_likelihood",
            n_restarts=n,
            **options,
        ).log_likelihood(frame)
        for n in (2, 4, 11)
    ]
    assert ends == sorted(ends)


def test_latent_variables_need_states_and_expectation_maximisation() -> None:
    frame = _mixture(50)
    with pytest.raises(ValueError, match="pass missing='em'"):
        KINDS.fit(frame, latent={"kind": 2})
    with pytest.raises(ValueError, match="how many states has the latent"):
        KINDS.fit(frame, latent=["kind"], missing="em")
    with pytest.raises(ValueError, match="has a column, so it is not latent"):
        KINDS.fit(frame.assign(kind="u"), latent={"kind": 2}, missing="em")
    with pytest.raises(ValueError, match=r"latent names 'kin'.*did you mean kind"):
        KINDS.fit(frame, latent={"kin": 2}, missing="em")
    with pytest.raises(ValueError, match="given already"):
        KINDS.with_states({"kind": ["u", "v"]}).fit(
            frame, latent={"kind": 2}, missing="em"
        )


def test_a_network_without_a_column_goes_on_from_its_own_tables() -> None:
    frame = _mixture(400)
    network = KINDS.fit(frame, missing="em", latent={"kind": 2}, random_state=0)
    again = network.fit(frame, missing="em", latent="kind", n_restarts=1)
    for one, other in zip(_tables(network), _tables(again), strict=True):
        np.testing.assert_allclose(one, other, atol=0.03)


def test_states_of_a_latent_keep_their_meaning_whatever_the_seed() -> None:
    frame = _mixture(400)
    network = KINDS.fit(frame, missing="em", latent={"kind": 2}, random_state=0)
    order = [1, 0]
    turned = replace(
        network,
        cpds=tuple(
            replace(cpd, probabilities=cpd.probabilities[order]) for cpd in network.cpds
        ),
    )
    expected = turned.cpd("kind").probabilities
    for seed in range(8):
        again = turned.fit(frame, missing="em", latent="kind", random_state=seed)
        found = again.cpd("kind").probabilities
        np.testing.assert_allclose(found, expected, atol=0.03)


def test_a_network_whose_tables_tell_no_states_apart_warns() -> None:
    frame = _mixture(50)
    network = KINDS.fit(frame, missing="em", latent={"kind": 2}, random_state=0)
    uniform = [TableCPD(c.family, np.full(c.cards, 0.5)) for c in network.cpds]
    start = replace(network, cpds=tuple(uniform))
    with pytest.warns(RuntimeWarning, match="latent kind apart"):
        start.fit(frame, missing="em", latent="kind", n_restarts=1)


def test_codes_are_taken_where_states_are_given() -> None:
    codes = EXPERT.sample_codes(100, random_state=0)
    table = EXPERT.sample(100, random_state=0)
    _assert_same(GIVEN.fit(codes), GIVEN.fit(table))
    with pytest.raises(ValueError, match="codes need variables whose states"):
        STRUCTURE.fit(codes)


def test_parameters_are_refused_by_name() -> None:
    def check(case: tuple[Any, str]) -> None:
        options, message = case
        with pytest.raises(ValueError, match=message):
            STRUCTURE.fit(_frame(), **options)

    check_each(
        [
            ({"missing": "skip"}, "missing must be one of"),
            ({"unknown": "drop"}, "unknown must be one of"),
            ({"smoothing": "none"}, "smoothing must be one of"),
            ({"sample_weight": [1.0]}, "sample_weight must be 60"),
            ({"sample_weight": np.zeros(60)}, "positive weight"),
            ({"categorical_features": ["d"]}, "categorical_features names 'd'"),
            ({"states": {"d": [1]}}, "states are given for 'd'"),
        ],
        check,
    )


def test_columns_of_dates_or_of_other_length_are_refused() -> None:
    frame = _frame().assign(c=pd.Timestamp("2020-01-01"))
    with pytest.raises((TypeError, ValueError), match="'c'"):
        STRUCTURE.fit(frame)
    with pytest.raises(ValueError, match="different lengths"):
        STRUCTURE.fit({"a": ["n"], "b": [0, 1], "c": ["low"]})
    with pytest.raises(ValueError, match="2 columns without names"):
        STRUCTURE.fit(np.zeros((5, 2), dtype=int))


def test_whole_numbers_declared_nominal_are_values() -> None:
    frame = _frame().assign(b=np.arange(60))
    nominal = STRUCTURE.fit(frame, categorical_features=["b"])
    assert nominal.domain[1].n_states == 60


def test_fits_of_random_graphs_equal_counting() -> None:
    rng = np.random.default_rng(8)
    frame = _frame(100, holes=0.1)
    for order in itertools.permutations("abc"):
        pairs = [p for p in itertools.combinations(order, 2) if rng.random() < 0.6]
        structure = BayesianNetwork.from_edges(pairs, nodes=["a", "b", "c"])
        network = structure.fit(frame)
        for cpd in network.cpds:
            names = [network.domain.names[member] for member in cpd.family]
            counts = _counts(frame, names) + 1.0  # type: ignore[arg-type]
            expected = counts / counts.sum(axis=-1, keepdims=True)
            np.testing.assert_allclose(cpd.probabilities, expected, atol=1e-15)


def test_alarm_with_a_fifth_missing_equals_learn_parameters(data_folder: Path) -> None:
    alarm = read_network(data_folder / "networks" / "alarm.bif")
    frame = alarm.sample(300, random_state=0).to_pandas().astype(str).astype(object)
    frame = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.2)
    structure = BayesianNetwork.from_edges(alarm)
    fitted = structure.fit(frame, missing="em")
    uniform = [
        TableCPD(cpd.family, np.full(cpd.cards, 1 / cpd.cards[-1]))
        for cpd in alarm.cpds
    ]
    rows = {variable.name: float(variable.n_states) for variable in alarm.domain}
    start = replace(alarm, cpds=tuple(uniform)).with_experience(rows)
    _assert_same(fitted, learn_parameters(start, frame).network)
