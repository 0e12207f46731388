"""Images made of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def image(
    kind: str, width: float, height: float, label: str, parts: Sequence[str]
) -> str:
    """An image with a name for those who do not see it.

    Parameters
    ----------
    kind : str
        Its class, by which a style sheet finds it.
    width, height : float
        In pixels.
    label : str
        Its name.
    parts : sequence of str
        The shapes, as SVG.
    """
    return (
        f'<svg class="{kind}" role="img" aria-label="{escape(label)}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}">{"".join(parts)}</svg>'
    )
