"""Student t densities of numbers that are added to scores."""

from __future__ import annotations

from collections.abc import Sequence

from bayleaf.io.exports.sql.look_ups import Addend, add_up, batches
from bayleaf.io.exports.sql.stages import Columns, Rows
from bayleaf.io.exports.sql.words import ZERO, chosen, num, plus
from bayleaf.scoring.terms import MAX_LOG_DENSITY, Density

# Densities whose columns are in one stage.
_DENSITIES_PER_STAGE = 40


def add_densities(rows: Rows, densities: Sequence[Density], n_classes: int) -> None:
    """Add log densities of numbers to the slots of their features."""
    # Numbers on the normal scale, NULL where missing; deviations from the means of the
    # classes, zero where missing.
    positions: Columns = {}
    deviations: Columns = {}
    known: dict[tuple[int, bytes, bytes], str] = {}
    members = []
    for density in densities:
        keys = []
        parts = zip(density.features, density.positions, density.means)
        for feature, by_code, means in parts:
            identity = feature, by_code.tobytes(), means.tobytes()
            key = known.setdefault(identity, f"w{len(known)}")
            keys.append(key)
            values = {code: num(value) for code, value in enumerate(by_code)}
            positions[key] = chosen(f"c{feature}", values)
            for c, mean in enumerate(means):
                value = f"({key} - {num(mean)})"
                deviations[f"d{key}_{c}"] = f"COALESCE({value}, {ZERO})"
        members.append(keys)
    rows.extend(positions)
    rows.extend(deviations)
    pairs = list(zip(densities, members, strict=True))
    for batch in batches(pairs, lambda own: len(own) <= _DENSITIES_PER_STAGE):
        parts_of: Columns = {}
        logs: Columns = {}
        terms: list[Addend] = []
        for k, (density, keys) in enumerate(batch):
            child, *parents = keys
            nats = []
            for c in range(n_classes):
                row = ["1", *(f"d{parent}_{c}" for parent in parents)]
                slopes = map(num, density.slopes[:, c])
                expected = plus(*map("{} * {}".format, slopes, row))
                parts_of[f"r{k}_{c}"] = f"(d{child}_{c} - {expected})"
                parts_of[f"v{k}_{c}"] = _squared_scale(density, c, row, parents)
                logs[f"y{k}_{c}"] = _log_density(density, c, f"r{k}_{c}", f"v{k}_{c}")
                log = f"CASE WHEN {child} IS NULL THEN {ZERO} ELSE y{k}_{c} END"
                nats.append(f"({num(density.weight)} * {log})")
            terms.append((rows.slot(density.features[0]), nats))
        rows.extend(parts_of)
        rows.extend(logs)
        add_up(rows, terms, n_classes)
        rows.extend({}, without=[*parts_of, *logs])
    rows.extend({}, without=[*positions, *deviations])


def _squared_scale(
    density: Density, c: int, row: Sequence[str], parents: Sequence[str]
) -> str:
    """The squared scale of a density: wider far out, and for missing parents."""
    corners = map(num, density.triangle[:, c])
    squares = ["1"]
    for first in range(len(row)):
        own = plus(*(f"{next(corners)} * {name}" for name in row[first:]))
        squares.append(f"{own} * {own}")
    variances = density.slopes[1:, c] ** 2 * density.variances[1:, c]
    missing = (
        f"CASE WHEN {parent} IS NULL THEN {num(variance)} ELSE {ZERO} END"
        for parent, variance in zip(parents, variances, strict=True)
    )
    return plus(f"{num(density.scale[c])} * {plus(*squares)}", *missing)


def _log_density(density: Density, c: int, residual: str, scale: str) -> str:
    """The log density within its bounds."""
    freedom, constant = density.freedom[c], num(density.constants[c])
    tail = f"LN(1 + {residual} * {residual} / ({scale} * {num(freedom)}))"
    log = f"({constant} - (0.5e0 * LN({scale}) + {num((freedom + 1) / 2)} * {tail}))"
    bound = num(MAX_LOG_DENSITY)
    return f"\0LEAST(\0GREATEST({log}, -{bound}), {bound})"
