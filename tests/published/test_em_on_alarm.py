"""Tables of the alarm network are recovered from rows of which a fifth is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bayleaf import learn_parameters, read_network
from bayleaf.cpds import TableCPD
from bayleaf.data.codes import Codes

N_ROWS, HOLES = 5000, 0.2


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_well_supported_entries_equal_those_of_the_complete_rows(
    data_folder: Path, seed: int
) -> None:
    network = read_network(data_folder / "networks" / "alarm.bif")
    uniform = [
        TableCPD(cpd.family, np.full(cpd.cards, 1 / cpd.cards[-1]))
        for cpd in network.cpds
    ]
    start = replace(network, cpds=tuple(uniform))
    complete = network.sample_codes(N_ROWS, random_state=seed)
    generator = np.random.default_rng([seed, 1])
    columns = [
        np.where(generator.random(N_ROWS) < HOLES, card, complete.column(variable))
        for variable, card in enumerate(complete.cards)
    ]
    by_counting = learn_parameters(start, complete).network
    learned = learn_parameters(start, Codes.from_columns(columns, complete.cards))
    assert learned.converged
    assert (np.diff(learned.objectives) > -1e-9 * abs(learned.log_likelihood)).all()
    differences, experiences = [], []
    for found, expected in zip(learned.network.cpds, by_counting.cpds, strict=True):
        experience = expected.experience[..., None]  # type: ignore[attr-defined]
        differences.append((found.probabilities - expected.probabilities).ravel())
        experiences.append(np.broadcast_to(experience, found.cards).ravel())
    difference, experience = np.concatenate(differences), np.concatenate(experiences)
    assert (experience > 1000).sum() > 100
    assert np.abs(difference[experience > 1000]).max() <= 0.05
    assert np.sqrt(np.mean(difference[experience > 200] ** 2)) <= 0.02
