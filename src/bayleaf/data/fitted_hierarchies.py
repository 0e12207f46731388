"""Value hierarchies from files and nested values, fitted to the columns of a table."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import warnings
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

from bayleaf.data.domain import Domain, Variable
from bayleaf.data.tables.columns import Name
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.typing import ByLabel, ByName
from bayleaf.wording import format_number, name_list, near_names, quoted, visible_json

PathLike = str | os.PathLike[str]
# What a caller may give for one column.
HierarchyLike = ValueHierarchy | ByLabel[object] | PathLike
# What a caller may give for a table: columns by name, or a file with all of them.
HierarchiesLike = ByName[HierarchyLike] | PathLike

_NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_WHOLE = r"-?\d+"
_UP_TO = re.compile(rf"<=\s*({_NUMBER})")
_ABOVE = re.compile(rf">\s*({_NUMBER})")
_BETWEEN = re.compile(rf"\(\s*({_NUMBER})\s*,\s*({_NUMBER})\s*\]")
_FROM_TO = re.compile(rf"({_WHOLE})\s*-\s*({_WHOLE})")
_FROM = re.compile(rf"({_WHOLE})\s*\+")
_EXACTLY = re.compile(_WHOLE)
_FORMS = "'<= 9', '(9, 20]', '> 20', or of integers '0-9', '10', '11+'"


def read_hierarchies(path: PathLike) -> dict[str, ValueHierarchy]:
    """Read the value hierarchies of several columns from a JSON file.

    For each column the file has ``{root: what is below it}``: a list of states, or an
    object of nodes by name, a state with ``null``. OSError if it cannot be read;
    ValueError names the file, the column and the node if it is not JSON or a tree.
    """
    values = _read_json(path)
    return {
        column: _from_json(nested, f"column {quoted(column)} of {os.fspath(path)}")
        for column, nested in values.items()
    }


def read_hierarchy(path: PathLike, column: Name) -> ValueHierarchy:
    """Read the value hierarchy of one column from a file of several or of it alone.

    Errors as in `read_hierarchies`; ValueError also if the file lacks the column.
    """
    values = _read_json(path)
    name, place = str(column), os.fspath(path)
    if name in values:
        return _from_json(values[name], f"column {quoted(name)} of {place}")
    if len(values) == 1:
        return _from_json(values, place)
    raise ValueError(
        f"{place} holds no value hierarchy of column {quoted(name)}; "
        f"{near_names(name, values)}"
    )


def hierarchies_text(hierarchies: Mapping[Any, ValueHierarchy]) -> str:
    """Value hierarchies as the text of a file that `read_hierarchies` reads."""
    values = {str(name): tree.to_nested() for name, tree in hierarchies.items()}
    return visible_json(json.dumps(values, indent=1, ensure_ascii=False)) + "\n"


def resolve_hierarchies(
    hierarchies: HierarchiesLike | None, names: Iterable[Name]
) -> dict[Name, ValueHierarchy]:
    """Turn what a caller gives as hierarchies into trees by the name of the column.

    For each column it is a `ValueHierarchy`, nested mappings and lists, or a file's
    path; or it is the path of one file for all. TypeError for other types; ValueError
    if a column is not among `names`; and errors as in `read_hierarchies`.
    """
    if hierarchies is None:
        return {}
    if isinstance(hierarchies, str | os.PathLike):
        hierarchies = read_hierarchies(hierarchies)
    if not isinstance(hierarchies, Mapping):
        raise TypeError(
            "hierarchies must be a mapping from columns to value hierarchies or the "
            f"path of a file, got {type(hierarchies).__name__}"
        )
    by_text = {str(name): name for name in names}
    resolved: dict[Name, ValueHierarchy] = {}
    for column, given in hierarchies.items():
        if str(column) not in by_text:
            raise ValueError(
                f"hierarchies names column {quoted(column)}, which the table lacks; "
                f"{near_names(str(column), by_text)}"
            )
        resolved[by_text[str(column)]] = _resolve(given, column)
    return {name: resolved[name] for name in by_text.values() if name in resolved}


def fit_hierarchy(hierarchy: ValueHierarchy, variable: Variable) -> ValueHierarchy:
    """The part of a hierarchy that a variable needs, with the variable's states.

    Drop leaves that are not states, and nodes with nothing below them; replace a node
    by its only child. A missing state goes right below the root; so do states that the
    hierarchy lacks, with a UserWarning. The variable's own hierarchy is ignored.
    ValueError if no leaf is a state, two are the same state, a group has the name of a
    state, or ranges do not fit the variable's intervals.
    """
    meant = leaf_states(hierarchy, variable)
    if not meant:
        raise ValueError(
            f"no leaf of the value hierarchy with the root {quoted(hierarchy.root)} is "
            f"a state of variable {quoted(variable.name)}; its states are "
            f"{name_list(variable.known_states)}"
        )
    known = set(meant.values())
    absent = [state for state in variable.known_states if state not in known]
    if absent:
        warnings.warn(
            f"the value hierarchy of variable {quoted(variable.name)} leaves out "
            f"{name_list(absent)}, which will hang right below its root",
            UserWarning,
            stacklevel=2,
        )
    missing = [None] if variable.has_missing_state else []
    below = _items_below(hierarchy, hierarchy.root, meant) + absent + missing
    (top,) = below if len(below) == 1 else [{hierarchy.root: below}]
    return ValueHierarchy.from_nested(top if isinstance(top, dict) else {top: None})


def with_hierarchies(
    domain: Domain, hierarchies: Mapping[Name, ValueHierarchy]
) -> Domain:
    """A domain whose variables have hierarchies; errors as in `fit_hierarchy`."""
    variables = []
    for variable in domain:
        if (tree := hierarchies.get(variable.name)) is not None:
            variable = replace(variable, hierarchy=fit_hierarchy(tree, variable))
        variables.append(variable)
    return Domain(tuple(variables))


@dataclass(frozen=True)
class ValueRange:
    """The numbers that a leaf stands for: above `low`, and up to `high`."""

    leaf: Hashable
    low: float
    high: float


def read_range(leaf: Hashable) -> ValueRange | None:
    """The range of a leaf such as ``"<= 9"``, ``"(9, 20]"`` or ``"> 20"``; else None.

    ``"0-9"``, ``"10"`` and ``"11+"`` are ranges of integers, both ends included.
    """
    text = str(leaf).strip()
    if found := _UP_TO.fullmatch(text):
        return ValueRange(leaf, -math.inf, float(found[1]))
    if found := _ABOVE.fullmatch(text):
        return ValueRange(leaf, float(found[1]), math.inf)
    if found := _BETWEEN.fullmatch(text):
        return ValueRange(leaf, float(found[1]), float(found[2]))
    if found := _FROM_TO.fullmatch(text):
        return ValueRange(leaf, float(found[1]) - 1.0, float(found[2]))
    if found := _FROM.fullmatch(text):
        return ValueRange(leaf, float(found[1]) - 1.0, math.inf)
    if _EXACTLY.fullmatch(text):
        return ValueRange(leaf, float(text) - 1.0, float(text))
    return None


def has_range_leaves(hierarchy: ValueHierarchy) -> bool:
    """Whether all leaves name ranges, and at least one more than a single number."""
    ranges = [read_range(leaf) for leaf in hierarchy.states]
    return None not in ranges and any(
        not _EXACTLY.fullmatch(str(leaf).strip()) for leaf in hierarchy.states
    )


def ordered_ranges(hierarchy: ValueHierarchy) -> tuple[ValueRange, ...]:
    """The leaves as adjoining ranges in increasing order.

    ValueError if a leaf is not a range, a range is empty, or two overlap or leave gaps.
    """
    ranges = []
    for leaf in hierarchy.states:
        found = read_range(leaf)
        if found is None:
            raise ValueError(
                f"leaf {quoted(leaf)} of the value hierarchy is no range of numbers; "
                f"write {_FORMS}"
            )
        if found.low >= found.high:
            raise ValueError(
                f"leaf {quoted(leaf)} of the value hierarchy is a range without "
                "numbers; put the smaller end first"
            )
        ranges.append(found)
    ranges.sort(key=lambda found: (found.low, found.high))
    for left, right in itertools.pairwise(ranges):
        if left.high != right.low:
            problem = "overlap" if left.high > right.low else "leave a gap between them"
            raise ValueError(
                f"leaves {quoted(left.leaf)} and {quoted(right.leaf)} of the value "
                f"hierarchy {problem}; let every range start where the one before ends"
            )
    return tuple(ranges)


def range_cut_points(hierarchy: ValueHierarchy) -> tuple[float, ...]:
    """Thresholds at which range leaves cut a numeric column: upper ends but the last.

    The outer ranges include what lies beyond them. ValueError as in `ordered_ranges`.
    """
    return tuple(found.high for found in ordered_ranges(hierarchy)[:-1])


def states_of_ranges(
    hierarchy: ValueHierarchy, variable: Variable
) -> dict[Hashable, Hashable]:
    """The interval of a numeric variable that each range leaf is.

    ValueError as in `ordered_ranges`, or if the ranges are not the variable's
    intervals.
    """
    ranges = ordered_ranges(hierarchy)
    cuts = tuple(found.high for found in ranges[:-1])
    if cuts != variable.cut_points:
        wanted, given = (
            name_list([format_number(cut) for cut in points]) or "nowhere"
            for points in (cuts, variable.cut_points)
        )
        raise ValueError(
            f"the value hierarchy of variable {quoted(variable.name)} cuts at "
            f"{wanted}, but the variable is cut at {given}; take the hierarchy's cut "
            "points"
        )
    return {
        found.leaf: state for found, state in zip(ranges, variable.states, strict=False)
    }


def _resolve(given: Any, column: Name) -> ValueHierarchy:
    """The tree that a caller gives for one column."""
    if isinstance(given, ValueHierarchy):
        return given
    if isinstance(given, str | os.PathLike):
        return read_hierarchy(given, column)
    if not isinstance(given, Mapping):
        raise TypeError(
            f"the value hierarchy of column {quoted(column)} must be a ValueHierarchy, "
            f"a mapping or the path of a file, got {type(given).__name__}"
        )
    try:
        return ValueHierarchy.from_nested(given)
    except ValueError as error:
        raise ValueError(f"column {quoted(column)}: {error}") from None


def _read_json(path: PathLike) -> dict[str, Any]:
    """The object that a file holds."""
    place = os.fspath(path)
    content = Path(path).read_bytes()
    try:
        values = json.loads(content, object_pairs_hook=_object_of_different_names)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{place} is no JSON: line {error.lineno}, column {error.colno}: "
            f"{error.msg}"
        ) from None
    except UnicodeDecodeError:
        raise ValueError(f"{place} is no text in UTF-8; save it as UTF-8") from None
    except RecursionError:
        raise ValueError(f"{place} is nested too deeply for a hierarchy") from None
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    if not isinstance(values, dict) or not values:
        raise ValueError(
            f"{place} holds no value hierarchies; write an object with one entry a "
            "column, such as {column: {root: [states]}}"
        )
    return values


def _object_of_different_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, in which Python would keep the last of equal names only."""
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(
            f"the name {quoted(twice)} stands twice in one object; give every node a "
            "name of its own"
        )
    return values


def _from_json(nested: Any, place: str) -> ValueHierarchy:
    """A tree from JSON values, with checks of what only JSON can get wrong."""
    try:
        tree = ValueHierarchy.from_nested(nested)
        for name in tree.nodes:
            if name is None:
                raise ValueError(
                    f"a list below node {quoted(tree.parent_of(name))} of the value "
                    "hierarchy holds null; name a state, or leave the entry out"
                )
            if isinstance(name, float) and not isfinite(name):
                raise ValueError(
                    f"state {quoted(name)} of the value hierarchy is not finite"
                )
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    return tree


def leaf_states(
    hierarchy: ValueHierarchy, variable: Variable
) -> dict[Hashable, Hashable]:
    """The state that each leaf means; leaves without one are left out.

    ValueError if a group has the name of a state, two leaves are the same state, or
    ranges do not fit the variable's intervals.
    """
    states = set(variable.known_states)
    if variable.kind == "numeric" and not states.issuperset(hierarchy.states):
        if not has_range_leaves(hierarchy):
            strange = [leaf for leaf in hierarchy.states if leaf not in states]
            raise ValueError(
                f"leaf {quoted(strange[0])} of the value hierarchy is no interval of "
                f"the numeric variable {quoted(variable.name)}; write ranges such as "
                "'0-9' or '<= 9'"
            )
        return states_of_ranges(hierarchy, variable)
    # Names in files are text, whatever the type of the states.
    by_text = {str(state): state for state in variable.known_states}
    meant = {
        leaf: leaf if leaf in states else by_text[str(leaf)]
        for leaf in hierarchy.states
        if leaf in states or str(leaf) in by_text
    }
    _check_names(hierarchy, variable, meant)
    return meant


def _check_names(
    hierarchy: ValueHierarchy, variable: Variable, meant: dict[Hashable, Hashable]
) -> None:
    """Raise if a group has a state's name, or two leaves are one state."""
    states = set(variable.known_states)
    groups = [name for name in hierarchy.inner_nodes if name in states]
    if groups:
        raise ValueError(
            f"node {quoted(groups[0])} of the value hierarchy is a group, but variable "
            f"{quoted(variable.name)} has a state of this name; rename the group"
        )
    leaves: dict[Hashable, Hashable] = {}
    for leaf, state in meant.items():
        first = leaves.setdefault(state, leaf)
        if first != leaf:
            raise ValueError(
                f"leaves {quoted(first)} below {quoted(hierarchy.parent_of(first))} "
                f"and {quoted(leaf)} below {quoted(hierarchy.parent_of(leaf))} are the "
                f"same state of variable {quoted(variable.name)}; keep one of them"
            )


def _items_below(
    hierarchy: ValueHierarchy, name: Hashable, meant: Mapping[Hashable, Hashable]
) -> list[Any]:
    """What is left below a node: states, and mappings for nodes of several children."""
    children = hierarchy.children_of(name)
    if not children:
        return [meant[name]] if name in meant else []
    items: list[Any] = []
    for child in children:
        below = _items_below(hierarchy, child, meant)
        items += below if len(below) <= 1 else [{child: below}]
    return items
