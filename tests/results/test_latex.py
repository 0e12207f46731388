"""Documents as LaTeX, and their tables as data frames."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pytest

from bayleaf.evaluation import friedman_test
from bayleaf.results.document import Document, Facts, Items, Name, Table
from bayleaf.results.latex import latex_of
from bayleaf.results.result import Result


@dataclass(frozen=True)
class Parts(Result):
    """A result of a document that is given."""

    parts: tuple[object, ...]

    def document(self) -> Document:
        """The parts under a title."""
        return Document("a_b", self.parts)  # type: ignore[arg-type]


def test_tables_have_rules_and_no_character_is_obeyed() -> None:
    table = Table(("model", "acc. %"), [(Name("a_b & {c}"), "81.9 ± 4.8")], "by #1")
    assert latex_of(Document("", [table])) == "\n".join(
        [
            r"\begin{table}",
            r"\caption{by \#1}",
            r"\begin{tabular}{lr}",
            r"\toprule",
            r"model & acc. \% \\",
            r"\midrule",
            r"a\_b \& \{c\} & 81.9 $\pm$ 4.8 \\",
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def test_other_parts_are_lists_and_paragraphs() -> None:
    shown = Parts((Facts([("k", "1 < 2")]), Items(["~^\\"], "title"), "end"))
    assert shown.to_latex().split("\n\n") == [
        r"\paragraph{a\_b}",
        "\\begin{itemize}\n\\item k: 1 \\textless{} 2\n\\end{itemize}",
        "title",
        "\\begin{itemize}\n\\item "
        r"\textasciitilde{}\textasciicircum{}\textbackslash{}" + "\n\\end{itemize}",
        "end\n",
    ]


def test_lines_of_tables_are_rows_with_numbers() -> None:
    first = Table(("name", "n"), [("1", "2"), ("x", "-")], "first")
    second = Document("inner", [Table(("name", "m"), [("y", "0.5 ± 1")], "second")])
    assert Parts((first,)).to_rows() == [
        {"name": "1", "n": 2.0},
        {"name": "x", "n": None},
    ]
    frame = Parts((first, second)).to_pandas()
    assert frame["table"].tolist() == ["first", "first", "second"]
    assert frame["m"].tolist()[2] == "0.5 ± 1"
    assert frame["n"].isna().tolist() == [False, True, True]
    with pytest.raises(ValueError, match="no table"):
        Parts(("words",)).to_rows()


def test_ranks_are_a_data_frame() -> None:
    ranks = friedman_test({"nb": [0.8, 0.7], "tan": [0.7, 0.6], "kdb": [0.6, 0.5]})
    expected = pd.DataFrame({"model": ["nb", "tan", "kdb"], "mean rank": [1.0, 2, 3]})
    pd.testing.assert_frame_equal(ranks.to_pandas(), expected, check_dtype=False)
