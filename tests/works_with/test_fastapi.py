"""Services of FastAPI that score cases, by a model or by an exported scorer."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from bayleaf import TANClassifier, load, write_scorer
from bayleaf.datasets import load_heart

WORKS_WITH = {
    "tool": "FastAPI",
    "tried": "0.165.0",
    "use": "`model.predict(case, return_notes=True)` of a dict, or `predict(case)` and "
    "`notes(case)` of a file of `write_scorer`, which needs no other package; both "
    "return what JSON holds",
    "refused": "",
}
pytestmark = pytest.mark.slow


def test_a_service_answers_and_notes_as_the_model(tmp_path: Path) -> None:
    fastapi = pytest.importorskip("fastapi", reason="needs FastAPI")
    pytest.importorskip("httpx", reason="needs httpx")
    client = pytest.importorskip("fastapi.testclient", reason="needs httpx")
    table = load_heart()
    TANClassifier().fit(table.X, table.y).save(tmp_path / "model.json")
    model = load(tmp_path / "model.json")
    write_scorer(model, tmp_path / "heart_scorer.py")
    path = tmp_path / "heart_scorer.py"
    spec = importlib.util.spec_from_file_location("heart_scorer", path)
    assert spec is not None
    assert spec.loader is not None
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    service = fastapi.FastAPI()

    def by_model(case: dict[str, Any]) -> dict[str, Any]:
        labels, notes = model.predict(case, return_notes=True)
        return {"label": labels[0], "notes": notes[0]}

    def by_scorer(case: dict[str, Any]) -> dict[str, Any]:
        return {"label": scorer.predict(case), "notes": scorer.notes(case)}

    for place, answer in (("/model", by_model), ("/scorer", by_scorer)):
        # Annotations are texts here, whose names FastAPI would look up in the module.
        answer.__annotations__ = {"case": dict[str, Any], "return": dict[str, Any]}
        service.post(place)(answer)
    case = {**table.X.to_pylist()[0], "thallium_scan": "unclear", "sex": None}
    posts = client.TestClient(service)
    first, second = (posts.post(at, json=case).json() for at in ("/model", "/scorer"))
    assert first == second
    assert [note["note"] for note in first["notes"]] == ["missing", "unknown"]
