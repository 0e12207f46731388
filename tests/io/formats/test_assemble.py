"""Distributions that do not quite sum to one, in every format that may hold them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf.io import NetworkFileError, read_network
from offenders import check_each

# One variable with the numbers A and B, one with two rows.
FILES = {
    ".bif": "network x {\n}\n"
    "variable a {\n type discrete [2] { n, y };\n}\n"
    "variable b {\n type discrete [2] { n, y };\n}\n"
    "probability ( a ) {\n table 0.25, 0.75;\n}\n"
    "probability ( b | a ) {\n (n) A, B;\n (y) 0.5, 0.5;\n}\n",
    ".net": "net {}\nnode a { states = (n y); }\nnode b { states = (n y); }\n"
    "potential (a) { data = (0.25 0.75); }\n"
    "potential (b | a) { data = ((A B) (0.5 0.5)); }\n",
    ".xml": '<BIF VERSION="0.3"><NETWORK><NAME>x</NAME>'
    "<VARIABLE><NAME>a</NAME><OUTCOME>n</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>"
    "<VARIABLE><NAME>b</NAME><OUTCOME>n</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>"
    "<DEFINITION><FOR>a</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>"
    "<DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN><TABLE>A B 0.5 0.5</TABLE></DEFINITION>"
    "</NETWORK></BIF>",
    ".xdsl": '<smile version="1.0"><nodes>'
    '<cpt id="a"><state id="n" /><state id="y" />'
    "<probabilities>0.25 0.75</probabilities></cpt>"
    '<cpt id="b"><state id="n" /><state id="y" /><parents>a</parents>'
    "<probabilities>A B 0.5 0.5</probabilities></cpt></nodes></smile>",
    ".dsl": "net x {\nnode a { TYPE = CPT;\n"
    "DEFINITION = { NAMESTATES = (n, y); PROBABILITIES = (0.25, 0.75); }; };\n"
    "node b { TYPE = CPT; PARENTS = (a);\n"
    "DEFINITION = { NAMESTATES = (n, y); PROBABILITIES = (A, B, 0.5, 0.5); }; };\n};\n",
    ".uai": "BAYES 2 2 2 2 1 0 2 0 1 2 0.25 0.75 4 A B 0.5 0.5\n"
    "# bayleaf_identifiers 0 a n y\n# bayleaf_identifiers 1 b n y\n",
}


def written(folder: Path, suffix: str, first: str, second: str) -> Path:
    """A file whose first row given a parent holds two numbers."""
    path = folder / f"given{suffix}"
    text = FILES[suffix].replace("A B", f"{first} {second}")
    path.write_text(text.replace("A, B", f"{first}, {second}"), encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", FILES)
def test_rounded_rows_are_divided_by_their_sum_and_told_of_once(
    tmp_path: Path, suffix: str, caplog: pytest.LogCaptureFixture
) -> None:
    network = read_network(written(tmp_path, suffix, "0.250035", "0.75"))
    row = np.array([0.250035, 0.75])
    np.testing.assert_array_equal(network.cpd("b").probabilities[0], row / row.sum())
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("bayleaf", logging.WARNING)
    assert record.getMessage().startswith(
        f"given{suffix}: 1 distribution of 1 variable did not sum to 1"
    )
    assert "with a sum of 1.000035" in record.getMessage()


@pytest.mark.parametrize("suffix", FILES)
def test_rows_off_by_the_last_digits_of_a_double_stay_as_they_are(
    tmp_path: Path, suffix: str, caplog: pytest.LogCaptureFixture
) -> None:
    network = read_network(written(tmp_path, suffix, "0.250001", "0.75"))
    np.testing.assert_array_equal(network.cpd("b").probabilities[0], [0.250001, 0.75])
    assert not caplog.records


def test_rows_off_by_more_are_refused_with_the_offer_to_normalize(
    tmp_path: Path,
) -> None:
    def check(suffix: str) -> None:
        path = written(tmp_path, suffix, "0.27", "0.75")
        with pytest.raises(NetworkFileError) as caught:
            read_network(path)
        assert str(caught.value).startswith(f"given{suffix}, line ")
        assert 'variable "b" holds probabilities that sum to 1.02' in str(caught.value)
        assert "normalize=True" in str(caught.value)

    check_each(FILES, check)


def test_counts_and_percent_are_divided_on_demand(tmp_path: Path) -> None:
    def check(suffix: str) -> None:
        network = read_network(written(tmp_path, suffix, "30", "90"), normalize=True)
        np.testing.assert_array_equal(
            network.cpd("b").probabilities, [[0.25, 0.75], [0.5, 0.5]]
        )

    check_each(FILES, check)


ROWS_BEYOND_REPAIR: list[Any] = [
    ("1e308", "1e308", "sum to inf, which none can be divided by"),
    ("-1", "2", "the negative probability -1"),
    ("1e999", "1", "not finite"),
]


def test_rows_that_no_division_mends_are_refused(tmp_path: Path) -> None:
    def check(case: tuple[str, str, str]) -> None:
        first, second, problem = case
        with pytest.raises(NetworkFileError, match=problem):
            read_network(written(tmp_path, ".net", first, second), normalize=True)

    check_each(ROWS_BEYOND_REPAIR, check)


def test_a_row_of_no_counts_is_uniform_on_demand(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = written(tmp_path, ".net", "0", "0")
    with pytest.raises(NetworkFileError, match="sum to 0; they should sum to 1"):
        read_network(path)
    table = read_network(path, normalize=True).cpd("b").probabilities
    np.testing.assert_array_equal(table, [[0.5, 0.5], [0.5, 0.5]])
    assert "1 distribution of zeros alone were read" in caplog.text


def test_what_rounding_leaves_below_zero_is_zero(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def check(normalize: bool) -> None:
        path = written(tmp_path, ".net", "1.0", "-1.19209e-07")
        table = read_network(path, normalize=normalize).cpd("b").probabilities
        np.testing.assert_array_equal(table[0], [1.0, 0.0])
        assert "1 number of at most 1e-05 below 0" in caplog.text
        caplog.clear()

    check_each([False, True], check)


def test_a_rounded_bif_table_with_the_child_fastest_is_taken_in_that_order(
    tmp_path: Path,
) -> None:
    text = FILES[".bif"].replace(
        " (n) A, B;\n (y) 0.5, 0.5;\n", " table 0.1001, 0.9, 0.6, 0.4;\n"
    )
    (tmp_path / "a.bif").write_text(text, encoding="utf-8")
    table = read_network(tmp_path / "a.bif").cpd("b").probabilities
    np.testing.assert_array_equal(table[1], [0.6, 0.4])
