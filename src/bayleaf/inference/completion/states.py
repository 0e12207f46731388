"""States for the missing cells of rows, given what each row holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.threads import thread_count
from bayleaf.data.codes import Codes
from bayleaf.inference.junction_tree.rows import posterior_rows
from bayleaf.inference.parts import NetworkTrees, Part

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
# Rows in which each variable's state is wanted, increasing.
Wanted = Mapping[int, NDArray[np.intp]]

# Uniforms drawn at a time; how rows fall into blocks changes no draw.
_BLOCK_UNIFORMS = 1 << 20
# Rows whose distinct ones are found at a time.
_BLOCK_ROWS = 1 << 16
# Probabilities that are closer than this are taken as equal.
_ROUNDING = 1e-12


class Drawn(NamedTuple):
    """States drawn for the wanted cells of one variable."""

    states: Whole  # (n_cells,)
    shares: Floats  # (n_cells,), a uniform each, for draws within the state


def most_probable_states(
    trees: NetworkTrees, rows: Codes, wanted: Wanted
) -> dict[int, Whole]:
    """The most probable completion of each row, all its open cells together.

    Unobserved variables on which nothing depends are summed out; others that the rows
    leave open, in addition to `wanted`, take their most probable states. Rows must be
    possible.

    `wanted` maps variables to rows (n_cells,), the result to states (n_cells,). Ties go
    to the lowest state of the variable that the junction tree meets first.
    """
    part = trees.upper_part(_kept(rows, wanted))
    open_rows = np.unique(np.concatenate([*wanted.values()]))
    found = np.empty((len(open_rows), len(part.members)), dtype=np.uint16)
    for first in range(0, len(open_rows), _BLOCK_ROWS):
        block = slice(first, first + _BLOCK_ROWS)
        found[block] = _most_probable_rows(part, rows.rows(open_rows[block]))
    return {
        variable: found[
            np.searchsorted(open_rows, where), part.positions[variable]
        ].astype(np.int64)
        for variable, where in wanted.items()
    }


def posteriors(
    trees: NetworkTrees, rows: Codes, wanted: Wanted, n_jobs: int | None
) -> Iterator[tuple[int, Floats]]:
    """Each wanted variable with its posteriors, shape (n_cells, card)."""
    part = trees.part_of(_kept(rows, wanted))
    for variable, where in wanted.items():
        known = part.codes(rows.rows(where))
        found, _ = posterior_rows(
            part.tree, known, part.positions[variable], thread_count(n_jobs)
        )
        yield variable, found


def likeliest(probabilities: Floats) -> Whole:
    """The most probable state of each row, the lowest among equal ones."""
    highest = probabilities.max(axis=1, keepdims=True)
    among = probabilities >= highest * (1.0 - _ROUNDING)
    return np.asarray(np.argmax(among, axis=1))


def drawn_states(
    trees: NetworkTrees,
    rows: Codes,
    wanted: Wanted,
    n_draws: int,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> list[dict[int, Drawn]]:
    """States by draw and variable, from the joint posterior of each row's wanted cells.

    One variable after another is drawn given the row's cells and what was drawn before
    it, which is exact by the chain rule. Rows must be possible. Each row takes as many
    uniforms, so that a table drawn in parts gets the same states; none depends on
    `n_jobs`.
    """
    part = trees.part_of(_kept(rows, wanted))
    draws: list[dict[int, list[Drawn]]] = [
        {v: [] for v in wanted} for _ in range(n_draws)
    ]
    shape = (n_draws, 2, rows.n_variables)
    step = max(1, _BLOCK_UNIFORMS // (n_draws * 2 * rows.n_variables))
    for first in range(0, rows.n_rows, step):
        last = min(first + step, rows.n_rows)
        uniforms = rng.random((last - first, *shape))
        own = _within(wanted, first, last)
        block = rows.rows(slice(first, last))
        for number, into in enumerate(draws):
            drawn = _drawn_block(part, block, own, uniforms[:, number], n_jobs)
            for variable, found in drawn.items():
                into[variable].append(found)
    return [{v: _joined(parts) for v, parts in drawn.items()} for drawn in draws]


def _kept(rows: Codes, wanted: Wanted) -> list[int]:
    """Variables that rows tell of, and those that are wanted."""
    n = rows.n_variables
    return [v for v in range(n) if v in wanted or not rows.missing(v).all()]


def _most_probable_rows(part: Part, rows: Codes) -> NDArray[np.uint16]:
    """Most probable states of a part, searched for once for rows that are alike."""
    codes = part.codes(rows)
    cells = np.empty((codes.n_rows, codes.n_variables), dtype=np.uint16)
    for variable in range(codes.n_variables):
        cells[:, variable] = codes.column(variable)
    texts = cells.view(np.dtype((np.void, cells.shape[1] * cells.itemsize))).ravel()
    _, firsts, same = np.unique(texts, return_index=True, return_inverse=True)
    distinct = cells[firsts]
    known = distinct < np.array(codes.cards)
    found = np.empty_like(distinct)
    for place, (row, is_known) in enumerate(zip(distinct, known, strict=True)):
        given = np.flatnonzero(is_known)
        findings = dict(zip(given.tolist(), row[given].tolist(), strict=True))
        found[place], _ = part.tree.most_probable(findings)
    return np.asarray(found[same])


def _within(wanted: Wanted, first: int, last: int) -> dict[int, NDArray[np.intp]]:
    """The wanted cells of a block of rows, numbered from its first on."""
    own = {}
    for variable, where in wanted.items():
        begin, end = np.searchsorted(where, (first, last))
        if end > begin:
            own[variable] = where[begin:end] - first
    return own


def _drawn_block(
    part: Part, rows: Codes, wanted: Wanted, uniforms: Floats, n_jobs: int | None
) -> dict[int, Drawn]:
    """States drawn for a block of rows from uniforms (n_rows, 2, n_variables)."""
    codes = part.codes(rows)
    columns: list[NDArray[np.integer[Any]]] = [
        np.array(codes.column(v)) for v in range(codes.n_variables)
    ]
    drawn = {}
    for variable, where in wanted.items():
        place = part.positions[variable]
        known = Codes.from_columns([own[where] for own in columns], codes.cards)
        chances, _ = posterior_rows(part.tree, known, place, thread_count(n_jobs))
        states = _first_above(chances, uniforms[where, 0, variable])
        columns[place][where] = states
        drawn[variable] = Drawn(states, uniforms[where, 1, variable])
    return drawn


def _first_above(chances: Floats, uniforms: Floats) -> Whole:
    """The first state of each row whose cumulative probability exceeds its uniform."""
    cumulative = np.cumsum(chances, axis=1)
    # So that the last state that is possible exceeds any uniform below 1.
    cumulative /= cumulative[:, -1:]
    return np.asarray((cumulative <= uniforms[:, None]).sum(axis=1))


def _joined(parts: list[Drawn]) -> Drawn:
    """The draws of some blocks, one after another."""
    states = np.concatenate([np.empty(0, dtype=np.int64), *(p.states for p in parts)])
    return Drawn(states, np.concatenate([np.empty(0), *(p.shares for p in parts)]))
