"""Class scores of a scoring program, by the kinds of its terms."""

from __future__ import annotations

import numpy as np

from bayleaf.io.exports.sql.averages.ensembles import Ensemble
from bayleaf.io.exports.sql.averages.members import members_of
from bayleaf.io.exports.sql.blocks import add_blocks
from bayleaf.io.exports.sql.looking_up import Rows
from bayleaf.io.exports.sql.networks import ScoredNetwork
from bayleaf.io.exports.sql.pipeline import Columns
from bayleaf.io.exports.sql.term_tables import add_tables
from bayleaf.io.exports.sql.whole_network import add_network
from bayleaf.io.exports.sql.words import col, nats, num, plus, times
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.terms import LogSum, SumOut, program_of


def add_scores(rows: Rows, predictor: Predictor, *, told: bool, limit: int) -> str:
    """Add s_class of each class's score; what features say too if it is to be told.

    Returns a remark for the reader of the query, empty if there is nothing to say.

    Raises
    ------
    ValueError
        If queries cannot hold the model.
    """
    model = predictor.model
    program = program_of(model)
    cards, base = program.cards, program.base.tolist()
    sums = [term for term in program.terms if isinstance(term, SumOut)]
    averages = [term for term in program.terms if isinstance(term, LogSum)]
    rest = [term for term in program.terms if not isinstance(term, SumOut | LogSum)]
    if len(sums) + len(averages) > 1 or (averages and rest):
        raise ValueError(
            f"a {type(model).__name__} is not written as SQL; fit another classifier"
        )
    for average in averages:
        members = members_of(average, cards, model.domain.names[-1])
        Ensemble(members, cards, base, predictor).add(rows, told=told)
        return ""
    if not sums:
        return add_tables(rows, rest, cards, len(base), base, told=told)
    (term,) = sums
    is_plain = term.weight == 1.0
    shift = program.base if is_plain else np.zeros_like(program.base)
    scored = ScoredNetwork(term, model.domain.names, shift)
    remark = ""
    if not add_blocks(rows, scored, told=told):
        remark = add_network(rows, scored, told=told, limit=limit)
    if not is_plain:
        _weigh(rows, term.weight, base)
    if rest:
        add_tables(rows, rest, cards, len(base), told=told)
    return remark


def _weigh(rows: Rows, weight: float, base: list[float]) -> None:
    """Multiply scores, and what features add to them, and add the base."""
    columns: Columns = {}
    for key in rows.columns:
        if key[-1].isdigit() and key[0] in "sbf":
            columns[key] = times(num(weight), col(key))
            if key[0] in "sb":
                start = nats(base[int(key.split("_")[1])])
                columns[key] = plus(start, columns[key])
    rows.extend(columns)
