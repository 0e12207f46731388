from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf import AveragedKDBRegressor
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.datasets import load_heart
from bayleaf.report import report_html, summarize
from printed import printed_pages
from report.hostile import NAMES, TARGET, hostile_table

pytestmark = pytest.mark.slow

Opener = Callable[..., Any]


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Any:
    """Open a page offline; a request or a word on the console fails the test."""
    complaints: list[str] = []
    contexts = []

    def show(html: str, width: int = 1280, **options: Any) -> Any:
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        size = {"width": width, "height": 900}
        context = browser.new_context(offline=True, viewport=size, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("pageerror", lambda error: complaints.append(str(error)))

        def check(request: Any) -> None:
            if request.url != path.as_uri():
                complaints.append(f"asked for {request.url}")

        page.on("request", check)
        page.goto(path.as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert complaints == []


# Words with the letters before and behind a break of lines that no space, hyphen or
# underscore is at.
BROKEN_WORDS = r"""() => {
  const found = [];
  for (const place of document.querySelectorAll("h1, bdi")) {
    const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    let before = null;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (let i = 0; i < node.data.length; i++) {
        const range = document.createRange();
        range.setStart(node, i); range.setEnd(node, i + 1);
        const box = range.getClientRects()[0];
        if (!box) continue;
        const letter = {text: node.data[i], top: box.top};
        if (before && letter.top > before.top + 4) {
          const both = before.text + letter.text;
          if (/[a-z0-9]\w/i.test(both) && !/[a-z][A-Z]/.test(both)) {
            found.push(place.textContent);
          }
        }
        before = letter;
      }
    }
  }
  return found;
}"""


def test_names_break_at_their_word_parts(
    opened: Opener, summary: dict[str, Any]
) -> None:
    title = "BayesianNetworkEstimator over 14 variables"
    page = opened(report_html(summary, title), 400)
    assert page.evaluate(BROKEN_WORDS) == []


@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_fits_its_window(
    width: int, opened: Opener, summary: dict[str, Any]
) -> None:
    page = opened(report_html(summary), width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    ("width", "media"), [(1280, "screen"), (400, "screen"), (688, "print")]
)
def test_labels_of_pictures_have_eleven_pixels(
    width: int, media: str, opened: Opener, summary: dict[str, Any], of_a_number: str
) -> None:
    for html in (report_html(summary), of_a_number):
        page = opened(html, width)
        page.emulate_media(media=media)
        sizes = page.evaluate(
            """[...document.querySelectorAll('#overview svg text, .chart text')].map(
              (text) => parseFloat(getComputedStyle(text).fontSize)
                * text.getScreenCTM().a).filter((size) => size)"""
        )
        assert len(sizes) > 10
        assert min(sizes) > 10.9


@pytest.mark.parametrize("name", ["nb", "hnb"])
def test_nothing_hostile_runs(name: str, opened: Opener) -> None:
    table = hostile_table()
    model = CLASSIFIERS[name](random_state=0).fit(table[[*NAMES]], table[TARGET])
    page = opened(report_html(summarize(model, table, n_folds=2)), 400)
    page.mouse.move(200, 400)
    page.mouse.wheel(0, 4000)
    page.wait_for_timeout(100)
    assert page.evaluate("window.harm") is None
    assert page.evaluate("document.scripts.length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.fixture(scope="module")
def of_a_number() -> str:
    """The page of a regressor over hostile columns."""
    table = hostile_table()
    table[TARGET] = np.random.default_rng(0).normal(size=len(table)).round(3)
    model = AveragedKDBRegressor(n_networks=2, trees=False, random_state=0)
    model.fit(table[[*NAMES]], table[TARGET])
    return report_html(summarize(model, table, n_folds=2))


@pytest.mark.parametrize("width", [400, 1280])
def test_a_page_of_a_number_fits_and_runs_nothing(
    width: int, opened: Opener, of_a_number: str
) -> None:
    page = opened(of_a_number, width)
    assert page.evaluate("window.harm") is None
    assert page.evaluate("document.scripts.length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", ["classifier", "regressor"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_fault_of_accessibility_is_found(
    scheme: str, kind: str, opened: Opener, summary: dict[str, Any], of_a_number: str
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="install the extra 'browser' (axe) to test accessibility",
    )
    html = report_html(summary) if kind == "classifier" else of_a_number
    # The page forbids scripts, the one that checks it included.
    policy = html.index("<meta http-equiv")
    html = html[:policy] + html[html.index("\n", policy) :]
    page = opened(html, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    found = axe.Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


def test_a_report_prints_on_few_pages(opened: Opener, tmp_path: Path) -> None:
    heart = load_heart()
    model = CLASSIFIERS["hnb"](search="significance", random_state=0)
    model.fit(heart.X, heart.y)
    page = opened(report_html(summarize(model, heart.frame, heart.target, n_folds=5)))
    sheets = printed_pages(page, tmp_path / "report.pdf")
    assert 1 < len(sheets) <= 10
    # Cards of rows are whole: none begins in one column and ends in the next.
    rows = [sheet for sheet in sheets if "held out, it was predicted as" in sheet[0]]
    assert len(rows) > 1
    assert min(filled for _, filled in rows) > 0.75
    whole = " ".join(text for text, _ in rows)
    assert whole.count("what bits") == whole.count("before any feature") == 10
    page.emulate_media(media="print")
    hidden = """[...document.querySelectorAll('details:not([open]) > :not(summary)')]
        .filter((part) => !part.getBoundingClientRect().height).length"""
    assert page.locator("details:not([open])").count() > 1
    assert page.evaluate(hidden) == 0
