from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
from sklearn import config_context

from bayleaf import BayesianNetworkEstimator, NaiveBayesClassifier
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.datasets import load_heart
from bayleaf.models.texts.html_summary import facts_html
from bayleaf.wording import plain
from oracles.small_tables import classifier
from report.hostile import NAMES, TARGET, hostile_table
from report.test_page import Page

TAGS = set("div bdi details summary ul li p strong style wbr".split())  # noqa: SIM905
SHAPES = set("svg defs marker path g title rect text".split())  # noqa: SIM905


def static_part(html: str) -> str:
    """HTML of a notebook without the live page and scikit-learn's parameters."""
    parameters = "<details><summary>Parameters and documentation</summary>"
    html = re.sub(f"{parameters}.*</details>(?=<style>)", "", html, flags=re.DOTALL)
    return re.sub("<iframe .*?</iframe>", "", html, flags=re.DOTALL)


def checked(html: str) -> Page:
    """A piece of well-formed HTML that neither runs nor asks for anything."""
    page = Page(static_part(html))
    assert page.broken == page.open == []
    assert {tag for tag, _ in page.tags} <= TAGS | SHAPES
    plain = [a for tag, a in page.tags if tag in TAGS]
    assert {name for a in plain for name in a} <= {"class", "style", "scope", "open"}
    assert not {name for _, a in page.tags for name in a} & {"href", "src", "onload"}
    return page


@pytest.fixture(scope="module")
def hostile_network() -> Any:
    """A network over hostile names and values."""
    return BayesianNetworkEstimator(random_state=0).fit(hostile_table())


@pytest.mark.few(5)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_fitted_classifier_shows_its_summary_and_so_does_its_model(
    name: str,
) -> None:
    heart = load_heart()
    model = classifier(name).fit(heart.X, heart.y)
    shown = checked(model._repr_mimebundle_()["text/html"])
    assert type(model).__name__ in shown.text
    assert "free parameters" in shown.text
    inner = checked(model.model_._repr_html_())
    assert inner.text.startswith(type(model.model_).__name__)


def test_hostile_names_are_text_in_summaries(hostile_network: Any) -> None:
    table = hostile_table()
    model = NaiveBayesClassifier().fit(table[[*NAMES]], table[TARGET])
    for shown in (model, model.model_, hostile_network, hostile_network.network_):
        html = shown._repr_html_()
        html = html if isinstance(html, str) else html()
        page = checked(html)
        assert "x" * 1000 not in page.text


def test_a_network_lists_its_variables() -> None:
    network = NaiveBayesClassifier().fit([["a"], ["b"]], [0, 1]).network_
    assert "0: a, b" in checked(network._repr_html_()).text


def test_an_unfitted_estimator_keeps_the_picture_of_scikit_learn() -> None:
    html = NaiveBayesClassifier()._repr_mimebundle_()["text/html"]
    assert "sk-container" in html


def test_the_choice_of_plain_text_is_kept() -> None:
    model = NaiveBayesClassifier().fit([["a"], ["b"]], [0, 1])
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


@pytest.mark.slow
def test_no_template_is_needed() -> None:
    code = (
        "import sys; sys.modules['jinja2'] = None; import bayleaf; "
        "m = bayleaf.NaiveBayesClassifier().fit([['a'], ['b']], [0, 1]); "
        "assert 'NaiveBayes' in m._repr_html_()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_long_lists_say_how_many_are_left_out() -> None:
    page = checked(facts_html("t", [("a", 1)], [("arcs", list(range(25))), ("b", [])]))
    assert "and 5 more" in page.text
    assert "b (0)" not in page.text


def test_texts_are_cut_and_cleaned() -> None:
    assert (
        plain("a\x00b\nc\u202e")
        == "a\N{REPLACEMENT CHARACTER}b c\N{REPLACEMENT CHARACTER}"
    )
    assert len(plain("x" * 10_000)) < 301
