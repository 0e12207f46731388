"""Tables of nodes whose state follows from the states of their parents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.formats.assemble import Variables
from bayleaf.io.formats.source_file import NetworkFileError, quoted


def one_hot_table(
    results: Sequence[str],
    variables: Variables,
    index: int,
    line: int | None,
    max_table_cells: int,
) -> NDArray[np.float64]:
    """The table of a deterministic node, shape (parent configurations, states).

    `results` has the state that each configuration brings about. NetworkFileError if
    the node has no such state, or the table exceeds `max_table_cells`.
    """
    codes = variables.codes(index)
    name = quoted(variables.declared[index].name)
    if (cells := len(results) * len(codes)) > max_table_cells:
        raise NetworkFileError(
            variables.file,
            line,
            f"the table of node {name} would have {cells:,} cells; give it fewer "
            f"parents, or raise max_table_cells, which is {max_table_cells:,}",
        )
    unknown = [state for state in results if state not in codes]
    if unknown:
        raise NetworkFileError(
            variables.file,
            line,
            f"node {name} should result in {quoted(unknown[0])}, which is none of its "
            "states; name one of them",
        )
    values = np.zeros((len(results), len(codes)))
    values[np.arange(len(results)), [codes[state] for state in results]] = 1.0
    return values
