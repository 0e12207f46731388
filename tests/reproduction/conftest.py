from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from bayleaf.reproduction import runner
from bayleaf.reproduction.cells import Cell, Results
from bayleaf.reproduction.paper_tables import Sources
from bayleaf.reproduction.protocols import Comparison, Paper


class Example(SimpleNamespace):
    """A protocol of six cells that counts how often each is run."""

    PAPER = Paper(
        "example",
        "An example, table 1",
        "Somebody (2000). Something.",
        labels=("model",),
    )

    def __init__(self) -> None:
        super().__init__(runs=[], stop_at=None, needs="corral")

    def cells(self) -> list[Cell]:
        return [
            Cell.of([self.needs], quick=seed == 0, model=model, k=k, seed=seed)
            for model, k in (("NB", None), ("KDB", 1))
            for seed in range(3)
        ]

    def run(self, cell: Cell, sources: Sources) -> dict[str, float]:
        if len(self.runs) == self.stop_at:
            raise KeyboardInterrupt
        self.runs.append(cell)
        return {"accuracy": 80.0 + cell.number("seed") / 3}

    def comparisons(self, results: Results) -> Sequence[Comparison]:
        return [
            Comparison((m,), 80.0, 1.0, results.figures("accuracy", model=m).tolist())
            for m in ("NB", "KDB")
        ]


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A protocol that the runner takes for every paper's."""
    protocol = Example()
    monkeypatch.setattr(runner, "protocol_of", lambda key: protocol)
    return protocol
