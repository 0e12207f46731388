"""The path of a file given to `fit` is read as the command reads the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf import NaiveBayesClassifier
from bayleaf.streams.batch_sources import open_source
from offenders import check_each
from public_like import FILES

Run = Callable[..., Any]


def class_column(run: Run, path: Path) -> str:
    """The first column of few values without empty cells, to classify a file by."""
    columns = json.loads(run("check", path, "--json").out)["columns"]
    nominal = [
        c["name"]
        for c in columns
        if c["read_as"] == "nominal" and c["name"] and not c["n_missing"]
    ]
    return nominal[0] if nominal else ""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.long)])
def test_fit_of_a_path_learns_what_the_command_learns(
    step: int, run: Run, tmp_path: Path
) -> None:
    def check(name: str) -> None:
        path, model = tmp_path / "t.csv", tmp_path / "m.json"
        path.write_bytes(FILES[name].content)
        checked = run("check", path)
        if checked.code:
            with pytest.raises(ValueError, match=r"^[^\n]+$") as raised:
                NaiveBayesClassifier().fit(str(path), target="a")
            assert "--" not in str(raised.value)
            return
        target = class_column(run, path)
        if not target:
            return
        fitted = run("fit", path, "--target", target, "--model", "nb", "-o", model)
        if fitted.code:
            with pytest.raises(ValueError, match=r"^[^\n]+$"):
                NaiveBayesClassifier().fit(str(path), target=target)
            return
        ours = NaiveBayesClassifier().fit(str(path), target=target)
        theirs = bayleaf.load(model)
        assert [r.form for r in ours.encoder_.readings] == [
            r.form for r in theirs.encoder_.readings
        ]
        assert ours.encoder_.rules.plan == theirs.encoder_.rules.plan
        source = open_source(str(path), as_texts=True)
        rows = pd.concat([batch.to_pandas() for batch in source.batches()])
        rows = rows.drop(columns=target)
        answers = [one.predict_proba(rows) for one in (ours, theirs)]
        np.testing.assert_array_equal(*answers)
        assert [*map(str, ours.classes_)] == [*map(str, theirs.classes_)]

    names = [name for name, file in FILES.items() if not file.options]
    check_each(names[::step], check)
