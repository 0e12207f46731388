"""Ways of a table to a model's probabilities: containers, files, commands, scorers."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet

from bayleaf import load, predict_to_folder, to_sql
from bayleaf.cli import main
from bayleaf.cli.options import FormatOptions
from bayleaf.data.files.table_files import read_batches
from bayleaf.io.native.count_store import CountFile
from contract.written_tables import WrittenTable
from oracles.databases import run_duckdb
from oracles.running_scorers import node_answers, python_answers

Floats = Any
SIGNS = {"commas": ",", "semicolons": ";", "tabs": "\t", "bars": "|"}


def run(*words: object) -> str:
    """Run a command and return what it prints; ValueError with its message."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    if code:
        raise ValueError(err.getvalue().strip())
    return out.getvalue()


def probabilities_in(path: Path) -> Floats:
    """Those that a file of predictions contains."""
    names = ["probability_no", "probability_yes"]
    if path.suffix == ".parquet":
        cells = pa_parquet.read_table(path).select(names).to_pydict()
    else:
        # Numbers have the decimal sign of the file.
        table = pa.Table.from_batches(list(read_batches(str(path), FormatOptions())))
        texts = table.select(names).to_pydict()
        cells = {n: [text.replace(",", ".") for text in texts[n]] for n in names}
    return np.array([cells[name] for name in names], float).T


def probabilities_below(folder: Path) -> Floats:
    """Those of all parts of a folder, by name."""
    return np.vstack([probabilities_in(p) for p in sorted(folder.rglob("*.parquet"))])


def frames(columns: dict[str, Any], kind: Any) -> dict[str, Any]:
    """Columns as frames of every library; `kind` is Arrow's type of texts, if any."""
    arrow = pa.table({name: pa.array(v, kind) for name, v in columns.items()})
    objects = {name: pd.Series(v, dtype=object) for name, v in columns.items()}
    return {
        "arrow table": arrow,
        "record batch": arrow.combine_chunks().to_batches()[0],
        "pandas": pd.DataFrame(columns),
        "pandas objects": pd.DataFrame(objects),
        "pandas arrow": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.DataFrame(columns, strict=False),
    }


@dataclass
class Case:
    """A model file, a table that it is to read, and a folder for files."""

    path: Path
    rest: WrittenTable
    folder: Path

    @cached_property
    def model(self) -> Any:
        """The model of the file."""
        return load(self.path)

    @cached_property
    def expected(self) -> Floats:
        """The probabilities of each row by itself."""
        rows = [self.model.predict_proba([row]) for row in self.rest.records()]
        return np.vstack(rows)

    def containers(self) -> dict[str, Callable[[], Floats]]:
        """Probabilities of the texts in every container."""
        rest, read = self.rest, self.model.predict_proba
        found = frames(rest.texts, pa.string())
        frame, arrow = found["pandas"], found["arrow table"]
        cells = frame.to_numpy(object)

        def cast(kind: Any) -> pa.Table:
            columns = [column.cast(kind) for column in arrow.columns]
            return pa.table(columns, names=arrow.column_names)

        found |= {
            "large strings": cast(pa.large_string()),
            "string views": cast(pa.string_view()),
            "dictionaries": cast(pa.dictionary(pa.int32(), pa.string())),
            "pandas categories": frame.astype("category"),
            "polars categories": found["polars"].with_columns(
                pl.all().cast(pl.Categorical)
            ),
            "columns": rest.texts,
            "records": rest.records(),
            "turned records": [dict(reversed(r.items())) for r in rest.records()],
            "objects by position": cells,
            "lists by position": cells.tolist(),
            "strings by position": frame.to_numpy(str),
        }
        return {name: (lambda t=table: read(t)) for name, table in found.items()}

    def values(self) -> dict[str, Callable[[], Floats]]:
        """Probabilities of the values that the texts mean, in typed containers."""
        typed, read = self.rest.typed, self.model.predict_proba
        found = frames(typed, None)
        rows = [dict(zip(typed, cells, strict=True)) for cells in zip(*typed.values())]
        pa_parquet.write_table(found["arrow table"], self.folder / "typed.parquet")
        return {
            **{name: (lambda t=table: read(t)) for name, table in found.items()},
            "records": lambda: read(rows),
            "single records": lambda: np.vstack([read(row) for row in rows]),
            "Parquet": lambda: self.predicted("typed.parquet"),
        }

    def parts(self, rng: np.random.Generator) -> dict[str, Callable[[], Floats]]:
        """Probabilities of the rows in batches, in another order, next to others."""
        n, read = self.rest.n_rows, self.model.predict_proba
        frame = self.rest.frame()
        cuts = np.unique([0, 1, *rng.integers(1, n, 5).tolist(), n])
        order = rng.permutation(n)
        twice = pd.concat([frame, frame.iloc[order]])
        return {
            "series": lambda: np.vstack([read(row) for _, row in frame.iterrows()]),
            "frames of a row": lambda: np.vstack(
                [read(frame.iloc[i : i + 1]) for i in range(n)]
            ),
            "batches": lambda: np.vstack(
                [read(frame.iloc[a:b]) for a, b in pairwise(cuts)]
            ),
            "shuffled": lambda: read(frame.iloc[order])[np.argsort(order)],
            "next to others": lambda: read(twice)[:n],
        }

    def predicted(self, name: str, suffix: str = ".parquet") -> Floats:
        """Probabilities that ``bayleaf predict`` writes for a file."""
        output = self.folder / f"{name}.scored{suffix}"
        run("predict", self.path, self.folder / name, "-o", output)
        return probabilities_in(output)

    @cached_property
    def files(self) -> list[str]:
        """Names of files of the table with its class, in every format."""
        for name, sign in SIGNS.items():
            path = self.folder / f"{name}.csv"
            path.write_text(self.rest.csv(sign), encoding="utf-8", newline="")
        arrow = self.rest.arrow()
        pa_parquet.write_table(arrow, self.folder / "texts.parquet", row_group_size=7)
        coded = [c.dictionary_encode() for c in arrow.columns]
        table = pa.table(coded, names=arrow.column_names)
        pa_parquet.write_table(table, self.folder / "categories.parquet")
        return [
            *(f"{name}.csv" for name in SIGNS),
            "texts.parquet",
            "categories.parquet",
        ]

    def write_parts(self, sign: str = ",") -> Path:
        """The table in several files of one folder."""
        folder, n = self.folder / "parts", self.rest.n_rows
        folder.mkdir(exist_ok=True)
        cuts = [0, 1, 3, n // 2, n]
        for place, (a, b) in enumerate(pairwise(cuts)):
            part = self.rest.rows(range(a, b)).csv(sign)
            path = folder / f"part{place}.csv"
            path.write_text(part, encoding="utf-8", newline="")
        return folder

    def commands(self) -> dict[str, Callable[[], Floats]]:
        """Probabilities that commands and functions of files write."""
        found = {
            f"predict {name}": (lambda n=name: self.predicted(n)) for name in self.files
        }
        found["predict into CSV"] = lambda: self.predicted("commas.csv", ".csv")

        def into(name: str, write: Callable[[Path, Path], object]) -> Floats:
            output = self.folder / name
            write(self.write_parts(), output)
            return probabilities_below(output)

        found["predict a folder"] = lambda: into(
            "scored", lambda table, out: run("predict", self.path, table, "-o", out)
        )
        found["predict_to_folder"] = lambda: into(
            "scored in Python",
            lambda table, out: predict_to_folder(self.model, table, out),
        )
        return found

    def stream(self) -> Floats:
        """Probabilities of a stream of Arrow, written in stretches."""
        arrow = self.rest.arrow(label=False)
        path, output = self.folder / "rows.arrows", self.folder / "stretches"
        with pa_ipc.new_stream(path, arrow.schema) as writer:
            writer.write_table(arrow, max_chunksize=9)
        with pa_ipc.open_stream(path) as reader:
            predict_to_folder(self.model, reader, output, rows_per_file=25)
        return probabilities_below(output)

    def explained(self, name: str, n_rows: int) -> Floats:
        """Probabilities of the first rows as ``bayleaf explain`` prints them."""
        lines = [word for i in range(n_rows) for word in ("--line", i + 1)]
        out = run("explain", self.path, self.folder / name, "--json", *lines)
        found = []
        for row in json.loads(out):
            p = row["probability"]
            found.append([1 - p, p] if row["class"] == "yes" else [p, 1 - p])
        return np.array(found)

    def query(self) -> Floats:
        """Probabilities of the query of `to_sql` on a table of typed values.

        Times are those of the clock of training's zone.
        """
        rows = {"row of t": range(self.rest.n_rows), **self.rest.typed}
        arrays = {name: pa.array(cells) for name, cells in rows.items()}
        zoned = [n for n, a in arrays.items() if getattr(a.type, "tz", None)]
        table = pa.table(
            arrays | {name: pc.local_timestamp(arrays[name]) for name in zoned}
        )
        query = to_sql(self.model, table="t", dialect="duckdb", id_columns=["row of t"])
        found = run_duckdb(query, table).sort_values("row of t")
        return found[["probability_no", "probability_yes"]].to_numpy(float)

    def python_scorer(self) -> Floats:
        """Probabilities of the file in Python."""
        return self._answers(python_answers(self.model, self.rest.records()))

    def script_scorer(self) -> Floats:
        """Probabilities of the file in JavaScript."""
        return self._answers(node_answers(self.model, self.rest.records(), self.folder))

    def _answers(self, answers: list[dict[str, Any]]) -> Floats:
        for row, answer in zip(self.rest.records(), answers, strict=True):
            assert "error" not in answer, f"{answer['error']} ({row})"
        return np.array([[a["proba"]["no"], a["proba"]["yes"]] for a in answers])

    def printed(self, *words: object) -> dict[str, str]:
        """What a command prints of each file, which stands for an ellipsis."""
        found = {}
        for name in self.files:
            path = self.folder / name
            text = run(*[path if word is ... else word for word in words])
            found[name] = text.replace(str(path), "FILE").replace(name, "FILE")
        return found

    def pages(self) -> dict[str, str]:
        """Pages with the rows of each file to pick from."""
        found = {}
        for name in self.files:
            path = self.folder / "page.html"
            options = ("--title", "t", "--rows", self.folder / name, "-o", path)
            run("explore", self.path, *options)
            found[name] = path.read_text("utf-8")
        return found

    def counted(self, *names: str) -> tuple[str, ...]:
        """All counts of some files, added up by ``bayleaf counts``."""
        path = self.folder / "all.counts"
        run(
            "counts", *(self.folder / n for n in names), "--like", self.path, "-o", path
        )
        counts = CountFile.open(str(path))
        states = [v.states for v in counts.reading.domain]
        tables = counts.tables
        numbers = [tables.by_class, tables.pairs, *tables.families.values()]
        return (repr(states), *(repr(item.tolist()) for item in numbers))
