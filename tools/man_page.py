"""The manual page of the command line, from what --help says.

    python tools/man_page.py build/bayleaf.1

It needs docutils, which the documentation's environment has.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from docutils.core import publish_string

from bayleaf.cli.app import app

TITLE = "bayleaf"


def main() -> None:
    """Write the page to the file named."""
    target = Path(sys.argv[1])
    text = app.generate_docs(output_format="rst")
    # The title must come first, with the section below it; man has no contents.
    _, rest = text.split("=======\nbayleaf\n=======\n", 1)
    rest = re.sub(r"\.\. contents::.*\n(   .*\n)*", "", rest)
    line = "=" * len(TITLE)
    text = f"{line}\n{TITLE}\n{line}\n\n:Manual section: 1\n\n{rest}"
    settings = {"report_level": 5, "output_encoding": "unicode"}
    # Links within the page mean nothing to man.
    page = publish_string(text, writer_name="manpage", settings_overrides=settings)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(str(page), "utf-8", newline="\n")
    print(target)


if __name__ == "__main__":
    main()
