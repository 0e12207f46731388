from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayleaf import BayesianNetworkEstimator, NaiveBayesClassifier
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.report import About, report_html, summarize, write_report
from bayleaf.report import page as pages
from bayleaf.report.page import calibration_svg, roc_svg
from oracles.small_tables import classifier
from report.hostile import NAMES, TARGET, hostile_table

VOID = {"meta", "br", "wbr"}
ALLOWED = frozenset(
    """
    html head meta title style body header main nav section article h1 h2 h3 h4 p ul li
    a dl div dt dd small table caption thead tbody tr th td bdi span strong details
    summary figure figcaption svg defs marker path rect circle g text br wbr
    """.split()  # noqa: SIM905
)


class Page(HTMLParser):
    """What a browser would see of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.broken: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.broken.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All text outside the style sheet."""
        return " ".join("".join(self.texts).split())


def assert_harmless(html: str) -> Page:
    """A page of known elements that runs nothing and asks for nothing."""
    page = Page(html)
    assert page.broken == []
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= ALLOWED
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in {"src", "srcset", "action", "data", "xlink:href"}
            if name == "href":
                assert value is not None
                assert value.startswith("#")
            if name in {"style", "marker-end"}:
                assert value is not None
                assert "url(" not in value.replace("url(#tip)", "")
    style = html.split("<style>")[1].split("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert "\x00" not in html
    return page


@pytest.fixture(scope="module")
def page(summary: dict[str, Any]) -> Page:
    """The page of naive Bayes on the heart table."""
    return assert_harmless(report_html(summary))


def test_every_section_is_there(page: Page) -> None:
    named = {attributes.get("id") for tag, attributes in page.tags if tag == "section"}
    rows = {"rows", "points", "table"}
    assert named == {"overview", "learned", "good", "matters", *rows}
    targets = {a["href"] for tag, a in page.tags if tag == "a"}
    assert targets == {f"#{name}" for name in named}


def test_headings_do_not_skip_a_level(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.tags if tag in {"h1", "h2", "h3", "h4"}]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_tables_have_captions_and_their_headers_scopes(page: Page) -> None:
    tags = [tag for tag, _ in page.tags]
    assert tags.count("table") == tags.count("caption") > 5
    assert all(a.get("scope") in {"col", "row"} for tag, a in page.tags if tag == "th")


def test_pictures_have_names(page: Page) -> None:
    pictures = [a for tag, a in page.tags if tag == "svg"]
    # Four operating points, six shapes, network, calibration and ROC.
    assert len(pictures) == 4 + 6 + 3
    assert all(a["role"] == "img" and a["aria-label"] for a in pictures)


def test_the_first_page_is_for_a_board(
    summary: dict[str, Any], fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    found = summarize(
        fitted("nb"), heart, n_folds=2, by="sex", source="/data/secret/heart.csv"
    )
    page = assert_harmless(report_html(found))
    assert (
        f"heart.csv: 270 rows, 13 columns read. Written on {found['date']}" in page.text
    )
    assert "secret" not in page.text
    assert found["overview"]["sentences"][0] in page.text
    assert "Rates by sex" in page.text
    icons = [
        a["class"] for _, a in page.tags if "icon" in (a.get("class") or "").split()
    ]
    assert len(icons) == 4 * 100 + 4


def test_the_basis_of_figures_is_told(page: Page) -> None:
    assert "10-fold cross-validation" in page.text
    assert "not scored on them" in page.text


def test_held_out_figures_say_on_whose_word(
    fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    html = report_html(summarize(fitted("nb"), heart, held_out=True))
    assert "declared as held out" in Page(html).text


@pytest.mark.few(6)
@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("min_count", [1, 5])
def test_a_page_of_every_classifier_is_well_formed(
    name: str,
    min_count: int,
    summary_of: Callable[[str], Any],
    fitted: Callable[[str], Any],
    heart: pa.Table,
) -> None:
    found = (
        summary_of(name)
        if min_count == 1
        else summarize(fitted(name), heart, n_folds=3, min_count=min_count)
    )
    html = report_html(found)
    assert_harmless(html)
    assert len(html.encode()) < 500_000


def test_a_page_of_a_density_model_is_well_formed(
    density: Any, heart: pa.Table
) -> None:
    page = assert_harmless(report_html(summarize(density, heart, n_folds=2)))
    assert "gained over independent columns" in page.text
    assert "bits per row over independent columns" in page.text
    assert "Contexts and groups of values" in page.text


def test_explained_rows_show_the_numbers_of_the_table(
    summary: dict[str, Any], heart: pa.Table
) -> None:
    page = report_html(summary)
    cells = [
        (row["row"], term)
        for row in summary["rows"]
        for term in row["terms"]
        if term["feature"] == "age"
    ]
    for row, term in cells:
        assert term["cell"] == heart["age"][row - 1].as_py()
        assert f">{term['cell']}, " in page
    assert cells


def test_four_rows_are_explained_and_others_folded(summary: dict[str, Any]) -> None:
    html = report_html(summary)
    rows = html[html.index('<section id="rows">') :]
    before, _, folded = rows.partition("<details>")
    assert before.count("<article>") == 4
    assert folded.partition("</details>")[0].count("<article>") == 6
    assert "6 further rows" in folded


def test_names_are_never_cut_on_the_page() -> None:
    name = "share of days in hospital within the last twelve months " * 3
    table = pd.DataFrame(
        {name: [*"pq"] * 40, "y": [f"{name}{i % 2}" for i in range(80)]}
    )
    model = NaiveBayesClassifier().fit(table[[name]], table["y"])
    page = Page(report_html(summarize(model, table, n_folds=2)))
    assert "\N{HORIZONTAL ELLIPSIS}" not in page.text


def test_no_value_of_a_row_is_shown_without_rows() -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"weight": rng.normal(70, 9, 90), "y": [*"ab"] * 45})
    table["secret"] = [f"person {place % 30}" for place in range(90)]
    model = NaiveBayesClassifier().fit(table[["weight", "secret"]], table["y"])
    shown = report_html(summarize(model, table, n_folds=2))
    hidden = report_html(summarize(model, table, n_folds=2, rows=False, min_count=5))
    assert "person 7" in shown
    assert "person" not in hidden
    assert "Row " not in Page(hidden).text


@pytest.mark.parametrize(
    "name", ["nb", "hnb", "tan", pytest.param("network", marks=pytest.mark.slow)]
)
def test_hostile_names_and_values_are_text(name: str) -> None:
    table = hostile_table(140)
    model = classifier(name).fit(table[[*NAMES]], table[TARGET])
    html = report_html(summarize(model, table, n_folds=2))
    page = assert_harmless(html)
    assert "<script>window.harm = 1</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert "x" * 2000 not in html
    assert "\u202e" not in html


def test_the_card_of_a_hostile_table_is_text() -> None:
    table = hostile_table()
    model = NaiveBayesClassifier().fit(table[[*NAMES]], table[TARGET])
    summary = summarize(model, table, n_folds=2, by=[*NAMES[:2]])
    about = About(purpose=NAMES[0], owner=NAMES[1], source=f"x/{NAMES[2]}")
    page = assert_harmless(report_html(summary, about=about))
    assert f"Purpose: {NAMES[0]}" in page.text
    tags = [tag for tag, _ in page.tags]
    assert tags.count("table") == tags.count("caption")


def test_hostile_density_models_are_text() -> None:
    table = hostile_table()
    model = BayesianNetworkEstimator(
        local_structure="tree", n_restarts=1, random_state=0
    ).fit(table)
    html = report_html(summarize(model, table, n_folds=2), title="<script>0</script>")
    assert "<script>0</script>" in assert_harmless(html).text


def test_a_page_of_fifty_features_is_small() -> None:
    rng = np.random.default_rng(4)
    label = rng.integers(0, 2, 200)
    cells = (rng.integers(0, 20, (200, 50)) + label[:, None]).astype(str)
    table = pd.DataFrame(cells, columns=[f"feature number {i}" for i in range(50)])
    X = table.copy()
    table["y"] = label
    found = summarize(NaiveBayesClassifier().fit(X, table["y"]), table, n_folds=2)
    assert len(report_html(found).encode()) < 400_000


def test_a_file_is_written_whole(
    fitted: Callable[[str], Any], heart: pa.Table, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    found = write_report(fitted("nb"), heart, path, "disease", n_folds=2)
    assert path.read_text(encoding="utf-8") == report_html(found)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="no column sex"):
        write_report(fitted("nb"), heart.drop_columns("sex"), path)
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]


def test_a_summary_of_another_version_is_refused(summary: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="should be of schema"):
        report_html({**summary, "schema": "bayleaf-report/0"})


def test_a_missing_jinja_is_told(
    summary: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        pages, "_compiled_templates", pages._compiled_templates.__wrapped__
    )
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"install .bayleaf\[report\]"):
        report_html(summary)


def test_dots_stand_where_prediction_and_share_say() -> None:
    one = {"n": 4, "mean_probability": 0.5, "share": 1.0, "low": 0, "high": 1}
    empty = {"n": 0, "mean_probability": None, "share": None, "low": 0, "high": 1}
    svg = calibration_svg({"of": "positive", "bins": [one, empty]})
    (x, y), *others = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg)
    assert others == []
    assert (float(x), float(y)) == pytest.approx((46 + 120, 12))


def test_a_curve_goes_from_corner_to_corner() -> None:
    svg = roc_svg([{"class": "<i>", "points": [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]}])
    assert 'd="M46.0 252.0 46.0 12.0 286.0 12.0"' in svg
    assert "<title>&lt;i&gt;</title>" in svg
