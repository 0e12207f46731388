"""How texts spell numbers, booleans, dates and times."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from bayleaf import NaiveBayesClassifier
from bayleaf.data import text_forms
from bayleaf.data.date_texts import iso_clocks, moments_of
from bayleaf.data.text_forms import (
    FileSigns,
    TextDecision,
    TextEvidence,
    TextForm,
    decide,
    file_signs,
    read_texts,
)
from property.for_all import for_all

NUMBERS = [str(number) for number in range(100, 160)]


def decided(cells: list[str | None], signs: FileSigns | None = None) -> TextDecision:
    """The decision on a column of these cells."""
    evidence = TextEvidence.of(pa.array(cells, pa.string()))
    return decide(evidence, signs or FileSigns())


def values(cells: Sequence[str | None], form: TextForm | None = None) -> list[Any]:
    """What cells are read as, None where they are missing."""
    form = form or decided(cells).form
    read = read_texts(form, pa.array(cells, pa.string()))
    found = read.values.tolist()
    return [None if m else v for v, m in zip(found, read.missing, strict=True)]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1.5", "2", "-3.25", "+4", "1e3", ".5"], [1.5, 2, -3.25, 4, 1000, 0.5]),
        (["1.234,56", "12,5", "1.000"], [1234.56, 12.5, 1000]),
        (["1,234.56", "12.5", "1,000"], [1234.56, 12.5, 1000]),
        (["1 234,56", "12,5", "1\u202f000"], [1234.56, 12.5, 1000]),
        (["1\u00a0234.5", "12.5"], [1234.5, 12.5]),
        (["1'234.50", "3.25"], [1234.5, 3.25]),
        (["1’234,50", "3,25"], [1234.5, 3.25]),
        (["12,34,567.80", "5.5"], [1234567.8, 5.5]),
        (["1.234.567", "2.345.678"], [1234567, 2345678]),
        (["(1,234.50)", "2.00"], [-1234.5, 2]),
        (["−1.5", "2"], [-1.5, 2]),
        (["1.5-", "2"], [-1.5, 2]),
        (["12,5 %", "3 %"], [12.5, 3]),
        (["12.5%", "100%"], [12.5, 100]),
        (["1.234,50 €", "3,00 €"], [1234.5, 3]),
        (["-$5.00", "$1,200.00"], [-5, 1200]),
        (["USD 5", "USD 6"], [5, 6]),
        ([" 7 ", "8"], [7, 8]),
        (["12,- €", "-3,50 €", "1.200,-- €", "7,— €"], [12, -3.5, 1200, 7]),
        (["12.-", "13.50", "1'200.–", "5.50-"], [12, 13.5, 1200, -5.5]),
        (["1,200円", "30円"], [1200, 30]),
        (["NZ$1.50", "-NZ$2"], [1.5, -2]),
        (["$ (1,234.50)", "($2)", "$ 3"], [-1234.5, -2, 3]),
        (["Rs. 1,23,456/-", "Rs. 500/-"], [123456, 500]),
    ],
)
def test_numbers_of_all_countries(cells: list[str], numbers: list[float]) -> None:
    assert decided([*cells]).form.kind == "number"
    assert values([*cells]) == numbers


@pytest.mark.parametrize(
    "cells",
    [
        ["007", "012"],
        ["$5", "€6"],
        ["5 %", "0.5"],
        ["12 kg", "13 kg"],
        ["1.234,56", "1,234.56"],
        ["1,2,3", "4"],
        ["A", "1", "2"],
        ["0x1F", "10"],
        ["1.2.3", "1.2.4"],
        ["12,34", "1,234.5"],
        ["--5", "6"],
        ["(5", "6"],
    ],
)
def test_what_is_not_a_number_in_all_cells_stays_text(cells: list[str]) -> None:
    assert decided([*cells]).form.kind == "text"


def test_a_column_of_threes_is_decided_by_the_other_columns() -> None:
    cells: list[str | None] = ["1,234", "2,345"]
    assert values(cells) == [1234, 2345]
    comma = decided(cells, FileSigns(decimal_comma=True))
    assert values(cells, comma.form) == [1.234, 2.345]
    assert "ambiguous" in comma.notes[-1]
    points: list[str | None] = ["1.234", "2.345"]
    assert decided(points).notes == ()
    german = decided(points, FileSigns(decimal_comma=True))
    assert values(points, german.form) == [1234, 2345]


def test_columns_reveal_the_signs_of_a_table() -> None:
    columns = [["1,5", "2"], ["31/12/2020", "1/2/2021"], ["1", "2"]]
    evidence = [TextEvidence.of(pa.array(cells)) for cells in columns]
    assert file_signs(evidence, FileSigns()) == FileSigns(True, True)
    evidence.append(TextEvidence.of(pa.array(["1.5"])))
    assert file_signs(evidence, FileSigns()) == FileSigns(None, True)


def test_few_words_among_numbers_are_missing_and_named() -> None:
    found = decided([*NUMBERS, "", " ", "unknown", "-", "refused"])
    assert found.form.kind == "number"
    assert set(found.form.missing) == {"", "unknown", "-", "refused"}
    assert "5 of 65 cells are blank" in found.notes[-1]
    assert "'refused'" in found.notes[-1]


def test_many_words_or_few_numbers_are_text() -> None:
    assert decided([*NUMBERS, *["a", "b", "c", "d", "e", "f"]]).form.kind == "text"
    assert decided([*NUMBERS, *["a"] * 10]).form.kind == "text"
    assert decided(["1", "2", "3", "4", "A"]).form.kind == "text"
    found = decided([*NUMBERS, *[f"{number} kg" for number in range(10)]])
    assert "60 of 70 cells are numbers" in found.notes[0]


@pytest.mark.parametrize("n_infinite", [1, 5, 40])
def test_infinite_numbers_are_an_error_however_many(n_infinite: int) -> None:
    texts = pa.array([*NUMBERS, *["-Inf", "inf"] * n_infinite])
    with pytest.raises(ValueError, match="column 'x' holds infinity"):
        NaiveBayesClassifier().fit(
            pa.table({"x": texts}), ["a", "b"] * (len(texts) // 2)
        )


def test_booleans_in_any_case_and_their_missing_cells() -> None:
    assert values(["TRUE", "false", "True", "NA", None]) == [
        True,
        False,
        True,
        None,
        None,
    ]
    assert decided(["yes", "no"]).form.kind == "text"


@pytest.mark.parametrize(
    ("cells", "order", "first"),
    [
        (["2020-01-31", "2021-03-04"], "y-m-d", (2020, 1, 31)),
        (["2020/1/31", "2021/3/4"], "y/m/d", (2020, 1, 31)),
        (["31/12/2020", "01/02/2021"], "d/m/y", (2020, 12, 31)),
        (["12/31/2020", "1/2/2021"], "m/d/y", (2020, 12, 31)),
        (["1.2.2020", "31.12.20"], "d.m.y", (2020, 2, 1)),
        (["31-12-1999", "1-2-99"], "d-m-y", (1999, 12, 31)),
        (["1. 2. 2020", "31.12.2020."], "d.m.y", (2020, 2, 1)),
        (["01.02.2020 r.", "31.12.2020r.", "1.2.2021 г. 9:05"], "d.m.y", (2020, 2, 1)),
        (["1/Jan/2001", "10/Oct/2000:13:55:36"], "d month y", (2001, 1, 1)),
        (["2020.02.01.", "2020. 2. 1. 10:30"], "y.m.d", (2020, 2, 1)),
        (["2020年2月1日", "2020년 2월 1일 9:05"], "y年m月d日", (2020, 2, 1)),
        (["3 Jan 2020", "14-Feb-2021"], "d month y", (2020, 1, 3)),
        (["3. März 2020", "4. Mai 2021"], "d month y", (2020, 3, 3)),
        (["Jan 3, 2020", "March 14th, 2021"], "month d y", (2020, 1, 3)),
        (["2020-01", "2021-12"], "y-m", (2020, 1, 1)),
        (["01/2020", "12/2021"], "m/y", (2020, 1, 1)),
        (["5-Jan-24", "17 Feb 98"], "d month y", (2024, 1, 5)),
        (["2024Q2", "2023-Q1", "2022 q4"], "y quarter", (2024, 4, 1)),
        (["Q3 2024", "Q1/2023"], "quarter y", (2024, 7, 1)),
        (["4. Quartal 2024", "1st quarter 2023"], "quarter y", (2024, 10, 1)),
        (["2019M07", "2020-M1", "2021m12"], "yMm", (2019, 7, 1)),
        (["2019/20", "1999/00", "2020/2021"], "y/y", (2019, 1, 1)),
        (["2009-10", "2010-11", "2012–13"], "y/y", (2009, 1, 1)),
        (["2010-10", "2010-11", "2010-12"], "y-m", (2010, 10, 1)),
        (["FY2019", "fy 20", "FY2021/22"], "fiscal y", (2019, 1, 1)),
        (["FY19Q3", "FY 2020 Q1"], "fiscal y", (2019, 7, 1)),
        (["2019-H2", "2020H1", "2020-S2"], "y half", (2019, 7, 1)),
        (["H2 2019", "1H2020", "2. Halbjahr 2020"], "half y", (2019, 7, 1)),
        (["2024-W05", "2020-W53", "2021W01-7"], "y week", (2024, 1, 29)),
        (["2021-W01-7", "2020-W53-1"], "y week", (2021, 1, 10)),
        (["令和6年5月1日", "平成31年4月30日"], "era年m月d日", (2024, 5, 1)),
        (["令和元年5月1日", "昭和64年1月7日"], "era年m月d日", (2019, 5, 1)),
    ],
)
def test_orders_of_dates(
    cells: list[str], order: str, first: tuple[int, int, int]
) -> None:
    form = decided([*cells]).form
    assert (form.kind, form.order) == ("date", order)
    start = datetime.datetime(*first) - datetime.datetime(1970, 1, 1)
    assert values([*cells])[0] == start // datetime.timedelta(microseconds=1)


def test_periods_that_do_not_exist_stay_text() -> None:
    for text in ("2019M13", "2019/21", "FY2019/19", "2019-H3", "1219/20", "H1"):
        assert not moments_of(text), text
    for text in ("2024Q5", "2024-W54", "2021-W53", "2024-W00", "令和6年13月1日", "Q1"):
        assert not moments_of(text), text


def test_times_of_dates_and_zones() -> None:
    half = values(["12/31/2020 5:30 PM", "1/2/2021 10:00 AM"])
    whole = values(["2020-12-31 17:30", "2021-01-02T10:00:00"])
    assert half == whole
    zones = ["2020-01-01T10:00:00Z", "2020-01-01T12:00:00+02:00"]
    assert decided([*zones]).form.zone == 0
    assert len(set(values([*zones]))) == 1
    one = ["2020-01-01T10:00:00+01:00", "2020-06-01T12:00:00+01:00"]
    form = decided([*one]).form
    assert form.zone == 60
    assert values(["2020-01-01T09:00:00Z"], form) == values([one[0]], form)
    assert values(["10:30", "9:15 PM"]) == [37_800_000_000, 76_500_000_000]


def test_zones_after_the_name_of_a_clock() -> None:
    cells = ["2019/05/06 3:04:05 PM GMT+2", "2019/05/07 3:04:05 AM GMT+2"]
    form = decided([*cells]).form
    assert (form.order, form.zone) == ("y/m/d", 120)
    same = ["2019/05/06 13:04:05Z", "2019/05/06 09:34:05 UTC-03:30"]
    assert values([*same], form) == [values([cells[0]], form)[0]] * 2


def test_integers_of_64_bits_keep_their_digits() -> None:
    long = ["1234567890123456789", "-1234567890123456791", "9223372036854775807"]
    assert values(long) == [int(text) for text in long]
    evidence = TextEvidence.of(pa.array(long))
    assert evidence.are_integers(decide(evidence).form)
    longer = TextEvidence.of(pa.array([*long, "9223372036854775808"]))
    assert longer.n_floats == 1
    assert values(["9223372036854775808", "5"]) == [2.0**63, 5]


def test_integers_beyond_64_bits_stay_text_that_numbers_would_round() -> None:
    first = 1 << 63
    for cells in (
        [str(first + i) for i in range(3)],
        [str(-first - 1 - i) for i in range(3)],
        [str(10**30 + i) for i in range(3)],
        [str(first - 1 - i) for i in range(9)] + [str(first)],
    ):
        for others in ([], ["7"], ["#N/A"]):
            decision = decided([*cells * 20, *others])
            assert decision.form.kind == "text", cells
            assert "integers beyond 64 bits, kept as text" in decision.notes
    for numbers in (["1e+20", "2e+21"], [str(first), "1", "5"], [f"{first}.5", "1.5"]):
        assert decided(numbers * 20).form.kind == "number", numbers


def test_digits_of_other_scripts_are_noted() -> None:
    note = "numbers in digits other than 0 to 9, kept as text"
    for cells in (["１２", "３．５"], ["٤٢", "٥٫٠"], ["०७", "−८"]):
        assert note in decided(cells * 20).notes, cells
    for cells in (["第１", "第２"], ["12", "7"], ["①", "②"]):
        assert note not in decided(cells * 20).notes, cells


def test_codes_like_numbers_stay_text() -> None:
    for cells in (
        ["1E10", "1E30", "2E05"],
        ["10E2", "12E1"],
        ["+49301234567", "+49301234568"],
        ["192.168.100.101", "192.168.100.120"],
    ):
        assert decided(cells * 20).form.kind == "text", cells
    for cells in (
        ["1E+10", "2.5E3", "1e5"],
        ["+4930", "-12"],
        ["1.168.100.101", "192.168.100.120", "3.500"],
    ):
        assert decided(cells * 20).form.kind == "number", cells


def test_an_ambiguous_order_is_noted() -> None:
    found = decided(["01/02/2020", "03/04/2021"])
    assert found.form.order == "m/d/y"
    assert "may be d/m/y" in found.notes[-1]
    assert decided(["01/02/2020"], FileSigns(day_first=True)).form.order == "d/m/y"


def test_one_bad_date_is_missing() -> None:
    cells = [*(f"2020-01-{day:02d}" for day in range(1, 25)), "2020-13-45"]
    assert values([*cells])[-1] is None
    assert "2020-13-45" in decided([*cells]).notes[-1]


def test_a_new_text_of_another_kind_fails() -> None:
    read = read_texts(TextForm("number"), pa.array(["1", "x", None, "1,234"]))
    assert read.failed.tolist() == [False, True, False, True]
    with pytest.raises(ValueError, match="order"):
        TextForm("date", order="y-d-m").check_content()
    with pytest.raises(ValueError, match="pair of signs"):
        TextForm("number", ",", ",").check_content()


def test_a_number_of_another_country_is_read_where_it_means_one_thing() -> None:
    form = TextForm("number")
    assert values(["5,10", "1.234,5", "1 000", "2.5"], form) == [5.1, 1234.5, 1000, 2.5]
    assert values(["5.10", "1,234.5"], TextForm("number", ",")) == [5.1, 1234.5]


CELLS = st.one_of(
    st.none(),
    st.sampled_from(["", "-", "NA", "true", "FALSE", "x", "2020-01-02", "31/12/2020"]),
    st.integers(-2000, 2000).map(str),
    st.floats(-1e4, 1e4).map(lambda number: f"{number:,.2f}"),
    st.floats(-1e4, 1e4).map(lambda number: f"{number:.3f}".replace(".", ",")),
)


@for_all(st.lists(CELLS, max_size=40), st.integers(0, 40), few=60, many=200)
def test_evidence_of_batches_adds_up(cells: list[str | None], cut: int) -> None:
    array = pa.array(cells, pa.string())
    whole = TextEvidence.of(array)
    parts = TextEvidence.of(array[:cut]).plus(TextEvidence.of(array[cut:]))
    assert decide(parts) == decide(whole)
    form = decide(whole).form
    if form.kind == "text":
        return
    read = read_texts(form, array)
    # No cell of the columns that were decided on fails, but those of other dates.
    n_failed = int(read.failed.sum())
    assert n_failed == 0 or form.kind == "date"
    single = [values([cell], form)[0] for cell in cells]
    together = values(cells, form)
    for one, other in zip(single, together, strict=True):
        assert one == other or (
            (one is None) == (other is None) and np.isclose(one, other)
        )


def test_a_fraction_without_a_leading_zero_is_a_number_next_to_markers() -> None:
    texts = [".05", "1.5", ".07", "-", "-.05"]
    form = decide(TextEvidence.of(pa.array(texts))).form
    assert (form.kind, form.missing) == ("number", ("-",))
    read = read_texts(form, pa.array(texts))
    assert read.values[~read.missing].tolist() == [0.05, 1.5, 0.07, -0.05]


def test_durations_may_take_days() -> None:
    cells = ["26:30:15", "2 days 03:04:05", "-1 days +23:00:00", "1 day, 2:03:04.5"]
    form = decide(TextEvidence.of(pa.array(cells))).form
    assert form.kind == "duration"
    seconds = [95415, 183845, -3600, 93784.5]
    assert (read_texts(form, pa.array(cells)).values / 1e6).tolist() == seconds
    # Minutes and seconds, or hours and minutes.
    assert decide(TextEvidence.of(pa.array(["45:30", "50:10"]))).form.kind == "text"


def test_dates_of_programs_and_letters() -> None:
    cells = ["05MAY2020:10:20:30", "Tue, 5 May 2020 10:20:30", "5 de mayo de 2020"]
    form = decide(TextEvidence.of(pa.array(cells))).form
    assert (form.kind, form.order) == ("date", "d month y")
    moments = read_texts(form, pa.array(cells)).values.astype("datetime64[us]")
    assert moments.astype("datetime64[D]").astype(str).tolist() == ["2020-05-05"] * 3


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["20 kg", "25 kg", "1,5 kg"], "numbers with the unit 'kg', kept as text"),
        (["$1.5B", "$2B"], "numbers with the unit 'B', kept as text"),
        (["1 Mio.", "12 Mio."], "numbers with the unit 'Mio.', kept as text"),
        (["20°C", "25 °C"], "numbers with the unit '°C', kept as text"),
        (["1.2K", "3M", "0.5M"], "numbers with the units 'K', 'M', kept as text"),
        (["12", ">60", ">60"], "numbers with '>' before them, kept as text"),
        (["'7", "'12"], 'numbers with "\'" before them, kept as text'),
        (["01067", "80331"], "numbers with leading zeros, kept as text"),
        (["20 kg", "25 g"], None),
        (["room 1", "007b"], None),
    ],
)
def test_a_note_names_what_keeps_numbers_text(
    cells: list[str], note: str | None
) -> None:
    form, notes = decide(TextEvidence.of(pa.array(cells)))
    assert form.kind == "text"
    assert [*notes] == [note] * (note is not None)


@for_all(
    st.lists(
        st.one_of(
            st.datetimes().map(str),
            st.datetimes().map(lambda day: day.isoformat("T", "minutes")),
            st.dates().map(str),
            st.from_regex(r"[0-2]\d{3}-[01]\d-[0-3]\d[ T]?([0-2]\d(:[0-6]\d)+)?"),
            st.sampled_from(["2015-02-29", "2015-01-01 24:00", "2015-01-01T10", ""]),
        ),
        min_size=1,
        max_size=4,
    ),
    few=20,
    many=60,
)
def test_iso_dates_read_at_once_are_those_read_one_by_one(texts: list[str]) -> None:
    texts = [text.strip() for text in texts]
    clocks = iso_clocks(pa.array(texts))
    if clocks is not None:
        alone = [moments_of(text) for text in texts]
        assert [item[0].order for item in alone] == ["y-m-d"] * len(texts)
        assert clocks.tolist() == [item[0].clock for item in alone]
        assert {item[0].zone for item in alone} == {None}


@pytest.mark.parametrize(
    "cells",
    [
        [str(datetime.date(2020, 1, 1) + datetime.timedelta(n)) for n in range(200)],
        [f"{n / 7:.3f}" for n in range(200)],
        [f"v{n}" for n in range(200)],
        [f"{n},5 €" for n in range(200)],
    ],
)
def test_evidence_of_many_texts_adds_up_from_that_of_few(cells: list[str]) -> None:
    whole = TextEvidence.of(pa.array(cells))
    parts = [TextEvidence.of(pa.array(cells[k : k + 3])) for k in range(0, 200, 3)]
    total = parts[0]
    for part in parts[1:]:
        total = total.plus(part)
    # Distinct numbers are listed as far as it takes to know that they are many.
    assert replace(total, numbers={}) == replace(whole, numbers={})
    assert decide(total) == decide(whole)


@for_all(
    st.lists(
        st.from_regex(
            r"[+-]?(0|[1-9]\d{0,4})?([.,]\d{0,4})?([eE][+-]?\d)?", fullmatch=True
        ),
        min_size=1,
        max_size=4,
    ),
    few=30,
    many=200,
)
def test_plain_numbers_read_at_once_are_those_taken_apart(texts: list[str]) -> None:
    texts = [text for text in texts if any(map(str.isdigit, text))] or ["1,5"]
    forms = [TextForm("number", decimal) for decimal in ".,"]

    def read() -> tuple[Any, ...]:
        return TextEvidence.of(pa.array(texts)), *(values(texts, f) for f in forms)

    at_once = read()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_forms, "_with_points", lambda *_: None)
        assert at_once == read()
