"""Domains as plain values, and back."""

from __future__ import annotations

import json

from bayleaf.data.domain import Domain, Variable
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.io.native.domains import domain_from, domain_to


def test_a_hierarchy_over_a_missing_state_comes_back() -> None:
    tree = ValueHierarchy.from_nested({"any": [{"g": ["a", None]}, "b"]})
    domain = Domain((Variable("x", ("a", "b", None), hierarchy=tree),))
    assert domain_from(json.loads(json.dumps(domain_to(domain)))) == domain
