"""Effects of the values of one feature, and features by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf import AveragedKDBClassifier
from bayleaf.explain import feature_effects, information_alone, value_of_information
from oracles.small_tables import classifier, small_table


def test_effects_are_the_terms_of_rows_with_each_state() -> None:
    X, y = small_table(0, n_rows=60)
    model = classifier("tan").fit(X, y)
    name = X.columns[0]
    known = {X.columns[1]: X.iloc[0, 1]}
    effects = feature_effects(model, known, name, of=model.classes_[1])
    assert effects.half_widths.size == 0
    for state, effect in zip(effects.states, effects.effects, strict=True):
        row = X.head(1).assign(**dict.fromkeys(X.columns)).assign(**known)
        (explanation,) = model.explain(
            row.assign(**{name: state}), against=effects.against
        )
        sign = 1 if explanation.target == effects.of else -1
        term = explanation.terms[0].contribution
        assert effect == pytest.approx(sign * term, abs=1e-12)


def test_effects_of_averaged_kdb_have_intervals() -> None:
    X, y = small_table(0, n_rows=60)
    model = AveragedKDBClassifier(n_networks=2, random_state=0).fit(X, y)
    effects = feature_effects(model, {}, X.columns[0])
    assert (effects.half_widths >= 0).all()
    assert effects.half_widths.max() > 0
    with pytest.raises(ValueError, match="there is no feature 'else'"):
        feature_effects(model, {}, "else")


@pytest.mark.parametrize("name", ["nb", "tan"])
def test_a_feature_of_a_network_alone_reveals_what_it_does_in_an_empty_row(
    name: str,
) -> None:
    X, y = small_table(0, n_rows=60)
    model = classifier(name).fit(X, y)
    # Weights are the distribution of the network or, in a row, the same.
    alone, of_row = information_alone(model), value_of_information(model, {})
    assert list(alone) == sorted(alone, key=lambda feature: -alone[feature])
    np.testing.assert_allclose(
        [alone[feature] for feature in of_row], [*of_row.values()], atol=0.01
    )
