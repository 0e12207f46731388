"""What tests do on one system and not on another."""

from __future__ import annotations

import os

import pytest


def need(name: str) -> None:
    """Skip the test where the module `os` lacks a function of Unix."""
    if not hasattr(os, name):
        pytest.skip(f"this system has no os.{name}")
