"""Every instruction set gives the same bits: counts, fitted models, exact answers."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bayleaf
from bayleaf.native import library

FOLDERS = [Path(__file__).parents[1], Path(bayleaf.__file__).parent.parent]

# Counts tables of every kind in every way and prints a digest.
COUNT = """
import hashlib
import numpy as np
from bayleaf.counts import table_counts
from bayleaf.counts.information import conditional_mutual_information_matrix
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.data.cut_points import mdlp_cut_points

rng = np.random.default_rng(0)
cards = [2, 3, 9, 30, 300, 3]
columns = [rng.integers(0, card, 17_000) for card in cards]
columns[1][::7] = 3
table_counts._LEAST_PACKED = 1
digest = hashlib.sha256()
for weights in (None, rng.integers(0, 6, 17_000) * 1.0, rng.random(17_000)):
    codes = Codes.from_columns(columns, cards, weights)
    for most_states in (0, 12, 40):
        table_counts.max_plane_states = lambda n_rows: most_states
        source = RowCounts(codes)
        digest.update(source.pair_counts(range(5), range(5)).dense())
        for table in source.family_counts([(5, 0), (5, 2, 1), (1, 2, 3), (5, 4, 3)]):
            digest.update(table)
        digest.update(conditional_mutual_information_matrix(source))
values = np.round(rng.normal(size=17_000), 3)
classes = ((values > 0) + rng.integers(2, size=17_000)).astype(np.intp)
cuts = mdlp_cut_points(values, classes, 3, rng.random(17_000))
digest.update(np.array(cuts))
assert cuts
print(digest.hexdigest())
"""

# Every kind of learner, with missing values and weights, and what it predicts.
FIT = """
import hashlib
import numpy as np
from bayleaf import AveragedKDBRegressor
from bayleaf.classifiers import CLASSIFIERS

rng = np.random.default_rng(0)
n = 600
y = rng.integers(3, size=n)
numbers = rng.normal(size=(n, 3)) + y[:, None]
states = (rng.integers(4, size=(n, 5)) + y[:, None]) % 5
X = np.column_stack([numbers, states]).astype(object)
X[rng.random(X.shape) < 0.02] = None
weights = rng.integers(3, size=n) / 3
for name in CLASSIFIERS:
    kind = CLASSIFIERS[name]
    settings = {"random_state": 0} if "random_state" in kind().get_params() else {}
    model = kind(**settings).fit(X, y, sample_weight=weights)
    print(name, hashlib.sha256(model.predict_proba(X).tobytes()).hexdigest())
model = AveragedKDBRegressor(random_state=0).fit(X, numbers @ [1, 2, 3], weights)
print("regressor", hashlib.sha256(model.predict(X).tobytes()).hexdigest())
"""

ANSWER = """
from inference.test_junction_tree import random_answers
for seed in range(30):
    for array in random_answers(seed):
        print(array.tobytes().hex())
"""


def _printed(code: str, level: str) -> list[str]:
    """Lines that a program prints when it runs with one level."""
    check = f"from bayleaf.native.library import level\nassert level() == {level!r}\n"
    finished = subprocess.run(
        [sys.executable, "-c", check + code],
        env={
            **os.environ,
            "BAYLEAF_SIMD": level,
            "PYTHONPATH": os.pathsep.join(map(str, FOLDERS)),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.splitlines()


def test_all_levels_are_built_where_all_are_wanted() -> None:
    if os.environ.get("BAYLEAF_LEVELS") != "all":
        pytest.skip("only this processor's level is built; `make levels` builds all")
    assert library.usable_levels() == library.supported_levels()


def test_the_baseline_level_needs_no_later_instruction() -> None:
    """A compiler that builds for its own processor would put some there."""
    path, disassembler = library._path("baseline"), shutil.which("objdump")
    if path is None or platform.machine().lower() not in ("x86_64", "amd64"):
        pytest.skip("the baseline of x86-64 is not built; `make levels` builds all")
    if disassembler is None:
        pytest.skip("needs objdump, of binutils")
    text = subprocess.run(
        [disassembler, "-d", "--no-show-raw-insn", str(path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = set(re.findall(r"\t([a-z]\w+)", text))
    assert {"mulsd", "call"} & names
    # All of AVX and later begin with v; the others are of SSE3 to SSE4.2 and BMI.
    later = re.compile(
        "v(?!err|erw).*|(popcnt|lzcnt|andn|bextr|blsr|mulx|rorx|[sr]arx|sh[lr]x|crc32|"
        "pshufb|palignr|h?addsub..|ph(add|sub).*|round..|blend.*|pblend.*|dpp.|p(min|max)(sb|"
        "ud|uw|sd)|pcmp(eqq|gtq|.str.)|pmov[sz].*|p(ext|ins)r[bdq]|ptest|pmulld)[lqw]?"
    )
    assert [name for name in sorted(names) if later.fullmatch(name)] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "min_lines"),
    [(COUNT, 1), (FIT, 9), (ANSWER, 100)],
    ids=["counts", "models", "answers"],
)
def test_all_levels_give_the_same_bits(code: str, min_lines: int) -> None:
    usable = library.usable_levels()
    if len(usable) < 2:
        pytest.skip("one level is built here; `make levels` builds all")
    printed = {level: _printed(code, level) for level in usable}
    first = printed[usable[0]]
    assert len(first) >= min_lines
    assert [name for name in usable if printed[name] != first] == []
