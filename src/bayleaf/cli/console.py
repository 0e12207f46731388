"""Consoles for tables and progress, on which names cannot act."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.segment import Segment

from bayleaf.wording import visible_lines


class ShownConsole(Console):
    """A console that writes escapes for what a terminal would obey, then adds colours.

    Text is no markup: brackets in names are brackets.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        stream = sys.stderr if stderr else sys.stdout
        with_styles = getattr(stream, "with_styles", None)
        file: Any = stream if with_styles is None else with_styles()
        super().__init__(file=file, stderr=stderr, markup=False, emoji=False)

    def render_str(self, text: str, **style: Any) -> Any:
        """The text of a cell or line; made visible here so that widths are right."""
        return super().render_str(visible_lines(text), **style)

    def render(self, *args: Any, **options: Any) -> Iterator[Segment]:
        """What is written of a table or text, piece by piece."""
        for text, style, control in super().render(*args, **options):
            shown = text if control else visible_lines(text)
            yield Segment(shown, style, control)

    def on_broken_pipe(self) -> None:
        """Leave it to the command line that the reader of its output has gone."""
        raise BrokenPipeError
