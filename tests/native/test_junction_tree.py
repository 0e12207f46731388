from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from bayleaf.native.inference import CompiledTree, Known


def chain(**changes) -> CompiledTree:
    """P(0) P(1 | 0) P(2 | 1), two states each, in cliques of two."""
    parts = {
        "cards": np.array([2, 2, 2]),
        "rank": np.array([0, 1, 2]),
        "family_starts": np.array([0, 1, 3, 5]),
        "families": np.array([0, 0, 1, 1, 2]),
        "cells": np.array([0.5, 0.5, 0.9, 0.1, 0.2, 0.8, 0.7, 0.3, 0.4, 0.6]),
        "sums_to_one": np.ones(3, dtype=np.bool_),
        "observed": np.zeros(3, dtype=np.bool_),
        "clique_starts": np.array([0, 2, 4]),
        "cliques": np.array([0, 1, 1, 2]),
        "edges": np.array([[0, 1]]),
        "target": -1,
        "with_prior": True,
    }
    return CompiledTree(*{**parts, **changes}.values())


def test_a_tree_cannot_be_pickled_or_copied() -> None:
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="CompiledTree cannot be pickled"):
            copied(chain())


def test_copies_of_what_is_known_have_arrays_of_their_own() -> None:
    known = Known([0, 1, 2, -1], [np.array([0.25, 1.0])])
    expected = chain().marginals(known)
    for copied in (copy.copy, copy.deepcopy, lambda k: pickle.loads(pickle.dumps(k))):
        other = copied(known)
        log_evidence, marginals = chain().marginals(other)
        assert log_evidence == expected[0]
        assert np.array_equal(marginals, expected[1])
        assert other.arguments[0] != known.arguments[0]


def test_a_tree_gives_its_memory_back() -> None:
    tree = chain()
    tree.log_evidence(Known([], []))
    assert len(tree._idle) == 1
    with pytest.raises(ValueError, match="no such variable"):
        tree.log_evidence(Known([3, 0], []))
    assert not tree._idle
    assert tree.log_evidence(Known([0, 1], [])) == pytest.approx(np.log(0.5))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cards": np.array([2, 2, 0])}, "no state"),
        ({"rank": np.array([0, 1, 1])}, "order of axes"),
        ({"rank": np.array([0, 1, 3])}, "order of axes"),
        ({"families": np.array([0, 0, 1, 1, 3])}, "no such variable"),
        ({"families": np.array([0, 1, 1, 1, 2])}, "mentions a variable twice"),
        ({"families": np.array([1, 0, 1, 1, 2])}, "does not mention its variable"),
        ({"families": np.array([0, 0, 1, 0, 2])}, "no clique holds a family"),
        ({"family_starts": np.array([0, 3, 1, 5])}, "ends before it begins"),
        ({"family_starts": np.array([0, 1, 3, 6])}, "lies outside"),
        ({"cells": np.ones(9)}, "too few cells"),
        ({"cliques": np.array([0, 1, 1, 1])}, "mentions a variable twice"),
        ({"edges": np.array([[0, 2]])}, "an edge links what is no clique"),
        ({"target": 3}, "no such variable"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changes, message) -> None:
    with pytest.raises(ValueError, match=message):
        chain(**changes)


@pytest.mark.parametrize(
    ("states", "likelihoods", "message"),
    [
        ([-1, 0], [], "no such variable"),
        ([0, 2], [], "no such state"),
        ([0, 1, 0, 1], [], "names a variable twice"),
        ([0, -1], [], "too few likelihoods"),
        ([0, -1], [np.array([-1.0, 1.0])], "finite and not negative"),
        ([0, -1, 1, -1], [np.zeros(2), np.array([np.inf, 1.0])], "finite and not"),
    ],
)
def test_questions_that_do_not_fit_are_refused(states, likelihoods, message) -> None:
    tree, known = chain(), Known(states, likelihoods)
    for ask in (tree.marginals, tree.families, tree.most_probable, tree.cells):
        with pytest.raises(ValueError, match=message):
            ask(known)


def test_variables_that_are_always_observed_have_to_be_known() -> None:
    tree = chain(
        observed=np.array([False, True, False]),
        clique_starts=np.array([0, 1, 2, 3]),
        cliques=np.array([0, 1, 2]),
        edges=np.zeros((0, 2), dtype=np.int64),
        with_prior=False,
    )
    log_evidence, marginals = tree.marginals(Known([1, 0], []))
    assert log_evidence == pytest.approx(np.log(0.5 * 0.9 + 0.5 * 0.2))
    assert marginals[:2] == pytest.approx([0.45 / 0.55, 0.1 / 0.55], abs=1e-15)
    assert marginals[4:] == pytest.approx([0.7, 0.3], abs=1e-15)
    with pytest.raises(ValueError, match="has to be observed"):
        tree.marginals(Known([0, 0], []))
