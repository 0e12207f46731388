"""What a stranger looks for beside the code: addresses, policies, floors, help."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import bayleaf
from bayleaf.cli.app import app

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]


def test_every_address_is_that_of_the_repository() -> None:
    urls = PROJECT["urls"]
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= {*urls}
    assert all(url.startswith(urls["Source"]) for url in urls.values())
    assert urls["Source"] in (ROOT / "CITATION.cff").read_text()


def test_the_citation_names_this_version_and_the_papers() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = dict(re.findall(r"^([a-z-]+): *(.*)$", text, re.MULTILINE))
    assert {"cff-version", "message", "title", "authors", "references"} <= {*found}
    assert found["version"] == bayleaf.__version__
    for author in ("Sahami", "Langseth", "Wiering", "desJardins"):
        assert f"family-names: {author}" in text


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("SECURITY.md", ["report", "opens no other file", "128 MiB", "--min-count"]),
        ("CODE_OF_CONDUCT.md", ["Not welcome", "private"]),
        ("CONTRIBUTING.md", ["DeprecationWarning", "SCHEMA_VERSION"]),
        (".pre-commit-config.yaml", ["ruff", "mypy"]),
        (".github/ISSUE_TEMPLATE/bug.yml", ["validations"]),
        (".github/ISSUE_TEMPLATE/feature.yml", ["validations"]),
        (".github/ISSUE_TEMPLATE/question.yml", ["validations"]),
    ],
)
def test_policies_stand_where_they_are_looked_for(file: str, words: list[str]) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert all(word in text for word in words)


def test_every_extra_is_imported_by_the_package() -> None:
    extras = PROJECT["optional-dependencies"]
    sources = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")
    )
    offenders = [
        requirement
        for extra, requirements in extras.items()
        if extra != "all"
        for requirement in requirements
        for name in [re.split("[<>=\\[]", requirement)[0].replace("-", "_")]
        if not re.search(rf"(import|from) {name}|\"{name}", sources)
    ]
    assert not offenders, "\n".join(offenders)


def test_what_developers_need_is_in_groups_alone() -> None:
    extras, groups = PROJECT["optional-dependencies"], PYPROJECT["dependency-groups"]
    assert {"test", "lint", "docs", "peers", "browser"} <= set(groups)
    assert not set(groups) & set(extras)


def test_floors_are_those_of_the_project() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "floors.py")],
        capture_output=True,
        text=True,
        check=True,
    )
    floors = dict(line.split("==") for line in done.stdout.split())
    assert len(floors) == len(PROJECT["dependencies"])
    for name, floor in floors.items():
        present = [int(n) for n in re.findall(r"\d+", metadata.version(name))[:2]]
        least = [int(n) for n in re.findall(r"\d+", floor)[:2]]
        # What was installed from sources without their history says 0.
        assert present >= least or not any(present)


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_every_command(shell: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bayleaf", "--install-completion", "--shell", shell],
        env={**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    scripts = [p for p in tmp_path.rglob("*") if p.is_file() and "bayleaf" in p.name]
    script = "".join(path.read_text(encoding="utf-8") for path in scripts)
    names = [name for name in app if not name.startswith("-")]
    assert len(names) > 12
    assert all(name in script for name in names)
    assert "--min-count" in script or "min-count" in script


@pytest.mark.slow
def test_the_manual_page_names_every_command_and_option(tmp_path: Path) -> None:
    pytest.importorskip("docutils")
    page = tmp_path / "bayleaf.1"
    subprocess.run(
        [sys.executable, str(ROOT / "tools" / "man_page.py"), str(page)],
        capture_output=True,
        check=True,
    )
    text = page.read_text(encoding="utf-8").replace("\\-", "-")
    assert text.startswith('.\\"')
    assert re.search(r'\.TH "?bayleaf"? "?1', text, re.IGNORECASE)
    for name in app:
        assert name.startswith("-") or name in text, name
    for option in ("--min-count", "--no-safe-csv", "--calibration", "--target"):
        assert option in text, option
