"""Every model that fit gives can be saved, and comes back the same.

    python tests/property/test_saved_models.py 3000

tries so many settings on as many tables.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1]))
from bayleaf import load
from oracles.random_models import answers, fit, random_model, random_table


def outcome(seed: int, folder: Path) -> str:
    """How a random model on a random table fared: refused by fit, or saved."""
    rng = np.random.default_rng(seed)
    model, (X, y, weights) = random_model(rng), random_table(rng)
    refused = fit(model, X, y, weights)
    if refused:
        assert "\n" not in refused.replace("ÿ\n", "")
        return "refused"
    path = folder / "model.json"
    model.save(path)
    back = load(path)
    before, after = answers(model, X), answers(back, X)
    assert before.dtype == after.dtype
    assert before.tobytes() == after.tobytes()
    back.save(folder / "again.json")
    assert path.read_bytes() == (folder / "again.json").read_bytes()
    return "the same"


@pytest.mark.parametrize("first", range(0, 24, 4))
def test_models_come_back_the_same(first: int, tmp_path: Path) -> None:
    found = Counter(outcome(seed, tmp_path) for seed in range(first, first + 4))
    assert found["the same"] >= 1


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds",
    [
        *(range(24, 100), range(1000, 1100)),
        *(
            pytest.param(range(first, first + 100), marks=pytest.mark.long)
            for first in range(1100, 2200, 100)
        ),
    ],
)
def test_many_models_come_back_the_same(seeds: range, tmp_path: Path) -> None:
    found = Counter(outcome(seed, tmp_path) for seed in seeds)
    assert found["the same"] >= 0.4 * len(seeds)


if __name__ == "__main__":
    counted: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for seed in range(10_000, 10_000 + int(sys.argv[1])):
            try:
                counted[outcome(seed, Path(name))] += 1
            except Exception as error:
                counted["a fault"] += 1
                print(seed, type(error).__name__, str(error)[:150], flush=True)
    print(dict(counted))
