"""Why a row got its class: additive terms of the log-odds, for a reader."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import PartialCodes, Rows, alone, available_codes
from bayleaf.data.table_encoder import EncodedTable
from bayleaf.models.class_model import (
    ClassModel,
    IncrementalContributions,
    LogScores,
    calibrated_log_proba,
)
from bayleaf.models.support.number_terms import odds_between
from bayleaf.results.document import Document
from bayleaf.results.drawings import terms_table
from bayleaf.results.result import Result
from bayleaf.results.result_lists import ResultList
from bayleaf.typing import JSONObject, Note
from bayleaf.wording import (
    brief,
    brief_names,
    counted,
    in_bits,
    plain,
    rough,
    shown_name,
    stated,
    visible,
)


@runtime_checkable
class RuledExplanations(Protocol):
    """A model that names the rule by which a feature tells on the class."""

    def rules_fired(self, codes: Codes) -> list[list[str]]:
        """The rule by row and feature; empty where there is none."""


@runtime_checkable
class DetailedExplanations(Protocol):
    """A model that can tell more of a row's class than terms that add up."""

    def detailed(
        self,
        codes: Codes,
        explanations: Sequence[Explanation],
        target: NDArray[np.intp],
        against: NDArray[np.intp],
    ) -> Sequence[Explanation]:
        """Explanations of a kind that holds more, for the same rows and classes."""


@dataclass(frozen=True)
class Term:
    """What one feature contributes to the log-odds.

    Parameters
    ----------
    feature : str or int
        Name of the feature.
    value : str
        Its state in the row, ``"missing"`` if it has none.
    given : tuple of (str or int, str)
        Parents among the features, with their states.
    contribution : float
        Nats in favour of the class explained.
    increments : tuple of float, default=()
        Where a model has them: the contribution where no other feature is known, what
        each further parent adds, and what is gained or lost as others share its
        evidence, nats; they sum to `contribution`.
    rule : str, default=""
        Where a model has latent variables: the rule by which the feature tells on the
        class together with others.
    cell : object, optional
        The row's cell, where `value` is the interval that contains it.
    alone_by : callable, optional
        Where a model has no increments: computes `alone`.
    """

    feature: str | int
    value: str
    given: tuple[tuple[str | int, str], ...]
    contribution: float
    increments: tuple[float, ...] = ()
    rule: str = ""
    cell: object = None
    alone_by: Callable[[], float] | None = field(
        default=None, repr=False, compare=False
    )

    def __getstate__(self) -> dict[str, Any]:
        # A number takes less room in a file than the model that computes it.
        state = dict(self.__dict__)
        return {**state, "alone_by": self.alone_by and partial(float, self.alone)}

    @property
    def fact(self) -> str:
        """The feature, its cell and its state, such as ``age 55, in (50, 60]``."""
        return stated(self.feature, self.value, self.cell)

    @property
    def alone(self) -> float:
        """The contribution where no other feature is known, nats.

        That of `shape` at the same value. A temperature does not count here.
        """
        if self.alone_by is not None:
            return self.alone_by()
        return self.increments[0] if self.increments else self.contribution

    @property
    def bits(self) -> float:
        """The contribution in bits, the weight of evidence."""
        return in_bits(self.contribution)

    def __repr__(self) -> str:
        given = ", ".join(stated(name, state) for name, state in self.given)
        condition = self.rule or (f"given {given}" if given else "")
        fact = plain(f"{self.fact} {condition}".rstrip())
        return brief(self, f"{_in_bits(self.contribution):+.3f} bits by {fact}")


@dataclass(frozen=True)
class Explanation(Result):
    """The log-odds of one class against another, split into terms that add up.

    Parameters
    ----------
    row : int
        Position of the row in the table explained.
    target : object
        The class explained.
    against : object
        The class it is compared with.
    probability : float
        Posterior probability of `target`.
    against_probability : float
        Posterior probability of `against`.
    log_odds : float
        ln P(target | row) - ln P(against | row).
    prior : float
        Contribution of the class prior, nats.
    terms : tuple of Term
        One a feature, in column order; `prior` and these sum to `log_odds`.
    row_label : object, optional
        What the table calls the row, where its rows have names.
    notes : sequence of dict
        Cells of the row that were not read, see `predict`.
    """

    row: int
    target: Hashable
    against: Hashable
    probability: float
    against_probability: float
    log_odds: float
    prior: float
    terms: tuple[Term, ...]
    row_label: Hashable = field(default=None, kw_only=True)
    notes: Sequence[Note] = field(default=(), kw_only=True, compare=False)

    @property
    def row_name(self) -> str:
        """What the row is called in texts: its number, and its label if it has one."""
        number = f"row {self.row}"
        return number if self.row_label is None else f"{number} ({self.row_label})"

    def ranked(self) -> tuple[Term, ...]:
        """Terms by size, largest first; ties in column order."""
        return tuple(sorted(self.terms, key=lambda term: -abs(term.contribution)))

    @property
    def log_odds_bits(self) -> float:
        """The log-odds in bits."""
        return in_bits(self.log_odds)

    @property
    def weight_of_evidence(self) -> float:
        """What all features together say for the class, without the prior, in bits.

        References
        ----------
        Good, I. J. (1950). Probability and the weighing of evidence. Griffin, London.
        """
        return in_bits(math.fsum(term.contribution for term in self.terms))

    def to_dict(self) -> JSONObject:
        """The explanation as plain values, ready for JSON."""
        return {
            "row": self.row,
            "row_label": _plain(self.row_label),
            "class": _plain(self.target),
            "against": _plain(self.against),
            "probability": self.probability,
            "against_probability": self.against_probability,
            "log_odds": self.log_odds,
            "log_odds_bits": self.log_odds_bits,
            "prior": self.prior,
            "weight_of_evidence_bits": self.weight_of_evidence,
            "terms": [
                {
                    "feature": term.feature,
                    "value": term.value,
                    "cell": _plain(term.cell),
                    "given": dict(term.given),
                    "contribution": term.contribution,
                    "bits": term.bits,
                    "increments": list(term.increments),
                    "rule": term.rule,
                }
                for term in self.terms
            ],
            "notes": [dict(note) for note in self.notes],
        }

    def __repr__(self) -> str:
        largest = [
            f"{term.fact} {_in_bits(term.contribution):+.3f}" for term in self.ranked()
        ]
        return brief(
            self,
            self.row_name,
            f"{self.target} with probability {self.probability:.3f}",
            f"log-odds {self.log_odds_bits:+.3f} bits",
            f"{counted(len(largest), 'term')} ({brief_names(largest)})",
        )

    def document(self) -> Document:
        """The terms as bars, each from where the last one ended."""
        title = (
            f"{self.row_name}: {self.target} with probability {self.probability:.3f}; "
            f"factors of its odds against {self.against}, and bits"
        )
        first = (self.prior_name, self.prior)
        heads = ("", "factor", "bits")
        table = terms_table(title, first, self.ranked(), _written, heads)
        return Document("", [table])

    @property
    def prior_name(self) -> str:
        """What the prior's term is called; ln P(class) where no feature is known."""
        if any(term.contribution for term in self.terms):
            return "prior"
        return "prior: ln P(class), as no feature is known"

    def to_text(
        self, limit: int = 10, called: str | None = None, *, columns: int = 80
    ) -> str:
        """Write the terms as a table, the largest `limit` of them in full.

        The row is called `row_name`, or what `called` says; `columns` is the number of
        characters per line.
        """
        if limit < 0:
            raise ValueError(f"the number of terms to show must be >= 0, got {limit}")
        rival = (
            f"against {shown_name(self.against)} with {self.against_probability:.3f}"
            if self.against != self.target
            else "with no other class to compare"
        )
        lines = wrapped(
            f"{visible(called or self.row_name)}: {shown_name(self.target)} with "
            f"probability {self.probability:.3f}, {rival}",
            "",
            width=columns,
        )
        lines += wrapped(
            f"odds {_ratio(self.log_odds)} to 1, log-odds {self.log_odds_bits:+.3f} "
            "bits, the product and the sum of",
            "",
            width=columns,
        )
        lines.append("    factor     bits")
        lines += _weighed(self.prior, self.prior_name, columns)
        ranked = self.ranked()
        for term in ranked[:limit]:
            text = f"{term.fact}{_condition(term)}"
            lines += _weighed(term.contribution, text, columns)
        rest = ranked[limit:]
        if rest:
            total = math.fsum(term.contribution for term in rest)
            n = len(rest)
            others = f"{n} other features together" if n > 1 else "1 other feature"
            lines += _weighed(total, others, columns)
        return "\n".join(lines)


class Explanations(ResultList[Explanation]):
    """Explanations of the rows of a table, in their order."""

    def to_matrix(self) -> NDArray[np.float64]:
        """Contributions in nats, shape (n_rows, n_features).

        Each row is in favour of the class that it explains; pass `of` to `explain` for
        the same class in all rows.
        """
        rows = [[term.contribution for term in row.terms] for row in self]
        return np.array(rows, dtype=np.float64)

    def to_shap(self) -> Any:
        """Make a ``shap.Explanation`` for the plots of shap, in nats of the log-odds.

        Base values are contributions of the class prior; data are cells or, of rows
        whose cells were not kept, states.

        Raises
        ------
        ImportError
            If shap is not installed.
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError("to_shap needs the library shap; install it") from error
        cells = [
            [t.value if t.cell is None else t.cell for t in row.terms] for row in self
        ]
        return shap.Explanation(
            self.to_matrix(),
            base_values=np.array([row.prior for row in self]),
            data=np.array(cells, dtype=object),
            feature_names=[str(t.feature) for row in self[:1] for t in row.terms],
        )


def noted(explanations: Sequence[Any], encoded: EncodedTable) -> list[Any]:
    """Explanations of any kind with the notes on their rows, and the rows' cells."""
    if encoded.notes is None or encoded.cells is None:
        return list(explanations)
    found = []
    for one, notes, cells in zip(
        explanations, encoded.notes, encoded.cells, strict=True
    ):
        terms = tuple(_with_cell(term, cells.get(term.feature)) for term in one.terms)
        found.append(replace(one, notes=notes, terms=terms))
    return found


def _with_cell(term: Any, cell: object) -> Any:
    """A term with another cell; `replace` takes longer than to make the term."""
    result = object.__new__(type(term))
    vars(result).update(vars(term), cell=cell)
    return result


def labelled(
    explanations: Sequence[Explanation], labels: Sequence[Any] | None
) -> list[Explanation]:
    """Explanations with what the table calls their rows."""
    if labels is None:
        return list(explanations)
    return [replace(one, row_label=labels[one.row]) for one in explanations]


def base_fields(explanation: Explanation) -> dict[str, Any]:
    """What a kind of explanation that holds more takes over, by name."""
    return {f.name: getattr(explanation, f.name) for f in fields(Explanation)}


def wrapped(
    text: str, prefix: str, further: str | None = None, width: int = 80
) -> list[str]:
    """A text behind a prefix, its further lines below its beginning.

    `further` stands before these lines instead of blanks.
    """
    below = " " * max(len(prefix), 2) if further is None else further
    return textwrap.wrap(text, width, initial_indent=prefix, subsequent_indent=below)


def _weighed(nats: float, text: str, width: int) -> list[str]:
    """What a contribution multiplies odds by, its bits, and where it comes from."""
    ratio, bits = _written(nats)
    return wrapped(text, f"  {ratio:>8} {bits:>8}  ", width=width)


def _written(nats: float) -> tuple[str, str]:
    """What a contribution multiplies odds by, and its bits."""
    return f"x{_ratio(nats)}", f"{_in_bits(nats):+.3f}"


def _ratio(nats: float) -> str:
    """A ratio of odds from its logarithm; powers of ten beyond what is legible."""
    decimals = nats / math.log(10)
    if abs(decimals) < 4:
        return rough(math.exp(nats))
    return "inf" if math.isinf(nats) and nats > 0 else f"1e{decimals:+.0f}"


def _in_bits(nats: float) -> float:
    """Bits to three digits; a rounded zero has no sign that would tell anything."""
    return round(in_bits(nats), 3) + 0.0


def _condition(term: Term) -> str:
    """On what else a term depends: parents, what they add, or a rule."""
    if term.rule:
        return f"  by {term.rule}"
    names = ", ".join(shown_name(name) for name, _ in term.given[:3])
    more = ", ..." if len(term.given) > 3 else ""
    if term.increments and term.given:
        others = term.contribution - term.alone
        return (
            f"  ({_in_bits(term.alone):+.3f} alone, {_in_bits(others):+.3f} with "
            f"{names}{more})"
        )
    given = ", ".join(stated(name, state) for name, state in term.given[:3])
    return f"  given {given}{more}" if given else ""


def runners_up(
    log_posterior: LogScores, predicted: NDArray[np.intp]
) -> NDArray[np.intp]:
    """The most probable class of each row but `predicted`, or the only one there is."""
    others = log_posterior.copy()
    if others.shape[1] > 1:
        others[np.arange(len(others)), predicted] = -np.inf
    return np.asarray(np.argmax(others, axis=1))


# Of a model without a temperature.
_NONE = (np.ones((1, 1)), None)


def explain_rows(
    model: ClassModel,
    table: Rows,
    classes: NDArray[Any],
    *,
    predicted: NDArray[np.intp],
    log_posterior: LogScores | None = None,
    against: NDArray[np.intp] | None = None,
    calibration: tuple[LogScores, LogScores | None] = _NONE,
) -> list[Explanation]:
    """Explain the `predicted` class (n_rows,) of each row.

    `classes` (n_classes,) are labels; `log_posterior` (n_rows, n_classes), calibrated,
    is in nats; `against` (n_rows,) is by default the most probable other class.
    `calibration` is what log scores were divided by, by row, and what was then added, a
    part of the prior's contribution; see `Predictor.calibration`. With a single class
    every term is zero.
    """
    codes = available_codes(table)
    if log_posterior is None:
        scores = model.log_scores_of_rows(table)
        log_posterior = calibrated_log_proba(scores, *calibration)
    if against is None:
        against = runners_up(log_posterior, predicted)
    incremental = model if isinstance(model, IncrementalContributions) else None
    if incremental is not None:
        prior, increments = incremental.increments(codes, predicted, against)
        terms = increments.sum(axis=2)
    else:
        prior, terms = model.contributions_of_rows(table, predicted, against)
        increments = np.empty((*terms.shape, 0))
    temperatures, shift = calibration
    prior, terms = prior / temperatures[:, 0], terms / temperatures
    increments = increments / temperatures[:, :, None]
    if increments.shape[2]:
        # A temperature counts for whole rows, not where one feature is known.
        alone = increments[:, :, 0] * temperatures
        increments[:, :, -1] += increments[:, :, 0] - alone
        increments[:, :, 0] = alone
    if shift is not None:
        prior += odds_between(
            predicted, against, np.broadcast_to(shift, log_posterior.shape)
        )
    labels = [
        [variable.label(code) for code in codes.column(i).tolist()]
        for i, variable in enumerate(model.domain.variables[:-1])
    ]
    if isinstance(table, PartialCodes):
        cells = zip(table.partial.rows, table.partial.variables, strict=True)
        for cell, (row, variable) in enumerate(cells):
            labels[variable][row] = table.label(cell)
    rules = (
        model.rules_fired(codes)
        if isinstance(model, RuledExplanations)
        else [[""] * codes.n_variables] * codes.n_rows
    )

    def alone_by(row: int) -> Callable[[int], Callable[[], float] | None]:
        """What computes `Term.alone` of a feature when it is read."""
        if incremental is not None:
            return lambda _: None
        rows = table.rows(slice(row, row + 1))
        pair = int(predicted[row]), int(against[row])
        return lambda feature: partial(_alone, model, rows, feature, *pair)

    found: Sequence[Explanation] = [
        Explanation(
            row=row,
            target=classes[predicted[row]],
            against=classes[against[row]],
            probability=float(np.exp(log_posterior[row, predicted[row]])),
            against_probability=float(np.exp(log_posterior[row, against[row]])),
            log_odds=float(
                log_posterior[row, predicted[row]] - log_posterior[row, against[row]]
            ),
            prior=float(prior[row]),
            terms=_terms(
                model,
                [of_feature[row] for of_feature in labels],
                terms[row].tolist(),
                increments[row].tolist(),
                rules[row],
                alone_by(row),
            ),
        )
        for row in range(codes.n_rows)
    ]
    if isinstance(model, DetailedExplanations):
        found = model.detailed(codes, found, predicted, against)
    return list(found)


def _alone(
    model: ClassModel, row: Rows, feature: int, target: int, against: int
) -> float:
    """The contribution of a feature of one row where no other is known, nats."""
    cards = model.domain.cards[:-1]
    nothing = Codes.from_columns([np.array([card]) for card in cards], cards)
    (now,) = model.log_scores_of_rows(alone(row, feature, model.domain))
    (before,) = model.class_log_scores(nothing)
    gains = (now - before)[[target, against]]
    # A state that neither class can have adds nothing.
    return float(gains[0] - gains[1]) if np.isfinite(gains).any() else 0.0


def _terms(
    model: ClassModel,
    labels: list[str],
    values: list[float],
    increments: list[list[float]],
    rules: Sequence[str],
    alone_by: Callable[[int], Callable[[], float] | None],
) -> tuple[Term, ...]:
    """The terms of one row with names and states."""
    named = list(zip(model.domain.names, labels, strict=False))
    return tuple(
        Term(
            *named[feature],
            tuple(map(named.__getitem__, model.feature_parents(feature))),
            value,
            tuple(increment),
            rules[feature],
            alone_by=alone_by(feature),
        )
        for feature, (value, increment) in enumerate(
            zip(values, increments, strict=True)
        )
    )


def _plain(label: Any) -> Any:
    """A label as a plain Python value."""
    return label.item() if isinstance(label, np.generic) else label
