"""Every class that a public name leads to has HTML for notebooks."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from types import FunctionType
from typing import Any, Protocol

from sklearn.base import BaseEstimator

import bayleaf
from bayleaf.results.result import Record, Shown
from bayleaf.results.result_lists import ResultList


def _modules() -> dict[str, Any]:
    """The modules of the library that are loaded, all public ones among them."""
    for name in ("", *(f".{package}" for package in bayleaf._PACKAGES)):
        module = importlib.import_module(f"bayleaf{name}")
        for public in module.__all__:
            getattr(module, public)
    return {n: m for n, m in sys.modules.items() if n.partition(".")[0] == "bayleaf"}


def _public_names() -> list[Any]:
    modules = _modules()
    packages = ["bayleaf", *(f"bayleaf.{name}" for name in bayleaf._PACKAGES)]
    return [
        getattr(modules[package], name)
        for package in packages
        for name in modules[package].__all__
    ]


def _classes_by_name() -> dict[str, type]:
    """Classes of the library whose name is that of no other."""
    found: dict[str, list[type]] = {}
    for name, module in _modules().items():
        for own in vars(module).values():
            if isinstance(own, type) and own.__module__ == name:
                found.setdefault(own.__name__, []).append(own)
    return {name: own[0] for name, own in found.items() if len(own) == 1}


def _members(public: Any) -> Iterator[tuple[str, str, Callable[..., Any] | type]]:
    """Name, annotation and place of all that a function or class gives its users."""
    if isinstance(public, FunctionType):
        yield public.__name__, str(public.__annotations__.get("return", "")), public
    if not isinstance(public, type):
        return
    for base in inspect.getmro(public):
        if not base.__module__.startswith("bayleaf"):
            continue
        # Those of estimators are parameters.
        if not issubclass(public, BaseEstimator):
            for name, annotation in inspect.get_annotations(base).items():
                yield name, str(annotation), base
        for name, member in vars(base).items():
            if isinstance(member, property | cached_property):
                member = getattr(member, "fget", None) or member.func
            member = inspect.unwrap(getattr(member, "__func__", member))
            if isinstance(member, FunctionType):
                yield name, str(member.__annotations__.get("return", "")), member


def _led_to() -> Iterator[tuple[str, str, type]]:
    """Place, annotation and class of all results that public names lead to."""
    known = _classes_by_name()
    waiting, seen = _public_names(), set()
    while waiting:
        public = waiting.pop()
        if id(public) in seen:
            continue
        seen.add(id(public))
        for name, annotation, place in _members(public):
            if name.startswith("_"):
                continue
            names = vars(sys.modules[place.__module__])
            for word in re.findall(r"\b[A-Z]\w+", annotation):
                found = names.get(word, known.get(word))
                if _is_result(found) and found is not public:
                    yield f"{public.__name__}.{name}", annotation, found
                    # Of what others consist concerns no user.
                    if issubclass(found, Record) or "_repr_html_" in vars(found):
                        waiting.append(found)


def _is_result(found: Any) -> bool:
    """Whether it is a class of the library that holds values to look at."""
    return (
        isinstance(found, type)
        and found.__module__.startswith("bayleaf")
        # Of these HTML is made.
        and not found.__module__.startswith("bayleaf.results.")
        and not issubclass(found, BaseException | BaseEstimator | tuple)
        and Protocol not in found.__bases__
    )


def test_every_class_that_public_names_lead_to_has_html() -> None:
    led_to = list(_led_to())
    assert len({found for _, _, found in led_to}) > 50
    without = {
        f"{found.__module__}.{found.__name__}, by {place}"
        for place, _, found in led_to
        if not hasattr(found, "_repr_html_")
    }
    assert not without, "\n".join(sorted(without))


def test_every_list_of_results_has_html() -> None:
    assert hasattr(ResultList, "_repr_html_")
    plain = {
        f"{place} -> {annotation}"
        for place, annotation, found in _led_to()
        if issubclass(found, Shown)
        and re.search(rf"\b[lL]ist\[{found.__name__}\]", annotation)
        and f"ResultList[{found.__name__}]" not in annotation
    }
    assert not plain, "\n".join(sorted(plain))
