"""What a model card tells beyond the page: settings, rules of reading, ranges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bayleaf.data.domain import Variable
from bayleaf.evaluation.privacy import Privacy
from bayleaf.version import __version__
from bayleaf.wording import plain

Values = dict[str, Any]

# Settings that no answer of a model depends on.
_WITHOUT_EFFECT = {"n_jobs", "verbose", "cache_size", "max_table_cells"}
_MOST_OF_A_SETTING = 120
_READ_AS = {"numeric": "numbers", "nominal": "values"}


def card_facts(model: Any, columns: list[Values], privacy: Privacy) -> Values:
    """Facts for `bayleaf.report.model_card`; `columns` are extended in place."""
    encoder = getattr(model, "encoder_", None)
    domain: Iterable[Variable] = model.domain if encoder is None else encoder.domain
    variables = {str(variable.name): variable for variable in domain}
    for column in columns:
        column.update(_column_facts(variables[column["name"]], privacy))
    rules = encoder and {
        "missing_cells": getattr(model, "missing", encoder.rules.missing),
        "unknown_values": encoder.rules.unknown,
    }
    return {
        "version": __version__,
        "settings": _settings(model, privacy),
        "rules": rules,
    }


def _column_facts(variable: Variable, privacy: Privacy) -> Values:
    """How a column is cut, and the numbers that it had in training."""
    is_numeric = variable.kind == "numeric"
    is_ordered = variable.categories is not None
    return {
        "read_as": "ordered categories" if is_ordered else _READ_AS[variable.kind],
        "n_cuts": len(variable.cut_points) if is_numeric else None,
        # The least and the greatest number are those of single rows.
        "seen": _seen(variable) if privacy.shows_rows else None,
        "has_other": variable.other_state is not None,
    }


def _seen(variable: Variable) -> list[float] | None:
    """The least and the greatest number in training, where they are known."""
    if variable.numbers is None or variable.categories is not None:
        return None
    filled = [own for own in variable.numbers.quantiles if own]
    return [filled[0][0], filled[-1][-1]] if filled else None


def _settings(model: Any, privacy: Privacy) -> list[Values] | None:
    """Parameters other than the defaults; None where there are none to know.

    Where counts are rounded, texts and mappings could hold values of few rows, so
    that only numbers and single words of the defaults' kind are told.
    """
    if not hasattr(model, "get_params"):
        return None
    given, usual = model.get_params(deep=False), _defaults(type(model))
    return [
        {"name": name, "value": _told(value, privacy)}
        for name, value in sorted(given.items())
        if name not in _WITHOUT_EFFECT and not _same(value, usual.get(name, ...))
    ]


def _defaults(kind: type) -> Values:
    """The parameters of an estimator that got none; none where it needs some."""
    try:
        return dict(kind().get_params(deep=False))
    except TypeError:
        return {}


def _same(value: Any, usual: Any) -> bool:
    """Whether a parameter has the default's value."""
    return type(value) is type(usual) and repr(value) == repr(usual)


def _told(value: Any, privacy: Privacy) -> str | None:
    """A parameter's value as text, or that it may not be shown."""
    is_plain = value is None or isinstance(value, bool | int | float | str)
    if privacy.withholds and not is_plain:
        return None
    return plain(str(value) if is_plain else repr(value), _MOST_OF_A_SETTING)
