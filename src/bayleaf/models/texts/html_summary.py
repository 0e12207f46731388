"""Models as small pieces of HTML, as notebooks show them; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bayleaf.models.texts.picture import FEATURE
from bayleaf.results.document import Document, Facts, Figure, Items, Part
from bayleaf.results.figures import network_html, terms_html
from bayleaf.results.html import html_of
from bayleaf.wording import brief, brief_names, counted, plain

_NAME = 60
# Longer lists are cut at their end.
_ITEMS = 20


def facts_html(
    title: str,
    facts: Iterable[tuple[str, Any]],
    lists: Iterable[tuple[str, Sequence[Any]]] = (),
    drawing: str = "",
) -> str:
    """Write facts as a table, and lists, if not empty, that open below it.

    The HTML has no scripts, page styles or references; `drawing` is HTML in between.
    """
    parts: list[Part] = [
        Facts([(name, plain(value)) for name, value in facts]),
        Figure(drawing),
        *(Items([*map(str, items)], heading, _ITEMS) for heading, items in lists),
    ]
    return html_of(Document(title, parts))


def picture_of(model: Any) -> str:
    """The drawing of a class model as HTML; empty if it has too many variables."""
    graph = model.picture
    wider = f"wider arcs: more {graph.weights}" if graph.weights else ""
    note = "; ".join(text for text in (graph.note, wider) if text)
    return network_html(graph.names, graph.kinds, graph.arcs, note)


def drawing_of(network: Any) -> str:
    """The drawing of a Bayesian network as HTML; empty if it has too many variables."""
    names = network.domain.names
    arcs = [(parent, child, None) for parent, child in network.dag.arcs]
    return network_html(names, [FEATURE] * len(names), arcs)


def explanation_html(explanation: Any) -> str:
    """An explanation of log-odds as a waterfall of bars."""
    title = (
        f"{explanation.row_name}: {explanation.target} with probability "
        f"{explanation.probability:.3f}; nats for it against {explanation.against}"
    )
    first = (explanation.prior_name, explanation.prior)
    return terms_html(title, first, explanation.ranked(), "{:+.3f}")


def arc_text(parent: Any, child: Any) -> str:
    """An arc by the names at its ends."""
    return f"{plain(parent, _NAME)} → {plain(child, _NAME)}"


class NotebookModel:
    """What shows a class model at a prompt and in a notebook."""

    @property
    def _parts(self) -> str:
        """What the model is made of beside its arcs; empty if nothing."""
        return ""

    def __repr__(self) -> str:
        model: Any = self
        *features, target = model.domain
        labels = [target.label(code) for code in range(target.n_states)]
        names = brief_names([feature.name for feature in features])
        facts = [
            f"class {plain(target.name, _NAME)} ({brief_names(labels)})",
            f"{counted(len(features), 'feature')} ({names})",
            self._parts or counted(len(self._arcs), "arc") + " among features",
            counted(model.n_parameters, "free parameter"),
        ]
        return brief(self, *facts)

    @property
    def _arcs(self) -> list[tuple[int, int]]:
        """Arcs among features, without those of the class."""
        model: Any = self
        target = len(model.domain) - 1
        return [(p, c) for p, c in model.arcs if target not in (p, c)]

    def _repr_html_(self) -> str:
        model: Any = self
        names = model.domain.names
        target = model.domain[-1]
        arcs = self._arcs
        facts: list[tuple[str, Any]] = [("class", plain(target.name, _NAME))]
        facts += [
            (f"P({plain(target.label(code), _NAME)})", f"{prior:.3f}")
            for code, prior in enumerate(model.class_prior[:_ITEMS])
        ]
        facts += [
            ("features", len(names) - 1),
            ("arcs among features", len(arcs)),
            ("free parameters", model.n_parameters),
        ]
        lists = [
            ("arcs", [arc_text(names[p], names[c]) for p, c in arcs]),
            ("remarks", list(model.remarks)),
        ]
        return facts_html(type(self).__name__, facts, lists, picture_of(self))
