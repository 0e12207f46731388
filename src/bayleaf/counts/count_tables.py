"""Counts without rows: tables that add and scale, and answers kept for later rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, combinations
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.pairs import PairCounts, family_table
from bayleaf.counts.source import Counts, CountSource, Family
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.results.result import Shown
from bayleaf.wording import brief, brief_fields, name_list

Places = NDArray[np.intp]
# What rounding leaves, by the count, of fractional counts that are taken out again.
_ROUNDING = 1e-9
# Up to this number floats count rows exactly.
_MAX_COUNT = float(1 << 53)
# What rounding leaves of margins of fractional counts, by the largest count.
_MARGIN_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class MergeableCounts(Shown):
    """Counts of a class with all pairs of features, and of some larger families.

    A count source without rows: families of the class and at most two features come
    from the pairs, others must be among the families or sums of one of them.
    """

    names: tuple[str | int, ...]  # of the variables, the class last
    cards: tuple[int, ...]
    by_class: Counts  # (n_classes,)
    # Of every feature with every one, (n_classes, n_places, n_places): places are its
    # states and then its missing cells.
    pairs: Counts
    # Other tables, each (*parent cards, child card).
    families: Mapping[Family, Counts] = field(default_factory=dict)
    has_class: ClassVar[bool] = True
    n_jobs: ClassVar[int] = 1

    __repr__ = brief_fields

    def __getstate__(self) -> dict[str, Any]:
        return pairs_of_mappings(self, "families")

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(mappings_of_pairs(state, "families"))

    @classmethod
    def of(
        cls,
        source: CountSource,
        names: Sequence[str | int],
        families: Sequence[Family] = (),
    ) -> MergeableCounts:
        """Count all pairs of features, and some families, in a table with a class."""
        features = range(source.class_index)
        wanted = [f for f in families if len(set(f) - {source.class_index}) > 2]
        return cls(
            tuple(names),
            source.cards,
            source.class_counts(),
            source.pair_counts(features, features).dense(),
            dict(zip(wanted, source.family_counts(wanted), strict=True)),
        )

    @property
    def class_index(self) -> int:
        """Index of the class variable: the last one."""
        return len(self.cards) - 1

    @cached_property
    def starts(self) -> list[int]:
        """Where the places of each feature begin, and their number."""
        return [0, *accumulate(card + 1 for card in self.cards[:-1])]

    # ---- as a source of counts

    def class_counts(self) -> Counts:
        """Total weight of each class, shape (n_classes,)."""
        return self.by_class.copy()

    def family_counts(self, families: Sequence[Family]) -> list[Counts]:
        """Weight of each joint state of some families, see `CountSource`.

        ValueError names the variables of a family that follows from no table.
        """
        return [self._family(tuple(int(v) for v in family)) for family in families]

    def pair_counts(self, left: Sequence[int], right: Sequence[int]) -> PairCounts:
        """Class-pair counts, see `CountSource`."""
        rows, columns = self._places(left), self._places(right)
        dense = self.pairs[:, rows[:, None], columns]
        return PairCounts.from_dense(tuple(left), tuple(right), self.cards, dense)

    def add_up(self, block_function: Callable[[Codes], Counts]) -> Counts:
        """Refuse: only counts are kept."""
        raise TypeError("counts hold no rows; fit the model to a table")

    def rows(self) -> Codes:
        """Refuse: only counts are kept."""
        raise TypeError("counts hold no rows; fit the model to a table")

    def _places(self, features: Sequence[int]) -> Places:
        """Places of all states and missing cells of some features."""
        spans = [np.arange(self.starts[f], self.starts[f + 1]) for f in features]
        return np.concatenate([np.zeros(0, np.intp), *spans])

    def _family(self, family: Family) -> Counts:
        """One table."""
        features = [v for v in family if v != self.class_index]
        if len(features) > 2:
            return self._from_larger(family)
        if not features:
            return self.by_class.copy()
        spans = [
            slice(self.starts[f], self.starts[f] + self.cards[f]) for f in features
        ]
        if len(features) == 1:
            # What a feature has in common with itself lies on the diagonal.
            own = self.pairs[:, spans[0], spans[0]]
            table = np.diagonal(own, axis1=1, axis2=2)
        else:
            table = self.pairs[:, spans[0], spans[1]]
        return family_table(table, features, self.class_index, family)

    def _from_larger(self, family: Family) -> Counts:
        """A table from a kept one with the same variables, or more."""
        if family in self.families:
            return self.families[family].copy()
        for kept, table in self.families.items():
            if set(kept) == set(family):
                return table.transpose([kept.index(v) for v in family]).copy()
        names = name_list([str(self.names[v]) for v in family])
        raise ValueError(
            f"the counts lack the table of {names}; count like a model that has this "
            "family, or use fewer parents"
        )

    # ---- arithmetic

    def plus(self, other: MergeableCounts) -> MergeableCounts:
        """The sum over the same states.

        Families are those that both have.
        """
        return self._with(other, np.add)

    def minus(self, other: MergeableCounts) -> MergeableCounts:
        """The difference over the same states; what only rounding leaves is zero.

        Families are those that both have.
        """
        return self._with(other, _difference)

    def _with(
        self, other: MergeableCounts, combined: Callable[[Counts, Counts], Counts]
    ) -> MergeableCounts:
        """Each table combined with the other's."""
        shared = [family for family in self.families if family in other.families]
        result = replace(
            self,
            by_class=combined(self.by_class, other.by_class),
            pairs=combined(self.pairs, other.pairs),
            families={f: combined(self.families[f], other.families[f]) for f in shared},
        )
        result._check_size()
        return result

    def times(self, factor: float) -> MergeableCounts:
        """All counts multiplied by a number."""
        with np.errstate(over="ignore"):
            result = replace(
                self,
                by_class=self.by_class * factor,
                pairs=self.pairs * factor,
                families={f: table * factor for f, table in self.families.items()},
            )
        result._check_size()
        return result

    def placed(
        self, maps: Sequence[NDArray[np.intp]], cards: Sequence[int]
    ) -> MergeableCounts:
        """The same counts over other states, of new numbers `cards`.

        `maps` has for each variable the new code of each state, -1 for those left out.
        """
        features = range(self.class_index)
        tables = {
            family: _moved(
                table, [maps[v] for v in family], tuple(cards[v] for v in family)
            )
            for family, table in self.families.items()
        }
        return MergeableCounts(
            self.names,
            tuple(cards),
            _moved(self.by_class, [maps[-1]], (cards[-1],)),
            _moved_pairs(self.pairs, features, features, maps, cards),
            tables,
        )

    def states_seen(self, variable: int) -> Counts:
        """Weight of each state of a variable."""
        return self._family((variable,))

    def missing_seen(self, feature: int) -> float:
        """Weight of the missing cells of a feature."""
        place = self.starts[feature] + self.cards[feature]
        return float(self.pairs[:, place, place].sum())

    def lowest(self) -> tuple[float, str]:
        """The lowest count, and the names of the variables of its table."""
        found = [(float(self.by_class.min(initial=0.0)), str(self.names[-1]))]
        if self.pairs.size:
            place = np.unravel_index(int(self.pairs.argmin()), self.pairs.shape)
            pair = [
                int(np.searchsorted(self.starts, p, side="right")) - 1
                for p in place[1:]
            ]
            told = name_list([str(self.names[v]) for v in dict.fromkeys(pair)])
            found.append((float(self.pairs[place]), told))
        for family, table in self.families.items():
            told = name_list([str(self.names[v]) for v in family])
            found.append((float(table.min(initial=0.0)), told))
        return min(found)

    # ---- consistency

    def check_margins(self) -> None:
        """Raise ValueError unless these can be counts of one table of rows.

        None is negative or too large, and what tables have in common is the same.
        """
        low, names = self.lowest()
        if low < 0.0:
            raise ValueError(f"the table of {names} has a negative count, {low:g}")
        high = self._check_size()
        tables = [self.by_class, self.pairs, *self.families.values()]
        is_whole = all((table == np.rint(table)).all() for table in tables)
        rounding = 0.0 if is_whole else _MARGIN_ROUNDING * max(1.0, high)
        if self.class_index:
            self._check_pairs(rounding)
        for family in self.families:
            self._check_family(family, rounding)

    def _check_size(self) -> float:
        """The largest count; ValueError if it is too large."""
        tables = [self.by_class, self.pairs, *self.families.values()]
        high = max(float(table.max(initial=0.0)) for table in tables)
        if not high <= _MAX_COUNT:
            raise ValueError(f"a count of {high:g} is too large to count rows exactly")
        return high

    def _check_pairs(self, rounding: float) -> None:
        """Compare the table of pairs with those of single features and the class."""
        starts, features = self.starts[:-1], np.arange(self.class_index)
        feature_of = np.repeat(features, np.diff(self.starts))
        # A cell has one state: other pairs of states of a feature have no rows.
        alike = (feature_of[:, None] == feature_of) & ~np.eye(
            len(feature_of), dtype=bool
        )
        single = np.diagonal(self.pairs, axis1=1, axis2=2)
        sums = np.add.reduceat(single, starts, axis=1) - self.by_class[:, None]
        pair_sums = np.add.reduceat(self.pairs, starts, axis=2) - single[..., None]
        turned = self.pairs - self.pairs.transpose(0, 2, 1)
        for excess, rows, columns in (
            (sums[:, None], np.array([self.class_index]), features),
            (pair_sums, feature_of, features),
            (turned, feature_of, feature_of),
            (self.pairs * alike, feature_of, feature_of),
        ):
            wrong = np.argwhere(np.abs(excess) > rounding)
            if len(wrong):
                pair = rows[wrong[0, 1]], columns[wrong[0, 2]]
                names = name_list([str(self.names[v]) for v in dict.fromkeys(pair)])
                raise ValueError(f"counts of {names} contradict each other")

    def _check_family(self, family: Family, rounding: float) -> None:
        """Compare the table of a family with those of the pairs in it.

        It lacks rows with missing cells.
        """
        features = [v for v in family if v != self.class_index]
        has_missing = any(self.missing_seen(f) > 0 for f in features)
        for pair in combinations(features, 2):
            inner = tuple(v for v in family if v in (*pair, self.class_index))
            others = tuple(i for i, v in enumerate(family) if v not in inner)
            excess = self.families[family].sum(axis=others) - self._family(inner)
            if (excess if has_missing else np.abs(excess)).max(initial=0.0) > rounding:
                names = name_list([str(self.names[v]) for v in family])
                raise ValueError(f"the table of {names} contradicts those of pairs")


def _difference(one: Counts, other: Counts) -> Counts:
    """One table less another; whole counts exactly."""
    found: Counts = one - other
    whole = (one == np.rint(one)) & (other == np.rint(other))
    found[~whole & (np.abs(found) <= _ROUNDING * np.abs(one))] = 0.0
    return found


def shapes_of(
    cards: Sequence[int], families: Sequence[Family]
) -> tuple[tuple[int, int, int], list[int]]:
    """Shape of the table of pairs, and sizes of those of families."""
    width = sum(card + 1 for card in cards[:-1])
    return (cards[-1], width, width), [prod(cards[v] for v in f) for f in families]


def _moved(
    counts: Counts, places: Sequence[NDArray[np.intp]], shape: tuple[int, ...]
) -> Counts:
    """Counts at new places of each axis; those at -1 are left out."""
    kept = [np.flatnonzero(own >= 0) for own in places]
    moved = np.zeros(shape)
    moved[np.ix_(*(own[k] for own, k in zip(places, kept, strict=True)))] = counts[
        np.ix_(*kept)
    ]
    return moved


def _moved_pairs(
    pairs: Counts,
    left: Sequence[int],
    right: Sequence[int],
    maps: Sequence[NDArray[np.intp]],
    cards: Sequence[int],
) -> Counts:
    """Dense counts of pairs over other states of all variables, as in `placed`."""
    sides, shape = [maps[-1]], [cards[-1]]
    for side in (left, right):
        starts = [0, *accumulate(cards[v] + 1 for v in side)]
        places = [np.zeros(0, np.intp)]
        for v, start in zip(side, starts):
            moved = np.where(maps[v] < 0, -1, maps[v] + start)
            # The last place of a variable is that of its missing cells.
            places.append(np.append(moved, start + cards[v]))
        sides.append(np.concatenate(places))
        shape.append(starts[-1])
    return _moved(pairs, sides, tuple(shape))


class IncrementalCounts:
    """A count source that remembers its answers, so that later rows can be added.

    Its successors answer only questions that the first table was asked, which suits
    learners that always need the same families.
    """

    has_class = True

    def __init__(self, batch: CountSource) -> None:
        self._batch: CountSource | None = batch
        self._earlier: dict[Any, Any] = {}
        self._answers: dict[Any, Any] = {}
        self.cards = batch.cards  # numbers of states, class last
        self.continues = False  # whether there were tables before this one

    def __repr__(self) -> str:
        return brief(self, f"{len(self._answers)} tables of counts")

    def __getstate__(self) -> dict[str, Any]:
        return pairs_of_mappings(self, "_earlier", "_answers")

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(mappings_of_pairs(state, "_earlier", "_answers"))

    @property
    def n_jobs(self) -> int:
        """Number of threads that a pass may use."""
        return self._batch.n_jobs if self._batch is not None else 1

    @property
    def class_index(self) -> int:
        """Index of the class variable: the last one."""
        return len(self.cards) - 1

    def class_counts(self) -> Counts:
        """Total weight of each class, shape (n_classes,)."""
        if "class" not in self._answers:
            assert self._batch is not None
            earlier = self._earlier.get("class", 0.0)
            self._answers["class"] = self._batch.class_counts() + earlier
        counts: Counts = self._answers["class"]
        return counts

    def family_counts(self, families: Sequence[Family]) -> list[Counts]:
        """Weight of each joint state of some families, see `CountSource`."""
        asked = [tuple(family) for family in families]
        unknown = [f for f in asked if ("family", f) not in self._answers]
        # Families that earlier tables were not asked for come from all pairs.
        is_partial = self._batch is None or self.continues
        known = [f for f in unknown if ("family", f) in self._earlier]
        if unknown and is_partial and self.knows_pairs and len(known) < len(unknown):
            every = MergeableCounts.of(self, range(len(self.cards)))
            others = [f for f in unknown if f not in known]
            for family, counts in zip(others, every.family_counts(others), strict=True):
                self._answers["family", family] = counts
            unknown = known
        if self._batch is not None and unknown:
            for family, counts in zip(
                unknown, self._batch.family_counts(unknown), strict=True
            ):
                earlier = self._earlier.get(("family", family))
                total = counts if earlier is None else counts + earlier
                self._answers["family", family] = total
        return [self._answers["family", family] for family in asked]

    def pair_counts(self, left: Sequence[int], right: Sequence[int]) -> PairCounts:
        """Class-pair counts, see `CountSource`."""
        key = ("pairs", tuple(left), tuple(right))
        if key not in self._answers:
            assert self._batch is not None
            counts = self._batch.pair_counts(left, right)
            if key in self._earlier:
                dense = counts.dense() + self._earlier[key]
                counts = PairCounts.from_dense(
                    tuple(left), tuple(right), self.cards, dense
                )
            self._answers[key] = counts
        answer: PairCounts = self._answers[key]
        return answer

    def add_up(self, block_function: Callable[[Codes], Counts]) -> Counts:
        """Refuse: rows of earlier tables are gone, only their counts are kept."""
        raise TypeError("stored counts hold no rows; ask for family or pair counts")

    def rows(self) -> Codes:
        """The rows; TypeError once tables were added up, whose rows are not kept."""
        if self._batch is None or self.continues:
            raise TypeError("stored counts hold no rows; fit all rows at once")
        return self._batch.rows()

    def latest_rows(self) -> Codes:
        """The rows of the table added last; TypeError once it was let go."""
        if self._batch is None:
            raise TypeError("stored counts hold no rows; fit all rows at once")
        return self._batch.rows()

    def keep_pairs(self) -> None:
        """Ask for all pairs, so that every structure of pairs can be told later."""
        features = tuple(range(self.class_index))
        self.class_counts()
        self.pair_counts(features, features)

    @property
    def knows_pairs(self) -> bool:
        """Whether all pairs of features are known."""
        features = tuple(range(self.class_index))
        key = ("pairs", features, features)
        return key in self._answers or key in self._earlier

    def seal(self) -> None:
        """Let go of the table; the answers stay."""
        self._batch = None
        self._earlier = {}

    def grown(
        self, before: Domain, after: Domain, batch: CountSource
    ) -> IncrementalCounts:
        """Counts over a domain with more states, to which a new table is added.

        `after` has the same variables, and all states of `before`; `batch` is over
        `after`.
        """
        maps = [
            np.array([new.state_index[state] for state in old.states], np.intp)
            for old, new in zip(before, after, strict=True)
        ]
        successor = IncrementalCounts(batch)
        successor.continues = True
        for key, answer in self._answers.items():
            if key == "class":
                successor._earlier[key] = answer
            elif key[0] == "family":
                states = [maps[variable] for variable in key[1]]
                shape = tuple(after.cards[variable] for variable in key[1])
                successor._earlier[key] = _moved(answer, states, shape)
            else:
                _, left, right = key
                successor._earlier[key] = _moved_pairs(
                    answer.dense(), left, right, maps, after.cards
                )
        return successor


def pairs_of_mappings(counts: Any, *names: str) -> dict[str, Any]:
    """State of an object for a pickle, some mappings as lists of keys and values.

    Safe forms of pickles, such as those of skops, have no tuples as keys.
    """
    return {**vars(counts), **{n: list(vars(counts)[n].items()) for n in names}}


def mappings_of_pairs(state: dict[str, Any], *names: str) -> dict[str, Any]:
    """The state that `pairs_of_mappings` took apart."""
    return {**state, **{name: dict(state[name]) for name in names}}
