"""Compiled trees of a network: of the whole, or of what a question needs of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.graph.separation import ancestors
from bayleaf.inference.evidence import Evidence, ImpossibleEvidenceError
from bayleaf.inference.factorisation import Factorisation, cut_network
from bayleaf.inference.junction_tree import (
    Findings,
    JunctionTree,
    Propagation,
    TooWideError,
)
from bayleaf.inference.states import check_integer

# Parts of a network that are kept for the next question.
_KEPT_PARTS = 32


@dataclass(frozen=True, eq=False)
class Part:
    """A compiled tree over some variables of a network, known by their old indices."""

    network: Factorisation
    tree: JunctionTree
    members: tuple[int, ...]  # indices in the whole network

    @cached_property
    def positions(self) -> dict[int, int]:
        """Index in the part of each variable, by its index in the whole network."""
        return {member: place for place, member in enumerate(self.members)}

    @cached_property
    def keeps_indices(self) -> bool:
        """Whether its variables have the indices of the whole network."""
        return self.members == tuple(range(len(self.members)))

    def inside(self, findings: Findings) -> Findings:
        """Findings by the part's own indices."""
        if self.keeps_indices:
            return findings
        places = self.positions
        return {places[variable]: value for variable, value in findings.items()}

    def log_probability(self, evidence: Evidence) -> float:
        """Natural logarithm of P(evidence), minus infinity if it is impossible."""
        return self.tree.log_evidence(self.inside(evidence.findings))

    def propagate(
        self, findings: Findings, wanted: Sequence[int] | None = None
    ) -> Propagation:
        """Propagate states or likelihoods by indices of the whole network."""
        if wanted is not None and len(wanted) == len(self.members):
            wanted = None
        if wanted is not None and not self.keeps_indices:
            wanted = [self.positions[variable] for variable in wanted]
        return self.tree.propagate(self.inside(findings), wanted)

    def codes(self, codes: Codes) -> Codes:
        """The columns of the part's variables."""
        if len(self.members) == codes.n_variables:
            return codes
        columns: list[NDArray[np.integer[Any]]] = [
            codes.column(member) for member in self.members
        ]
        cards = [codes.cards[member] for member in self.members]
        return Codes.from_columns(columns, cards)


class NetworkTrees:
    """The compiled tree of a network, made once, or trees of parts of it.

    Where the whole network needs too large a table, a question is answered from the
    part that matters to it: arcs that leave variables with a known state are cut (the
    children's distributions are those of that state), then everything but ancestors of
    targets and evidence is left out (Shachter 1988, "Probabilistic inference and
    influence diagrams", section 4). Both leave P(evidence) as it is.
    """

    def __init__(
        self, network: Factorisation, *, max_table_cells: int = 20_000_000
    ) -> None:
        if not len(network.domain):
            raise ValueError("the network has no variables; give it some to ask about")
        check_integer("max_table_cells", max_table_cells)
        self.network = network
        self.domain = network.domain
        self.max_table_cells = max_table_cells
        self._whole: Part | None = None
        self._whole_refusal = ""
        self._parts: OrderedDict[Any, Part | str] = OrderedDict()

    def part(self, evidence: Evidence, targets: Iterable[int] | None = None) -> Part:
        """A compiled tree for the targets, by default all, under the evidence.

        It stays right for more evidence. TooWideError if even the part that matters
        needs a table of more than `max_table_cells` cells.
        """
        whole = self._compiled_whole()
        if whole is not None:
            return whole
        wanted = range(len(self.domain)) if targets is None else targets
        asked = frozenset(wanted) | evidence.findings.keys()
        if not asked:
            # Nothing is known or asked; a variable without parents sums to one too.
            asked = frozenset(self.network.dag.order[:1])
        return self._kept_part(ancestors(self.network.dag, asked), evidence.hard)

    def part_of(self, variables: Iterable[int]) -> Part:
        """A compiled tree over some variables, whatever evidence they may have.

        Errors as `part`.
        """
        return self.part(Evidence(self.domain, ()), variables)

    def upper_part(self, variables: Iterable[int]) -> Part:
        """A compiled tree over some variables and their ancestors, and no others.

        Errors as `part`.
        """
        kept = ancestors(self.network.dag, variables)
        if len(kept) == len(self.domain):
            return self.part_of(kept)
        return self._kept_part(kept, {})

    def parts(
        self, evidence: Evidence, targets: Sequence[int], together: Sequence[int] = ()
    ) -> Iterator[tuple[Sequence[int], Part]]:
        """Compiled trees for some targets each, for all in the end.

        Where one tree for all targets would be too large, they are halved along the
        graph until each half fits. Every tree contains `together`. TooWideError if the
        part that matters to a single target is too large.
        """
        whole = self._compiled_whole()
        if whole is not None:
            yield targets, whole
            return
        rank = {node: i for i, node in enumerate(self.network.dag.order)}
        waiting = [sorted(targets, key=rank.__getitem__)]
        is_tried = False
        while waiting:
            group = waiting.pop()
            try:
                part = self.part(evidence, [*together, *group])
            except TooWideError:
                if len(group) < 2:
                    raise
                if not is_tried:
                    # What fails for one target fails for all, so begin with the one
                    # that has most variables before it.
                    is_tried = True
                    self.part(evidence, [*together, group[-1]])
                half = len(group) // 2
                waiting += [group[half:], group[:half]]
                continue
            yield group, part

    def log_probability(self, evidence: Evidence) -> float:
        """Natural logarithm of P(evidence), minus infinity if it is impossible."""
        return self.part(evidence, ()).log_probability(evidence)

    def impossible(self, evidence: Evidence) -> ImpossibleEvidenceError:
        """The error for evidence whose probability is zero.

        Items without which the rest would need too large a table are named as well.
        """

        def log_probability(rest: Evidence) -> float:
            try:
                return self.log_probability(rest)
            except TooWideError:
                return 0.0

        return evidence.impossible(log_probability)

    def _compiled_whole(self) -> Part | None:
        """The tree of the whole network; None if a table would be too large."""
        if self._whole is None and not self._whole_refusal:
            try:
                everything = tuple(range(len(self.domain)))
                self._whole = self._compiled(self.network, everything)
            except TooWideError as error:
                self._whole_refusal = str(error)
        return self._whole

    def _kept_part(self, kept: Iterable[int], hard: Mapping[int, int]) -> Part:
        """The tree of some variables, or the error that says why there is none."""
        members = tuple(sorted(kept))
        key = (members, frozenset(hard.items()))
        if key not in self._parts:
            self._parts[key] = self._compiled_part(members, hard)
            if len(self._parts) > _KEPT_PARTS:
                self._parts.popitem(last=False)
        self._parts.move_to_end(key)
        part = self._parts[key]
        if isinstance(part, str):
            raise TooWideError(part)
        return part

    def _compiled_part(
        self, members: tuple[int, ...], hard: Mapping[int, int]
    ) -> Part | str:
        """The tree of some variables, or the sentence that says why there is none."""
        if len(members) == len(self.domain) and not hard:
            # Nothing is cut or left out.
            return self._whole_refusal
        try:
            return self._compiled(cut_network(self.network, members, hard), members)
        except TooWideError as error:
            return str(error)

    def _compiled(self, network: Factorisation, members: tuple[int, ...]) -> Part:
        """A network's tree within the limit."""
        tree = JunctionTree.compile(network, max_table_cells=self.max_table_cells)
        return Part(network, tree, members)
