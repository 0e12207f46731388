"""Which classifiers marginalise missing values exactly, as the documentation claims."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp

from bayleaf.classifiers import CLASSIFIERS
from bayleaf.cli.model_options import MODELS
from bayleaf.data.codes import Codes
from bayleaf.datasets import load_heart
from contract.kinds import is_joint

# Other tests register classifiers of their own.
OURS = [n for n, kind in CLASSIFIERS.items() if kind.__module__.startswith("bayleaf.")]
EXACT = [name for name in OURS if is_joint(CLASSIFIERS[name])]
OTHERS = [name for name in OURS if name not in EXACT]
PAGE = Path(__file__).parents[2] / "docs" / "methods" / "missing-values.md"


def largest_difference(name: str) -> float:
    """From class probabilities summed over the states of a feature that is missing."""
    settings = {"n_networks": 2} if name == "auto" else {}
    X, y = load_heart(return_X_y=True)
    X = X.select(["age", "sex", "chest_pain", "st_slope", "thallium_scan"])
    model = CLASSIFIERS[name](random_state=0, **settings).fit(X, y)
    scores, rows = model.model_.class_log_scores, model._encode(X.slice(0, 60)).codes
    columns = [rows.column(v) for v in range(rows.n_variables)]
    differences = []
    for feature, card in enumerate(model.model_.domain.cards[:-1]):
        found = [
            scores(
                Codes.from_columns(
                    [*columns[:feature], np.full(60, state), *columns[feature + 1 :]],
                    rows.cards,
                )
            )
            for state in range(card + 1)
        ]
        summed, missing = logsumexp(found[:-1], axis=0), found[-1]
        shares = [np.exp(s - logsumexp(s, 1, keepdims=True)) for s in (summed, missing)]
        differences.append(np.abs(shares[0] - shares[1]).max())
    return float(max(differences))


@pytest.mark.parametrize("name", EXACT)
def test_a_missing_value_is_summed_out(name: str) -> None:
    assert largest_difference(name) < 1e-12


@pytest.mark.parametrize("name", OTHERS)
def test_a_missing_value_is_left_to_a_rule_of_its_own(name: str) -> None:
    assert largest_difference(name) > 1e-3


def test_the_documentation_claims_it_of_these_alone() -> None:
    assert {*OURS} == {*MODELS}
    claim = " ".join(PAGE.read_text("utf-8").split())
    assert (
        "Naive Bayes, TAN, KDB, HNB, AODE, A2DE, latent-class models and networks "
        "marginalise a missing value exactly"
    ) in claim
