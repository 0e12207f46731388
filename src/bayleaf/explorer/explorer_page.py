"""The page itself: a template, a style, scripts, and the model, all in one file."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from bayleaf.explorer.editing import editing_content, rows_content, rule_of
from bayleaf.explorer.page_content import (
    about_content,
    add_texts,
    page_content,
    quality_content,
)
from bayleaf.explorer.words import add_changes, add_words, template_of, title_of
from bayleaf.io.atomic import write_export
from bayleaf.io.exports.minifier import minified_script, minified_style
from bayleaf.io.exports.packing import script_json
from bayleaf.io.exports.runtime import runtime_scripts
from bayleaf.models.page_model import CLASSIFIER, DENSITY, Shown, page_model
from bayleaf.typing import ByName, FrameLike, JSONObject

_OF_COCKPIT = "words are for the cockpit, which classifiers and regressors have"
_OF_CHANGES = (
    "features to change are for What if, which classifiers and regressors have"
)
_FOR_PROGRAMMERS = (
    "bayleaf report MODEL TABLE --held-out measures how well this network predicts the "
    "rows of a table.",
    "network.causal_effect of Python computes what an action would do.",
)
_REFUSAL = "the explorer shows fitted models and networks, but was given"
# Larger pages take a browser too long to open.
MOST_CHARACTERS = 30_000_000
# In the order in which they build on one another.
SCRIPTS = (
    "engines/most_probable.js",
    "engines/network_engine.js",
    "engines/program_engine.js",
    "engines/target_engine.js",
    "engines/engines.js",
    "questions/session.js",
    "questions/links.js",
    "questions/ranges.js",
    "questions/cases.js",
    "questions/slices.js",
    "questions/counterfactuals.js",
    "questions/information.js",
    "questions/conflicts.js",
    "questions/sensitivity.js",
    "questions/cliques.js",
    "questions/editing.js",
    "questions/latent_editing.js",
    "questions/outcome.js",
    "questions/trails.js",
    "questions/number_outcome.js",
    "views/elements.js",
    "views/words.js",
    "views/cpd_table.js",
    "views/variable_card.js",
    "views/graph.js",
    "views/arcs.js",
    "views/minimap.js",
    "views/map_pointers.js",
    "views/map_bars.js",
    "views/map_note.js",
    "views/map.js",
    "views/find.js",
    "views/histogram.js",
    "views/density.js",
    "views/answer.js",
    "views/why.js",
    "views/what_if.js",
    "views/consultation.js",
    "views/chosen_variable.js",
    "views/case_panel.js",
    "views/edit_panel.js",
    "cockpit/wording.js",
    "cockpit/scales.js",
    "cockpit/number_field.js",
    "cockpit/findings.js",
    "cockpit/headline.js",
    "cockpit/number_headline.js",
    "cockpit/waterfall.js",
    "cockpit/picture.js",
    "cockpit/questions.js",
    "cockpit/proposals.js",
    "cockpit/number_proposals.js",
    "cockpit/quality.js",
    "cockpit/letter.js",
    "cockpit/rows.js",
    "cockpit/cockpit.js",
    "views/tabs.js",
    "views/page.js",
)

# The kinds of pages that run a script or a folder of them, where not all do.
_RUN_BY = {
    "engines/most_probable.js": {"network"},
    "engines/network_engine.js": {"network", "networks"},
    "engines/program_engine.js": {"program", "target"},
    "engines/target_engine.js": {"target"},
    "questions/sensitivity.js": {"network"},
    "questions/cliques.js": {"editing"},
    "questions/editing.js": {"editing"},
    "questions/latent_editing.js": {"editing"},
    "questions/outcome.js": {"with a target"},
    "questions/number_outcome.js": {"target"},
    "questions/trails.js": {"network"},
    "views/density.js": {"target"},
    "views/edit_panel.js": {"editing"},
    "cockpit/number_headline.js": {"target"},
    "cockpit/number_proposals.js": {"target"},
    "cockpit": {"with a target"},
}


def explorer_html(
    model: Shown,
    title: str | None = None,
    *,
    min_count: int = 1,
    rows: FrameLike | None = None,
    edit: FrameLike | None = None,
    words: ByName[object] | None = None,
    immutable: Iterable[str] | None = None,
    actionable: Iterable[str] | None = None,
) -> str:
    """One self-contained page on which a model can be explored.

    The page holds the model and computes exactly, in JavaScript, what the package
    does: posteriors of all variables under evidence, contributions to the class, and
    the changes that would flip it. It refers to nothing outside itself.

    Parameters
    ----------
    model : classifier, regressor, density estimator, BayesianNetwork or Predictor
        A fitted model, one read from its file, or a network.
    title : str, optional
        Heading of the page; by default what the model predicts: the name of its
        target or, where that is "class" or the like, its classes; of a network or
        density model "Bayesian network".
    min_count : int, default=1
        Above 1, numbers of training rows below it cannot be found out from the page:
        it holds a classifier of rounded counts, and values of few rows have no names.
    rows : data frame, optional
        Rows that the page holds, the first 1 000 of them, to pick cases from.
    edit : data frame, optional
        The training rows of a naive Bayes, TAN or KDB model, the class among them, all
        of which the page then holds: cut points and arcs can be edited in it, with
        exact leave-one-out log-loss, and the edited model be saved.
    words : mapping, optional
        Words of the cockpit, which models with a target have: labels, questions,
        units, costs and groups of features, and what cases and the outcome are called,
        in the form of `words_template`.
    immutable : iterable of str, optional
        Features that no one can change, which *What if* leaves as they are; by default
        those with names such as age, sex and race.
    actionable : iterable of str, optional
        Features that a person can change, which *What if* proposes first.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    ValueError
        If the model is too large for a page, a variable has no states, or `min_count`
        is below 1 or asked for a model that does not know the rows behind it, or with
        rows; the rows lack a column of training; the model cannot be edited; or
        `words`, `immutable` or `actionable` have unknown names, or are for other kinds
        of models.
    TypeError
        If it is no model.
    AttributeError
        If it is not fitted.
    """
    explored = page_model(model, _REFUSAL)
    content = page_content(explored, min_count)
    add_texts(content, explored.encoder)
    if min_count != 1 and not (rows is None and edit is None):
        raise ValueError("rows would show what min_count hides; give one of the two")
    if rows is not None:
        content["rows"] = rows_content(rows, explored)
    if edit is not None:
        saved = explored.saved()
        if saved is None:
            raise ValueError(
                "a page can edit classifiers and their files, not a "
                f"{type(model).__name__}"
            )
        rule = rule_of(model, saved.parameters.get("smoothing"))
        content["editing"] = editing_content(saved, edit, rule)
    is_classifier = explored.task == CLASSIFIER
    if is_classifier:
        content["quality"] = quality_content(explored, min_count)
    elif (scores := explored.quality()) is not None:
        content["quality"] = dict(zip(("crps", "coverage"), scores, strict=True))
    if explored.has_target:
        add_changes(content, immutable, actionable)
    elif not immutable is actionable is None:
        raise ValueError(f"{_OF_CHANGES}, this is a {explored.name}")
    if explored.task == DENSITY:
        content["about"] = about_content(explored)
        content["remarks"] += _FOR_PROGRAMMERS
    if words is not None:
        if not explored.has_target:
            raise ValueError(f"{_OF_COCKPIT}, this is a {explored.name}")
        domain = explored.model.domain
        add_words(content, words, domain, has_classes=is_classifier)
    if title is None:
        title = title_of(content["variables"], explored)
    content["title"] = title
    # Links hold evidence by number, which means nothing to another model.
    about = [[v["name"], v["states"]] for v in content["variables"]]
    content["fingerprint"] = f"{zlib.crc32(repr(about).encode('utf-8', 'replace')):08x}"
    model_text = script_json(content)
    if len(model_text) > MOST_CHARACTERS:
        raise ValueError(
            f"the page would hold {len(model_text)} characters of numbers, more than "
            f"{MOST_CHARACTERS}; train on fewer rows, or with fewer networks, parents "
            "or states"
        )
    kinds = {content["kind"]}
    kinds |= {"editing"} if edit is not None else set()
    kinds |= {"with a target"} if explored.has_target else set()
    readers = ["Numbers", *(["Times"] if "time" in content["patterns"] else [])]
    text = "".join(_scripts(kinds, content["terms"], readers))
    script = minified_script(f'"use strict";\n(() => {{\n{text}}})();')
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    style = _resource("web/page.css")
    if explored.has_target:
        style += _resource("web/cockpit/cockpit.css")
    # Halves of characters, which no file can hold, are replaced.
    heading = content["title"].encode("utf-8", "replace").decode("utf-8")
    parts = {
        # What a content security policy calls the script by.
        "{{script_hash}}": "sha256-" + base64.b64encode(digest).decode("ascii"),
        "{{title}}": html.escape(heading),
        "{{style}}": minified_style(style),
        "{{model}}": model_text,
        "{{script}}": script,
    }
    page = re.sub(r"\n\s+", "\n", _resource("web/page.html"))
    pieces = []
    # Each piece is put in once, so that a name such as {{script}} stays a name.
    for mark, text in parts.items():
        before, _, page = page.partition(mark)
        pieces += [before, text]
    return "".join([*pieces, page])


def write_explorer(
    model: Shown,
    path: str | Path,
    title: str | None = None,
    *,
    min_count: int = 1,
    rows: FrameLike | None = None,
    edit: FrameLike | None = None,
    words: ByName[object] | None = None,
    immutable: Iterable[str] | None = None,
    actionable: Iterable[str] | None = None,
) -> None:
    """Write the page of `explorer_html` to a file.

    Raises
    ------
    ValueError, TypeError, AttributeError
        As `explorer_html` does.
    OSError
        If the file cannot be written.
    """
    page = explorer_html(
        model,
        title,
        min_count=min_count,
        rows=rows,
        edit=edit,
        words=words,
        immutable=immutable,
        actionable=actionable,
    )
    write_export(path, page, errors="replace")


def suggested_cases(model: Shown, rows: FrameLike) -> list[JSONObject]:
    """Choose the cases to begin with that a page with `rows` suggests.

    Parameters
    ----------
    model : classifier, regressor or Predictor
        A fitted model, or one read from its file.
    rows : data frame
        Rows with the columns of training, of which the first 1 000 are looked at; a
        wrong case needs the target among them.

    Returns
    -------
    list of dict
        Each with ``kind`` ("clear", "undecided" or "wrong"; of a number "low", "high"
        or "wrong", the one farthest from its expectation), ``row`` (its position),
        ``posterior`` (probability of each class; of a number ``mean`` and the 90 %
        ``interval``) and ``seen``: False where that is of a model without the row, True
        where the model itself gave it and has learned from the row, None where it may
        have. Training rows are recognised where all of them are given in their order,
        also by a model from a file; of averaged KDB, whose file keeps the left-out
        answers of these cases, the first 1 000 are enough.

    Raises
    ------
    ValueError
        If a column of training is missing, or the model has no target.

    Examples
    --------
    >>> from bayleaf import NaiveBayesClassifier
    >>> from bayleaf.datasets import load_heart
    >>> heart = load_heart().frame
    >>> model = NaiveBayesClassifier().fit(heart, target="disease")
    >>> [(case["kind"], case["row"]) for case in suggested_cases(model, heart)]
    [('clear', 213), ('undecided', 256), ('wrong', 69)]
    """
    explored = page_model(model, _REFUSAL)
    if not explored.has_target:
        raise ValueError(
            "model must be a classifier or regressor to suggest cases, got a "
            f"{explored.name}"
        )
    cases: list[JSONObject] = rows_content(rows, explored)["suggested"]
    return cases


def words_template(model: Shown) -> JSONObject:
    """Write down the words of a classifier's page, to be replaced by better ones.

    Parameters
    ----------
    model : classifier, regressor or Predictor
        A fitted model, or one read from its file.

    Returns
    -------
    dict
        What `explorer_html` takes as ``words``: ``cases`` (what rows are called),
        ``outcome`` (the class whose chance is shown), ``wanted`` (the class that *What
        if* is to reach, if any), ``phrases`` (what follows "of 100 cases like this" for
        each class) and ``features``, with ``label``, ``question``,
        ``help``, ``unit``, ``group``, ``cost``, ``tolerance`` (numbers within it are
        alike) and, for named ones, ``states`` each. Regressors have no classes; the
        words of their target are among those of the features. All may be left out.

    Raises
    ------
    ValueError
        If the model has no target.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayleaf import NaiveBayesClassifier
    >>> X = pd.DataFrame({"size_in_cm": [1, 2]})
    >>> model = NaiveBayesClassifier().fit(X, ["small", "large"])
    >>> words_template(model)["features"]["size_in_cm"]["label"]
    'size in cm'
    """
    explored = page_model(model, _REFUSAL)
    if not explored.has_target:
        raise ValueError(f"{_OF_COCKPIT}, this is a {explored.name}")
    has_classes = explored.task == CLASSIFIER
    return template_of(explored.model.domain, has_classes=has_classes)


def _scripts(
    kinds: set[str], terms: Sequence[str], readers: Sequence[str]
) -> Iterator[str]:
    """The texts of the scripts that pages of some kinds, terms and cells run."""
    yield from runtime_scripts([*terms, *readers])
    yield f"const KINDS = {{ {', '.join(terms)} }};\n"
    for name in SCRIPTS:
        if kinds & _RUN_BY.get(name, _RUN_BY.get(Path(name).parent.name, kinds)):
            yield _resource(f"web/{name}")


def _resource(name: str) -> str:
    """A text file that stands beside this one."""
    return files("bayleaf.explorer").joinpath(name).read_text(encoding="utf-8")
