"""What a latent variable makes of the joint states of its two children."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Variable
from bayleaf.models.latent_rules import LatentReport
from bayleaf.plot import style
from bayleaf.wording import counted, near_names, quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Light fills on which dark numbers can be read.
_TINTS = (
    "#9ECAE9",
    "#FFE0A3",
    "#A8DCC9",
    "#E9C3D8",
    "#F4F0A8",
    "#D0D0D0",
    "#F3B598",
    "#FFFFFF",
)
_MOST_NUMBERS = 400


def latent_partition(model: Any, latent: str, *, ax: Axes | None = None) -> Axes:
    """Draw which state a latent variable has in each cell of its two children.

    Parameters
    ----------
    model : HNBClassifier or HierarchicalNaiveBayesModel
        A fitted hierarchical naive Bayes.
    latent : str
        Name of the latent variable, such as ``"L1"``.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        A row a state of the first child, a column a state of the second; cells of one
        state have one colour and number, and thick lines part different ones.

    Raises
    ------
    TypeError
        If the model has no latent variables of this kind.
    ValueError
        If there is no such latent variable.
    ImportError
        If matplotlib is not installed.
    """
    found = getattr(model, "model_", model)
    if getattr(found, "latent_reports", None) is None:
        raise TypeError(
            "model must be a fitted hierarchical naive Bayes, got a "
            f"{type(model).__name__}"
        )
    reports = {report.name: report for report in found.latent_reports}
    if latent not in reports:
        names = list(reports)
        remedy = near_names(str(latent), names) if names else "the model has none"
        raise ValueError(f"there is no latent variable {quoted(latent)}; {remedy}")
    chosen = reports[latent]
    states = chosen.cells
    ax = style.axes_for(ax, 1.9 + 0.42 * states.shape[1], 1.2 + 0.28 * len(states))
    _draw_cells(ax, states)
    variables = {variable.name: variable for variable in found.domain}
    for axis, child in zip("yx", chosen.children, strict=True):
        name, labels = _child(variables.get(child), reports.get(str(child)))
        style.name_ticks(ax, axis, labels)
        getattr(ax, f"set_{axis}label")(
            style.shortened(name, 32), fontsize=style.FONT_SIZE, parse_math=False
        )
    ax.tick_params(length=0)
    states_left = counted(len(chosen.states), "state")
    style.title(ax, f"{style.shortened(latent)}: {states.size} cells in {states_left}")
    return ax


def _child(
    feature: Variable | None, nested: LatentReport | None
) -> tuple[str, list[str]]:
    """Name and states of a feature or, where there is none, of a nested latent."""
    if feature is None:
        assert nested is not None
        numbers = range(1, len(nested.states) + 1)
        return f"state of {nested.name}", [str(number) for number in numbers]
    # A missing state, if there is one, is counted with the others.
    labels = [feature.label(code) for code in range(feature.n_states)]
    return str(feature.name), [style.shortened(label, 18) for label in labels]


def _draw_cells(ax: Axes, states: NDArray[np.intp]) -> None:
    """Cells in the colours of their states, their numbers, and the lines between."""
    from matplotlib.colors import to_rgb

    tints = np.array([to_rgb(colour) for colour in _TINTS])
    ax.imshow(tints[states % len(tints)], aspect="auto", interpolation="nearest")
    if states.size <= _MOST_NUMBERS:
        for (row, column), state in np.ndenumerate(states):
            look = {"ha": "center", "va": "center", "color": style.INK}
            style.write(ax, column, row, str(state + 1), **look)
    edges = [
        ((column + 0.5, column + 0.5), (row - 0.5, row + 0.5))
        for row, column in np.argwhere(states[:, 1:] != states[:, :-1])
    ]
    edges += [
        ((column - 0.5, column + 0.5), (row + 0.5, row + 0.5))
        for row, column in np.argwhere(states[1:] != states[:-1])
    ]
    for xs, ys in edges:
        ax.plot(xs, ys, color=style.INK, linewidth=1.5, solid_capstyle="round")
    ax.set_xlim(-0.5, states.shape[1] - 0.5)
    ax.set_ylim(len(states) - 0.5, -0.5)
