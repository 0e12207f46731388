"""How often 95 % intervals of networks fitted to incomplete tables contain the truth.

    python benchmarks/coverage_of_em.py [--tables 1000] [--rows 500] [--missing 0.25]

prints a Markdown table: shares of simulated tables whose interval contains the true
probability of each distribution and the true effect of x on y, of a network that is
adjusted for z, of one whose common cause u is never seen (front door), and of a latent
class u with four signs. There u's states are those nearest to the true ones.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.stats import beta

from bayleaf import BayesianNetwork
from bayleaf.cpds.distribution import TableCPD

sys.path.insert(0, str(Path(__file__).parent / "speed"))
from machine import markdown_table

STATES = {name: ["no", "yes"] for name in "zxmyuabcd"}
BACK_DOOR = BayesianNetwork.from_tables(
    states={name: STATES[name] for name in "zxmy"},
    parents={"x": ["z"], "m": ["x"], "y": ["m", "z"]},
    tables={
        "z": [0.4, 0.6],
        "x": [[0.7, 0.3], [0.35, 0.65]],
        "m": [[0.8, 0.2], [0.25, 0.75]],
        "y": [[[0.8, 0.2], [0.5, 0.5]], [[0.6, 0.4], [0.3, 0.7]]],
    },
)
FRONT_DOOR = BayesianNetwork.from_tables(
    states={name: STATES[name] for name in "uxmy"},
    parents={"x": ["u"], "m": ["x"], "y": ["m", "u"]},
    tables={
        "u": [0.4, 0.6],
        "x": [[0.7, 0.3], [0.35, 0.65]],
        "m": [[0.8, 0.2], [0.25, 0.75]],
        "y": [[[0.8, 0.2], [0.5, 0.5]], [[0.6, 0.4], [0.3, 0.7]]],
    },
)
LATENT_CLASS = BayesianNetwork.from_tables(
    states={name: STATES[name] for name in "uabcd"},
    parents={name: ["u"] for name in "abcd"},
    tables={
        "u": [0.4, 0.6],
        "a": [[0.8, 0.2], [0.2, 0.8]],
        "b": [[0.9, 0.1], [0.35, 0.65]],
        "c": [[0.7, 0.3], [0.15, 0.85]],
        "d": [[0.75, 0.25], [0.3, 0.7]],
    },
)


def contained(
    true: BayesianNetwork, hidden: str, n_rows: int, missing: float, seed: int
) -> Iterator[tuple[str, bool]]:
    """Quantities of a network, and whether their intervals from one table hold."""
    rng = np.random.default_rng(seed)
    table = true.sample(n_rows, random_state=seed).to_pandas().astype(str)
    table = table.mask(rng.random(table.shape) < missing).drop(columns=list(hidden))
    fitted = true.fit(table, missing="em", latent=list(hidden), random_state=seed)
    if "x" in true.domain.names:
        effect = fitted.causal_effect("x", "y", latent=list(hidden), random_state=seed)
        wanted = true.causal_effect("x", "y", credible=None).difference.value
        found = effect.difference
        assert found.low is not None
        assert found.high is not None
        yield "effect of x on y", found.low <= wanted <= found.high
    # Two signs do not determine the tables of what is never seen.
    unknown = set() if true is LATENT_CLASS else set(hidden)
    for name in true.domain.names:
        own, cpd = true.cpd(name).probabilities, fitted.cpd(name)
        assert isinstance(cpd, TableCPD)
        assert cpd.experience is not None
        family = [*true.parents(name), name]
        if unknown & set(family):
            continue
        shapes = cpd.probabilities * cpd.experience[..., None]
        if hidden in family and _is_turned(fitted):
            shapes = np.flip(shapes, family.index(hidden))
        yes, no = shapes[..., 1], shapes[..., 0]
        low, high = beta.ppf(0.025, yes, no), beta.ppf(0.975, yes, no)
        for cell in np.ndindex(low.shape):
            given = ", ".join(
                f"{parent}={STATES[parent][code]}"
                for parent, code in zip(true.parents(name), cell, strict=True)
            )
            what = f"P({name}=yes{f' given {given}' if given else ''})"
            yield what, bool(low[cell] <= own[(*cell, 1)] <= high[cell])


def _is_turned(fitted: BayesianNetwork) -> bool:
    """Whether u=no is the state in which the sign a is likelier."""
    no, yes = fitted.cpd("a").probabilities[:, 1]
    return bool(no > yes)


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--missing", type=float, default=0.25)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for title, true, hidden in (
        ("adjusted for z", BACK_DOOR, ""),
        ("front door", FRONT_DOOR, "u"),
        ("latent class", LATENT_CLASS, "u"),
    ):
        hits: dict[str, list[bool]] = defaultdict(list)
        for seed in range(options.tables):
            rows, missing = options.rows, options.missing
            for what, holds in contained(true, hidden, rows, missing, seed):
                hits[what].append(holds)
        lines += [
            [title, what, f"{100 * np.mean(own):.1f} %"] for what, own in hits.items()
        ]
    print(markdown_table(["network", "quantity", "intervals that contain it"], lines))


if __name__ == "__main__":
    main()
