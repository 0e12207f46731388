"""Files of skops, which hold no pickles."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf import trusted_types
from contract.kinds import CLASSIFIERS
from contract.tables import mixed_frame
from offenders import check_each

WORKS_WITH = {
    "tool": "skops",
    "tried": "0.16.0",
    "use": "`skops.io.dump(model, path)`, "
    "`skops.io.load(path, trusted=bayleaf.trusted_types())`",
    "refused": "",
}
pytestmark = pytest.mark.slow


def test_a_model_read_by_skops_predicts_the_same() -> None:
    io = pytest.importorskip("skops.io", reason="needs skops")
    frame, y = mixed_frame()

    def check(name: str) -> None:
        model = CLASSIFIERS[name](random_state=0).fit(frame, y)
        read = io.loads(io.dumps(model), trusted=trusted_types())
        np.testing.assert_array_equal(
            read.predict_proba(frame), model.predict_proba(frame)
        )

    check_each([name for name in CLASSIFIERS if name not in ("auto", "network")], check)
