"""How a group variable reaches a prediction: paths, and features that go with it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.information import (
    conditional_mutual_information,
    mutual_information_of_table,
)
from bayleaf.data.codes import Codes
from bayleaf.evaluation.audits.parity import class_table
from bayleaf.graph.separation import OpenTrails
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel
from bayleaf.models.texts.picture import SHARED
from bayleaf.results.document import Document, Items, Part
from bayleaf.results.result import Record, Result, Shown
from bayleaf.wording import counted, in_bits, plain

Floats = NDArray[np.float64]

# When a path is open.
ALONE = "nothing else is known"
ALL_KNOWN = "all other features are known"
JOINED = "an arc joins the two"
# Paths that are looked at, and those that are kept of each kind.
_LOOKED_AT, _KEPT = 300, 8
# Features that go with a group and are named, and the least they share (nats).
_PROXIES, _LEAST = 8, 5e-4
# Less information (nats) than this is rounding.
_NOTHING = 1e-9


@dataclass(frozen=True)
class Path(Record, nats=("information",)):
    """A path from a group variable to the class.

    Parameters
    ----------
    names : tuple of str
        The variables on it, the group variable first and the class last.
    forward : tuple of bool
        Whether each arc points along the path.
    information : tuple of float or None
        For each arc what its ends share given the child's other parents, in nats; None
        where it is withheld or not known.
    when : str
        When the path is open.
    """

    names: tuple[str, ...]
    forward: tuple[bool, ...]
    information: tuple[float | None, ...]
    when: str

    @property
    def weakest(self) -> float:
        """The least information of its arcs; 0 if none is known."""
        return min((i for i in self.information if i is not None), default=0.0)

    @property
    def is_used(self) -> bool:
        """Whether no arc on it is known to be without information."""
        return all(told is None or told > _NOTHING for told in self.information)

    def to_text(self) -> str:
        """The path in one line, the information of each arc in its arrow, in bits."""
        parts = [self.names[0]]
        for name, forward, told in zip(
            self.names[1:], self.forward, self.information, strict=True
        ):
            line = "-" if told is None else f"-[{in_bits(told):.4f}]-"
            parts.append(f"{line}> {name}" if forward else f"<{line} {name}")
        return " ".join(parts)


@dataclass(frozen=True)
class Proxy(Shown, nats=("with_group", "with_class")):
    """A feature that goes with a group variable.

    Parameters
    ----------
    feature : str
        Its name.
    with_group : float
        Information that it shares with the group variable, nats.
    with_class : float
        Information that it shares with the class, nats.
    """

    feature: str
    with_group: float
    with_class: float


@dataclass(frozen=True)
class Routes(Result):
    """How one group variable reaches predictions.

    Parameters
    ----------
    column : str
        The group variable.
    is_feature : bool
        Whether the model reads it.
    information : float or None
        What it shares with the class under the model, nats; None where it is withheld
        or not known.
    paths : tuple of Path
        By when they are open, then the strongest first.
    n_paths_left_out : int
        Paths that were found and are not listed.
    more_paths : bool
        Whether there are paths that were not looked at.
    proxies : tuple of Proxy
        Features that share most with it.
    proxies_from : str
        "model" or "rows": where the proxies' information comes from.
    note : str
        What cannot be said, as a sentence; or empty.
    """

    column: str
    is_feature: bool
    information: float | None
    paths: tuple[Path, ...]
    n_paths_left_out: int
    more_paths: bool
    proxies: tuple[Proxy, ...]
    proxies_from: str
    note: str

    def document(self) -> Document:
        """The paths by when they are open, and the features that go with the column."""
        parts: list[Part] = [self.note] if self.note else []
        for when in dict.fromkeys(path.when for path in self.paths):
            paths = [path.to_text() for path in self.paths if path.when == when]
            parts.append(Items(paths, f"where {when}", is_short=True))
        if self.n_paths_left_out or self.more_paths:
            least = "at least " * self.more_paths
            weaker = counted(self.n_paths_left_out, "weaker path")
            parts.append(f"and {least}{weaker}")
        basis = "under the model" if self.proxies_from == "model" else "in the rows"
        shared = "bits shared with it, with the class"
        proxies = [
            f"{proxy.feature} {in_bits(proxy.with_group):.4f}, "
            f"{in_bits(proxy.with_class):.4f}"
            for proxy in self.proxies
        ]
        title = f"what goes with it {basis} ({shared})"
        parts.append(Items(proxies, title, is_short=True))
        known = ""
        if self.information is not None:
            known = f"; shares {in_bits(self.information):.4f} bits with the class"
        title = f"how {plain(self.column)} reaches predictions{known}"
        return Document(title, parts, is_short=True)


class RouteCase(NamedTuple):
    """The model and rows in which routes are searched."""

    model: ClassModel
    codes: Codes
    truth: NDArray[np.intp]  # (n_rows,), true classes
    target: str  # name of the class
    withheld: bool  # whether paths are listed without numbers


def routes_of_feature(case: RouteCase, feature: int, column: str) -> Routes:
    """Find how a feature of a model, the group variable, reaches its class."""
    model = case.model
    network = getattr(model, "network", None)
    notes, more = [], False
    if isinstance(network, BayesianNetwork):
        n_features = len(model.domain) - 1
        found, more = _network_paths(network, n_features, feature, case.withheld)
    else:
        found = _arc_paths(model, feature, case.withheld)
        notes.append(_why_no_paths(model, bool(found)))
    joint = model.feature_marginals is None
    if not joint and not case.withheld:
        notes.append(
            "It has no joint distribution of features and class: what a column shares "
            "with the class is that of predictions where nothing else is known."
        )
    paths = _listed(found)
    proxies: Iterator[Proxy] = iter(())
    if not case.withheld:
        own = case.codes.column(feature).astype(np.intp)
        proxies = (
            _model_proxies(model, feature)
            if joint
            else (p for f, p in _row_proxies(case, own) if f != feature)
        )
    return Routes(
        column,
        True,
        None if case.withheld else _with_class(model, feature),
        tuple(replace(p, names=(*p.names[:-1], case.target)) for p in paths),
        len(found) - len(paths),
        more,
        _strongest(proxies),
        "model" if joint else "rows",
        " ".join(notes),
    )


def routes_of_other(case: RouteCase, column: str, groups: NDArray[np.intp]) -> Routes:
    """Proxies of a column that the model does not read; `groups` (n_rows,) are its."""
    found = () if case.withheld else _row_proxies(case, groups)
    note = (
        "The model does not read this column; it can reach predictions only through "
        "features that go with it."
    )
    proxies = _strongest(proxy for _, proxy in found)
    return Routes(column, False, None, (), 0, False, proxies, "rows", note)


def _why_no_paths(model: ClassModel, has_arcs: bool) -> str:
    """Why a model without a network has no paths, and what is listed in their place."""
    own = getattr(model, "why_no_network", None)
    listed = "its own arcs" if own else "arcs that some of them have"
    why = own or "averages several networks and so has no single graph"
    return f"The model {why}; {f'listed are {listed}' if has_arcs else 'it has none'}."


def _network_paths(
    network: BayesianNetwork, n_features: int, feature: int, withheld: bool
) -> tuple[list[Path], bool]:
    """Open paths to the class in a network, and whether there are more."""
    class_node = len(network.domain) - 1
    # Latent variables stand after the features, and no row tells them.
    others = frozenset(range(n_features)) - {feature}
    strengths = _ArcInformation(network, withheld)
    paths: list[Path] = []
    more = False
    for when, given in ((ALONE, frozenset()), (ALL_KNOWN, others)):
        trails = iter(OpenTrails(network.dag, {feature}, {class_node}, given))
        found = list(itertools.islice(trails, _LOOKED_AT))
        more = more or next(trails, None) is not None
        paths += [strengths.path(trail, when) for trail in found]
    return [path for path in paths if path.is_used], more


def _listed(paths: Sequence[Path]) -> list[Path]:
    """The strongest paths of each kind."""
    ranked = sorted(paths, key=lambda p: (-p.weakest, len(p.names), p.names))
    kinds = dict.fromkeys(path.when for path in paths)
    return [p for when in kinds for p in [q for q in ranked if q.when == when][:_KEPT]]


class _ArcInformation:
    """What the ends of a network's arcs share, measured when first asked for."""

    def __init__(self, network: BayesianNetwork, withheld: bool) -> None:
        self._network = network
        self._withheld = withheld
        self._known: dict[tuple[int, int], float | None] = {}

    def path(self, trail: tuple[int, ...], when: str) -> Path:
        """A trail with its names and the information of its arcs."""
        parents = self._network.dag.parents
        forward = tuple(a in parents[b] for a, b in itertools.pairwise(trail))
        arcs = [
            (a, b) if ahead else (b, a)
            for (a, b), ahead in zip(itertools.pairwise(trail), forward, strict=True)
        ]
        names = self._network.domain.names
        return Path(
            tuple(str(names[node]) for node in trail),
            forward,
            tuple(map(self._of_arc, arcs)),
            when,
        )

    def _of_arc(self, arc: tuple[int, int]) -> float | None:
        """I(parent; child | other parents of the child) in nats."""
        if self._withheld:
            return None
        if arc not in self._known:
            self._known[arc] = self._measured(*arc)
        return self._known[arc]

    def _measured(self, parent: int, child: int) -> float | None:
        """The same by exact inference; None where the table would be too large."""
        names = self._network.domain.names
        others = [p for p in self._network.dag.parents[child] if p != parent]
        wanted = [names[node] for node in (parent, child, *others)]
        try:
            table = self._network.joint(wanted).probabilities
        except ValueError:
            return None
        return conditional_mutual_information(table.reshape(*table.shape[:2], -1))


def _arc_paths(model: ClassModel, feature: int, withheld: bool) -> list[Path]:
    """Arcs of a model without a network that join a feature to others and the class."""
    names = [str(name) for name in model.domain.names]
    class_node = len(names) - 1
    found = []
    if (class_node, feature) in set(model.arcs):
        told = None if withheld else _with_class(model, feature)
        pair = (names[feature], names[class_node])
        found.append(Path(pair, (False,), (told,), ALONE))
    # Networks may have an arc in either direction; the pair stands for both.
    partners = {
        b if a == feature else a: a == feature
        for a, b in model.arcs
        if feature in (a, b) and class_node not in (a, b)
    }
    picture = model.picture
    weights = {frozenset(arc[:2]): arc[2] for arc in picture.arcs}
    known = not withheld and picture.weights == SHARED
    for other, ahead in partners.items():
        shared = weights.get(frozenset((feature, other))) if known else None
        told = None if withheld else _with_class(model, other)
        ends = (names[feature], names[other], names[class_node])
        found.append(Path(ends, (ahead, False), (shared, told), JOINED))
    return [path for path in found if path.is_used]


def _with_class(model: ClassModel, feature: int) -> float | None:
    """What a feature shares with the class under a model, in nats."""
    table = class_table(model, [feature])
    return None if table is None else mutual_information_of_table(table)


def _model_proxies(model: ClassModel, feature: int) -> Iterator[Proxy]:
    """Other features, and what they share with a feature and the class by the model."""
    for other, name in enumerate(model.domain.names[:-1]):
        table = None if other == feature else class_table(model, [feature, other])
        if table is not None:
            with_group = mutual_information_of_table(table.sum(axis=-1))
            with_class = mutual_information_of_table(table.sum(axis=0))
            yield Proxy(str(name), with_group, with_class)


def _row_proxies(
    case: RouteCase, groups: NDArray[np.intp]
) -> Iterator[tuple[int, Proxy]]:
    """Features, and what they share with groups and classes of the rows."""
    for feature, name in enumerate(case.model.domain.names[:-1]):
        own = case.codes.column(feature).astype(np.intp)
        yield (
            feature,
            Proxy(
                str(name),
                mutual_information_of_table(_crossed(own, groups)),
                mutual_information_of_table(_crossed(own, case.truth)),
            ),
        )


def _crossed(first: NDArray[np.intp], second: NDArray[np.intp]) -> Floats:
    """How often two codes meet, shape (n_first, n_second)."""
    width = int(second.max()) + 1
    shape = int(first.max()) + 1, width
    cells = np.bincount(first * width + second, minlength=shape[0] * width)
    return cells.reshape(shape).astype(np.float64)


def _strongest(proxies: Iterable[Proxy]) -> tuple[Proxy, ...]:
    """The features that share most with the group, if it is more than chance's dust."""
    found = [proxy for proxy in proxies if proxy.with_group > _LEAST]
    return tuple(sorted(found, key=lambda p: (-p.with_group, p.feature))[:_PROXIES])
