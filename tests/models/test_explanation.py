"""Explanations name what they explain and add up."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from bayleaf import TANClassifier
from bayleaf.graph.dag import DAG
from bayleaf.models.explanation import Explanation, Term, explain_rows
from bayleaf.models.networks.network_model import NetworkModel
from contract.tables import mixed_frame
from property.networks import codes_of, random_network, random_one_dependence

LABELS = np.array(["in", "out", "roof"])
NETWORK = NetworkModel(
    random_network(
        np.random.default_rng(0), [2, 3, 2, 3], DAG(((3,), (3, 0), (3, 0, 1), ()))
    )
)
AVERAGED = random_one_dependence(np.random.default_rng(0), [2, 3, 2], 3)
ROWS: list[list[int | None]] = [[0, 2, 1], [1, None, 0], [None, None, None]]
CODES = codes_of(ROWS, [2, 3, 2])
PREDICTED = np.array([0, 1, 2])


@pytest.mark.parametrize("model", [NETWORK, AVERAGED], ids=["network", "averaged"])
def test_prior_and_terms_sum_to_the_log_odds(model: NetworkModel) -> None:
    for explanation in explain_rows(model, CODES, LABELS, predicted=PREDICTED):
        total = explanation.prior + math.fsum(t.contribution for t in explanation.terms)
        assert total == pytest.approx(explanation.log_odds, rel=1e-12)
        ratio = explanation.probability / explanation.against_probability
        assert math.log(ratio) == pytest.approx(explanation.log_odds, rel=1e-12)


def test_the_most_probable_other_class_is_compared_with() -> None:
    scores = NETWORK.class_log_scores(CODES)
    for row, explanation in enumerate(
        explain_rows(NETWORK, CODES, LABELS, predicted=PREDICTED)
    ):
        others = [c for c in range(3) if c != PREDICTED[row]]
        best = max(others, key=lambda c: scores[row, c])
        assert explanation.against == LABELS[best]
        assert explanation.target == LABELS[PREDICTED[row]]
        assert explanation.row == row


def test_a_class_to_compare_with_may_be_given() -> None:
    against = np.array([2, 2, 0])
    found = explain_rows(NETWORK, CODES, LABELS, predicted=PREDICTED, against=against)
    assert [e.against for e in found] == ["roof", "roof", "in"]


def test_terms_name_values_and_parents() -> None:
    first, second, _ = explain_rows(NETWORK, CODES, LABELS, predicted=PREDICTED)
    assert [term.value for term in first.terms] == ["0", "2", "1"]
    assert first.terms[2].given == (("v0", "0"), ("v1", "2"))
    assert second.terms[1].value == "missing"
    assert second.terms[1].contribution == 0.0


def test_with_one_class_every_term_is_zero() -> None:
    model = NetworkModel(
        random_network(np.random.default_rng(0), [2, 2, 1], DAG(((2,), (2, 0), ())))
    )
    (found,) = explain_rows(
        model, codes_of([[0, 1]], [2, 2]), np.array(["only"]), predicted=np.array([0])
    )
    assert found.probability == 1.0
    assert (found.log_odds, found.prior) == (0.0, 0.0)
    assert [term.contribution for term in found.terms] == [0.0, 0.0]


def _explanation(n_terms: int) -> Explanation:
    terms = tuple(Term(f"f{i}", "x", (), (-1.0) ** i * i) for i in range(n_terms))
    return Explanation(3, np.int64(1), np.int64(0), 0.75, 0.25, 1.0, 0.5, terms)


def test_terms_are_ranked_by_size_and_ties_by_column() -> None:
    terms = (
        Term("a", "x", (), 1.0),
        Term("b", "x", (), -2.0),
        Term("c", "x", (), -1.0),
    )
    found = Explanation(0, 1, 0, 0.75, 0.25, 1.0, 0.5, terms).ranked()
    assert [term.feature for term in found] == ["b", "a", "c"]


def test_a_bit_is_ln_two_nats() -> None:
    assert Term("a", "x", (), math.log(8)).bits == pytest.approx(3.0)


def test_the_dictionary_is_ready_for_json() -> None:
    found = json.loads(json.dumps(_explanation(2).to_dict()))
    assert (found["class"], found["against"], found["row"]) == (1, 0, 3)
    assert found["terms"][1]["contribution"] == -1.0


def test_the_text_sums_up_the_small_terms() -> None:
    text = _explanation(12).to_text(limit=10).splitlines()
    assert text[0] == "row 3: 1 with probability 0.750, against 0 with 0.250"
    assert text[1] == "odds 2.72 to 1, log-odds +1.443 bits, the product and the sum of"
    assert text[2] == "    factor     bits"
    assert text[4] == "     x1e-5  -15.870  f11 = x"
    assert text[-1] == "    x0.368   -1.443  2 other features together"
    assert len(_explanation(10).to_text(limit=10).splitlines()) == 4 + 10


def test_the_text_fits_the_width_that_is_given() -> None:
    explanation = _explanation(3)
    assert max(map(len, explanation.to_text(columns=40).splitlines())) <= 40
    words = explanation.to_text().split()
    assert explanation.to_text(columns=40).split() == words


def test_many_parents_are_cut_short() -> None:
    given = tuple((f"p{i}", "y") for i in range(4))
    terms = (Term("a", "x", given, 1.0),)
    text = Explanation(0, 1, 0, 0.75, 0.25, 1.0, 0.5, terms).to_text()
    assert text.endswith("a = x  given p0 = y, p1 = y, p2 = y, ...")


def test_a_row_without_rival_class_says_so() -> None:
    text = Explanation(0, "in", "in", 1.0, 1.0, 0.0, 0.0, ()).to_text()
    assert "no other class" in text.splitlines()[0]


def test_intervals_read_as_inequalities() -> None:
    term = Term("age", "> 54.5", (("size", "<= 1"),), 0.5)
    text = Explanation(0, "in", "out", 0.6, 0.4, 0.5, 0.0, (term,)).to_text()
    assert "age > 54.5  given size <= 1" in text


def test_a_negative_number_of_terms_is_refused() -> None:
    with pytest.raises(ValueError, match="terms to show must be >= 0, got -1"):
        Explanation(0, "in", "out", 0.6, 0.4, 0.5, 0.0, ()).to_text(-1)


def test_explanations_of_a_table_are_a_matrix_of_their_terms() -> None:
    frame, y = mixed_frame()
    model = TANClassifier().fit(frame, y)
    rows = model.explain(frame[:4], of="in")
    matrix = rows.to_matrix()
    assert matrix.shape == (4, frame.shape[1])
    sums = [row.log_odds - row.prior for row in rows]
    np.testing.assert_allclose(matrix.sum(axis=1), sums, atol=1e-12)
