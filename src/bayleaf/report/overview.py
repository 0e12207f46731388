"""The first page of a report: the result as sentences, and counts of a hundred rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayleaf.inference.arc_information import informed_arcs
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.report.intervals import share_interval
from bayleaf.report.quality import Predictions
from bayleaf.wording import in_bits, rough

Values = dict[str, Any]

# Thresholds whose outcomes are drawn; the nearest one gives way to the one in use.
_THRESHOLDS = (0.1, 0.3, 0.5, 0.8)
# Probabilities of the likeliest class of several above which it decides.
_CONFIDENCES = (0.0, 0.5, 0.8, 0.9)
# Outcomes of a row, by whether the positive class is predicted and whether it is true.
OUTCOMES = {
    "found": "found",
    "missed": "missed",
    "false_alarm": "false alarms",
    "left_alone": "rightly left alone",
}
# Outcomes where there are more than two classes and the likeliest decides or none.
DECISIONS = {"right": "right", "wrong": "wrong", "open": "left to a person"}
# Features with a picture.
MAX_SHAPES = 6


def of_100(share: float) -> str:
    """A share as a count of a hundred, never rounded to none or all."""
    if 0 < share < 0.005:
        return "fewer than 1 of 100"
    return "more than 99 of 100" if 0.995 < share < 1 else f"{100 * share:.0f} of 100"


def class_sentences(quality: Values, target: str) -> list[str]:
    """What a classifier reaches on held-out rows, to be read aloud; empty without."""
    if quality["basis"] == "none":
        return []
    confusion, scores = quality["confusion"], quality["scores"]
    names, counts = confusion["classes"], np.array(confusion["counts"])
    usual = (
        f"Right in {of_100(scores['accuracy'])} rows; always predicting the commonest "
        f"class would be right in {of_100(quality['baseline']['accuracy'])}."
    )
    if quality["positive"] is None:
        return [usual]
    label = names.index(quality["positive"])
    hits, n_true = int(counts[label, label]), int(counts[label].sum())
    n_flagged = int(counts[:, label].sum())
    event = f"{target} = {quality['positive']}"
    if not n_true or not n_flagged:
        return [f"Never predicts {event}." if n_true else f"No row has {event}.", usual]
    first = (
        f"Finds {of_100(hits / n_true)} rows with {event}{_interval(hits, n_true)}; "
        f"when it predicts this, it is right in {of_100(hits / n_flagged)}"
        f"{_interval(hits, n_flagged)}."
    )
    return [first, usual]


def number_sentences(quality: Values, target: str) -> list[str]:
    """What a regressor reaches on held-out rows; empty without."""
    if quality["basis"] == "none":
        return []
    scores, baseline = quality["scores"], quality["baseline"]
    without = (
        f", {rough(baseline['mae'])} without any feature" if "mae" in baseline else ""
    )
    return [
        f"Off by {rough(scores['mae'])} on average for {target}{without}.",
        f"The 90 % intervals contain {of_100(scores['coverage'])} actual values.",
    ]


def density_sentences(quality: Values) -> list[str]:
    """What a density model reaches on held-out rows, and what it is for."""
    use = [
        "Gives the probability of any value by values of any other columns, fills in "
        "missing cells and finds unusual rows; it does not show what causes what."
    ]
    bits = quality.get("bits_gained")
    if bits is None:
        return use
    verb = "Gains" if bits >= 0 else "Loses"
    ends = quality["intervals"]["bits_gained"]
    interval = f" (95 % interval {ends[0]:.2f} to {ends[1]:.2f})" if ends else ""
    first = f"{verb} {abs(bits):.2f} bits per row over independent columns{interval}."
    second = (
        f"A typical held-out row is {rough(2.0**bits)} times as probable as it would "
        "be were its columns independent."
    )
    if ends and ends[0] <= 0:
        second = "What it shows of dependences between columns may be chance."
    return [first, second, *use]


def dependence_values(network: BayesianNetwork) -> list[Values]:
    """The pairs joined by an arc that share most, and a share of rows by state.

    Of the second variable the state whose probability the first one moves most. Empty
    where the network is too wide for a junction tree.
    """
    try:
        tree = JunctionTree.compile(network)
    except ValueError:
        return []
    measured = [
        (nats, parent, child)
        for parent, child, nats in informed_arcs(tree)
        if nats is not None
    ]
    measured.sort(key=lambda arc: -arc[0])
    values = []
    for nats, parent, child in measured[:MAX_SHAPES]:
        first, second = network.domain[parent], network.domain[child]
        table = network.joint([first.name, second.name]).probabilities
        rows = table.sum(axis=1)
        possible = np.flatnonzero(rows)
        shares = table[possible] / rows[possible, None]
        state = int(np.ptp(shares, axis=0).argmax())
        values.append(
            {
                "feature": str(first.name),
                "target": str(second.name),
                "state": second.label(state),
                "bits": in_bits(nats),
                "states": [first.label(int(code)) for code in possible],
                "shares": shares[:, state].tolist(),
            }
        )
    return values


def outcomes(predictions: Predictions, positive: int, quality: Values) -> list[Values]:
    """Outcomes of held-out rows at four thresholds, as shares of all rows.

    Of more than two classes, the likeliest decides above the threshold; of two they are
    of the positive class, and empty without operating points.
    """
    if predictions.proba.shape[1] > 2:
        likeliest = predictions.proba.max(axis=1)
        is_right = predictions.chosen == predictions.truth
        return [
            _shares(
                np.where(likeliest > threshold, ~is_right, 2),
                DECISIONS,
                predictions,
                threshold=threshold,
                is_used=threshold == 0,
            )
            for threshold in _CONFIDENCES
        ]
    known = quality["operating_points"]
    if known is None:
        return []
    thresholds = [point["threshold"] for point in known["points"]]
    used = known["implied_threshold"] or 0.5
    nearby = sorted({min(thresholds, key=lambda t: abs(t - w)) for w in _THRESHOLDS})
    nearest = min(nearby, key=lambda t: abs(t - used))
    chosen = sorted({*nearby} - {nearest} | {used})
    is_true = predictions.truth == positive
    values = []
    for threshold in chosen:
        is_flagged = predictions.proba[:, positive] > threshold
        cells = np.where(is_flagged, 2 * ~is_true, 1 + 2 * ~is_true)
        facts = {"threshold": threshold, "is_used": threshold == used}
        values.append(_shares(cells, OUTCOMES, predictions, **facts))
    return values


def _shares(
    cells: Any, kinds: Sequence[str] | Values, predictions: Predictions, **facts: Any
) -> Values:
    """The share of rows (n_rows,) in each kind of outcome, by weight, after facts."""
    shares = np.bincount(cells, predictions.weights, len(kinds)) / (
        len(cells) if predictions.weights is None else predictions.weights.sum()
    )
    return facts | dict(zip(kinds, shares.tolist(), strict=True))


def in_100(shares: Sequence[float]) -> list[int]:
    """Integers that add up to a hundred, as near to the shares as can be."""
    exact = 100 * np.asarray(shares) / sum(shares)
    counts = np.floor(exact).astype(int)
    largest = np.argsort(counts - exact, kind="stable")
    counts[largest[: 100 - counts.sum()]] += 1
    return [int(count) for count in counts]


def shape_values(model: Any, features: Sequence[str], label: int) -> list[Values]:
    """Log-odds (nats) of a class by the states of some features, with their rows."""
    values = []
    for name in features[:MAX_SHAPES]:
        shape = model.shape(name)
        values.append(
            {
                "feature": str(shape.feature),
                "class": str(shape.classes[label]),
                "edges": shape.drawn_edges.tolist(),
                "states": list(shape.states),
                "log_odds": shape.contributions[:, label].tolist(),
                "rows": shape.row_counts.tolist(),
            }
        )
    return values


def expectation_shapes(
    model: Any, features: Sequence[str | int], X: Any
) -> list[Values]:
    """Mean expectation of rows by the states of some features, with their rows."""
    values = []
    for name in features[:MAX_SHAPES]:
        shape = model.shape(name, X)
        values.append(
            {
                "feature": str(shape.feature),
                "edges": shape.drawn_edges.tolist(),
                "states": list(shape.states),
                "moved": (shape.expectations - shape.baseline).tolist(),
                "baseline": shape.baseline,
                "rows": shape.row_counts.tolist(),
            }
        )
    return values


def _interval(n_hits: int, n_rows: int) -> str:
    """The interval of a share, in brackets."""
    ends = share_interval(n_hits, n_rows)
    if ends is None:
        return ""
    return f" (95 % interval {100 * ends[0]:.0f} to {100 * ends[1]:.0f})"
