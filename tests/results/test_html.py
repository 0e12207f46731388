"""What notebooks show: escaped, to scale, and something for each result."""

from __future__ import annotations

import html.parser
import math
import pickle
import re
from typing import Any

import numpy as np
import pytest

import bayleaf
from bayleaf.datasets import load_heart
from bayleaf.evaluation import (
    compare,
    cross_validate,
    cross_validate_density,
    friedman_test,
)
from bayleaf.evaluation.regression import cross_validate_regressors
from bayleaf.explain import (
    conflicts,
    counterfactuals,
    credible_intervals,
    importance,
    robustness,
    robustness_of_rows,
    value_of_information,
)
from bayleaf.inference.posteriors import Posteriors
from bayleaf.inference.queries import MostProbableStates
from bayleaf.inference.sensitivity import Sensitivity
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.regression import learned_trees
from bayleaf.results.document import Document, Facts, Name
from bayleaf.results.drawings import network_html, states_part, steps_html
from bayleaf.results.html import Bar, bars_html, table_html
from bayleaf.results.html import html_of as document_html
from bayleaf.results.result_lists import RankedNumbers
from models.texts.test_html_summary import static_part

HOSTILE = "<script>alert(1)</script>&\"'\u202e"


class Elements(html.parser.HTMLParser):
    """Tags and text of HTML, refused where elements are not closed in order."""

    void = frozenset({"br", "hr", "img", "wbr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def bars_of(text: str) -> list[tuple[str, float, float]]:
    """Kind, left end and width of each bar."""
    found = re.findall(r'<i class="(\w+)" style="left:([\d.]+)%;width:([\d.]+)%"', text)
    return [(kind, float(left), float(width)) for kind, left, width in found]


def test_bars_are_as_long_as_their_numbers() -> None:
    bars = [Bar("a", 3.0, "3"), Bar("b", -1.0, "-1"), Bar("c", 1.0, "1", 2.0)]
    assert bars_of(bars_html("t", bars)) == [
        ("for", 25.0, 75.0),
        ("against", 0.0, 25.0),
        ("against", 50.0, 25.0),
    ]
    whole = bars_html("t", [Bar("a", 0.25, "")], whole=1.0)
    assert bars_of(whole) == [("for", 0.0, 25.0)]


def test_long_tables_say_how_many_lines_they_leave_out() -> None:
    found = bars_html("t", [Bar(i, 1.0, "") for i in range(35)])
    assert len(bars_of(found)) == 30
    assert "and 5 more" in found


def test_names_are_text() -> None:
    for made in (
        bars_html(HOSTILE, [Bar(HOSTILE, 1.0, HOSTILE)]),
        table_html(HOSTILE, [HOSTILE, HOSTILE], [(HOSTILE, HOSTILE)]),
        steps_html(HOSTILE, [1.0], [1.0]),
        network_html([HOSTILE, "b"], ["feature", "class"], [(1, 0, None)], HOSTILE),
    ):
        read = Elements(made)
        assert "script" not in {tag for tag, _ in read.tags}
        assert not any(name.startswith("on") for _, a in read.tags for name in a)


def test_many_states_are_steps_with_their_rows() -> None:
    values = np.sin(np.arange(40)).tolist()
    many = states_part("age", [str(i) for i in range(40)], values, [1.0] * 40)
    page = document_html(Document("", [many]))
    assert page.count('class="rows"') == 40
    assert "from -1 to" in page
    few = states_part("x", ["a"], [1.0], [2.0])
    assert "<table" in document_html(Document("", [few]))


def test_graphs_too_large_to_draw_show_nothing() -> None:
    names = [str(i) for i in range(151)]
    assert network_html(names, ["feature"] * 151, []) == ""


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """Everything that a notebook may end a cell with."""
    X, y = load_heart(return_X_y=True)
    X, y = X.slice(0, 80), y[:80]
    bayes = bayleaf.NaiveBayesClassifier().fit(X, y)
    hierarchy = bayleaf.HNBClassifier(random_state=0).fit(X, y)
    average = bayleaf.AveragedKDBClassifier(n_networks=4, random_state=0).fit(X, y)
    numbers = X.drop_columns(["age"]), X["age"].to_numpy()
    regressor = bayleaf.AveragedKDBRegressor(n_networks=4, random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        # NumPy adds up a thousand trees in seconds.
        means = tuple(
            own._replace(n_trees=5, n_stages=1) for own in learned_trees._MEANS
        )
        spread = learned_trees._SPREAD._replace(n_trees=5)
        patch.setattr(learned_trees, "_MEANS", means)
        patch.setattr(learned_trees, "_SPREAD", spread)
        regressor.fit(*numbers)
    network: BayesianNetwork = bayes.network_
    row = X.slice(0, 1)
    return {
        "classifier": bayes,
        "latents": hierarchy,
        "average": average,
        "density": bayleaf.BayesianNetworkEstimator().fit(X),
        "regressor": regressor,
        "model": bayes.model_,
        "network": network,
        "posteriors": network.query({"sex": "male"}),
        "posterior": network.query()["sex"],
        "explanation": average.explain(row)[0],
        "expectation": regressor.explain(row.drop_columns(["age"]))[0],
        "explanations": average.explain(X.slice(0, 12)),
        "value of information": network.value_of_information("sex"),
        "most probable states": network.most_probable_explanation({"sex": "male"}),
        "sensitivity": network.sensitivity(
            {network.domain.names[-1]: y[0]}, network.domain.names[-1], y[0]
        ),
        "expected number": bayes.network_.expected("major_vessels_coloured"),
        "expected loss": network.expected_loss(
            "sex", {"treat": {"male": 0, "female": 2}, "wait": {"male": 1, "female": 0}}
        ),
        "latent reports": hierarchy.latents_,
        "distributions": regressor.predict_distribution(numbers[0]),
        "shape": average.shape("chest_pain"),
        "shape of a number": average.shape("age"),
        "shape of an expectation": regressor.shape("sex", numbers[0]),
        "importance": importance(bayes),
        "counterfactuals": counterfactuals(bayes, row),
        "robustness": robustness(bayes, row),
        "robustness of rows": robustness_of_rows(bayes, X.slice(0, 3)),
        "comparison": compare(X, y, ["nb"], n_folds=2),
    }


DRAWN = {"classifier", "latents", "average", "density", "regressor", "model", "network"}


def html_of(thing: Any) -> str:
    """What a notebook asks an object for."""
    return str(
        thing._repr_mimebundle_()["text/html"]
        if hasattr(thing, "_repr_mimebundle_")
        else thing._repr_html_()
    )


def test_every_object_shows_a_picture_or_a_table(shown: dict[str, Any]) -> None:
    for name, thing in shown.items():
        read = Elements(static_part(html_of(thing)))
        tags = {tag for tag, _ in read.tags}
        assert tags & {"svg", "table"}, name
        assert ("svg" in tags) or name not in DRAWN, name
        assert "script" not in tags
        assert not any("src" in a or "href" in a for _, a in read.tags)


def test_a_waterfall_ends_at_the_log_odds(shown: dict[str, Any]) -> None:
    explanation = shown["explanation"]
    found = html_of(explanation)
    *terms, last = bars_of(found)
    assert len(terms) == 1 + len(explanation.terms)
    assert f"{explanation.log_odds_bits:+.3f}" in found
    kind, left, width = terms[-1]
    end = left + width if kind == "for" else left
    total = last[1] + last[2] if last[0] == "for" else last[1]
    assert end == pytest.approx(total, abs=0.02)


def test_posteriors_are_bars_of_their_probabilities(shown: dict[str, Any]) -> None:
    posterior = shown["posterior"]
    widths = [width for _, _, width in bars_of(html_of(posterior))]
    np.testing.assert_allclose(widths, 100 * posterior.probabilities, atol=0.006)


def test_posteriors_of_a_network_are_drawn_on_its_graph(shown: dict[str, Any]) -> None:
    answers = shown["posteriors"]
    again = pickle.loads(pickle.dumps(answers))
    for found in (answers, again):
        page = html_of(found)
        widths = re.findall(r'class="state".*?width="([\d.]+)"', page)
        longest = max(max(posterior.probabilities) for posterior in found.values())
        box = float(re.findall(r'<rect x="[^>]*?width="([\d.]+)"', page)[0])
        room = box - 8
        assert max(map(float, widths)) == pytest.approx(room * longest, abs=0.06)
        assert 'class="node known"' in page
        assert "thick frames: what is given" in page.replace("Thick", "thick")
    alone = Posteriors(dict(answers), answers.log_evidence)
    assert "<svg" not in html_of(alone)


def test_results_of_evaluations_are_pictures(shown: dict[str, Any]) -> None:
    X, y = load_heart(return_X_y=True)
    few, labels = X.slice(0, 60), y[:60]
    model = shown["classifier"]
    numbers = few.drop_columns(["age"])
    regressor = bayleaf.AveragedKDBRegressor(n_networks=2, trees=False, random_state=0)
    scores = cross_validate_regressors(
        {"own": regressor}, numbers, few["age"], n_folds=2
    )
    networks = {"network": bayleaf.BayesianNetworkEstimator()}
    ranks = friedman_test({"nb": [0.8, 0.7], "tan": [0.7, 0.6], "kdb": [0.6, 0.5]})
    for result, piece in (
        (cross_validate({"nb": model}, few, labels, n_folds=2), "log-loss bits"),
        (cross_validate_density(networks, few, n_folds=2), "bits per row"),
        (scores["own"], "pinball loss"),
        (ranks, "mean rank"),
        (value_of_information(model, {}), "What knowing each"),
        (conflicts(model, few.slice(0, 2)), "fits the others least"),
        (credible_intervals(model, few.slice(0, 2), n_draws=9), "interval"),
    ):
        html = result._repr_html_()
        assert piece in Elements(html).text, html


@pytest.mark.parametrize(
    ("log", "written"), [(math.log(0.0125), "0.0125"), (-800.0, "10^-347")]
)
def test_most_probable_states_show_their_probability(log: float, written: str) -> None:
    page = MostProbableStates({"a": "x"}, log)._repr_html_()
    assert f"Probability {written}, all together" in page
    assert "ln P" not in page


def test_long_names_break_between_their_parts_and_numbers_keep_their_sign() -> None:
    html = document_html(Document("", [Facts([("rows", Name("of_TwoParts 5 %"))])]))
    assert "of_<wbr>Two<wbr>Parts 5&nbsp;%" in html


def test_what_rounding_leaves_of_zeros_is_counted() -> None:
    ranked = RankedNumbers({"a": 0.5, "b": 3e-17, "c": 0.0}, "bits")
    lines = [line.split() for line in str(ranked).splitlines() if line]
    assert lines == [["bits"], ["a", "0.721"], ["0", "for", "2", "others"]]
    html = ranked._repr_html_()
    page = Elements(html)
    assert len(bars_of(html)) == 1
    assert page.text.startswith("bitsa0.721")
    assert "0 for 2 others" in page.text


def test_constants_of_a_sensitivity_and_digits_of_distributions_are_few(
    shown: dict[str, Any],
) -> None:
    assert "(0.5 x + 0.1) / (0 x + 1)" in str(Sensitivity(0.5, 0.1, 1e-16, 1.0, 0.3))
    cells = re.findall(r'<td class="n">([^<]+)<', html_of(shown["distributions"]))
    assert {len(cell.partition(".")[2]) for cell in cells if "." in cell} == {2}
    assert "calibration" not in html_of(shown["classifier"].loo_score_)
