"""Noisy OR and MAX are read as the tables that they mean."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf.io import NetworkFileError, read_network
from bayleaf.io.formats import assemble, pgmx
from bayleaf.io.formats.noisy_max import noisy_max_table


def brute_force(effects: Any, leak: Any) -> Any:
    """Chances of the most severe of independent effects; the first state is that."""
    n = len(leak)
    table = np.zeros([*(len(part) for part in effects), n])
    for key in itertools.product(*(range(len(part)) for part in effects)):
        rows = [*(part[state] for part, state in zip(effects, key, strict=True)), leak]
        for drawn in itertools.product(range(n), repeat=len(rows)):
            chance = np.prod([row[s] for row, s in zip(rows, drawn, strict=True)])
            table[(*key, min(drawn))] += chance
    return table


def random_effects(seed: int) -> tuple[list[Any], Any]:
    """Effects of up to three parents, whose last states have none, and a leak."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    effects = [
        np.vstack([rng.dirichlet(np.ones(n), rng.integers(1, 3)), np.eye(n)[-1]])
        for _ in range(rng.integers(0, 4))
    ]
    return effects, rng.dirichlet(np.ones(n))


@pytest.mark.parametrize("seed", range(10))
def test_the_table_is_that_of_the_most_severe_of_independent_effects(seed: int) -> None:
    effects, leak = random_effects(seed)
    found = noisy_max_table(effects, leak)
    np.testing.assert_allclose(found, brute_force(effects, leak), atol=1e-14)


def xdsl(effects: list[Any], leak: Any, orders: list[list[int]], columns: str) -> str:
    """A file of GeNIe with one noisy-MAX node y of roots x0, x1, ...

    `orders` has the states of each parent by strength; `columns` are in the order of
    "strengths" or of "states".
    """
    text = '<smile version="1.0"><nodes>'
    for i, part in enumerate(effects):
        states = "".join(f'<state id="s{k}"/>' for k in range(len(part)))
        numbers = " ".join(["1"] + ["0"] * (len(part) - 1))
        text += f'<cpt id="x{i}">{states}<probabilities>{numbers}</probabilities></cpt>'
    rows = [
        part if columns == "states" else part[order]
        for part, order in zip(effects, orders, strict=True)
    ]
    numbers = " ".join(map(repr, np.concatenate([*map(np.ravel, rows), leak]).tolist()))
    states = "".join(f'<state id="s{k}"/>' for k in range(len(leak)))
    parents = " ".join(f"x{i}" for i in range(len(effects)))
    strengths = " ".join(str(k) for order in orders for k in order)
    return (
        f'{text}<noisymax id="y">{states}<parents>{parents}</parents>'
        f"<strengths>{strengths}</strengths><parameters>{numbers}</parameters>"
        "</noisymax></nodes></smile>"
    )


@pytest.mark.parametrize("columns", ["strengths", "states"])
def test_a_noisy_max_of_genie_is_read_as_its_table(
    tmp_path: Path, columns: str
) -> None:
    rng = np.random.default_rng(3)
    effects = [rng.dirichlet(np.ones(3), n) for n in (2, 3)]
    orders = [[1, 0], [2, 0, 1]]
    for part, order in zip(effects, orders, strict=True):
        part[order[-1]] = [0, 0, 1]
    leak = np.array([0.1, 0.2, 0.7])
    path = tmp_path / "a.xdsl"
    path.write_text(xdsl(effects, leak, orders, columns))
    table = read_network(path).cpd("y").probabilities
    np.testing.assert_allclose(table, brute_force(effects, leak), atol=1e-14)


def test_a_noisy_max_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xdsl"
    effects, leak = [np.array([[0.4, 0.6], [0.0, 1.0]])], np.array([0.1, 0.9])
    text = xdsl(effects, leak, [[0, 1]], "states")
    for old, new, problem in (
        ("0.4 ", "", "do not fit its states"),
        ("<strengths>0 1", "<strengths>0 0", "do not fit its states"),
        ("0.0 1.0 0.1", "0.5 0.5 0.1", "give effect to the last one"),
        ("0.1 0.9<", "0.1 0.3<", "sum to"),
    ):
        assert old in text
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(NetworkFileError, match=problem):
            read_network(path)
    path.write_text(xdsl([np.array([[0, 1], [0, 1]])], leak, [[1, 0]], "states"))
    found = read_network(path).cpd("y").probabilities
    np.testing.assert_allclose(found, [[0.1, 0.9], [0.1, 0.9]], atol=1e-14)


def test_a_noisy_or_of_openmarkov_is_read_as_its_table(tmp_path: Path) -> None:
    def potential(kind: str, names: list[str], inner: str) -> str:
        listed = "".join(f'<Variable name="{name}"/>' for name in names)
        text = f'<Potential type="{kind}"><Variables>{listed}</Variables>'
        return f"{text}{inner}</Potential>"

    def values(*numbers: float) -> str:
        return f"<Values>{' '.join(map(str, numbers))}</Values>"

    states = '<States><State name="no"/><State name="yes"/></States>'
    parts = (
        potential("Table", ["y", "a"], values(1, 0, 0.2, 0.8))
        + potential("Table", ["y", "b"], values(1, 0, 0.5, 0.5))
        + potential("Table", ["y"], values(0.9, 0.1))
    )
    inner = f"<Model>OR</Model><Subpotentials>{parts}</Subpotentials>"
    text = "<ProbModelXML><ProbNet><Variables>"
    text += "".join(f'<Variable name="{name}">{states}</Variable>' for name in "aby")
    text += "</Variables><Potentials>" + potential("Table", ["a"], values(0.5, 0.5))
    text += potential("Uniform", ["b"], "") + potential(
        "ICIModel", ["y", "a", "b"], inner
    )
    path = tmp_path / "a.pgmx"
    path.write_text(text + "</Potentials></ProbNet></ProbModelXML>")
    network = read_network(path)
    assert network.cpd("b").probabilities.tolist() == [0.5, 0.5]
    no = network.cpd("y").probabilities[..., 0]
    # Parents are listed backwards.
    np.testing.assert_allclose(no, [[0.9, 0.18], [0.45, 0.09]], atol=1e-14)


def test_small_files_do_not_make_huge_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.xdsl"
    part = np.array([[0.4, 0.6], [0.0, 1.0]])
    path.write_text(xdsl([part] * 30, np.array([0.1, 0.9]), [[0, 1]] * 30, "states"))
    with pytest.raises(NetworkFileError, match="cells would be made of what is given"):
        read_network(path)
    states = '<States><State name="no"/><State name="yes"/></States>'
    names = [f"v{i}" for i in range(10)]
    text = "<ProbModelXML><ProbNet><Variables>"
    text += "".join(f'<Variable name="{name}">{states}</Variable>' for name in names)
    text += "</Variables><Potentials>"
    for i in range(10):
        listed = "".join(f'<Variable name="{n}"/>' for n in names[: i + 1][::-1])
        text += f'<Potential type="Uniform"><Variables>{listed}</Variables></Potential>'
    path = tmp_path / "a.pgmx"
    path.write_text(text + "</Potentials></ProbNet></ProbModelXML>")
    monkeypatch.setattr(assemble, "MAX_TABLE_CELLS", 1000)
    with pytest.raises(NetworkFileError, match='variable "v8", 1,022 cells'):
        pgmx.read(path)
