"""Models in notebooks: live pages in frames, and what stands in for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayleaf import BayesianNetworkEstimator, NaiveBayesClassifier
from bayleaf.datasets import load_network
from bayleaf.explorer import notebook
from bayleaf.models.bayesian_network import BayesianNetwork
from models.texts.test_html_summary import checked
from report.test_page import Page


def html_of(model: Any) -> str:
    """What a notebook shows of a model."""
    shown = model._repr_html_
    return str(shown if isinstance(shown, str) else shown())


def frames_of(html: str) -> list[dict[str, str | None]]:
    """Attributes of the frames in a piece of HTML."""
    return [attributes for tag, attributes in Page(html).tags if tag == "iframe"]


@pytest.fixture(scope="module")
def network() -> BayesianNetwork:
    return load_network("asia")


def test_fitted_models_and_networks_are_live_pages_in_a_sandbox(
    network: BayesianNetwork,
) -> None:
    rows = [["a", "x"], ["b", "y"]] * 4
    for model in (
        NaiveBayesClassifier().fit(rows, [0, 1] * 4),
        BayesianNetworkEstimator().fit(rows),
        network,
    ):
        (frame,) = frames_of(html_of(model))
        assert frame["sandbox"] == "allow-scripts"
        source = frame["srcdoc"]
        assert source is not None
        assert source.startswith("<!doctype html>")
        assert "<svg" in source.partition("<noscript>")[2]
        assert "src" not in frame


def test_the_drawing_stays_where_frames_are_taken_out(network: BayesianNetwork) -> None:
    page = checked(html_of(network))
    assert "svg" in {tag for tag, _ in page.tags}
    assert "free parameters: 18" in page.text


def test_parameters_and_the_link_to_the_documentation_are_folded() -> None:
    html = html_of(NaiveBayesClassifier(n_jobs=1).fit([["a"], ["b"]], [0, 1]))
    folded = html.partition("<summary>Parameters and documentation</summary>")[2]
    assert "estimator-table" in folded
    assert "docs/methods" in folded


def test_pages_that_are_too_large_leave_the_drawing_and_a_remedy(
    network: BayesianNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebook, "MAX_BYTES", 100_000)
    html = html_of(network)
    assert frames_of(html) == []
    page = checked(html)
    assert "svg" in {tag for tag, _ in page.tags}
    assert "write_explorer(model" in page.text
    monkeypatch.setattr(notebook, "_MAX_VARIABLES", 7)
    assert "8 variables" in checked(html_of(network)).text


@pytest.mark.slow
@pytest.mark.parametrize("has_scripts", [True, False])
def test_a_frame_computes_or_shows_the_drawing(
    has_scripts: bool, browser: Any, network: BayesianNetwork, tmp_path: Path
) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><body>{html_of(network)}", encoding="utf-8")
    context = browser.new_context(java_script_enabled=has_scripts, offline=True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    if has_scripts:
        frame.locator("#view-map").wait_for()
    else:
        frame.locator("svg.network").wait_for()
        assert not frame.locator("header").is_visible()
    context.close()
    assert complaints == []


@pytest.mark.slow
def test_a_query_is_drawn_as_wide_as_the_notebook(browser: Any) -> None:
    cases = (("asia", 400, 1.0), ("alarm", 900, 11 / 12 - 1e-3))
    for name, width, smallest in cases:
        page = browser.new_page(viewport={"width": width, "height": 800})
        html = load_network(name).query()._repr_html_()
        page.set_content(f"<!doctype html><body>{html}")
        picture = page.locator("svg.network")
        assert picture.bounding_box()["width"] <= width - 16, name
        assert picture.evaluate("x => x.getScreenCTM().a") >= smallest, name
        frame = page.locator(".bayleaf-picture")
        assert frame.evaluate("x => x.scrollWidth <= x.clientWidth"), name
        page.close()
