"""Rows drawn from a network, or from a network given evidence."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.random_state import random_generator
from bayleaf.data.state_numbers import drawn_numbers
from bayleaf.inference.evidence import Evidence
from bayleaf.inference.parts import NetworkTrees
from bayleaf.inference.sampling.draws import draw_rows
from bayleaf.inference.sampling.evidence_draws import evidence_draws
from bayleaf.wording import quoted

# A terabyte and more; asking for it is a slip.
_MOST_CELLS = 1 << 40


def sample(trees: NetworkTrees, n: int, evidence: Evidence, random_state: Any) -> Codes:
    """Draw rows from P(all variables | evidence), exactly.

    Without evidence, each variable is drawn given its parents (Henrion 1988,
    "Propagating uncertainty in Bayesian networks by probabilistic logic sampling").
    ImpossibleEvidenceError if P(evidence) is zero; ValueError if `n` is not a number of
    rows, or a table would be too large.
    """
    whole = isinstance(n, numbers.Integral) and not isinstance(n, bool)
    if not whole or n < 1:
        raise ValueError(
            f"the number of rows must be an integer of at least 1, got {quoted(n)}"
        )
    rng = random_generator(random_state)
    network = trees.network
    too_many = ValueError(
        f"{n} rows of {len(network.domain)} variables do not fit into memory; "
        "draw fewer rows at a time"
    )
    if n * len(network.domain) > _MOST_CELLS:
        raise too_many
    draws, cards = evidence_draws(trees, evidence)
    try:
        rows = draw_rows(draws, cards, int(n), rng, evidence.hard)
    except MemoryError:
        raise too_many from None
    own = network.domain.cards
    if cards == own:
        return rows
    return Codes.from_columns([rows.column(v) for v in range(len(own))], own)


def decode(
    domain: Domain, codes: Codes, rng: np.random.Generator | None = None
) -> pa.Table:
    """Turn codes into a table of states, one column per variable.

    With a generator, numbers are drawn for intervals, which are labels otherwise. Text
    comes as dictionaries (categories in pandas), numbers and booleans as they are;
    missing cells are null.
    """
    columns = [
        _decoded(variable, codes.column(position))
        for position, variable in enumerate(domain)
    ]
    names = [str(name) for name in domain.names]
    if rng is not None:
        drawn = drawn_numbers(domain, codes, rng)
        for name in drawn.column_names:
            columns[names.index(name)] = drawn.column(name).combine_chunks()
    return pa.table(columns, names=names)


def _decoded(variable: Variable, codes: NDArray[Any]) -> pa.Array:
    """One column of states."""
    states = list(variable.states)
    known_states = [state for state in states if state is not None]
    if not _of_one_kind(known_states) or _is_beyond_arrow(known_states):
        states = [variable.label(code) for code in range(len(states))]
    null_code = len(states) - variable.has_missing_state
    try:
        known = pa.array(states[:null_code])
        str(variable.name).encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"variable {quoted(variable.name)} or a state of it is no Unicode text; "
            "rename it before rows are drawn"
        ) from error
    absent = codes >= null_code
    indices = pa.array(
        codes if codes.dtype != np.uint8 or null_code > 127 else codes.view(np.int8),
        mask=absent if absent.any() else None,
    )
    if pa.types.is_string(known.type):
        return pa.DictionaryArray.from_arrays(indices, known)
    return known.take(indices)


def _of_one_kind(states: Sequence[Any]) -> bool:
    """Whether states are all text, all truth values or all numbers."""
    return (
        any(
            all(isinstance(state, kind) for state in states)
            for kind in (str, bool, int, float)
        )
        and len({isinstance(state, bool) for state in states}) < 2
    )


def _is_beyond_arrow(states: Sequence[Any]) -> bool:
    """Whether there are whole numbers of more than 64 bits."""
    return any(isinstance(state, int) and abs(state) >= 1 << 63 for state in states)
