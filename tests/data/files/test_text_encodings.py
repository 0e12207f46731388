"""Network files that do not name their encoding are read right, or refused."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from bayleaf import read_network
from bayleaf.io import NetworkFileError
from offenders import check_each

SHORT, LONG = 2, 20
# Names of variables and states.
WORDS = {
    "Russian": "Возраст Кашель Болезнь_сердца да нет высокое М Ж зелёный Чаща",
    "Chinese": "年龄 血压 吸烟 心脏病 是 否 高 低 男 女",
    "Japanese": "年齢 コレステロール トースト せき はい いいえ 高い 男性 テスト 中",
    "French": "Âge Symptôme Cœur élevée non_élevée créé à_côté été modéré hôpital",
    "German": "Größe Übermaß Mädchen grün weiß Öl ähnlich Straße Ärztin jährlich",
    "Danish": "Køn Ålder blå rød grå grøn æble høj små større",
    "Spanish": "Edad_años niño señal razón así cirugía difícil sí_señor mamá médico",
}
READ_AS_THEY_ARE = [
    (language, encoding)
    for language in WORDS
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be")
] + [
    (language, encoding)
    for language in ("French", "German", "Danish", "Spanish")
    for encoding in ("cp1252", "latin-1")
    if (language, encoding) != ("French", "latin-1")  # which lacks a letter
]
REFUSED = [
    ("Russian", "cp1251"),
    ("Russian", "koi8-r"),
    ("Chinese", "gbk"),
    ("Chinese", "gb18030"),
    ("Japanese", "shift_jis"),
    ("Japanese", "cp932"),
    ("Japanese", "euc_jp"),
]


def text_of(language: str, n_variables: int, seed: int, suffix: str) -> str:
    """A network of variables without parents, whose names are words and numbers."""
    draw, words = random.Random(seed), WORDS[language].split()
    variables, tables = "", ""
    for number in range(n_variables):
        name = f"{draw.choice(words)}_{number}"
        one, two = draw.sample(words, 2)
        if suffix == ".bif":
            variables += (
                f"variable {name} {{ type discrete [2] {{ {one}, {two} }}; }}\n"
            )
            tables += f"probability ( {name} ) {{ table 0.5, 0.5; }}\n"
        else:
            variables += (
                f"<VARIABLE><NAME>{name}</NAME><OUTCOME>{one}</OUTCOME>"
                f"<OUTCOME>{two}</OUTCOME></VARIABLE>\n"
            )
            tables += (
                f"<DEFINITION><FOR>{name}</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>\n"
            )
    if suffix == ".bif":
        return f"network x {{\n}}\n{variables}{tables}"
    return f"<BIF>\n<NETWORK>\n{variables}{tables}</NETWORK>\n</BIF>"


def files_of(language: str) -> list[tuple[str, str]]:
    """Short and long files of both kinds: suffix and text."""
    return [
        (suffix, text_of(language, size, seed, suffix))
        for suffix in (".bif", ".xml")
        for size, seeds in ((SHORT, range(2)), (LONG, range(1)))
        for seed in seeds
    ]


@pytest.mark.slow
def test_encodings_that_the_bytes_show_are_read(tmp_path: Path) -> None:
    def check(case: tuple[str, str]) -> None:
        language, encoding = case
        for suffix, text in files_of(language):
            path = tmp_path / f"a{suffix}"
            path.write_bytes(text.encode(encoding))
            for variable in read_network(path).domain:
                assert str(variable.name).rpartition("_")[0] in WORDS[language]
                assert set(variable.states) <= set(WORDS[language].split())

    check_each(READ_AS_THEY_ARE, check)


@pytest.mark.slow
def test_other_alphabets_are_refused_and_read_by_name(tmp_path: Path) -> None:
    def check(case: tuple[str, str]) -> None:
        language, encoding = case
        for suffix, text in files_of(language):
            path = tmp_path / f"a{suffix}"
            path.write_bytes(text.encode(encoding))
            with pytest.raises(NetworkFileError) as caught:
                read_network(path)
            message = str(caught.value)
            assert "neither UTF-8 nor in a Western language" in message
            assert "encoding=" in message
            names = {"gb18030": "gbk", "cp932": "shift_jis"}
            if encoding not in ("koi8-r", "euc_jp"):
                first = re.search(r"\w*[^\W\x00-\x7f]\w*", text)
                assert first is not None
                assert f"{names.get(encoding, encoding)} ('{first[0]}')" in message
            network = read_network(path, encoding=encoding)
            assert set(network.domain[0].states) <= set(WORDS[language].split())

    check_each(REFUSED, check)


def test_binary_data_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.bif"
    for content in (b"PK\x03\x04\0\0\0\0", b"network x {\n\0}", bytes(range(256))):
        path.write_bytes(content)
        with pytest.raises(NetworkFileError, match="holds binary data"):
            read_network(path)
