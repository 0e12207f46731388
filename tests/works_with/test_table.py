"""The table of tools in the documentation is that of the test files here."""

from __future__ import annotations

from works_with.write_table import PAGE, page


def test_the_page_has_the_table_of_the_test_files() -> None:
    assert PAGE.read_text("utf-8") == page(), "python -m works_with.write_table"
