"""XML that begins or is encoded otherwise than the standard wants is read."""

from __future__ import annotations

import codecs
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from bayleaf.io import NetworkFileError, read_network
from bayleaf.io.formats.source_file import decoded
from bayleaf.io.formats.xml_elements import read_xml
from offenders import check_each

TEXT = "<BIF>\n<NAME>café</NAME>\n</BIF>"
PLAIN = '<?xml version="1.0"?>\n'
LATIN = '<?xml version="1.0" encoding="ISO-8859-1"?>\n'
UTF = "<?xml version='1.0' encoding='UTF-8'?>\n"


def name_in(folder: Path, content: bytes) -> str:
    """The name that a file holds."""
    path = folder / "a.xml"
    path.write_bytes(content)
    return read_xml(path, "BIF", "XMLBIF").one("NAME").words()


STARTS: list[Any] = [
    b"",
    codecs.BOM_UTF8,
    b"\n\r\n  ",
    codecs.BOM_UTF8 + b"\n",
    b"\n" + codecs.BOM_UTF8,
]


def test_blank_lines_and_a_byte_order_mark_may_stand_first(tmp_path: Path) -> None:
    def check(case: tuple[bytes, str]) -> None:
        start, declaration = case
        assert name_in(tmp_path, start + (declaration + TEXT).encode()) == "café"

    check_each(product(STARTS, ["", PLAIN, UTF]), check)


@pytest.mark.parametrize("declaration", ["", PLAIN, UTF, LATIN])
def test_latin_1_is_read_whatever_is_declared(tmp_path: Path, declaration: str) -> None:
    assert name_in(tmp_path, (declaration + TEXT).encode("latin-1")) == "café"


def test_utf_16_is_read_by_its_byte_order_mark(tmp_path: Path) -> None:
    assert name_in(tmp_path, TEXT.encode("utf-16")) == "café"


def test_signs_of_the_windows_code_page_are_read(tmp_path: Path) -> None:
    text = TEXT.replace("café", "\N{RIGHT SINGLE QUOTATION MARK}90s\N{EURO SIGN}")
    assert name_in(tmp_path, text.encode("cp1252")) == "’90s€"
    assert decoded(text.encode("cp1252"), "a.bif") == text


def test_bytes_that_mean_nothing_there_are_refused() -> None:
    with pytest.raises(NetworkFileError, match="line 2: the text is neither UTF-8 nor"):
        decoded(b"grun, gr\xfcn, r\xf6t\n\x81\xe9", "a.bif")


def test_lines_are_counted_from_the_start_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(b"\n\n\n" + UTF.encode() + b"<BIF>\n<NETWORK>\n<NAME>\n</BIF>")
    with pytest.raises(NetworkFileError, match=r"a\.xml, line 8: the XML is malformed"):
        read_network(path)
    path.write_bytes(b"\n\n\n" + UTF.encode() + b"<BIF>\n</BIF>")
    with pytest.raises(NetworkFileError, match=r"a\.xml, line 5: <BIF> lacks"):
        read_network(path)


COINS = {
    ".bif": "variable a { type discrete [2] { NAME, y }; }\n"
    "probability ( a ) { table 0.5, 0.5; }\n",
    ".xml": '<?xml version="1.0" encoding="UTF-8"?><BIF><NETWORK><VARIABLE>'
    "<NAME>a</NAME><OUTCOME>NAME</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>"
    "<DEFINITION><FOR>a</FOR><TABLE>0.5 0.5</TABLE></DEFINITION></NETWORK></BIF>",
}


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "shift_jis"])
def test_other_encodings_are_read_by_name(tmp_path: Path, encoding: str) -> None:
    for suffix in COINS:
        text = COINS[suffix].replace(">NAME<", ">天気<").replace("NAME,", "天気,")
        path = tmp_path / f"a{suffix}"
        path.write_bytes(text.encode(encoding))
        network = read_network(path, encoding=encoding)
        assert network.domain[0].states == ("天気", "y")
        with pytest.raises(NetworkFileError, match="not text in ascii; name another"):
            read_network(path, encoding="ascii")
        with pytest.raises(ValueError, match="encoding must be a codec of Python"):
            read_network(path, encoding="klingon")


def test_utf_16_is_recognised_and_windows_1252_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = COINS[".bif"].replace("NAME", "café")
    path = tmp_path / "a.bif"
    path.write_bytes(text.encode("utf-16"))
    assert read_network(path).domain[0].states == ("café", "y")
    assert not caplog.records
    path.write_bytes(text.encode("cp1252"))
    assert read_network(path).domain[0].states == ("café", "y")
    assert 'read as Windows-1252, with names such as "café"; if that' in caplog.text
