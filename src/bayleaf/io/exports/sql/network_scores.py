"""Class scores of a network: its families looked up, missing cells summed out.

Where latent variables join few features, the sum is a table over the codes of each such
block, those of missing cells included. Other rows that miss a parent of something known
become one row for each of its states; as soon as all children of a variable are looked
up, the rows that differ in it alone are added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import prod

import numpy as np

from bayleaf.graph.separation import descendants
from bayleaf.io.exports.sql.look_ups import Table, add_terms, add_up, check_size
from bayleaf.io.exports.sql.stages import Columns, Rows, kept
from bayleaf.io.exports.sql.words import ZERO, both, case, either, highest, nats
from bayleaf.scoring.term_values import joint_scores, linked_factors
from bayleaf.scoring.terms import SumOut
from bayleaf.wording import quoted

# Cells of a table with the class as one axis.
_MAX_CELLS = 2_000_000
# Joint states of variables that are summed out together.
_MAX_OPEN = 1_000
# Joint codes of a block.
_MAX_CODES = 20_000

Phase = tuple[list[int], list[int], list[int]]


class ScoredNetwork:
    """A network whose last variable is the class, as tables to look up.

    The names of the features and the class are for messages.
    """

    def __init__(self, term: SumOut, names: Sequence[str | int]) -> None:
        self._names, self.term = names, term
        self.cards = term.cards
        self.label, self.n_classes = len(self.cards) - 1, self.cards[-1]
        self.n_features = len(names) - 1
        self.codes = [f"c{feature}" for feature in range(self.n_features)]
        self.latents = range(self.n_features, self.label)
        self.order = tuple(v for v in term.order if v < self.n_features)
        self.factors = {factor.child: factor for factor in term.factors}
        self.parents = [
            tuple(p for p in self.factors[v].variables if p not in (v, self.label))
            for v in range(len(self.cards))
        ]
        # The class is a child like others.
        self.children = [set(own) for own in term.network.dag.children()]
        self.class_is_root = not self.parents[self.label]
        # Score of each class before any family is looked up, nats.
        self.base = np.zeros(self.n_classes)
        if self.class_is_root:
            self.base = self.factors[self.label].logs

    @cached_property
    def inner(self) -> tuple[int, ...]:
        """Variables that may have to be summed out: latents, and parents of others."""
        return tuple(
            v for v in range(self.label) if self.children[v] or v >= self.n_features
        )

    def table(self, variable: int, columns: Sequence[str]) -> Table:
        """The family of a variable by the columns of all variables."""
        family, logs = self.factors[variable].variables, self.factors[variable].logs
        axes = [*self.parents[variable], *({variable} - {self.label})]
        cells = prod(self.cards[v] for v in axes) * self.n_classes
        if cells > _MAX_CELLS:
            name = quoted(self._names[min(variable, self.n_features)])
            if variable in self.latents:
                name = "a latent variable"
            raise ValueError(
                f"the table of {name} has {cells:,} cells, too many for a query; "
                "fit with fewer parents or coarser intervals"
            )
        if self.label not in family:
            family, logs = (*family, self.label), logs[..., None]
        values = np.transpose(logs, [family.index(v) for v in (*axes, self.label)])
        shape = (*values.shape[:-1], self.n_classes)
        return Table.dense([columns[v] for v in axes], np.broadcast_to(values, shape))

    def is_open(self, variable: int, columns: Sequence[str]) -> str:
        """Whether a variable is missing, and something below it is known."""
        below = descendants(self.term.network.dag, [variable]) - {variable}
        features = sorted(v for v in below if v < self.n_features)
        seen = either(*(f"{columns[v]} < {self.cards[v]}" for v in features))
        conditions = [] if self.label in below else [seen]
        if variable < self.n_features:
            conditions.append(f"{columns[variable]} = {self.cards[variable]}")
        return both(*conditions)


def add_network(rows: Rows, scored: ScoredNetwork, limit: int) -> str:
    """Score rows by a network; columns as in `add_terms`.

    Returns a remark for the reader of the query, empty if there is nothing to say.
    """
    codes, parent_missing = scored.codes, list[str]()
    terms = _block_terms(rows, scored)
    if not terms:
        if scored.latents or (rows.is_reported and not scored.class_is_root):
            return _add_sums(rows, scored, limit)
        variables = range(scored.n_features + (not scored.class_is_root))
        terms = [(rows.slot(v), scored.table(v, codes)) for v in variables]
        parent_missing = [scored.is_open(v, codes) for v in scored.inner]
    check_size(table for _, table in terms)
    remark, carried, others = "", rows.columns, []
    if parent_missing:
        rows.extend({"t": case([(either(*parent_missing), "1")], "0")})
        others.append(rows.branch())
        others[0].keep(carried, "t = 1")
        remark = _add_sums(others[0], scored, limit)
        rows.keep(carried, "t = 0")
    add_terms(
        rows,
        terms,
        scored.n_features,
        scored.n_classes,
        list(map(nats, scored.base.tolist())),
    )
    for other in others:
        rows.union(other)
    return remark


# ---- blocks


@np.errstate(invalid="ignore")
def _block_terms(rows: Rows, scored: ScoredNetwork) -> list[tuple[str, Table]]:
    """Tables of all blocks; none if one of them is too large, or without latents."""
    if not scored.latents or not scored.class_is_root:
        return []
    blocks = [
        ([v for v in scored.order if v in members], factors)
        for members, factors in linked_factors(scored.term)
        if members
    ]
    if max(prod(scored.cards[v] + 1 for v in own) for own, _ in blocks) > _MAX_CODES:
        return []
    terms: list[tuple[str, Table]] = []
    for features, factors in blocks:
        options = {v: np.arange(scored.cards[v] + 1) for v in features}
        scores = joint_scores(scored.cards, factors, options)
        n_features, whole = len(features), np.moveaxis(scores, 0, -1)
        # Exactly zero where all features are missing.
        whole = whole - whole[(-1,) * n_features]
        for n in range(1 if rows.is_reported else max(1, n_features), n_features + 1):
            codes = (slice(None),) * n + (-1,) * (n_features - n)
            values = whole[codes]
            if rows.is_reported:
                # What the last feature changes; nothing where it is missing.
                change = values - values[..., -1:, :]
                values = np.where(np.isnan(change), 0.0, change)
            slot = rows.slot(features[n - 1])
            names = [scored.codes[v] for v in features[:n]]
            terms.append((slot, Table.dense(names, values)))
    return terms


# ---- missing cells


def _add_sums(rows: Rows, scored: ScoredNetwork, limit: int) -> str:
    """Score rows with missing cells; columns as in `add_terms`.

    If reported, all prefixes of the features are scored. A row that would become more
    rows than the limit has no score. Returns a remark on that, or "".
    """
    cards, classes = scored.cards, range(scored.n_classes)
    phases = [*_phases(scored, min(limit, _MAX_OPEN))]
    wide = [scope for _, scope, _ in phases if prod(cards[v] for v in scope) > limit]
    carried = list(rows.columns)
    rows.number()
    codes = _add_prefixes(rows, scored) if rows.is_reported else scored.codes
    codes = [*codes, *(str(cards[v]) for v in scored.latents)]
    opened: Columns = {}
    sizes: dict[int, str] = {}
    for v in scored.inner:
        # The code of a variable, or one more than that of missing cells: all states.
        all_states = f"{cards[v] + 1}"
        opened[f"e{v}"] = case([(scored.is_open(v, codes), all_states)], codes[v])
        sizes[v] = case([(f"e{v} = {all_states}", f"{cards[v]}e0")], "1e0")
    rows.extend(opened)
    if wide:
        widths = [" * ".join(sizes[v] for v in scope) for scope in wide]
        rows.extend({"w": highest(widths)})
        if rows.is_reported:
            # All prefixes of a row are scored, or none.
            rows.extend({"w": "MAX(w) OVER (PARTITION BY r)"})
        carried.append("w")
        fits = f"w <= {limit}e0"
        rows.extend({f"e{v}": case([(fits, f"e{v}")], codes[v]) for v in scored.inner})
    rows.extend({f"s_{c}": nats(base) for c, base in enumerate(scored.base)})
    _eliminate(rows, scored, phases, codes)
    scores = [f"s_{c}" for c in classes]
    if rows.is_reported:
        _add_changes(rows, scored, carried)
        slots = ["b", *(f"f{v}" for v in range(scored.n_features))]
        scores += [f"{slot}_{c}" for slot in slots for c in classes]
    remark = ""
    if wide:
        rows.extend({key: case([(fits, key)]) for key in scores})
        carried.remove("w")
        remark = (
            "rows whose missing cells would have to be summed over more than "
            f"{limit} combinations at a time have no result"
        )
    rows.select(kept([*carried, *scores]))
    return remark


def _add_prefixes(rows: Rows, scored: ScoredNetwork) -> list[str]:
    """Rows for every number st of features that are known, in their order."""
    table = rows.constants({"st": list(range(len(scored.order) + 1))})
    codes: Columns = {}
    for index, feature in enumerate(scored.order):
        is_hidden = f"st <= {index}", f"{scored.cards[feature]}"
        codes[f"m{feature}"] = case([is_hidden], f"c{feature}")
    rows.extend({"st": "st", **codes}, f" CROSS JOIN {table}")
    return [f"m{feature}" for feature in range(scored.n_features)]


def _eliminate(
    rows: Rows, scored: ScoredNetwork, phases: Sequence[Phase], columns: Sequence[str]
) -> None:
    """Look families up and add states up."""
    columns = [*columns, *(f"z{v}" for v in scored.latents)]
    slots = [f"s_{c}" for c in range(scored.n_classes)]
    tables: list[Table] = []
    for phase, opened, left in phases:
        joins, new = "", [v for v in phase if v in scored.inner]
        for v in new:
            # A row for each state of a variable that is summed out; else for its own.
            card = scored.cards[v]
            states = rows.constants({"k": [*range(card + 1)]})
            fits = f"q{v}.k = e{v} OR (e{v} = {card + 1} AND q{v}.k < {card})"
            joins += f" JOIN {states} AS q{v} ON {fits}"
            columns[v] = f"z{v}"
        if new:
            rows.extend({f"z{v}": f"q{v}.k" for v in new}, joins)
        own = [scored.table(v, columns) for v in phase]
        add_up(rows, [("s", table) for table in own], scored.n_classes)
        tables += own
        if left != opened:
            summed = {*slots, *(f"z{v}" for v in opened if v not in left)}
            within = ["r", *({"st"} & {*rows.columns}), *(f"z{v}" for v in left)]
            rows.log_sums(slots, within, [k for k in rows.columns if k not in summed])
    check_size(tables)


def _add_changes(rows: Rows, scored: ScoredNetwork, carried: list[str]) -> None:
    """One row again: what each feature changed is what it adds."""
    columns: Columns = {}
    for c in range(scored.n_classes):
        steps = range(len(scored.order) + 1)
        score = [f"MAX({case([(f'st = {step}', f's_{c}')])})" for step in steps]
        columns[f"s_{c}"], columns[f"b_{c}"] = score[-1], score[0]
        for index, v in enumerate(scored.order):
            change = f"{score[index + 1]} - {score[index]}"
            missing = f"c{v} = {scored.cards[v]}"
            columns[f"f{v}_{c}"] = case([(missing, ZERO)], change)
    rows.group(["r", *carried], columns)


def _phases(scored: ScoredNetwork, limit: int) -> Iterator[Phase]:
    """Variables that are looked up together, those open then, and those still after.

    Parents come first, and such that few are open at a time.
    """
    todo = {*range(scored.label + (not scored.class_is_root))}
    done: list[int] = []
    phase: list[int] = []
    opened: list[int] = []

    def left(variables: Iterable[int], known: Sequence[int]) -> list[int]:
        return [v for v in variables if not scored.children[v] <= {*known}]

    def cost(variable: int) -> tuple[int, int]:
        known = [*done, variable]
        still_open = left([v for v in scored.inner if v in known], known)
        return prod(scored.cards[v] for v in still_open), variable

    while todo:
        ready = [v for v in todo if {*scored.parents[v]} <= {*done}]
        variable = min(ready, key=cost)
        new = [variable] if variable in scored.inner else []
        if phase and prod(scored.cards[v] for v in [*opened, *new]) > limit:
            after = left(opened, done)
            yield phase, opened, after
            phase, opened = [], after
        phase, opened = [*phase, variable], [*opened, *new]
        todo.remove(variable)
        done.append(variable)
    yield phase, opened, []
