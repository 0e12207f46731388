"""ARFF files are read as they declare their columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bayleaf.cli.options import FormatOptions
from bayleaf.cli.table_reading import read_table
from bayleaf.data.files.table_files import read_batches
from offenders import check_each

Run = Callable[..., Any]
HEAD = r"""% made by hand
@RELATION 'a table'

@attribute 'the score' REAL
@Attribute code {101, 102,'None'} % codes
@attribute note string
@attribute day date "dd/MM/yyyy HH:mm"
@attribute class {p,'q q'}
@DATA
"""
CODES = ["101", "102", "None"]
ROWS = [
    f"{i * 1.5 if i % 9 else '?'},{CODES[i % 3]},'it\\'s, {i % 4}',"
    f"{i % 28 + 1:02}/{i % 12 + 1:02}/2020 10:{i:02}," + ["p", '"q q"'][i // 20]
    for i in range(40)
]


def arff(*rows: str, head: str = HEAD) -> str:
    """A file of some rows."""
    return head + "\n".join(rows) + "\n"


def test_columns_are_what_the_file_declares(run: Run, tmp_path: Path) -> None:
    source, model = tmp_path / "t.arff", tmp_path / "m.json"
    source.write_text(arff(*ROWS[:7], "", "% a comment", *ROWS[7:]))
    done = run("check", source, "--target", "class", "--json")
    facts = {c["name"]: c for c in json.loads(done.out)["columns"]}
    assert facts["the score"]["read_as"] == "numeric"
    assert facts["the score"]["n_missing"] == 5
    assert (facts["code"]["read_as"], facts["code"]["n_distinct"]) == ("nominal", 3)
    assert facts["code"]["states"] == CODES
    assert facts["note"]["states"][0] == "it's, 0"
    assert facts["day"]["read_as"] == "date"
    fit = ["fit", source, "--target", "class", "--model", "nb", "-o", model]
    outputs = []
    for more in ([], ["--memory", "500MB"]):
        assert run(*fit, *more).code == 0
        outputs.append(run("predict", model, source).out)
        assert run("audit", model, source, "--by", "code").code == 0
    assert outputs[0] == outputs[1]
    assert outputs[0].splitlines()[3].startswith('3.0,None,"it\'s, 2"')


def test_both_ways_to_read_agree(tmp_path: Path) -> None:
    source = tmp_path / "t.arff"
    source.write_text("\ufeff" + arff(*ROWS).replace("\n", "\r\n"), "utf-8")
    whole = read_table(str(source))
    batch = pa.Table.from_batches(read_batches(str(source), FormatOptions()))
    assert whole.column_names == batch.column_names
    for name in ("code", "note", "class"):
        assert whole.column(name).to_pylist() == batch.column(name).to_pylist()
    assert whole.column("class").to_pylist() == ["p"] * 20 + ["q q"] * 20


def test_sparse_rows_leave_out_zeros_and_first_categories(tmp_path: Path) -> None:
    source = tmp_path / "t.arff"
    head = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"
    source.write_text(arff("{0 5, 1 y}", "{}", "{1 y}", "{0 ?}", head=head))
    table = read_table(str(source)).to_pydict()
    assert table == {"a": [5, 0, 0, None], "b": ["y", "x", "y", "x"]}


REFUSED = {
    "line 12 of": (arff(*ROWS[:2], "1,101,a"), "has 3 cells for 5 attributes"),
    "line 10 of": (arff("1,103,a,01/01/2020 10:00,p"), "'103' in column 'code'"),
    "line 3 of": ("@relation r\n\n@attribute a relational\n@data\n1\n", "relational"),
    "line 2 of": ("@relation r\n@attribute\n@data\n1\n", "declares no attribute"),
    "line 4 of": (
        "@relation r\n@attribute a real\n@data\n{1 2}\n",
        "has the sparse cell '1 2'",
    ),
    "line 5 of": (
        "@relation r\n@attribute a string\n@data\n'x'\n'y\n",
        "has a quote that is not closed",
    ),
    "without @data": ("@relation r\n@attribute a real\n", "add its rows"),
    "without @attribute": ("@relation r\n@data\n1\n", "declare columns"),
    "t.arff has no rows": (arff(), "add at least one"),
    "several columns called a": (
        "@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n",
        "a name of its own",
    ),
}


def test_errors_name_the_line(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "t.arff"

    def check(where: str) -> None:
        content, problem = REFUSED[where]
        source.write_text(content)
        done = run("check", source)
        assert (done.code, done.err.count("\n")) == (2, 1), done
        assert where in done.err, done.err
        assert problem in done.err, done.err

    check_each(REFUSED, check, repr)
    source.write_text(arff(*ROWS))
    assert "leave out --no-header" in run("check", source, "--no-header").err


@pytest.mark.parametrize("kind", ["yyyy-MM-dd'T'HH:mm:ss", "MM/dd/yy", "QQQ"])
def test_dates_have_the_declared_format(tmp_path: Path, kind: str) -> None:
    source = tmp_path / "t.arff"
    cell = {"y": "2020-03-04T05:06:07", "M": "03/04/20", "Q": "odd"}[kind[0]]
    head = f'@relation r\n@attribute a date "{kind}"\n@attribute b real\n@data\n'
    source.write_text(arff(f"'{cell}',007.5", f"{cell},1", head=head))
    (day, again), numbers = read_table(str(source)).to_pydict().values()
    expected = {"y": "2020-03-04 05:06:07", "M": "2020-03-04 00:00:00", "Q": "odd"}
    assert day == again == expected[kind[0]]
    assert numbers == [7.5, 1]
