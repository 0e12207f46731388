"""What a model need not look at in a row: contexts, groups of values, latent rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bayleaf.cpds.distribution import CPD, GroupedTableCPD
from bayleaf.cpds.tree_cpd import Split, TreeCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.partial_values import Rows, available_codes
from bayleaf.describe.local_structure_text import group_name, membership
from bayleaf.explain.subject import rows_of
from bayleaf.models.explanation import RuledExplanations
from bayleaf.models.latent_rules import condition_text
from bayleaf.models.predictor import ModelLike, predictor_inside
from bayleaf.typing import RowsLike
from bayleaf.wording import name_list, shown_name, stated

States = dict[int, int]


def contexts(model: ModelLike, X: RowsLike | Rows) -> list[list[str]]:
    """Tell which independences, groups and rules a model uses in each row.

    Parameters
    ----------
    model : classifier or Predictor
        The fitted model.
    X : table of shape (n_rows, n_features)
        The rows.

    Returns
    -------
    list of list of str
        Sentences by row. A tree says on which columns a column does not depend in this
        row, where the class, if the tree asks for it, is the one predicted; a table
        over groups of values says which group the row's value belongs to; a latent
        variable names the rule that holds. Empty for models without any of these, and
        where a cell that decides is missing or names a group.

    Notes
    -----
    Boutilier, Friedman, Goldszmidt and Koller (1996) define context-specific
    independence.
    """
    predictor, rows = predictor_inside(model), rows_of(model, X)
    codes = available_codes(rows)
    if isinstance(predictor.model, RuledExplanations):
        fired = predictor.model.rules_fired(codes)
        # A latent variable with one state tells nothing.
        told = [[rule for rule in row if rule[-8:] != ": always"] for row in fired]
        return [list(dict.fromkeys(filter(None, row))) for row in told]
    domain = predictor.model.domain
    cpds = [c for c in predictor.model.cpds if isinstance(c, TreeCPD | GroupedTableCPD)]
    if not cpds:
        return [[] for _ in range(codes.n_rows)]
    classes = predictor.choose(predictor.proba(rows))
    return [
        list(_sentences(domain, cpds, _states(codes, domain, row, int(label))))
        for row, label in enumerate(classes)
    ]


def _states(codes: Codes, domain: Domain, row: int, label: int) -> States:
    """The states of a row by variable, without the missing ones."""
    states = {len(domain) - 1: label}
    for feature in range(codes.n_variables):
        code = int(codes.column(feature)[row])
        if code < codes.cards[feature]:
            states[feature] = code
    return states


def _sentences(
    domain: Domain, cpds: Sequence[TreeCPD | GroupedTableCPD], states: States
) -> Iterator[str]:
    """What trees and tables over groups leave out in a row."""
    for cpd in cpds:
        if isinstance(cpd, TreeCPD):
            yield from _tree_sentence(domain, cpd, states)
        else:
            yield from _group_sentences(domain, cpd, states)


def _tree_sentence(domain: Domain, cpd: TreeCPD, states: States) -> Iterator[str]:
    """The parents that the branch of a row does not ask for, if there are any."""
    path = tree_path(cpd, states)
    if path is None:
        return
    left_out = [domain[parent].name for parent in cpd.parents if parent not in path]
    if left_out:
        told = [_member_of(domain[variable], group) for variable, group in path.items()]
        given = f"given {' and '.join(told)}, " if told else ""
        yield f"{given}{_independent(domain, cpd, left_out)}"


def tree_path(cpd: TreeCPD, states: States) -> dict[int, tuple[int, ...]] | None:
    """The groups of states that a row passes on its way to a leaf, by variable.

    None where the tree asks for a cell that is missing.
    """
    path: dict[int, tuple[int, ...]] = {}
    node = cpd.root
    while isinstance(node, Split):
        state = states.get(node.variable)
        if state is None:
            return None
        place = next(i for i, group in enumerate(node.groups) if state in group)
        path[node.variable] = tuple(node.groups[place])
        node = node.branches[place]
    return path


def _group_sentences(
    domain: Domain, cpd: GroupedTableCPD, states: States
) -> Iterator[str]:
    """The groups of the row's values that a table does not tell apart."""
    child = shown_name(domain[cpd.child].name)
    for parent, groups in zip(cpd.parents, cpd.groups, strict=True):
        variable, state = domain[parent], states.get(parent)
        if state is None:
            continue
        group = next(group for group in groups if state in group)
        if len(group) == variable.n_states > 1:
            yield _independent(domain, cpd, [variable.name])
        elif len(group) > 1:
            own = stated(shown_name(variable.name), variable.label(state))
            yield f"for {child}, {own} counts as {_name_of(variable, group)}"


def _independent(domain: Domain, cpd: CPD, names: list[str | int]) -> str:
    """That a variable does not depend on some others."""
    return f"{shown_name(domain[cpd.child].name)} does not depend on {name_list(names)}"


def _name_of(variable: Variable, group: tuple[int, ...]) -> str:
    """What a group of states is called, intervals as the condition they stand for."""
    if variable.kind == "numeric":
        return condition_text(variable, frozenset(int(state) for state in group))
    return group_name(variable, sorted(group))


def _member_of(variable: Variable, group: tuple[int, ...]) -> str:
    """That a variable has one of a group of states; not all of them."""
    name = _name_of(variable, group)
    if variable.kind == "numeric":
        return name
    return membership(shown_name(variable.name), name)
