"""How sure a model can be of its probabilities, with the rows it was learned from."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import Rows, single_states
from bayleaf.data.random_state import RandomState, random_generator
from bayleaf.explain.questions import uniform_numbers
from bayleaf.explain.subject import rows_of
from bayleaf.models.class_model import ClassModel, calibrated_log_proba
from bayleaf.models.predictor import ModelLike, Predictor, predictor_inside
from bayleaf.models.support.support_counts import SupportCounts
from bayleaf.models.wrappers import model_inside
from bayleaf.results.document import Document, Items, Table
from bayleaf.results.result import Record, Result
from bayleaf.results.result_lists import ResultList
from bayleaf.typing import JSONObject, RowsLike
from bayleaf.wording import brief, counted, quoted, rough, stated

Floats = NDArray[np.float64]

# Scores that are held at a time.
_BLOCK_VALUES = 1 << 22
# Classes of which a text tells, and whose cells are listed.
_CLASSES_SHOWN = 5
_CLASSES_TOLD = 2
_CELLS_SHOWN = 5
Given = tuple[tuple[str | int, str], ...]

# Rows below which a distribution is told to rest on little.
FEW_ROWS = 5.0


@dataclass(frozen=True)
class CellSupport(Record, keys={"is_rare": "rare"}, computed=("is_rare",)):
    """The training rows behind one distribution that a row uses.

    Parameters
    ----------
    feature : str or int
        Whose distribution it is.
    value : str
        Its state in the row.
    given : tuple of (str or int, str)
        What the distribution is conditioned on, the class included.
    rows : float
        Weight of the training rows behind the distribution, before smoothing.
    """

    feature: str | int
    value: str
    given: Given
    rows: float

    @property
    def is_rare(self) -> bool:
        """Whether fewer than five rows stand behind it."""
        return self.rows < FEW_ROWS

    def to_dict(self) -> JSONObject:
        """The support as plain values, ready for JSON."""
        return super().to_dict() | {"given": {str(n): state for n, state in self.given}}

    def __repr__(self) -> str:
        return brief(self, self)

    def __str__(self) -> str:
        given = ", ".join(stated(name, state) for name, state in self.given)
        condition = f" given {given}" if given else ""
        rows = "1 row" if self.rows == 1 else f"{rough(self.rows)} rows"
        return f"{stated(self.feature, self.value)}{condition}: {rows}"


@dataclass(frozen=True)
class ClassInterval(Record, keys={"label": "class"}):
    """A class's probability and where it lies, given what was learned from.

    Parameters
    ----------
    label : object
        The class.
    probability : float
        P(class | row) by the model.
    low, high : float
        Ends of the central interval of the draws.
    """

    label: Hashable
    probability: float
    low: float
    high: float


@dataclass(frozen=True)
class CredibleInterval(Result):
    """Credible intervals of one row's class probabilities.

    Parameters
    ----------
    row : int
        Position of the row in the table.
    level : float
        Probability that each interval holds.
    classes : tuple of ClassInterval
        In the order of the model's classes.
    cells : tuple of CellSupport
        The distributions used for the two most probable classes.
    """

    row: int
    level: float
    classes: tuple[ClassInterval, ...]
    cells: tuple[CellSupport, ...]

    @property
    def rare_cells(self) -> tuple[CellSupport, ...]:
        """The distributions that rest on fewer than five rows, fewest first."""
        rare = (cell for cell in self.cells if cell.is_rare)
        return tuple(sorted(rare, key=lambda cell: cell.rows))

    def document(self) -> Document:
        """The intervals, and what rests on few rows."""
        ranked = sorted(self.classes, key=lambda share: -share.probability)
        intervals = [
            f"{a.probability:.3f} in [{a.low:.3f}, {a.high:.3f}]  {a.label}"
            for a in ranked[:_CLASSES_SHOWN]
        ]
        rare = [str(cell) for cell in self.rare_cells]
        title = f"resting on fewer than {FEW_ROWS:g} training rows"
        rows = [
            (
                str(share.label),
                *(f"{v:.3f}" for v in (share.probability, share.low, share.high)),
            )
            for share in ranked
        ]
        table = Table(
            ("class", "probability", "from", "to"),
            rows,
            f"row {self.row}",
            bars=[(share.low, share.high) for share in ranked],
            whole=1.0,
            max_rows=_CLASSES_SHOWN,
        )
        return Document(
            f"{100 * self.level:g} % credible intervals",
            [Items(intervals, table=table), Items(rare, title, _CELLS_SHOWN)],
            is_short=True,
        )

    def __repr__(self) -> str:
        best = max(self.classes, key=lambda share: share.probability)
        return brief(
            self,
            f"row {self.row}",
            f"{best.label} {best.probability:.3f} in [{best.low:.3f}, {best.high:.3f}]",
            f"level {self.level:g}",
            f"{counted(len(self.rare_cells), 'distribution')} on few rows",
        )


def credible_intervals(
    model: ModelLike,
    X: RowsLike | Rows,
    *,
    n_draws: int | None = None,
    level: float = 0.95,
    random_state: RandomState = None,
) -> ResultList[CredibleInterval]:
    """Tell how far class probabilities depend on the chance of which rows were seen.

    Each distribution in the model's tables is drawn from the Dirichlet posterior with
    its smoothed counts; the structure, the calibration and a given class prior stay.

    Parameters
    ----------
    model : classifier
        The fitted model, with its training rows or the counts that a file keeps.
    X : table of shape (n_rows, n_features), or a mapping
        The rows, or what is known of one.
    n_draws : int, optional
        Number of draws; by default 4 000 of averaged KDB, as on pages, else 1 000.
    level : float, default=0.95
        Probability of each central interval.
    random_state : int, RandomState, Generator or None, default=None
        Source of the draws; of averaged KDB by default the draws of pages, the same
        each time.

    Returns
    -------
    ResultList of CredibleInterval
        One a row.

    Raises
    ------
    ValueError
        If the model keeps no counts, or `n_draws` or `level` is out of range.

    Notes
    -----
    Rows that are shared out among components or experts count in part. The scores of
    averaged KDB are taken as normal, with the variance of the Dirichlet's logarithms to
    first order: of two classes, ends are then computed, not drawn.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {quoted(level)}")
    if n_draws is not None and n_draws < 2:
        raise ValueError(f"n_draws must be at least 2, got {quoted(n_draws)}")
    predictor = predictor_inside(model)
    if n_draws is None:
        n_draws = 4000 if predictor.model.has_normal_scores else 1000
    codes = single_states(rows_of(model, X), "draws of tables need single states")
    support = support_of(model)
    rng = None if random_state is None else random_generator(random_state)
    proba = predictor.proba(codes)
    n_classes = proba.shape[1]
    ends = np.empty((2, codes.n_rows, n_classes))
    step = max(1, _BLOCK_VALUES // (n_draws * n_classes))
    shares = [(1 - level) / 2, (1 + level) / 2]
    for first in range(0, codes.n_rows, step):
        rows = codes.rows(slice(first, first + step))
        if predictor.model.has_normal_scores:
            ends_of_block = _ends_of_normal(predictor, rows, shares, n_draws, rng)
        else:
            scores = predictor.model.sample_log_scores(
                rows, support, n_draws, rng or random_generator(None)
            )
            drawn = _posteriors(predictor, rows, scores)
            ends_of_block = np.quantile(drawn, shares, axis=0)
        ends[:, first : first + step] = ends_of_block
    told = np.argsort(-proba, axis=1, kind="stable")[:, :_CLASSES_TOLD]
    cells = _cells_behind(predictor.model, support, codes, told)
    return ResultList(
        CredibleInterval(
            row,
            level,
            tuple(
                ClassInterval(label, *map(float, (p, *end)))
                for label, p, end in zip(
                    predictor.classes, proba[row], ends[:, row].T, strict=True
                )
            ),
            cells[row],
        )
        for row in range(codes.n_rows)
    )


def _ends_of_normal(
    predictor: Predictor,
    codes: Codes,
    shares: Sequence[float],
    n_draws: int,
    rng: np.random.Generator | None,
) -> Floats:
    """Ends of intervals where scores are normal, (n_ends, n_rows, n_classes).

    Of two classes those of a normal distribution of the log-odds; of more those of
    draws, without a generator those of pages.
    """
    from scipy.special import expit, ndtri, softmax

    variance = predictor.model.score_variance(codes)
    assert variance is not None
    temperatures, _ = predictor.calibration(codes)
    deviations = np.sqrt(variance) / temperatures
    log_proba = predictor.log_proba(codes)
    n_classes = log_proba.shape[1]
    if n_classes == 2:
        odds = log_proba - log_proba[:, ::-1]
        spread = np.hypot(*deviations.T)[:, None]
        return np.array([expit(odds + ndtri(share) * spread) for share in shares])
    shape = (n_draws, 1, n_classes)
    if rng is None:
        # Box and Muller (1958), in the order in which pages draw.
        numbers = islice(uniform_numbers(11), 2 * n_draws * n_classes)
        first, second = np.fromiter(numbers, float).reshape(-1, 2).T
        noise = np.sqrt(-2 * np.log1p(-first)) * np.cos(2 * np.pi * second)
        noise = noise.reshape(shape)
    else:
        noise = rng.standard_normal((n_draws, *log_proba.shape))
    drawn = softmax(log_proba + noise * deviations, axis=2)
    return np.asarray(np.quantile(drawn, shares, axis=0))


def support_of(model: Any) -> SupportCounts:
    """The training rows behind a model's tables; ValueError if the model has none."""
    predictor_inside(model)
    kept: SupportCounts | None = model_inside(model)._page_model().support()
    if kept is None:
        raise ValueError(
            "this model keeps no counts of its training rows, which credible intervals "
            "need; fit it again, or save it again before the rows are gone"
        )
    return kept


def _cells_behind(
    model: ClassModel, support: SupportCounts, codes: Codes, classes: NDArray[np.intp]
) -> list[tuple[CellSupport, ...]]:
    """Rows behind the cells that rows use under `classes`, shape (n_rows, n_shown).

    Cells by feature, then class. Where a feature is in several tables: for averages the
    one with the fewest rows, for mixtures that of the row's most likely component or
    expert.
    """
    found: list[list[CellSupport]] = [[] for _ in range(codes.n_rows)]
    for fact, given, rows in model.used_cells(codes, support):
        for row, label in np.ndindex(classes.shape):
            chosen = int(classes[row, label])
            weight = float(rows[row, chosen])
            if np.isfinite(weight):
                cell = CellSupport(*fact(row, chosen), given(row, chosen), weight)
                found[row].append(cell)
    return [tuple(cells) for cells in found]


def _posteriors(predictor: Predictor, codes: Codes, scores: Floats) -> Floats:
    """Class probabilities of drawn scores, (n_draws, n_rows, n_classes)."""
    calibration = predictor.calibration(codes)
    return np.exp([calibrated_log_proba(drawn, *calibration) for drawn in scores])
