"""A notebook that is run: every object shows something in its outputs."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from conftest import give_up

pytestmark = pytest.mark.slow

START = """
import bayleaf
from bayleaf.datasets import load_heart
X, y = load_heart(return_X_y=True)
bayes = bayleaf.TANClassifier().fit(X, y)
average = bayleaf.AveragedKDBClassifier(n_networks=4, random_state=0).fit(X, y)
"""
TABLES = [
    "bayes",
    "average",
    "bayes.network_",
    "bayes.network_.query({'sex': 'male'})",
    "average.explain(X.slice(0, 1))[0]",
    "average.shape('age')",
    "bayleaf.explain.importance(bayes)",
    "bayleaf.explain.counterfactuals(bayes, X.slice(0, 1))",
    "bayleaf.evaluation.compare(X, y, ['nb'], n_folds=2)",
]
PICTURES = [
    "bayleaf.plot.network(bayes)",
    "bayleaf.plot.shape(average.shape('age'))",
    "bayleaf.plot.posterior_bars(bayes.network_.query(targets=['sex']))",
    "bayleaf.plot.importance(bayleaf.explain.importance(bayes))",
    "bayleaf.plot.contributions(average.explain(X.slice(0, 1))[0])",
]
WAYS = ["", "import matplotlib.pyplot as plt", "%matplotlib inline"]


def run(cells: list[str]) -> list[list[dict[str, Any]]]:
    """Data of the outputs of each cell of a notebook."""
    try:
        import nbclient
        import nbformat
    except ImportError:
        give_up("install the extra 'notebook' (nbclient, ipykernel) to run notebooks")
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    return [
        [dict(out.data) for out in cell.outputs if "data" in out] for cell in book.cells
    ]


@pytest.mark.filterwarnings("ignore")
def test_objects_show_themselves() -> None:
    imports = "import bayleaf.evaluation, bayleaf.explain"
    found = run([START + imports, *TABLES])
    for cell, outputs in zip(TABLES, found[1:], strict=True):
        assert len(outputs) == 1, cell
        shown = outputs[0]["text/html"]
        assert "<svg" in shown or "<table" in shown, cell


@pytest.mark.few(1)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS, ids=["alone", "pyplot", "inline"])
def test_plots_show_themselves_once(way: str) -> None:
    found = run([f"{way}\n{START}import bayleaf.plot, bayleaf.explain", *PICTURES])
    for cell, outputs in zip(PICTURES, found[1:], strict=True):
        assert len(outputs) == 1, cell
        png = base64.b64decode(outputs[0]["image/png"])
        assert png.startswith(b"\x89PNG"), cell
        assert len(png) > 3_000, cell
