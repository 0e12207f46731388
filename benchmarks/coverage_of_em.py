"""How often 95 % intervals of networks fitted to incomplete tables contain the truth.

    python benchmarks/coverage_of_em.py [--tables 1000] [--rows 500] [--missing 0.25]

prints a Markdown table: shares of simulated tables whose interval contains the true
probability of each distribution and the true effect of x on y, of a network that is
adjusted for z, of one whose common cause u is never seen (front door), and of a latent
class u with four signs. There u's states are those nearest to the true ones, and
intervals of log odds from the inverse of the information on all tables together follow.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta, norm

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
    if true is LATENT_CLASS:
        yield from _contained_together(true, fitted, table)


def _contained_together(
    true: BayesianNetwork, fitted: BayesianNetwork, table: pd.DataFrame
) -> Iterator[tuple[str, bool]]:
    """Likewise by the observed information on the log odds of all tables together."""
    wanted, odds = _log_odds(true), _log_odds(fitted)
    signs = list("abcd")
    codes = np.array([table[c].map({"no": 0, "yes": 1}).fillna(2) for c in signs])

    def log_likelihood(odds: NDArray[np.float64]) -> float:
        yes = np.stack([-np.logaddexp(0.0, odds), -np.logaddexp(0.0, -odds)])
        of_u, of_signs = yes[:, 0], yes[:, 1:].reshape(2, len(signs), 2)
        known = np.concatenate([of_signs, np.zeros((1, len(signs), 2))])
        logs = of_u + sum(known[c.astype(int), k] for k, c in enumerate(codes))
        return float(np.logaddexp(logs[:, 0], logs[:, 1]).sum())

    steps = 1e-3 * np.eye(len(odds))
    information = [
        [
            sum(
                -i * j * log_likelihood(odds + i * one + j * other) / 4e-6
                for i in (-1, 1)
                for j in (-1, 1)
            )
            for other in steps
        ]
        for one in steps
    ]
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    within = np.abs(odds - wanted) <= norm.ppf(0.975) * errors
    yield "P(u=yes), tables together", bool(within[0])
    for k, pair in enumerate(within[1:].reshape(-1, 2)):
        for state, holds in zip(STATES["u"], pair, strict=True):
            yield f"P({signs[k]}=yes given u={state}), tables together", bool(holds)


def _log_odds(network: BayesianNetwork) -> NDArray[np.float64]:
    """Log odds of u=yes, then of each sign by u, states in the true order."""
    turn = -1 if _is_turned(network) else 1
    tables = [network.cpd(name).probabilities for name in "uabcd"]
    shares = [tables[0][::turn][None], *(table[::turn] for table in tables[1:])]
    return np.concatenate([np.log(p[:, 1] / p[:, 0]) for p in shares])


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
