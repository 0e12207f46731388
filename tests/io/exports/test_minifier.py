"""Scripts and styles lose what a browser passes over, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bayleaf
from bayleaf.io.exports.minifier import minified_script, minified_style
from offenders import check_each

SOURCES = Path(bayleaf.__file__).parent


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("const a = 1; // one\n/** Two. */\nlet b;\n", "const a=1;let b;"),
        ("a = b\n/ c / d", "a=b\n/c/d"),
        ("x = / \\/[/ ] /g.test(y)", "x=/ \\/[/ ] /g.test(y)"),
        ("return /a b/", "return/a b/"),
        ("a + +b - -c + ++d", "a+ +b- -c+ ++d"),
        ("x = '// a' + \"/* b */\"", "x='// a'+\"/* b */\""),
        (
            "`a  ${ f({ b: `c  ${ d }  e` }) }  // f`",
            "`a  ${f({b:`c  ${d}  e`})}  // f`",
        ),
        ("a\n  .b()\nc\n", "a.b()\nc"),
        (
            "class A {\n  b = 1;\n\n  #c() {}\n\n  d() {}\n}",
            "class A{b=1;#c(){}\nd(){}}",
        ),
        ("return a in b", "return a in b"),
        ("else if (!x) y = `\\`  ${z}`", "else if(!x)y=`\\`  ${z}`"),
    ],
)
def test_blanks_and_comments_are_left_out_where_nothing_needs_them(
    script: str, expected: str
) -> None:
    assert minified_script(script) == expected


def test_all_signs_and_literals_of_the_scripts_stay() -> None:
    def check(path: Path) -> None:
        script = path.read_text(encoding="utf-8")
        short = minified_script(script)
        bare = re.sub(r"^\s*(/\*\*.*?\*/|//[^\n]*)$", "", script, flags=re.M | re.S)
        assert re.sub(r"\s", "", bare) == re.sub(r"\s", "", short)
        for literal in re.findall(r'"\w+(?: [\w.]+)+"', bare):
            assert literal in short
        assert minified_script(short) == short

    check_each(sorted(SOURCES.rglob("*.js")), check)


def test_styles_keep_selectors_texts_and_sums() -> None:
    style = """/* A note; of {all}. */
    :root { --size: max(13px, calc(11px / var(--scale, 1) + 1px)); }
    a :not(.b), c > d { content: "; ,  {"; margin: 0 auto; }
    @media (min-width: 9px) { e { color: red; } }
    """
    assert minified_style(style) == (
        ":root{--size:max(13px,calc(11px / var(--scale,1) + 1px))}"
        'a :not(.b),c > d{content:"; ,  {";margin:0 auto}'
        "@media (min-width:9px){e{color:red}}"
    )
