"""What model files keep of fitted estimators, and parameters from files."""

from __future__ import annotations

import contextlib
import numbers
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayleaf.counts.source import CountSource
from bayleaf.counts.table_counts import RowCounts, rows_by_state
from bayleaf.cpds import smoothing as smoothing_rules
from bayleaf.data import discretizers
from bayleaf.data.fitted_hierarchies import resolve_hierarchies
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.io.errors import ModelFileError
from bayleaf.io.native.model_file import SavedModel
from bayleaf.models.support.support_counts import SupportCounts
from bayleaf.scores.local_scores import LOCAL_SCORES

# What stands for a mapping, such as value hierarchies by column.
_MAPPING = "mapping"
_PAIRS = "pairs"
# Objects that may stand as a parameter's value, by the name of their class.
_PARAMETER_OBJECTS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *map(type, smoothing_rules.SMOOTHINGS_BY_NAME.values()),
        *LOCAL_SCORES.values(),
        discretizers.EqualFrequencyDiscretizer,
        discretizers.EqualWidthDiscretizer,
        discretizers.MDLPDiscretizer,
        discretizers.StandardDeviationDiscretizer,
    )
}


def saved_model(estimator: Any) -> SavedModel:
    """The record of a fitted estimator for a file; NotFittedError if it is not fitted.

    TypeError names a parameter whose value cannot be written to a file; ModelFileError
    if a reader would refuse the parameters.
    """
    check_is_fitted(estimator, ["model_", "network_"], all_or_any=any)
    parameters = estimator.get_params(deep=False)
    if parameters.get("hierarchies") is not None:
        # A file names no other files, and so contains what is in them.
        given = getattr(estimator, "hierarchies_", parameters["hierarchies"])
        names = estimator.encoder_.column_names
        parameters["hierarchies"] = resolve_hierarchies(given, names)
    values = {name: parameter_to(name, value) for name, value in parameters.items()}
    with telling_wrong_parameters("that was not written"):
        unfitted(type(estimator), values)
    saved: SavedModel = estimator._record(
        estimator=type(estimator).__name__,
        parameters=values,
        named_features=hasattr(estimator, "feature_names_in_"),
        fitted=estimator._fit_stamp,
    )
    return saved


def kept_support(classifier: Any) -> SupportCounts | None:
    """The training rows behind a fitted classifier's tables.

    None where they are gone, as after pickling and a change of the class prior.
    """
    kept: SupportCounts | None = getattr(classifier, "_support", None)
    if kept is not None:
        # A file told of them, or a table that was read batch by batch.
        return kept
    counts: CountSource | None = getattr(classifier, "_stored_counts", None)
    codes = classifier._training_codes
    if codes is not None:
        counts = RowCounts(
            codes, n_jobs=classifier.n_jobs, max_table_cells=classifier.max_table_cells
        )
    elif classifier._learns_from_rows:
        return None
    return None if counts is None else support_of(classifier, counts)


def support_of(classifier: Any, counts: CountSource) -> SupportCounts:
    """The rows that counts have behind a fitted classifier's tables."""
    model = classifier.model_
    return SupportCounts.from_counts(
        model.count_rows(counts),
        model.table_sizes,
        classifier.smoothing_,
        prior_is_learned=classifier._given_prior is None,
        state_rows=rows_by_state(counts),
    )


@contextlib.contextmanager
def telling_wrong_parameters(path: str | Path) -> Iterator[None]:
    """Turn an estimator's error about parameters from a file into a ModelFileError."""
    try:
        yield
    except ModelFileError:
        raise
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ModelFileError(
            f"a parameter in model file {Path(path).name} is wrong: {error}"
        ) from error


def unfitted(kind: Any, values: Mapping[str, Any]) -> Any:
    """An estimator with the parameters of a file, checked.

    ModelFileError if it has no such parameter; TypeError or ValueError for a value that
    is not allowed.
    """
    given = values.get("hierarchies")
    if given is not None and _names_a_file(given):
        raise ModelFileError("the hierarchies of a model file should be trees")
    defaults = kind().get_params()
    # A file writes an empty tuple as it does an empty list.
    parameters: dict[str, Any] = {
        name: () if value == [] and defaults.get(name) == () else parameter_from(value)
        for name, value in values.items()
    }
    strange = sorted(set(parameters) - set(defaults))
    if strange:
        raise ModelFileError(
            f"the model file has parameters that {kind.__name__} lacks: "
            f"{', '.join(strange)}"
        )
    estimator = kind(**parameters)
    estimator._check_parameters()
    return estimator


def _names_a_file(hierarchies: Any) -> bool:
    """Whether hierarchies from a model file are no trees, and so paths perhaps."""
    if isinstance(hierarchies, dict) and hierarchies.get("object") == _MAPPING:
        hierarchies = hierarchies.get("parameters")
    return not isinstance(hierarchies, dict) or not all(
        isinstance(nested, dict) for nested in hierarchies.values()
    )


def parameter_to(name: str, value: Any) -> Any:
    """A parameter's value as a JSON value."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return parameter_to(name, value.tolist())
    if isinstance(value, ValueHierarchy):
        return parameter_to(name, value.to_nested())
    # Labels of classes may be numbers, which names in JSON may not.
    is_mapping = isinstance(value, Mapping) and name != "hierarchies"
    if is_mapping and not all(isinstance(key, str) for key in value):
        pairs = [[key, item] for key, item in value.items()]
        return {"object": _PAIRS, "parameters": parameter_to(name, pairs)}
    if isinstance(value, Mapping):
        inside = {str(key): parameter_to(name, item) for key, item in value.items()}
        return {"object": _MAPPING, "parameters": inside}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, list | tuple):
        return [parameter_to(name, item) for item in value]
    if isinstance(value, np.random.RandomState | np.random.Generator):
        # The state of a generator is spent by fitting; there is nothing to keep.
        return None
    if type(value) is _PARAMETER_OBJECTS.get(type(value).__name__):
        inner = value.get_params() if hasattr(value, "get_params") else vars(value)
        return {
            "object": type(value).__name__,
            "parameters": {key: parameter_to(name, inner[key]) for key in inner},
        }
    if isinstance(value, numbers.Integral):
        return int(value)
    raise TypeError(
        f"parameter {name} holds a {type(value).__name__}, which has no place in a "
        "model file; use one of the library's own, or pickle the classifier"
    )


def parameter_from(value: Any) -> Any:
    """A parameter's value from a JSON value; only known classes are built."""
    if isinstance(value, list):
        return [parameter_from(item) for item in value]
    if not isinstance(value, dict):
        return value
    inner = value.get("parameters")
    if value.get("object") == _PAIRS and isinstance(inner, list):
        pairs = [pair for pair in inner if isinstance(pair, list) and len(pair) == 2]
        # A pair of names may be a key, too.
        keys = [tuple(key) if isinstance(key, list) else key for key, _ in pairs]
        inside = [own for k in keys for own in (k if isinstance(k, tuple) else [k])]
        nested = any(isinstance(own, list | dict) for own in inside)
        if len(pairs) < len(inner) or nested:
            raise ModelFileError("a parameter of the model file holds no pairs")
        items = [parameter_from(item) for _, item in pairs]
        return dict(zip(keys, items, strict=True))
    if value.get("object") == _MAPPING and isinstance(inner, dict):
        return {key: parameter_from(item) for key, item in inner.items()}
    kind = _PARAMETER_OBJECTS.get(str(value.get("object")))
    if kind is None or not isinstance(value.get("parameters"), dict):
        raise ModelFileError("a parameter of the model file is of an unknown kind")
    return kind(**value["parameters"])
