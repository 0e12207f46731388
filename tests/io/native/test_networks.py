"""Sampled networks in files: a few bytes a cell, read back as they were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import bayleaf
from bayleaf import AveragedKDBClassifier
from bayleaf.counts.occupied import count_occupied
from bayleaf.cpds.random_network import RandomNetwork
from bayleaf.data.codes import Codes
from bayleaf.io import ModelFileError
from bayleaf.io.native.networks import PackedNetworks, packed, unpacked
from offenders import check_each


@given(st.lists(st.integers(0, 2**63 - 1) | st.integers(0, 300)))
def test_packed_integers_are_unpacked(numbers: list[int]) -> None:
    whole = np.array(numbers, dtype=np.int64)
    content = packed(whole)
    np.testing.assert_array_equal(unpacked(content), whole)
    assert len(content) == sum(max(1, -(-n.bit_length() // 7)) for n in numbers)


@pytest.mark.parametrize("bits", [7, 8, 16, 32, 63])
def test_unpacked_integers_take_as_few_bytes_as_the_largest(bits: int) -> None:
    whole = np.array([3, (1 << bits) - 1], dtype=np.int64)
    size = unpacked(packed(whole)).itemsize
    assert size == next(n for n in (1, 2, 4, 8) if bits <= 8 * n)


def test_bytes_that_are_no_packed_integers_are_refused() -> None:
    def check(case: tuple[list[int], str]) -> None:
        content, sentence = case
        with pytest.raises(ValueError, match=sentence):
            unpacked(np.array(content, dtype=np.uint8))

    check_each(
        [
            ([1, 200], "end too early"),
            ([200], "end too early"),
            ([255] * 9 + [1], "too large"),
            ([5, *[128] * 30, 0, 7], "too large"),
        ],
        check,
    )


def _networks(
    cards: tuple[int, ...], n_rows: int, seed: int, weights: NDArray[np.float64] | None
) -> tuple[RandomNetwork, ...]:
    """Two networks over random rows, one of them with parents of all features."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(card, size=n_rows).astype(np.uint16) for card in cards]
    codes = Codes.from_columns(columns, cards, weights)
    n_features = len(cards) - 1
    maps = tuple(np.arange(card + 1, dtype=np.uint16) for card in cards[:-1])
    with_parents = [
        (child, *(v for v in rng.permutation(n_features).tolist() if v != child))
        for child in range(n_features)
    ]
    alone = [(child,) for child in range(n_features)]
    return tuple(
        RandomNetwork(maps, count_occupied(codes, families, maps, min_rows))
        for families, min_rows in ((with_parents, 3.0), (alone, 1.0))
    )


@settings(max_examples=15)
@given(
    st.lists(st.sampled_from([1, 2, 3, 70, 300]), min_size=1, max_size=4),
    st.integers(1, 4),
    st.integers(1, 60),
    st.integers(0, 1000),
    st.sampled_from([None, "whole", "huge", "fractional"]),
)
def test_networks_come_back_cell_by_cell(
    cards: list[int], n_classes: int, n_rows: int, seed: int, kind: str | None
) -> None:
    rng = np.random.default_rng(seed)
    weights = {
        None: None,
        "whole": rng.integers(1, 500, size=n_rows).astype(float),
        "huge": rng.integers(1, 2**40, size=n_rows).astype(float),
        "fractional": rng.random(n_rows) + 0.01,
    }[kind]
    networks = _networks((*cards, n_classes), n_rows, seed, weights)
    content = PackedNetworks.standing_for(networks)
    assert bool(len(content.real_weights)) == (kind == "fractional")
    again = content.restored(networks)
    assert again.packed is content
    is_held = [one is other for one, other in zip(networks, again, strict=True)]
    # Files have one number of places for all networks.
    widths = [item.counts.families.shape[1] for item in networks]
    assert is_held == [width == max(widths) for width in widths]
    for one, other in zip(networks, content.restored(), strict=True):
        other.check_content()
        other.counts.check_content()
        width = one.counts.families.shape[1]
        for name in ("families", "states", "classes", "weights", "starts"):
            found, wanted = getattr(other.counts, name), getattr(one.counts, name)
            if name == "families":
                assert (found[:, width:] == -1).all()
                found = found[:, :width]
            if name == "states":
                found = found[:width]
            np.testing.assert_array_equal(found, wanted)
        for found, wanted in zip(other.maps, one.maps, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_arrays_that_do_not_fit_are_refused() -> None:
    whole = PackedNetworks.standing_for(_networks((3, 4, 2), 40, 0, None))
    families = whole.families.copy()
    families[0, 1] = 7

    def check(changes: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"need|fit|exist|unknown state|early"):
            replace(whole, **changes).restored()

    check_each(
        [
            {"families": whole.families[:0]},
            {"families": whole.families[:-1]},
            {"families": families},
            {"families": np.full_like(families, -1)},
            {"n_cells": whole.n_cells * 0},
            {"n_cells": whole.n_cells + 1},
            {"steps": whole.steps[:-1]},
            {"steps": np.full_like(whole.steps, 127)},
            {"weights": whole.weights[:-1]},
            {"weights": np.full_like(whole.weights, 200)},
            {"values": whole.values[:-1]},
            {"n_values": whole.n_values - 4},
            {"n_classes": 0},
        ],
        check,
        str,
    )


def _fitted(**parameters: Any) -> tuple[AveragedKDBClassifier, pd.DataFrame]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "word": np.array(["p", "q", "r"])[rng.integers(3, size=200)],
            "number": rng.normal(size=200),
        }
    )
    y = (frame["number"] > 0) ^ (frame["word"] == "p")
    weights = parameters.pop("sample_weight", None)
    model = AveragedKDBClassifier(n_networks=3, random_state=0, **parameters)
    return model.fit(frame, y, weights), frame


@pytest.mark.parametrize("weighted", [False, True])
def test_a_file_predicts_what_the_model_does_under_any_weights(
    tmp_path: Path, weighted: bool
) -> None:
    weights = np.random.default_rng(1).random(200) * 2 if weighted else None
    model, frame = _fitted(sample_weight=weights)
    model.save(tmp_path / "model.json")
    read = bayleaf.load(tmp_path / "model.json")
    np.testing.assert_array_equal(
        read.predict_log_proba(frame), model.predict_log_proba(frame)
    )
    assert read.explain(frame.head(3)) == model.explain(frame.head(3))
    read.save(tmp_path / "again.json")
    again = (tmp_path / "again.json").read_bytes()
    assert again == (tmp_path / "model.json").read_bytes()


def test_least_rows_stay_in_the_file(tmp_path: Path) -> None:
    model, frame = _fitted(max_model_size=26_000)
    assert model.min_rows_ > 1
    model.save(tmp_path / "model.json")
    read = bayleaf.load(tmp_path / "model.json")
    assert read.model_.min_rows == model.min_rows_
    assert read.summary().remarks == model.summary().remarks
    np.testing.assert_array_equal(
        read.predict_log_proba(frame), model.predict_log_proba(frame)
    )


def test_cells_out_of_order_are_not_written(
    tmp_path: Path,
) -> None:
    model, _ = _fitted()
    network = model.model_.networks[0]
    turned = network.counts.states[:, ::-1]
    broken = replace(network, counts=replace(network.counts, states=turned))
    networks = (broken, *model.model_.networks[1:])
    model.model_ = replace(model.model_, networks=networks)
    with pytest.raises(ModelFileError, match=r"not in order|unknown state"):
        model.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_networks_are_checked_once_when_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, _ = _fitted()
    checked = []
    content = RandomNetwork.check_content

    def counting(network: RandomNetwork) -> None:
        checked.append(network)
        content(network)

    monkeypatch.setattr(RandomNetwork, "check_content", counting)
    model.save(tmp_path / "model.json")
    assert len(checked) == model.n_networks_
