"""Sphinx settings."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from numpydoc import docscrape_sphinx

import bayleaf
from bayleaf.results.html import breakable

project = "bayleaf"
author = "bayleaf developers"
copyright = "2026, bayleaf developers"
version = release = bayleaf.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# scikit-learn's inherited docstrings point into its own documentation.
suppress_warnings = ["ref.ref"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    "write_computation_times": False,
    "show_memory": False,
    "abort_on_example_error": True,
}
html_theme = "pydata_sphinx_theme"
html_title = "bayleaf"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
# The explorer of the first page is written when the documentation is built.
html_extra_path = ["_build/extra"]
html_sidebars = {"index": []}
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
}


# numpydoc compiles its template for each of thousands of docstrings.
docscrape_sphinx.BuiltinTemplateLoader = cache(docscrape_sphinx.BuiltinTemplateLoader)
docscrape_sphinx.SandboxedEnvironment = cache(docscrape_sphinx.SandboxedEnvironment)


def _is_absent(app: Any, what: str, name: str, member: Any, *_: Any) -> bool | None:
    """Whether a class lacks a method of its base."""
    return True if type(member).__name__ == "_Absent" else None


def _break_names(app: Any, page: str, template: str, context: Any, *_: Any) -> None:
    """Let names in code break between their words, as in columns of a telephone."""
    if "body" in context:
        context["body"] = breakable(context["body"])


def setup(app: Any) -> None:
    """Write the explorer that the first page shows, and leave out absent methods."""
    app.connect("autodoc-skip-member", _is_absent)
    app.connect("html-page-context", _break_names)
    from bayleaf import AveragedKDBClassifier
    from bayleaf.datasets import load_heart
    from bayleaf.explorer import write_explorer

    folder = Path(app.confdir) / "_build" / "extra"
    folder.mkdir(parents=True, exist_ok=True)
    X, y = load_heart(return_X_y=True)
    # That of the code on the first page.
    model = AveragedKDBClassifier(random_state=0).fit(X, y)
    words = {
        "cases": "patients",
        "outcome": "present",
        "phrases": {
            "present": "have heart disease",
            "absent": "do not have heart disease",
        },
        "features": {
            "age": {"unit": "years"},
            "resting_blood_pressure": {"unit": "mmHg"},
            "serum_cholesterol": {"unit": "mg/dl"},
            "maximum_heart_rate": {"unit": "per min"},
            "st_depression": {"label": "ST depression", "unit": "mm"},
            "st_slope": {"label": "ST slope"},
            "resting_ecg": {"label": "ECG at rest"},
        },
    }
    rows = X.append_column("class", [y])
    path = folder / "heart.html"
    write_explorer(model, path, "Heart disease", rows=rows, words=words)
