"""How long the explorer takes to load, and from a click to the painted page.

Needs Playwright and the program chromium. Times are milliseconds in one browser: the
load, the median click, the largest of 15 clicks (each the median of 3 runs, so that
other programs count less), and inference, which is told apart.

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
RUNS = 3
WIDTHS = (1280, 400)
WAYS = {
    "near the question": "() => {}",
    "whole map": "() => window.bayleaf.page.map.setDistance(Infinity)",
    "list": """() => {
      window.bayleaf.page.map.setDistance(Infinity);
      window.bayleaf.page.map.setList(true);
    }""",
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


def run(browser: Any, path: Path, width: int, script: str) -> list[float]:
    """Load, median click, largest click and median inference of one page."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    start = time.perf_counter()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    load = 1000 * (time.perf_counter() - start)
    # Narrow windows begin with the list.
    page.evaluate("() => window.bayleaf.page.map.setList(false)")
    page.evaluate(script)
    clicks = [page.evaluate(CLICK, i) for i in range(15)]
    page.close()
    taken = [whole - inference for whole, inference in clicks]
    inference = statistics.median(own for _, own in clicks)
    return [load, statistics.median(taken), max(taken), inference]


def measure(browser: Any, path: Path) -> list[str]:
    """Lines of the table for one page."""
    lines = []
    for width in WIDTHS:
        for way, script in WAYS.items():
            runs = [run(browser, path, width, script) for _ in range(RUNS)]
            figures = [statistics.median(own) for own in zip(*runs, strict=True)]
            cells = " ".join(f"{own:9.0f}" for own in figures)
            lines.append(f"{width:5} px, {way:18} {cells}")
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
            heads = ("load", "median", "most", "inference")
            print(f"{'':28} {' '.join(f'{head:>9}' for head in heads)}")
            print("\n".join(measure(browser, path)), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
