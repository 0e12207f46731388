"""Small tables as programs and people write them, and how a careful person reads each.

Written before any of them was read; where `bayleaf check` differs, `OTHERWISE` of
`test_public_like.py` has the column and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

N = 40
YES = [i * 7 % 5 < 2 for i in range(N)]
KINDS = ["red", "green", "blue"]


MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"]
MONTHS += ["Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


class Column(NamedTuple):
    """How a column is read."""

    kind: str
    missing: int = 0
    note: str = ""  # a part of what is noted


class PublicFile(NamedTuple):
    """A file and its columns; `says` is a part of the first lines, or of the error."""

    content: bytes
    columns: dict[str, Column]
    options: tuple[str, ...] = ()
    says: str = ""


NUMBER, TEXT, DATE = Column("numeric"), Column("nominal"), Column("date")
TIME, KEY, FLAG = Column("duration"), Column("identifier"), Column("nominal")
FILES: dict[str, PublicFile] = {}


def number(i: int) -> float:
    """Amounts of cents to thousands, all different."""
    return (i * 37 % 41) * 123.25 + 0.5 + i


def grouped(value: float, thousands: str, decimal: str, digits: int = 2) -> str:
    """A number with signs between thousands and before decimals."""
    text = f"{value:,.{digits}f}"
    return text.translate({ord(","): thousands, ord("."): decimal})


def indian(value: float) -> str:
    """A number with groups of lakhs."""
    whole, cents = f"{value * 1000:.2f}".split(".")
    head, tail = whole[:-3], whole[-3:]
    pairs = [head[max(0, i - 2) : i] for i in range(len(head), 0, -2)][::-1]
    return ",".join([*pairs, tail]) + "." + cents


def in_script(value: int, zero: int) -> str:
    """An integer in digits that begin with another sign for zero."""
    return "".join(chr(zero + int(digit)) for digit in str(value))


def day(i: int, pattern: str) -> str:
    """A date of 2019 to 2021, in a pattern of parts."""
    d, m, y = i * 5 % 28 + 1, i * 7 % 12 + 1, 2019 + i % 3
    return pattern.format(d=d, m=m, y=y, mon=MONTHS[m - 1], H=i % 24, M=i * 11 % 60)


def lines(
    names: Sequence[Any] | None,
    *columns: Sequence[Any],
    sep: str = ",",
    end: str = "\n",
) -> str:
    """A header and rows."""
    rows = [*([names] if names else []), *zip(*columns, strict=True)]
    return "".join(sep.join(map(str, row)) + end for row in rows)


def each(pattern: Any) -> list[str]:
    """A cell for each row."""
    return [pattern(i) for i in range(N)]


def add(
    name: str,
    text: str | bytes,
    *options: str,
    encoding: str = "utf-8",
    says: str = "",
    **columns: Column,
) -> None:
    """Add a file; names of columns with blanks are written with double underscores."""
    content = text if isinstance(text, bytes) else text.encode(encoding)
    known = {n.replace("__", " ").replace("_0", ""): c for n, c in columns.items()}
    FILES[name] = PublicFile(content, known, options, says)


WORDS = each(lambda i: KINDS[i * 2 % 3])
PLAIN = each(number)
ISO = each(lambda i: day(i, "{y}-{m:02}-{d:02}"))

# Excel
GERMAN = lines(
    ["Größe", "Betrag", "Menge", "Datum", "Aktiv"],
    WORDS,
    each(lambda i: grouped(number(i), ".", ",")),
    each(lambda i: grouped(number(i) * 9, ".", ",", 0)),
    each(lambda i: day(i, "{d:02}.{m:02}.{y}")),
    ["WAHR" if yes else "FALSCH" for yes in YES],
    sep=";",
    end="\r\n",
)
add(
    "excel german",
    GERMAN,
    "--encoding",
    "cp1252",
    encoding="cp1252",
    says="semicolons",
    Größe=TEXT,
    Betrag=Column("numeric", note="decimal commas"),
    Menge=NUMBER,
    Datum=DATE,
    Aktiv=FLAG,
)
add(
    "excel german units",
    lines(
        ["Preis", "Anteil", "Stand"],
        each(lambda i: grouped(number(i), ".", ",") + " €"),
        each(lambda i: f"{number(i) / 50:.1f}%".replace(".", ",")),
        each(lambda i: day(i, "{d}.{m}.{y} {H:02}:{M:02}")),
        sep=";",
    ),
    Preis=Column("numeric", note="in €"),
    Anteil=Column("numeric", note="in %"),
    Stand=DATE,
)
add(
    "excel french",
    lines(
        ["Nom", "Montant", "Date", "Actif"],
        WORDS,
        each(lambda i: grouped(number(i), "\u202f", ",")),
        each(lambda i: day(i, "{d:02}/{m:02}/{y}")),
        ["VRAI" if yes else "FAUX" for yes in YES],
        sep=";",
    ),
    Nom=TEXT,
    Montant=Column("numeric", note="decimal commas"),
    Date=Column("date", note="d/m/y"),
    Actif=FLAG,
)
add(
    "excel french euro",
    lines(
        ["Prix", "Écart"],
        each(lambda i: grouped(number(i), "\xa0", ",") + " €"),
        each(lambda i: grouped(number(i) - 2000, "\xa0", ",")),
        sep=";",
    ),
    "--encoding",
    "cp1252",
    encoding="cp1252",
    Prix=Column("numeric", note="in €"),
    Écart=NUMBER,
)
add(
    "excel us",
    lines(
        ["Item", "Price", "Change", "Date", "In stock"],
        WORDS,
        each(lambda i: f'"${number(i):,.2f}"'),
        each(lambda i: f'"({number(i):,.2f})"' if i % 3 else f'"{number(i):,.2f}"'),
        each(lambda i: day(i, "{m}/{d}/{y}")),
        ["TRUE" if yes else "FALSE" for yes in YES],
    ),
    Item=TEXT,
    Price=Column("numeric", note="in $"),
    Change=NUMBER,
    Date=Column("date", note="m/d/y"),
    In__stock=FLAG,
)
add(
    "excel us times",
    lines(
        ["When", "Hours", "Negative"],
        each(lambda i: f"{day(i, '{m}/{d}/{y}')} {i % 12 + 1}:{i:02} {'AP'[i % 2]}M"),
        each(lambda i: f"{i % 12 + 1}:{i:02} {'AP'[i % 2]}M"),
        each(lambda i: f"-${number(i):.2f}" if i % 2 else f"${number(i):.2f}"),
    ),
    When=DATE,
    Hours=TIME,
    Negative=Column("numeric", note="in $"),
)
add(
    "excel indian",
    lines(
        ["State", "Income", "Rupees", "Joined"],
        WORDS,
        each(lambda i: f'"{indian(number(i))}"'),
        each(lambda i: f'"₹ {indian(number(i))}"'),
        each(lambda i: day(i, "{d:02}-{m:02}-{y}")),
    ),
    State=TEXT,
    Income=Column("numeric", note="commas between thousands"),
    Rupees=Column("numeric", note="in ₹"),
    Joined=Column("date", note="d-m-y"),
)
add(
    "excel swiss",
    lines(
        ["Kanton", "Lohn", "Miete", "Datum"],
        WORDS,
        each(lambda i: grouped(number(i), "'", ".")),
        each(lambda i: "CHF " + grouped(number(i), "’", ".")),
        each(lambda i: day(i, "{d:02}.{m:02}.{y}")),
        sep=";",
    ),
    Kanton=TEXT,
    Lohn=Column("numeric", note="apostrophes between thousands"),
    Miete=Column("numeric", note="in CHF"),
    Datum=DATE,
)
add(
    "excel sep line",
    "sep=;\r\n" + lines(["a", "b"], WORDS, PLAIN, sep=";", end="\r\n"),
    says="1 line above",
    a=TEXT,
    b=NUMBER,
)
add(
    "excel unicode text",
    lines(["Größe", "b", "d"], WORDS, PLAIN, ISO, sep="\t", end="\r\n"),
    encoding="utf-16",
    says="tabs",
    Größe=TEXT,
    b=NUMBER,
    d=DATE,
)
add(
    "excel utf-8 with mark",
    lines(["Größe", "b"], WORDS, PLAIN, end="\r\n"),
    encoding="utf-8-sig",
    Größe=TEXT,
    b=NUMBER,
)
add(
    "excel empty columns at the end",
    lines(["a", "b", "", "", ""], WORDS, PLAIN, *[[""] * N] * 3),
    a=TEXT,
    b=NUMBER,
)
add(
    "excel empty column between",
    lines(["a", "", "b"], WORDS, [""] * N, PLAIN),
    a=TEXT,
    b=NUMBER,
)
add(
    "excel empty rows at the end",
    lines(["a", "b", "c"], WORDS, PLAIN, PLAIN) + ",,\n" * 3,
    a=TEXT,
    b=NUMBER,
    c=NUMBER,
)
add(
    "excel merged cells",
    lines(
        ["Region", "Store", "Sales"],
        each(lambda i: "" if i % 10 else f"Region {i // 10}"),
        WORDS,
        PLAIN,
    ),
    Region=Column("nominal", 36),
    Store=TEXT,
    Sales=NUMBER,
)
add(
    "excel errors",
    lines(
        ["ratio", "lookup", "word"],
        each(lambda i: "#DIV/0!" if i % 9 == 4 else str(number(i))),
        each(lambda i: "#N/A" if i % 9 == 5 else str(number(i))),
        each(lambda i: "#N/A" if i % 9 == 5 else WORDS[i]),
    ),
    ratio=Column("numeric", 4, "#DIV/0!"),
    lookup=Column("numeric", 4),
    word=Column("nominal", 4),
)

# R
add(
    "r write.csv",
    lines(
        ['""', '"colour"', '"x"', '"ok"'],
        each(lambda i: f'"{i + 1}"'),
        each(lambda i: f'"{WORDS[i]}"' if i % 7 else "NA"),
        each(lambda i: str(number(i)) if i % 8 else "NA"),
        each(lambda i: str(YES[i]).upper() if i % 9 else "NA"),
    ),
    _0=Column("identifier", note="counts the rows"),
    colour=Column("nominal", 6),
    x=Column("numeric", 5),
    ok=Column("nominal", 5),
)
add(
    "r write.csv2",
    lines(
        ['""', '"colour"', '"x"'],
        each(lambda i: f'"{i + 1}"'),
        each(lambda i: f'"{WORDS[i]}"'),
        each(lambda i: str(number(i)).replace(".", ",")),
        sep=";",
    ),
    _0=KEY,
    colour=TEXT,
    x=Column("numeric", note="decimal commas"),
)
add(
    "r write.table",
    lines(None, ['"colour" "x" "n"'])
    + lines(
        None,
        each(lambda i: f'"{i + 1}"'),
        each(lambda i: f'"{WORDS[i]}"'),
        PLAIN,
        each(lambda i: str(i * 3 % 31)),
        sep=" ",
    ),
    says="blanks",
    _0=Column("identifier", note="counts the rows"),
    colour=TEXT,
    x=NUMBER,
    n=NUMBER,
)
add(
    "r write.table with names",
    "mpg\tcyl\tgear\n"
    + lines(
        None,
        each(lambda i: f"Car {i} {WORDS[i]}"),
        PLAIN,
        each(lambda i: str(4 + 2 * (i % 3))),
        each(lambda i: str(3 + i % 3)),
        sep="\t",
    ),
    _0=KEY,
    mpg=NUMBER,
    cyl=Column("nominal", note="taken as nominal"),
    gear=FLAG,
)
add(
    "r csv with row names and a short header",
    "colour,x\n" + lines(None, each(lambda i: str(i + 1)), WORDS, PLAIN),
    _0=Column("identifier", note="counts the rows"),
    colour=TEXT,
    x=NUMBER,
)
add(
    "r logical",
    lines(["flag", "x"], ["T" if yes else "F" for yes in YES], PLAIN),
    flag=FLAG,
    x=NUMBER,
)
add(
    "r scientific",
    lines(
        ["p", "big"],
        each(lambda i: f"{number(i) / 1e7:.3e}"),
        each(lambda i: f"{number(i) * 1e6:.2E}"),
    ),
    p=NUMBER,
    big=NUMBER,
)

# pandas
add(
    "pandas index",
    lines(["", "a", "b"], range(N), WORDS, PLAIN),
    _0=Column("identifier", note="counts the rows"),
    a=TEXT,
    b=NUMBER,
)
add(
    "pandas index read again",
    lines(["Unnamed: 0", "a", "b"], range(N), WORDS, PLAIN),
    a=TEXT,
    b=NUMBER,
)
FILES["pandas index read again"].columns["Unnamed: 0"] = KEY
add(
    "pandas two indexes",
    lines(["", "Unnamed: 0", "a", "b"], range(N), range(N), WORDS, PLAIN),
    _0=KEY,
    a=TEXT,
    b=NUMBER,
)
FILES["pandas two indexes"].columns["Unnamed: 0"] = KEY
add(
    "pandas missing",
    lines(
        ["n", "ok", "t"],
        each(lambda i: "" if i % 8 == 3 else f"{i * 3 % 29}.0"),
        each(lambda i: "" if i % 8 == 4 else str(YES[i])),
        each(lambda i: "NaT" if i % 8 == 5 else f"{ISO[i]} 10:{i:02}:00"),
    ),
    n=Column("numeric", 5),
    ok=Column("nominal", 5),
    t=Column("date", 5, "NaT"),
)
add(
    "pandas zones",
    lines(
        ["t", "u"],
        each(lambda i: f"{ISO[i]} 10:{i:02}:00+00:00"),
        each(lambda i: f"{ISO[i]}T10:{i:02}:00.123456+02:00"),
    ),
    t=DATE,
    u=DATE,
)
add(
    "pandas timedelta",
    lines(
        ["took", "a"],
        each(lambda i: f"{i % 3} days {i % 24:02}:{i:02}:00"),
        WORDS,
    ),
    took=TIME,
    a=TEXT,
)
add(
    "pandas float integers",
    lines(
        ["rooms", "code"],
        each(lambda i: "" if i % 10 == 1 else f"{i % 6}.0"),
        each(lambda i: f"{1000 + i * 17 % 600}.0"),
    ),
    rooms=Column("nominal", 4, "taken as nominal"),
    code=NUMBER,
)

# SAS
add(
    "sas",
    lines(
        ["AGE", "SEX", "VISIT", "STAMP"],
        each(lambda i: "." if i % 8 == 3 else str(20 + i * 7 % 50)),
        each(lambda i: "" if i % 8 == 4 else "MF"[i % 2]),
        each(lambda i: day(i, "{d:02}{mon}{y}").upper()),
        each(lambda i: day(i, "{d:02}{mon}{y}:{H:02}:{M:02}:00").upper()),
    ),
    AGE=Column("numeric", 5, "'.'"),
    SEX=Column("nominal", 5),
    VISIT=DATE,
    STAMP=DATE,
)
add(
    "sas short years",
    lines(
        ["VISIT", "AMOUNT"],
        each(
            lambda i: "." if i % 9 == 3 else day(i, "{d:02}{mon}{y}").upper()[:5] + "19"
        ),
        each(lambda i: f'"${number(i):,.2f}"'),
    ),
    VISIT=Column("date", 5, "'.'"),
    AMOUNT=Column("numeric", note="in $"),
)

# SPSS
add(
    "spss",
    lines(
        ["id", "age", "income", "smoker"],
        range(1, N + 1),
        each(lambda i: " " if i % 8 == 3 else str(20 + i * 7 % 50)),
        each(lambda i: "999" if i % 8 == 4 else str(round(number(i)))),
        each(lambda i: ["Yes", "No", "Refused"][i % 3]),
        sep=";",
    ),
    id=Column("numeric", note="counts the rows"),
    age=Column("numeric", 5, "blank"),
    income=NUMBER,
    smoker=TEXT,
)
add(
    "spss null",
    lines(
        ["score", "group", "year"],
        each(lambda i: "#NULL!" if i % 8 == 3 else grouped(number(i), "", ",")),
        each(lambda i: str(i % 4 + 1)),
        each(lambda i: str(1990 + i % 25)),
        sep="\t",
    ),
    score=Column("numeric", 5, "#NULL!"),
    group=FLAG,
    year=NUMBER,
)
add(
    "spss leading blanks",
    lines(
        ["x", "y"],
        each(lambda i: f"{number(i):10.2f}"),
        each(lambda i: f"{WORDS[i]:<8}"),
        sep=",",
    ),
    x=NUMBER,
    y=TEXT,
)

# Databases
add(
    "mysql",
    lines(
        ["id", "price", "city", "made"],
        range(7, N + 7),
        each(lambda i: r"\N" if i % 8 == 3 else str(number(i))),
        each(lambda i: r"\N" if i % 8 == 4 else WORDS[i]),
        each(lambda i: r"\N" if i % 8 == 5 else f"{ISO[i]} 10:{i:02}:00"),
        sep="\t",
    ),
    id=Column("numeric", note="key"),
    price=Column("numeric", 5, r"\N"),
    city=Column("nominal", 5),
    made=Column("date", 5, r"\N"),
)
add(
    "postgres",
    lines(
        ["ok", "price", "at"],
        ["t" if yes else "f" for yes in YES],
        each(lambda i: "NULL" if i % 8 == 3 else str(number(i))),
        each(lambda i: f"{ISO[i]} 10:{i:02}:00.1234+02"),
    ),
    ok=FLAG,
    price=Column("numeric", 5),
    at=DATE,
)
add(
    "sql null in small letters",
    lines(
        ["price", "city"],
        each(lambda i: "null" if i % 8 == 3 else str(number(i))),
        each(lambda i: "null" if i % 8 == 4 else WORDS[i]),
    ),
    price=Column("numeric", 5, "null"),
    city=Column("nominal", 5),
)

# Google Sheets
add(
    "sheets",
    lines(
        ["Timestamp", "Share", "Done"],
        each(lambda i: day(i, "{m}/{d}/{y} {H}:{M:02}:00")),
        each(lambda i: f"{number(i) / 100:.2f}%"),
        ["TRUE" if yes else "FALSE" for yes in YES],
    ),
    Timestamp=DATE,
    Share=Column("numeric", note="in %"),
    Done=FLAG,
)
add(
    "sheets durations",
    lines(
        ["Duration", "Lap"],
        each(lambda i: f"{i}:{i * 7 % 60:02}:00"),
        each(lambda i: f"{i % 24:02}:{i * 7 % 60:02}:{i:02}.250"),
    ),
    Duration=TIME,
    Lap=TIME,
)

# By hand
BODY = lines(["Region", "Sales", "Date"], WORDS, PLAIN, ISO)
PARTS = {"Region": TEXT, "Sales": NUMBER, "Date": DATE}
add("title", "Sales of the year\n\n" + BODY, says="2 lines above", **PARTS)
add(
    "titles filled up",
    "Sales of the year,,\nAll regions,,\n,,\n" + BODY,
    says="3 lines above",
    **PARTS,
)
add(
    "title with a comma",
    '"Sales, by region"\n' + BODY,
    says="1 line above",
    **PARTS,
)
add("comments", "# made by hand\n# on Monday\n" + BODY, says="2 lines above", **PARTS)
add("source below", BODY + "\nSource: own survey\n", says="below", **PARTS)
add("source right below", BODY + "Source: own survey\n", says="below", **PARTS)
add("source filled up", BODY + ",,\nSource: own survey,,\n", says="below", **PARTS)
add(
    "notes below",
    "Sales\n" + BODY + "\n* preliminary\n** estimated, by region\n",
    says="below",
    **PARTS,
)
add("total below", BODY + "Total,98765.5,\n", **PARTS)
add("empty lines between", BODY.replace("\nred", "\n\nred"), **PARTS)
add(
    "units below the header",
    "Region,Weight,Height\n,kg,cm\n" + lines(None, WORDS, PLAIN, PLAIN),
    says="units",
    Region=TEXT,
    Weight=NUMBER,
    Height=NUMBER,
)
add(
    "wide header",
    lines([f"q{j}" for j in range(300)], *[PLAIN] * 299, WORDS),
    q0=NUMBER,
    q299=TEXT,
)
add("trailing commas", BODY.replace("\n", ",\n"), says="at the end of each", **PARTS)
add(
    "no header",
    lines(None, WORDS, PLAIN, ISO),
    "--no-header",
    says="no header",
    x0=TEXT,
    x1=NUMBER,
    x2=DATE,
)
add(
    "no header unseen",
    lines(None, each(lambda i: str(i / 8)), PLAIN, each(lambda i: KINDS[i % 3])),
    says="--no-header",
)
add("same names", lines(["a", "a"], WORDS, PLAIN), says="several columns called a")
add(
    "hand-made missing",
    lines(
        ["a", "b", "c", "d"],
        each(lambda i: "-" if i % 8 == 3 else str(number(i))),
        each(lambda i: "n/a" if i % 8 == 3 else str(number(i))),
        each(lambda i: "unknown" if i % 8 == 3 else str(number(i))),
        each(lambda i: "-" if i % 8 == 3 else ISO[i]),
    ),
    a=Column("numeric", 5, "'-'"),
    b=Column("numeric", 5),
    c=Column("numeric", 5, "'unknown'"),
    d=Column("date", 5, "'-'"),
)
add(
    "mixed quotes",
    lines(
        ['"name, full"', "x", "'y'"],
        each(lambda i: f'"{WORDS[i]}, ""dark"""' if i % 2 else WORDS[i]),
        each(lambda i: f'"{number(i)}"' if i % 3 else str(number(i))),
        each(lambda i: ["it's", "'so'"][i % 2]),
    ),
    x=NUMBER,
)
FILES["mixed quotes"].columns.update({"name, full": TEXT, "'y'": TEXT})

# Encodings
for _encoding, _words in {
    "latin-1": ["rouge foncé", "grün", "år"],
    "cp1251": ["красный", "зелёный", "синий"],
    "gbk": ["红色", "绿色", "蓝色"],
    "shift_jis": ["赤い", "緑の", "青い"],
    "utf-16": ["红色", "grün", "синий"],
}.items():
    add(
        f"encoding {_encoding}",
        lines(["colour", "x"], each(lambda i, w=_words: w[i % 3]), PLAIN),
        *(() if _encoding == "utf-16" else ("--encoding", _encoding)),
        encoding=_encoding,
        colour=TEXT,
        x=NUMBER,
    )
add("old mac", BODY.replace("\n", "\r"), **PARTS)

# Cells of one kind
add(
    "currencies",
    lines(
        ["before", "after", "code", "mixed"],
        each(lambda i: f"€{number(i):.2f}"),
        each(lambda i: f"{number(i):.2f} EUR"),
        each(lambda i: f"USD {number(i):.2f}"),
        each(lambda i: f"{'€$'[i % 2]}{number(i):.2f}"),
    ),
    before=Column("numeric", note="in €"),
    after=Column("numeric", note="in EUR"),
    code=Column("numeric", note="in USD"),
    mixed=Column("identifier", note="several units"),
)
add(
    "dates",
    lines(
        ["iso", "dotted", "short", "words", "english", "compact", "ym", "ambiguous"],
        ISO,
        each(lambda i: day(i, "{d}.{m}.{y}")),
        each(lambda i: day(i, "{d:02}/{m:02}/") + "21"),
        each(lambda i: day(i, "{d} {mon} {y}")),
        each(lambda i: '"' + day(i, "{mon} {d}, {y}") + '"'),
        each(lambda i: day(i, "{y}{m:02}{d:02}")),
        each(lambda i: day(i, "{y}/{m:02}")),
        each(lambda i: f"{i % 12 + 1:02}/{i * 5 % 12 + 1:02}/2020"),
    ),
    iso=DATE,
    dotted=DATE,
    short=Column("date", note="d/m/y"),
    words=DATE,
    english=DATE,
    compact=Column("numeric", note="as in dates"),
    ym=DATE,
    ambiguous=DATE,
)
add(
    "ambiguous dates",
    lines(["d", "x"], each(lambda i: f"{i % 12 + 1}/{i * 5 % 12 + 1}/2020"), PLAIN),
    d=Column("date", note="ambiguous"),
    x=NUMBER,
)
add(
    "a bad date",
    lines(
        ["d", "x"], ["31.02.2020", *each(lambda i: day(i, "{d}.{m}.{y}"))[1:]], PLAIN
    ),
    d=Column("date", 1, "31.02.2020"),
    x=NUMBER,
)
add(
    "months of other languages",
    lines(
        ["fr", "de", "es"],
        each(lambda i: f"{i % 28 + 1} {['janvier', 'août', 'décembre'][i % 3]} 2020"),
        each(lambda i: f"{i % 28 + 1}. {['März', 'Mai', 'Oktober'][i % 3]} 2020"),
        each(lambda i: f"{i % 28 + 1} de {['enero', 'abril', 'mayo'][i % 3]} de 2020"),
    ),
    fr=DATE,
    de=DATE,
    es=DATE,
)
add(
    "zones",
    lines(
        ["z", "named", "rfc"],
        each(lambda i: f"{ISO[i]}T10:{i:02}:00Z"),
        each(lambda i: f"{ISO[i]} 10:{i:02}:00 UTC"),
        each(lambda i: f'"Mon, {day(i, "{d:02} {mon} {y} {H:02}:{M:02}")}:00 +0200"'),
    ),
    z=DATE,
    named=DATE,
    rfc=DATE,
)
add(
    "truths",
    lines(
        ["yn", "yesno", "bit", "tf", "check"],
        ["Y" if yes else "N" for yes in YES],
        ["yes" if yes else "no" for yes in YES],
        ["1" if yes else "0" for yes in YES],
        ["true" if yes else "false" for yes in YES],
        each(lambda i: "x" if YES[i] else ""),
    ),
    yn=FLAG,
    yesno=FLAG,
    bit=FLAG,
    tf=FLAG,
    check=Column("constant", YES.count(False)),
)
add(
    "ids",
    lines(
        ["uuid", "customer", "zip", "phone", "iban"],
        each(lambda i: f"{i * 7919:08x}-1f2e-4d3c"),
        each(lambda i: str(100000 + i * 7919 % 90001)),
        each(lambda i: f"{1067 + i % 5 * 20011:05}"),
        each(lambda i: f"+49 30 {1234567 + i * 7}"),
        each(lambda i: f"DE{i:02} 3704 0044 0532 0130 {i:02}"),
    ),
    uuid=KEY,
    customer=Column("numeric", note="key"),
    zip=Column("nominal", note="leading zeros"),
    phone=KEY,
    iban=KEY,
)
add(
    "phones",
    lines(
        ["us", "german", "many"],
        each(lambda i: f"(555) 010-{1000 + i}"),
        each(lambda i: f"030 {123456 + i % 4}"),
        each(lambda i: f"0171/{5550000 + i}"),
    ),
    us=KEY,
    german=TEXT,
    many=KEY,
)
add(
    "times",
    lines(
        ["clock", "seconds", "half"],
        each(lambda i: f"{i % 24}:{i:02}"),
        each(lambda i: f"{i % 24:02}:{i:02}:59"),
        each(lambda i: f"{i % 12 + 1}:{i:02}{'ap'[i % 2]}m"),
    ),
    clock=TIME,
    seconds=TIME,
    half=TIME,
)
add(
    "signs",
    lines(
        ["unicode", "brackets", "behind", "plus"],
        each(lambda i: f"−{number(i)}" if i % 2 else str(number(i))),
        each(lambda i: f"({number(i)})" if i % 2 else str(number(i))),
        each(lambda i: f"{number(i)}-" if i % 2 else str(number(i))),
        each(lambda i: f"+{number(i)}" if i % 2 else f"-{number(i)}"),
    ),
    unicode=NUMBER,
    brackets=NUMBER,
    behind=NUMBER,
    plus=NUMBER,
)
add(
    "units in cells",
    lines(
        ["weight", "limit", "starred", "degrees"],
        each(lambda i: f"{20 + i % 13} kg"),
        each(lambda i: "<0.1" if i == 7 else str(number(i))),
        each(lambda i: f"{number(i)}*" if i == 7 else str(number(i))),
        each(lambda i: f"{20 + i % 13} °C"),
    ),
    weight=Column("nominal", note="kg"),
    limit=Column("numeric", 1, "<0.1"),
    starred=Column("numeric", 1, "*"),
    degrees=Column("nominal", note="°C"),
)
add(
    "ordered answers",
    lines(
        ["age", "grade", "stars"],
        each(lambda i: ["18-25", "26-35", "36-50", "50+"][i % 4]),
        each(lambda i: ["low", "mid", "high"][i % 3]),
        each(lambda i: "★" * (i % 5 + 1)),
    ),
    age=TEXT,
    grade=TEXT,
    stars=TEXT,
)
add(
    "ambiguous thousands",
    lines(
        ["n", "m"],
        each(lambda i: f'"{1 + i % 9},{100 + i * 7}"'),
        each(lambda i: f"{1 + i % 9}.{100 + i * 7}"),
    ),
    n=Column("numeric", note="ambiguous"),
    m=NUMBER,
)
add(
    "one decimal comma",
    lines(
        ["a", "b"],
        each(lambda i: "12,5" if i == 39 else str(i * 3 % 37)),
        each(lambda i: grouped(number(i), "", ",")),
        sep=";",
    ),
    a=NUMBER,
    b=NUMBER,
)

# Numbers and dates of further countries and programs
SIGNED = each(lambda i: (number(i) - 2000) * 1.5)
add(
    "sap",
    lines(
        ["Konto", "Saldo", "Menge", "Buchung"],
        each(lambda i: f"{400000 + i * 7919 % 90001}"),
        [f"{grouped(abs(v), '.', ','):>12}{'-' if v < 0 else ' '}" for v in SIGNED],
        [f"{abs(round(v)):>8}{'-' if v < 0 else ' '}" for v in SIGNED],
        each(lambda i: day(i, "{d:02}.{m:02}.{y}")),
        sep="\t",
    ),
    Konto=Column("numeric", note="key"),
    Saldo=Column("numeric", note="decimal commas"),
    Menge=NUMBER,
    Buchung=DATE,
)
add(
    "prices without cents",
    lines(
        ["preis", "price", "dash"],
        each(lambda i: f"{i + 3},- €" if i % 2 else f"{i + 3},50 €"),
        each(lambda i: f"{i + 3}.-" if i % 2 else f"{i + 3}.50"),
        each(lambda i: f"{i + 3},—" if i % 2 else f"{i + 3},50"),
        sep=";",
    ),
    preis=Column("numeric", note="in €"),
    price=NUMBER,
    dash=NUMBER,
)
add(
    "percent and plus",
    lines(
        ["anteil", "diff", "poll", "wert"],
        each(lambda i: f"{number(i) / 50:.1f} %".replace(".", ",")),
        [f"{v / 100:+.1f}".replace(".", ",") for v in SIGNED],
        [f"{v / 100:+.0f} %".replace("-", "−") for v in SIGNED],
        each(lambda i: f"{number(i) * 1e4:.2E}".replace(".", ",")),
        sep=";",
    ),
    anteil=Column("numeric", note="in %"),
    diff=Column("numeric", note="decimal commas"),
    poll=Column("numeric", note="in %"),
    wert=Column("numeric", note="decimal commas"),
)
add(
    "brazilian",
    lines(
        ["valor", "depois", "data", "ativo"],
        each(lambda i: "R$ " + grouped(number(i), ".", ",")),
        each(lambda i: grouped(number(i), ".", ",") + " R$"),
        each(lambda i: day(i, "{d:02}/{m:02}/{y}")),
        ["VERDADEIRO" if yes else "FALSO" for yes in YES],
        sep=";",
    ),
    valor=Column("numeric", note="in R$"),
    depois=Column("numeric", note="in R$"),
    data=Column("date", note="d/m/y"),
    ativo=FLAG,
)
add(
    "scandinavian",
    lines(
        ["pris", "beløb", "dato", "dag"],
        each(lambda i: grouped(number(i), ".", ",") + " kr."),
        each(lambda i: "kr " + grouped(number(i), "\xa0", ",")),
        each(lambda i: day(i, "{d:02}-{m:02}-{y}")),
        each(lambda i: f"{i % 28 + 1}. {['januar', 'mai', 'oktober'][i % 3]} 2020"),
        sep=";",
    ),
    pris=Column("numeric", note="in kr."),
    beløb=Column("numeric", note="in kr"),
    dato=Column("date", note="d-m-y"),
    dag=DATE,
)
add(
    "polish and czech",
    lines(
        ["cena", "koruny", "datum", "forint"],
        each(lambda i: grouped(number(i), " ", ",") + " zł"),
        each(lambda i: grouped(number(i), "\xa0", ",") + " Kč"),
        each(lambda i: day(i, "{d}. {m}. {y}")),
        each(lambda i: grouped(number(i) * 100, " ", ",", 0) + " Ft"),
        sep=";",
    ),
    cena=Column("numeric", note="in zł"),
    koruny=Column("numeric", note="in Kč"),
    datum=DATE,
    forint=Column("numeric", note="in Ft"),
)
add(
    "hungarian and korean dates",
    lines(
        ["kelt", "nap", "korean"],
        each(lambda i: day(i, "{y}.{m:02}.{d:02}.")),
        each(lambda i: day(i, "{y}. {m:02}. {d:02}. {H:02}:{M:02}")),
        each(lambda i: day(i, "{y}. {m}. {d}")),
    ),
    kelt=DATE,
    nap=DATE,
    korean=DATE,
)
add(
    "japanese",
    lines(
        ["日付", "金額", "円", "割合", "可否"],
        each(lambda i: day(i, "{y}年{m}月{d}日")),
        each(lambda i: f'"￥{number(i) * 10:,.0f}"'),
        each(lambda i: f'"{number(i) * 10:,.0f}円"'),
        each(lambda i: f"{number(i) / 50:.1f}%"),
        ["○" if yes else "×" for yes in YES],
    ),
    "--encoding",
    "cp932",
    encoding="cp932",
    日付=Column("date", note="y年m月d日"),
    金額=Column("numeric", note="in ￥"),
    円=Column("numeric", note="in 円"),
    割合=Column("numeric", note="in %"),
    可否=FLAG,
)
add(
    "chinese",
    lines(
        ["日期", "收入", "是否", "时间"],
        each(lambda i: day(i, "{y}-{m}-{d}")),
        each(lambda i: f"{number(i):.2f}元"),
        ["是" if yes else "否" for yes in YES],
        each(lambda i: day(i, "{y}/{m}/{d} {H}:{M:02}")),
    ),
    "--encoding",
    "gb18030",
    encoding="gb18030",
    日期=DATE,
    收入=Column("numeric", note="in 元"),
    是否=FLAG,
    时间=DATE,
)
add(
    "japanese eras",
    lines(["日", "x"], each(lambda i: f"令和{i % 4 + 2}年{i % 12 + 1}月1日"), PLAIN),
    日=DATE,
    x=NUMBER,
)
add(
    "russian",
    lines(
        ["цена", "дата", "да"],
        each(lambda i: grouped(number(i), "\xa0", ",") + " руб."),
        each(lambda i: day(i, "{d:02}.{m:02}.{y}")),
        ["ИСТИНА" if yes else "ЛОЖЬ" for yes in YES],
        sep=";",
    ),
    "--encoding",
    "utf-8",
    цена=Column("numeric", note="in руб."),
    дата=DATE,
    да=FLAG,
)
add(
    "years of two digits",
    lines(
        ["us", "german", "born", "iso"],
        each(lambda i: day(i, "{m}/{d}/") + f"{17 + i % 6}"),
        each(lambda i: day(i, "{d:02}.{m:02}.") + f"{17 + i % 6}"),
        each(lambda i: day(i, "{d:02}-{mon}-") + f"{(50 + i * 3) % 100:02}"),
        each(lambda i: day(i, "{mon} ") + f"{17 + i % 6}"),
    ),
    us=Column("date", note="m/d/y"),
    german=DATE,
    born=DATE,
    iso=TEXT,
)
add(
    "excel serial dates",
    lines(["Datum", "x"], each(lambda i: 43831 + i * 37 % 900), PLAIN),
    Datum=Column("numeric", note="numbers as Excel stores dates"),
    x=NUMBER,
)
add(
    "excel texts as formulas",
    lines(["code", "x"], each(lambda i: f'="{i % 5:03}"'), PLAIN),
    code=TEXT,
    x=NUMBER,
)
add(
    "quarters and weeks",
    lines(
        ["q", "week", "month", "years"],
        each(lambda i: f"{2019 + i % 3}Q{i % 4 + 1}"),
        each(lambda i: f"2020-W{i % 20 + 1:02}"),
        each(lambda i: f"{2019 + i % 3}M{i % 12 + 1:02}"),
        each(lambda i: f"{2012 + i % 8}/{13 + i % 8}"),
    ),
    q=Column("date", note="dates as y quarter"),
    week=Column("date", note="dates as y week"),
    month=Column("date", note="dates as yMm"),
    years=Column("date", note="dates as y/y"),
)
add(
    "truths of countries",
    lines(
        ["de", "fr", "es", "it"],
        ["WAHR" if yes else "FALSCH" for yes in YES],
        ["VRAI" if yes else "FAUX" for yes in YES],
        ["VERDADERO" if yes else "FALSO" for yes in YES],
        ["VERO" if i % 3 else "FALSO" for i in range(N)],
        sep=";",
    ),
    de=FLAG,
    fr=FLAG,
    es=FLAG,
    it=FLAG,
)

# Statistical offices
add(
    "eurostat",
    lines(
        ["geo", "2019", "2020"],
        each(lambda i: f"{'ABCDEFGH'[i % 8]}{i}"),
        each(lambda i: ": " if i % 5 == 3 else f"{number(i):.1f} "),
        each(lambda i: ":" if i % 7 == 3 else str(round(number(i)))),
        sep="\t",
    ),
    geo=KEY,
)
FILES["eurostat"].columns.update(
    {"2019": Column("numeric", 8, "':'"), "2020": Column("numeric", 6, "':'")}
)
add(
    "title, units and notes",
    "Table 3: Sales by region\nin thousands\n\n"
    + "Region,Sales,Share\n,EUR,%\n"
    + lines(None, WORDS, PLAIN, each(lambda i: f"{i * 7 % 40 / 4}"))
    + "\nSource: own survey\n1) preliminary\n",
    says="3 lines above",
    Region=TEXT,
    Sales=NUMBER,
    Share=NUMBER,
)

# Layouts
add(
    "names of two lines",
    lines(['"Sales\n(EUR)"', '"Region\nname"'], PLAIN, WORDS, end="\r\n"),
)
FILES["names of two lines"].columns.update(
    {"Sales\n(EUR)": NUMBER, "Region\nname": TEXT}
)
add(
    "names in two rows",
    ",2019,,2020,\nRegion,Sales,Costs,Sales,Costs\n"
    + lines(None, WORDS, PLAIN, PLAIN, PLAIN, PLAIN),
    says="names in two rows, joined",
)
FILES["names in two rows"].columns.update(
    {"Region": TEXT, "2019 Sales": NUMBER, "2020 Costs": NUMBER}
)
PAGES = BODY.splitlines(keepends=True)
add(
    "the header again on every page",
    "".join(
        line + PAGES[0] * (i % 10 == 9) for i, line in enumerate(PAGES) if i < N + 1
    ),
    says="is repeated in 4 lines, left out",
    **PARTS,
)
add(
    "utf-16 of the other order",
    "\ufeff" + lines(["Größe", "b", "d"], WORDS, PLAIN, ISO, sep="\t", end="\r\n"),
    encoding="utf-16-be",
    says="tabs",
    Größe=TEXT,
    b=NUMBER,
    d=DATE,
)
add(
    "tabs and quoted lines",
    lines(
        ["note", "x"],
        each(lambda i: f'"{WORDS[i]}\n\tdark"' if i % 2 else WORDS[i]),
        PLAIN,
        sep="\t",
        end="\r\n",
    ),
    says="tabs",
    note=TEXT,
    x=NUMBER,
)
add(
    "fixed width",
    "".join(
        f"{a:<10}{b:>12}{c:>14}\n"
        for a, b, c in [
            ("region", "sales", "day"),
            *zip(WORDS, map(str, PLAIN), ISO, strict=True),
        ]
    ),
    says="blanks",
    region=TEXT,
    sales=NUMBER,
    day=DATE,
)
add("lines that end twice", BODY.replace("\n", "\r\r\n"), **PARTS)
add(
    "blanks behind commas",
    lines(["Region", "Sales", "Date"], WORDS, PLAIN, ISO, sep=", "),
    **PARTS,
)
add(
    "spss labels",
    lines(
        ["q1", "q2", "weight"],
        each(lambda i: ["1 - agree", "2 - neutral", "3 - disagree"][i % 3]),
        each(lambda i: "-99" if i % 8 == 3 else str(i % 5 + 1)),
        each(lambda i: f"{number(i) / 1000:.6f}".replace("0.", ".", 1)),
    ),
    q1=TEXT,
    q2=FLAG,
    weight=NUMBER,
)

# Surveys, registers and banks
add(
    "stata as csv",
    lines(
        ["id", "sex", "income", "visit", "month"],
        each(lambda i: i + 1),
        each(lambda i: ["Male", "Female"][YES[i]]),
        each(lambda i: "." if i % 8 == 3 else f"{number(i):.0f}"),
        each(lambda i: day(i, "{d:02}{mon}{y}").lower()),
        each(lambda i: f"{2019 + i % 3}m{i % 12 + 1}"),
    ),
    id=Column("numeric", note="counts the rows"),
    sex=TEXT,
    income=Column("numeric", 5, "'.'"),
    visit=DATE,
    month=DATE,
)
QUOTED = {"sep": '","', "end": '"\n"'}
add(
    "limesurvey",
    '"'
    + lines(
        ["id", "submitdate", "startlanguage", "G1Q1[SQ001]", "G1Q2. How old?"],
        each(lambda i: i + 1),
        each(lambda i: day(i, "{y}-{m:02}-{d:02} {H:02}:{M:02}:07")),
        each(lambda i: ["de", "en"][i % 2]),
        each(lambda i: ["Yes", "No", "N/A"][i % 3]),
        each(lambda i: "" if i % 8 == 3 else str(18 + i * 7 % 60)),
        **QUOTED,
    ).removesuffix('"'),
    id=Column("numeric", note="counts the rows"),
    submitdate=DATE,
    startlanguage=TEXT,
)
FILES["limesurvey"].columns.update(
    {"G1Q1[SQ001]": Column("nominal", 13), "G1Q2. How old?": Column("numeric", 5)}
)
add(
    "qualtrics",
    "StartDate,Progress,Q1,Q2_1\n"
    'Start Date,Progress,"What do you like, most of all?",How much? - in euros\n'
    '"{""ImportId"":""startDate"",""timeZone"":""Z""}","{""ImportId"":""progress""}",'
    '"{""ImportId"":""QID1""}","{""ImportId"":""QID2_1""}"\n'
    + lines(
        None,
        each(lambda i: day(i, "{y}-{m:02}-{d:02} {H:02}:{M:02}:07")),
        each(lambda i: [100, 50, 75][i % 3]),
        WORDS,
        PLAIN,
    ),
    says="2 lines",
    StartDate=DATE,
    Progress=FLAG,
    Q1=TEXT,
    Q2_1=NUMBER,
)
add(
    "redcap",
    lines(
        ["record_id", "redcap_event_name", "age", "symptoms___1", "sex", "visit"],
        each(lambda i: f"{i // 2 + 1}"),
        each(lambda i: ["baseline_arm_1", "followup_arm_1"][i % 2]),
        each(lambda i: "" if i % 2 else str(30 + i * 7 % 50)),
        each(lambda i: str(i % 3 % 2)),
        each(lambda i: "" if i % 2 else str(YES[i] + 1)),
        each(lambda i: day(i, "{y}-{m:02}-{d:02} {H:02}:{M:02}")),
    ),
    redcap_event_name=TEXT,
    age=Column("numeric", 20),
    sex=Column("nominal", 20),
    visit=DATE,
)
FILES["redcap"].columns["symptoms___1"] = FLAG
add(
    "google forms",
    lines(
        ["Timestamp", "Your choices", "How much?"],
        each(lambda i: day(i, "{y}/{m:02}/{d:02} ") + f"{i % 12 + 1}:07:09 PM GMT+2"),
        each(lambda i: ['"tea, coffee"', "tea", '"tea, cocoa"'][i % 3]),
        PLAIN,
    ),
    Timestamp=DATE,
    Your__choices=TEXT,
)
FILES["google forms"].columns["How much?"] = NUMBER
add(
    "german bank",
    '"Kontonummer:";"DE12 3456 / Girokonto"\n\n"Von:";"01.01.2019"\n'
    '"Bis:";"31.12.2021"\n\n'
    + lines(
        ['"Buchungstag"', '"Verwendungszweck"', '"Betrag (EUR)"', '"Waehrung"'],
        each(lambda i: day(i, '"{d:02}.{m:02}.{y}"')),
        each(lambda i: f'"{["Miete", "Lohn", "Einkauf; bar"][i % 3]}"'),
        each(lambda i: f'"{"-" * (i % 2)}{grouped(number(i), ".", ",")}"'),
        ['"EUR"'] * N,
        sep=";",
    ),
    says="semicolons",
    Buchungstag=DATE,
    Verwendungszweck=TEXT,
    Waehrung=Column("constant"),
)
FILES["german bank"].columns["Betrag (EUR)"] = NUMBER
add(
    "us bank",
    lines(
        ["Details", "Posting Date", "Amount", "Balance"],
        each(lambda i: ["DEBIT", "CREDIT"][i % 2]),
        each(lambda i: day(i, "{m:02}/{d:02}/{y}")),
        each(lambda i: f"{'-' * (i % 2)}{number(i):.2f}"),
        each(lambda i: f'"${grouped(number(i) * 3, ",", ".")}"'),
        end=",\n",
    ).replace("Balance,", "Balance"),
    Details=TEXT,
    Posting__Date=DATE,
    Amount=NUMBER,
    Balance=NUMBER,
)
add(
    "eurostat flags",
    lines(
        ["geo\\time", "2019 b", "2020"],
        each(lambda i: ["DE", "FR", "IT", "AT", "BE"][i % 5]),
        each(lambda i: ":" if i % 8 == 3 else f"{number(i):.1f}"),
        each(lambda i: f"{number(i):.1f}" + [" b", " p", ""][i % 3]),
        sep="\t",
    ),
    says="tabs",
)
FILES["eurostat flags"].columns.update(
    {"2019 b": Column("numeric", 5, "':'"), "2020": KEY}
)
add(
    "world bank",
    '"Data Source","World Development Indicators",\n\n'
    '"Last Updated Date","2024-03-28",\n\n'
    + lines(
        ["Country Name", "Country Code", "Indicator", "2019", "2020", ""],
        each(lambda i: f'"Land {i}, Rep."'),
        each(lambda i: "ABCDEFGH"[i % 8] + f"{i:02}"),
        ["GDP"] * N,
        each(lambda i: "" if i % 8 == 3 else number(i)),
        PLAIN,
        [""] * N,
    ),
    says="4 lines above",
    Country__Name=KEY,
    Country__Code=KEY,
    Indicator=Column("constant"),
)
FILES["world bank"].columns.update({"2019": Column("numeric", 5), "2020": NUMBER})

# What looks like a number, date or missing cell, and is none
add(
    "codes like numbers",
    lines(
        ["icd", "part", "mixed", "float"],
        each(lambda i: ["1E10", "1E30", "1E50", "2E05"][i % 4]),
        each(lambda i: f"{10 + i % 3}E{i % 4 + 1}"),
        each(lambda i: ["E11", "1E10", "I10", "5A11"][i % 4]),
        each(lambda i: f"{number(i):.2E}" if i % 2 else f"{i}e{i % 4 + 1}"),
    ),
    icd=TEXT,
    part=TEXT,
    mixed=TEXT,
    float=NUMBER,
)
add(
    "genes",
    lines(
        ["gene", "excel", "chromosome", "position"],
        each(lambda i: ["SEPT2", "MARCH1", "DEC1", "TP53", "1-Mar"][i % 5]),
        each(lambda i: ["2-Sep", "1-Mar", "1-Dec"][i % 3]),
        each(lambda i: [*range(1, 8), "X", "Y", "MT"][i % 10]),
        each(lambda i: 10_000 + i * 7919 % 90_001),
    ),
    gene=TEXT,
    excel=TEXT,
    chromosome=TEXT,
    position=Column("numeric"),
)
add(
    "countries",
    lines(
        ["iso2", "iso3", "value"],
        each(lambda i: ["DE", "NA", "FR", "NO", "ZA"][i % 5]),
        each(lambda i: ["DEU", "NAM", "FRA", "NOR", "ZAF"][i % 5]),
        PLAIN,
    ),
    "--keep-na",
    iso2=TEXT,
    iso3=TEXT,
    value=NUMBER,
)
add(
    "addresses of computers",
    lines(
        ["ip", "net", "mac", "version"],
        each(lambda i: f"192.168.{100 + i % 5}.{120 + i % 3}"),
        each(lambda i: f"10.0.{i % 4}.0/24"),
        each(lambda i: f"00:1B:44:11:3A:{i % 7:02}"),
        each(lambda i: f"{i % 3}.{i % 4}.{i % 2}"),
    ),
    ip=TEXT,
    net=TEXT,
    mac=TEXT,
    version=TEXT,
)
add(
    "places on earth",
    lines(
        ["lat", "lon", "both", "degrees"],
        each(lambda i: f"{-60 + i * 3.0625:.4f}"),
        each(lambda i: f"{(i * 37 % 41) * 4 - 80.5:.6f}"),
        each(lambda i: f'"{50 + i % 3}.25, {10 + i % 4}.5"'),
        each(lambda i: f"{50 + i % 3}°31′{10 + i % 4}″N"),
    ),
    lat=NUMBER,
    lon=NUMBER,
    both=TEXT,
    degrees=TEXT,
)
add(
    "answers of countries",
    lines(
        ["de", "fr", "it", "es", "nl", "pl", "mark"],
        ["ja" if yes else "nein" for yes in YES],
        ["oui" if yes else "non" for yes in YES],
        ["si" if yes else "no" for yes in YES],
        ["sí" if yes else "no" for yes in YES],
        ["ja" if yes else "nee" for yes in YES],
        ["tak" if yes else "nie" for yes in YES],
        each(lambda i: ["x", "-"][YES[i]]),
    ),
    de=FLAG,
    fr=FLAG,
    it=FLAG,
    es=FLAG,
    nl=FLAG,
    pl=FLAG,
)
add(
    "durations",
    lines(
        ["french", "english", "iso", "clock", "score", "pressure"],
        each(lambda i: f"{i % 5}h{i * 7 % 6}0"),
        each(lambda i: f"{i % 5} h {i * 7 % 60} min"),
        each(lambda i: f"PT{i % 5}H{i % 7}M"),
        each(lambda i: f"{i % 24:02}:{i:02}"),
        each(lambda i: f"{i % 4}:{i % 3}"),
        each(lambda i: f"{110 + i % 7 * 5}/{70 + i % 4 * 5}"),
    ),
    clock=TIME,
    score=TEXT,
    pressure=TEXT,
    french=TEXT,
    iso=TEXT,
)
add(
    "numbers of telephones",
    lines(
        ["plus", "card", "german", "zip", "swiss"],
        each(lambda i: f"+49301{234567 + i * 7919}"),
        each(lambda i: f"4111 1111 {1000 + i * 37} {1111 + i * 101}"),
        each(lambda i: f"0{30 + i % 4}{123456 + i % 5}"),
        each(lambda i: ["02134", "10001", "90210", "60601"][i % 4]),
        each(lambda i: f"{8000 + i % 5}"),
    ),
    german=Column("nominal", note="leading zeros"),
    zip=Column("nominal", note="leading zeros"),
    card=KEY,
    plus=KEY,
)
add(
    "years and periods",
    lines(
        ["fiscal", "season", "half", "year", "decade"],
        each(lambda i: f"FY{2015 + i % 6}"),
        each(lambda i: f"{2015 + i % 6}/{16 + i % 6}"),
        each(lambda i: f"{2015 + i % 6}-H{i % 2 + 1}"),
        each(lambda i: str(1980 + i % 40)),
        each(lambda i: f"{1950 + i % 5 * 10}s"),
    ),
    fiscal=Column("date", note="dates as fiscal y"),
    season=Column("date", note="dates as y/y"),
    half=Column("date", note="dates as y half"),
    year=NUMBER,
    decade=TEXT,
)
add(
    "colours and links",
    lines(
        ["colour", "link", "share", "range"],
        each(lambda i: ["#ff0000", "#00ff00", "#0000ff"][i % 3]),
        each(lambda i: f"https://example.org/?q={i},{i}".replace(",", ";")),
        each(lambda i: ["1/2", "3/4", "1/4"][i % 3]),
        each(lambda i: ["10–20", "20–30", "> 30"][i % 3]),
    ),
    colour=TEXT,
    link=KEY,
    share=TEXT,
    range=TEXT,
)
add(
    "names in two rows above units",
    ",2019,,2020,\nRegion,Sales,Costs,Sales,Costs\n,EUR,EUR,EUR,EUR\n"
    + lines(None, WORDS, PLAIN, PLAIN, PLAIN, PLAIN),
    says="names in two rows, joined",
)
FILES["names in two rows above units"].columns.update(
    {"Region": TEXT, "2019 Sales": NUMBER, "2020 Costs": NUMBER}
)
add(
    "fixed width with blanks in cells",
    "".join(
        f"{a:<14}{b:>10}  {c}\n"
        for a, b, c in [
            ("town", "size", "day"),
            *zip(
                each(lambda i: ["New York", "Los Angeles", "Rome"][i % 3]),
                map(str, PLAIN),
                ISO,
                strict=True,
            ),
        ]
    ),
    says="columns of fixed width",
    town=TEXT,
    size=NUMBER,
    day=DATE,
)
add(
    "queried by sqlplus",
    "TOWN              SIZE_\n------------ ----------\n"
    + "".join(
        f"{['New York', 'Los Angeles', 'Rome'][i % 3]:<12}{PLAIN[i]:>11}\n"
        for i in range(N)
    ),
    TOWN=TEXT,
    SIZE_=NUMBER,
)
add(
    "excel errors of countries",
    lines(
        ["german", "french", "italian", "english"],
        each(lambda i: "#NV" if i % 5 == 2 else str(number(i))),
        each(lambda i: "#VALEUR!" if i % 5 == 3 else str(number(i))),
        each(lambda i: "#N/D" if i % 5 == 1 else str(number(i))),
        each(lambda i: "#NAME?" if i % 5 == 4 else str(number(i))),
    ),
    german=Column("numeric", 8, "'#NV', taken as missing"),
    french=Column("numeric", 8),
    italian=Column("numeric", 8),
    english=Column("numeric", 8),
)
add(
    "excel accounting",
    lines(
        ["profit", "loss"],
        each(lambda i: f'" $ {number(i):,.2f} "' if i % 3 else f'" $ ({number(i)}) "'),
        each(lambda i: f"€({number(i)})" if i % 2 else f"(€{number(i)})"),
    ),
    profit=Column("numeric", note="in $"),
    loss=Column("numeric", note="in €"),
)
add(
    "prices with strokes",
    lines(
        ["fee", "fare"],
        each(lambda i: f'"Rs. {indian(number(i))[:-3]}/-"'),
        each(lambda i: f'"{grouped(number(i) * 99, ",", ".", 0)}/="'),
    ),
    fee=Column("numeric", note="commas between thousands, in Rs."),
    fare=Column("numeric", note="commas between thousands"),
)
add(
    "stata and sas missing by reason",
    lines(
        ["stata", "sas"],
        each(lambda i: f".{'abz'[i % 3]}" if i % 4 == 2 else str(number(i))),
        each(lambda i: ["._", ".R"][i % 2] if i % 4 < 2 else str(number(i))),
    ),
    stata=Column("numeric", 10, "taken as missing"),
    sas=Column("numeric", 20),
)
add(
    "dates in two ways",
    lines(
        ["day", "kind"],
        each(lambda i: day(i, ["{y}-{m:02}-{d:02}", "{d}.{m}.{y}"][i % 2])),
        WORDS,
    ),
    day=Column("identifier", note="dates written in several ways, kept as text"),
    kind=TEXT,
)
add(
    "spss fractions",
    lines(
        ["x", "n"],
        each(lambda i: f"{number(i) / 9999:.4f}".removeprefix("0").replace(".", ",")),
        each(lambda i: i % 4),
        sep=";",
    ),
    says="the decimal sign is a comma",
    x=NUMBER,
    n=TEXT,
)
add(
    "r infinite",
    lines(["x"], each(lambda i: ["Inf", "-Inf"][i % 2] if i % 4 == 0 else PLAIN[i])),
    says="column 'x' holds infinity",
)
add(
    "nines for missing cells",
    lines(
        ["age", "temperature", "score", "price"],
        each(lambda i: 999 if i % 9 == 4 else 20 + i),
        each(lambda i: "-99.0" if i % 9 == 5 else f"{20 + i % 13 / 4:.1f}"),
        each(lambda i: 60 + i),  # up to 99
        each(lambda i: 999 if i == 7 else i * 25),
    ),
    age=Column("numeric", note="999 in 4 cells is far from all other numbers"),
    temperature=Column("numeric", note="-99 in 4 cells is far from all other numbers"),
    score=NUMBER,
    price=NUMBER,
)
add(
    "abbreviated numbers",
    lines(
        ["views", "fans", "worth", "people"],
        each(lambda i: f"{i * 7 % 41 + 1.2:.1f}M"),
        each(lambda i: f"{i * 7 % 9 + 3}k"),
        each(lambda i: f"${i * 3 % 17 + 1.5}B"),
        each(lambda i: f"{i * 7 % 9 + 1} Mio."),
    ),
    views=Column("identifier", note="numbers with the unit 'M', kept as text"),
    fans=Column("nominal", note="numbers with the unit 'k', kept as text"),
    worth=Column("nominal", note="numbers with the unit 'B', kept as text"),
    people=Column("nominal", note="numbers with the unit 'Mio.', kept as text"),
)
add(
    "digits of other scripts",
    lines(
        ["wide", "arabic", "hindi", "colour"],
        each(lambda i: in_script(i * 37 % 19, 0xFF10)),
        each(lambda i: in_script(i * 37 % 19, 0x660)),
        each(lambda i: in_script(i * 37 % 19, 0x966)),
        WORDS,
    ),
    wide=Column("nominal", note="numbers in digits other than 0 to 9, kept as text"),
    arabic=Column("nominal", note="numbers in digits other than 0 to 9, kept as text"),
    hindi=Column("nominal", note="numbers in digits other than 0 to 9, kept as text"),
    colour=TEXT,
)
add(
    "integers of more than 64 bits",
    lines(
        ["hash", "key", "long"],
        each(lambda i: (1 << 63) + i % 5),
        each(lambda i: (1 << 64) - 1 - i),
        each(lambda i: (1 << 62) + i % 12),
    ),
    hash=Column("nominal", note="integers beyond 64 bits, kept as text"),
    key=Column("identifier", note="integers beyond 64 bits, kept as text"),
    long=NUMBER,
)
add(
    "markdown",
    lines(
        ["| a ", " b |"], each(lambda i: f"| {i} "), each(lambda i: " x |"), sep="|"
    ).replace("\n", "\n|---|---|\n", 1),
    says="a table drawn with bars and lines",
)
add(
    "limits of laboratories",
    lines(
        ["crp", "psa"],
        each(lambda i: "<5" if i % 4 == 0 else str(i * 7 % 41 + 5.5)),
        each(lambda i: ">100" if i % 5 == 0 else str(i * 7 % 41 + 5)),
    ),
    crp=Column(
        "nominal", note="30 of 40 cells are numbers, others are text such as '<5'"
    ),
    psa=Column(
        "nominal", note="32 of 40 cells are numbers, others are text such as '>"
    ),
)
