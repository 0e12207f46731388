"""Expected utilities equal pyAgrum's, by files written on either side.

Tried with pyAgrum 3.3.1.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bayleaf import InfluenceDiagram, read_influence_diagram
from bayleaf.graph.separation import descendants
from offenders import check_each
from oracles.decision_problems import car_buyer, chest_clinic, oil_wildcatter, umbrella
from oracles.random_diagrams import random_diagram

pytestmark = pytest.mark.slow


def meus(paths: Sequence[Path]) -> list[float]:
    """The highest expected utility of each file that pyAgrum finds."""
    pytest.importorskip("pyagrum")
    program = Path(__file__).with_name("pyagrum_decisions.py")
    done = subprocess.run(
        [sys.executable, program, *paths], capture_output=True, text=True, check=True
    )
    return [float(line) for line in done.stdout.split()]


def _utilities_after(diagram: InfluenceDiagram, decision: str | int) -> set[int]:
    """Nodes of the utilities that a decision influences."""
    after = descendants(diagram.dag, [diagram.domain.index(decision)])
    return {node for node in after if node >= len(diagram.domain)}


def test_expected_utilities_equal_those_of_pyagrum(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    problems: list[InfluenceDiagram] = [oil_wildcatter(), umbrella(), chest_clinic()]
    problems += [car_buyer()]
    while len(problems) < 40:
        diagram = random_diagram(rng, 1 + len(problems) % 2)
        # Where a decision influences no utility, pyAgrum misses the best policies.
        if all(_utilities_after(diagram, name) for name in diagram.decisions):
            problems.append(diagram)

    paths = [tmp_path / f"{i}.bifxml" for i in range(len(problems))]
    for diagram, path in zip(problems, paths, strict=True):
        diagram.save(path)
    theirs = meus(paths)

    def check(position: int) -> None:
        ours = problems[position].solve().expected_utility
        assert ours == pytest.approx(theirs[position], rel=1e-9, abs=1e-9)

    check_each(range(len(problems)), check)


def test_a_file_of_pyagrum_is_read(tmp_path: Path) -> None:
    path = tmp_path / "agrum.bifxml"
    theirs = meus([path])
    diagram = read_influence_diagram(path)
    assert diagram.decisions == ("test", "drill")
    # The file has six digits, so that distributions do not quite sum to one.
    assert [diagram.solve().expected_utility] == pytest.approx(theirs, rel=1e-5)
