"""Pages that a browser prints, read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def printed_pages(page: Any, path: Path) -> list[tuple[str, float]]:
    """Print a page on A4: of each sheet its text, and the share that is filled."""
    pdfium = pytest.importorskip("pypdfium2", reason="pypdfium2 reads what is printed")
    page.pdf(path=path, format="A4")
    sheets = []
    for sheet in pdfium.PdfDocument(path):
        image = sheet.render().to_numpy()
        inked = (image < 250).any(axis=(1, 2)).nonzero()[0]
        text = " ".join(sheet.get_textpage().get_text_range().split())
        sheets.append((text, inked[-1] / len(image)))
    return sheets
