"""Latent variables as partitions of the joint states of their children."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf import HNBClassifier, NaiveBayesClassifier
from bayleaf.datasets import load_heart
from bayleaf.plot import latent_partition

HEART = load_heart(return_X_y=True)


@pytest.fixture(scope="module")
def model() -> HNBClassifier:
    return HNBClassifier(
        search="significance", significance_level=0.001, random_state=0
    ).fit(*HEART)


def test_cells_have_the_numbers_and_colours_of_their_states(
    model: HNBClassifier,
) -> None:
    for report, latent in zip(model.latents_, model.model_.tree.latents):
        ax = latent_partition(model, report.name)
        numbers = [int(text.get_text()) - 1 for text in ax.texts]
        assert numbers == latent.states.ravel().tolist()
        cells = np.asarray(ax.images[0].get_array()).reshape(-1, 3)
        colours = {n: tuple(cell) for n, cell in zip(numbers, cells)}
        assert len(set(colours.values())) == latent.n_states
        assert all(colours[n] == tuple(cell) for n, cell in zip(numbers, cells))
        assert ax.get_title().startswith(f"{report.name}: {latent.states.size} cells")


def test_axes_carry_the_children_and_their_states(model: HNBClassifier) -> None:
    domain = model.model_.domain
    report = next(r for r in model.latents_ if set(r.children) <= set(domain.names))
    ax = latent_partition(model, report.name)
    for axis, name in zip("yx", report.children):
        variable = domain[domain.index(name)]
        labels = [t.get_text() for t in getattr(ax, f"get_{axis}ticklabels")()]
        assert labels == [variable.label(code) for code in range(variable.n_states)]
        assert getattr(ax, f"get_{axis}label")() == name


def test_a_nested_latent_is_named_with_its_states(model: HNBClassifier) -> None:
    names = {report.name for report in model.latents_}
    report = next(r for r in model.latents_ if names & set(r.children))
    ax = latent_partition(model, report.name)
    axis = "y" if report.children[0] in names else "x"
    nested = report.children[0 if axis == "y" else 1]
    assert getattr(ax, f"get_{axis}label")() == f"state of {nested}"
    labels = [t.get_text() for t in getattr(ax, f"get_{axis}ticklabels")()]
    assert labels == [str(n) for n in range(1, len(labels) + 1)]


def test_lines_part_cells_of_different_states(model: HNBClassifier) -> None:
    for report, latent in zip(model.latents_, model.model_.tree.latents):
        states = latent.states
        n_borders = (states[1:] != states[:-1]).sum()
        n_borders += (states[:, 1:] != states[:, :-1]).sum()
        lines = latent_partition(model, report.name).lines
        assert len(lines) == n_borders
        for line in lines:
            (x0, x1), (y0, y1) = line.get_data()
            middle = np.array([(y0 + y1) / 2, (x0 + x1) / 2])
            step = np.array([0.5, 0.0]) if y0 == y1 else np.array([0.0, 0.5])
            first, second = (middle - step).astype(int), (middle + step).astype(int)
            assert states[tuple(first)] != states[tuple(second)]


def test_other_models_and_names_are_refused(model: HNBClassifier) -> None:
    with pytest.raises(ValueError, match="no latent variable 'L9'; "):
        latent_partition(model, "L9")
    with pytest.raises(TypeError, match="must be a fitted hierarchical naive Bayes"):
        latent_partition(NaiveBayesClassifier().fit(*HEART), "L1")
    with pytest.raises(TypeError, match="must be a fitted hierarchical naive Bayes"):
        latent_partition(HNBClassifier(random_state=0), "L1")
