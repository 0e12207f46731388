"""Distributions of a network: tables as heat maps, trees as trees."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD
from bayleaf.data.domain import Domain
from bayleaf.inference.states import StateReader
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.network_parts import Name
from bayleaf.plot import style
from bayleaf.wording import name_list, quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Larger tables leave no room for labels.
MAX_ROWS, MAX_COLUMNS = 60, 30
# Cells up to which each has its number.
_MOST_NUMBERS = 150


def network_of(source: Any) -> BayesianNetwork:
    """The network itself, or that of a fitted estimator or a model, else TypeError.

    AttributeError if the estimator is an average of networks.
    """
    if isinstance(source, BayesianNetwork):
        return source
    if hasattr(source, "fit"):
        found = source.network_
    else:
        found = getattr(source, "network", None)
    if not isinstance(found, BayesianNetwork):
        raise TypeError(
            "network must be a Bayesian network or a fitted estimator that has one, "
            f"got a {type(source).__name__}"
        )
    return found


def cpt(
    network: Any,
    variable: Name,
    *,
    given: Mapping[Name, Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the probability table of a variable as a heat map.

    Parameters
    ----------
    network : BayesianNetwork or fitted estimator
        Where the table stands.
    variable : str or int
        Whose table; a tree or a value map is written out as a table.
    given : mapping of name to state, optional
        Parents held at a state, so that fewer rows remain.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        A row a parent configuration, the last parent fastest, and a column a state;
        dark cells are probable. The label of the left axis names the parents in the
        order of their states. Up to 150 cells have their number.

    Raises
    ------
    ValueError
        If there is no such variable, parent or state, or the table has more than 60
        rows or 30 columns.
    TypeError
        If there is no network.
    ImportError
        If matplotlib is not installed.
    """
    found = network_of(network)
    cpd = found.cpd(variable)
    domain = found.domain
    codes = _codes_shown(domain, cpd, dict(given or {}))
    table = np.asarray(cpd.probabilities)[np.ix_(*codes, range(cpd.cards[-1]))]
    table = table.reshape(-1, table.shape[-1])
    if len(table) > MAX_ROWS or table.shape[1] > MAX_COLUMNS:
        free = [domain[p].name for p, c in zip(cpd.parents, codes) if len(c) > 1]
        remedy = (
            f"; hold some of {name_list(free)} at a state by given=" if free else ""
        )
        raise ValueError(
            f"the table of {quoted(variable)} has {len(table)} rows and "
            f"{table.shape[1]} columns, but a picture shows up to {MAX_ROWS} and "
            f"{MAX_COLUMNS}{remedy}"
        )
    rows = _row_names(domain, cpd, codes)
    longest = max(map(style.text_width, rows)) / 72
    ax = style.axes_for(
        ax,
        0.7 + longest + max(2.0, 0.5 * table.shape[1]),
        1.1 + 0.24 * len(table),
    )
    ax.imshow(table, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    child = domain[cpd.child]
    states = [style.shortened(child.label(code), 16) for code in range(child.n_states)]
    style.name_ticks(ax, "y", rows)
    style.name_ticks(ax, "x", states)
    ax.tick_params(length=0)
    if table.size <= _MOST_NUMBERS:
        _write_numbers(ax, table)
    room = int(14 * max(2.0, 0.5 * table.shape[1]))
    style.title(ax, head_of(domain, cpd, room))
    parents = ", ".join(style.shortened(domain[p].name, 28) for p in cpd.parents)
    style.label_axes(ax, y=style.shortened(parents, max(24, 4 * len(table))))
    return ax


def head_of(domain: Domain, cpd: CPD, room: int) -> str:
    """What is distributed, given what; how many parents if names take too much room."""
    child = style.shortened(domain[cpd.child].name)
    if not cpd.parents:
        return f"P({child})"
    text = f"P({child} | {', '.join(style.clean(domain[p].name) for p in cpd.parents)})"
    if len(text) <= room:
        return text
    count = "1 parent" if len(cpd.parents) == 1 else f"{len(cpd.parents)} parents"
    return f"P({child} | {count})"


def _codes_shown(domain: Domain, cpd: CPD, given: dict[Name, Any]) -> list[list[int]]:
    """For each parent the states whose rows are drawn."""
    shown = []
    for parent in cpd.parents:
        variable = domain[parent]
        if variable.name not in given:
            shown.append(list(range(variable.n_states)))
            continue
        value = given.pop(variable.name)
        reader = StateReader(variable)
        code = reader.code(value)
        if code is None:
            raise reader.unknown(value)
        shown.append([code])
    if given:
        raise ValueError(
            f"given holds {quoted(next(iter(given)))}, which is no parent of "
            f"{quoted(domain[cpd.child].name)}; "
            f"its parents are {name_list([domain[p].name for p in cpd.parents])}"
            if cpd.parents
            else f"{quoted(domain[cpd.child].name)} has no parents that could be given"
        )
    return shown


def _row_names(domain: Domain, cpd: CPD, codes: list[list[int]]) -> list[str]:
    """The parents' states of each row."""
    length = max(8, 48 // max(len(codes), 1))
    return [
        ", ".join(
            style.shortened(domain[p].label(code), length)
            for p, code in zip(cpd.parents, where, strict=True)
        )
        for where in itertools.product(*codes)
    ]


def _write_numbers(ax: Axes, table: NDArray[np.float64]) -> None:
    """The probability in each cell, light on dark."""
    for (row, column), value in np.ndenumerate(table):
        style.write(
            ax,
            column,
            row,
            f"{value:.2f}",
            ha="center",
            va="center",
            fontsize=style.FONT_SIZE - 1,
            color=style.PAPER if value > 0.55 else style.INK,
        )
