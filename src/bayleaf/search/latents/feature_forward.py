"""Children of the class added one by one while held-out rows are predicted better."""

from __future__ import annotations

from collections.abc import Sequence

from bayleaf.search.latents.wrapper_scores import HeldOut


def forward_selection(held_out: HeldOut, children: Sequence[int]) -> tuple[int, ...]:
    """Choose class children by the wrapper score.

    Parameters
    ----------
    held_out : HeldOut
        Scores of the class prior alone; left with those of the choice.
    children : sequence of int
        Nodes to choose among.

    Returns
    -------
    tuple of int
        Nodes whose addition, best first, made the score strictly better, in increasing
        order. Of equally good ones the first is added.

    References
    ----------
    Langseth, H., Nielsen, T. D. (2006). Classification using hierarchical naive Bayes
    models. Machine Learning 63, 135-159, sections 6.2 and 7.
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
