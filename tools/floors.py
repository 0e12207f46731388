"""The least version of every requirement, one a line, as pyproject.toml names them.

python tools/floors.py > constraints.txt
"""

from __future__ import annotations

import tomllib
from pathlib import Path


def main() -> None:
    """Print the requirements that run time needs, each at its floor."""
    project = Path(__file__).parents[1] / "pyproject.toml"
    values = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    for requirement in values["dependencies"]:
        # A version without its last zeros is the same version.
        print(requirement.replace(">=", "=="))


if __name__ == "__main__":
    main()
