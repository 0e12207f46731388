"""Files as other programs write them give the networks that they were made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf.io import NetworkFileError, read_network, write_network
from bayleaf.io.registry import FORMATS
from offenders import check_each
from oracles.odd_networks import odd_network
from oracles.public_like import WRITERS, damaged, states_of
from oracles.small_networks import joint_table, onto, random_network

NEW = [f".{kind}" for kind in WRITERS]


def made(seed: int) -> Any:
    """A random network, now and then with tables that formats abbreviate."""
    rng = np.random.default_rng(seed)
    network = random_network(rng, int(rng.integers(1, 7)))
    for cpd in network.cpds:
        if rng.random() < 0.2:
            # The array belongs to the network alone.
            cpd.probabilities.setflags(write=True)
            cpd.probabilities[...] = 1.0 / cpd.probabilities.shape[-1]
    return network


def check_kind(folder: Path, kind: str, seeds: range) -> None:
    """Fail unless a file of each seed is read as it was meant."""
    for seed in seeds:
        network = made(seed)
        path = folder / f"{seed}.{kind}"
        text = WRITERS[kind](network, np.random.default_rng(seed))
        path.write_text(text, encoding="utf-8")
        back = read_network(path)
        assert back.domain.names == network.domain.names
        for i, (own, found) in enumerate(zip(network.cpds, back.cpds, strict=True)):
            assert list(back.domain[i].states) == states_of(network, i)
            assert found.parents == own.parents
            np.testing.assert_array_equal(found.probabilities, own.probabilities)
        joint = joint_table(network, {})
        last = network.domain.names[-1]
        posterior = list(back.query().to_dict()[last].values())
        expected = onto(joint, [len(network.domain) - 1])
        np.testing.assert_allclose(posterior, expected, atol=1e-12)


def test_files_of_every_grammar_give_their_networks(tmp_path: Path) -> None:
    check_each(WRITERS, lambda kind: check_kind(tmp_path, kind, range(2)))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("kind", WRITERS)
def test_300_files_of_every_grammar_give_their_networks(
    tmp_path: Path, kind: str
) -> None:
    check_kind(tmp_path, kind, range(300))


def fault(path: Path) -> str:
    """What is wrong with how a file is read; "read" or "refused" if nothing is."""
    try:
        network = read_network(path)
    except NetworkFileError as error:
        told = str(error)
        is_sentence = told.startswith(path.name) and "\n" not in told
        return "refused" if is_sentence else told
    off = [abs(cpd.probabilities.sum(axis=-1) - 1.0).max() for cpd in network.cpds]
    return "read" if max(off) < 1e-4 else f"sums are off by {max(off)}"


def check_damage(folder: Path, kind: str, seeds: range) -> int:
    """Fail unless damaged files are read, or refused in one sentence; how many were."""
    n_refused = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        path = folder / f"{seed}.{kind}"
        text = damaged(WRITERS[kind](made(seed), rng), rng)
        path.write_text(text, encoding="utf-8")
        found = fault(path)
        assert found in {"read", "refused"}, (seed, found)
        n_refused += found == "refused"
    return n_refused


def test_damaged_files_are_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    check_each(WRITERS, lambda kind: check_damage(tmp_path, kind, range(8)))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("kind", WRITERS)
def test_300_damaged_files_are_read_or_refused(tmp_path: Path, kind: str) -> None:
    assert check_damage(tmp_path, kind, range(300)) > 30


def test_odd_names_and_values_come_back_from_every_new_format(tmp_path: Path) -> None:
    network = odd_network()

    def check(suffix: str) -> None:
        write_network(network, tmp_path / f"a{suffix}")
        back = read_network(tmp_path / f"a{suffix}")
        assert set(back.domain) == set(network.domain)
        for name in network.domain.names:
            one, other = network.cpd(name), back.cpd(name)
            names = [network.domain.names[parent] for parent in one.parents]
            assert [back.domain.names[parent] for parent in other.parents] == names
            np.testing.assert_array_equal(one.probabilities, other.probabilities)

    assert set(NEW) <= set(FORMATS)
    check_each(NEW, check)


REFUSED: list[tuple[str, str, str, str]] = [
    ("dne", "kind = NATURE", "kind = DECISION", "is of kind decision, but only chance"),
    ("dne", "kind = NATURE", "kind = UTILITY", "is of kind utility, but only chance"),
    ("dne", "chance = CHANCE;", "delays = (1);", "dynamic networks cannot be read"),
    ("dne", "bnet ", "dnet ", "0 blocks called bnet"),
    ("elv", "kind-of-node = chance", "kind-of-node = utility", "is of kind utility"),
    ("elv", "bnet ", "dbnet ", "decisions and time slices cannot be read"),
    ("elv", "values= table", "values= function Max", "is not a table"),
    ("pgmx", 'role="chance"', 'role="decision"', "is of kind decision, but only"),
    ("pgmx", 'role="chance"', 'timeSlice="0"', "dynamic networks cannot be read"),
    ("pgmx", 'type="Table"', 'type="Tree/ADD"', "only tables and noisy maxima"),
    ("xbn", '<DIST TYPE="discrete"', '<DIST TYPE="ci"', "only tables can be read"),
    ("dsc", "type: discrete", "type: continuous", "is of kind continuous"),
    ("oobn", "node v0", "temporal v0", '"temporal" stands here'),
    ("oobn", "class Some_Net\n{", "class A\n{\n}\nclass B\n{", "a second class starts"),
]


def test_what_is_no_network_of_tables_is_refused(tmp_path: Path) -> None:
    def check(case: tuple[str, str, str, str]) -> None:
        kind, old, new, problem = case
        text = WRITERS[kind](made(1), np.random.default_rng(3))
        assert old in text
        path = tmp_path / f"a.{kind}"
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(NetworkFileError, match=problem) as caught:
            read_network(path)
        assert "\n" not in str(caught.value)

    check_each(REFUSED, check)


def test_intervals_of_netica_are_states(tmp_path: Path) -> None:
    path = tmp_path / "a.dne"
    path.write_text(
        "bnet x { node a { kind = NATURE; discrete = FALSE; levels = (0, 10, infinity);"
        " probs = (0.25, 0.75); numcases = 8; }; };"
    )
    network = read_network(path)
    assert network.domain[0].states == ("[0, 10)", "[10, infinity)")
    assert network.cpds[0].experience.tolist() == 8
