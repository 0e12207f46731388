"""Scores of several classifiers on several tables, and tests of their ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from bayleaf.evaluation.comparison import (
    DEFAULT_MODELS,
    CompareOptions,
    Comparison,
    Models,
    compare,
    csv_text,
)
from bayleaf.evaluation.metrics import SCORES
from bayleaf.evaluation.statistics import (
    LEVEL,
    RankTest,
    friedman_test,
    mean_ranks,
    wilcoxon_signed_rank,
)
from bayleaf.results.document import Document, Name, Part, Table
from bayleaf.results.result import Result
from bayleaf.typing import ColumnLike, JSONObject, TableLike
from bayleaf.wording import brief, brief_names, counted, name_list


@dataclass(frozen=True)
class TableComparisons(Result):
    """Scores of several classifiers on several tables.

    Parameters
    ----------
    comparisons : tuple of Comparison
        One per table, with the name of its table and the same models.

    References
    ----------
    Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets.
    Journal of Machine Learning Research 7, 1-30.
    """

    comparisons: tuple[Comparison, ...]

    def __getitem__(self, table: str) -> Comparison:
        """The scores on one table."""
        for comparison in self.comparisons:
            if comparison.table == table:
                return comparison
        raise KeyError(table)

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables."""
        return tuple(comparison.table for comparison in self.comparisons)

    @property
    def names(self) -> tuple[str, ...]:
        """What the classifiers are called."""
        return self.comparisons[0].names

    @property
    def scores(self) -> tuple[str, ...]:
        """Scores that all tables have."""
        first, *others = (comparison.scores for comparison in self.comparisons)
        return tuple(s for s in first if all(s in scores for scores in others))

    def means(self, score: str) -> dict[str, list[float]]:
        """Mean of a score on each table, by classifier."""
        return {
            name: [comparison[name].mean(score) for comparison in self.comparisons]
            for name in self.names
        }

    def mean_ranks(self, score: str) -> dict[str, float]:
        """Mean rank of each classifier over the tables, 1 the best; ties share one."""
        better = SCORES[score].larger_is_better
        return mean_ranks(self.means(score), larger_is_better=better)

    def rank_test(self, score: str) -> RankTest:
        """Friedman's test of a score over the tables, with Nemenyi's groups.

        Raises
        ------
        ValueError
            If there are fewer than 3 classifiers or 2 tables.
        """
        better = SCORES[score].larger_is_better
        return friedman_test(self.means(score), larger_is_better=better)

    def document(self) -> Document:
        """Mean ranks by score, their tests, and each score on each table."""
        shown = sorted(
            (score for score in self.scores if SCORES[score].heading),
            key=lambda score: SCORES[score].place,
        )
        ranks = {score: self.mean_ranks(score) for score in shown}
        rows: list[list[str | Name]] = [
            [Name(name), *(f"{ranks[score][name]:.2f}" for score in shown)]
            for name in self.names
        ]
        heads = [SCORES[score].heading for score in shown]
        title = f"Mean ranks on {counted(len(self.tables), 'table')}, 1 the best"
        parts: list[Part] = [Table(("model", *heads), rows, title)]
        parts += [self._verdict(score) for score in shown]
        parts += [self._score_table(score) for score in shown]
        return Document("", parts)

    def _score_table(self, score: str) -> Table:
        """The means of a score: a line per table, a column per classifier."""
        rows: list[list[str | Name]] = [
            [
                Name(comparison.table),
                *(
                    SCORES[score].written(r.mean(score), r.sd(score))
                    for r in comparison.results
                ),
            ]
            for comparison in self.comparisons
        ]
        return Table(("table", *self.names), rows, SCORES[score].heading)

    def _verdict(self, score: str) -> str:
        """Whether the classifiers' ranks by a score differ, as a sentence."""
        heading = SCORES[score].heading
        if len(self.tables) < 2 or len(self.names) < 2:
            return f"{heading}: ranks are tested over two or more tables and models"
        if len(self.names) == 2:
            p_value = wilcoxon_signed_rank(*self.means(score).values()).p_value
            return f"{heading}: Wilcoxon's signed-rank test, p {p_value:.2g}"
        test = self.rank_test(score)
        least = test.critical_difference(LEVEL)
        alike = "; ".join(name_list(group) for group in test.groups(LEVEL))
        return (
            f"{heading}: {test.verdict}; ranks that are {least:.2f} apart differ "
            f"(Nemenyi, p < {LEVEL:g}); alike: {alike or 'none'}"
        )

    def to_rows(self) -> list[JSONObject]:
        """List a flat row per table and classifier."""
        return [row for scores in self.comparisons for row in scores.to_rows()]

    def to_csv(self, path: str | Path | None = None) -> str:
        """The rows of `to_rows` as CSV text, written to a file if one is named."""
        return csv_text(self.to_rows(), path)

    def to_dict(self) -> JSONObject:
        """Everything as plain values, with mean ranks and their tests by score."""
        few = len(self.names) < 3 or len(self.tables) < 2
        return {
            "tables": [comparison.to_dict() for comparison in self.comparisons],
            "ranks": {
                score: {"mean_ranks": self.mean_ranks(score)}
                if few
                else self.rank_test(score).to_dict()
                for score in self.scores
            },
        }

    def __repr__(self) -> str:
        models = f"{counted(len(self.names), 'model')} ({brief_names(self.names)})"
        tables = f"{counted(len(self.tables), 'table')} ({brief_names(self.tables)})"
        return brief(self, models, tables)


def compare_tables(
    tables: Mapping[str, tuple[TableLike, ColumnLike]],
    models: Models = DEFAULT_MODELS,
    **options: Unpack[CompareOptions],
) -> TableComparisons:
    """Compare classifiers on several tables, and test their ranks.

    Parameters
    ----------
    tables : mapping of str to (X, y)
        Features and class labels of each table, by its name.
    models : sequence of str or classifier, or mapping of str to either
        As for `compare`.
    **options
        The other parameters of `compare`, for all tables.

    Returns
    -------
    TableComparisons

    Raises
    ------
    ValueError
        Without tables, or as in `compare`; the message names the table.
    TypeError
        If `tables` is not a mapping to pairs, or as in `compare`.

    Examples
    --------
    >>> from bayleaf.datasets import load_heart, load_vote
    >>> tables = {"heart": load_heart(return_X_y=True)}
    >>> tables["vote"] = load_vote(return_X_y=True)
    >>> found = compare_tables(tables, ["nb", "tan", "aode"], n_folds=3)
    >>> found.mean_ranks("accuracy")
    {'nb': 2.5, 'tan': 2.5, 'aode': 1.0}
    """
    if not isinstance(tables, Mapping) or not all(
        isinstance(pair, Sequence) and len(pair) == 2 for pair in tables.values()
    ):
        raise TypeError("tables must be a mapping of names to pairs of X and y")
    if not tables:
        raise ValueError("tables must have at least one table, got none")
    comparisons = []
    for name, (X, y) in tables.items():
        try:
            comparison = compare(X, y, models, **options)
        except ValueError as error:
            raise ValueError(f"table {name}: {error}") from error
        comparisons.append(replace(comparison, table=str(name)))
    return TableComparisons(tuple(comparisons))
