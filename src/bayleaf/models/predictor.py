"""From a table to probabilities: encoder, model and loss in one frozen piece."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.threads import run_tasks, stretches, worthwhile
from bayleaf.data.codes import Codes
from bayleaf.data.memory import naming_remedy
from bayleaf.data.partial_values import Rows, available_codes
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.models.class_model import ClassModel, LogScores, calibrated_log_proba
from bayleaf.models.explanation import Explanation, explain_rows, runners_up
from bayleaf.models.page_model import CLASSIFIER, PageModel
from bayleaf.models.wrappers import model_inside
from bayleaf.scoring.partial_cases import known_cells, known_shares
from bayleaf.typing import Estimator, TableLike
from bayleaf.wording import brief, name_list, quoted

if TYPE_CHECKING:
    from bayleaf.models.support.support_counts import SupportCounts

Floats = NDArray[np.float64]

# Cells for whose scoring a further thread is started.
_MIN_CELLS = 100_000
# Nats, so that shares of no information are shares all the same.
_MIN_INFORMATION = 1e-12
# Rows scored at a time: beyond the codes only results grow with the table, and another
# thread looks in between whether it is still wanted.
_MOST_ROWS = 1 << 13


@dataclass(frozen=True, eq=False)
class Predictor:
    """What prediction needs, without anything of how it was learned.

    Parameters
    ----------
    encoder : TableEncoder
        Turns a table into codes.
    model : ClassModel
        Scores the classes.
    classes : ndarray of shape (n_classes,)
        Labels in the model's order.
    loss : ndarray of shape (n_classes, n_classes), optional
        Cost of predicting the row's class where the column's is true.
    temperature : float, default=1.0
        Log joint probabilities of rows that know all features are divided by this
        before they are normalised; see `calibration`.
    prior_shift : ndarray of shape (n_classes,), optional
        Added after that (nats): what a calibrated model under another class prior
        than that of training needs beside the prior in the model.
    n_threads : int, default=1
        Threads that may score rows; no score depends on it.
    support : SupportCounts, optional
        The training rows behind the model's tables, where they are known.
    """

    encoder: TableEncoder
    model: ClassModel
    classes: NDArray[Any]
    loss: Floats | None = None
    temperature: float = 1.0
    prior_shift: Floats | None = None
    n_threads: int = 1
    support: SupportCounts | None = None

    def _page_model(self) -> PageModel:
        return PageModel(
            name="Classifier",
            task=CLASSIFIER,
            model=self.model,
            scorer=self,
            encoder=self.encoder,
            support=lambda: self.support,
        )

    def encode(self, table: TableLike) -> Rows:
        """Codes of a table's features, with sets of states."""
        return self.encoder.transform(self.encoder.split(table)[0]).rows

    def joint_log_proba(self, codes: Rows) -> LogScores:
        """Log joint probability of classes and observed features, (rows, classes).

        That of the model, which no temperature changes.
        """
        result = np.empty((codes.n_rows, len(self.classes)))
        return self._by_parts(
            codes, result, lambda part, _: self.model.log_scores_of_rows(part)
        )

    def log_proba(self, codes: Rows) -> LogScores:
        """Log posterior of each class (nats), shape (n_rows, n_classes)."""
        result = np.empty((codes.n_rows, len(self.classes)))
        return self._by_parts(codes, result, self._log_proba_of_part)

    def _log_proba_of_part(self, part: Rows, first: int) -> LogScores:
        """Log posterior of each class in the rows from the first one on."""
        scores = self.model.log_scores_of_rows(part)
        return calibrated_log_proba(scores, *self.calibration(part), first)

    def calibration(self, codes: Rows) -> tuple[LogScores, LogScores | None]:
        """What log scores of rows are divided by, and what is added to them then.

        A temperature is learned on whole rows. It counts as far as features are known,
        by their strength, the strongest known one aside: with one
        known feature or none, probabilities are those of the model. A cell of which a
        set of states is known is not.

        Returns
        -------
        temperatures : ndarray of shape (n_rows, 1) or (1, 1)
        shifts : ndarray of shape (n_rows, n_classes) or (n_classes,), or None
        """
        whole, shift = np.full((1, 1), self.temperature), self.prior_shift
        if self.temperature == 1.0:
            return whole, shift
        known = known_cells(available_codes(codes), codes.n_variables)
        if known.all():
            return whole, shift
        share = known_shares(self.strengths, known)[1][:, None]
        rates = 1.0 + share * (1.0 / self.temperature - 1.0)
        temperatures = np.where(share == 1.0, whole, 1.0 / rates)
        return temperatures, None if shift is None else share * shift

    @cached_property
    def strengths(self) -> Floats:
        """Mutual information of each feature and the class in the model, nats.

        That under the prior of training, whatever prior has taken its place.
        """
        change = np.zeros(len(self.classes))
        if self.prior_shift is not None and self.temperature != 1.0:
            change = self.prior_shift / (1.0 - 1.0 / self.temperature)
        *cards, _ = self.model.domain.cards
        result = np.empty(len(cards))
        for feature, card in enumerate(cards):
            columns = [np.full(card, other) for other in cards]
            columns[feature] = np.arange(card)
            scores = self.model.class_log_scores(Codes.from_columns(columns, cards))
            scores = scores - change
            joint = np.exp(scores - scores.max())
            joint /= joint.sum()
            apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
            possible = joint > 0
            ratios = np.log(joint[possible] / apart[possible])
            result[feature] = joint[possible] @ ratios
        return np.maximum(result, _MIN_INFORMATION)

    @naming_remedy("a prediction", "pass fewer rows at a time")
    def _by_parts(
        self,
        codes: Rows,
        result: NDArray[Any],
        function: Callable[[Rows, int], NDArray[Any]],
    ) -> NDArray[Any]:
        """Fill in what a function gives for stretches and the first row of each."""
        n_rows = codes.n_rows
        threads = worthwhile(self.n_threads, n_rows * codes.n_variables, _MIN_CELLS)
        n_parts = max(threads, -(-n_rows // _MOST_ROWS))
        if n_parts <= 1:
            return function(codes, 0)

        def fill(first: int, last: int) -> None:
            result[first:last] = function(codes.rows(slice(first, last)), first)

        parts = [
            partial(fill, first, last) for first, last in stretches(n_rows, n_parts)
        ]
        run_tasks(parts, threads)
        return result

    def proba(self, codes: Rows) -> Floats:
        """Posterior probability of each class, shape (n_rows, n_classes)."""
        logs = self.log_proba(codes)
        return np.exp(logs, out=logs)

    def choose(self, proba: Floats) -> NDArray[np.intp]:
        """The class of each row that is most probable or, under a loss, cheapest."""
        if self.loss is None:
            return np.asarray(np.argmax(proba, axis=1))
        return np.asarray(np.argmin(proba @ self.loss.T, axis=1))

    def predict(self, codes: Rows) -> NDArray[Any]:
        """The label chosen for each row, shape (n_rows,)."""

        def chosen(part: Rows, first: int) -> NDArray[np.intp]:
            return self.choose(np.exp(self._log_proba_of_part(part, first)))

        result = np.empty(codes.n_rows, dtype=np.intp)
        labels: NDArray[Any] = self.classes[self._by_parts(codes, result, chosen)]
        return labels

    @naming_remedy("an explanation", "pass fewer rows at a time")
    def explain(
        self, codes: Rows, against: Hashable = None, *, of: Hashable = None
    ) -> list[Explanation]:
        """Explain the label chosen for each row, or another one.

        Parameters
        ----------
        codes : Codes
            Features of one or more rows.
        against : label, optional
            The class to compare with; by default the most probable other one. Rows
            of which this class is explained are compared with the runner-up.
        of : label, optional
            The class to explain; by default the one predicted.

        Raises
        ------
        ValueError
            If `against` or `of` is no class.
        """
        log_posterior = self.log_proba(codes)
        predicted = self.choose(np.exp(log_posterior))
        if of is not None:
            predicted = np.full_like(predicted, self._class_place("of", of))
        others = None
        if against is not None:
            others = self._against(against, predicted, log_posterior)
        return explain_rows(
            self.model,
            codes,
            self.classes,
            log_posterior=log_posterior,
            predicted=predicted,
            against=others,
            calibration=self.calibration(codes),
        )

    def _against(
        self, label: Any, predicted: NDArray[np.intp], log_posterior: LogScores
    ) -> NDArray[np.intp]:
        """The class that each row is compared with."""
        chosen = self._class_place("against", label)
        others = runners_up(log_posterior, predicted)
        return np.asarray(np.where(predicted == chosen, others, chosen))

    def _class_place(self, argument: str, label: Any) -> int:
        """Place of the class that an argument names."""
        labels = self.classes.tolist()
        if label not in labels:
            raise ValueError(
                f"{argument} must be one of the classes {name_list(labels)}, got "
                f"{quoted(label)}"
            )
        return int(labels.index(label))

    def __repr__(self) -> str:
        return brief(self, repr(self.model))


# A fitted classifier, what scikit-learn wraps around one, or its predictor.
ModelLike = Predictor | Estimator


def predictor_inside(
    model: Any, or_file: str = "", *, same_columns: bool = False
) -> Predictor:
    """The predictor of a fitted classifier, or the predictor itself; else TypeError.

    Of a search or a pipeline, that of its classifier; see `model_inside`.
    """
    model = model_inside(model, same_columns=same_columns)
    if isinstance(model, Predictor):
        return model
    if not hasattr(model, "_predictor"):
        raise TypeError(
            f"model must be a fitted classifier of this library{or_file}, got a "
            f"{type(model).__name__}"
        )
    found = model._predictor()
    assert isinstance(found, Predictor)
    return found
