"""The scripts that run a scoring program where there is no Python."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files

# In the order in which they build on one another, and what each kind of term needs.
_FIRST = ("arithmetic.js", "partial_cases.js", "evidence_sets.js", "program.js")
_NETWORK = ("junction_tree.js", "sums_out.js")
_OF_KIND = {
    "Look": ("looks.js",),
    "Counts": ("counts.js",),
    "Sharing": ("sharing.js",),
    "Density": ("densities.js",),
    "Tree": ("trees.js",),
    "SumOut": _NETWORK,
    "LogSum": ("looks.js", "members.js"),
    "Numbers": ("numbers.js",),  # texts that spell them
    "Times": ("times.js",),  # texts that spell dates and durations
}
KINDS = tuple(_OF_KIND)


def runtime_scripts(kinds: Iterable[str] = KINDS) -> list[str]:
    """The texts of the scripts that run terms of some kinds."""
    parts = [name for kind in KINDS if kind in kinds for name in _OF_KIND[kind]]
    folder = files(__name__)
    return [
        folder.joinpath(name).read_text(encoding="utf-8")
        for name in dict.fromkeys((*_FIRST, *parts))
    ]
