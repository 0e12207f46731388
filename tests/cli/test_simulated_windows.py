"""Every command on a simulated Windows, and the simulation itself."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.cli import main
from bayleaf.cli.app import app
from bayleaf.cli.commands import demo
from bayleaf.cli.display import print_file, print_json, print_json_text
from bayleaf.datasets import load_heart
from bayleaf.evaluation import audit, compare
from cli.windows_program import steps

PROGRAM = Path(__file__).with_name("windows_program.py")
pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="looks at /proc"
)


def test_every_command_is_tried() -> None:
    tried = {step.words[0] for step in steps() if step.code == 0}
    assert {name for name in app if not name.startswith("-")} <= tried


@pytest.mark.slow
def test_every_command_works(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM, tmp_path], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


REFUSED = {
    "import fcntl": ModuleNotFoundError,
    "import resource": ModuleNotFoundError,
    "os.fork": AttributeError,
    "from os import sched_getaffinity": ImportError,
    "signal.SIGKILL": AttributeError,
    "time.tzset": AttributeError,
    "multiprocessing.get_context('fork')": ValueError,
    "held = open('held', 'w'); os.replace('plain', 'held')": PermissionError,
    "held = open('held', 'w'); os.replace('held', 'new')": PermissionError,
    "held = open('held', 'w'); Path('held').unlink()": PermissionError,
    "held = open('in/held', 'w'); shutil.rmtree('in')": PermissionError,
    "held = pa.OSFile('held', 'w'); os.remove('held')": PermissionError,
    "held = np.memmap('mapped', mode='r'); os.remove('mapped')": PermissionError,
    "held = np.memmap('mapped', mode='r'); open('mapped', 'w')": PermissionError,
    "os.chmod('held', 0o444); os.replace('plain', 'held')": PermissionError,
    "os.chmod('held', 0o444); open('held', 'a')": PermissionError,
    "os.open('in', os.O_RDONLY)": PermissionError,
    "os.symlink('plain', 'link')": PermissionError,
    "os.replace('plain', 'in')": PermissionError,
    "open('a?b', 'w')": OSError,
    "os.mkdir('end.')": OSError,
    "os.replace('plain', 'NUL.txt')": OSError,
    "Path('new').write_text('≥')": UnicodeEncodeError,
    "print('≥', file=piped_streams()[1])": UnicodeEncodeError,
    "open('/proc/meminfo')": FileNotFoundError,
}
ALLOWED = (
    "assert (os.name, sys.platform) == ('nt', 'win32')",
    "import msvcrt",
    "import subprocess; subprocess.run([sys.executable, '-c', ''], check=True)",
    "with open('held', 'w') as file: file.write('a\\n')\n"
    "assert Path('held').read_bytes() == b'a\\r\\n'",
    "os.replace('plain', 'held')",
    "shutil.rmtree('in')",
    "with tempfile.TemporaryDirectory() as name: Path(name, 'a').touch()",
)
TRIED = """
import multiprocessing, os, shutil, signal, sys, tempfile, time
from pathlib import Path
import numpy as np, pyarrow as pa
sys.path.insert(0, sys.argv[1])
from oracles.simulated_windows import install, piped_streams
install()
for place, code in enumerate(sys.argv[2:]):
    os.mkdir(str(place)), os.chdir(str(place)), os.mkdir("in")
    for name in ("held", "plain", "mapped", "in/held"):
        Path(name).write_bytes(b"x")
    try:
        exec(code, {**globals()})
        print("nothing")
    except Exception as error:
        print(*(kind.__name__ for kind in type(error).mro()))
    os.chdir("..")
"""


def test_the_simulation_refuses_what_windows_refuses(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TRIED, PROGRAM.parents[1], *REFUSED, *ALLOWED],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    raised = [line.split() for line in done.stdout.splitlines()]
    for code, kinds in zip([*REFUSED, *ALLOWED], raised, strict=True):
        wanted = REFUSED[code].__name__ if code in REFUSED else "nothing"
        assert wanted in kinds, (code, kinds)


# ---- what the simulation found, on any system


class Piped(io.TextIOWrapper):
    """Standard output of a pipe on Windows."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), "cp1252", newline="\r\n")

    def content(self) -> bytes:
        """What was written."""
        self.flush()
        return self.buffer.getvalue()  # type: ignore[attr-defined, no-any-return]


NAMES = {"âge ≤ 30": ["😀", "\x81"]}


def test_json_is_read_as_utf8_whatever_the_encoding_of_the_output() -> None:
    for show in (print_json, lambda names: print_json_text(json.dumps(names))):
        with redirect_stdout(Piped()) as piped:
            show(NAMES)
        assert json.loads(piped.content().decode()) == NAMES


def test_what_goes_to_a_file_is_utf8_but_escaped_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with redirect_stdout(Piped()) as piped:
        print_file("≤\né")
    assert piped.content() == "≤\né\n".encode()
    with redirect_stdout(Piped()) as piped:
        monkeypatch.setattr(piped, "isatty", lambda: True)
        print_file("é")
    assert piped.content() == b"\xe9\r\n"


def test_hierarchies_are_printed_as_json(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rows = "".join(f"{'≤😀é'[i % 3]},{i % 3 == 0}\n" for i in range(30))
    table.write_text(f"â,b\n{rows}", encoding="utf-8")
    with redirect_stdout(Piped()) as piped:
        assert main(["hierarchy", "learn", str(table)]) == 0
    assert [*json.loads(piped.content().decode())] == ["â"]


def test_programs_can_print_comparisons_and_audits_in_any_encoding() -> None:
    heart = load_heart()
    found = compare(heart.X, heart.y, ["nb"], n_folds=2, random_state=0)
    model = NaiveBayesClassifier().fit(heart.X, heart.y)
    for text in (
        str(found),
        str(audit(model, heart.frame, by="sex", target="disease")),
    ):
        assert "-----" in text
        text.replace("±", "+-").encode("ascii")


def test_commands_to_try_are_quoted_for_the_shell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert demo._word("a b.csv") == "'a b.csv'"
    monkeypatch.setattr("bayleaf.cli.commands.demo.os.name", "nt")
    words = [demo._word(r"C:\a b\heart.csv"), demo._word(r"C:\heart.csv")]
    monkeypatch.undo()
    assert words == [r'"C:\a b\heart.csv"', r"C:\heart.csv"]
