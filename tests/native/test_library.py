from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bayleaf
from bayleaf.native import library
from bayleaf.native.arrays import F8, I8, readable, strided, writable

SOURCE = Path(bayleaf.__file__).parent.parent
BUILT = [level for level in library.LEVELS if library._path(level) is not None]

# Every kind of learner, with missing values and weights, and what it predicts.
_FITS = """
import hashlib
import numpy as np
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.native.library import level

rng = np.random.default_rng(0)
n = 600
y = rng.integers(3, size=n)
numbers = rng.normal(size=(n, 3)) + y[:, None]
states = (rng.integers(4, size=(n, 5)) + y[:, None]) % 5
X = np.column_stack([numbers, states]).astype(object)
X[rng.random(X.shape) < 0.02] = None
weights = rng.integers(3, size=n) / 3
print(level())
for name in CLASSIFIERS:
    kind = CLASSIFIERS[name]
    settings = {"random_state": 0} if "random_state" in kind().get_params() else {}
    model = kind(**settings).fit(X, y, sample_weight=weights)
    print(name, hashlib.sha256(model.predict_proba(X).tobytes()).hexdigest())
"""


def _run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_level_in_use_is_one_that_was_built() -> None:
    assert library.level() in [*BUILT, os.environ.get("BAYLEAF_SIMD")]


def test_an_instruction_set_that_does_not_exist_is_refused_in_a_sentence() -> None:
    code = "from bayleaf.native.library import level; level()"
    finished = _run(code, BAYLEAF_SIMD="mmx")
    assert finished.returncode == 1
    last = finished.stderr.strip().splitlines()[-1]
    assert "BAYLEAF_SIMD='mmx' is no instruction set that runs here" in last


@pytest.mark.parametrize("level", BUILT)
def test_the_verbose_version_names_the_level(level: str) -> None:
    code = "from bayleaf.cli import main; main(['--version', '--verbose'])"
    lines = _run(code, BAYLEAF_SIMD=level).stdout.splitlines()
    assert lines[0] == f"bayleaf {bayleaf.__version__}"
    assert lines[1].startswith(f"native core: {level} ")


@pytest.mark.slow
@pytest.mark.skipif(len(BUILT) < 2, reason="this kind of processor has one level")
def test_every_level_learns_the_same_models_bit_for_bit() -> None:
    outputs = {}
    for level in BUILT:
        finished = _run(_FITS, BAYLEAF_SIMD=level)
        assert finished.returncode == 0, finished.stderr
        used, outputs[level] = finished.stdout.split("\n", 1)
        assert used == level
    assert len(outputs["baseline"].splitlines()) > 8
    assert set(outputs.values()) == {outputs["baseline"]}


def test_an_array_is_checked_before_its_address_is_given() -> None:
    good = np.zeros((2, 3))
    assert readable(good, F8, (2, 3)) == good.ctypes.data
    assert writable(good, F8, (2, 3)) == good.ctypes.data
    with pytest.raises(
        TypeError, match="an array of int64 is needed here, got float64"
    ):
        readable(good, I8, (2, 3))
    with pytest.raises(TypeError, match="got >f8"):
        readable(good.astype(">f8"), F8, (2, 3))
    with pytest.raises(
        ValueError, match=r"shape \(3, 2\) is needed here, got \(2, 3\)"
    ):
        readable(good, F8, (3, 2))
    with pytest.raises(ValueError, match="C-contiguous"):
        readable(np.zeros((3, 2)).T, F8, (2, 3))
    bytes_ = np.zeros(good.nbytes + 1, dtype=np.uint8)
    crooked = bytes_[1:].view(np.float64).reshape(2, 3)
    with pytest.raises(ValueError, match="aligned"):
        readable(crooked, F8, (2, 3))
    good.setflags(write=False)
    readable(good, F8, (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        writable(good, F8, (2, 3))


def test_strides_are_counted_in_items() -> None:
    whole = np.zeros((4, 6))
    address, steps = strided(whole[::2, ::-3], F8)
    assert address == whole[0, 5:].ctypes.data
    assert steps == (12, -3)
    records = np.zeros(4, dtype=[("byte", "u1"), ("number", "<f8")])
    with pytest.raises(ValueError, match="aligned"):
        strided(records["number"], F8)
