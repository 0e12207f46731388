"""Influence diagrams of GeNIe, HUGIN and pyAgrum, read and written back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bayleaf import (
    InfluenceDiagram,
    read_influence_diagram,
    read_network,
    write_influence_diagram,
)
from bayleaf.io import NetworkFileError
from bayleaf.io.conversion import convert_file
from offenders import check_each
from oracles.decision_problems import car_buyer, oil_wildcatter
from oracles.random_diagrams import random_diagram

# As GeNIe, HUGIN and pyAgrum write the same decision, utilities in two parts.
XDSL = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="Network1" numsamples="10000" discsamples="10000">
  <nodes>
    <cpt id="Weather">
      <state id="dry" />
      <state id="rain" />
      <probabilities>0.7 0.3</probabilities>
    </cpt>
    <cpt id="Forecast">
      <state id="sunny" />
      <state id="cloudy" />
      <state id="rainy" />
      <parents>Weather</parents>
      <probabilities>0.7 0.2 0.1 0.15 0.25 0.6</probabilities>
    </cpt>
    <decision id="Umbrella">
      <state id="take" />
      <state id="leave" />
      <parents>Forecast</parents>
    </decision>
    <utility id="Comfort">
      <parents>Weather Umbrella</parents>
      <utilities>30 100 80 0</utilities>
    </utility>
    <utility id="Weight">
      <parents>Umbrella</parents>
      <utilities>5 0</utilities>
    </utility>
    <mau id="Sum">
      <parents>Comfort Weight</parents>
      <weights>1 -2</weights>
    </mau>
  </nodes>
</smile>
"""
NET = """net { node_size = (80 40); }
node Weather { states = ("dry" "rain"); }
node Forecast { states = ("sunny" "cloudy" "rainy"); }
decision Umbrella { states = ("take" "leave"); label = ""; }
utility Comfort { label = "comfort"; position = (10 20); }
utility Weight { }
potential (Weather) { data = (0.7 0.3); }
potential (Forecast | Weather) { data = ((0.7 0.2 0.1) (0.15 0.25 0.6)); }
potential (Umbrella | Forecast) { data = ((0 1) (0 1) (1 0)); }
potential (Comfort | Weather Umbrella) { data = ((30 100) (80 0)); }
potential (Weight | Umbrella) { data = (-10 0); }
"""
BIFXML = """<?xml version="1.0" ?>
<BIF VERSION="0.3">
<NETWORK>
<VARIABLE TYPE="nature"><NAME>Weather</NAME>
  <PROPERTY>fast = Weather{dry|rain}</PROPERTY>
  <OUTCOME>dry</OUTCOME><OUTCOME>rain</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>Forecast</NAME>
  <OUTCOME>sunny</OUTCOME><OUTCOME>cloudy</OUTCOME><OUTCOME>rainy</OUTCOME></VARIABLE>
<VARIABLE TYPE="decision"><NAME>Umbrella</NAME>
  <OUTCOME>take</OUTCOME><OUTCOME>leave</OUTCOME></VARIABLE>
<VARIABLE TYPE="utility"><NAME>Comfort</NAME><OUTCOME>0</OUTCOME></VARIABLE>
<VARIABLE TYPE="utility"><NAME>Weight</NAME><OUTCOME>0</OUTCOME></VARIABLE>
<DEFINITION><FOR>Weather</FOR><TABLE>0.7 0.3</TABLE></DEFINITION>
<DEFINITION><FOR>Forecast</FOR><GIVEN>Weather</GIVEN>
  <TABLE>0.7 0.2 0.1 0.15 0.25 0.6</TABLE></DEFINITION>
<DEFINITION><FOR>Umbrella</FOR><GIVEN>Forecast</GIVEN></DEFINITION>
<DEFINITION><FOR>Comfort</FOR><GIVEN>Weather</GIVEN><GIVEN>Umbrella</GIVEN>
  <TABLE>30 100 80 0</TABLE></DEFINITION>
<DEFINITION><FOR>Weight</FOR><GIVEN>Umbrella</GIVEN><TABLE>-10 0</TABLE></DEFINITION>
</NETWORK>
</BIF>
"""
TEXTS = {".xdsl": XDSL, ".net": NET, ".bifxml": BIFXML}


def written(folder: Path, suffix: str, text: str | None = None) -> Path:
    path = folder / f"umbrella{suffix}"
    path.write_text(TEXTS[suffix] if text is None else text, encoding="utf-8")
    return path


def test_each_format_holds_the_same_decision(tmp_path: Path) -> None:
    def check(suffix: str) -> None:
        diagram = read_influence_diagram(written(tmp_path, suffix))
        assert diagram.decisions == ("Umbrella",)
        solution = diagram.solve()
        assert solution.expected_utility == pytest.approx(77)
        assert solution["Umbrella"].choice({"Forecast": "rainy"}) == "take"
        assert list(solution.utilities) == ["Comfort", "Weight"]

    check_each(TEXTS, check)


def same(first: InfluenceDiagram, second: InfluenceDiagram) -> None:
    """Raise unless two diagrams have the same nodes, arcs and numbers."""
    assert first.domain == second.domain
    assert first.dag == second.dag
    for one, other in zip(first.cpds, second.cpds, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert np.array_equal(one.probabilities, other.probabilities)
    for mine, yours in zip(first.utilities, second.utilities, strict=True):
        assert mine.name == yours.name
        assert np.array_equal(mine.values, yours.values)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    odd = InfluenceDiagram.from_tables(
        states={"a, b": [1, 2.5, None], "d": [True, False], "only": ["state"]},
        parents={"d": ["a, b"], "gain in €": ["d", "a, b"]},
        tables={"a, b": [0.2, 0.3, 0.5], "only": [1]},
        decisions=["d"],
        utilities={"gain in €": [1e-300, 2, 3, 4, 5, -1e300], 7: 3},
    )
    rng = np.random.default_rng(0)
    diagrams = [odd, oil_wildcatter(), car_buyer()]
    diagrams += [random_diagram(rng, 2) for _ in range(5)]
    cases = [(s, i) for s in (*TEXTS, ".xdsl.gz") for i in range(len(diagrams))]

    def check(case: tuple[str, int]) -> None:
        suffix, position = case
        path = tmp_path / f"{position}{suffix}"
        diagrams[position].save(path)
        same(read_influence_diagram(path), diagrams[position])

    check_each(cases, check)


def test_files_that_do_not_fit_are_refused_with_their_line(tmp_path: Path) -> None:
    cases = [
        (".xdsl", "<utilities>5 0<", "<utilities>5 0 1<", "line 25: utility .* 3 num"),
        (".xdsl", "<weights>1 -2<", "<weights>1<", "line 29: utility .*weighted sum"),
        (".xdsl", "Weather Umbrella", "Weather Weather", "line 21: .* a parent twice"),
        (".xdsl", "</smile>", "<dynamic /></smile>", "dynamic, which cannot be read"),
        (".xdsl", "<parents>Forecast<", "<parents>Cast<", 'line 16: "Cast", a parent'),
        (".net", "utility Weight", "temporal Weight", 'line 6: .* "temporal" .*unroll'),
        (".net", "decision Umbrella", "utility Umbrella", "line 9: utility"),
        (".net", "utility Weight", "node Weight", 'line 6: .*"Weight" has no states'),
        (".net", "potential (Weight", "potential (Comfort", "a second time here"),
        (".bifxml", "<FOR>Weight", "<FOR>Comfort", "line 19: .*a second time here"),
        (".net", "(Weight | Umbrella) { data = (-10 0); }", "(Weight) { }", "no data"),
        (".net", "data = (-10 0)", "data = (-10)", "line 11: utility .* ask for 2"),
        (".bifxml", '"decision"', '"chance"', 'type "chance"'),
        (".bifxml", "<GIVEN>Forecast", "<GIVEN>Comfort", "is no declared variable"),
    ]

    def check(case: tuple[str, str, str, str]) -> None:
        suffix, old, new, problem = case
        assert old in TEXTS[suffix]
        path = written(tmp_path, suffix, TEXTS[suffix].replace(old, new))
        with pytest.raises(NetworkFileError, match=problem):
            read_influence_diagram(path)

    check_each(cases, check)


def test_networks_and_diagrams_are_told_apart(tmp_path: Path) -> None:
    for suffix in TEXTS:
        with pytest.raises(NetworkFileError, match="bayleaf decide"):
            read_network(written(tmp_path, suffix))
    network = tmp_path / "plain.net"
    network.write_text('node a { states = ("x" "y"); } potential (a) { data = (1 0); }')
    with pytest.raises(NetworkFileError, match=r"no utility.*read_network"):
        read_influence_diagram(network)


def test_diagrams_are_converted(tmp_path: Path) -> None:
    source = written(tmp_path, ".xdsl")
    convert_file(source, tmp_path / "umbrella.net.gz")
    same(
        read_influence_diagram(tmp_path / "umbrella.net.gz"),
        read_influence_diagram(source),
    )
    with pytest.raises(ValueError, match="format for influence diagrams"):
        convert_file(source, tmp_path / "umbrella.bif")


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"oil\.bif has no suffix .* \.xdsl, \.net"):
        write_influence_diagram(oil_wildcatter(), tmp_path / "oil.bif")
