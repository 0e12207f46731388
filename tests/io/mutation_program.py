"""Mutated model and network files: read, or refused in one sentence, soon and small.

    python tests/io/mutation_program.py 20000 [first seed]

Bytes are changed, lost, doubled or moved, and in JSON documents values are replaced by
hostile ones. A fault is an error of another kind than a refusal, a text of more than a
line, more than two seconds, or more memory than four times the file and 128 MiB.
"""

from __future__ import annotations

import copy
import json
import random
import resource
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bayleaf import AveragedKDBClassifier, BayesianNetwork, NetworkStructure, load
from bayleaf.datasets import load_heart, load_network
from bayleaf.io import read_network, write_network
from bayleaf.io.native import archive

# Run as a program, it finds what stands beside its folder.
sys.path.insert(0, str(Path(__file__).parents[1]))
from oracles.dsl_text import dsl_text

SAMPLES = Path(__file__).parent / "samples"
SECONDS, OWN_BYTES = 2.0, 1 << 27
VALUES = (
    *(None, True, -1, 0, 1, 2, 3, 10**6, 2**31, 2**63, 10**400, -(10**9), 0.5, -0.5),
    *(1e308, "", "a", "\x00", "\ud800", "é" * 300, "NaN", [], {}, [[]], [0.5, 0.5]),
    *({"array": 0}, {"shape": [2], "array": 0}, {"shape": [10**9], "numbers": []}),
)
# What may be put in anywhere.
WORDS = (
    *(b"999999999", b"-1", b"1e999", b"\x00", b"{", b"}", b"[", b"(", b'"', b"<"),
    b"&x;",
)


def files(folder: Path) -> dict[str, Callable[[Path], Any]]:
    """Sound files of every kind, and what reads them."""
    found: dict[str, Callable[[Path], Any]] = {}
    for path in SAMPLES.glob("*.json"):
        if path.stem != "expected":
            (folder / path.name).write_bytes(path.read_bytes())
            reads_network = path.stem in {"every_form", "bayesian_network"}
            found[path.name] = read_network if reads_network else load
    network = read_network(SAMPLES / "bayesian_network.json")
    others = ("dne", "elv", "dsc", "xbn", "pgmx", "oobn")
    for suffix in ("bif", "net", "xdsl", "xml", "uai", "bif.gz", "xml.bz2", *others):
        write_network(network, folder / f"network.{suffix}")
        found[f"network.{suffix}"] = read_network
    (folder / "network.dsl").write_text(dsl_text(load_network("asia")))
    found["network.dsl"] = read_network
    BayesianNetwork.from_edges("a -> b <-> c; a -> c").save(folder / "graph.dagitty")
    found["graph.dagitty"] = NetworkStructure.read
    (folder / "graph.dot").write_text('digraph g {\n  "a b";\n  "a b" -> {c d};\n}\n')
    found["graph.dot"] = NetworkStructure.read
    most, archive.MAX_INLINE = archive.MAX_INLINE, 100
    table = load_heart()
    model = AveragedKDBClassifier(n_networks=2, random_state=0).fit(table.X, table.y)
    model.save(folder / "archive.json")
    archive.MAX_INLINE = most
    found["archive.json"] = load
    return found


def mutated(content: bytes, rng: random.Random) -> bytes:
    """The content with some of it changed, as text, as a document or in an archive."""
    if content.startswith(b"PK") and rng.random() < 0.5:
        return _in_archive(content, rng)
    if content[:1] == b"{" and rng.random() < 0.6:
        return _in_document(content, rng)
    for _ in range(rng.choice([1, 1, 2, 5])):
        content = _in_bytes(content, rng)
    return content


def _in_bytes(content: bytes, rng: random.Random) -> bytes:
    """Bytes flipped, lost, doubled, moved, cut, or put in."""
    first, length = rng.randrange(len(content) + 1), rng.choice([1, 2, 8, 64, 500])
    part = content[first : first + length]
    kind = rng.randrange(6)
    if kind == 0:
        return (
            content[:first]
            + bytes(rng.randrange(256) for _ in part)
            + content[first + length :]
        )
    if kind == 1:
        return content[:first] + content[first + length :]
    if kind == 2:
        return content[:first] + part * rng.choice([2, 3, 200]) + content[first:]
    if kind == 3:
        other = rng.randrange(len(content) + 1)
        return content[:other] + part + content[other:]
    if kind == 4:
        return content[:first]
    return content[:first] + rng.choice(WORDS) + content[first:]


def _in_document(content: bytes, rng: random.Random) -> bytes:
    """Values of a JSON document replaced, lost or doubled."""
    document = json.loads(content)
    for _ in range(rng.choice([1, 1, 2, 4])):
        place: Any = document
        while True:
            keys = [*place] if isinstance(place, dict) else range(len(place))
            if not len(keys):
                break
            key = rng.choice(list(keys))
            inner = place[key]
            if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
                place = inner
                continue
            kind = rng.random()
            if kind < 0.7:
                place[key] = copy.deepcopy(rng.choice(VALUES))
            elif kind < 0.85:
                del place[key]
            elif isinstance(place, list):
                place *= rng.choice([2, 50])
            break
    return json.dumps(document).encode()


def _in_archive(content: bytes, rng: random.Random) -> bytes:
    """One entry of an archive mutated."""
    import io

    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as whole:
        entries = {name: whole.read(name) for name in whole.namelist()}
    name = rng.choice([*entries])
    entries[name] = mutated(entries[name], rng) if entries[name] else b"x"
    with zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as whole:
        for name, entry in entries.items():
            whole.writestr(name, entry)
    return changed.getvalue()


def fault(path: Path, read: Callable[[Path], Any]) -> str:
    """What is wrong with how a file is read; empty if nothing, "read" if it was."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    told = "read"
    try:
        read(path)
    except (ValueError, OSError) as error:
        told = ""
        if "\n" in str(error) or not str(error):
            told = f"no sentence: {str(error)[:80]!r}"
    except Exception as error:
        told = f"{type(error).__name__}: {str(error)[:80]}"
    seconds = time.perf_counter() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    if seconds > SECONDS:
        return f"{seconds:.1f} s"
    if grown > OWN_BYTES + 4 * path.stat().st_size:
        return f"{grown >> 20} MiB more"
    return told


def attack(n_files: int, first: int = 0) -> Counter[str]:
    """Mutate files at random; how often each case came about."""
    counted: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds = files(folder)
        sound = {kind: (folder / kind).read_bytes() for kind in kinds}
        for seed in range(first, first + n_files):
            rng = random.Random(seed)
            kind = rng.choice([*kinds])
            path = folder / kind
            path.write_bytes(mutated(sound[kind], rng))
            told = fault(path, kinds[kind])
            case = {"": "refused", "read": "read"}.get(told, "fault")
            counted[case] += 1
            if case == "fault":
                print(seed, kind, told, flush=True)
    return counted


if __name__ == "__main__":
    print(dict(attack(*map(int, sys.argv[1:]))))
