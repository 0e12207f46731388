"""UAI files keep everything of a network but experience, and refuse what is none."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest

from bayleaf.io import NetworkFileError
from bayleaf.io.formats.uai import read, write
from offenders import check_each
from oracles.hard_networks import assert_same_network, hard_network
from oracles.malformed_networks import check_refused
from oracles.odd_networks import odd_network

SMALL = """BAYES
3
2 3 2 # cards
3
1 0
1 1   # b
3 1 0 2

2
 0.25 0.75

3
 0.5 0.25 0.25

12
 0.1 0.9
 0.2 0.8
 0.3 0.7
 0.4 0.6
 0.5 0.5
 0.6 0.4
"""


def written(folder: Path, text: str) -> Path:
    """A file with a text."""
    path = folder / "given.uai"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("make", [odd_network, hard_network])
def test_names_states_and_tables_come_back_bit_for_bit(
    tmp_path: Path, make: object
) -> None:
    network = odd_network() if make is odd_network else hard_network()
    write(network, tmp_path / "a.uai")
    assert_same_network(network, read(tmp_path / "a.uai"))


def test_files_of_other_programs_give_numbered_names(tmp_path: Path) -> None:
    network = read(written(tmp_path, SMALL))
    assert network.domain.names == ("v0", "v1", "v2")
    assert network.domain[1].states == ("s0", "s1", "s2")
    assert network.edges == [("v1", "v2"), ("v0", "v2")]


def test_the_last_parent_and_then_the_child_vary_fastest(tmp_path: Path) -> None:
    yes = read(written(tmp_path, SMALL)).cpd("v2").probabilities[..., 0]
    np.testing.assert_array_equal(yes, [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])


def test_the_order_of_pgmpy_is_taken_where_only_that_gives_distributions(
    tmp_path: Path,
) -> None:
    text = "BAYES 3 2 2 2 3 1 0 1 1 3 1 0 2 2 0.5 0.5 2 0.5 0.5 8 "
    numbers = "0.9 0.2 0.4 0.7 0.1 0.8 0.6 0.3"
    cpd = read(written(tmp_path, text + numbers)).cpd("v2")
    assert cpd.parents == (0, 1)
    yes = cpd.probabilities[..., 0]
    np.testing.assert_array_equal(yes, [[0.9, 0.2], [0.4, 0.7]])


def test_comments_about_another_network_are_passed_over(tmp_path: Path) -> None:
    text = SMALL + "# bayleaf_identifiers 0 a no\n# bayleaf_name 0 'x'\n"
    assert read(written(tmp_path, text)).domain.names[0] == "v0"


MALFORMED = {
    "markov": (SMALL.replace("BAYES", "MARKOV"), 1, "holds a Markov network"),
    "other": (SMALL.replace("BAYES", "3"), 1, 'starts with "BAYES", but this one'),
    "no numbers": ("BAYES\n", 1, "ends where the number of variables should stand"),
    "word": (
        SMALL.replace("3 1 0 2", "3 1 0 x"),
        7,
        'expected a number, but found "x"',
    ),
    "half": (SMALL.replace("2 3 2", "2 3 2.5"), 3, "should be an integer from 1"),
    "no states": (SMALL.replace("2 3 2", "2 0 2"), 3, "the number of states should be"),
    "many states": (SMALL.replace("2 3 2", "2 99999 2"), 3, "it is 99999"),
    "unknown": (SMALL.replace("3 1 0 2", "3 1 0 3"), 7, "integer from 0 to 2"),
    "twice": (SMALL.replace("3 1 0 2", "3 1 1 2"), 7, "names a variable twice"),
    "size": (SMALL.replace("\n12", "\n11"), 15, "ask for 12"),
    "huge": (SMALL.replace("\n12", "\n1e300"), 15, "the size of a table should be"),
    "infinite": (SMALL.replace("\n12", "\n1e999"), 15, "it is inf"),
    "cut": (SMALL.replace(" 0.6 0.4\n", ""), 16, "only 10 are left"),
    "more": (SMALL + "1 2\n", 22, "2 numbers are left after the last table"),
    "sum": (SMALL.replace("0.75", "0.85"), 9, "sum to 1.1; they should sum to 1"),
    "negative": (SMALL.replace("0.25 0.75", "-.25 1.25"), 9, "negative probability"),
    "few functions": (SMALL.replace("2 # cards\n3", "2\n2"), 7, "should hold 3"),
    "many functions": ("BAYES 1 2 9", 1, "the number of functions should be"),
    "binary": (SMALL.replace("BAYES", "\0"), 1, "binary data"),
}


def test_a_malformed_file_is_refused_with_file_and_line(tmp_path: Path) -> None:
    def check(case: str) -> None:
        text, line, problem = MALFORMED[case]
        check_refused(read, written(tmp_path, text), line, re.escape(problem))

    check_each(MALFORMED, check)


def test_a_file_cut_short_anywhere_is_refused_in_one_sentence(tmp_path: Path) -> None:
    whole = SMALL.rstrip().removesuffix("4")
    for length in range(1, len(whole), 3):
        with pytest.raises(NetworkFileError) as caught:
            read(written(tmp_path, whole[:length].rstrip(".0")))
        assert "\n" not in str(caught.value)


def test_declared_sizes_cost_no_more_than_the_file(tmp_path: Path) -> None:
    n = 60
    text = (
        f"BAYES {n} " + "2 " * n + f"{n} " + f"{n} {' '.join(map(str, range(n)))} " * n
    )
    start = time.perf_counter()
    with pytest.raises(NetworkFileError, match=r"declared variable|ask for"):
        read(written(tmp_path, text + "7"))
    assert time.perf_counter() - start < 2
