"""The scripts that compute with models where there is no Python."""

from __future__ import annotations

from importlib.resources import files


def engine_script(name: str) -> str:
    """The text of a script, such as ``arithmetic.js``."""
    folder = files("bayleaf.io.exports.shipped").joinpath("scripts")
    return folder.joinpath(name).read_text(encoding="utf-8")
