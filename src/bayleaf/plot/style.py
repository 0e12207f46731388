"""What all pictures share: axes of their own, colours, and labels that fit."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bayleaf.describe.drawing import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which people who confuse red and green can tell apart,
# ordered so that neighbours differ in brightness and survive a greyscale print.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7", "#222222")
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
FOR, AGAINST = "#0072B2", "#E69F00"
INK, FAINT, PAPER = "#222222", "#999999", "#FFFFFF"
# Names that a legend may have inside axes, and in one column beside them.
_MOST_INSIDE, _LEGEND_ROWS = 8, 14
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
FONT_SIZE = 8.0
# Dots an inch of a notebook's pictures.
_SCREEN = 96


def axes_for(
    ax: Axes | None, width: float, height: float, *, bare: bool = False
) -> Axes:
    """The axes given, or new ones on a figure that pyplot does not manage.

    `width` and `height` of a new figure in inches; `bare` axes fill it. ImportError
    without matplotlib, TypeError if `ax` is not an axes.
    """
    try:
        from matplotlib.axes import Axes as AxesType
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            'plots need matplotlib; install it with pip install "bayleaf[plot]"'
        ) from error
    if ax is None and bare:
        bare_figure = Figure(figsize=(width, height))
        return _shown_inline(bare_figure.add_axes((0.0, 0.0, 1.0, 1.0)))
    if ax is None:
        figure = Figure(figsize=(width, height), layout="constrained")
        return _shown_inline(figure.add_subplot())
    if not isinstance(ax, AxesType):
        raise TypeError(
            f"ax must be axes of matplotlib or None, got {type(ax).__name__}; a "
            "figure's axes are in its attribute axes"
        )
    return ax


def _shown_inline(ax: Axes) -> Axes:
    """Axes that a notebook shows as the picture of their figure.

    Pyplot does not manage the figure, so nothing else would show it, nor show it twice.
    """
    vars(ax)["_repr_png_"] = partial(_png, ax)
    return ax


def _png(ax: Axes) -> tuple[bytes, dict[str, int]]:
    """A figure at twice the resolution of a screen, and its size on the screen."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    with io.BytesIO() as file:
        figure.savefig(file, format="png", dpi=2 * _SCREEN)
        width, height = (round(_SCREEN * inches) for inches in figure.get_size_inches())
        return file.getvalue(), {"width": width, "height": height}


def clean(label: object) -> str:
    """A label on one line, without characters that cannot be seen or turn text."""
    return printable(" ".join(str(label).split()))


def shortened(label: object, limit: int = 24) -> str:
    """A label of at most `limit` characters, the end of a longer one an ellipsis."""
    text = clean(label)
    return text if len(text) <= limit else text[: limit - 1].rstrip() + ELLIPSIS


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Width of a text in points at a font size."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    with warnings.catch_warnings():
        # A glyph that the font lacks is drawn as a box, which has a width too.
        warnings.simplefilter("ignore")
        width = text_to_path.get_text_width_height_descent(
            text, FontProperties(size=size), False
        )[0]
    return float(width)


def fitted(label: object, width: float, size: float = FONT_SIZE) -> str:
    """A label that is at most `width` points wide, shortened by an ellipsis."""
    text = clean(label)
    # No letter is narrower than a tenth of the font size, so measuring stays short.
    text = shortened(text, max(2, int(width / size * 10)))
    if text_width(text, size) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = text_width(text[:middle].rstrip() + ELLIPSIS, size) <= width
        low, high = (middle, high) if fits else (low, middle - 1)
    return text[:low].rstrip() + ELLIPSIS


def in_lines(label: object, width: float, n_lines: int, size: float = FONT_SIZE) -> str:
    """A label on up to `n_lines` lines, broken at blanks, underscores and the like.

    A word that is wider than a line is broken where the line ends. Where there is no
    room, the last line ends in an ellipsis, or begins with one so that the end of the
    name is seen.
    """
    words = [word for word in re.split(r"(?<=[\s_.\-/:])", clean(label)) if word]
    parts = [part for word in words for part in _pieces(word, width, size)]
    lines = [""]
    for part in parts:
        if text_width((lines[-1] + part).rstrip(), size) <= width:
            lines[-1] += part
        elif lines[-1]:
            lines.append(part)
        else:
            lines[-1] = part
    if len(lines) > n_lines:
        rest = "".join(lines[n_lines - 1 :]).strip()
        lines = [*lines[: n_lines - 1], _end_of(rest, width, size)]
    return "\n".join(fitted(line, width, size) for line in lines)


def _pieces(word: str, width: float, size: float) -> list[str]:
    """A word in as few pieces as fit into lines."""
    pieces = [""]
    for letter in word:
        if pieces[-1] and text_width((pieces[-1] + letter).rstrip(), size) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _end_of(text: str, width: float, size: float) -> str:
    """The end of a text too long for a line, where names mostly differ."""
    # No letter is narrower than a tenth of the font size.
    kept = text[-max(1, int(width / size * 10)) :]
    while kept and text_width(ELLIPSIS + kept, size) > width:
        kept = kept[1:]
    return ELLIPSIS + kept


def axes_inches(ax: Axes) -> tuple[float, float]:
    """Width and height of axes on paper."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    box = ax.get_window_extent()
    return float(box.width / figure.dpi), float(box.height / figure.dpi)


def write(ax: Axes, x: float, y: float, text: str, **look: Any) -> Any:
    """Text on axes in which dollar signs are dollar signs."""
    return ax.text(x, y, text, **{"fontsize": FONT_SIZE, "parse_math": False, **look})


def title(ax: Axes, text: str) -> None:
    """Set the title, dollar signs as they are, on two lines if it is too wide."""
    # It may stand out a little to both sides, where no other axes begin yet.
    room = 1.2 * 72 * axes_inches(ax)[0]
    text = in_lines(text, room, 2, FONT_SIZE + 1)
    ax.set_title(text, fontsize=FONT_SIZE + 1, parse_math=False)


def label_axes(ax: Axes, x: str = "", y: str = "") -> None:
    """Name the two axes and make their numbers small."""
    ax.set_xlabel(x, fontsize=FONT_SIZE, parse_math=False)
    ax.set_ylabel(y, fontsize=FONT_SIZE, parse_math=False)
    ax.tick_params(labelsize=FONT_SIZE)


def name_ticks(ax: Axes, axis: str, names: Sequence[str]) -> None:
    """Put names at 0, 1, 2, ... along an axis, slanted where they would collide."""
    look: dict[str, Any] = {}
    room = 72 * axes_inches(ax)[0] / len(names)
    if axis == "x" and max(map(text_width, names)) > 0.9 * room:
        look = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    chosen = getattr(ax, f"{axis}axis")
    chosen.set_ticks(range(len(names)), minor=False)
    chosen.set_ticklabels(names, **{"fontsize": FONT_SIZE, "parse_math": False, **look})


def list_names(ax: Axes, names: Sequence[str]) -> None:
    """Put names one below the other along the vertical axis, without ticks."""
    name_ticks(ax, "y", names)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)


def line_look(number: int) -> dict[str, Any]:
    """Colour, dashes and marker of the n-th line."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        # Dashes go through another cycle than colours once these begin again.
        "linestyle": DASHES[(number + number // len(COLOURS)) % len(DASHES)],
        "marker": MARKERS[number % len(MARKERS)],
        "linewidth": 1.5,
    }


def signed_bars(ax: Axes, values: Any, height: float, **look: Any) -> Any:
    """Horizontal bars at 0, 1, 2, ...; those below zero are light and hatched."""
    colours = [FOR if value >= 0 else AGAINST for value in values]
    bars = ax.barh(range(len(values)), values, height, color=colours, **look)
    for bar, value in zip(bars, values, strict=True):
        if value < 0:
            bar.set_hatch("////")
    return bars


def plain_frame(ax: Axes) -> None:
    """Leave only the left and the bottom line of the frame."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _legend_columns(n_names: int) -> int:
    """Columns of a legend beside the axes."""
    return -(-n_names // _LEGEND_ROWS)


def legend_width(n_names: int) -> float:
    """Inches that a legend takes beside new axes."""
    return 1.8 * _legend_columns(n_names) if n_names > _MOST_INSIDE else 0.0


def legend(ax: Axes, handles: Sequence[Any], names: Sequence[str], **place: Any) -> Any:
    """A legend in which names may begin with underscores and hold dollar signs.

    One of more than 8 names stands beside the axes.
    """
    if len(names) > _MOST_INSIDE:
        place = {
            "loc": "upper left",
            "bbox_to_anchor": (1.02, 1.0),
            "borderaxespad": 0.0,
            "ncols": _legend_columns(len(names)),
        }
    numbers = [str(number) for number in range(len(names))]
    drawn = ax.legend(
        handles, numbers, **{"fontsize": FONT_SIZE, "framealpha": 0.85, **place}
    )
    for text, name in zip(drawn.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)
    return drawn
