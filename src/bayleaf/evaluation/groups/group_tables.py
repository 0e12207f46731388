"""Figures of groups of rows as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bayleaf.evaluation.groups.estimates import Estimate
from bayleaf.evaluation.groups.group_rates import Contrast, GroupFigures
from bayleaf.results.document import Table
from bayleaf.wording import in_bits, shown_name

# What the heads of the tables mean.
MEANINGS = {
    "base rate": "share of rows whose class it is",
    "selected": "share of rows for which it is predicted",
    "found": "share for which it is predicted, of the rows whose class it is (true "
    "positive rate)",
    "false alarms": "share for which it is predicted, of the other rows (false "
    "positive rate)",
    "right if selected": "share whose class it is, of the rows for which it is "
    "predicted (positive predictive value)",
    "right if not": "share whose class it is not, of the rows for which it is not "
    "predicted (negative predictive value)",
    "gap": "mean probability less base rate, in points: above 0 the class is predicted "
    "as too probable",
    "calib. error": "expected calibration error, and in parentheses what chance alone "
    "gives for as many rows",
}


def group_tables(
    columns: Sequence[str],
    groups: Sequence[GroupFigures],
    reference: Sequence[str] | None,
    overall: GroupFigures | None = None,
) -> Iterator[Table]:
    """Rates of each class, differences from the reference group, and scores.

    `overall` adds a last line to all tables but the differences.
    """
    by = f"by {joined_columns(columns)}"
    shown = groups if overall is None else (*groups, overall)
    if not shown:
        return
    for place, rates_of in enumerate(shown[0].classes):
        label = rates_of.label
        rates = [(group, group.classes[place]) for group in shown]
        yield Table(
            ("group", "rows", "base rate", "selected"),
            [
                (
                    group.name,
                    str(group.n_rows),
                    percent(rate.base_rate),
                    percent(rate.selection_rate),
                )
                for group, rate in rates
            ],
            f"{by}: {label}, in per cent of rows",
        )
        yield Table(
            ("group", "found", "false alarms", "right if selected", "right if not"),
            [
                (
                    group.name,
                    percent(rate.true_positive_rate),
                    percent(rate.false_positive_rate),
                    percent(rate.positive_predictive_value),
                    percent(rate.negative_predictive_value),
                )
                for group, rate in rates
            ],
            f"{by}: {label}, errors in per cent",
        )
        if reference is not None:
            against = ", ".join(reference)
            above = f"points more than {against}, and ratio of selected"
            yield _differences(f"{by}: {label}, {above}", groups, label)
        means = [rate.mean_probability for _, rate in rates]
        yield Table(
            ("group", "mean probability", "base rate", "gap"),
            [
                (
                    group.name,
                    "-" if mean is None else f"{100 * mean:.1f}",
                    percent(rate.base_rate),
                    percent(rate.calibration_gap),
                )
                for (group, rate), mean in zip(rates, means, strict=True)
            ],
            f"{by}: probability of {label}, in per cent",
        )
    cost = () if shown[0].cost is None else ("cost/row",)
    yield Table(
        ("group", "accuracy %", "log-loss bits", "calib. error", *cost),
        [
            (
                group.name,
                percent(group.accuracy),
                number(group.log_loss, 3, in_bits(1.0)),
                f"{group.calibration_error:.3f} "
                f"({group.calibration_error_by_chance:.3f})",
                *([] if group.cost is None else [number(group.cost, 3)]),
            )
            for group in shown
        ],
        f"{by}: all classes",
    )


def _differences(title: str, groups: Sequence[GroupFigures], label: str) -> Table:
    """Rates less those of the reference group."""

    def written(contrast: Contrast, estimate: Estimate | None, ratio: bool) -> str:
        # Rounding may have made what is not clear.
        if estimate is None or (contrast.rounding != 0 and not contrast.is_clear):
            return "-"
        return number(estimate, 2) if ratio else percent(estimate)

    rows = []
    for group in groups:
        known = {one.figure: one for one in group.contrasts if one.label == label}
        if not known:
            continue
        selected, found, alarms = (
            known[rate]
            for rate in ("selection_rate", "true_positive_rate", "false_positive_rate")
        )
        rows.append(
            (
                group.name,
                written(selected, selected.difference, False),
                written(selected, selected.ratio, True),
                written(found, found.difference, False),
                written(alarms, alarms.difference, False),
            )
        )
    heads = ("group", "selected", "ratio", "found", "false alarms")
    return Table(heads, rows, title)


def percent(found: Estimate) -> str:
    """A share in per cent with its interval, as exact as that is narrow."""
    if found.value is None:
        return "-"
    if found.low is None or found.high is None:
        return _written(100 * found.value, 0)
    digits = 1 if found.high - found.low < 0.04 else 0
    value, low, high = (
        _written(100 * part, digits) for part in (found.value, found.low, found.high)
    )
    return f"{value} ({low}, {high})"


def number(found: Estimate, digits: int, factor: float = 1.0) -> str:
    """A number with its interval, both times a factor."""
    if found.value is None:
        return "-"
    value = f"{factor * found.value:.{digits}f}"
    if found.low is None or found.high is None:
        return value
    ends = ", ".join(f"{factor * end:.{digits}f}" for end in (found.low, found.high))
    return f"{value} ({ends})"


def _written(value: float, digits: int) -> str:
    """A number with some digits; zero has no sign."""
    # Adding zero turns a negative one into zero.
    return f"{round(value, digits) + 0.0:.{digits}f}"


def joined_columns(columns: Sequence[str]) -> str:
    """The columns that make groups."""
    return ", ".join(shown_name(column) for column in columns)
