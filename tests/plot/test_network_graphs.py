"""Networks drawn as layers of boxes and arrows."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from bayleaf import (
    AODEClassifier,
    AveragedKDBClassifier,
    BayesianNetwork,
    HNBClassifier,
    KDBClassifier,
    LatentClassNBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.datasets import load_heart
from bayleaf.models.texts.picture import LATENT
from bayleaf.plot import network
from bayleaf.plot.network_graphs import pictured_graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

HEART = load_heart(return_X_y=True)


def chain(names: tuple[str, ...] = ("a", "b", "c")) -> BayesianNetwork:
    return BayesianNetwork.from_tables(
        states={name: ["0", "1"] for name in names},
        parents={child: [parent] for parent, child in itertools.pairwise(names)},
        tables={name: [[0.5, 0.5]] * (1 + (i > 0)) for i, name in enumerate(names)}
        | {names[0]: [0.5, 0.5]},
    )


def all_boxes(ax: Axes) -> list[FancyBboxPatch]:
    from matplotlib.patches import FancyBboxPatch

    return [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]


def drawn(ax: Axes) -> None:
    """Let the renderer find out where everything is."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()


def boxes(ax: Axes) -> dict[str, FancyBboxPatch]:
    """The box behind each name, by the name without line breaks."""
    found = all_boxes(ax)
    named = {}
    for text in ax.texts:
        x, y = text.get_position()
        for box in found:
            middle = box.get_x() + box.get_width() / 2
            if text.get_text() and np.isclose(middle, x):
                height = box.get_y() + box.get_height() / 2
                if np.isclose(height, y):
                    named[text.get_text().replace("\n", "")] = box
    return named


def arrows(ax: Axes) -> list[FancyArrowPatch]:
    from matplotlib.patches import FancyArrowPatch

    return [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]


def n_arrows(ax: Axes) -> int:
    return len(arrows(ax))


def notes(ax: Axes) -> str:
    return "; ".join(t.get_text() for t in ax.texts if "drawn" in t.get_text())


def test_a_box_a_variable_and_an_arrow_an_arc_parents_above() -> None:
    ax = network(chain())
    found = boxes(ax)
    assert sorted(found) == ["a", "b", "c"]
    assert n_arrows(ax) == 2
    # The vertical axis points downwards.
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert found["a"].get_y() < found["b"].get_y() < found["c"].get_y()


def test_arrows_lead_from_the_parents_box_to_the_childs() -> None:
    ax = network(chain(("a", "b")))
    (arrow,) = arrows(ax)
    found = boxes(ax)
    (x0, y0), *_, (x1, y1) = arrow._path_original.vertices
    assert y0 == pytest.approx(found["a"].get_y() + found["a"].get_height())
    assert y1 == pytest.approx(found["b"].get_y())
    assert x0 == pytest.approx(x1)


def test_the_class_is_dark_above_all_and_a_sentence_stands_for_its_arcs() -> None:
    model = TANClassifier().fit(*HEART)
    ax = network(model)
    found = boxes(ax)
    assert len(found) == 14
    tops = min(found, key=lambda name: found[name].get_y())
    assert tops == "class"
    assert sum(found["class"].get_facecolor()[:3]) < 1
    assert n_arrows(ax) == 12
    assert notes(ax) == "not drawn: class is a parent of every variable"
    with_arcs = network(model, class_arcs=True)
    assert n_arrows(with_arcs) == 12 + 13
    assert notes(with_arcs) == ""


def test_naive_bayes_has_nothing_but_the_arcs_of_the_class() -> None:
    assert n_arrows(network(NaiveBayesClassifier().fit(*HEART))) == 13


def test_latent_variables_are_dashed_between_class_and_features() -> None:
    model = HNBClassifier(
        search="significance", significance_level=0.001, random_state=0
    ).fit(*HEART)
    ax = network(model)
    found = boxes(ax)
    latents = [report.name for report in model.latents_]
    assert latents
    for report in model.latents_:
        box = found[report.name]
        assert box.get_linestyle() != "solid"
        assert found["class"].get_y() < box.get_y()
    assert n_arrows(ax) == len(model.model_.used_children) + 2 * len(latents)


def test_a_mixture_has_its_component_as_a_latent_variable() -> None:
    model = LatentClassNBClassifier(n_components=2, random_state=0).fit(*HEART)
    graph = pictured_graph(model)
    assert graph.kinds.count(LATENT) == 1
    assert len(graph.arcs) == sum(1 for _ in model.network_.dag.arcs)


def test_heavier_arcs_of_an_average_are_thicker_and_light_ones_counted() -> None:
    model = AveragedKDBClassifier(n_networks=8, random_state=0).fit(*HEART)
    ax = network(model, class_arcs=False, least_weight=0.15)
    kept = [
        arc.weight
        for arc in model.model_.weighted_arcs
        if arc.weight >= 0.15 and arc[0] != "class"
    ]
    light = sum(a.weight < 0.15 for a in model.model_.weighted_arcs if a[0] != "class")
    widths = sorted(arrow.get_linewidth() for arrow in arrows(ax))
    assert len(widths) == len(kept) > 3
    expected = 0.4 + 1.8 * np.sort(kept) / max(kept)
    assert widths == pytest.approx(expected.tolist())
    assert f"not drawn: {light} arcs of weights up to" in notes(ax)
    assert n_arrows(network(model)) <= 3 * 14 // 2 + 1


def test_an_average_of_one_dependence_networks_says_what_it_is() -> None:
    ax = network(AODEClassifier().fit(*HEART))
    assert any("in each of them one feature" in t.get_text() for t in ax.texts)


def test_only_the_variables_asked_for_are_drawn() -> None:
    model = KDBClassifier(k=2).fit(*HEART)
    ax = network(model, variables=["sex", "age", "class"])
    assert sorted(boxes(ax)) == ["age", "class", "sex"]
    with pytest.raises(ValueError, match="no variable 'sez'; did you mean sex"):
        network(model, variables=["sez"])


@pytest.mark.parametrize("n", [25, pytest.param(50, marks=pytest.mark.slow)])
def test_many_features_have_names_that_fit_and_boxes_that_do_not_overlap(
    n: int,
) -> None:
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 3, (200, n))
    follows = rng.random((200, n - 1)) < 0.6
    cells[:, 1:] = np.where(follows, cells[:, :-1], cells[:, 1:])
    table = pa.table(
        {f"a_rather_long_name_of_{i}": cells[:, i].astype(str) for i in range(n)}
    )
    ax = network(TANClassifier().fit(table, cells[:, 7] > 0))
    drawn(ax)
    found = all_boxes(ax)
    assert len(found) == n + 1
    extents = [box.get_window_extent() for box in found]
    assert not any(
        first.overlaps(second)
        for i, first in enumerate(extents)
        for second in extents[:i]
    )
    names = [t for t in ax.texts if t.get_text() and "drawn" not in t.get_text()]
    for text in names:
        inner = text.get_window_extent()
        assert any(
            box.x0 < inner.x0 and inner.x1 < box.x1 and box.y0 < inner.y1 < box.y1
            for box in extents
        )
    # The ends of names, where they differ, can be read.
    assert len({text.get_text() for text in names}) == n + 1


@pytest.mark.parametrize(
    "names",
    [
        ("$x_1$", "_hidden", "100 %", "a\\b"),
        ("\u05e9\u05dd", "\u202eevil", "line\nbreak", "x" * 300),
    ],
)
def test_strange_names_are_drawn_as_they_are(names: tuple[str, ...]) -> None:
    ax = network(chain(names))
    drawn(ax)
    shown = [t.get_text() for t in ax.texts if t.get_text()]
    assert len(shown) == 4
    assert not any("\u202e" in text for text in shown)
    if names[0] == "$x_1$":
        assert set(shown) == {*names}
        assert not any(t.get_parse_math() for t in ax.texts if t.get_text())
    else:
        assert max(map(len, shown)) < 60
        assert "line break" in {text.replace("\n", " ") for text in shown}


@pytest.mark.parametrize("source", [None, TANClassifier(), "network"])
def test_what_is_no_network_is_refused(source: Any) -> None:
    with pytest.raises(TypeError, match="network must be a Bayesian network"):
        network(source)


def test_too_many_variables_are_refused_with_the_mend() -> None:
    large = chain(tuple(f"v{i}" for i in range(151)))
    with pytest.raises(ValueError, match="there are 151; name those to draw in var"):
        network(large)
    assert len(boxes(network(large, variables=["v3", "v4"]))) == 2


def test_networks_and_structures_plot_themselves() -> None:
    drawn = BayesianNetwork.from_edges("a -> b; a <-> b")
    assert pictured_graph(drawn).kinds == ("feature", "feature", LATENT)
    assert len(drawn.plot().texts) == 3
    axes = chain().plot(variables=["b"])
    assert [text.get_text() for text in axes.texts] == ["b"]


def test_a_layer_wider_than_a_page_is_folded_into_rows() -> None:
    def width(n_children: int) -> float:
        names = [f"x{i}" for i in range(n_children)]
        wide = BayesianNetwork.from_tables(
            states={name: ["0", "1"] for name in ("top", *names)},
            parents={name: ["top"] for name in names},
            tables=dict.fromkeys(names, [[0.5, 0.5]] * 2) | {"top": [0.5, 0.5]},
        )
        figure = network(wide).get_figure(root=True)
        assert figure is not None
        return float(figure.get_size_inches()[0])

    assert width(5) < width(6) < 8
    assert width(14) < 8
