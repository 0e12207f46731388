"""Columns learned from a short form of them."""

from __future__ import annotations

from dataclasses import dataclass

from bayleaf.data.domain import Variable
from bayleaf.data.encoder.cells import missing_cells_error
from bayleaf.data.encoder.learned import LearnedVariables, left_out
from bayleaf.data.encoder.learning import (
    IDENTIFIER_SHARE,
    ColumnLearner,
    Discretizer,
    Target,
)
from bayleaf.data.reading.column_reading import ColumnReading
from bayleaf.data.reading.rules import EncoderRules
from bayleaf.data.tables.columns import Name
from bayleaf.streams.spool import MOST_VALUES
from bayleaf.streams.stand_ins import StandIn


@dataclass(frozen=True)
class StandInLearner:
    """Class and rules for learning a column from its short form."""

    variable: Variable | None  # the class
    discretizer: Discretizer
    rules: EncoderRules
    nominal: frozenset[Name] | None  # None where nothing is declared
    n_rows: int
    as_is: frozenset[Name] = frozenset()  # columns whose values stay what they are

    def check_missing(self, name: str, n_missing: int, first: int) -> None:
        """Raise ValueError if cells are missing and the rules refuse that."""
        if self.rules.missing == "error" and n_missing:
            raise missing_cells_error(name, n_missing, first)

    def learn(
        self, stand_in: StandIn, n_missing: int, n_values: int
    ) -> LearnedVariables:
        """The variables that a column becomes; `n_values` are listed of its values."""
        target = None
        if self.variable is not None:
            target = Target(self.variable, stand_in.classes)
        learner = ColumnLearner(
            target,
            stand_in.weights,
            self.discretizer,
            self.rules,
            self.nominal,
            allow_empty=False,
        )
        if _names_rows(stand_in, n_values) and self.rules.identifiers == "drop":
            name = stand_in.column.name
            return left_out(ColumnReading(name, "values", MOST_VALUES, n_missing))
        own = learner.learn(stand_in.column, as_is=stand_in.column.name in self.as_is)
        if stand_in.rank_error:
            own = _with_error(own, stand_in.rank_error, self.n_rows)
        return own


def _names_rows(stand_in: StandIn, n_values: int) -> bool:
    """Whether a column has so many values that they are not all told apart."""
    if n_values < MOST_VALUES:
        return False
    repeats = stand_in.column.repeats
    assert repeats is not None
    listed = int(repeats.counts[stand_in.numbers > 0].sum())
    return n_values > IDENTIFIER_SHARE * listed


def _with_error(
    learned: LearnedVariables, rank_error: int, n_rows: int
) -> LearnedVariables:
    """The same with a note on how exact cut points are."""
    said = (
        f"cut by a summary of its numbers, in which ranks are wrong by at most "
        f"{100 * rank_error / n_rows:.2g} %"
    )
    notes = dict(learned.notes)
    for variable, _ in learned.variables:
        if variable.kind == "numeric":
            before = notes.get(variable.name)
            notes[variable.name] = f"{before}; {said}" if before else said
    return learned._replace(notes=notes)
