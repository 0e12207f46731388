"""The hierarchical mixture as plain values, and back with every check."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.given_tables import SUM_TOLERANCE
from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.domain import Domain
from bayleaf.io.distributions import check_distributions
from bayleaf.io.fields import Fields, ModelFileError
from bayleaf.io.native.sidecar import ArrayReader, ArrayWriter
from bayleaf.models.hierarchical_mixture import HierarchicalMixtureModel
from bayleaf.models.mixture_tables import Banks

# Larger trees are refused, so that no file asks for much.
_MOST_OUTPUTS = 20_000_000


def mixture_to(model: HierarchicalMixtureModel, arrays: ArrayWriter) -> dict[str, Any]:
    """The model as plain values; its tables go to `arrays`.

    Raises
    ------
    ModelFileError
        If a table does not hold distributions, so that no reader would take it.
    """
    for banks in model.starts:
        for level, bank in enumerate(banks):
            _check_bank(bank, level)
    if model.prior is not None:
        check_distributions(model.prior, "the class prior")
    return {
        "architecture": list(model.architecture),
        "prior": None if model.prior is None else arrays.add(model.prior),
        "starts": [
            [
                {
                    "log_prior": arrays.add(bank.log_prior),
                    "log_table": arrays.add(bank.log_table),
                }
                for bank in banks
            ]
            for banks in model.starts
        ],
    }


def mixture_from(
    fields: Fields, domain: Domain, arrays: ArrayReader
) -> HierarchicalMixtureModel:
    """The model from plain values.

    Raises
    ------
    ModelFileError
        If something in it is no part of such a model.
    """
    *cards, n_classes = domain.cards
    architecture = _architecture(fields, n_classes)
    offsets = np.cumsum([0, *cards]).astype(np.int64)
    starts = fields.list("starts")
    if not starts:
        raise ModelFileError("a mixture needs at least one start")
    outputs = (*architecture, n_classes)
    return HierarchicalMixtureModel(
        domain,
        architecture,
        tuple(_banks(start, outputs, offsets, arrays) for start in starts),
        _prior(fields, n_classes, arrays),
    )


def _architecture(fields: Fields, n_classes: int) -> tuple[int, ...]:
    """Number of children of the gates of each level."""
    widths = fields.list("architecture")
    n_outputs = 1
    for width in widths:
        if type(width) is not int or not 1 <= width <= _MOST_OUTPUTS:
            raise ModelFileError("the architecture should hold whole numbers from 1 on")
        n_outputs *= width
        if n_outputs * n_classes > _MOST_OUTPUTS:
            raise ModelFileError("the architecture has too many experts")
    return tuple(widths)


def _banks(
    start: Any,
    outputs: tuple[int, ...],
    offsets: NDArray[np.int64],
    arrays: ArrayReader,
) -> Banks:
    """The gates and experts of one mixture."""
    if not isinstance(start, list) or len(start) != len(outputs):
        raise ModelFileError(
            f"a start of the mixture should list {len(outputs)} levels"
        )
    banks = []
    for level, (value, n_outputs) in enumerate(zip(start, outputs, strict=True)):
        if not isinstance(value, dict):
            raise ModelFileError(f"level {level} of the mixture should be an object")
        fields = Fields(value, f"level {level} of the mixture")
        shape = math.prod(outputs[:level]), n_outputs
        bank = NaiveBayesBank(
            arrays.get(fields.values.get("log_prior"), shape, "the log priors"),
            arrays.get(
                fields.values.get("log_table"),
                (int(offsets[-1]), *shape),
                "the log tables",
            ),
            offsets,
        )
        _check_bank(bank, level)
        banks.append(bank)
    return tuple(banks)


def _check_bank(bank: NaiveBayesBank, level: int) -> None:
    """Raise unless a bank holds distributions.

    Tables may sum to less than one: where a feature's shares are of all rows, those
    without a value count as well.
    """
    what = f"level {level} of the mixture"
    for logs in (bank.log_prior, bank.log_table):
        if not np.isfinite(logs).all() or (logs > SUM_TOLERANCE).any():
            raise ModelFileError(f"{what} holds something that is no log probability")
    check_distributions(np.exp(bank.log_prior), f"the priors of {what}")
    for first, last in itertools.pairwise(bank.offsets):
        sums = np.exp(bank.log_table[first:last]).sum(axis=0)
        if (sums > 1.0 + SUM_TOLERANCE).any():
            raise ModelFileError(f"{what} holds probabilities that sum to more than 1")


def _prior(
    fields: Fields, n_classes: int, arrays: ArrayReader
) -> NDArray[np.float64] | None:
    """The class prior asked for, or None for that of training."""
    if fields.values.get("prior") is None:
        return None
    prior = arrays.get(fields.values.get("prior"), (n_classes,), "the class prior")
    check_distributions(prior, "the class prior")
    return prior
