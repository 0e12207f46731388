"""Counts kept from earlier tables, to which those of a new one are added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.count_tables import CountTables
from bayleaf.counts.pairs import PairCounts
from bayleaf.counts.source import Counts, CountSource, Family
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.wording import brief


class StoredCounts:
    """A count source that remembers its answers, so that later rows can be added.

    Its successors answer only questions that the first table was asked, which suits
    learners that always need the same families.
    """

    has_class = True

    def __init__(self, batch: CountSource) -> None:
        self._batch: CountSource | None = batch
        self._earlier: dict[Any, Any] = {}
        self._answers: dict[Any, Any] = {}
        self._cards = batch.cards

    def __repr__(self) -> str:
        return brief(self, f"{len(self._answers)} tables of counts")

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable, class last."""
        return self._cards

    @property
    def n_jobs(self) -> int:
        """Number of threads that a pass may use."""
        return self._batch.n_jobs if self._batch is not None else 1

    @property
    def class_index(self) -> int:
        """Index of the class variable: the last one."""
        return len(self._cards) - 1

    def class_counts(self) -> Counts:
        """Total weight of each class, shape (n_classes,)."""
        return self._sum("class", lambda batch: batch.class_counts())

    def family_counts(self, families: Sequence[Family]) -> list[Counts]:
        """Weight of each joint state of some families, see `CountSource`."""
        asked = [tuple(family) for family in families]
        unknown = [f for f in asked if ("family", f) not in self._answers]
        if unknown and self._tells_from_pairs:
            every = CountTables.of(self, range(len(self._cards)))
            for family, counts in zip(
                unknown, every.family_counts(unknown), strict=True
            ):
                self._answers["family", family] = counts
        elif self._batch is not None and unknown:
            for family, counts in zip(
                asked, self._batch.family_counts(asked), strict=True
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
                    tuple(left), tuple(right), self._cards, dense
                )
            self._answers[key] = counts
        answer: PairCounts = self._answers[key]
        return answer

    def add_up(self, block_function: Callable[[Codes], Counts]) -> Counts:
        """Refuse: rows of earlier tables are gone, only their counts are kept."""
        raise TypeError("stored counts hold no rows; ask for family or pair counts")

    def rows(self) -> Codes:
        """The rows; TypeError once tables were added up, whose rows are not kept."""
        if self._batch is None or self._earlier:
            raise TypeError("stored counts hold no rows; fit all rows at once")
        return self._batch.rows()

    def _sum(self, key: Any, ask: Callable[[CountSource], Counts]) -> Counts:
        """The remembered answer, or the batch's answer added to the earlier ones."""
        if key not in self._answers:
            assert self._batch is not None
            answer = ask(self._batch)
            self._answers[key] = answer + self._earlier.get(key, 0.0)
        counts: Counts = self._answers[key]
        return counts

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

    @property
    def _tells_from_pairs(self) -> bool:
        """Whether families come from all pairs, as those of earlier tables must."""
        return self.knows_pairs and (self._batch is None or bool(self._earlier))

    def seal(self) -> None:
        """Let go of the table; the answers stay."""
        self._batch = None
        self._earlier = {}

    def grown(self, before: Domain, after: Domain, batch: CountSource) -> StoredCounts:
        """Counts over a domain with more states, to which a new table is added.

        `after` has the same variables, and all states of `before`; `batch` is over
        `after`.
        """
        maps = [_state_map(old, new) for old, new in zip(before, after, strict=True)]
        successor = StoredCounts(batch)
        for key, answer in self._answers.items():
            if key == "class":
                successor._earlier[key] = answer
            elif key[0] == "family":
                states = [maps[variable][:-1] for variable in key[1]]
                shape = tuple(after[variable].n_states for variable in key[1])
                successor._earlier[key] = _placed(answer, states, shape)
            else:
                successor._earlier[key] = _placed_pairs(key, answer, maps, after)
        return successor


def _state_map(old: Any, new: Any) -> NDArray[np.intp]:
    """New code of each old code, the reserved code for missing cells at the end."""
    return np.array([*(new.state_index[state] for state in old.states), new.n_states])


def _placed(
    counts: NDArray[Any], places: list[NDArray[np.intp]], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """An array of zeros of `shape` with counts at the given places of each axis."""
    grown = np.zeros(shape)
    grown[np.ix_(*places)] = counts
    return grown


def _placed_pairs(
    key: Any, counts: PairCounts, maps: list[NDArray[np.intp]], after: Domain
) -> NDArray[np.float64]:
    """Dense pair counts moved to the positions of a domain with more states."""
    _, left, right = key
    sides = []
    for side in (left, right):
        widths = [after[variable].n_states + 1 for variable in side]
        starts = np.cumsum([0, *widths])
        places = [maps[v] + start for v, start in zip(side, starts, strict=False)]
        sides.append((np.concatenate(places), int(starts[-1])))
    n_classes = after[len(after) - 1].n_states
    (rows, n_rows), (columns, n_columns) = sides
    return _placed(
        counts.dense(),
        [np.arange(n_classes), rows, columns],
        (n_classes, n_rows, n_columns),
    )
