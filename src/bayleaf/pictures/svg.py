"""Images made of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def image(
    kind: str, width: float, height: float, label: str, parts: Sequence[str]
) -> str:
    """An image of `width` by `height` pixels, its `label` for those who do not see it.

    `kind` is the class that style sheets select, `parts` are the shapes, as SVG.
    """
    return (
        f'<svg class="{kind}" role="img" aria-label="{escape(label)}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}">{"".join(parts)}</svg>'
    )
