"""What the latent variables of a tree mean once its tables are known, and as text."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Variable
from bayleaf.models.latent_rules import (
    MAX_RULES,
    LatentReport,
    LatentState,
    latent_names,
    state_rules,
)
from bayleaf.models.latents.hierarchical_tables import HierarchicalTables
from bayleaf.wording import shown_name

# Classes above which their probabilities are not written.
_CLASSES_SHOWN = 5
_WIDTH = 80


def latent_reports(
    model: HierarchicalTables, max_rules: int = MAX_RULES
) -> tuple[LatentReport, ...]:
    """Describe every latent variable of a model, nested ones first.

    Where a state needs more than `max_rules`, nested latents stay in its rules by name.
    """
    domain, tree = model.domain, model.tree
    names = [*domain.names[: tree.n_features], *latent_names(domain, tree)]
    given_class = features_given_class(model)
    reports = []
    for position, rules in enumerate(state_rules(domain, tree, max_rules)):
        node, latent = tree.n_features + position, tree.latents[position]
        counts = np.bincount(
            latent.states.ravel(), weights=model.cell_counts[position].ravel()
        )
        joint = (given_class[node] * model.prior[:, None]).T
        states = []
        for state, total in enumerate(joint.sum(axis=1)):
            # A state of probability zero tells nothing about the class.
            posterior = joint[state] / total if total > 0 else model.prior
            lift = np.divide(
                posterior,
                model.prior,
                out=np.ones_like(posterior),
                where=model.prior > 0,
            )
            states.append(
                LatentState(rules[state], float(counts[state]), posterior, lift)
            )
        children = (names[latent.left], names[latent.right])
        cells = latent.states
        report = LatentReport(str(names[node]), node, children, cells, tuple(states))
        reports.append(report)
    return tuple(reports)


def features_given_class(
    model: HierarchicalTables,
) -> Mapping[int, NDArray[np.float64]]:
    """P(node | class) of class children and of what lies below latents."""
    tree = model.tree
    found = dict(zip(tree.class_children, model.tables, strict=True))
    for position in reversed(range(len(tree.latents))):
        latent = tree.latents[position]
        table = found[tree.n_features + position]
        cells = table[:, latent.states] * model.cell_distributions[position]
        found[latent.left] = cells.sum(axis=2)
        found[latent.right] = cells.sum(axis=1)
    return found


def rules_text(reports: Sequence[LatentReport], class_variable: Variable) -> str:
    """Write latent variables, their states and rules as aligned tables."""
    classes = [class_variable.label(code) for code in range(class_variable.n_states)]
    if not reports:
        return "no latent variables: every feature stands directly below the class"
    return "\n\n".join(_report_text(report, classes) for report in reports)


def _report_text(report: LatentReport, classes: Sequence[str]) -> str:
    """One latent variable as a title and a table with one line a rule."""
    title = f"{report.name}: {' and '.join(shown_name(c) for c in report.children)}"
    if report.is_irrelevant:
        return "\n".join(_title(f"{title}: irrelevant given the class"))
    if len(report.states) < report.n_cells:
        title += f", {report.n_cells} cells collapsed into {len(report.states)} states"
    shown = range(len(classes) if len(classes) <= _CLASSES_SHOWN else 0)
    heads = ["state", "N", *(f"P({classes[c]})" for c in shown), "most raised class"]
    lines = [[*heads, "rules"]]
    for number, state in enumerate(report.states, start=1):
        best = int(np.argmax(state.lift))
        facts = [
            str(number),
            f"{state.n:.0f}" if state.n.is_integer() else f"{state.n:.1f}",
        ]
        facts += [f"{state.class_probabilities[c]:.3f}" for c in shown]
        facts.append(f"{classes[best]} x {state.lift[best]:.2f}")
        for rule in state.rules:
            lines.append([*facts, str(rule)])
            facts = [""] * len(facts)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)][:-1]
    told = [_aligned(line, widths) for line in lines]
    if max(map(len, told)) > _WIDTH:
        told = [
            text
            for line in lines[1:]
            for text in _stacked([*heads[:-1], "raises"], line)
        ]
    return "\n".join([*_title(title), *told])


def _title(text: str) -> list[str]:
    """A title, over several lines if it is long."""
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ")


def _stacked(heads: Sequence[str], cells: Sequence[str]) -> list[str]:
    """One rule below the facts of its state, where they do not fit on one line."""
    *facts, rule = cells
    told = ", ".join(f"{head} {fact}" for head, fact in zip(heads, facts) if fact)
    lines = textwrap.wrap(told, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    rules = textwrap.wrap(
        rule, _WIDTH, initial_indent="    - ", subsequent_indent="      "
    )
    return [*lines, *rules]


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """One line of a table; numbers to the right, the lift and the rule to the left."""
    *numbers, lift, rule = cells
    *number_widths, lift_width = widths
    right = [
        text.rjust(width) for text, width in zip(numbers, number_widths, strict=True)
    ]
    return "  ".join(["", *right, lift.ljust(lift_width), rule]).rstrip()
