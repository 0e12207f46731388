"""People who use a page by mouse, finger or keyboard alone, and the steps they need.

They see what is on the screen, and press what has a role and a name; no function
of the page is called. A step is a click, a tap, a key, a turn of a wheel, a swipe or a
text that is typed.
"""

from __future__ import annotations

import re
from typing import Any, Literal

Way = Literal["mouse", "touch", "keyboard"]

# Where the middle of an element is, whether it is what one would hit there, and by how
# much the part of the page that scrolls must move for it to be in the middle.
_PLACE = """element => {
  const shown = element.closest("label") ?? element;
  const box = shown.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const hit = document.elementFromPoint(x, y);
  let frame = shown.parentElement;
  const scrolls = (part) => part.scrollHeight > part.clientHeight + 1
    && ["auto", "scroll"].includes(getComputedStyle(part).overflowY);
  while (frame && !scrolls(frame)) frame = frame.parentElement;
  const window_ = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const own = frame ? frame.getBoundingClientRect() : window_;
  const [top, bottom] = [Math.max(0, own.top), Math.min(innerHeight, own.bottom)];
  return {
    x, y, isHit: Boolean(hit) && shown.contains(hit),
    atX: (Math.max(0, own.left) + Math.min(innerWidth, own.right)) / 2,
    atY: (top + bottom) / 2, height: bottom - top, away: y - (top + bottom) / 2,
  };
}"""
_FOCUS = "document.activeElement === document.body"
_IS_FOCUSED = "element => element === document.activeElement"
_IS_SETTLED = """() => !window.bayleaf.page.isPending
  && !document.querySelector("[aria-busy=true]")"""
_SEES_FOCUS = """() => {
  const own = document.activeElement.closest("label") ?? document.activeElement;
  const { left, top, width, height } = own.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + Math.min(height, 40) / 2];
  const hit = document.elementFromPoint(x, y);
  return Boolean(hit) && own.contains(hit);
}"""


class Person:
    """Someone at a page, with the steps taken since `begin`."""

    def __init__(self, page: Any, way: Way) -> None:
        self.page, self.way = page, way
        self.steps = 0
        self._fingers = page.context.new_cdp_session(page)

    def see(self, role: str, name: str | re.Pattern[str], within: Any = None) -> Any:
        """What has a role and a visible name."""
        is_exact = isinstance(name, str)
        return (within or self.page).get_by_role(role, name=name, exact=is_exact)

    def settle(self) -> None:
        """Wait until the page shows all that follows from the last step."""
        self.page.wait_for_function(_IS_SETTLED)

    def press(self, target: Any) -> None:
        """Click or tap what is seen, or reach it by keys and press it."""
        if self.way == "keyboard":
            self._reach(target)
            self.key("Enter" if target.get_attribute("type") != "radio" else "Space")
            return
        x, y = self._bring(target)
        self.steps += 1
        if self.way == "mouse":
            self.page.mouse.click(x, y)
        else:
            self.page.touchscreen.tap(x, y)

    def show(self, target: Any) -> None:
        """Scroll to what is to be read; a screen reader reads it where it is."""
        if self.way != "keyboard":
            self._bring(target)

    def write(self, field: Any, text: str) -> None:
        """Type a text into a field."""
        if self.way == "keyboard":
            self._reach(field)
        else:
            self.press(field)
        self.page.keyboard.insert_text(text)
        self.steps += 1

    def choose(self, field: Any, label: str) -> None:
        """Choose from a list, whose menu no browser shows to a program."""
        if self.way == "keyboard":
            self._reach(field)
        else:
            self._bring(field)
            self.steps += 1
        field.select_option(label=label)
        self.steps += 1

    def key(self, name: str) -> None:
        """Press a key; the focus must be somewhere after it, and be seen."""
        self.page.keyboard.press(name)
        self.steps += 1
        assert not self.page.evaluate(_FOCUS), f"{name} lost the focus"
        assert self.page.evaluate(_SEES_FOCUS), f"{name} led the focus out of sight"

    def _reach(self, target: Any) -> None:
        """Tab to an element, forwards or backwards; arrows inside a group of radios."""
        group = target.locator("xpath=ancestor::*[@role='radiogroup']")
        is_radio = target.get_attribute("type") == "radio" and group.count()
        stops = group.get_by_role("radio") if is_radio else target
        back = self.is_behind(target)
        for _ in range(120):
            if any(one.evaluate(_IS_FOCUSED) for one in stops.all()):
                break
            self.key("Shift+Tab" if back else "Tab")
        else:
            raise AssertionError(f"Tab does not lead to {target}")
        while not target.evaluate(_IS_FOCUSED):
            self.key("ArrowDown")

    def is_behind(self, target: Any) -> bool:
        """Whether an element comes before what has the focus."""
        return bool(
            target.evaluate(
                """e => document.activeElement !== document.body && Boolean(
                document.activeElement.compareDocumentPosition(e) & 2)"""
            )
        )

    def _bring(self, target: Any) -> tuple[float, float]:
        """Scroll until an element is where it can be hit; where that is."""
        target.wait_for()
        for _ in range(20):
            place = target.evaluate(_PLACE)
            if place["isHit"]:
                return place["x"], place["y"]
            most = 0.7 * place["height"]
            by = max(-most, min(most, place["away"]))
            if self.way == "mouse":
                self.page.mouse.move(place["atX"], place["atY"])
                self.page.mouse.wheel(0, by)
            else:
                self.swipe(place["atX"], place["atY"], by)
            self.steps += 1
            self._rest(target, place["y"])
        raise AssertionError(f"scrolling does not lead to {target}")

    def _rest(self, target: Any, start: float) -> None:
        """Wait until a part that was set in motion has moved and stands still."""
        places = [start]
        for _ in range(40):
            self.page.wait_for_timeout(50)
            places.append(target.evaluate(_PLACE)["y"])
            has_moved = places[-1] != start or len(places) > 10
            if has_moved and places[-1] == places[-2] == places[-3:][0]:
                return

    def swipe(self, x: float, y: float, by: float) -> None:
        """Draw a finger over a place, so that what is below it comes up.

        The finger rests before it is lifted: flung, a page would go past what is looked
        for, and farther the busier the machine is.
        """
        points = [y + by * (0.5 - i / 10) for i in range(11)]
        kinds = ["touchStart", *["touchMove"] * 10]
        for kind, at in zip(kinds, points, strict=True):
            touch = {"type": kind, "touchPoints": [{"x": x, "y": at}]}
            self._fingers.send("Input.dispatchTouchEvent", touch)
        self.page.wait_for_timeout(100)
        end = {"type": "touchEnd", "touchPoints": []}
        self._fingers.send("Input.dispatchTouchEvent", end)
