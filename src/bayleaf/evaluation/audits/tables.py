"""The tables of an audit, as text cells for a terminal or a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bayleaf.evaluation.audits.parity import ModelParity
from bayleaf.evaluation.groups.estimates import Estimate
from bayleaf.evaluation.groups.figures import Contrast, GroupFigures
from bayleaf.evaluation.groups.grouped_figures import GroupedFigures
from bayleaf.results.document import Table
from bayleaf.wording import shown_name

# Classes that a table of the model's own probabilities has columns for.
_MOST_CLASSES = 6


def audit_tables(
    groupings: Sequence[GroupedFigures],
    overall: GroupFigures,
    parities: Sequence[ModelParity],
    positive: Sequence[str],
) -> Iterator[Table]:
    """The tables by groups of rows, then those of the model itself."""
    for grouping in groupings:
        by = f"by {_joined(grouping.columns)}"
        groups = (*grouping.groups, overall)
        for place, label in enumerate(positive):
            yield _rates(f"{by}: {label}, in per cent of rows", groups, place)
            yield _errors(f"{by}: {label}, errors in per cent", groups, place)
            if grouping.reference is not None:
                against = ", ".join(grouping.reference)
                above = f"points more than {against}, and ratio of selected"
                yield _differences(f"{by}: {label}, {above}", grouping.groups, label)
            title = f"{by}: probability of {label}, in per cent"
            yield _calibration(title, groups, place)
        yield _scores(f"{by}: all classes", groups)
    for parity in parities:
        yield _parity_table(parity, positive)


def _rates(title: str, groups: Sequence[GroupFigures], place: int) -> Table:
    """How often a class occurs and is predicted."""
    return Table(
        ("group", "rows", "base rate", "selected"),
        [
            (
                group.name,
                str(group.n_rows),
                percent(group.classes[place].base_rate),
                percent(group.classes[place].selection_rate),
            )
            for group in groups
        ],
        title,
    )


def _errors(title: str, groups: Sequence[GroupFigures], place: int) -> Table:
    """How often predictions of a class are right."""
    return Table(
        ("group", "found", "false alarms", "right if selected", "right if not"),
        [
            (
                group.name,
                percent(own.true_positive_rate),
                percent(own.false_positive_rate),
                percent(own.positive_predictive_value),
                percent(own.negative_predictive_value),
            )
            for group in groups
            for own in [group.classes[place]]
        ],
        title,
    )


def _differences(title: str, groups: Sequence[GroupFigures], label: str) -> Table:
    """Rates less those of the reference group."""
    rows = []
    for group in groups:
        known = {one.figure: one for one in group.contrasts if one.label == label}
        if not known:
            continue
        selected = known["selection_rate"]
        rows.append(
            (
                group.name,
                _difference(selected),
                _ratio(selected),
                _difference(known["true_positive_rate"]),
                _difference(known["false_positive_rate"]),
            )
        )
    heads = ("group", "selected", "ratio", "found", "false alarms")
    return Table(heads, rows, title)


def _difference(contrast: Contrast) -> str:
    """A difference; none where rounding may have made it."""
    return percent(contrast.difference) if _is_told(contrast) else "-"


def _ratio(contrast: Contrast) -> str:
    """The ratio beside it."""
    if contrast.ratio is None or not _is_told(contrast):
        return "-"
    return number(contrast.ratio, 2)


def _is_told(contrast: Contrast) -> bool:
    """Whether a difference is one of exact numbers, or clear in spite of rounding."""
    return contrast.rounding == 0 or contrast.is_clear


def _calibration(title: str, groups: Sequence[GroupFigures], place: int) -> Table:
    """Mean probabilities beside base rates."""
    return Table(
        ("group", "mean probability", "base rate", "gap"),
        [
            (
                group.name,
                "-"
                if own.mean_probability is None
                else f"{100 * own.mean_probability:.1f}",
                percent(own.base_rate),
                percent(own.calibration_gap),
            )
            for group in groups
            for own in [group.classes[place]]
        ],
        title,
    )


def _scores(title: str, groups: Sequence[GroupFigures]) -> Table:
    """Scores of all classes together."""
    has_cost = groups[0].cost is not None
    heads = ("group", "accuracy %", "log-loss", "calib. error")
    return Table(
        (*heads, "cost/row") if has_cost else heads,
        [
            (
                group.name,
                percent(group.accuracy),
                number(group.log_loss, 3),
                f"{group.calibration_error:.3f} "
                f"({group.calibration_error_by_chance:.3f})",
                *([] if group.cost is None else [number(group.cost, 3)]),
            )
            for group in groups
        ],
        title,
    )


def _parity_table(parity: ModelParity, positive: Sequence[str]) -> Table:
    """Probabilities under the model, of the classes that are looked at."""
    shown = [
        (place, label)
        for place, label in enumerate(parity.classes)
        if label in positive
    ][:_MOST_CLASSES]
    rows = [
        (
            ", ".join(group.label),
            f"{100 * group.probability:.1f}",
            *(f"{100 * group.classes[place]:.1f}" for place, _ in shown),
        )
        for group in parity.groups
    ]
    gaps = [f"{100 * parity.gap(place):.1f}" for place, _ in shown]
    ratios = [parity.ratio(place) for place, _ in shown]
    rows.append(("largest less least", "", *gaps))
    told = ["-" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
    rows.append(("least by largest", "", *told))
    columns = _joined(parity.columns)
    return Table(
        ("group", "P(group)", *(f"P({label} | group)" for _, label in shown)),
        rows,
        f"by {columns}: under the model alone, nothing else known, in per cent",
    )


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


def number(found: Estimate, digits: int) -> str:
    """A number with its interval."""
    if found.value is None:
        return "-"
    if found.low is None or found.high is None:
        return f"{found.value:.{digits}f}"
    ends = f"{found.low:.{digits}f}, {found.high:.{digits}f}"
    return f"{found.value:.{digits}f} ({ends})"


def _written(value: float, digits: int) -> str:
    """A number with some digits; zero has no sign."""
    # Adding zero turns a negative one into zero.
    return f"{round(value, digits) + 0.0:.{digits}f}"


def _joined(columns: Sequence[str]) -> str:
    """The columns that make groups."""
    return ", ".join(shown_name(column) for column in columns)
