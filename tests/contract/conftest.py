"""Names of the variants of classifiers, for the files of models."""

from __future__ import annotations

import pytest

from bayleaf.classifiers import CLASSIFIERS
from contract.variants import VARIANTS


@pytest.fixture(autouse=True)
def _variants_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files name variants, which loading has to know."""
    for name, variant in VARIANTS.items():
        monkeypatch.setitem(CLASSIFIERS, name, variant)
