"""Scores by name."""

from __future__ import annotations

from collections.abc import Callable

from bayleaf.scores.aic import AIC
from bayleaf.scores.bdeu import BDeu
from bayleaf.scores.bic import BIC
from bayleaf.scores.k2 import K2
from bayleaf.scores.local_score import LocalScore
from bayleaf.scores.mdl import MDL
from bayleaf.wording import name_list, quoted

LOCAL_SCORES: dict[str, Callable[[], LocalScore]] = {
    "mdl": MDL,
    "bic": BIC,
    "bdeu": BDeu,
    "aic": AIC,
    "k2": K2,
}


def resolve_score(
    score: str | LocalScore,
    *,
    penalty_weight: float = 1.0,
    equivalent_sample_size: float = 1.0,
) -> LocalScore:
    """Give the score of a name; a score stands for itself.

    Parameters
    ----------
    score : {"mdl", "bic", "bdeu", "aic", "k2"} or LocalScore
        What the search is to make large.
    penalty_weight : float, default=1.0
        Weight of the model's part; "mdl" alone has one.
    equivalent_sample_size : float, default=1.0
        Weight of the prior; "bdeu" alone has one.

    Raises
    ------
    ValueError
        If there is no score of this name, or a weight is out of range.

    Examples
    --------
    >>> resolve_score("mdl").unit
    'bits'
    """
    if not isinstance(score, str):
        return score
    if score not in LOCAL_SCORES:
        raise ValueError(
            f"local_score must be one of {name_list(list(LOCAL_SCORES))}, got "
            f"{quoted(score)}"
        )
    if score == "mdl":
        return MDL(penalty_weight)
    if score == "bdeu":
        return BDeu(equivalent_sample_size)
    return LOCAL_SCORES[score]()
