"""An edited model is judged by exact leave-one-out, and its file is read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import bayleaf
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.classifiers.shared.saving import kept_support
from bayleaf.datasets import load_heart
from bayleaf.evaluation import left_out_gain
from bayleaf.explorer import explorer_html
from explorer.cases import table
from explorer.person import Person

NEW = "new window.bayleaf.Editing(window.bayleaf.session.model)"
EDITED = """edits => {
  const { Editing, session } = window.bayleaf;
  const editing = new Editing(session.model);
  const before = editing.score();
  for (const [name, ...values] of edits) editing[name](...values);
  const losses = [editing.lossesBefore, editing.losses()].map((own) => Array.from(own));
  return { before, after: editing.score(), file: editing.file(), losses,
    weights: Array.from(editing.weights) };
}"""


STATES_SET = """states => {
  const { session } = window.bayleaf;
  const mask = (state, v) => state < 0 ? null :
    Uint8Array.from({ length: session.card(v) }, (_, s) => s === state);
  session.replace(session.evidence.map((_, v) =>
    (v < states.length ? mask(states[v], v) : null)));
  return { shares: Array.from(session.answer().logs, Math.exp),
    terms: session.explanation().terms };
}"""


def with_holes() -> tuple[pa.Table, list[str]]:
    """Text and numbers with missing cells, and a class of three."""
    return table(n_features=5)


def heart() -> tuple[pa.Table, Any]:
    """Heart disease, complete, with five features."""
    X, y = load_heart(return_X_y=True)
    return X.select(["age", "sex", "chest_pain", "st_depression", "st_slope"]), y


def frame_of(X: pa.Table, y: Any) -> pa.Table:
    """Features and class in one table."""
    return X.append_column("class", [list(y)])


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize("smoothing", ["laplace", "dirichlet"])
@pytest.mark.parametrize("source", [heart, with_holes], ids=["whole", "holes"])
@pytest.mark.parametrize(
    "kind", ["tan", *(pytest.param(k, marks=pytest.mark.long) for k in ("nb", "kdb"))]
)
def test_the_score_before_is_python_s(
    kind: str, source: Any, smoothing: str, open_page: Any
) -> None:
    X, y = source()
    model = CLASSIFIERS[kind](smoothing=smoothing).fit(X, y)
    page = open_page(explorer_html(model, edit=frame_of(X, y)))
    found = page.evaluate(EDITED, [])
    assert found["before"] == pytest.approx(model.loo_score_.log_loss, abs=1e-10)


def left_out_loss(X: pa.Table, y: Any, read: Any) -> float:
    """Log-loss of complete rows under a network, each row taken out of all counts."""
    model, encoder = read.model_, read.encoder_
    codes = encoder.transform(X_columns(X)).codes
    columns = [codes.column(v).astype(int) for v in range(codes.n_variables)]
    classes = {label: code for code, label in enumerate(read.classes_.tolist())}
    own = np.array([classes[label] for label in list(y)])
    n, n_classes = len(own), len(classes)
    scores = np.empty((n, n_classes))
    for row in range(n):
        kept = np.arange(n) != row
        counts = np.bincount(own[kept], minlength=n_classes)
        scores[row] = np.log((counts + 1) / (counts.sum() + n_classes))
        for v, parents in enumerate(model.network.dag.parents[:-1]):
            alike = kept.copy()
            for parent in parents:
                if parent < len(columns):
                    alike &= columns[parent] == columns[parent][row]
            card = model.domain.cards[v]
            for label in range(n_classes):
                above = alike & (own == label)
                here = above & (columns[v] == columns[v][row])
                scores[row, label] += np.log((here.sum() + 1) / (above.sum() + card))
    logs = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
    return float(-logs[np.arange(n), own].mean())


def X_columns(X: pa.Table) -> Any:
    """A table as the encoder takes it."""
    from bayleaf.data.tables.frames import to_columns

    return to_columns(X)


@pytest.mark.slow
def test_edits_are_judged_exactly_and_the_file_holds_them(
    open_page: Any, tmp_path: Path
) -> None:
    X, y = heart()
    model = bayleaf.TANClassifier().fit(X, y)
    (parent, child), *_ = [(p, c) for p, c in model.model_.arcs if c < 5 and p < 5]
    page = open_page(explorer_html(model, edit=frame_of(X, y)))
    other = next(v for v in range(5) if v not in (parent, child))
    edits: list[list[Any]] = [
        ["moveCut", 0, 0, 3],
        ["removeArc", parent, child],
        ["addArc", other, child],
        ["addCut", 3, 0.45],
    ]
    possible = page.evaluate(f"() => Array.from(({NEW}).possible[3])")
    edits[3][2] = possible[2]
    allowed = page.evaluate(f"child => ({NEW}).possibleParents(child)", child)
    if other not in allowed:
        edits[2] = ["addArc", allowed[0], child]
    found = page.evaluate(EDITED, edits)
    path = tmp_path / "edited.json"
    path.write_text(found["file"], encoding="utf-8")
    read = bayleaf.load(path)
    names = model.model_.domain.names
    assert (names[parent], names[child]) not in read.edges_
    assert (names[edits[2][1]], names[child]) in read.edges_
    cuts = read.model_.domain[3].cut_points
    assert possible[2] in cuts
    assert len(cuts) == 1 + len(model.model_.domain[3].cut_points)
    assert read.model_.domain[0].cut_points != model.model_.domain[0].cut_points
    assert found["after"] == pytest.approx(left_out_loss(X, y, read), abs=1e-10)
    assert found["before"] == pytest.approx(left_out_loss(X, y, model), abs=1e-10)
    python = left_out_gain(model, read, X, y)
    gains = np.repeat(np.subtract(*found["losses"]), np.asarray(found["weights"], int))
    assert python.gain == pytest.approx(gains.mean(), abs=1e-9)
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    assert python.error == pytest.approx(error, abs=1e-9)
    # The file is that of a model like any other.
    again = explorer_html(read)
    assert "Editing" in again
    codes = read.encoder_.transform(X_columns(X)).codes
    for feature, rows in enumerate(kept_support(read).state_rows[:-1]):
        own = np.bincount(codes.column(feature), minlength=codes.cards[feature])
        np.testing.assert_array_equal(rows, own)
    assert read.predict_proba(X).shape == (270, 2)
    assert read.explain(X.slice(0, 1))
    shown = open_page(explorer_html(read))
    shares = shown.evaluate(
        "Array.from(window.bayleaf.session.answer().logs, Math.exp)"
    )
    np.testing.assert_allclose(sum(shares), 1.0)


@pytest.mark.slow
def test_an_unedited_file_predicts_as_the_model_does(
    open_page: Any, tmp_path: Path
) -> None:
    X, y = with_holes()
    model = bayleaf.KDBClassifier(k=2, calibration="leave_one_out").fit(X, y)
    page = open_page(explorer_html(model, edit=frame_of(X, y)))
    path = tmp_path / "same.json"
    path.write_text(page.evaluate(EDITED, [])["file"], encoding="utf-8")
    read = bayleaf.load(path)
    np.testing.assert_allclose(
        read.predict_proba(X), model.predict_proba(X), atol=1e-12
    )


@pytest.mark.slow
def test_cut_points_and_arcs_are_edited_by_hand(open_page: Any, tmp_path: Path) -> None:
    X, y = heart()
    model = bayleaf.TANClassifier().fit(X, y)
    page = open_page(explorer_html(model, edit=frame_of(X, y)))
    page.locator("#variable-0 .name").click()
    page.locator("#edit summary").click()
    page.wait_for_selector("#edit-list li")
    first = page.inner_text("#edit-line")
    assert "as edited" not in first
    raise_cut = page.get_by_role("button", name="Raise cut point 1 of age")
    raise_cut.click()
    assert page.inner_text("#edit-line") != first
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == (
        "Raise cut point 1 of age"
    )
    page.locator("#edit-undo").click()
    assert page.inner_text("#edit-line") == first
    assert page.locator("#edit-undo").is_disabled()
    page.get_by_role("button", name="Remove cut point 1 of age").click()
    assert "No cut points" in page.inner_text("#edit-list")
    with page.expect_download() as download:
        page.locator("#edit-download").click()
    path = tmp_path / "edited.json"
    download.value.save_as(path)
    assert json.loads(path.read_text(encoding="utf-8"))["domain"][0]["cut_points"] == []
    assert bayleaf.load(path).model_.domain[0].n_states == 1


@pytest.mark.slow
def test_map_answer_and_why_follow_an_edit(open_page: Any, tmp_path: Path) -> None:
    X, y = heart()
    model = bayleaf.TANClassifier().fit(X, y)
    (parent, child), *_ = [(p, c) for p, c in model.model_.arcs if c < 5 and p < 5]
    page = open_page(explorer_html(model, edit=frame_of(X, y)))
    verdict, arcs = page.inner_text("#verdict"), page.locator("#graph .arc").count()
    page.fill("#find", "age=60")
    page.press("#find", "Enter")
    before = page.inner_text("#verdict")
    names = [str(name) for name in model.model_.domain.names]
    page.locator(f"#variable-{child} .name").click()
    page.locator("#edit summary").click()
    page.get_by_role("button", name=f"Remove the arrow from {names[parent]}").click()
    assert page.locator("#graph .arc").count() == arcs - 1
    assert page.locator(f".card.edited:has(#variable-{child})").count() == 1
    assert "standard error" in page.inner_text("#edit-line")
    page.locator("#variable-0 .name").click()
    page.get_by_role("button", name="Remove cut point 1 of age").click()
    assert page.locator("#variable-0 + .states .state").count() == 1
    page.locator("#variable-3 .name").click()
    page.get_by_role("button", name="Add cut point").click()
    assert page.locator("#tab-cockpit").is_disabled()
    with page.expect_download() as download:
        page.locator("#edit-download").click()
    path = tmp_path / "edited.json"
    download.value.save_as(path)
    read = bayleaf.load(path)
    for row in range(0, 270, 45):
        codes = read.encoder_.transform(X_columns(X.slice(row, 1))).codes
        states = [int(codes.column(v)[0]) for v in range(5)]
        found = page.evaluate(STATES_SET, states)
        (shares,) = read.predict_proba(X.slice(row, 1))
        np.testing.assert_allclose(found["shares"], shares, rtol=0, atol=1e-9)
        why = read.explain(X.slice(row, 1))[0]
        terms = {term.feature: term.contribution for term in why.terms}
        expected = [terms.get(name, 0.0) for name in names[:5]]
        np.testing.assert_allclose(found["terms"][:5], expected, rtol=0, atol=1e-9)
    page.locator("#edit-reset").click()
    page.fill("#find", "age=60")
    page.press("#find", "Enter")
    assert page.inner_text("#verdict") != verdict
    page.locator("#reset").click()
    assert page.inner_text("#verdict") == verdict
    assert page.locator("#graph .arc").count() == arcs
    assert before != verdict


@pytest.mark.slow
def test_edits_are_made_and_undone_by_keyboard(open_page: Any) -> None:
    X, y = heart()
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    page = open_page(explorer_html(model, edit=frame_of(X, y)))
    page.locator("#variable-0 .name").click()
    page.locator("#chosen .state").first.click()
    verdict, known = page.inner_text("#verdict"), page.inner_text("#known")
    page.locator("#edit summary").press("Enter")
    # Browsers report later that the panel was opened, which fills it.
    page.locator("#edit-line:not(:empty)").wait_for()
    learned = page.inner_text("#edit-line")
    page.get_by_role("button", name="Remove cut point 1 of age").press("Enter")
    assert "No longer set, because the states changed: age." in page.inner_text(
        "#edit-line"
    )
    assert page.locator("#edit-list :focus").count() == 1
    page.keyboard.press("Control+z")
    assert page.inner_text("#edit-line") == learned
    assert [page.inner_text("#verdict"), page.inner_text("#known")] == [verdict, known]
    page.get_by_role("button", name="Remove cut point 1 of age").press("Enter")
    page.locator("#undo").press("Enter")
    assert page.inner_text("#edit-line") == learned
    assert page.locator("#edit-undo").is_disabled()


@pytest.mark.slow
def test_tab_leads_to_edits_in_sight_on_a_telephone(open_page: Any) -> None:
    X, y = heart()
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    html = explorer_html(model, edit=frame_of(X, y))
    page = open_page(html, viewport={"width": 400, "height": 800})
    person = Person(page, "keyboard")
    page.locator("#edit summary").press("Enter")
    page.locator("#find").press_sequentially("age")
    person.key("Enter")
    # Each stop on the way is seen.
    person.press(page.get_by_role("button", name="Remove cut point 1 of age"))
    assert "as edited" in page.inner_text("#edit-line")


HIDDEN_POINTS = """() => {
  const path = [...document.querySelectorAll("#graph .arc")].at(-1);
  const boxes = [...document.querySelectorAll("#monitors .card")]
    .map((card) => card.getBoundingClientRect());
  return Array.from({ length: 39 }, (_, k) =>
    path.getPointAtLength(path.getTotalLength() * (k + 1) / 40)
      .matrixTransform(path.getScreenCTM()))
    .filter(({ x, y }) => boxes.some((box) =>
      x > box.left && x < box.right && y > box.top && y < box.bottom)).length;
}"""


@pytest.mark.slow
def test_an_added_arc_is_not_hidden_behind_boxes(open_page: Any) -> None:
    X, y = load_heart(return_X_y=True)
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    page = open_page(
        explorer_html(model, edit=frame_of(X, y)),
        viewport={"width": 1280, "height": 800},
    )
    names = [str(name) for name in model.model_.domain.names]
    page.locator(f"#variable-{names.index('major_vessels_coloured')} .name").click()
    page.locator("#edit summary").click()
    arcs = page.locator("#graph .arc").count()
    for parent in ("resting_ecg", "st_depression", "thallium_scan"):
        page.get_by_label("New parent").select_option(label=parent)
        page.get_by_role("button", name="Add arrow").click()
        assert page.locator("#graph .arc").count() == arcs + 1
        assert page.evaluate(HIDDEN_POINTS) == 0
        page.locator("#edit-undo").click()


def test_what_cannot_be_edited_is_refused() -> None:
    X, y = heart()
    frame = frame_of(X, y)
    fitted = bayleaf.NaiveBayesClassifier().fit(X, y)
    with pytest.raises(ValueError, match="needs its class, the column 'class'"):
        explorer_html(fitted, edit=X)
    with pytest.raises(ValueError, match="naive Bayes, TAN and KDB models"):
        explorer_html(bayleaf.AODEClassifier().fit(X, y), edit=frame)
    averaged = bayleaf.AveragedKDBClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="this is a AveragedKDBClassifier; fit one of"):
        explorer_html(averaged, edit=frame)
    numbers = bayleaf.NaiveBayesClassifier(numeric="gaussian").fit(X, y)
    with pytest.raises(ValueError, match="naive Bayes, TAN and KDB models"):
        explorer_html(numbers, edit=frame)
    backed = bayleaf.NaiveBayesClassifier(smoothing="backoff").fit(X, y)
    with pytest.raises(ValueError, match="with smoothing 'laplace' or 'dirichlet'"):
        explorer_html(backed, edit=frame)
    with pytest.raises(ValueError, match="a page can edit classifiers"):
        explorer_html(fitted.network_, edit=frame)
    with pytest.raises(ValueError, match="what min_count hides"):
        explorer_html(fitted, min_count=5, edit=frame)
    with pytest.raises(ValueError, match="do not come from these rows"):
        explorer_html(fitted, edit=frame.slice(0, 200))
    latents = bayleaf.HNBClassifier(random_state=0).fit(*with_holes())
    with pytest.raises(ValueError, match="over complete rows, but column 'x0' has"):
        explorer_html(latents, edit=frame_of(*with_holes()))
    wrong = frame.set_column(5, "class", [[None, *list(y)[1:]]])
    with pytest.raises(ValueError, match="one of its classes in every row"):
        explorer_html(fitted, edit=wrong)


def left_out_loss_of_latents(X: pa.Table, y: Any, read: Any) -> float:
    """Log-loss of rows under a hierarchy, each taken out of all counts."""
    tree = read.model_.tree
    codes = read.encoder_.transform(X_columns(X)).codes
    columns = [codes.column(v).astype(int) for v in range(codes.n_variables)]
    for one in tree.latents:
        columns.append(one.states[columns[one.left], columns[one.right]])
    classes = read.classes_.tolist()
    own = np.array([classes.index(label) for label in list(y)])
    n, n_classes = len(own), len(classes)
    scores = np.empty((n, n_classes))
    for row in range(n):
        kept = np.arange(n) != row
        counts = np.bincount(own[kept], minlength=n_classes)
        scores[row] = np.log((counts + 1 / n_classes) / (counts.sum() + 1))
        for node in read.model_.used_children:
            here = kept & (columns[node] == columns[node][row])
            alike = np.bincount(own[here], minlength=n_classes)
            scores[row] += np.log((alike + 1 / tree.cards[node]) / (counts + 1))
    logs = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
    return float(-logs[np.arange(n), own].mean())


LATENT_EDITS = """edits => {
  const { LatentEditing, session } = window.bayleaf;
  const editing = new LatentEditing(session.model);
  const done = edits.map(([name, ...values]) => editing[name](...values));
  return { before: editing.before, after: editing.score(), file: editing.file(), done,
    latents: editing.latents };
}"""


@pytest.mark.slow
def test_states_of_latents_are_split_and_merged(open_page: Any, tmp_path: Path) -> None:
    X, y = load_heart(return_X_y=True)
    model = bayleaf.HNBClassifier(
        search="significance", significance_level=0.001, random_state=0
    ).fit(X, y)
    page = open_page(explorer_html(model, edit=frame_of(X, y)))
    nothing = page.evaluate(LATENT_EDITS, [])
    assert nothing["before"] == nothing["after"]
    assert nothing["before"] == pytest.approx(
        left_out_loss_of_latents(X, y, model), abs=1e-10
    )
    cards = [int(latent.states.max()) + 1 for latent in model.model_.tree.latents]
    n_features = len(model.model_.domain) - 1
    children = [n for one in model.model_.tree.latents for n in (one.left, one.right)]
    below = max(children) - n_features
    assert below >= 0
    wide = int(np.argmax(cards))
    for number, edits in enumerate(
        (
            [["moveCell", below, 0, cards[below]]],
            [["merge", wide, cards[wide] - 1, 0]],
            [["moveCell", below, 0, cards[below]], ["moveCell", wide, 1, 0]],
        )
    ):
        found = page.evaluate(LATENT_EDITS, edits)
        path = tmp_path / f"edited{number}.json"
        path.write_text(found["file"], encoding="utf-8")
        read = bayleaf.load(path)
        for ours, theirs in zip(
            read.model_.tree.latents, found["latents"], strict=True
        ):
            assert ours.states.ravel().tolist() == theirs["states"]
            assert ours.states.shape == (theirs["rows"], theirs["columns"])
        expected = left_out_loss_of_latents(X, y, read)
        assert found["after"] == pytest.approx(expected, abs=1e-10)
        assert read.predict_proba(X).shape == (270, 2)
    before = model.predict_proba(X)
    (tmp_path / "same.json").write_text(nothing["file"], encoding="utf-8")
    again = bayleaf.load(tmp_path / "same.json").predict_proba(X)
    np.testing.assert_allclose(again, before, atol=1e-12)
    page.locator(".card.latent .name").first.click()
    page.locator("#edit summary").click()
    page.wait_for_selector("#edit-list .cell")
    first = page.inner_text("#edit-line")
    cells = page.locator("#edit-list .cell")
    values = cells.evaluate_all("all => all.map((one) => one.value)")
    shared = next(i for i, value in enumerate(values) if values.count(value) > 1)
    cells.nth(shared).select_option(label="new")
    assert page.inner_text("#edit-line") != first
    page.locator("#edit-undo").click()
    assert page.inner_text("#edit-line") == first
    assert page.locator(".card.edited").count() == 0


@pytest.mark.slow
def test_map_answer_and_why_follow_an_edit_of_latents(
    open_page: Any, tmp_path: Path
) -> None:
    X, y = load_heart(return_X_y=True)
    model = bayleaf.HNBClassifier(
        search="significance", significance_level=0.001, random_state=0
    ).fit(X, y)
    page = open_page(explorer_html(model, edit=frame_of(X, y)))
    verdict = page.inner_text("#verdict")
    latent = page.locator(".card.latent").first
    before = latent.locator(".state").count()
    latent.locator(".name").click()
    page.locator("#edit summary").click()
    page.wait_for_selector("#edit-list .cell")
    cells = page.locator("#edit-list .cell")
    values = cells.evaluate_all("all => all.map((one) => one.value)")
    shared = next(i for i, value in enumerate(values) if values.count(value) > 1)
    cells.nth(shared).select_option(label="new")
    edited = page.locator(".card.latent.edited")
    assert edited.locator(".state").count() >= before + 1
    with page.expect_download() as download:
        page.locator("#edit-download").click()
    path = tmp_path / "edited.json"
    download.value.save_as(path)
    read = bayleaf.load(path)
    names = [str(name) for name in read.model_.domain.names[:-1]]
    for row in range(0, 270, 90):
        codes = read.encoder_.transform(X_columns(X.slice(row, 1))).codes
        states = [int(codes.column(v)[0]) for v in range(len(names))]
        found = page.evaluate(STATES_SET, states)
        (shares,) = read.predict_proba(X.slice(row, 1))
        np.testing.assert_allclose(found["shares"], shares, rtol=0, atol=1e-9)
        why = read.explain(X.slice(row, 1))[0]
        terms = {term.feature: term.contribution for term in why.terms}
        expected = [terms.get(name, 0.0) for name in names]
        np.testing.assert_allclose(
            found["terms"][: len(names)], expected, rtol=0, atol=1e-9
        )
    known = [*states[:3], *[-1] * (len(names) - 3)]
    page.evaluate(STATES_SET, known)
    network = read.network_
    given = {n: network.domain[v].states[states[v]] for v, n in enumerate(names[:3])}
    found = page.evaluate("window.bayleaf.session.posteriors().map((p) => [...p])")
    posteriors = network.query(given)
    for feature in (8, 10, 12):
        expected = posteriors[names[feature]].probabilities
        np.testing.assert_allclose(found[feature], expected, rtol=0, atol=1e-9)
    page.locator("#edit-reset").click()
    page.locator("#reset").click()
    assert page.inner_text("#verdict") == verdict
    assert page.locator(".card.edited").count() == 0
