"""Parameters of estimators: how classes declare them, and checks of shared ones."""

from __future__ import annotations

import inspect
import math
import numbers
import reprlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.column_reading import EncoderRules
from bayleaf.data.incomplete_rows import DROP
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.columns import Name
from bayleaf.wording import name_list, near_names, quoted, size_text

# The value of a parameter that leave-one-out chooses.
AUTO = "auto"
CALIBRATIONS = ("leave_one_out",)
# The value of class_weight by which all classes get the same weight.
BALANCED = "balanced"
# Bytes that tables may take where no limit is given.
_MOST_BYTES = 1 << 32
# Sums of larger costs could overflow.
_LARGEST_COST = 1e100
GENERATIVE, CONDITIONAL = "generative", "conditional"
DISCRETIZE, GAUSSIAN = NUMERIC_RULES = ("discretize", "gaussian")


def check_model_size(n_bytes: int, memory: int | None) -> None:
    """Raise before the work if tables would take more than a limit of memory."""
    limit, remedy = memory, "raise memory"
    if limit is None:
        limit, remedy = _MOST_BYTES, f"pass memory={n_bytes} to fit"
    if n_bytes > limit:
        raise ValueError(
            f"the tables would take about {size_text(n_bytes)} of memory, more than "
            f"{size_text(limit)}; drop features, coarsen columns, or {remedy}"
        )


def check_pairs_size(n_features: int, bytes_a_pair: int, memory: int | None) -> None:
    """Raise before a search if the scores of all pairs take more than a limit."""
    needed = n_features**2 * bytes_a_pair
    if memory is not None and needed > memory:
        raise ValueError(
            f"memory={memory} is too small for the pairs of {n_features} features; "
            f"{needed} is enough, or drop features"
        )


def check_count(name: str, value: Any, lowest: int, *, or_else: str = "") -> None:
    """Raise unless a parameter is an integer of at least `lowest`.

    `or_else` names another value that is allowed, for the message.
    """
    form = f"an integer >= {lowest}"
    _check_number(name, value, numbers.Integral, lambda n: n >= lowest, form, or_else)


def _check_number(
    name: str,
    value: Any,
    kind: type,
    is_allowed: Callable[[Any], bool],
    form: str,
    or_else: str = "",
) -> None:
    """Raise TypeError unless a parameter is a number of a kind, then ValueError."""
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    if is_number and is_allowed(value):
        return
    refusal = f"{name} must be {form}, got {quoted(value)}"
    refusal += f"; {quoted(or_else)} is allowed too" if or_else else ""
    raise (ValueError if is_number else TypeError)(refusal)


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise unless a parameter is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {allowed}, got {quoted(value)}")


def check_threshold(
    name: str, value: Any, *, or_else: str = "", none_too: bool = True
) -> None:
    """Raise unless a parameter is a finite number >= 0, or None; see `check_count`."""
    if value is None and none_too:
        return
    form = f"{'None or ' if none_too else ''}a number >= 0"
    _check_number(name, value, numbers.Real, lambda x: 0 <= x < math.inf, form, or_else)


def check_share(name: str, value: Any) -> None:
    """Raise unless a parameter is a number between 0 and 1, both left out."""
    form = "a number between 0 and 1"
    _check_number(name, value, numbers.Real, lambda x: 0.0 < float(x) < 1.0, form)


def check_flag(name: str, value: Any) -> None:
    """Raise unless a parameter is a boolean."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {quoted(value)}")


def check_shared(estimator: Any) -> None:
    """Raise if a parameter that only classifiers share is out of range."""
    if estimator.calibration is not None:
        check_choice("calibration", estimator.calibration, CALIBRATIONS)
    check_flag("fit_prior", estimator.fit_prior)
    _check_class_weight(estimator.class_weight)


def _check_class_weight(class_weight: Any) -> None:
    """Raise unless weights of classes are "balanced", or a positive number by class."""
    if class_weight is None or (
        isinstance(class_weight, str) and class_weight == BALANCED
    ):
        return
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight must be {quoted(BALANCED)}, a mapping from classes to "
            f"weights, or None, got {quoted(class_weight)}"
        )
    for label, weight in class_weight.items():
        known = isinstance(weight, numbers.Real) and not isinstance(weight, bool)
        if not known or not 0 < float(weight) < math.inf:
            raise ValueError(
                f"class_weight must be a number > 0, got {quoted(weight)} for the "
                f"class {quoted(label)}; to leave out rows, give them the weight 0 in "
                "sample_weight"
            )


def check_jobs(n_jobs: Any) -> None:
    """Raise unless `n_jobs` is None or an integer other than zero."""
    if n_jobs is None:
        return
    if not isinstance(n_jobs, numbers.Integral):
        raise TypeError(f"n_jobs must be None or an integer, got {quoted(n_jobs)}")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; -1 means all cores")


def encoder_rules(estimator: Any) -> EncoderRules:
    """The estimator's rules for reading columns."""
    declared = estimator.categorical_features
    if declared is not None:
        if isinstance(declared, str):
            raise TypeError(
                "categorical_features must be a list of columns, got the string "
                f"{quoted(declared)}; write [{quoted(declared)}]"
            )
        if not hasattr(declared, "__iter__"):
            raise TypeError(
                "categorical_features must be a list of columns or None, got "
                f"{quoted(declared)}"
            )
        declared = tuple(
            item.item() if isinstance(item, np.generic) else item for item in declared
        )
    return EncoderRules(
        categorical_features=declared,
        # Expectation maximisation leaves missing cells open, too, and so do
        # predictions of models that were learned from complete rows.
        missing=(
            "marginalize" if estimator.missing in ("em", DROP) else estimator.missing
        ),
        # How a density takes them is its own matter.
        unknown="error" if estimator.unknown == "error" else "missing",
        max_states=estimator.max_states,
        identifiers=estimator.identifiers,
        rare=estimator.rare,
        dates=estimator.dates,
        ordered_features=_orders(estimator.ordered_features),
        plan=estimator._plan,
    )


def _orders(declared: Any) -> tuple[tuple[Name, tuple[Hashable, ...]], ...]:
    """The orders of categories that a parameter declares."""
    if declared is None:
        return ()
    if isinstance(declared, Mapping):
        for name, order in declared.items():
            if isinstance(order, str) and "<" in order:
                continue
            if isinstance(order, str) or not hasattr(order, "__iter__"):
                raise TypeError(
                    f"ordered_features must list the categories of {quoted(name)}, "
                    f"the least first, got {quoted(order)}"
                )
            if len(set(order)) < len(list(order)):
                raise ValueError(
                    f"ordered_features lists a category of {quoted(name)} twice"
                )
        return tuple(
            (name, (order,) if isinstance(order, str) else tuple(order))
            for name, order in declared.items()
        )
    if isinstance(declared, str) or not hasattr(declared, "__iter__"):
        raise TypeError(
            "ordered_features must be a mapping from columns to their categories in "
            f"order, or a list of columns, got {quoted(declared)}"
        )
    return tuple((name, ()) for name in declared)


def numbers_of(name: str, values: Any) -> NDArray[np.float64]:
    """A parameter as an array of floats.

    TypeError if it contains something other than real numbers; ValueError if its rows
    differ in length or a number is too large for a float.
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must have rows of one length") from error
    try:
        if array.dtype.kind not in "biufO":
            raise TypeError(array.dtype)
        return array.astype(np.float64)
    except OverflowError as error:
        raise ValueError(f"{name} holds a number too large for a float") from error
    except (TypeError, ValueError) as error:
        cells = np.ravel(array).tolist()
        wrong = next(
            (cell for cell in cells if not isinstance(cell, numbers.Real)), values
        )
        raise TypeError(
            f"{name} must hold real numbers, got {reprlib.repr(wrong)}"
        ) from error


def checked_class_prior(class_prior: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """A class prior as an array, once it fits the classes.

    ValueError if it has another length, a negative entry, or does not sum to 1.
    """
    if isinstance(class_prior, Mapping):
        class_prior = _by_class("class_prior", class_prior, classes)
    prior = numbers_of("class_prior", class_prior)
    if prior.shape != (len(classes),):
        raise ValueError(
            f"class_prior must have one entry for each of the {len(classes)} classes "
            f"{name_list(classes.tolist())}, got shape {prior.shape}"
        )
    if not np.isfinite(prior).all() or (prior < 0).any():
        raise ValueError(f"class_prior must hold numbers >= 0, got {prior.tolist()}")
    if abs(prior.sum() - 1.0) > 1e-6:
        raise ValueError(f"class_prior must sum to 1, got a sum of {prior.sum():.6g}")
    return np.asarray(prior / prior.sum())


def _by_class(
    name: str, given: Mapping[Any, Any], classes: NDArray[Any], absent: Any = None
) -> list[Any]:
    """Values of a mapping from class labels, in the order of the classes.

    ValueError for a label that is not a class or, unless `absent` is given, one it
    lacks.
    """
    labels = classes.tolist()
    for label in given:
        if label not in labels:
            raise ValueError(
                f"{name} names {quoted(label)}, which is none of the classes "
                f"{name_list(labels)}"
            )
    if absent is None and len(given) < len(labels):
        lacking = [label for label in labels if label not in given]
        raise ValueError(f"{name} lacks the classes {name_list(lacking)}; add them")
    return [given.get(label, absent) for label in labels]


def checked_loss(loss: Any, classes: NDArray[Any]) -> NDArray[np.float64] | None:
    """A loss matrix as an array, once it fits the classes; None stays None.

    ValueError if it is not square over the classes, contains NaN or infinity, or
    charges for right predictions.
    """
    if loss is None:
        return None
    if isinstance(loss, Mapping):
        # A class without a row would cost nothing, and so always be predicted.
        rows = _by_class("loss", loss, classes)
        for row in rows:
            if not isinstance(row, Mapping):
                raise TypeError(
                    "loss must hold, by predicted class, a mapping from true class to "
                    f"cost, got {quoted(row)}"
                )
            if not row and len(rows) > 1:
                label = classes.tolist()[rows.index(row)]
                raise ValueError(
                    f"loss has no cost of predicting {quoted(label)}; give what it "
                    "costs for each other class"
                )
        loss = [_by_class("loss", row, classes, absent=0.0) for row in rows]
    matrix = numbers_of("loss", loss)
    n_classes = len(classes)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"loss must have shape ({n_classes}, {n_classes}), rows for the predicted "
            f"and columns for the true class, got {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("loss must hold finite numbers only")
    if (np.abs(matrix) > _LARGEST_COST).any():
        raise ValueError(
            f"loss must hold costs of at most {_LARGEST_COST:g}, got "
            f"{np.abs(matrix).max():g}; divide all costs by the largest"
        )
    if np.diagonal(matrix).any():
        wrong = int(np.flatnonzero(np.diagonal(matrix))[0])
        raise ValueError(
            "loss must be 0 where the prediction is right, but class "
            f"{quoted(classes.tolist()[wrong])} costs {matrix[wrong, wrong]:g}; "
            "subtract that from its column"
        )
    return matrix


@dataclass_transform(kw_only_default=True, eq_default=False)
class DeclaredParameters:
    """Base of classes whose annotated defaults are parameters of their constructor.

    As in a dataclass, ``k: int = 1`` in a class is such a parameter. The constructor
    takes those of the bases too, all by keyword, and stores them unchanged. Class
    variables, and names that begin or end with an underscore, are excluded. A class may
    have an `__init__` of its own that passes on ``**shared``.
    """

    # Parameters of bases that a class lacks, and what to use instead.
    _lacks: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        kind: Any = cls
        if "__init__" not in kind.__dict__:
            kind.__init__ = _constructor(kind)
        kind.__init__.__signature__ = _signature(kind)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in self._lacks]


def _constructor(kind: Any) -> Callable[..., None]:
    """Return an `__init__` that stores the parameters of a class."""

    def __init__(self: Any, **given: Any) -> None:  # noqa: N807
        for name in kind._lacks.keys() & given.keys():
            raise TypeError(f"{type(self).__name__} has no {name}; {kind._lacks[name]}")
        signature = inspect.signature(__init__)
        try:
            signature.bind(self, **given)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}.__init__() {error}") from None
        _, *parameters = signature.parameters.values()
        defaults = {parameter.name: parameter.default for parameter in parameters}
        vars(self).update(defaults | given)

    __init__.__qualname__ = f"{kind.__qualname__}.__init__"
    return __init__


def _signature(kind: Any) -> inspect.Signature:
    """Parameters of a class and its bases; of those of one name the first counts."""
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    merged = {itself.name: itself}
    for base in kind.__mro__:
        if not issubclass(base, DeclaredParameters):
            continue
        for parameter in (*_of_constructor(base), *_declared(base)):
            if parameter.name not in kind._lacks:
                merged.setdefault(parameter.name, parameter)
    return inspect.Signature(list(merged.values()))


def _of_constructor(kind: Any) -> Iterator[inspect.Parameter]:
    """Parameters that the `__init__` of a class names itself."""
    constructor = kind.__dict__.get("__init__")
    if constructor is not None:
        for parameter in inspect.signature(constructor).parameters.values():
            if parameter.kind is not parameter.VAR_KEYWORD:
                yield parameter


def _declared(kind: Any) -> Iterator[inspect.Parameter]:
    """Parameters that a class declares."""
    for name, annotation in inspect.get_annotations(kind).items():
        is_variable = str(annotation).startswith("ClassVar")
        if name in kind.__dict__ and not (is_variable or name != name.strip("_")):
            yield inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=kind.__dict__[name],
                annotation=annotation,
            )


def no_such_feature(
    parameter: str,
    name: Name,
    names: Iterable[Name],
    encoder: TableEncoder | None = None,
) -> ValueError:
    """The error for a name in a parameter that none of the features has.

    A column that the encoder leaves out gets its note as the reason.
    """
    if encoder is not None and name in encoder.column_names:
        note = encoder.notes.get(name)
        why = f" ({note})" if note else ""
        return ValueError(
            f"{parameter} names column {quoted(name)}, which is no feature of the model"
            f"{why}; take it out of {parameter}"
        )
    return ValueError(
        f"{parameter} names {quoted(name)}, which is no column; "
        f"{near_names(str(name), map(str, names))}"
    )
