"""Class scores as sums of tables, for formats that hold only these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayleaf.models.predictor import Predictor
from bayleaf.scoring.fusing import fused, tables_of
from bayleaf.scoring.terms import (
    Counts,
    Density,
    Floats,
    Look,
    ScoringProgram,
    SumOut,
    Tree,
    program_of,
)
from bayleaf.wording import name_list

# Coefficients above which a document is not written.
MAX_COEFFICIENTS = 1_000_000
_SCOPE = (
    "PMML holds models whose score is a sum of table look-ups: naive Bayes, TAN, KDB, "
    "networks without latent variables, and averaged KDB of tables alone"
)
_WORDS = {Density: "numbers as regressions", Tree: "class trees"}


@dataclass(frozen=True, eq=False)
class ScoreSum:
    """Scores of classes as a sum.

    Parameters
    ----------
    intercept : ndarray of shape (n_classes,)
        Nats of all rows.
    tables : tuple of Look
        What joint states add.
    inner : frozenset of int
        Features whose missing cells would have to be summed out.
    """

    intercept: Floats
    tables: tuple[Look, ...]
    inner: frozenset[int]


def score_sum(predictor: Predictor) -> ScoreSum:
    """Return the sum of tables that scores of classes are.

    ValueError if they contain other terms, or the model predicts under a loss matrix.
    """
    if predictor.loss is not None:
        raise ValueError(
            "PMML's regression predicts the most probable class, but this model has a "
            "loss matrix; fit without loss"
        )
    program = program_of(predictor.model)
    intercept, tables = program.base, list(tables_of(program.terms))
    inner: set[int] = set()
    for term in program.terms:
        if isinstance(term, SumOut) and _is_sum(term, program):
            constant, tables, inner = _tables_of_network(term)
            intercept = intercept + constant
        elif not isinstance(term, Look | Counts):
            raise _refusal(program)
    if not all(
        np.isfinite(rows).all() for rows in (intercept, *(t.rows for t in tables))
    ):
        raise ValueError(
            "PMML's regression has no term for a probability of zero, which this model "
            "holds; fit with smoothing, or write it to .onnx"
        )
    tables = fused(tables, by_owner=False)
    size = sum(table.rows.size for table in tables)
    if size > MAX_COEFFICIENTS:
        raise ValueError(
            f"as PMML this model has {size:,} coefficients, more than "
            f"{MAX_COEFFICIENTS:,}; fit with fewer parents or networks"
        )
    return ScoreSum(intercept, tuple(tables), frozenset(inner))


def _is_sum(term: SumOut, program: ScoringProgram) -> bool:
    """Whether a network is the only term and has no latent variables."""
    return len(program.terms) == 1 and len(term.cards) == len(program.cards) + 1


def _tables_of_network(
    term: SumOut,
) -> tuple[Floats, list[Look], set[int]]:
    """The prior, tables of the factors that contain the class, and inner features."""
    label = len(term.cards) - 1
    prior, tables, inner = np.zeros(term.cards[label]), [], set()
    for factor in term.factors:
        inner |= set(factor.variables[:-1]) - {label}
        if label not in factor.variables:
            continue
        logs = np.moveaxis(factor.logs, factor.variables.index(label), -1)
        features = tuple(v for v in factor.variables if v != label)
        if not features:
            prior = prior + logs
            continue
        shape = logs.shape[:-1]
        states = np.stack(np.unravel_index(np.arange(logs[..., 0].size), shape), 1)
        maps = tuple(np.arange(term.cards[v] + 1) for v in features)
        rows = logs.reshape(-1, len(prior))
        tables.append(Look(factor.child, features, maps, states, rows))
    return prior, tables, inner


def _refusal(program: ScoringProgram) -> ValueError:
    """Name the terms that are not tables, and the remedy."""
    if len(program.terms) == 1 and isinstance(program.terms[0], SumOut):
        return ValueError(
            f"{_SCOPE}; this one has latent variables; write it to .onnx instead"
        )
    words = {_WORDS[type(t)] for t in program.terms if type(t) in _WORDS}
    if words and any(isinstance(term, Counts) for term in program.terms):
        return ValueError(
            f"{_SCOPE}; this average holds {name_list(sorted(words))} too; fit with "
            "linear_families=False and class_trees=False"
        )
    return ValueError(f"{_SCOPE}; write this model to .onnx instead")
