"""``bayleaf explore`` writes or opens a page."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow
import pyarrow.compute
import pyarrow.csv
import pytest

import bayleaf
from bayleaf.cli import main
from bayleaf.io import write_network
from bayleaf.models.bayesian_network import BayesianNetwork
from explorer.cases import table
from explorer.test_page import content_of


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file of naive Bayes."""
    path = tmp_path_factory.mktemp("model") / "plant.json"
    X, y = table()
    bayleaf.NaiveBayesClassifier().fit(X, y).save(path)
    return path


def test_a_page_is_written_where_it_should_be(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["explore", str(model), "-o", str(page)]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    classes = " or ".join(sorted(set(table()[1])))
    assert f"<title>{classes}</title>" in page.read_text("utf-8")


def test_without_a_place_the_browser_opens_a_temporary_page(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert main(["explore", str(model), "--title", "mine"]) == 0
    written = Path(capsys.readouterr().out.strip())
    assert [Path(unquote(urlparse(url).path)) for url in opened] == [written]
    assert "<title>mine</title>" in written.read_text("utf-8")
    written.unlink()
    written.parent.rmdir()


@pytest.mark.parametrize("suffix", [".bif", ".net", ".xdsl", ".json"])
def test_network_files_of_any_format_are_shown(suffix: str, tmp_path: Path) -> None:
    network = BayesianNetwork.from_tables(
        {"a": ["x", "y"], "b": ["x", "y"]},
        {"a": [0.5, 0.5], "b": [[0.1, 0.9], [0.2, 0.8]]},
        {"b": ["a"]},
    )
    path, page = tmp_path / f"net{suffix}", tmp_path / "page.html"
    write_network(network, path)
    assert main(["explore", str(path), "-o", str(page)]) == 0
    assert "net: Bayesian network" in page.read_text("utf-8")


def test_a_density_model_is_shown(tmp_path: Path) -> None:
    X, _ = table()
    path, page = tmp_path / "density.json", tmp_path / "page.html"
    bayleaf.BayesianNetworkEstimator(random_state=0).fit(X).save(path)
    assert main(["explore", str(path), "-o", str(page)]) == 0
    assert "density: Bayesian network" in page.read_text("utf-8")


def test_a_file_that_is_no_model_gives_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.json"
    path.write_text("{}", encoding="utf-8")
    assert main(["explore", str(path), "-o", str(tmp_path / "page.html")]) == 2
    assert "other.json is no bayleaf model file" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_rows_and_training_rows_go_into_the_page(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = table()
    pyarrow.csv.write_csv(X.append_column("class", [y]), tmp_path / "rows.csv")
    page = tmp_path / "page.html"
    rows = str(tmp_path / "rows.csv")
    command = ["explore", str(model), "-o", str(page), "--rows", rows, "--edit", rows]
    assert main(command) == 0
    text = page.read_text("utf-8")
    assert '"rows":{"n":160' in text
    assert '"editing":{"document"' in text
    capsys.readouterr()
    for wrong, sentence in (
        (X, "needs its class"),
        (X.append_column("class", [y]).drop(["x1"]), "the rows have no column 'x1'"),
    ):
        pyarrow.csv.write_csv(wrong, tmp_path / "rows.csv")
        for options in (command, [*command[:4], "--edit", rows]):
            assert main(options) == 2
            assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("model", ["auto", "regressor"])
def test_a_page_knows_the_rows_of_a_fit_that_left_out_those_without_outcome(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = table()
    number = pyarrow.array(range(len(y))).cast("float64")
    target = pyarrow.array(y if model == "auto" else number)
    is_known = pyarrow.array([row % 9 > 0 for row in range(len(y))])
    target = pyarrow.compute.if_else(is_known, target, None)
    data = str(tmp_path / "rows.csv")
    pyarrow.csv.write_csv(X.append_column("target", target), data)
    path, page = str(tmp_path / "model.json"), tmp_path / "page.html"
    few = ["--n-networks", "1", "--max-parents", "0"]
    fit = ["fit", data, "--target", "target", "--model", model, *few, "-o", path]
    assert main(fit) == 0
    assert main(["explore", path, "--rows", data, "-o", str(page)]) == 0
    rows = content_of(page.read_text("utf-8"))["rows"]
    assert rows["n"] == len(y)
    assert len(rows["suggested"]) == 3
    for case in rows["suggested"]:
        assert case["seen"] is False
        assert is_known[case["row"]].as_py()


def test_a_least_count_above_all_rows_is_refused(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["explore", str(model), "-o", str(tmp_path / "page.html")]
    assert main([*command, "--min-count", str(10**12)]) == 2
    assert "at most 160, the number of training rows" in capsys.readouterr().err


def test_words_are_written_edited_and_read(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, page = tmp_path / "words.json", tmp_path / "page.html"
    assert main(["explore", str(model), "--words-template", str(words)]) == 0
    assert capsys.readouterr().out == f"{words}\n"
    text = words.read_text("utf-8").replace('"label": "x1"', '"label": "first sign"')
    words.write_text(text, "utf-8")
    command = ["explore", str(model), "--words", str(words), "-o", str(page)]
    assert main([*command, "--immutable", "x0,x1", "--actionable", "x2"]) == 0
    variables = content_of(page.read_text("utf-8"))["variables"]
    assert variables[1]["words"]["label"] == "first sign"
    assert [v.get("change") for v in variables[:4]] == [
        "immutable",
        "immutable",
        "actionable",
        None,
    ]


def test_words_that_are_not_json_are_refused_with_their_line(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = tmp_path / "words.json"
    words.write_text('{"cases": "patients",\n}', "utf-8")
    page = tmp_path / "page.html"
    command = ["explore", str(model), "--words", str(words), "-o", str(page)]
    for text in (words.read_text("utf-8"), "[" * 100_000):
        words.write_text(text, "utf-8")
        assert main(command) == 2
        assert "file 'words.json' holds no JSON" in capsys.readouterr().err
    assert main([*command[:3], str(tmp_path / "none.json"), *command[4:]]) == 2
    assert "none.json" in capsys.readouterr().err
    assert not page.exists()
