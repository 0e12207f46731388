"""Several classifiers on the same folds, and which differences are more than chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bayleaf.classifiers import CLASSIFIERS
from bayleaf.classifiers.shared.parameters import checked_loss
from bayleaf.data.class_labels import encode_labels
from bayleaf.evaluation.comparison import BEST, Comparison
from bayleaf.evaluation.cross_validation import cross_validate
from bayleaf.evaluation.folds import deal_folds
from bayleaf.evaluation.operating_points import LossMatrix, implied_threshold
from bayleaf.wording import near_names, quoted

DEFAULT_MODELS = ("nb", "tan", "kdb", "hnb", "auto")


def compare(
    X: Any,
    y: Any,
    models: Any = DEFAULT_MODELS,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    random_state: int = 0,
    loss: Any = None,
    baseline: str = BEST,
    groups: Any = None,
    cv: Any = None,
    verbose: int = 0,
) -> Comparison:
    """Compare classifiers on the same folds, stratified and shuffled by default.

    Everything (cut points, encoders, hierarchies, calibration) is learned inside the
    training folds.

    Parameters
    ----------
    X : data frame or ndarray of shape (n_rows, n_features)
        The features.
    y : array-like of shape (n_rows,)
        The class labels.
    models : sequence of str or classifier, or mapping of str to either
        Names as on the command line (``"nb"``, ``"tan"`` ..) or any classifier of
        scikit-learn with ``predict_proba``; a mapping says what they are called.
    n_folds : int, default=10
        Number of folds.
    n_repeats : int, default=1
        Number of shuffles; shuffle r uses the seed ``random_state + r``.
    random_state : int, default=0
        Seed of the first shuffle and of models given by name.
    loss : LossMatrix or array-like of shape (n_classes, n_classes), optional
        Cost of each prediction (rows) where a class (columns) is true; adds the
        expected cost a row of predictions made for least expected cost.
    baseline : str, default="best"
        The model that the others are tested against, or "best".
    groups : array-like of shape (n_rows,), optional
        Rows of one value, as those of one patient, stay together in a fold.
    cv : splitter of scikit-learn or iterable of (training rows, test rows), optional
        Deals the rows in the place of stratified, shuffled folds.
    verbose : int, default=0
        Above zero, standard error shows the fold, the share done and the time left.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If a model, the baseline, the loss or the folds do not fit.
    TypeError
        If a model is neither a name nor a classifier with probabilities.

    Examples
    --------
    >>> from bayleaf.datasets import load_heart
    >>> X, y = load_heart(return_X_y=True)
    >>> found = compare(X, y, ["nb", "tan"], n_folds=5)
    >>> found.best("accuracy"), found.mark("accuracy", "tan")
    ('nb', '=')
    """
    estimators = named_models(models, random_state)
    if baseline != BEST and baseline not in estimators:
        raise ValueError(
            f"baseline must be {quoted(BEST)} or one of the models, got "
            f"{quoted(baseline)}; "
            f"{near_names(baseline, estimators)}"
        )
    classes, codes = encode_labels(y)
    costs = checked_loss(
        loss.for_classes(classes) if isinstance(loss, LossMatrix) else loss, classes
    )
    if costs is not None and len(classes) == 2:
        # A loss that leaves no threshold is refused before anything is learned.
        implied_threshold(costs)
    if cv is not None:
        cv = deal_folds(codes, n_folds, 1, random_state, groups=groups, cv=cv)
        n_folds, n_repeats = len(cv), 1
    results = cross_validate(
        estimators,
        X,
        y,
        n_folds=n_folds,
        n_repeats=n_repeats,
        random_state=random_state,
        loss=costs,
        groups=groups if cv is None else None,
        cv=cv,
        verbose=verbose,
    )
    return Comparison(
        tuple(results),
        tuple(classes.tolist()),
        len(codes),
        n_folds,
        n_repeats,
        random_state,
        baseline,
        costs,
    )


def named_models(models: Any, random_state: int) -> dict[str, Any]:
    """Estimators by name; `random_state` is for models given by name.

    ValueError if there are none, a name is unknown, or two models have the same name;
    TypeError for anything but estimators.
    """
    if isinstance(models, str) or hasattr(models, "fit"):
        models = [models]
    if not isinstance(models, Iterable):
        raise TypeError(
            f"models must be names or classifiers in a list or mapping, got "
            f"{quoted(models)}"
        )
    given = models.items() if isinstance(models, Mapping) else _with_names(models)
    found: dict[str, Any] = {}
    for name, model in given:
        if name in found:
            raise ValueError(
                f"two models are called {quoted(name)}; give a mapping with names of "
                "their own"
            )
        found[name] = _estimator(model, random_state)
    if not found:
        raise ValueError("there is no model to compare; name at least one")
    return found


def _with_names(models: Iterable[Any]) -> list[tuple[str, Any]]:
    """Models with their names: an estimator is called as its class."""
    return [
        (model if isinstance(model, str) else type(model).__name__, model)
        for model in models
    ]


def _estimator(model: Any, random_state: int) -> Any:
    """The estimator that a name stands for, or the estimator itself."""
    if isinstance(model, str):
        if model not in CLASSIFIERS:
            raise ValueError(
                f"models must be among {', '.join(CLASSIFIERS)} or be classifiers, got "
                f"{quoted(model)}; {near_names(model, CLASSIFIERS)}"
            )
        return CLASSIFIERS[model](random_state=random_state)
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(
            f"models must be names or classifiers, got {quoted(model)}; make an "
            "instance of a class"
        )
    return model
