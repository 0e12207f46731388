"""Children of the class added one by one while held-out rows are predicted better."""

from __future__ import annotations

from collections.abc import Sequence

from bayleaf.search.latents.wrapper_scores import HeldOut


def forward_selection(held_out: HeldOut, children: Sequence[int]) -> tuple[int, ...]:
    """Choose class children, in increasing order, by the wrapper score.

    Nodes are added best first, of equal ones the first, while the score gets strictly
    better; `held_out` keeps the scores of the choice. Langseth and Nielsen (2006),
    Machine Learning 63, 135-159, sections 6.2 and 7.
    """
    name = held_out.score_name
    left, chosen = list(children), []
    reached = held_out.score().rank(name)
    while left:
        ranks = [held_out.score(held_out.adding(node)).rank(name) for node in left]
        best = max(range(len(left)), key=ranks.__getitem__)
        if ranks[best] <= reached:
            break
        reached = ranks[best]
        held_out.accept(held_out.adding(left[best]))
        chosen.append(left.pop(best))
    return tuple(sorted(chosen))
