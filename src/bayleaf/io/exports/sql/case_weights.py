"""What the terms of an average count in a row, by the features that it knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from bayleaf.io.exports.cells import FeatureCells
from bayleaf.io.exports.sql.look_ups import batches
from bayleaf.io.exports.sql.stages import Columns, Rows, kept
from bayleaf.io.exports.sql.words import (
    ZERO,
    both,
    case,
    highest,
    lowest,
    nats,
    num,
    plus,
)
from bayleaf.scoring.partial_cases import (
    NETWORKS_WITHOUT_CHANGE,
    Floats,
    deeper_weights,
)
from bayleaf.scoring.terms import Counts, Density, Look, ScoringProgram, Term, Tree

# Features whose flags are one integer, and weights in a stage.
_FLAGS_PER_KEY, _WEIGHTS_PER_STAGE = 60, 1000


class CaseWeights:
    """Weights by the set of features that a row knows, computed once for each set.

    Factors are columns that `Rows.factors` joins to the rows, by feature and number of
    parents for what these change, by feature and -1 for all other terms.
    """

    def __init__(
        self, rows: Rows, program: ScoringProgram, cells: Sequence[FeatureCells]
    ) -> None:
        assert program.sharing is not None
        self._sharing = program.sharing
        self._alone = program.sharing.rule.alone_weights(program.sharing.weights)
        # Flags of the features that are not known in all rows.
        self._flags = {
            v: case([(f"c{v} < {cell.variable.n_states}", "1")], "0")
            for v, cell in enumerate(cells)
            if cell.may_be_unknown
        }
        flags = [*self._flags.values()]
        keys: Columns = {}
        for first in range(0, len(flags), _FLAGS_PER_KEY):
            bits = enumerate(flags[first : first + _FLAGS_PER_KEY])
            keys[f"u{len(keys)}"] = plus(*(f"{own} * {1 << bit}" for bit, own in bits))
        rows.extend(keys)
        sets = rows.branch()
        flags_of = {f"k{v}": flag for v, flag in self._flags.items()}
        sets.select({f"s{key}": key for key in keys} | flags_of)
        sets.group([*sets.columns], {})
        self._add_shares(sets)
        self.base = self._base(program.base)
        self.factors: dict[tuple[int, int], str] = {}
        weighed = sorted(self._weighed(program.terms))
        parts = batches(weighed, lambda own: len(own) <= _WEIGHTS_PER_STAGE)
        joins: list[str] = []
        for part in [*parts] or [[]]:
            columns = {"h": "h"} if not joins else {}
            columns |= {f"x{v}_{n + 1}": self._weight(v, n) for v, n in part}
            self.factors |= {(v, n): f"kw{len(joins)}.x{v}_{n + 1}" for v, n in part}
            joins.append(self._joined(sets, len(joins), columns, keys))
        rows.factors, rows.factor_keys = "".join(joins), keys

    def _joined(self, sets: Rows, number: int, columns: Columns, keys: Columns) -> str:
        """A join of some columns of the sets to the rows."""
        stage, name = sets.branch(), f"kw{number}"
        stage.select({**kept(f"s{key}" for key in keys), **columns})
        stage.keep_results()
        on = both(*(f"{name}.s{key} = {key}" for key in keys))
        return f" JOIN {stage.stage} AS {name} ON {on}"

    def _weighed(self, terms: Sequence[Term]) -> set[tuple[int, int]]:
        """The features and numbers of parents that some terms need."""
        weighed: set[tuple[int, int]] = set()
        for term in terms:
            if isinstance(term, Counts):
                weighed |= {(term.features[0], n) for n in range(len(term.features))}
            elif isinstance(term, Tree):
                weighed |= {(v, -1) for v in term.features.tolist() if v >= 0}
            elif isinstance(term, Look):
                weighed.add((term.owner, -1))
            elif isinstance(term, Density):
                weighed.add((term.features[0], -1))
        return weighed

    def _base(self, learned: Floats) -> list[str]:
        """The base of each class: the log prior, and as learned where all is known."""
        values = []
        for prior, own in zip(self._sharing.prior.tolist(), learned.tolist()):
            is_same = np.isinf(prior) or prior == own
            step = [] if is_same else [f"kw0.h * {num(own - prior)}"]
            values.append(plus(nats(own if is_same else prior), *step))
        return values

    def _add_shares(self, sets: Rows) -> None:
        """Add h of the base, and a{feature} of how far a feature is as if alone."""
        rule, flags = self._sharing.rule, self._flags
        strengths, total = rule.strengths, float(rule.strengths.sum())
        certain = [own for v, own in enumerate(strengths.tolist()) if v not in flags]
        least = max(certain, default=0.0)
        parts = [case([(f"k{v} = 1", num(strengths[v]))], ZERO) for v in flags]
        all_known = both(*(f"k{v} = 1" for v in flags))
        summed = case([(all_known, num(total))], plus(num(float(sum(certain))), *parts))
        by_strength = sorted(flags, key=lambda v: -strengths[v])
        stronger = [
            (f"k{v} = 1", num(strengths[v]))
            for v in by_strength
            if strengths[v] > least
        ]
        sets.extend({"g": summed, "m": case(stronger, num(least))})
        if len(strengths) < 2:
            beyond, others = {"h": case([(all_known, num(1.0))], ZERO)}, [num(1.0)]
        else:
            beyond = {"h": f"((g - m) / {num(total - strengths.max())})"}
            others = [f"((g - {num(own)}) / {num(total - own)})" for own in strengths]
        columns = {f"a{v}": own for v, own in enumerate(others)} | beyond
        clipped = {
            k: highest([lowest([v, num(1.0)]), ZERO]) for k, v in columns.items()
        }
        sets.extend(clipped)
        bent = {
            f"a{v}": f"(1 - {_bent(f'a{v}', rule.rate)})" for v in range(len(others))
        }
        sets.extend(bent | {"h": _bent("h", rule.base_rate)})

    def _weight(self, feature: int, n_parents: int) -> str:
        """Weight of what parents of a feature change, or of its other terms (-1)."""
        sharing = self._sharing
        weights, alone = sharing.weights[feature], f"a{feature}"
        if n_parents < 0:
            rate = -1.0
            if feature in sharing.rule.monotone and weights.sum():
                rate += 1.0 / float(weights.sum())
            return f"(1 + {num(rate)} * {alone})"
        whole = float(deeper_weights(weights)[n_parents])
        single = float(self._alone[feature, n_parents])
        mixed = f"({num(whole)} + {num(single - whole)} * {alone})"
        # Networks by the parents that need not be known.
        n_networks = len(sharing.parents)
        needed = Counter(
            frozenset(own).intersection(self._flags)
            for own in sharing.parents[:, feature, :n_parents].tolist()
        )
        n_certain = needed.pop(frozenset(), 0)
        if n_certain == n_networks:
            return f"({mixed} / {n_networks})"
        products = (
            " * ".join([str(count), *(f"k{v}" for v in sorted(own))])
            for own, count in needed.items()
        )
        counted = plus(num(n_certain + NETWORKS_WITHOUT_CHANGE), *products)
        # At least one network less than all, or all.
        return f"({mixed} / {lowest([counted, num(float(n_networks))])})"


def _bent(share: str, rate: float) -> str:
    """Zero at zero, one at one; above the share for rates above one."""
    part = f"{num(rate)} * {share}"
    return f"({part} / (1 - {share} + {part}))"
