"""Held-out log-likelihood of density models, against the most that any could reach."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import available_codes
from bayleaf.data.tables.frames import take_rows
from bayleaf.data.tables.named_rows import named_table
from bayleaf.data.unknown_cells import reported_elsewhere
from bayleaf.evaluation.folds import Rows, fold_plans, shuffled_folds, validate_each
from bayleaf.evaluation.statistics import Floats
from bayleaf.inference.junction_tree import TooWideError
from bayleaf.inference.log_sums import log_of
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.results.document import Document, Facts, Name, Text
from bayleaf.results.result import Record, Result, plain_values
from bayleaf.results.result_lists import ResultList
from bayleaf.typing import Estimator, JSONObject, TableLike
from bayleaf.wording import brief, counted, in_bits


@dataclass(frozen=True)
class DensityScores(
    Record,
    keys={"log_probabilities": None, "independent_log_probabilities": None},
    nats=("log_likelihood", "bound", "log_probabilities"),
):
    """What a density model makes of one set of held-out rows.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    log_likelihood : float
        Sum of the rows' log probabilities, in nats; minus infinity if a row is
        impossible.
    bound : float
        The most that any distribution reaches on these rows, see `entropy_bound`.
    n_impossible : int
        Rows of probability zero.
    log_probabilities : ndarray of shape (n_rows,), dtype float64
        Of the rows, in nats.
    independent_log_probabilities : ndarray of shape (n_rows,), dtype float64
        The same if columns were independent, each as the model expects it.
    """

    n_rows: int
    log_likelihood: float
    bound: float
    n_impossible: int
    log_probabilities: Floats = field(repr=False, compare=False)
    independent_log_probabilities: Floats = field(repr=False, compare=False)

    @property
    def nats_per_row(self) -> float:
        """Mean log probability of a row, in nats."""
        return self.log_likelihood / self.n_rows


@dataclass(frozen=True)
class DensityValidation(
    Result,
    keys={"name": "model", "n_repeats": None},
    computed=("log_likelihood", "bound", "n_impossible"),
):
    """Held-out log-likelihood of one density model over all folds and repeats.

    Parameters
    ----------
    name : str
        What the model is called.
    folds : tuple of DensityScores
        One a fold, repeat after repeat.
    n_repeats : int
        How often every row was held out.
    fit_seconds : float
        Mean time a fold.
    n_parameters, n_arcs : float
        Means over the folds.
    """

    name: str
    folds: tuple[DensityScores, ...]
    n_repeats: int
    fit_seconds: float
    n_parameters: float
    n_arcs: float

    @property
    def log_likelihood(self) -> float:
        """Sum over the rows of the table, each held out, in nats; repeats averaged."""
        return math.fsum(f.log_likelihood for f in self.folds) / self.n_repeats

    @property
    def bound(self) -> float:
        """Sum of the folds' bounds, in nats; repeats averaged."""
        return math.fsum(fold.bound for fold in self.folds) / self.n_repeats

    @property
    def n_impossible(self) -> int:
        """Held-out rows of probability zero, over all folds."""
        return sum(fold.n_impossible for fold in self.folds)

    @property
    def nats_per_row(self) -> float:
        """Mean log probability of a held-out row, in nats."""
        n_rows = sum(fold.n_rows for fold in self.folds) / self.n_repeats
        return self.log_likelihood / n_rows

    @property
    def sd_per_row(self) -> float:
        """Standard deviation over folds of the nats a row; infinite where a fold is."""
        if self.n_impossible:
            return math.inf
        return float(np.std([fold.nats_per_row for fold in self.folds], ddof=1))

    def to_dict(self) -> JSONObject:
        """The figures as plain values; null where a likelihood is infinite."""
        nats = {"mean": self.nats_per_row, "sd": self.sd_per_row}
        return {**super().to_dict(), "nats_per_row": plain_values(nats)}

    def document(self) -> Document:
        """The log-likelihood, its part per row, and what it cannot reach."""
        sd = in_bits(self.sd_per_row)
        rows: list[tuple[str, Text]] = [
            ("log-likelihood", f"{in_bits(self.log_likelihood):.8g} bits"),
            ("bits per row", f"{in_bits(self.nats_per_row):.3f} ± {sd:.3f}"),
            ("impossible rows", str(self.n_impossible)),
            ("arcs", f"{self.n_arcs:.0f}"),
            ("parameters", f"{self.n_parameters:.0f}"),
        ]
        folds = counted(len(self.folds), "fold")
        return Document((Name(self.name), f": {folds}"), [Facts(rows)])

    def __repr__(self) -> str:
        total = f"held-out log-likelihood {in_bits(self.log_likelihood):.8g} bits"
        return brief(self, self.name, counted(len(self.folds), "fold"), total)


def cross_validate_density(
    estimators: Mapping[str, Estimator],
    X: TableLike,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    random_state: int = 0,
    verbose: int = 0,
) -> ResultList[DensityValidation]:
    """Score density models on the same shuffled folds.

    Everything, cut points and hierarchies included, is learned inside the training
    folds, but for the kinds of columns, which all rows decide. Log probabilities are
    those of the coded cells: of an interval where a column of numbers was cut, so that
    models with other cut points do not compare.

    Parameters
    ----------
    estimators : mapping of str to BayesianNetworkEstimator
        Each is cloned for every fold.
    X : data frame or ndarray of shape (n_rows, n_columns)
        The table.
    n_folds : int, default=10
        Number of folds.
    n_repeats : int, default=1
        Number of shuffles; shuffle r uses the seed ``random_state + r``.
    random_state : int, default=0
        Seed of the first shuffle.
    verbose : int, default=0
        Above zero, standard error shows the fold, the share done and the time left.

    Returns
    -------
    ResultList of DensityValidation
        In the order of `estimators`.

    Raises
    ------
    ValueError
        If there are fewer rows than folds, or fewer than 2 folds or 1 repeat.
    """
    table: Any = named_table(X)
    n_rows = int(getattr(table, "num_rows", None) or len(table))
    if not 2 <= n_folds <= n_rows or n_repeats < 1:
        raise ValueError(
            f"folds must be between 2 and the {n_rows} rows, and repeats at least 1, "
            f"got {n_folds} and {n_repeats}"
        )
    splits = shuffled_folds(n_rows, n_folds, n_repeats, random_state)
    plans = fold_plans(estimators, table)
    validations: ResultList[DensityValidation] = ResultList()
    for name, folds in validate_each(
        estimators, splits, partial(_run_fold, table, plans), verbose
    ):
        scores, *sizes = zip(*folds, strict=True)
        means = (float(np.mean(size)) for size in sizes)
        validations.append(DensityValidation(name, scores, n_repeats, *means))
    return validations


def entropy_bound(codes: Codes) -> float:
    """The largest log-likelihood that any distribution has on some rows, in nats.

    Without missing cells it is that of the rows' own relative frequencies, ``-N H``
    with H their empirical entropy in nats (Cover & Thomas 2006, section 11.1). Rows
    with missing cells are bounded apart, pattern by pattern, each by the frequencies
    of what its rows do hold; no distribution can do better on any of the parts.

    Parameters
    ----------
    codes : Codes
        The rows; their weights are not used.

    Returns
    -------
    float
        At most 0.
    """
    columns = range(codes.n_variables)
    table = np.stack([codes.column(i) for i in columns], axis=1).astype(np.int32)
    cards = np.array(codes.cards)
    distinct, counts = np.unique(table, axis=0, return_counts=True)
    _, pattern = np.unique(distinct == cards, axis=0, return_inverse=True)
    pattern = pattern.ravel()
    totals = np.bincount(pattern, weights=counts)
    return float(np.sum(counts * np.log(counts / totals[pattern])))


def independent_logs(network: BayesianNetwork, codes: Codes) -> Floats:
    """Log-probability (nats) of rows (n_rows,) by the network's marginals alone.

    NaN where posteriors of all variables would need too large a table.
    """
    try:
        marginals = network.query()
    except TooWideError:
        return np.full(codes.n_rows, np.nan)
    total = np.zeros(codes.n_rows)
    for index, name in enumerate(network.domain.names[: codes.n_variables]):
        # Missing cells have no part in it.
        logs = log_of(np.append(marginals[name].probabilities, 1.0))
        total += logs[codes.column(index)]
    return total


def _run_fold(
    X: Any, plans: Mapping[str, Any], name: str, estimator: Any, train: Rows, test: Rows
) -> tuple[DensityScores, float, int, int]:
    """Scores of a clone fitted to the training rows; seconds, parameters and arcs."""
    start = time.perf_counter()
    model = clone(estimator).fit(take_rows(X, train), **plans[name])
    seconds = time.perf_counter() - start
    held_out = take_rows(X, test)
    with reported_elsewhere():
        logs: NDArray[np.float64] = model.score_samples(held_out)
    if np.isnan(logs).any():
        raise ValueError(f"{name} gave held-out rows a log probability of NaN")
    encoded, log_mass = model._known_cells(held_out)
    codes = available_codes(encoded.rows)
    scores = DensityScores(
        n_rows=len(logs),
        log_likelihood=float(logs.sum()),
        bound=entropy_bound(codes),
        n_impossible=int(np.isneginf(logs).sum()),
        log_probabilities=logs,
        independent_log_probabilities=log_mass
        + independent_logs(model.network_, codes),
    )
    return scores, seconds, model.n_free_parameters_, len(model.edges_)
