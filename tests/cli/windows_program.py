"""Run every command, in one process that looks like Windows, and look at what is left.

    python tests/cli/windows_program.py FOLDER

prints a line for each step that went wrong. Names and values hold letters beyond ASCII,
and signs that cp1252, the encoding of the streams, lacks.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import json
import os
import shlex
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ in {"__main__", "__mp_main__"}:
    # Processes that a command spawns run this file too.
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from oracles.simulated_windows import install

    install()

TABLE = Path("données ≤.csv")
N_ROWS = 60
SIZES = ("petite", "très grande", "≤ 10")
SIGNS = ("α", "β ≥ γ", "😀")
CLASSES = ("sain", "très malade ≥ 3")
# What a program prints for people, as a file, or as JSON.
TEXT, UTF_8, JSON_TEXT = "text", "utf-8", "json"
APPEND = "bayleaf.streams.spilling:SpilledTable.append"
ENCODE = "bayleaf.cli.table_reading:encode_batch"
Reader = Callable[[Path], object]


@dataclass
class Step:
    """A command and what it should do.

    Parameters
    ----------
    line : str
        The command line, without the program.
    written : dict
        What it writes, and how that is read back.
    shown : tuple of str
        Texts on standard output.
    code : int
        Its exit code.
    output : str
        What standard output is: TEXT, UTF_8 or JSON_TEXT, as with --json.
    piped : bool
        Whether standard input is the table.
    interrupted : str, optional
        The function in whose second call Ctrl-C is pressed.
    held : str, optional
        A file that is open meanwhile.
    """

    line: str
    written: dict[str, Reader] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    code: int = 0
    output: str = TEXT
    piped: bool = False
    interrupted: str | None = None
    held: str | None = None

    @property
    def words(self) -> list[str]:
        """The words of the command line."""
        return shlex.split(self.line)


def steps() -> list[Step]:
    """Steps in order: later ones read what earlier ones wrote."""
    table, tan = "'données ≤.csv'", "'tan é.json'"
    data = f"{table} --target état"
    stored = f"fit {data} --model tan --store 'codes é'"
    scored = f"{data} --folds 2"
    networks = ("json", "bif", "net", "xdsl", "xml", "uai", "bif.gz", "net.bz2")
    exports = {
        "sql": query,
        "py": scorer,
        "mjs": script,
        "onnx": operators,
    }
    return [
        Step("--version", shown=("bayleaf ",)),
        Step("--help", shown=("Commands", "reproduce")),
        Step("fit --help", shown=("--density",)),
        # Tables and models.
        Step(f"check {data}", shown=("âge", "Größe", "Ελλ")),
        Step("check - --target état --json", shown=('"âge"',), piped=True),
        Step(f"fit {data} --model tan -o {tan}", {"tan é.json": model}),
        Step(f"fit {data} --model nb -o nb.json --json", shown=('"Ελλάδα"',)),
        Step(
            "fit - --target état --model nb -o nb.json", {"nb.json": model}, piped=True
        ),
        Step(
            "fit cp1252.csv --target état --encoding cp1252 --sep semicolon "
            "--decimal , --model nb -o c.json",
            {"c.json": model},
            ("âge",),
        ),
        Step(
            f"fit {data} --model hnb --search significance -o h.json", {"h.json": model}
        ),
        Step(f"fit {data} --model auto --n-networks 2 -o a.json", {"a.json": model}),
        Step(f"fit {data} --model kdb --tiers tiers.txt -o k.json", {"k.json": model}),
        Step(
            f"fit {table} --target âge --n-networks 2 -o âge.json", {"âge.json": model}
        ),
        Step(f"fit {table} --density -o réseau.json", {"réseau.json": model}),
        Step(f"{stored} -o s.json", code=130, interrupted=APPEND),
        Step(f"{stored} -o s.json", {"codes é": store, "s.json": model}),
        Step(f"{stored} -o s.json", {"s.json": model}),
        Step("fit fichiers --target état --model nb -o f.json", {"f.json": model}),
        Step(
            "fit fichiers/*.csv --target état --memory 1GB -o f.json", {"f.json": model}
        ),
        # Predictions.
        Step(f"predict {tan} {table} -o p.csv", {"p.csv": scored_csv}),
        Step(f"predict {tan} {table} -o p.parquet", {"p.parquet": scored_parquet}),
        Step("predict a.json -", shown=("Ελλάδα",), piped=True, output=UTF_8),
        Step(f"predict âge.json {table} -o q.csv", {"q.csv": csv_rows}),
        Step(f"predict {tan} fichiers -o prédits", code=130, interrupted=ENCODE),
        Step(
            f"predict {tan} fichiers -o prédits",
            {
                "prédits/un é.parquet": scored_parquet,
                "prédits/sous/deux.parquet": scored_parquet,
            },
        ),
        Step(f"predict {tan} fichiers -o prédits"),
        # A file may be read and replaced by one command.
        Step("predict nb.json copie.csv -o copie.csv", {"copie.csv": scored_csv}),
        Step(
            "predict nb.json copie.parquet -o copie.parquet",
            {"copie.parquet": scored_parquet},
        ),
        # Where a file cannot be replaced, the result is next to it.
        Step(
            f"predict {tan} {table} -o p.csv",
            {"p.csv": scored_csv, "p.new.csv": scored_csv},
            code=2,
            held="p.csv",
        ),
        # Figures.
        Step(f"evaluate {scored} --model nb", shown=("nb",)),
        Step(f"evaluate {scored} --model nb --json", shown=("{",)),
        Step(f"compare {scored} --models nb,tan --loss coûts.csv", shown=("tan",)),
        Step(f"compare {scored} --models nb,tan --json", shown=("très malade ≥ 3",)),
        Step(f"compare {scored} --models nb,tan --csv -", shown=("tan",), output=UTF_8),
        Step(
            f"audit {tan} {table} --by Größe --folds 2 -o a.html --picture a.svg",
            {"a.html": page, "a.svg": picture},
            ("très grande",),
        ),
        Step(f"audit {tan} {table} --by Größe --json", shown=('"très grande"',)),
        # What a model says.
        Step(f"inspect {tan}", shown=("âge", "Größe")),
        Step(f"inspect {tan} --table Ελλάδα", shown=("très malade",)),
        Step(f"inspect {tan} --table Ελλάδα --json", shown=('"Ελλάδα = α"',)),
        Step(f"inspect {tan} --structure dot", shown=('"Ελλάδα"',), output=UTF_8),
        Step(f"inspect {tan} --importance {table}", shown=("Größe",)),
        Step("inspect a.json --shape âge", shown=("âge",)),
        Step("inspect h.json --rules"),
        Step("inspect réseau.json --structure dot", shown=('"Größe"',), output=UTF_8),
        Step(f"explain {tan} {table} --counterfactuals 2", shown=("Größe",)),
        Step(f"explain {tan} {table} --json", shown=('"Größe"',)),
        Step(f"explain {tan} {table} --robustness"),
        Step(f"explain âge.json {table}", shown=("Größe",)),
        Step(
            f"report {tan} {table} --folds 2 -o r.html --card carte.md",
            {"r.html": page, "carte.md": card},
        ),
        Step(f"report {tan} {table} --folds 2 --json", shown=('"Größe"',)),
        Step(f"explore {tan} --rows {table} -o é.html", {"é.html": page}, ("é.html",)),
        Step(f"explore nb.json --edit {table}", shown=(".html",)),
        # Networks.
        Step("query réseau.json --given 'Größe=très grande'", shown=("malade",)),
        Step("query réseau.json --given Größe=petite --json", shown=('"β ≥ γ"',)),
        Step("query réseau.json --probability 'âge > 50 and Größe = petite'"),
        Step("query réseau.json --most-probable", shown=("âge",)),
        Step("decide pétrole.xdsl", shown=("drill",)),
        Step("sample réseau.json -n 60 -o s.csv", {"s.csv": csv_rows}),
        Step(
            "sample réseau.json -n 60 --numbers -o s.parquet",
            {"s.parquet": parquet_rows},
        ),
        Step("sample réseau.json -n 60", shown=("Ελλάδα",), output=UTF_8),
        Step(f"impute réseau.json {table} -o plein.csv", {"plein.csv": csv_rows}),
        Step("impute réseau.json -", shown=("Ελλάδα",), piped=True, output=UTF_8),
        *(
            Step(f"convert réseau.json 'net é.{suffix}'", {f"net é.{suffix}": network})
            for suffix in networks
        ),
        Step("convert 'net é.bif.gz' 'net é.bif.gz'", {"net é.bif.gz": network}),
        Step("convert réseau.json net.dot", {"net.dot": graph}),
        Step("convert nb.json nb.pmml", {"nb.pmml": xml}),
        # Programs of other systems.
        *(
            Step(f"export {tan} -o tan.{suffix}", {f"tan.{suffix}": reader})
            for suffix, reader in exports.items()
        ),
        # Counts.
        Step(
            f"counts {table} --like {tan} -o un.counts", {"un.counts": counts}, ("60",)
        ),
        Step(
            "counts un.counts un.counts -o deux.counts --json", {"deux.counts": counts}
        ),
        Step("counts un.counts -o un.counts", {"un.counts": counts}),
        Step("fit deux.counts --model tan -o d.json", {"d.json": model}),
        Step(
            f"drift {tan} {table} --picture écart.png",
            {"écart.png": picture},
            ("Größe",),
        ),
        # Value hierarchies.
        Step(
            f"hierarchy learn {table} --drop état -o groupes.json",
            {"groupes.json": hierarchies},
        ),
        Step(
            f"hierarchy learn {table} --drop état", shown=('"Größe"',), output=JSON_TEXT
        ),
        Step(f"hierarchy check groupes.json {table}", shown=("Größe",)),
        Step(
            f"fit {table} --density --hierarchies groupes.json --local-structure tree "
            "-o arbre.json",
            {"arbre.json": model},
        ),
        # Papers and the shipped table.
        Step(
            "reproduce sahami1996 --quick --jobs 2 --output papier",
            {"papier/sahami1996.csv": text, "papier/sahami1996.md": text},
        ),
        Step(
            "reproduce sahami1996 --quick --output papier",
            {"papier/sahami1996.md": text},
        ),
        Step("demo -o démo.html", {"démo.html": page}, ("log-odds",)),
        # What cannot be done is said in a sentence.
        Step(f"predict {tan} 'absente é.csv'", code=2),
        Step(f"fit {table} --target Größ -o nb.json", code=2),
        Step(f"predict {tan} {table} -o quoi?.csv", code=2),
    ]


# ---- how files are read back


def model(path: Path) -> object:
    """A model, whose names are those of the table."""
    from bayleaf import load

    return load(path)


def network(path: Path) -> object:
    """A network of all columns."""
    from bayleaf.io import read_network

    found = read_network(path)
    assert len(found.domain) == 4
    return found


def store(path: Path) -> object:
    """Codes of all rows."""
    from bayleaf.data.code_store import CodeStore

    found = CodeStore.open(path)
    assert found.n_rows == N_ROWS
    return found.read(range(N_ROWS))


def counts(path: Path) -> object:
    """Counts of the table."""
    from bayleaf.io.native.count_store import CountFile

    return CountFile.open(path)


def csv_rows(path: Path) -> Any:
    """A table in CSV, whole and in UTF-8."""
    import pyarrow.csv as pa_csv

    parse = pa_csv.ParseOptions(newlines_in_values=True)
    table = pa_csv.read_csv(path, parse_options=parse)
    assert table.num_rows == N_ROWS
    assert "Ελλάδα" in table.column_names
    return table


def scored_csv(path: Path) -> None:
    """Predictions in CSV."""
    assert set(csv_rows(path)["prediction"].to_pylist()) <= set(CLASSES)


def parquet_rows(path: Path) -> Any:
    """A table in Parquet."""
    import pyarrow.parquet as pa_parquet

    with path.open("rb") as file:
        table = pa_parquet.read_table(file)
    assert table.num_rows
    assert "Ελλάδα" in table.column_names
    return table


def scored_parquet(path: Path) -> None:
    """Predictions in Parquet."""
    assert set(parquet_rows(path)["prediction"].to_pylist()) <= set(CLASSES)


def text(path: Path) -> str:
    """A text in UTF-8, with something in it."""
    found = path.read_bytes().decode()
    assert found.strip()
    return found


def page(path: Path) -> None:
    """A page that has an end."""
    assert text(path).rstrip().endswith("</html>")


def card(path: Path) -> None:
    """A model card."""
    assert "Größe" in text(path)


def picture(path: Path) -> None:
    """A picture that has an end."""
    end = b"</svg>" if path.suffix == ".svg" else b"IEND\xaeB`\x82"
    assert path.read_bytes().rstrip().endswith(end)


def xml(path: Path) -> None:
    """An XML file with the names of the table."""
    from xml.etree import ElementTree

    assert "Größe" in ElementTree.tostring(ElementTree.parse(path).getroot(), "unicode")


def graph(path: Path) -> None:
    """A drawing for Graphviz."""
    assert '"Ελλάδα"' in text(path)


def hierarchies(path: Path) -> None:
    """Value hierarchies of the columns."""
    assert "Größe" in json.loads(text(path))


def query(path: Path) -> None:
    """A query whose predictions are those of the model."""
    assert "Größe" in text(path)


def script(path: Path) -> None:
    """An ES module."""
    assert "export" in text(path)


def operators(path: Path) -> None:
    """A graph of operators."""
    import onnx

    onnx.checker.check_model(onnx.load(path))


def scorer(path: Path) -> None:
    """A Python file that scores the table, run as a program in the same streams."""
    import subprocess

    from oracles.simulated_windows import ENCODING

    done = subprocess.run(
        [sys.executable, str(path)],
        input=TABLE.read_bytes(),
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": ENCODING},
        check=True,
    )
    lines = done.stdout.decode().splitlines()
    assert len(lines) == N_ROWS + 1
    assert any("très malade ≥ 3" in line for line in lines[1:])


# ---- the table, and running


def write_inputs() -> None:
    """Write the table and the other files that steps read into the current folder."""
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pa_parquet

    from oracles.decision_problems import oil_wildcatter

    rows = []
    for i in range(N_ROWS):
        sick = i % 3 == 0
        age = 30 + (i * 7) % 40 + 10 * sick
        size = "" if i % 17 == 0 else SIZES[(i // 3 + sick) % 3]
        rows.append(f"{age},{size},{SIGNS[(i // 2 + 2 * sick) % 3]},{CLASSES[sick]}\n")
    head = "âge,Größe,Ελλάδα,état\n"
    content = head + "".join(rows)
    # As Windows programs write it: a mark in front, and CR LF at the ends of lines.
    TABLE.write_bytes(b"\xef\xbb\xbf" + content.replace("\n", "\r\n").encode())
    Path("copie.csv").write_bytes(TABLE.read_bytes())
    pa_parquet.write_table(pa_csv.read_csv("copie.csv"), "copie.parquet")
    old = "âge;taille;état\r\n" + "".join(
        f"{i % 9},5;{'très' if i % 3 else 'été'};{'oui' if i % 2 else 'non'}\r\n"
        for i in range(N_ROWS)
    )
    Path("cp1252.csv").write_bytes(old.encode("cp1252"))
    Path("tiers.txt").write_bytes("âge\r\nGröße,Ελλάδα\r\n".encode())
    Path("coûts.csv").write_bytes(
        f",{CLASSES[0]},{CLASSES[1]}\r\n{CLASSES[0]},0,1\r\n{CLASSES[1]},5,0\r\n".encode()
    )
    oil_wildcatter().save("pétrole.xdsl")
    parts = Path("fichiers", "sous")
    parts.mkdir(parents=True)
    parts.joinpath("deux.csv").write_bytes((head + "".join(rows[:30])).encode())
    parts.parent.joinpath("un é.csv").write_bytes((head + "".join(rows[30:])).encode())


@contextlib.contextmanager
def streams(piped: bytes = b"") -> Iterator[tuple[Callable[[], bytes], ...]]:
    """Replace the standard streams by pipes; give what was written to two of them."""
    from oracles.simulated_windows import piped_streams

    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, out, err = piped_streams(piped)
    sys.stdout, sys.stderr = out, err

    def written(stream: Any) -> Callable[[], bytes]:
        def get() -> bytes:
            stream.flush()
            return bytes(stream.buffer.getvalue())

        return get

    try:
        yield written(out), written(err)
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def run_in_pipes(words: list[str], folder: Path) -> tuple[int, bytes, str]:
    """Run a command line in a folder; its exit code, output and messages."""
    from bayleaf.cli import main
    from oracles.simulated_windows import ENCODING

    with contextlib.chdir(folder), streams() as (out, err):
        code = main(words)
    return code, out(), err().decode(ENCODING)


def run(step: Step) -> None:
    """Run a command; raise AssertionError if what it leaves is not as it should be."""
    from bayleaf.cli import main
    from oracles.simulated_windows import ENCODING

    piped = TABLE.read_bytes() if step.piped else b""
    with (
        streams(piped) as (out, err),
        interrupted(step.interrupted),
        open(step.held or os.devnull, "rb"),
    ):
        code = main(step.words)
    shown, told = out(), err().decode(ENCODING)
    assert code == step.code, f"{code}: {told}"
    assert "Traceback" not in told, told
    assert code == 0 or told.count("bayleaf: ") == 1, told
    output = JSON_TEXT if "--json" in step.words else step.output
    if output == UTF_8:
        seen = shown.decode()
    elif output == JSON_TEXT:
        # Programs read JSON as UTF-8, which ASCII is too.
        seen = json.dumps(json.loads(shown.decode()), ensure_ascii=False)
    else:
        seen = shown.decode(ENCODING)
        assert seen.count("\r\n") == seen.count("\n"), "mixed ends of lines"
    for wanted in step.shown:
        if output == TEXT:
            # Escapes stand for what the encoding lacks.
            wanted = wanted.encode(ENCODING, "backslashreplace").decode(ENCODING)
        assert wanted in seen, f"{wanted!r} is not in {seen}"
    for name, reader in step.written.items():
        reader(Path(name))
    if not step.interrupted:
        left = list(Path.cwd().rglob("*.part*"))
        assert not left, left


@contextlib.contextmanager
def interrupted(place: str | None) -> Iterator[None]:
    """Press Ctrl-C at the second call of a function, such as package.module:name."""
    if place is None:
        yield
        return
    module, _, name = place.partition(":")
    owner: Any = importlib.import_module(module)
    *above, name = name.split(".")
    for part in above:
        owner = getattr(owner, part)
    plain, calls = getattr(owner, name), itertools.count(1)

    def pressed(*arguments: Any, **named: Any) -> Any:
        if next(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return plain(*arguments, **named)

    setattr(owner, name, pressed)
    try:
        yield
    finally:
        setattr(owner, name, plain)


def lessen_work() -> None:
    """Let the longest commands compare one model and reproduce two cells."""
    import webbrowser

    from bayleaf import evaluation
    from bayleaf.reproduction import sahami1996
    from bayleaf.streams import batch_sources, spilling

    batch_sources.BATCH_ROWS, spilling._NOTED_ROWS = 10, 10
    compare, cells = evaluation.compare, sahami1996.cells()[:2]
    evaluation.compare = lambda X, y, names, **more: compare(X, y, names[:2], **more)
    sahami1996.cells = lambda: cells
    webbrowser.open = lambda url, *_: not url


def main() -> int:
    """Run all steps in a folder and print what went wrong; 1 if anything did."""
    from bayleaf.data.memory import free_bytes
    from oracles.simulated_windows import check_names

    folder = Path(sys.argv[1])
    os.chdir(folder)
    tempfile.tempdir = str(folder / "temporaires é")
    Path(tempfile.tempdir).mkdir()
    write_inputs()
    lessen_work()
    wrong = []
    # Files that are not closed are in the way on Windows.
    warnings.simplefilter("error", ResourceWarning)
    sys.unraisablehook = lambda raised: wrong.append(f"ignored: {raised.exc_value!r}")
    for step in steps():
        try:
            run(step)
        except Exception as error:
            wrong.append(f"{step.line}: {type(error).__name__}: {error}")
    if free_bytes() is None:
        wrong.append("how much memory is free is not found out")
    gc.collect()
    check_names(folder)
    # The page that a browser opens stays, in a folder.
    left = [
        path for path in Path(tempfile.tempdir).rglob("*") if path.suffix != ".html"
    ]
    if len(left) != 1:
        wrong.append(f"temporary files are left: {left}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
