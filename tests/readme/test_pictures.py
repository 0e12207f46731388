"""Pictures of the documentation show the models of the code above them."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_pictures_of_explanations_have_the_probability_that_the_code_prints() -> None:
    n_pictures, others = 0, []
    for page in DOCS.rglob("*.md"):
        text = page.read_text("utf-8")
        for name in re.findall(r"```\{figure\} \S*?(why[\w-]*\.svg)", text):
            n_pictures += 1
            svg = (DOCS / "pictures" / name).read_text("utf-8")
            (title,) = re.findall(r"row \d+: \S+ with probability [\d.]+", svg)
            if title not in text:
                others.append(f"{page.name}: {title}")
    assert n_pictures >= 2
    assert not others, "\n".join(others)
