"""Networks from what a file declares, with every check that a file can fail."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.io.formats.row_sums import RowSums
from bayleaf.io.formats.safe_names import NOTE_PREFIX, restored_variable
from bayleaf.io.formats.source_file import NetworkFileError, counted, quoted
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.wording import near_names

# NumPy's arrays have no more.
MAX_AXES = 64


@dataclass(frozen=True)
class DeclaredVariable:
    """A variable as a file declares it, with the file's names.

    `notes` are those of `SafeNames.notes` when the file was written; empty in other
    files.
    """

    name: str
    states: Sequence[str]
    line: int | None
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DeclaredTable:
    """A conditional probability table as a file declares it, with the file's names."""

    child: str
    parents: Sequence[str]
    values: NDArray[np.float64]  # first parent slowest, child fastest
    line: int | None
    row_lines: Sequence[int] | None = None  # if each distribution has its own line
    experience: NDArray[np.float64] | None = None  # rows behind each distribution


class Variables:
    """The variables that a file declares, in its order, which is that of the domain.

    NetworkFileError if there are none, one is declared twice, a state is listed twice,
    or a note cannot be read.
    """

    def __init__(self, declared: Sequence[DeclaredVariable], file: str) -> None:
        self.declared = declared
        self.file = file
        self._index: dict[str, int] = {}
        self._codes: dict[int, dict[str, int]] = {}
        if not declared:
            raise NetworkFileError(
                file, None, "the file declares no variable; give one that does"
            )
        for i, variable in enumerate(declared):
            if variable.name in self._index:
                raise NetworkFileError(
                    file,
                    variable.line,
                    f"variable {quoted(variable.name)} is declared twice; give each "
                    "variable a name of its own",
                )
            self._index[variable.name] = i
        self.domain = self._restored_domain()

    def _restored_domain(self) -> Domain:
        """The domain with the names that the notes tell."""
        restored: dict[str | int, Variable] = {}
        for declared in self.declared:
            self._check_states(declared)
            try:
                variable = restored_variable(
                    declared.name, declared.states, declared.notes
                )
            except ValueError as error:
                raise NetworkFileError(self.file, declared.line, str(error)) from error
            if variable.name in restored:
                raise NetworkFileError(
                    self.file,
                    declared.line,
                    f"two variables have the name {quoted(variable.name)}; give each "
                    "a name of its own",
                )
            restored[variable.name] = variable
        return Domain(tuple(restored.values()))

    def _check_states(self, variable: DeclaredVariable) -> None:
        """Raise unless a variable has states, each listed once."""
        known: set[str] = set()
        for state in variable.states:
            if state in known:
                raise NetworkFileError(
                    self.file,
                    variable.line,
                    f"variable {quoted(variable.name)} lists state {quoted(state)} "
                    "twice; give each state a name of its own",
                )
            known.add(state)
        if not known:
            raise NetworkFileError(
                self.file,
                variable.line,
                f"variable {quoted(variable.name)} has no states; list at least one",
            )

    def index(self, name: str, line: int | None, role: str) -> int:
        """Position of a variable by its name in the file, else NetworkFileError.

        `role` is its part for the error, such as ``'a parent of "x"'``.
        """
        if name not in self._index:
            raise NetworkFileError(
                self.file,
                line,
                f"{quoted(name)}, {role}, is no declared variable; "
                f"{near_names(name[:100], self._some_names())}",
            )
        return self._index[name]

    def _some_names(self) -> list[str]:
        """Names to suggest; hostile files hold more, and longer ones."""
        return [name[:100] for name in itertools.islice(self._index, 1000)]

    def codes(self, index: int) -> dict[str, int]:
        """Code of each state of a variable by its name in the file."""
        if index not in self._codes:
            states = self.declared[index].states
            self._codes[index] = {state: code for code, state in enumerate(states)}
        return self._codes[index]

    def family(
        self, child: str, parents: Sequence[str], line: int | None
    ) -> tuple[int, ...]:
        """Positions of the parents, then of the child.

        NetworkFileError if one is not declared or occurs twice.
        """
        node = self.index(child, line, "which has a table")
        role = f"a parent of {quoted(child)}"
        family = (*(self.index(name, line, role) for name in parents), node)
        if len(family) > MAX_AXES:
            raise NetworkFileError(
                self.file,
                line,
                f"variable {quoted(child)} has {len(parents)} parents; a table can "
                f"have at most {MAX_AXES - 1}",
            )
        if len(set(family)) < len(family):
            raise NetworkFileError(
                self.file,
                line,
                f"the table of variable {quoted(child)} names a variable twice; each "
                "parent occurs once, and the child is none of them",
            )
        return family

    def cards(self, family: Sequence[int]) -> tuple[int, ...]:
        """Number of states that the file lists for each member of a family."""
        return tuple(len(self.declared[member].states) for member in family)

    def kept(self, family: Sequence[int]) -> tuple[slice, ...]:
        """Part of a family's table that is left without impossible states."""
        return tuple(slice(self.domain.cards[member]) for member in family)


def assembled_network(
    variables: Variables, tables: Sequence[DeclaredTable], *, normalize: bool = False
) -> BayesianNetwork:
    """Build the network that a file declares; `normalize` as in `RowSums`.

    NetworkFileError if a table has an unknown variable, the wrong size, or rows that
    are not distributions; if a variable has no table or two; or if the arcs close a
    cycle.
    """
    by_child: dict[int, tuple[DeclaredTable, TableCPD]] = {}
    sums = RowSums(variables.file, normalize)
    for table in tables:
        family = variables.family(table.child, table.parents, table.line)
        if family[-1] in by_child:
            raise NetworkFileError(
                variables.file,
                table.line,
                f"variable {quoted(table.child)} has a second table here; leave one",
            )
        by_child[family[-1]] = table, _checked_cpd(variables, table, family, sums)
    for node, variable in enumerate(variables.declared):
        if node not in by_child:
            raise NetworkFileError(
                variables.file,
                variable.line,
                f"variable {quoted(variable.name)} has no table; add its probabilities",
            )
    cpds = tuple(by_child[node][1] for node in range(len(variables.declared)))
    parents = tuple(cpd.parents for cpd in cpds)
    try:
        dag = DAG(parents)
    except ValueError:
        cycle = _a_cycle(parents)
        names = " -> ".join(quoted(variables.declared[node].name) for node in cycle)
        raise NetworkFileError(
            variables.file,
            by_child[cycle[-1]][0].line,
            f"the arcs {names} close a cycle; remove one of them",
        ) from None
    sums.tell()
    return BayesianNetwork(variables.domain, dag, cpds)


def _checked_cpd(
    variables: Variables,
    table: DeclaredTable,
    family: tuple[int, ...],
    sums: RowSums,
) -> TableCPD:
    """The table once its size and its distributions have been checked."""
    file, cards = variables.file, variables.cards(family)
    what = f"the table of variable {quoted(table.child)}"
    if table.values.size != prod(cards):
        raise NetworkFileError(
            file,
            table.line,
            f"{what} holds {table.values.size} numbers, but its states and those of "
            f"its parents ask for {counted(prod(cards))}",
        )
    rows = table.values.reshape(-1, cards[-1])
    rows = sums.distributions(rows, table.child, table.row_lines or [table.line])
    cells, kept = rows.reshape(cards), variables.kept(family)
    if (cells[kept[:-1]][..., variables.domain.cards[family[-1]] :] > 0).any():
        raise NetworkFileError(
            file,
            table.line,
            f"{what} gives probability to a state that a note calls impossible; remove "
            f'the line with "{NOTE_PREFIX}impossible"',
        )
    experience = table.experience
    if experience is None:
        return TableCPD(family, cells[kept])
    fits = experience.size == len(rows) and np.isfinite(experience).all()
    if not fits or (experience < 0).any():
        raise NetworkFileError(
            file,
            table.line,
            f"the experience of variable {quoted(table.child)} should be one count of "
            f"at least 0 for each of {len(rows)} configurations of its parents",
        )
    return TableCPD(family, cells[kept], experience.reshape(cards[:-1])[kept[:-1]])


def _a_cycle(parents: Sequence[Sequence[int]]) -> list[int]:
    """Nodes of a cycle, from parent to child, the first again at the end."""
    n_open = [len(nodes) for nodes in parents]
    children: list[list[int]] = [[] for _ in parents]
    for child, nodes in enumerate(parents):
        for parent in nodes:
            children[parent].append(child)
    ready = [node for node, count in enumerate(n_open) if count == 0]
    while ready:
        for child in children[ready.pop()]:
            n_open[child] -= 1
            if n_open[child] == 0:
                ready.append(child)
    # Whoever is left has a parent that is left too: the walk up must come round.
    node = next(node for node, count in enumerate(n_open) if count > 0)
    path: list[int] = []
    while node not in path:
        path.append(node)
        node = next(parent for parent in parents[node] if n_open[parent] > 0)
    start = path.index(node)
    return [node, *reversed(path[start:])]
