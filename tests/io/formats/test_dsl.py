"""GeNIe's DSL files are read as pyAgrum and GeNIe wrote them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from bayleaf.datasets import load_network
from bayleaf.io import NetworkFileError
from bayleaf.io.formats.dsl import read
from offenders import check_each
from oracles.dsl_text import dsl_text
from oracles.hard_networks import assert_same_network
from oracles.malformed_networks import check_refused

SMALL = """net "two words" {
 node light {
  TYPE = CPT;
  PARENTS = ();
  DEFINITION = { NAMESTATES = (red, green, off); PROBABILITIES = (0.5, .25, 25e-2); };
 };
 node rain {
  TYPE = CPT;
  DEFINITION = { NAMESTATES = (no, yes); PROBABILITIES = (0.75 0.25); };
 };
 node go {
  TYPE = TRUTHTABLE;
  HEADER = { ID = go; NAME = "go"; };
  PARENTS = (light, rain);
  DEFINITION = { NAMESTATES = (no, yes);
   RESULTINGSTATES = (no, no, yes, no, yes, yes); };
 };
};
"""


def written(folder: Path, text: str) -> Path:
    """A file with a text."""
    path = folder / "given.dsl"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_a_network_is_read_with_its_tables_bit_for_bit(
    tmp_path: Path, name: str
) -> None:
    network = load_network(name)
    assert_same_network(network, read(written(tmp_path, dsl_text(network))))


def test_a_deterministic_node_becomes_a_table_of_ones_and_zeros(tmp_path: Path) -> None:
    network = read(written(tmp_path, SMALL))
    assert network.edges == [("light", "go"), ("rain", "go")]
    yes = network.cpd("go").probabilities[..., 1]
    np.testing.assert_array_equal(yes, [[0, 0], [1, 0], [1, 1]])


MALFORMED = {
    "no net": (SMALL.replace("net ", "work "), 1, 'expected "net", but found "work"'),
    "noisy": (SMALL.replace("TRUTHTABLE", "NOISY_MAX"), 11, 'of the type "NOISY_MAX"'),
    "no type": (SMALL.replace("  TYPE = CPT;\n", "", 1), 2, 'of the type ""'),
    "unknown parent": (SMALL.replace("(light, ", "(ligth, "), 16, "did you mean light"),
    "no numbers": (SMALL.replace("PROB", "XPROB", 1), 2, "lacks PROBABILITIES"),
    "too few": (SMALL.replace("0.75 ", ""), 9, "holds 1 numbers, but its states"),
    "sum": (SMALL.replace("0.75", "0.85"), 9, "sum to 1.1; they should sum to 1"),
    "word": (SMALL.replace("0.75", "some"), 9, 'expected a number, but found "some"'),
    "result": (SMALL.replace("(no, no, y", "(oh, no, y"), 16, 'should result in "oh"'),
    "cut": (SMALL[: SMALL.index("RESULT")], 15, "expected an attribute or"),
    "no end": (
        SMALL.replace("(no, yes); PROB", "(no, yes) PROB"),
        9,
        "expected a name",
    ),
    "doubled": (SMALL.replace("node rain", "node light"), 7, "declared twice"),
    "no states": (SMALL.replace("NAMESTATES = (no, yes); P", "P"), 7, "has no states"),
    "open string": (SMALL.replace('"go"', '"go'), 13, "never closed"),
    "binary": (SMALL.replace("rain", "\0"), 7, "binary data"),
    "deep": ("net x {" + "A = {" * 10_000, 1, "nested too deeply"),
}


def test_a_malformed_file_is_refused_with_file_and_line(tmp_path: Path) -> None:
    def check(case: str) -> None:
        text, line, problem = MALFORMED[case]
        check_refused(read, written(tmp_path, text), line, re.escape(problem))

    check_each(MALFORMED, check)


def test_a_file_cut_short_anywhere_is_refused_in_one_sentence(tmp_path: Path) -> None:
    whole = SMALL.rstrip().removesuffix("};")
    for length in range(1, len(whole), 7):
        with pytest.raises(NetworkFileError) as caught:
            read(written(tmp_path, whole[:length]))
        assert "\n" not in str(caught.value)
