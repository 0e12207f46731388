"""Draw the pictures of the documentation again, into docs/pictures.

Run it after a change of what they show; the picture of the explorer needs Playwright
and the program chromium, and is left as it is without them.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from bayleaf import (
    AveragedKDBClassifier,
    BayesianNetwork,
    BayesianNetworkEstimator,
    HNBClassifier,
    Inference,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.cpds.distribution import TableCPD
from bayleaf.datasets import load_heart
from bayleaf.explain import drift, importance
from bayleaf.explorer import explorer_html
from bayleaf.plot import contributions, network, posterior_bars, shape
from bayleaf.plot import drift as drift_bars
from bayleaf.plot import importance as importance_bars
from bayleaf.report import report_html, summarize

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
# A person with chest pain: what the explorer's picture has set.
CASE = {"chest_pain": "asymptomatic", "exercise_induced_angina": "yes"}


def main() -> None:
    """Draw all of them: the models that the code above each picture fits."""
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "bayleaf"}
    X, y = load_heart(return_X_y=True)
    bayes = NaiveBayesClassifier().fit(X, y)
    tree = TANClassifier(calibration="leave_one_out").fit(X, y)
    average = AveragedKDBClassifier(random_state=0).fit(X, y)
    rules = HNBClassifier(search="significance", significance_level=0.001)
    _save(network(tree), "network")
    _save(network(rules.fit(X, y)), "latents")
    learned = BayesianNetworkEstimator(random_state=0).fit(load_heart().frame)
    _save(network(learned), "learned")
    _save(shape(average.shape("age")), "shape")
    _save(contributions(tree.explain(X.slice(0, 1))[0]), "why")
    _save(contributions(bayes.explain(X.slice(2, 1))[0]), "why-bayes")
    _save(importance_bars(importance(bayes)), "importance")
    _save(posterior_bars(_coughing().query({"cough": "yes"})), "posteriors")
    changed = _changed(tree.network_, "chest_pain")
    rows = Inference(changed).sample(2000, random_state=0)
    _save(drift_bars(drift(tree, rows)), "drift")
    _cockpit(average)
    _explorer(tree)
    _report(rules)


def _coughing() -> BayesianNetwork:
    """The network of the page on networks."""
    return BayesianNetwork.from_tables(
        states={name: ["no", "yes"] for name in ("smoker", "bronchitis", "cough")},
        parents={"bronchitis": ["smoker"], "cough": ["bronchitis"]},
        tables={
            "smoker": [0.7, 0.3],
            "bronchitis": [[0.95, 0.05], [0.75, 0.25]],
            "cough": [[0.9, 0.1], [0.2, 0.8]],
        },
    )


def _changed(network: BayesianNetwork, name: str) -> BayesianNetwork:
    """The network with a variable's states turned round in a third of the rows."""
    place = network.domain.index(name)
    cpds = list(network.cpds)
    table = cpds[place].probabilities
    turned = (2.0 * table + np.flip(table, axis=-1)) / 3.0
    cpds[place] = TableCPD(cpds[place].family, turned)
    return BayesianNetwork(network.domain, network.dag, tuple(cpds))


def _save(axes: Any, name: str) -> None:
    """Write a picture without the day on which it was drawn."""
    path = FOLDER / f"{name}.svg"
    axes.figure.savefig(path, metadata={"Date": None})
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(map(str.rstrip, lines)) + "\n", "utf-8", newline="\n")


@contextlib.contextmanager
def _opened(html: str, height: int) -> Iterator[Any]:
    """A page in a browser; nothing where there is none."""
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("PNG files need Playwright and chromium; they stay as they are")
        yield None
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        path.write_text(html, "utf-8", newline="\n")
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": height})
        page.goto(path.as_uri())
        yield page
        browser.close()


def _report(model: HNBClassifier) -> None:
    """The top of a report."""
    heart = load_heart()
    summary = summarize(model, heart.frame, heart.target, n_folds=5)
    with _opened(report_html(summary, "Heart disease"), 960) as page:
        if page is not None:
            page.screenshot(path=FOLDER / "report.png")


def _explorer(model: TANClassifier) -> None:
    """The explorer as it looks with a case set."""
    with _opened(explorer_html(model, "Heart disease"), 880) as page:
        if page is None:
            return
        page.wait_for_selector("html[data-ready]")
        page.click("#tab-map")
        for name, state in CASE.items():
            page.fill("#find", name)
            page.press("#find", "Enter")
            page.locator("#chosen .state", has_text=state).first.click()
        page.fill("#find", "")
        page.keyboard.press("Escape")
        page.locator("#variable summary").first.click()
        page.wait_for_timeout(500)
        page.screenshot(path=FOLDER / "explorer.png")


def _cockpit(model: AveragedKDBClassifier) -> None:
    """The page of README's model with a case set."""
    with _opened(explorer_html(model), 880) as page:
        if page is None:
            return
        page.wait_for_selector("html[data-ready]")
        for name, state in CASE.items():
            shown = page.locator(f".feature-name:text-is('{name.replace('_', ' ')}')")
            page.locator(".entry", has=shown).get_by_text(state, exact=True).click()
        page.wait_for_timeout(500)
        page.screenshot(path=FOLDER / "cockpit.png")


if __name__ == "__main__":
    main()
