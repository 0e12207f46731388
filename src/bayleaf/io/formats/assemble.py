"""Networks from what a file declares, with every check that a file can fail."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.given_tables import SUM_TOLERANCE
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.io.formats.full_tables import MAX_TABLE_CELLS
from bayleaf.io.formats.safe_names import NOTE_PREFIX, restored_variable
from bayleaf.io.formats.source_file import NetworkFileError, counted, quoted
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.wording import near_names

# NumPy's arrays have no more.
MAX_AXES = 64
# Published files round their numbers: up to this far a sum is a slip, not a question.
ROUNDING = 0.01
_LOGGER = logging.getLogger("bayleaf")


@dataclass(frozen=True)
class DeclaredVariable:
    """A variable as a file declares it, with the file's names.

    `notes` are those of `SafeNames.notes` when the file was written; empty in other
    files. Networks hold chance variables; `Variables` refuses any other `kind`.
    """

    name: str
    states: Sequence[str]
    line: int | None
    notes: Mapping[str, str] = field(default_factory=dict)
    kind: str = "chance"  # or "decision", "utility", "continuous", ...


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
        self._n_expanded = 0
        if not declared:
            raise self.error(None, "the file declares no variable; give one that does")
        for i, variable in enumerate(declared):
            if variable.kind != "chance":
                raise self.error(
                    variable.line,
                    f"node {quoted(variable.name)} is of kind {variable.kind[:60]}, "
                    "but only chance nodes with states can be read; remove it or "
                    "make it a chance node",
                )
            if variable.name in self._index:
                raise self.error(
                    variable.line,
                    f"variable {quoted(variable.name)} is declared twice; give each "
                    "variable a name of its own",
                )
            self._index[variable.name] = i
        restored: dict[str | int, Variable] = {}
        for each in declared:
            self._check_states(each)
            try:
                known = restored_variable(each.name, each.states, each.notes)
            except ValueError as error:
                raise self.error(each.line, str(error)) from error
            if known.name in restored:
                raise self.error(
                    each.line,
                    f"two variables have the name {quoted(known.name)}; give each "
                    "a name of its own",
                )
            restored[known.name] = known
        # With the names of the notes.
        self.domain = Domain(tuple(restored.values()))

    def _check_states(self, variable: DeclaredVariable) -> None:
        """Raise unless a variable has states, each listed once."""
        known: set[str] = set()
        for state in variable.states:
            if state in known:
                raise self.error(
                    variable.line,
                    f"variable {quoted(variable.name)} lists state {quoted(state)} "
                    "twice; give each state a name of its own",
                )
            known.add(state)
        if not known:
            raise self.error(
                variable.line,
                f"variable {quoted(variable.name)} has no states; list at least one",
            )

    def error(self, line: int | None, problem: str) -> NetworkFileError:
        """An error that names the file and a line."""
        return NetworkFileError(self.file, line, problem)

    def index(self, name: str, line: int | None, role: str) -> int:
        """Position of a variable by its name in the file, else NetworkFileError.

        `role` is its part for the error, such as ``'a parent of "x"'``.
        """
        if name not in self._index:
            # Hostile files hold more names, and longer ones.
            some = [known[:100] for known in itertools.islice(self._index, 1000)]
            raise self.error(
                line,
                f"{quoted(name)}, {role}, is no declared variable; "
                f"{near_names(name[:100], some)}",
            )
        return self._index[name]

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
            raise self.error(
                line,
                f"variable {quoted(child)} has {len(parents)} parents; a table can "
                f"have at most {MAX_AXES - 1}",
            )
        if len(set(family)) < len(family):
            raise self.error(
                line,
                f"the table of variable {quoted(child)} names a variable twice; each "
                "parent occurs once, and the child is none of them",
            )
        return family

    def check_room(self, family: Sequence[int], line: int | None) -> None:
        """Raise if tables that a file gives in short have too many cells together."""
        self._n_expanded += prod(self.cards(family))
        if self._n_expanded > MAX_TABLE_CELLS:
            raise self.error(
                line,
                f"with the table of variable {quoted(self.declared[family[-1]].name)}, "
                f"{counted(self._n_expanded)} cells would be made of what is given in "
                f"short, more than {MAX_TABLE_CELLS:,}; give it fewer parents",
            )

    def cards(self, family: Sequence[int]) -> tuple[int, ...]:
        """Number of states that the file lists for each member of a family."""
        return tuple(len(self.declared[member].states) for member in family)


def assembled_network(
    variables: Variables, tables: Sequence[DeclaredTable], *, normalize: bool = False
) -> BayesianNetwork:
    """Build the network that a file declares; `normalize` as in `RowSums`.

    NetworkFileError if a table has an unknown variable, the wrong size, or rows that
    are not distributions; if a variable has no table or two; or if the arcs close a
    cycle.
    """
    dag, by_node = assembled_tables(variables, tables, {}, normalize=normalize)
    cpds = tuple(by_node[node] for node in range(len(variables.declared)))
    return BayesianNetwork(variables.domain, dag, cpds)


def assembled_tables(
    variables: Variables,
    tables: Sequence[DeclaredTable],
    without: Mapping[int, tuple[tuple[int, ...], int | None]],
    *,
    normalize: bool = False,
) -> tuple[DAG, dict[int, TableCPD]]:
    """The graph and the checked tables; errors as of `assembled_network`.

    Variables `without` a table have their parents, and the line that declares these.
    """
    sums = RowSums(variables.file, normalize)
    by_child: dict[int, tuple[DeclaredTable, TableCPD]] = {}
    for table in tables:
        family = variables.family(table.child, table.parents, table.line)
        if family[-1] in by_child:
            raise variables.error(
                table.line,
                f"variable {quoted(table.child)} has a second table here; leave one",
            )
        by_child[family[-1]] = table, _checked_cpd(variables, table, family, sums)
    for node, variable in enumerate(variables.declared):
        if node not in by_child and node not in without:
            raise variables.error(
                variable.line,
                f"variable {quoted(variable.name)} has no table; add its probabilities",
            )
    cpds = {node: cpd for node, (_, cpd) in by_child.items()}
    graph = {node: (cpd.parents, by_child[node][0].line) for node, cpd in cpds.items()}
    above = {**graph, **without}
    declared = [above[node] for node in range(len(variables.declared))]
    parents = tuple(nodes for nodes, _ in declared)
    try:
        dag = DAG(parents)
    except ValueError:
        cycle = _a_cycle(parents)
        names = " -> ".join(quoted(variables.declared[node].name) for node in cycle)
        raise variables.error(
            declared[cycle[-1]][1],
            f"the arcs {names} close a cycle; remove one of them",
        ) from None
    sums.tell()
    return dag, cpds


def _checked_cpd(
    variables: Variables, table: DeclaredTable, family: tuple[int, ...], sums: RowSums
) -> TableCPD:
    """The table once its size and its distributions have been checked."""
    cards = variables.cards(family)
    what = f"the table of variable {quoted(table.child)}"
    if table.values.size != prod(cards):
        raise variables.error(
            table.line,
            f"{what} holds {table.values.size} numbers, but its states and those of "
            f"its parents ask for {counted(prod(cards))}",
        )
    rows = table.values.reshape(-1, cards[-1])
    rows = sums.distributions(rows, table.child, table.row_lines or [table.line])
    # Without impossible states.
    kept = tuple(slice(variables.domain.cards[member]) for member in family)
    cells = rows.reshape(cards)
    if (cells[kept[:-1]][..., kept[-1].stop :] > 0).any():
        raise variables.error(
            table.line,
            f"{what} gives probability to a state that a note calls impossible; remove "
            f'the line with "{NOTE_PREFIX}impossible"',
        )
    experience = table.experience
    if experience is None:
        return TableCPD(family, cells[kept])
    fits = experience.size == len(rows) and np.isfinite(experience).all()
    if not fits or (experience < 0).any():
        raise variables.error(
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


@dataclass
class RowSums:
    """What to do with rows of a file whose sum is not one, and what was done.

    Rows off by up to `SUM_TOLERANCE` stay as they are, to the bit; those off by up to
    `ROUNDING` are divided by their sum, which `tell` reports in one line. `normalize`
    divides rows of any other positive sum, such as counts and percent, as well, and
    makes rows of zeros uniform. Negative numbers of the size of `SUM_TOLERANCE`, as
    1 - sum leaves them, are zeros.
    """

    file: str
    normalize: bool = False
    _n_rows: int = 0
    _first: str = ""
    _tables: set[str] = field(default_factory=set)
    _n_negative: int = 0
    _n_empty: int = 0

    def distributions(
        self, rows: NDArray[np.float64], child: str, lines: Sequence[int | None]
    ) -> NDArray[np.float64]:
        """Normalize the `rows` (configurations, states) of a child's table.

        `lines` has one line per row, or one for all. NetworkFileError if a number is
        negative or not finite, or a sum is too far from one for rounding.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            sums = rows.sum(axis=1)
            tiny = (rows < 0) & (rows >= -SUM_TOLERANCE * np.abs(sums[:, None]))
            if tiny.any():
                rows = np.where(tiny, 0.0, rows)
                sums = rows.sum(axis=1)
            empty = (np.count_nonzero(rows, axis=1) == 0) & self.normalize
            if empty.any():
                rows = np.where(empty[:, None], 1.0 / rows.shape[1], rows)
                sums = rows.sum(axis=1)
            off = np.abs(sums - 1.0)
            taken = (
                (sums > 0) & np.isfinite(sums) if self.normalize else off <= ROUNDING
            )
        wrong = np.flatnonzero(~taken | (rows < 0).any(axis=1))
        if wrong.size:
            first = int(wrong[0])
            line = lines[first if len(lines) > 1 else 0]
            raise self._refusal(rows[first], float(sums[first]), child, line)
        self._n_negative += int(tiny.sum())
        self._n_empty += int(empty.sum())
        rounded = np.flatnonzero(off > SUM_TOLERANCE)
        if not rounded.size:
            return rows
        first = int(rounded[0])
        if not self._first:
            line = lines[min(first, len(lines) - 1)]
            where = "" if line is None else f" in line {line}"
            self._first = f"of {quoted(child)}{where}, with a sum of {sums[first]:.9g}"
        self._n_rows += rounded.size
        self._tables.add(child)
        scaled = rows.copy()
        scaled[rounded] /= sums[rounded, None]
        return scaled

    def tell(self) -> None:
        """Log what was divided by its sum or replaced, if anything was."""
        if self._n_negative:
            _LOGGER.warning(
                "%s: %s of at most %g below 0, as rounding leaves them, were read as 0",
                self.file,
                f"{self._n_negative:,} number{'s' if self._n_negative > 1 else ''}",
                SUM_TOLERANCE,
            )
        if self._n_empty:
            _LOGGER.warning(
                "%s: %s of zeros alone were read as uniform",
                self.file,
                f"{self._n_empty:,} distribution{'s' if self._n_empty > 1 else ''}",
            )
        if self._n_rows:
            _LOGGER.warning(
                "%s: %s of %s did not sum to 1; each was divided by its sum; the "
                "first is %s",
                self.file,
                f"{self._n_rows:,} distribution{'s' if self._n_rows > 1 else ''}",
                f"{len(self._tables):,} variable{'s' if len(self._tables) > 1 else ''}",
                self._first,
            )

    def _refusal(
        self, row: NDArray[np.float64], total: float, child: str, line: int | None
    ) -> NetworkFileError:
        """The error about a row that is no distribution."""
        if not np.isfinite(row).all():
            problem = "a number that is not finite; give probabilities from 0 to 1"
        elif (row < 0).any():
            problem = (
                f"the negative probability {row.min():.6g}; give numbers from 0 to 1"
            )
        elif self.normalize:
            problem = (
                f"numbers that sum to {total:.9g}, which none can be divided by; give "
                "smaller numbers"
            )
        else:
            problem = (
                f"probabilities that sum to {total:.9g}; they should sum to 1, or read "
                "the file with normalize=True (convert --normalize), which divides "
                "counts or percent by their sum"
            )
        what = f"the table of variable {quoted(child)}"
        return NetworkFileError(self.file, line, f"{what} holds {problem}")


def off_one(rows: NDArray[np.float64]) -> float:
    """How far the worst row is from summing to one."""
    with np.errstate(over="ignore", invalid="ignore"):
        worst = np.abs(rows.sum(axis=1) - 1.0).max(initial=0.0)
    return float("inf") if np.isnan(worst) else float(worst)


def one_hot_table(
    results: Sequence[str], variables: Variables, index: int, line: int | None
) -> NDArray[np.float64]:
    """The table of a deterministic node, shape (parent configurations, states).

    `results` has the state that each configuration brings about. NetworkFileError if
    the node has no such state, or the table exceeds `MAX_TABLE_CELLS`.
    """
    codes = variables.codes(index)
    name = quoted(variables.declared[index].name)
    if (cells := len(results) * len(codes)) > MAX_TABLE_CELLS:
        raise variables.error(
            line,
            f"the table of node {name} would have {cells:,} cells, more than "
            f"{MAX_TABLE_CELLS:,}; give it fewer parents",
        )
    unknown = [state for state in results if state not in codes]
    if unknown:
        raise variables.error(
            line,
            f"node {name} should result in {quoted(unknown[0])}, which is none of its "
            "states; name one of them",
        )
    values = np.zeros((len(results), len(codes)))
    values[np.arange(len(results)), [codes[state] for state in results]] = 1.0
    return values
