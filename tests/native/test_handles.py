from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from bayleaf.native.cpds import Networks


def test_an_object_is_freed_without_a_step_that_would_lose_an_interruption() -> None:
    held = [Networks(2, (1.0, 0.0, 0.0))]
    events: list[str] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        events.append(event)

    sys.setprofile(note)
    held.clear()
    sys.setprofile(None)

    # Python runs signal handlers in its own steps, and drops what finalizers raise.
    assert "c_call" in events
    assert "call" not in events
