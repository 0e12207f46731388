"""The library's own model file: one record of fitted estimators of every kind.

JSON, validated on reading, never executed. Numbers are written so that they are read
back bit for bit; a model of many numbers is a zip archive of the JSON and its arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.errors import ModelFileError
from bayleaf.io.native.documents import MAX_BYTES, read_document, write_document
from bayleaf.io.native.kinds import KINDS, FittedModel
from bayleaf.io.native.tables import TableReading, labels_of_type
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.fit_stamp import FitStamp
from bayleaf.models.interval_target import IntervalTargetModel
from bayleaf.models.left_out_answers import LeftOutAnswers
from bayleaf.models.page_model import CLASSIFIER, DENSITY, REGRESSOR, PageModel
from bayleaf.models.predictor import Predictor
from bayleaf.models.support.support_counts import SupportCounts
from bayleaf.search.left_out.left_out_scores import LeaveOneOutScores
from bayleaf.search.left_out.temperature import HIGHEST, LOWEST
from bayleaf.typing import JSONObject
from bayleaf.wording import brief_fields

FORMAT = "bayleaf-model"
# Fields that the file of an estimator of each kind must have, and others may lack.
_REQUIRED = {
    "classifier": ("label_type", "log_likelihood"),
    "density": ("log_likelihood", "score"),
    "regressor": ("left_out_crps", "left_out_coverage"),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedModel(TableReading):
    """A fitted classifier, density model or regressor as its file contains it.

    `SavedModel.of_predictor` makes that of a classifier.

    Parameters
    ----------
    domain : Domain
        The model's variables, a class or target last.
    rules, notes, readings, label_type
        How the columns of a table are read; see `encoder` and `classes`.
    model : class model, BayesianNetwork or IntervalTargetModel
        What was learned.
    estimator : str
        Name of the estimator's class.
    parameters : dict
        The estimator's parameters as plain values.
    named_features : bool
        Whether the training table had column names.
    fitted : FitStamp
        Date and version of the library of the fit.
    log_likelihood : float, optional
        Of the training rows, in nats; not of a regressor.
    score, sample, rows : float, str, float, optional
        Of a density model: what the search made large, what was learned from a sample
        of the rows, and the weight of all training rows.
    left_out_crps, left_out_coverage : float, optional
        Of a regressor: mean score of left-out training rows in the target's unit, and
        the share of them inside their 90 % interval.
    left_out : LeaveOneOutScores, optional
        Of a classifier: how well training rows are predicted without themselves.
    left_out_answers : LeftOutAnswers, optional
        Left-out answers of the training rows that a page suggests, where the record
        has nothing else that gives them.
    loss, temperature, prior_shift
        Of a classifier, as in `Predictor`.
    support : SupportCounts, optional
        The training rows behind a classifier's tables, each table flat.
    """

    model: FittedModel
    estimator: str
    parameters: JSONObject = field(default_factory=dict)
    named_features: bool = True
    fitted: FitStamp = field(default_factory=FitStamp.now)
    log_likelihood: float | None = None
    score: float | None = None
    sample: str | None = None
    rows: float | None = None
    left_out_crps: float | None = None
    left_out_coverage: float | None = None
    left_out: LeaveOneOutScores | None = None
    left_out_answers: LeftOutAnswers | None = None
    loss: NDArray[np.float64] | None = None
    temperature: float = 1.0
    prior_shift: NDArray[np.float64] | None = None
    support: SupportCounts | None = None

    __repr__ = brief_fields

    @classmethod
    def of_predictor(cls, predictor: Predictor, **others: object) -> Self:
        """Make the record of a classifier.

        Parameters
        ----------
        predictor : Predictor
            Encoder, model, class labels, loss, calibration and support.
        **others
            The fields that a predictor lacks: `estimator`, `parameters`,
            `log_likelihood`, `left_out`, `left_out_answers`, `named_features` and
            `fitted`.
        """
        support = predictor.support
        if support is not None:
            support = replace(support, rows=tuple(r.ravel() for r in support.rows))
        return cls.of(
            predictor.encoder,
            predictor.model.domain,
            predictor.classes,
            model=predictor.model,
            loss=predictor.loss,
            temperature=predictor.temperature,
            prior_shift=predictor.prior_shift,
            support=support,
            **others,
        )

    @property
    def kind(self) -> str:
        """The kind of estimator: "classifier", "density" or "regressor"."""
        if isinstance(self.model, BayesianNetwork):
            return DENSITY
        is_regressor = isinstance(self.model, IntervalTargetModel)
        return REGRESSOR if is_regressor else CLASSIFIER

    @property
    def has_target(self) -> bool:
        """Whether the last variable is predicted from the others."""
        return self.kind != "density"

    @cached_property
    def predictor(self) -> Predictor:
        """What classifies rows; ModelFileError unless this is a classifier."""
        classes = self.classes
        if self.kind != "classifier" or classes is None:
            raise ModelFileError(
                f"the model is a {self.estimator[:60]}, but a classifier is needed here"
            )
        model: Any = self.model
        support = self.support
        if support is not None:
            sizes = zip(support.rows, model.table_sizes, strict=True)
            rows = tuple(rows.reshape(size.shape) for rows, size in sizes)
            support = replace(support, rows=rows)
        return Predictor(
            self.encoder,
            model,
            classes,
            self.loss,
            self.temperature,
            self.prior_shift,
            support=support,
        )

    def _page_model(self) -> PageModel:
        if self.kind == CLASSIFIER:
            shown = self.predictor._page_model()
        else:
            # A regressor draws the intervals of its target.
            drawn = getattr(self.model, "intervals", self.model)
            shown = PageModel(
                name=self.estimator,
                task=self.kind,
                model=drawn,
                scorer=self.model,
                encoder=self.encoder,
            )
        of_number = (self.left_out_crps, self.left_out_coverage)
        answers = self.left_out_answers
        return replace(
            shown,
            name=self.estimator,
            saved=lambda: self,
            left_out=shown.left_out if answers is None else answers.to,
            quality=lambda: of_number if self.kind == REGRESSOR else self.left_out,
            fitted=self.fitted,
            rows=self.rows,
        )

    def check_content(self) -> None:
        """Raise ValueError unless the parts fit each other."""
        for name in _REQUIRED[self.kind]:
            if getattr(self, name) is None:
                raise ModelFileError(f"the model file lacks the field {name!r}")
        if self.rows is not None and not 0 <= self.rows < math.inf:
            raise ValueError("rows should be a weight of rows")
        coverage = self.left_out_coverage
        if coverage is not None and not 0 <= coverage <= 1:
            raise ValueError("left_out_coverage should be a share of rows")
        bins = self.left_out and self.left_out.calibration
        if bins and len(bins.rows) != self.domain[-1].n_states:
            raise ValueError("left_out should have bins for every class")
        if self.left_out_answers is not None:
            self._check_answers(self.left_out_answers.answers)
        if self.kind == "classifier":
            self._check_classes()
            if self.support is not None:
                _check_support(self.support, self.model)

    def _check_answers(self, answers: NDArray[np.float64]) -> None:
        """Raise ValueError unless left-out answers may be those of this model."""
        n_figures = {CLASSIFIER: self.domain[-1].n_states, REGRESSOR: 3}
        fits = answers.shape[1] == n_figures.get(self.kind)
        if fits and self.kind == CLASSIFIER:
            fits = (answers >= 0).all() and np.allclose(answers.sum(axis=1), 1.0)
        elif fits:
            fits = (answers[:, 1] <= answers[:, 2]).all()
        if not fits:
            raise ValueError("left_out_answers do not fit the target of the model")

    def _check_classes(self) -> None:
        """Raise ValueError unless labels, loss and calibration fit the classes."""
        if len(self.domain) < 2:
            raise ValueError("a model needs at least one feature and the class")
        n_classes = self.domain[-1].n_states
        if not n_classes or self.domain[-1].has_missing_state:
            raise ValueError("the class needs at least one state, and none for missing")
        for name, shape in (("loss", (n_classes,) * 2), ("prior_shift", (n_classes,))):
            if np.shape(given := getattr(self, name)) != shape and given is not None:
                raise ValueError(f"{name} should have the shape {shape}")
        if not LOWEST <= self.temperature <= HIGHEST:
            raise ValueError(
                f"temperature should be between {LOWEST} and {HIGHEST}, but is "
                f"{self.temperature:.6g}"
            )
        assert self.label_type is not None
        labels_of_type(self.label_type, self.domain[-1].states)


def write_model(saved: SavedModel, path: str | Path) -> None:
    """Write a model file; an older file is replaced only when all is written.

    Raises
    ------
    TypeError
        If a label or parameter cannot stand in JSON, or models of this class have no
        place in files.
    ValueError
        If a table does not hold distributions, or a number is not finite.
    OSError
        If the file cannot be written.
    """
    if type(saved.model) not in KINDS[FittedModel].values():
        raise TypeError(
            f"models of type {type(saved.model).__name__} have no place in files; "
            "give the class one with bayleaf.io.register_model_kind"
        )
    write_document(FORMAT, saved, path)


def read_model(path: str | Path, *, max_bytes: int = MAX_BYTES) -> SavedModel:
    """Read a model file and check everything in it.

    Parameters
    ----------
    path : str or Path
        The file.
    max_bytes : int, default=2**30
        Larger files are refused.

    Raises
    ------
    ModelFileError
        If the file is no model file of a known version, or holds something that is no
        model: one sentence says what.
    OSError
        If the file cannot be read.
    """
    return read_document(path, max_bytes, {FORMAT: SavedModel})


def _check_support(support: SupportCounts, model: Any) -> None:
    """Raise ValueError unless support has numbers for the model's tables and states."""
    sizes = [math.prod(size.shape) for size in model.table_sizes]
    if len(support.rows) != len(sizes):
        raise ValueError(
            f"the support has {len(support.rows)} tables, but the model has "
            f"{len(sizes)}"
        )
    for rows, size in zip(support.rows, sizes, strict=True):
        if rows.size != size:
            raise ValueError(
                f"the support of a table should hold {size} numbers, but holds "
                f"{rows.size}"
            )
    cards = [len(rows) for rows in support.state_rows or ()]
    if support.state_rows is not None and cards != list(model.domain.cards):
        raise ValueError(
            "the support should hold the training rows of every state of every variable"
        )
