"""Fitted models inside pipelines, searches and calibrations of scikit-learn.

These are known by their attributes: networks are read without scikit-learn.
"""

from __future__ import annotations

from typing import Any

from bayleaf.wording import name_list

_UNCHANGED = (None, "passthrough")


def model_inside(
    model: Any, *, same_columns: bool = False, same_scores: bool = True
) -> Any:
    """The fitted model inside wrappers; anything else is returned as it is.

    With `same_columns` it must read the columns that the wrapper reads, with
    `same_scores` give the same probabilities. ValueError or TypeError with the model
    to pass where it does not.
    """
    kind = type(model).__name__
    rules = {"same_columns": same_columns, "same_scores": same_scores}
    # It passes on all attributes of what it contains.
    if kind == "FrozenEstimator":
        return model_inside(model.estimator, **rules)
    if hasattr(model, "_page_model"):
        return model
    if hasattr(model, "best_estimator_"):
        return model_inside(model.best_estimator_, **rules)
    if hasattr(model, "refit") and hasattr(model, "cv_results_"):
        raise TypeError(
            f"this {kind} keeps no fitted model; pass refit=True to it, or fit one "
            "with its best parameters"
        )
    if hasattr(model, "named_steps"):
        changes = [type(step).__name__ for step in _changing_steps(model)]
        if changes and same_columns:
            raise ValueError(
                f"the {kind} changes columns ({name_list(changes)}) before its model; "
                "pass pipeline[-1], which reads the columns of pipeline[:-1]"
            )
        return model_inside(model.steps[-1][1], **rules)
    calibrated = getattr(model, "calibrated_classifiers_", ())
    if calibrated and (same_scores or len(calibrated) > 1):
        raise ValueError(
            f"the {kind} changes the probabilities of {len(calibrated)} fitted "
            "models; pass model.calibrated_classifiers_[0].estimator, or fit with "
            "calibration='leave_one_out' in its place"
        )
    if calibrated:
        return model_inside(calibrated[0].estimator, **rules)
    for inner in ("estimator_", "estimators_"):
        if hasattr(model, inner):
            of = "one of " * (inner == "estimators_")
            raise TypeError(
                f"a {kind} decides otherwise than the model inside; pass {of}"
                f"model.{inner}"
            )
    if any(hasattr(model, inner) for inner in ("estimator", "estimators")):
        raise TypeError(f"the {kind} is not fitted; call its fit first")
    return model


def rows_inside(model: Any, X: Any) -> Any:
    """Rows of a wrapper as `model_inside` reads them."""
    if hasattr(model, "best_estimator_"):
        return rows_inside(model.best_estimator_, X)
    if hasattr(model, "named_steps"):
        if _changing_steps(model):
            X = model[:-1].transform(X)
        return rows_inside(model.steps[-1][1], X)
    return X


def _changing_steps(pipeline: Any) -> list[Any]:
    """The steps before the last one that may change columns."""
    return [
        step
        for _, step in pipeline.steps[:-1]
        if step not in _UNCHANGED and getattr(step, "func", step) is not None
    ]
