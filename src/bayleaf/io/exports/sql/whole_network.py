"""Rows scored by a network: families looked up where that is all, else summed out."""

from __future__ import annotations

from bayleaf.io.exports.sql.looking_up import Rows
from bayleaf.io.exports.sql.networks import ScoredNetwork, add_families, code_columns
from bayleaf.io.exports.sql.pipeline import kept
from bayleaf.io.exports.sql.summing_out import SummedOut
from bayleaf.io.exports.sql.words import case, col, equal, num


def add_network(rows: Rows, scored: ScoredNetwork, *, told: bool, limit: int) -> str:
    """Score rows by a network; see `add_families` for the columns.

    Returns a remark for the reader of the query, empty if there is nothing to say.
    """
    columns = code_columns(scored.n_features)
    torn = scored.torn(columns)
    every = bool(scored.latents) or (told and not scored.class_is_root)
    if torn is None and not every:
        add_families(rows, scored, told=told)
        return ""
    if every:
        rows.extend({"t": num(1)})
    else:
        rows.extend({"t": case([(torn, num(1))], num(0))})
    branches = []
    whole = rows.branch()
    if not every:
        _only(whole, 0)
        add_families(whole, scored, told=told)
        branches.append(whole)
    summed = SummedOut(scored, told=told, limit=limit)
    _only(rows, 1)
    branches += summed.add(rows)
    keys = sorted(branches[0].columns)
    if len(branches) > 1:
        stage = rows.pipeline.union([one.stage for one in branches], keys)
        rows.stage, rows.columns = stage, keys
    else:
        rows.stage, rows.columns = branches[0].stage, branches[0].columns
    return summed.remark


def _only(rows: Rows, torn: int) -> None:
    """Go on with the rows of one sort."""
    columns = [key for key in rows.columns if key != "t"]
    rows.stage = rows.pipeline.stage(
        rows.stage, kept(columns), where=equal(col("t"), num(torn))
    )
    rows.columns = columns
