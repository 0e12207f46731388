"""How long the explorer takes to load, and from a click to the painted page.

Needs Playwright and the program chromium. Times are milliseconds in one browser, the
median and the largest of 15 clicks; inference is told apart.

    python benchmarks/speed/explorer.py
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bayleaf.explorer import write_explorer
from bayleaf.models.bayesian_network import BayesianNetwork

SIZES = (50, 200, 1000)
WAYS = {
    "near the question": "() => {}",
    "whole map": "() => window.bayleaf.page.map.setDistance(Infinity)",
    "list": "() => window.bayleaf.page.map.setList(true)",
}
CLICK = """async (i) => {
  const { session, page } = window.bayleaf;
  const start = performance.now();
  session.choose(3 * i, i % 3);
  await new Promise((done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(0);
  }));
  const taken = performance.now() - start;
  await new Promise((done) => setTimeout(done, 300));
  return [taken, page.inferenceMilliseconds];
}"""


def network(n: int) -> BayesianNetwork:
    """Variables of three states with one or two parents among the dozen before them."""
    rng = np.random.default_rng(0)
    names = [f"variable_{i}" for i in range(n)]
    parents = {}
    for i in range(1, n):
        near = rng.integers(max(0, i - 12), i, size=1 + int(rng.random() < 0.2))
        parents[names[i]] = [names[j] for j in sorted(set(near.tolist()))]
    tables = {
        name: rng.dirichlet(np.ones(3), size=[3] * len(parents.get(name, [])))
        for name in names
    }
    states = {name: ["low", "middle", "high"] for name in names}
    return BayesianNetwork.from_tables(states, tables, parents)


def measure(browser: Any, path: Path) -> list[str]:
    """Lines of the table for one page."""
    lines = []
    for way, script in WAYS.items():
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        load = 1000 * (time.perf_counter() - start)
        page.evaluate(script)
        clicks = [page.evaluate(CLICK, i) for i in range(15)]
        taken = [whole - inference for whole, inference in clicks]
        inference = statistics.median(own for _, own in clicks)
        lines.append(
            f"{way:18} {load:7.0f} {statistics.median(taken):7.0f} {max(taken):7.0f} "
            f"{inference:9.0f}"
        )
        page.close()
    return lines


def main() -> None:
    """Measure all sizes."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        for size in SIZES:
            path = Path(folder) / f"{size}.html"
            start = time.perf_counter()
            write_explorer(network(size), path)
            taken = time.perf_counter() - start
            kilobytes = path.stat().st_size / 1000
            print(f"{size} variables: {kilobytes:.0f} kB, written in {taken:.1f} s")
            print(f"{'':18} {'load':>7} {'median':>7} {'most':>7} {'inference':>9}")
            print("\n".join(measure(browser, path)), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
