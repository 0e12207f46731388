"""Textbook influence diagrams, with the numbers of their sources."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from bayleaf.decisions import InfluenceDiagram


def oil_wildcatter() -> InfluenceDiagram:
    """Raiffa (1968), "Decision Analysis", section 2.9, in thousands of dollars."""
    nothing = [0, 0, 0, 1]
    return InfluenceDiagram.from_tables(
        states={
            "oil": ["dry", "wet", "soaking"],
            "test": ["yes", "no"],
            "structure": ["none", "open", "closed", "unknown"],
            "drill": ["yes", "no"],
        },
        parents={
            "structure": ["oil", "test"],
            "drill": ["test", "structure"],
            "cost": ["test"],
            "profit": ["oil", "drill"],
        },
        tables={
            "oil": [0.5, 0.3, 0.2],
            "structure": [
                [[0.6, 0.3, 0.1, 0], nothing],
                [[0.3, 0.4, 0.3, 0], nothing],
                [[0.1, 0.4, 0.5, 0], nothing],
            ],
        },
        decisions=["test", "drill"],
        utilities={"cost": [-10, 0], "profit": [[-70, 0], [50, 0], [200, 0]]},
    )


def umbrella() -> InfluenceDiagram:
    """Netica's example "Umbrella", after Shachter."""
    return InfluenceDiagram.from_tables(
        states={
            "weather": ["no rain", "rain"],
            "forecast": ["sunny", "cloudy", "rainy"],
            "umbrella": ["take", "leave"],
        },
        parents={
            "forecast": ["weather"],
            "umbrella": ["forecast"],
            "satisfaction": ["weather", "umbrella"],
        },
        tables={
            "weather": [0.7, 0.3],
            "forecast": [[0.7, 0.2, 0.1], [0.15, 0.25, 0.6]],
        },
        decisions=["umbrella"],
        utilities={"satisfaction": [[20, 100], [70, 0]]},
    )


def phd() -> InfluenceDiagram:
    """Barber (2012), "Bayesian Reasoning and Machine Learning", example 7.3."""
    return InfluenceDiagram.from_tables(
        states={
            "education": ["do PhD", "no PhD"],
            "prize": ["prize", "no prize"],
            "income": ["low", "average", "high"],
        },
        parents={
            "prize": ["education"],
            "income": ["education", "prize"],
            "costs": ["education"],
            "benefits": ["income"],
        },
        tables={
            "prize": [[0.001, 0.999], [1e-7, 1 - 1e-7]],
            "income": [
                [[0.01, 0.04, 0.95], [0.1, 0.5, 0.4]],
                [[0.01, 0.04, 0.95], [0.2, 0.6, 0.2]],
            ],
        },
        decisions=["education"],
        utilities={
            "costs": [-50_000, 0],
            "benefits": [100_000, 200_000, 500_000],
        },
    )


def phd_and_start_up() -> InfluenceDiagram:
    """Barber (2012), example 7.4: a company may be founded later."""
    return InfluenceDiagram.from_tables(
        states={
            "education": ["do PhD", "no PhD"],
            "prize": ["prize", "no prize"],
            "start-up": ["start", "do not"],
            "income": ["low", "average", "high"],
        },
        parents={
            "prize": ["education"],
            "start-up": ["prize", "education"],
            "income": ["start-up", "prize"],
            "costs": ["education"],
            "founding": ["start-up"],
            "benefits": ["income"],
        },
        tables={
            "prize": [[0.001, 0.999], [1e-7, 1 - 1e-7]],
            "income": [
                [[0.005, 0.005, 0.99], [0.1, 0.5, 0.4]],
                [[0.05, 0.15, 0.8], [0.2, 0.6, 0.2]],
            ],
        },
        decisions=["education", "start-up"],
        utilities={
            "costs": [-50_000, 0],
            "founding": [-200_000, 0],
            "benefits": [100_000, 200_000, 500_000],
        },
    )


def car_buyer() -> InfluenceDiagram:
    """Howard (1962), "The used car buyer": a peach has one defect of ten, a lemon six.

    Tests look at the steering, at fuel and electrical system, or at the transmission,
    after which the differential may be tested as well.
    """
    first_tests = {
        "none": 0,
        "steering": 1,
        "fuel and electrical": 2,
        "transmission": 1,
    }

    def found(n_defects: int, n_tested: int, n_left: int = 10) -> list[float]:
        """How probable it is to find 0, 1 or 2 defects."""
        ways = [
            comb(n_defects, k) * comb(n_left - n_defects, n_tested - k)
            if k <= n_tested
            else 0
            for k in range(3)
        ]
        return [way / comb(n_left, n_tested) for way in ways]

    def second(n_defects: int, test: str, first: int, is_done: bool) -> list[float]:
        """What a look at the differential finds after one at the transmission."""
        if not (is_done and test == "transmission"):
            return [0, 0, 1]
        share = max(n_defects - first, 0) / 9
        return [1 - share, share, 0]

    return InfluenceDiagram.from_tables(
        states={
            "car": ["peach", "lemon"],
            "first test": list(first_tests),
            "first result": [0, 1, 2],
            "second test": ["differential", "none"],
            "second result": ["fine", "defect", "unknown"],
            "buy": ["no", "yes", "with guarantee"],
        },
        parents={
            "first result": ["car", "first test"],
            "second test": ["first test", "first result"],
            "second result": ["car", "first test", "first result", "second test"],
            "buy": ["second test", "second result"],
            "first cost": ["first test"],
            "second cost": ["first test", "second test"],
            "profit": ["car", "buy"],
        },
        tables={
            "car": [0.8, 0.2],
            "first result": [
                [found(n_defects, n_tested) for n_tested in first_tests.values()]
                for n_defects in (1, 6)
            ],
            "second result": [
                [
                    [
                        [second(n_defects, test, first, done) for done in (True, False)]
                        for first in range(3)
                    ]
                    for test in first_tests
                ]
                for n_defects in (1, 6)
            ],
        },
        decisions=["first test", "second test", "buy"],
        utilities={
            "first cost": [0, -9, -13, -10],
            # Elsewhere nothing can be looked at, and is not paid for.
            "second cost": [[0, 0], [0, 0], [0, 0], [-4, 0]],
            "profit": [[0, 60, 20], [0, -100, 40]],
        },
    )


def pigs() -> InfluenceDiagram:
    """Lauritzen and Nilsson (2001), section 1: a pig may be treated in three months.

    Each decision sees the month's test alone, and forgets what was done before.
    """
    states: dict[str | int, list[str]] = {"h1": ["unhealthy", "healthy"]}
    parents: dict[str | int, list[str | int]] = {"price": ["h4"]}
    tables: dict[str | int, Any] = {"h1": [0.1, 0.9]}
    utilities: dict[str | int, Any] = {"price": [300, 1000]}
    decisions = ["d1", "d2", "d3"]
    for k, decision in enumerate(decisions, start=1):
        states |= {
            f"t{k}": ["positive", "negative"],
            decision: ["treat", "leave"],
            f"h{k + 1}": ["unhealthy", "healthy"],
        }
        parents |= {
            f"t{k}": [f"h{k}"],
            decision: [f"t{k}"],
            f"h{k + 1}": [f"h{k}", decision],
            f"c{k}": [decision],
        }
        tables[f"t{k}"] = [[0.8, 0.2], [0.1, 0.9]]
        tables[f"h{k + 1}"] = [[[0.5, 0.5], [0.9, 0.1]], [[0.1, 0.9], [0.2, 0.8]]]
        utilities[f"c{k}"] = [-100, 0]
    return InfluenceDiagram.from_tables(states, tables, decisions, utilities, parents)


def chest_clinic() -> InfluenceDiagram:
    """Cowell et al. (1999), "Probabilistic Networks and Expert Systems", section 8.6.

    The chest clinic of Lauritzen and Spiegelhalter (1988) with two decisions; what is
    known at the start is whether the patient was in Asia.
    """
    yes_no = ["yes", "no"]
    chance = ["asia", "smoker", "tuberculosis", "cancer", "bronchitis", "either"]
    return InfluenceDiagram.from_tables(
        states=dict.fromkeys(
            [*chance, "take x-ray", "x-ray", "dyspnoea", "hospitalise"], yes_no
        ),
        parents={
            "tuberculosis": ["asia"],
            "cancer": ["smoker"],
            "bronchitis": ["smoker"],
            "either": ["tuberculosis", "cancer"],
            "x-ray": ["either", "take x-ray"],
            "dyspnoea": ["either", "bronchitis"],
            "take x-ray": ["asia"],
            "hospitalise": ["take x-ray", "x-ray", "dyspnoea"],
            "of x-ray": ["take x-ray", "tuberculosis"],
            "of hospital": ["hospitalise", "tuberculosis", "cancer"],
        },
        tables={
            "asia": [0.01, 0.99],
            "smoker": [0.5, 0.5],
            "tuberculosis": [[0.05, 0.95], [0.01, 0.99]],
            "cancer": [[0.1, 0.9], [0.01, 0.99]],
            "bronchitis": [[0.6, 0.4], [0.3, 0.7]],
            "either": [[[1, 0], [1, 0]], [[1, 0], [0, 1]]],
            "x-ray": [[[0.98, 0.02], [0.5, 0.5]], [[0.05, 0.95], [0.5, 0.5]]],
            "dyspnoea": [[[0.9, 0.1], [0.7, 0.3]], [[0.8, 0.2], [0.1, 0.9]]],
        },
        decisions=["take x-ray", "hospitalise"],
        utilities={
            "of x-ray": [[0, 1], [10, 10]],
            "of hospital": [[[180, 120], [160, 15]], [[2, 4], [0, 40]]],
        },
    )


def kuhn_poker() -> InfluenceDiagram:
    """Kuhn (1950), "A simplified two-person poker": the first player's decisions.

    The deck has three cards, each antes 1 and may bet 1. The opponent plays the optimal
    strategy of the paper: bets or calls with the king, calls with the queen and bets
    with the jack once in three times.
    """
    cards, moves = ["jack", "queen", "king"], ["pass", "bet"]
    # By the opponent's card, after a pass and after a bet of the first player.
    bets = [[1 / 3, 0], [0, 1 / 3], [1, 1]]

    def won(mine: int, theirs: int, bet: int, answer: int, call: int) -> int:
        if answer == 0 and bet == 1:
            return 1
        if answer == 1 and bet == 0 and call == 0:
            return -1
        return (1 + max(bet, answer)) * (1 if mine > theirs else -1)

    shape = (3, 3, 2, 2, 2)
    utility = [won(*cell) for cell in np.ndindex(shape)]
    return InfluenceDiagram.from_tables(
        states={
            "card": cards,
            "their card": cards,
            "first": moves,
            "answer": moves,
            "second": moves,
        },
        parents={
            "their card": ["card"],
            "first": ["card"],
            "answer": ["their card", "first"],
            "second": ["card", "first", "answer"],
            "won": ["card", "their card", "first", "answer", "second"],
        },
        tables={
            "card": [1 / 3, 1 / 3, 1 / 3],
            "their card": [[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]],
            "answer": [[[1 - p, p] for p in row] for row in bets],
        },
        decisions=["first", "second"],
        utilities={"won": np.array(utility).reshape(shape)},
    )
