"""Published networks by their names: some come with the library, others are found."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from bayleaf.wording import name_list, near_names, quoted

if TYPE_CHECKING:
    from bayleaf.models.bayesian_network import BayesianNetwork

DATA_VARIABLE = "BAYLEAF_DATA"
# Whom to cite for what comes with the library; see README.md in this folder.
SHIPPED = {
    "alarm": "Beinlich, Suermondt, Chavez and Cooper (1989)",
    "asia": "Lauritzen and Spiegelhalter (1988)",
    "cancer": "Korb and Nicholson (2010)",
    "earthquake": "Pearl (1988), numbers of Korb and Nicholson (2010)",
    "survey": "Scutari and Denis (2014)",
}
# Networks of the literature whose terms do not say that they may be passed on.
ELSEWHERE = (
    *("andes", "barley", "child", "diabetes", "hailfinder", "hepar2", "insurance"),
    *("link", "mildew", "munin", "munin1", "munin2", "munin3", "munin4"),
    *("pathfinder", "pigs", "sachs", "water", "win95pts"),
)
_SUFFIXES = (".bif", ".bif.gz", ".net", ".net.gz", ".xdsl", ".xml", ".json")


def load_network(name: str, *, folder: str | Path | None = None) -> BayesianNetwork:
    """Load a published Bayesian network by its name.

    Parameters
    ----------
    name : str
        ``"asia"``, ``"cancer"``, ``"earthquake"``, ``"survey"`` and ``"alarm"`` come
        with the library. Others, such as ``"insurance"`` or ``"munin1"``, are read from
        `folder`, or from the package pgmpy where that is installed.
    folder : path, optional
        Folder with files such as ``munin1.bif``, or with a folder ``networks`` of them;
        by default the one that the environment variable ``BAYLEAF_DATA`` names.

    Raises
    ------
    ValueError
        If the name is none of a known network, naming near ones.
    FileNotFoundError
        If the network is known but not found; the message says where to put it.

    References
    ----------
    Lauritzen, Spiegelhalter (1988). Local computations with probabilities on graphical
    structures and their application to expert systems. JRSS B 50, 157-224.

    Beinlich, Suermondt, Chavez, Cooper (1989). The ALARM monitoring system. Proc.
    AIME 89, 247-256.

    Korb, Nicholson (2010). Bayesian Artificial Intelligence, 2nd edition. CRC Press.

    Scutari, Denis (2014). Bayesian Networks: with Examples in R. CRC Press.

    Examples
    --------
    >>> from bayleaf.datasets import load_network
    >>> round(load_network("asia").query({"asia": "yes"})["tub"]["yes"], 3)
    0.05
    """
    # Tables of this package need neither networks nor their files.
    from bayleaf.io.registry import read_network

    if name in SHIPPED and folder is None:
        with as_file(files("bayleaf.datasets") / "networks" / f"{name}.bif.gz") as path:
            return read_network(path)
    for path in _candidates(name, folder):
        if path.is_file():
            return read_network(path)
    if name not in SHIPPED and name not in ELSEWHERE:
        known = [*SHIPPED, *ELSEWHERE]
        raise ValueError(
            f"there is no network {quoted(name)}; {near_names(name, known)}; the "
            f"library comes with {name_list(list(SHIPPED))}"
        )
    raise FileNotFoundError(
        f"the network {name!r} does not come with the library; put its file "
        f"{name}.bif into a folder and name that by folder= or {DATA_VARIABLE}, or "
        "install pgmpy, which carries it"
    )


def _candidates(name: str, folder: str | Path | None) -> Iterator[Path]:
    """Files that could hold a network, the best first."""
    # A name is no way to other folders.
    if Path(name).name != name:
        return
    given = folder if folder is not None else os.environ.get(DATA_VARIABLE)
    if given:
        for place in (Path(given), Path(given) / "networks"):
            yield from (place / f"{name}{suffix}" for suffix in _SUFFIXES)
    spec = None if folder is not None else importlib.util.find_spec("pgmpy")
    if spec is not None and spec.origin is not None:
        models = Path(spec.origin).parent / "utils" / "example_models"
        yield models / f"{name}.bif.gz"
