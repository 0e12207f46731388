"""The benchmark of partial cases: its sets, its figures, and that it resumes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import partial_cases


def test_small_sizes_count_where_some_feature_stays_unknown() -> None:
    sizes = partial_cases.set_sizes(5)
    assert sizes == {"0": 0, "1": 1, "2": 2, "3": 3, "d/2": 2, "d-1": 4, "d": 5}


def test_the_first_set_has_the_strongest_features() -> None:
    rng, strengths = np.random.default_rng(0), np.array([0.1, 0.4, 0.2, 0.3])
    known = partial_cases.known_sets(2, strengths, rng)
    np.testing.assert_array_equal(known[0], [False, True, False, True])
    assert known.sum(axis=1).tolist() == [2, 2, 2]
    assert len(partial_cases.known_sets(4, strengths, rng)) == 1


def test_calibration_error_is_that_of_shares_by_bin() -> None:
    proba = np.array([[0.75, 0.25], [0.75, 0.25], [0.05, 0.95], [0.05, 0.95]])
    own = np.array([0, 1, 1, 1])
    # Two rows in four are off by 1/4, the others by 1/20, in both classes.
    assert partial_cases.calibration_error(own, proba) == pytest.approx(0.15)


def test_columns_are_averaged_over_the_tables_that_have_them() -> None:
    lines = [
        {"table": name, "n_features": d, "log_loss": {"averaged KDB": losses}}
        for name, d, losses in (
            ("a", 5, {"0": 1.0, "1": 0.6, "2": 0.5, "3": 0.4, "4": 0.3, "5": 0.1}),
            ("b", 6, {"0": 1.0, "1": 0.8, "2": 0.7, "3": 0.6, "5": 0.4, "6": 0.2}),
        )
    ]
    text = partial_cases.summary(lines, "log_loss").splitlines()[-1]
    cells = [float(cell) for cell in text.strip("| ").split(" | ")[1:]]
    means = [1.0, 0.7, 0.6, 0.5, 0.4, 0.55, 0.35, 0.15]
    assert cells[:8] == pytest.approx(means)
    assert cells[8] == pytest.approx((2.3 / 5 + 3.5 / 6) / 2, abs=1e-4)


@pytest.mark.long
def test_a_second_run_keeps_finished_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.jsonl"
    monkeypatch.setattr(sys, "argv", ["partial_cases.py", str(path), "--fast"])
    partial_cases.main()
    first, printed = path.read_text("utf-8"), capsys.readouterr().out
    tables = [json.loads(line)["table"] for line in first.splitlines()]
    assert tables == ["heart", "mushroom"]
    assert all(f"| {method} |" in printed for method in partial_cases.METHODS)
    assert "of 2 tables" in printed
    partial_cases.main()
    assert path.read_text("utf-8") == first
    assert capsys.readouterr().out == printed
