"""How long the explorer takes to load, and from a click to the painted page.

Needs Playwright and the program chromium. Times are milliseconds in one browser. Random
polytrees and published networks: the load, and the median and largest of 15 clicks on a
state (each the median of 3 runs, so that other programs count less), until the box is
painted and until all bars are. The pages of averaged KDB on heart and on adult: the
load, its longest task of the main thread, the longest one of ten findings, and frames a
second while a slider is dragged.

    python benchmarks/speed/explorer.py [--networks andes pigs win95pts]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayleaf import AveragedKDBClassifier
from bayleaf.datasets import load_heart
from bayleaf.explorer import write_explorer
from bayleaf.io import read_network
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.typing import FrameLike

SIZES = (200, 1000)
MAX_PARENTS = 3
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
# A box that is in view is clicked; painted is what the frame after the click shows.
CLICK = """async (i) => {
  const { page } = window.bayleaf;
  const frame = document.getElementById("drawing").getBoundingClientRect();
  const inView = page.map.shown.filter((node) => {
    const { top, left } = page.map.cards.get(node).card.getBoundingClientRect();
    return top >= 0 && top < innerHeight && left >= frame.left && left < frame.right;
  });
  const { rows } = page.map.cards.get(inView[(7 * i) % inView.length]);
  const painted = () => new Promise((done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(0);
  }));
  const start = performance.now();
  rows[i % rows.length].button.click();
  await painted();
  const first = performance.now() - start;
  while (page.isPending) await painted();
  const all = performance.now() - start;
  await new Promise((done) => setTimeout(done, 300));
  return [first, all];
}"""
TASKS = """{
  window.tasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.tasks.push(duration);
  }).observe({ type: "longtask", buffered: true });
}"""
FINDINGS = """async () => {
  const { session } = window.bayleaf;
  for (let i = 0; i < 10; i += 1) {
    session.choose(i, 0);
    await new Promise((done) => setTimeout(done, 400));
  }
}"""
DRAG = """async () => {
  const slider = document.querySelector(".slide input");
  const frames = [];
  for (let k = 0; k <= 90; k += 1) {
    slider.value = Number(slider.min) + (k / 90) * (slider.max - slider.min);
    slider.dispatchEvent(new Event("input"));
    frames.push(await new Promise(requestAnimationFrame));
  }
  return 90_000 / (frames.at(-1) - frames[0]);
}"""


def polytree(n: int) -> BayesianNetwork:
    """Variables of two to four states, each tied to one of the dozen before it."""
    rng = np.random.default_rng(0)
    names = [f"variable_{i}" for i in range(n)]
    parents: dict[str, list[str]] = {name: [] for name in names}
    for i in range(1, n):
        near = names[rng.integers(max(0, i - 12), i)]
        is_parent = rng.random() < 0.3 and len(parents[near]) < MAX_PARENTS
        child, parent = (near, names[i]) if is_parent else (names[i], near)
        parents[child].append(parent)
    states = {name: [*"abcd"][: rng.integers(2, 5)] for name in names}
    tables = {
        name: rng.dirichlet(
            np.ones(len(states[name])), size=[len(states[p]) for p in parents[name]]
        )
        for name in names
    }
    return BayesianNetwork.from_tables(states, tables, parents)


def opened(browser: Any, path: Path, width: int) -> tuple[Any, float]:
    """A page, and the milliseconds until it was ready."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    start = time.perf_counter()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    return page, 1000 * (time.perf_counter() - start)


def run(browser: Any, path: Path, width: int, script: str) -> list[float]:
    """Load, and the median and the largest time of clicks, to the box and to all."""
    page, load = opened(browser, path, width)
    # Narrow windows begin with the list.
    page.evaluate("() => window.bayleaf.page.map.setList(false)")
    page.evaluate(script)
    first, whole = zip(*(page.evaluate(CLICK, i) for i in range(15)), strict=True)
    page.close()
    ends = (statistics.median(first), max(first), statistics.median(whole), max(whole))
    return [load, *ends]


def measure(browser: Any, path: Path) -> list[str]:
    """Lines of the table for one page."""
    lines = []
    for width in WIDTHS:
        for way, script in WAYS.items():
            runs = [run(browser, path, width, script) for _ in range(RUNS)]
            figures = [statistics.median(own) for own in zip(*runs, strict=True)]
            cells = " | ".join(f"{own:.0f}" for own in figures)
            lines.append(f"| {width} px, {way} | {cells} |")
    return lines


def show(browser: Any, folder: str, name: str, network: BayesianNetwork) -> None:
    """Print the table of a network."""
    path = Path(folder) / f"{name}.html"
    start = time.perf_counter()
    write_explorer(network, path)
    taken = time.perf_counter() - start
    print(
        f"\n{name}, {len(network.domain)} variables: "
        f"{path.stat().st_size / 1000:.0f} kB, written in {taken:.1f} s\n"
    )
    print("| | load | box, median | box, most | all bars, median | all bars, most |")
    print("|---|--:|--:|--:|--:|--:|")
    print("\n".join(measure(browser, path)), flush=True)


def longest_task(page: Any) -> float:
    """Milliseconds of the longest task since the last call; 0 if none took 50."""
    found: list[float] = page.evaluate("() => window.tasks.splice(0)")
    return max(found, default=0.0)


def show_classifier(browser: Any, path: Path, X: FrameLike, y: Any) -> None:
    """Print the figures of the cockpit of averaged KDB on a table."""
    write_explorer(AveragedKDBClassifier().fit(X, y), path)
    loads, tasks, findings, rates = [], [], [], []
    for _ in range(RUNS):
        page = browser.new_page(viewport={"width": 1280, "height": 800})

        page.add_init_script(TASKS)
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        loads.append(1000 * (time.perf_counter() - start))
        page.wait_for_timeout(1500)
        tasks.append(longest_task(page))
        page.evaluate(FINDINGS)
        findings.append(longest_task(page))
        rates.append(page.evaluate(DRAG))
        page.close()
    print(f"\n{path.stem}, averaged KDB: {path.stat().st_size / 1000:.0f} kB\n")
    print("| load | longest task of it | longest of findings | frames a second |")
    print("|--:|--:|--:|--:|")
    cells = [statistics.median(own) for own in (loads, tasks, findings, rates)]
    print("| " + " | ".join(f"{own:.0f}" for own in cells) + " |", flush=True)


def main() -> None:
    """Measure all pages."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser()
    parser.add_argument("--networks", nargs="*", default=["andes", "pigs", "win95pts"])
    wanted = parser.parse_args().networks
    data = Path(os.environ.get("BAYLEAF_DATA", ""))
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        X, y = load_heart(return_X_y=True)
        show_classifier(browser, Path(folder) / "heart.html", X, y)
        adult = data / "small" / "adult.csv"
        if adult.is_file():
            X = pd.read_csv(adult, na_values="?")
            y = X.pop(X.columns[-1])
            show_classifier(browser, Path(folder) / "adult.html", X, y)
        for size in SIZES:
            show(browser, folder, f"polytree of {size}", polytree(size))
        for name in wanted:
            path = data / "networks" / f"{name}.bif"
            if path.is_file():
                show(browser, folder, name, read_network(path))
        browser.close()


if __name__ == "__main__":
    main()
