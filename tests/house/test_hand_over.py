"""Methods that hand their work over find who does it."""

from __future__ import annotations

import importlib
import inspect

import pytest

from bayleaf.hand_over import DOERS
from bayleaf.models.handed_over import HandedOver


@pytest.mark.parametrize("method", DOERS)
def test_what_is_handed_over_has_a_doer_and_a_method(method: str) -> None:
    module, function = DOERS[method]
    doer = getattr(importlib.import_module(module), function)
    assert callable(doer)
    assert inspect.getdoc(getattr(HandedOver, method))


def test_every_method_that_hands_over_is_in_the_table() -> None:
    own = {name for name in vars(HandedOver) if not name.startswith("_")}
    assert own == set(DOERS)
