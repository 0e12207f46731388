"""What a junction tree found under some evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayleaf.models.findings import Findings

if TYPE_CHECKING:
    from bayleaf.models.junction_tree import JunctionTree

Floats = NDArray[np.float64]


class Propagation:
    """Posteriors given some evidence.

    Parameters
    ----------
    tree : JunctionTree
        The tree that was asked.
    findings : mapping from int to int or ndarray of shape (card,)
        What is known.
    wanted : sequence of int or None
        Variables whose marginals were asked for; None for all.
    log_evidence : float
        Log probability (nats) of the evidence; minus infinity if it is impossible,
        and then there are no posteriors.
    marginals : ndarray of shape (n_states,), dtype float64
        Marginals of all variables, one after another.
    """

    def __init__(
        self,
        tree: JunctionTree,
        findings: Findings,
        wanted: Sequence[int] | None,
        log_evidence: float,
        marginals: Floats,
    ) -> None:
        self.tree = tree
        self.log_evidence = log_evidence
        self._findings = findings
        self._wanted = wanted
        self._marginals = marginals
        self._families: Sequence[Floats] | None = None

    def marginal(self, variable: int) -> Floats:
        """Posterior of one variable, shape (card,), read-only.

        Raises
        ------
        ValueError
            If the evidence is impossible, or the marginal was not asked for.
        """
        self._check_possible()
        if self._wanted is not None and variable not in self._wanted:
            raise ValueError(f"the marginal of variable {variable} was not asked for")
        return self._marginals[self.tree.state_places[variable]]

    def family(self, node: int) -> Floats:
        """Joint posterior of a variable's parents and itself, shaped like its CPD.

        Raises
        ------
        ValueError
            If the evidence is impossible, or the family's full table, which it does
            not need as long as nobody asks for it, makes a clique too large.
        """
        self._check_possible()
        if self.tree.is_apart(node):
            return self.tree.with_whole([node]).families(self._findings)[node]
        if self._families is None:
            self._families = self.tree.families(self._findings)
        return self._families[node]

    def _check_possible(self) -> None:
        """Refuse to answer where there is no answer."""
        if self.log_evidence == -np.inf:
            raise ValueError(
                "the evidence is impossible, so there are no posteriors; leave some "
                "of it out"
            )
