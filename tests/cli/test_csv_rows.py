"""Commands return a user's file as it is, with cells of their own in its dialect."""

from __future__ import annotations

import codecs
import csv
import io
import re
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bayleaf
from bayleaf.cli import main
from bayleaf.cli.options import FormatOptions
from bayleaf.data.files.table_files import read_batches
from offenders import check_each

Run = Callable[..., Any]
# Cells that a CSV file of a separator may have, in any style.
WILD = ['""', '"a""b"', '5" pipe', ' x "', '"q"z', "NA", "1,50", "007", "é", "=1+1"]
MORE = ['"two\nlines"', '"a;b,c"', "None", "?", " ", "1e5", "TRUE", '" NA "', "'", "—"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A classifier of one number and one text."""
    rows = [(i, "ab"[i % 2], "yes" if i > 20 else "no, or so") for i in range(40)]
    table = pa.table({"n": [r[0] + 0.5 for r in rows], "t": [r[1] for r in rows]})
    path = tmp_path / "model.json"
    made = bayleaf.NaiveBayesClassifier().fit(table, [r[2] for r in rows])
    made.save(path)
    return path


DIALECTS = {
    "semicolons and decimal commas": b"n;t;note\r\n1,5;a;NA\r\n30,5;b;1,50\r\n",
    "quoted": b'"n","t","note"\n"1.5","a","x"\n"30.5","b",""\n',
    "tabs and a mark": codecs.BOM_UTF8 + b"n\tt\tnote\n1.5\ta\t\xc3\xa9\n30.5\tb\t\n",
    "two marks": codecs.BOM_UTF8 * 2 + b"n,t\n1.5,a\n30.5,b\n",
    "two wide marks": codecs.BOM_UTF16_LE * 2 + "n,t\n1.5,a\n".encode("utf-16-le"),
    "Windows-1252": "n;t;note\r\n1,5;a;é\r\n30,5;b;€\r\n".encode("cp1252"),
    "UTF-16": codecs.BOM_UTF16_LE + "n\tt\tnote\r\n1.5\ta\té\r\n".encode("utf-16-le"),
    "UTF-16, other order": codecs.BOM_UTF16_BE + "n,t\n1.5,a\n".encode("utf-16-be"),
    "lone returns": b'n,t,note\r1.5,a,"x\ry"\r30.5,b,\r',
    "a separator at each end": b"n,t,\n1.5,a,\n30.5,b,\n",
    "a declared separator": b"sep=;\nn;t\n1,5;a\n30,5;b\n",
    "a title and a comment": b"Report of 2024\n# made by hand\nn,t,note\n1.5,a,x\n",
    "blanks": b'n t note\n1.5 a "x y"\n30.5 b z\n',
    "decimal commas in quotes": b'n,t\n"1,5",a\n"30,5",b\n',
    "no line end at the end": b"n,t\n1.5,a\n30.5,b",
    "blank lines": b"n,t\n1.5,a\n\n\n30.5,b\n",
}

ENCODINGS = {
    "tabs and a mark": "utf-8-sig",
    "two wide marks": "utf-16",
    "Windows-1252": "cp1252",
    "UTF-16": "utf-16",
    "UTF-16, other order": "utf-16",
}


def test_predict_keeps_the_dialect_of_a_file(
    run: Run, model: Path, tmp_path: Path
) -> None:
    def check(name: str) -> None:
        content, out = DIALECTS[name], tmp_path / "out.csv"
        (tmp_path / "in.csv").write_bytes(content)
        encoding = ENCODINGS.get(name, "utf-8")
        words = ["--encoding", encoding] if encoding == "cp1252" else []
        words += ["--sep", "blank"] if name == "blanks" else []
        done = run("predict", model, tmp_path / "in.csv", "-o", out, *words)
        assert (done.code, done.err) == (0, "")
        got = out.read_bytes()
        assert got[:2] == content[:2]
        text, written = content.decode(encoding), got.decode(encoding)
        for line in filter(None, text.replace('"x\ry"', "").splitlines()):
            assert line.rstrip(",") in written
        assert ("\r\n" in text) == ("\r\n" in written)
        assert ("\n" in text) == ("\n" in written)
        # With other names of the added columns, the file is predicted once more.
        renamed = written.replace("prediction", "was").replace("probability", "had")
        (tmp_path / "again.csv").write_bytes(renamed.encode(encoding))
        again = run("predict", model, tmp_path / "again.csv", "-o", out, *words)
        assert again.code == 0, again.err

    check_each(DIALECTS, check)


LINES = {
    "title, comment and units": b"Report\n\n# by hand\nn,t\n\n(kg),(a)\n1.5,a\n3.5,b",
    "blank lines and ends": b"n,t\n\n1.5,a\n\n\n30.5,b\r\n2.5,b\n\n",
    "copies and notes": b"n,t\n1.5,a\nn,t\n2.5,b\nn,t\n\nSource: x\n\n* z, y, x",
    "notes below a quote": b'n,t\n1.5,"a\nb"\n\n2.5,b\nSource: x\n',
}


def test_lines_that_are_not_rows_stay_where_they_are(
    run: Run, model: Path, tmp_path: Path
) -> None:
    def check(name: str) -> None:
        (tmp_path / "in.csv").write_bytes(LINES[name])
        out = tmp_path / "out.csv"
        words = ("-o", out, "--no-probabilities")
        done = run("predict", model, tmp_path / "in.csv", *words)
        assert done.code == 0, done.err
        got = out.read_bytes()
        added = rb',(prediction|yes|"no, or so")(?=\r?$)'
        plain = re.sub(b"(?m)" + added, b"", got).replace(b"(a),\n", b"(a)\n")
        head, _, rest = LINES[name].partition(b"n,t\n")
        # Lines that repeat the header are left out.
        assert plain == head + b"n,t\n" + rest.replace(b"n,t\n", b""), got
        read = [
            pa.Table.from_batches(
                list(read_batches(str(path), FormatOptions()))
            ).select(["n", "t"])
            for path in (tmp_path / "in.csv", out)
        ]
        assert read[0].equals(read[1])

    check_each(LINES, check)


def test_columns_of_fixed_width_stay_aligned(
    run: Run, model: Path, tmp_path: Path
) -> None:
    content = "  n  t\n 1.5 a\n30.5 'b'  \n NA  a\n"
    (tmp_path / "in.txt").write_text(content.replace("'", '"'), "utf-8")
    words = ("-o", tmp_path / "out.txt", "--no-probabilities")
    done = run("predict", model, tmp_path / "in.txt", *words)
    assert done.code == 0, done.err
    assert (tmp_path / "out.txt").read_text("utf-8") == (
        "  n  t     prediction\n"
        ' 1.5 a     "no, or so"\n'
        '30.5 "b"   yes\n'
        ' NA  a     "no, or so"\n'
    )
    done = run("impute", model, tmp_path / "in.txt")
    full = done.out.splitlines()
    assert done.code == 0, done.err
    assert full[:3] == content.replace("'", '"').splitlines()[:3]
    assert full[3] == "10.5 a"


def test_added_cells_are_written_as_the_file_writes_its_own(
    run: Run, model: Path, tmp_path: Path
) -> None:
    def lines(content: bytes) -> list[str]:
        (tmp_path / "in.csv").write_bytes(content)
        done = run("predict", model, tmp_path / "in.csv")
        assert done.code == 0, done.err
        return list(done.out.splitlines())

    german = lines(b"n;t\n1,5;a\n")
    assert german[0] == "n;t;prediction;probability_no, or so;probability_yes"
    assert german[1].startswith("1,5;a;no, or so;0,")
    assert lines(b'n,t\n"1,5",a\n')[1].startswith('"1,5",a,"no, or so","0,')
    assert lines(b'"n","t"\n1.5,"a"\n')[1].startswith('1.5,"a","no, or so",0.')
    assert lines(b'"n","t"\n"1.5","a"\n')[1].startswith('"1.5","a","no, or so","0.')
    rows = list(csv.reader(lines(b"n|t\n1.5|a\n"), delimiter="|"))
    want = bayleaf.load(model).predict_proba(pa.table({"n": [1.5], "t": ["a"]}))[0]
    assert [float(cell) for cell in rows[1][3:]] == list(want)


def test_a_label_outside_the_encoding_is_refused_in_a_sentence(
    run: Run, tmp_path: Path
) -> None:
    model, out = tmp_path / "m.json", tmp_path / "out.csv"
    X = pa.table({"n": [1.5, 2.5] * 5})
    bayleaf.NaiveBayesClassifier().fit(X, ["日", "b"] * 5).save(model)
    (tmp_path / "in.csv").write_bytes("n;é\n1,5;é\n".encode("cp1252"))
    words = [model, tmp_path / "in.csv", "-o", out, "--encoding", "cp1252"]
    done = run("predict", *words)
    assert done.code == 2
    assert "'日'" in done.err
    assert "cp1252" in done.err
    assert not out.exists()


def test_impute_changes_only_the_cells_that_it_fills(run: Run, tmp_path: Path) -> None:
    network = bayleaf.BayesianNetwork.from_tables(
        states={"wet": ["no", "y;s"], "hot": [False, True]},
        tables={"wet": [0.1, 0.9], "hot": [0.2, 0.8]},
    )
    bayleaf.write_network(network, tmp_path / "n.json")
    content = 'id;"wet";hot;x\r\n"007";no; FALSE ;"1,5"\r\n8;;NA;NA\r\n'
    (tmp_path / "in.csv").write_bytes(content.encode("utf-8-sig"))
    words = [tmp_path / "n.json", tmp_path / "in.csv", "-o", tmp_path / "out.csv"]
    assert run("impute", *words).code == 0
    want = content.replace("8;;NA;", '8;"y;s";TRUE;')
    assert (tmp_path / "out.csv").read_bytes() == want.encode("utf-8-sig")


@st.composite
def files(draw: st.DrawFn) -> tuple[str, list[list[str]], str, str]:
    """A separator, rows of cells as written, line ends and encoding."""
    sign = draw(st.sampled_from([",", ";", "\t", "|"]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16"]))
    width = draw(st.integers(0, 3))
    free = st.text(st.characters(codec="cp1252", exclude_characters="\0\r\n\"'"))
    cell = st.one_of(st.sampled_from([*WILD, *MORE]), free)
    cell = cell.filter(lambda text: text.startswith('"') or sign not in text)
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        number = draw(st.sampled_from(["1.5", '"30.5"', "NA", "", '" 2 "']))
        text = draw(st.sampled_from(["a", '"b"', "", "x y"]))
        rows.append([number, text, *(draw(cell) for _ in range(width))])
    return sign, rows, end, encoding


@settings(max_examples=25, deadline=None)
@given(file=files())
def test_no_cell_of_a_file_changes(
    file: tuple[str, list[list[str]], str, str],
) -> None:
    sign, rows, end, encoding = file
    header = ["n", "t", *(f"c{i}" for i in range(len(rows[0]) - 2))]
    lines = [sign.join(cells) for cells in (header, *rows)]
    content = end.join([*lines, ""]).encode(encoding)
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "in.csv", Path(folder) / "out.csv"
        model = Path(folder) / "m.json"
        X = pa.table({"n": [1.5, 30.5] * 10, "t": ["a", "b"] * 10})
        bayleaf.NaiveBayesClassifier().fit(X, ["p", "q"] * 10).save(model)
        path.write_bytes(content)
        named = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
        words = ["predict", str(model), str(path), "-o", str(out), "--sep"]
        words += [word for word, own in named.items() if own == sign]
        words += ["--encoding", encoding] if encoding == "cp1252" else []
        messages = io.StringIO()
        with redirect_stderr(messages):
            code = main(words)
        # Of an odd number of quotes one seems to be open.
        assume("not closed properly" not in messages.getvalue())
        assert code == 0, messages.getvalue()
        got = out.read_bytes()
    text = got.decode(encoding)
    assert text.count(sign + "prediction") == 1
    place = 0
    for line in lines:
        # Each row is there as it was, followed by the cells that were added.
        assert text.startswith(line + sign, place), (line, text)
        place = text.index(end, place + len(line)) + len(end)
    assert place == len(text)


def test_impute_keeps_types_and_metadata_of_parquet(run: Run, tmp_path: Path) -> None:
    network = bayleaf.BayesianNetwork.from_tables(
        states={"wet": ["no", "yes"]}, tables={"wet": [0.1, 0.9]}
    )
    bayleaf.write_network(network, tmp_path / "n.json")
    fields = [
        pa.field("wet", pa.dictionary(pa.int8(), pa.string()), metadata={"a": "b"}),
        pa.field("d", pa.dictionary(pa.int16(), pa.large_string()), nullable=False),
        pa.field("nested", pa.list_(pa.int8())),
    ]
    schema = pa.schema(fields, metadata={"source": "field"})
    rows = [{"wet": "no", "d": "x", "nested": [1]}, {"d": "y", "nested": None}]
    pa_parquet.write_table(pa.Table.from_pylist(rows, schema), tmp_path / "in.parquet")
    words = [tmp_path / "in.parquet", "-o", tmp_path / "out.parquet"]
    assert run("impute", tmp_path / "n.json", *words).code == 0
    read, got = (pa_parquet.read_table(words[i]) for i in (0, 2))
    assert got.schema.equals(read.schema, check_metadata=True)
    assert got.column("wet").to_pylist() == ["no", "yes"]
    assert got.drop_columns("wet").equals(read.drop_columns("wet"))


def test_parquet_keeps_types_dictionaries_and_metadata(
    run: Run, model: Path, tmp_path: Path
) -> None:
    fields = [
        pa.field("n", pa.float64(), nullable=False, metadata={"unit": "cm"}),
        pa.field("t", pa.dictionary(pa.int16(), pa.string())),
        pa.field("when", pa.timestamp("ms", "Europe/Paris")),
        pa.field("nested", pa.list_(pa.int8())),
        pa.field("money", pa.decimal128(9, 2)),
    ]
    schema = pa.schema(fields, metadata={"source": "field"})
    rows = [{"n": 1.5, "t": "a", "when": 0, "nested": [1, 2], "money": 3}]
    table = pa.Table.from_pylist(rows * 3, schema)
    pa_parquet.write_table(table, tmp_path / "in.parquet")
    words = [tmp_path / "in.parquet", "-o", tmp_path / "out.parquet"]
    done = run("predict", model, *words)
    assert done.code == 0, done.err
    got = pa_parquet.read_table(tmp_path / "out.parquet")
    kept = got.select(table.column_names)
    read = pa_parquet.read_table(tmp_path / "in.parquet")
    assert kept.schema.equals(read.schema, check_metadata=True)
    assert kept.equals(read)
    assert got.column_names[-3] == "prediction"
