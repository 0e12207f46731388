"""The size of a program is reported before it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.io.exports.writers import export_model
from bayleaf.progress import listening


@pytest.mark.parametrize("suffix", ["sql", "pmml", "py", "js"])
def test_the_size_of_a_program_is_reported(tmp_path: Path, suffix: str) -> None:
    model = NaiveBayesClassifier().fit([["a"], ["b"]] * 20, [0, 1] * 20)
    lines: list[str] = []
    path = tmp_path / f"model.{suffix}"
    with listening(lines.append):
        export_model(model, path)
    text = path.read_text()
    kilobytes = len(text) / 1000
    assert lines[-1].startswith(f"writing model.{suffix}, ")
    assert float(lines[-1].split()[-2]) == pytest.approx(kilobytes, rel=0.1)
