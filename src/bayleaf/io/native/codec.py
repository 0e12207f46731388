"""Frozen dataclasses as plain values, and back by the types of their fields.

A dataclass is an object with its fields by name; fields that are None, and domains,
which a document holds once, are left out. Where a field may hold one of several
classes, the object's "type" says which. An array with one axis is a list of numbers,
any other an object with "shape" and "numbers". Reading checks types; whether the values
make sense is checked by the classes themselves.
"""

from __future__ import annotations

import math
import types
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.cpds.random_network import RandomNetwork
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain
from bayleaf.io.errors import ModelFileError
from bayleaf.io.native.archive import Array, ArrayReader
from bayleaf.io.native.kinds import KINDS, FittedModel, word_of
from bayleaf.io.native.networks import PackedNetworks
from bayleaf.wording import brief_fields

# Deeper trees are refused: they are walked by recursion.
MAX_TREE_DEPTH = 200
_PLAIN = (str, bool, int, float, type(None))
_PLAIN_TYPES = frozenset(_PLAIN)
# What classes raise when they are made of values that make no sense.
REFUSALS = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    MemoryError,
    RecursionError,
)


def encoded(value: Any, arrays: list[Array], where: str = "") -> Any:
    """A value as plain values and arrays; its arrays are appended to `arrays` in order.

    `where` is its place in the document, for messages. TypeError if a part has no place
    in a file; ModelFileError where `check_content` finds that a reader would refuse it.
    """
    # First, since documents have thousands of short tuples.
    if isinstance(value, tuple):
        if {*map(type, value)} <= _PLAIN_TYPES:
            return list(value)
        if isinstance(value[0], RandomNetwork):
            return encoded(_packed(value, where), arrays, where)
        return [
            encoded(item, arrays, f"{where}[{place}]")
            for place, item in enumerate(value)
        ]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, np.ndarray):
        arrays.append(_storable(value, where))
        return arrays[-1]
    # Parameters are plain values already.
    if isinstance(value, dict):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return _encoded_object(value, arrays, where)
    raise TypeError(
        f"{where} is {value!r}, and a {type(value).__name__} has no place in a model "
        "file; use text or numbers"
    )


def networks_in(value: Any) -> tuple[RandomNetwork, ...]:
    """The sampled networks that a dataclass, or one in it, has as a field."""
    if isinstance(value, tuple) and value and isinstance(value[0], RandomNetwork):
        return value
    if not is_dataclass(value):
        return ()
    kind: Any = type(value)
    inner = (networks_in(getattr(value, name)) for name in _types(kind))
    return next(filter(None, inner), ())


def _packed(networks: tuple[RandomNetwork, ...], where: str) -> PackedNetworks:
    """What files hold of networks; reading checks the rest of their content."""
    try:
        return PackedNetworks.standing_for(networks)
    except ValueError as error:
        raise ModelFileError(f"{where}: {error}") from error


def _encoded_object(value: Any, arrays: list[Array], where: str) -> dict[str, Any]:
    """A dataclass as its fields by name."""
    word = word_of(type(value))
    try:
        _check_content(value)
        if isinstance(value, TreeCPD):
            value = FlatTree.standing_for(value)
    except ValueError as error:
        raise ModelFileError(f"{where}: {error}" if where else str(error)) from error
    content = {} if word is None else {"type": word}
    kind: Any = type(value)
    for name in _types(kind):
        inner = getattr(value, name)
        if isinstance(inner, Domain) and not where:
            inner = inner.variables
        if inner is not None and not isinstance(inner, Domain):
            place = f"{where}.{name}" if where else name
            content[name] = encoded(inner, arrays, place)
    return content


def _storable(array: np.ndarray[Any, Any], where: str) -> Array:
    """An array of one of the types that files hold, with the same numbers."""
    if array.dtype.kind == "f":
        return np.asarray(array, dtype=np.float64)
    if array.dtype.kind not in "biu" or array.dtype == np.uint64:
        raise TypeError(
            f"{where} is an array of {array.dtype}; arrays in model files hold floats, "
            "booleans or integers"
        )
    if array.dtype == np.uint8:
        return array
    short = not array.size or 0 <= array.min() <= array.max() < 1 << 16
    return array.astype(np.uint16) if short else array.astype(np.int64)


@cache
def _types(kind: Any) -> dict[str, Any]:
    """The types of the fields that a dataclass is made from."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind) if field.init}


@cache
def _parts(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """The origin and the arguments of a type: documents hold thousands of values."""
    return get_origin(kind), get_args(kind)


def _check_content(value: Any) -> None:
    """Call the check of a dataclass that has one."""
    if check := getattr(value, "check_content", None):
        check()


@dataclass(frozen=True)
class Decoder:
    """Makes values of given types from plain values.

    `domain` is used wherever a dataclass has a domain; equal networks in `held` replace
    those that are read.
    """

    arrays: ArrayReader
    domain: Domain | None = None
    held: tuple[RandomNetwork, ...] = ()

    def decoded(self, kind: Any, value: Any, where: str) -> Any:
        """The value of type `kind`, a field's, that plain values stand for.

        `where` is their place in the document, for messages. ModelFileError if they do
        not fit.
        """
        origin, inner = _parts(kind)
        if kind in KINDS:
            return self._one_of(KINDS[kind], value, where)
        if kind is Hashable:
            return _plain(_PLAIN, value, where)
        if origin in (Union, types.UnionType):
            return self._union(inner, value, where)
        if origin is tuple:
            return self._tuple(inner, value, where)
        if origin is dict:
            return _object(value, where)
        if origin is Literal:
            return _choice(inner, value, where)
        if origin is np.ndarray:
            return self._array(np.dtype(get_args(inner[1])[0]), value, where)
        if is_dataclass(kind):
            return self._dataclass(kind, value, where)
        return _plain((kind,), value, where)

    def _one_of(self, kinds: Mapping[str, Any], value: Any, where: str) -> Any:
        """An object of the class that its type names."""
        word = _object(value, where).get("type")
        if kinds is KINDS[FittedModel] and isinstance(word, str) and word not in kinds:
            raise ModelFileError(
                f"{where}.type is {word[:50]!r}, which no imported module registers; "
                "import the module of this kind of model first"
            )
        kind = kinds[_choice(tuple(kinds), word, f"{where}.type")]
        if kind is not TreeCPD:
            return self._dataclass(kind, value, where)
        flat = self._dataclass(FlatTree, value, where)
        return _made(flat.restored, where)

    def _dataclass(self, kind: Any, value: Any, where: str) -> Any:
        """A dataclass from the values of its fields."""
        content = _object(value, where)
        given = {
            name: self.domain
            if hint is Domain
            else self.field(content, name, hint, where)
            for name, hint in _types(kind).items()
        }
        made = _made(lambda: kind(**given), where)
        _made(lambda: _check_content(made), where)
        return made

    def field(self, content: dict[str, Any], name: str, kind: Any, where: str) -> Any:
        """One field of an object; None if it is left out and may be."""
        value = content.get(name)
        if name not in content and type(None) not in get_args(kind):
            raise ModelFileError(
                f"{where or 'the model file'} lacks the field {name!r}"
            )
        return self.decoded(kind, value, f"{where}.{name}" if where else name)

    def _union(self, kinds: tuple[Any, ...], value: Any, where: str) -> Any:
        """None, or a value of the one other type, or of one of some plain types."""
        if value is None and type(None) in kinds:
            return None
        others = tuple(kind for kind in kinds if kind is not type(None))
        if len(others) > 1:
            return _plain(others, value, where)
        return self.decoded(others[0], value, where)

    def _tuple(self, kinds: tuple[Any, ...], value: Any, where: str) -> Any:
        """A tuple of one type throughout, or of one type a place."""
        if kinds[0] is RandomNetwork:
            return self._networks(value, where)
        if not isinstance(value, list):
            raise ModelFileError(f"{where} should be a list")
        if kinds[-1] is Ellipsis:
            if kinds[0] in (str, int, float) and {*map(type, value)} <= {kinds[0]}:
                if kinds[0] is float and not all(map(math.isfinite, value)):
                    raise ModelFileError(f"{where} should be finite")
                return tuple(value)
            kinds = kinds[:1] * len(value)
        if len(kinds) != len(value):
            raise ModelFileError(f"{where} should hold {len(kinds)} values")
        return tuple(
            self.decoded(kind, item, f"{where}[{place}]")
            for place, (kind, item) in enumerate(zip(kinds, value, strict=True))
        )

    def _networks(self, value: Any, where: str) -> tuple[RandomNetwork, ...]:
        """Sampled networks."""
        packed = self._dataclass(PackedNetworks, value, where)
        networks: tuple[RandomNetwork, ...] = _made(
            lambda: packed.restored(self.held), where
        )
        for network in networks:
            _made(network.counts.check_content, where)
            _made(network.check_content, where)
        return networks

    def _array(
        self, dtype: np.dtype[Any], value: Any, where: str
    ) -> np.ndarray[Any, Any]:
        """An array of the type that its annotation names."""
        found = self._read(value, where, whole=dtype.kind != "f")
        array = np.asarray(found.astype(dtype, copy=False))
        if array is not found and not np.array_equal(array, found):
            raise ModelFileError(f"{where} holds numbers that are no {dtype}")
        return array

    def _read(self, value: Any, where: str, *, whole: bool) -> np.ndarray[Any, Any]:
        """An array from a list of numbers, or from its shape and numbers."""
        shape: Any = [len(value)] if isinstance(value, list) else None
        if isinstance(value, dict):
            shape = value.get("shape")
            value = value.get("numbers", value)
        if not isinstance(shape, list):
            raise ModelFileError(
                f"{where} should be a list of numbers, or an object with shape and "
                "numbers"
            )
        if not all(type(length) is int and length >= 0 for length in shape):
            raise ModelFileError(f"the shape of {where} should be integers")
        return self.arrays.get(value, tuple(shape), where, whole=whole)


def _made(make: Any, where: str) -> Any:
    """What a function makes, unless that is refused."""
    try:
        return make()
    except ModelFileError:
        raise
    except REFUSALS as error:
        raise ModelFileError(f"{where}: {error}" if where else str(error)) from error


def _object(value: Any, where: str) -> dict[str, Any]:
    """An object."""
    if not isinstance(value, dict):
        raise ModelFileError(f"{where} should be an object")
    return value


def _choice(choices: tuple[str, ...], value: Any, where: str) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        found = repr(value)[:50] if isinstance(value, str) else "no text"
        raise ModelFileError(
            f"{where} should be one of {', '.join(choices)}, but is {found}"
        )
    return value


def _plain(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    """A number, text or boolean of one of the types asked for."""
    if float in kinds and int not in kinds and type(value) is int:
        value = _made(lambda: float(value), where)
    if type(value) not in kinds:
        names = " or ".join(kind.__name__ for kind in kinds if kind is not type(None))
        raise ModelFileError(f"{where} should be of type {names}")
    if type(value) is float and not math.isfinite(value):
        raise ModelFileError(f"{where} should be finite")
    return value


@dataclass(frozen=True)
class FlatSplit:
    """A question about one parent."""

    variable: int
    groups: tuple[tuple[int, ...], ...]  # states of each branch
    branches: tuple[int, ...]  # leaf or split below; splits count on after the leaves


@dataclass(frozen=True, eq=False)
class FlatTree:
    """A `TreeCPD` as lists of leaves and splits, as files hold it.

    Several branches may lead to one leaf; each split comes after those below it, the
    root last.
    """

    family: Family  # the parents, then the child
    cards: tuple[int, ...]  # numbers of states along the family
    leaves: tuple[NDArray[np.float64], ...]  # distributions, (child card,) each
    splits: tuple[FlatSplit, ...]

    __repr__ = brief_fields

    @classmethod
    def standing_for(cls, cpd: TreeCPD) -> FlatTree:
        """Number the nodes of a tree; ValueError if deeper than `MAX_TREE_DEPTH`."""
        leaves = {id(leaf): leaf.probabilities for leaf, _ in cpd.leaves()}
        numbers = {key: number for number, key in enumerate(leaves)}
        splits: list[FlatSplit] = []

        def number(node: Leaf | Split, depth: int) -> int:
            _check_depth(depth)
            if isinstance(node, Leaf):
                return numbers[id(node)]
            below = tuple([number(branch, depth + 1) for branch in node.branches])
            splits.append(FlatSplit(node.variable, node.groups, below))
            return len(leaves) + len(splits) - 1

        number(cpd.root, 0)
        return cls(cpd.family, cpd.cards, tuple(leaves.values()), tuple(splits))

    def restored(self) -> TreeCPD:
        """The tree; ValueError if leaves and splits do not form one."""
        nodes: list[Leaf | Split] = [Leaf(row) for row in self.leaves]
        depths = [0] * len(nodes)
        for split in self.splits:
            if not all(0 <= branch < len(nodes) for branch in split.branches):
                raise ValueError("a split of a tree has a branch to no earlier node")
            below = tuple(nodes[branch] for branch in split.branches)
            nodes.append(Split(split.variable, split.groups, below))
            depths.append(1 + max((depths[b] for b in split.branches), default=0))
            _check_depth(depths[-1])
        branches = [branch for split in self.splits for branch in split.branches]
        inner = sorted(branch for branch in branches if branch >= len(self.leaves))
        if not nodes or inner != [*range(len(self.leaves), len(nodes) - 1)]:
            raise ValueError("every split of a tree but the last is one branch's")
        return TreeCPD(self.family, self.cards, nodes[-1])


def _check_depth(depth: int) -> None:
    """Raise if nodes lie too deep."""
    if depth > MAX_TREE_DEPTH:
        raise ValueError(f"the tree is deeper than {MAX_TREE_DEPTH}")
